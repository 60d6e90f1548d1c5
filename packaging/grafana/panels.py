# SPDX-License-Identifier: BSD-2-Clause
"""What the dashboards show of Postlag's metrics: one function a panel. Each
takes the selection that its queries are of."""

from blocks import (heatmap, link, query, stat, state_timeline, steps,
                    time_series, words)

PER_SECOND = "suffix:/s"
LATENCY, PHASE = "delivery_latency", "phase"
OF_ROUTE = 'route=~"$route"'

OUTCOMES = {
    "delivered": "green", "relayed": "blue", "handed_off": "light-blue",
    "expanded": "super-light-blue", "merged": "light-purple",
    "discarded": "purple", "deleted": "dark-purple",
    "bounced": "orange", "expired": "dark-orange", "ghost": "yellow",
    "unknown": "light-red", "lost": "red",
}
OPEN = {"in_flight": "blue", "deferred": "yellow", "held": "purple"}
MISSING = {"lost": "red", "unknown": "light-red"}
ATTEMPTS = {"delivered": "green", "deferred": "yellow", "bounced": "orange",
            "unanswered": "red"}
COUNTS = "Counts of about a minute, or of the panel's step if that is longer."
ON_OR_NOT = words({1: ("on", "green"), 0: ("off or blind", "red")})
QUANTILES = {"50 %": "0.5", "90 %": "0.9", "99 %": "0.99"}


class Selection:
    """What the dashboard's variables choose: jobs and instances. Expressions
    name metrics without their prefix; matchers are PromQL's, separated by
    commas."""

    def __init__(self, matchers):
        self.matchers = matchers

    def series(self, metric, matchers=""):
        both = ",".join(filter(None, (self.matchers, matchers)))
        return f"postlag_{metric}{{{both}}}"

    def now(self, metric, matchers="", by=""):
        return _by("sum", by, self.series(metric, matchers))

    def least(self, metric, matchers="", by=""):
        return _by("min", by, self.series(metric, matchers))

    def most(self, metric, matchers="", by=""):
        return _by("max", by, self.series(metric, matchers))

    def rate(self, metric, matchers="", by=""):
        return _by("sum", by,
                   f"rate({self.series(metric, matchers)}[$__rate_interval])")

    def growth(self, metric, matchers="", by=""):
        return _by("sum", by, f"increase({self.series(metric, matchers)}"
                   "[$__rate_interval])")

    def age(self, metric, matchers="", by=""):
        """Since the time that the metric tells; 0 where it tells none."""
        series = self.series(metric, matchers)
        return _by("max", by, f"(time() - {series}) * ({series} > bool 0)")

    def buckets(self, stem, matchers="", by=()):
        """The rate of a histogram, of the kind that is chosen: the variable
        has the rest of the name. Native ones have no le, and need none."""
        return self.rate(f"{stem}_$histograms", matchers,
                         ", ".join(("le", *by)))

    def quantile(self, number, stem, matchers="", by=()):
        return f"histogram_quantile({number}, " \
               f"{self.buckets(stem, matchers, by)})"

    def observed(self, part, stem, matchers="", by=""):
        """The rate of a histogram's "count" or "sum", from whichever kind
        there is."""
        native = f"histogram_{part}(rate(" \
                 f"{self.series(f'{stem}_seconds', matchers)}" \
                 "[$__rate_interval]))"
        return f"({self.rate(f'{stem}_seconds_{part}', matchers, by)}" \
               f" or {_by('sum', by, native)})"


def _by(aggregate, labels, inner):
    grouping = f" by ({labels}) " if labels else ""
    return f"{aggregate}{grouping}({inner})"


# Now: one number each.

def accepted(sel):
    return stat(
        "Accepted", "Messages a second that Postfix accepted and the milter "
        "stamped.", sel.rate("messages_accepted_total"), "mps")


def delivered(sel):
    return stat(
        "Delivered", "Recipients a second whose mail came to a mailbox, to "
        "another host, or to a command or filter.",
        sel.rate("recipient_outcomes_total",
                 'outcome=~"delivered|relayed|handed_off"'), PER_SECOND)


def number_in(sel, title, state, description, **more):
    return stat(title, description,
                sel.now("recipients", f'state="{state}"'), **more)


def oldest(sel):
    return stat(
        "Oldest", "How long the oldest mail that is in flight, deferred or "
        "held has waited; 0 when the queue is empty.",
        sel.age("oldest_in_flight_timestamp_seconds"), "s",
        thresholds=steps("text", (3600, "orange"), (4 * 3600, "red")))


def latency_now(sel, title, number):
    return stat(
        title, "So many deliveries took no longer, from MAIL FROM to the "
        "mailbox or the next host, whatever the retries.",
        sel.quantile(number, LATENCY, OF_ROUTE), "s")


def losses_watched(sel):
    return stat(
        "Looking for losses", "Whether lost mail would be noticed: the log is "
        "read and tells everything, and the queue may be looked at.",
        sel.least("loss_detection", 'state="on"'), "none",
        mappings=ON_OR_NOT, thresholds=steps("red", (1, "green")))


def down(sel):
    return stat(
        "Exporters down", "Exporters that Prometheus asked in vain. All else "
        "that is shown of their hosts is missing.",
        f"sum(1 - up{{{sel.matchers}}})",
        thresholds=steps("green", (1, "red")))


def now(sel, lost_links=()):
    return [
        accepted(sel), delivered(sel),
        number_in(sel, "In flight", "in_flight", "Recipients whose mail is on "
                  "its way: accepted, and not tried yet or being tried."),
        number_in(sel, "Deferred", "deferred", "Recipients whose mail was "
                  "tried in vain and waits for the next attempt."),
        number_in(sel, "Held", "held", "Recipients whose mail an "
                  "administrator or a rule has put on hold."),
        oldest(sel),
        latency_now(sel, "Median latency", "0.5"),
        latency_now(sel, "99 % latency", "0.99"),
        number_in(sel, "Lost", "lost", "Recipients whose mail is gone: no "
                  "queue file, and a complete log that does not say why. Ends "
                  "when it turns up, or with postlag ack.",
                  thresholds=steps("green", (1, "red")), links=lost_links),
        number_in(sel, "Not known", "unknown", "Recipients of whom it cannot "
                  "be told what became of their mail; part of the log or of "
                  "a journal is missing.",
                  thresholds=steps("green", (1, "orange"))),
        losses_watched(sel), down(sel),
    ]


# Latency.

def latency_heatmap(sel, title="Latency", width=12):
    return heatmap(
        title, "Deliveries by how long they took from MAIL FROM to the "
        "mailbox or the next host. A point is one message: it leads to all "
        "that is known of it.", sel.buckets(LATENCY, OF_ROUTE), width=width)


def latency_percentiles(sel, title="Latency percentiles", width=12):
    return time_series(
        title, "So many deliveries took no longer, from MAIL FROM to the "
        "mailbox or the next host. A point is one message.",
        [query(sel.quantile(number, LATENCY, OF_ROUTE), name, exemplar=True)
         for name, number in QUANTILES.items()],
        "s", width=width, height=9, logarithmic=True,
        values=("lastNotNull", "max"))


def latency_by(sel, label, title):
    return time_series(
        title, "99 % of the deliveries took no longer.",
        [query(sel.quantile("0.99", LATENCY, OF_ROUTE, (label,)),
               f"{{{{{label}}}}}")], "s", logarithmic=True)


def deliveries(sel):
    return time_series(
        "Deliveries by route", "Recipients a second whose latency is known.",
        [query(sel.observed("count", LATENCY, OF_ROUTE, "route"),
               "{{route}}")], PER_SECOND, width=12, stacked=True)


def where_the_time_goes(sel, width=8, links=()):
    """Both kinds of histograms have sums and counts, so no variable is asked.
    """
    return time_series(
        "Where the time goes", "The mean time in each phase, on each other: "
        "SMTP up to content_to_eom, once a message; then the queue and LMTP, "
        "once a delivered recipient. README has the table of phases.",
        [query(sel.observed("sum", PHASE, by="phase") + " / "
               + sel.observed("count", PHASE, by="phase"), "{{phase}}")],
        "s", width=width, stacked=True, links=links)


def phase_percentile(sel, name, number, links=()):
    return time_series(
        f"{name} by phase", f"{name} of the messages or recipients spent no "
        "longer in this phase.",
        [query(sel.quantile(number, PHASE, by=("phase",)), "{{phase}}")],
        "s", logarithmic=True, links=links)


# What becomes of it.

def outcomes(sel, width=8, links=()):
    return time_series(
        "Outcomes", "Recipients a second that came into a final state.",
        [query(sel.rate("recipient_outcomes_total", by="outcome"),
               "{{outcome}}")], PER_SECOND, width=width, stacked=True,
        colors=OUTCOMES, links=links)


def in_queue(sel, width=8, links=()):
    return time_series(
        "In the queue", "Recipients that are in flight, deferred or held.",
        [query(sel.now("recipients", 'state=~"in_flight|deferred|held"',
                       "state"), "{{state}}")], "short", width=width,
        stacked=True, colors=OPEN, links=links)


def waiting_since(sel, by="", width=8):
    return time_series(
        "Age of the oldest", "How long the oldest mail in the queue has "
        "waited; 0 when there is none.",
        [query(sel.age("oldest_in_flight_timestamp_seconds", by=by),
               f"{{{{{by}}}}}" if by else "oldest")], "s", width=width)


def deferrals(sel):
    return time_series(
        "Deferrals by reason", "Attempts a second after which a recipient "
        "stayed in the queue, by the subject of the enhanced status code: "
        "mailbox (4.2.2: a full quota), system (4.3), network (4.4: no "
        "answer), policy (4.7: greylisting, a block list). Where no log is "
        "read, the LMTP server's replies only.",
        [query(sel.rate("deferrals_total", by="reason"), "{{reason}}")],
        PER_SECOND, stacked=True)


def losses(sel):
    return time_series(
        "Losses", "Recipients found lost, found again, and given up as not "
        "known; messages that passed the milter and that Postfix never "
        "queued. " + COUNTS,
        [query(sel.growth("recipients_lost_total"), "lost"),
         query(sel.growth("recipients_recovered_total"), "recovered"),
         query(sel.growth("recipient_outcomes_total", 'outcome="unknown"'),
               "unknown"),
         query(sel.growth("messages_ghost_total"), "ghost")],
        "short", bars=True, colors={
            **MISSING, "recovered": "green", "ghost": "yellow"})


def lost_now(sel, links=()):
    return time_series(
        "Lost and not known now", "Recipients in these states at the time.",
        [query(sel.now("recipients", 'state=~"lost|unknown"', "state"),
               "{{state}}")], "short", colors=MISSING, links=links)


def loss_detection(sel):
    return state_timeline(
        "Loss detection", "Lost mail is noticed (on), or the log does not tell "
        "everything (blind), or no log is read or nobody may look into the "
        "queue (off).",
        [query(sel.most("loss_detection", 'state="blind"', "instance") + " + 2"
               " * " + sel.most("loss_detection", 'state="on"', "instance"),
               "{{instance}}")],
        words({0: ("off", "red"), 1: ("blind", "orange"),
               2: ("on", "green")}))


def attempts(sel):
    return time_series(
        "LMTP attempts", "Recipients offered to the LMTP server a second, by "
        "its last word.",
        [query(sel.rate("delivery_attempts_total", by="result"),
               "{{result}}")], PER_SECOND, stacked=True, colors=ATTEMPTS)


def refusals(sel):
    return time_series(
        "Refused clients", "What Postfix refused a second, by where and by "
        "the first digit of its reply.",
        [query(sel.rate("smtp_rejects_total", by="phase, class"),
               "{{phase}} {{class}}xx")], PER_SECOND, stacked=True)


def aborts(sel):
    return time_series(
        "Aborted transactions", "SMTP transactions a second that ended before "
        "the end of a message, by how far they came.",
        [query(sel.rate("smtp_aborts_total", by="phase"), "{{phase}}")],
        PER_SECOND, stacked=True)


def filings(sel):
    return time_series(
        "Filed by Dovecot", "What Dovecot's log says was done with "
        "recipients' mail, a second; 0 where it is not read.",
        [query(sel.rate("filings_total", by="action"), "{{action}}")],
        PER_SECOND, stacked=True)


def corrections(sel):
    return time_series(
        "Corrections", "A second: recipients that left a state which seemed "
        "final, and deliveries of recipients that were delivered before.",
        [query(sel.rate("outcome_revisions_total", by="from"),
               "no longer {{from}}"),
         query(sel.rate("duplicates_total"), "delivered twice")], PER_SECOND)


def lookups(sel):
    return time_series(
        "Looks into the queue", "Messages a second of which nothing was heard "
        "and whose queue file was looked for, by where it was found.",
        [query(sel.rate("queue_lookups_total", by="answer"), "{{answer}}")],
        PER_SECOND)


def page_links(page):
    """From series of the labels outcome, state and phase to the exporter's
    page."""
    found = f"{page}#/search?q=status:"
    return {
        "outcome": [link("Messages", found + "${__field.labels.outcome}")],
        "state": [link("Messages", found + "${__field.labels.state}")],
        "phase": [link("Over time on Postlag's page",
                       f"{page}#/?phase=${{__field.labels.phase}}")],
        "lost": [link("Lost mail", f"{found}lost")],
    }
