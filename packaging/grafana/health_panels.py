# SPDX-License-Identifier: BSD-2-Clause
"""Panels about Postlag itself: is what is shown complete, and of now?"""

from blocks import query, time_series
from panels import COUNTS, PER_SECOND


def last_event(sel, by="source"):
    names = by.split(", ")
    return time_series(
        "Age of the last event", "Since each source was last heard of. "
        "Milter and hook write a heartbeat each 10 s; the log is silent when "
        "there is no mail. 0 where nothing was heard since the start.",
        [query(sel.age("source_last_event_timestamp_seconds", by=by),
               " ".join(f"{{{{{name}}}}}" for name in names))], "s")


def behind(sel, by="source"):
    return time_series(
        "Not read yet", "Events and lines of the log that are written and not "
        "read yet, estimated. While that is much, all that is shown is of an "
        "earlier time.",
        [query(sel.now("behind_events", by=by), f"{{{{{by}}}}}")], "short")


def not_seen(sel):
    return time_series(
        "What is not seen", "Events that were dropped, places of the log "
        "where lines may be missing, mail without a stamp of its own. "
        + COUNTS,
        [query(sel.growth("journal_events_dropped_total"), "events dropped"),
         query(sel.growth("log_gaps_total"), "gaps in the log"),
         query(sel.growth("unstamped_total", 'reason!="internal"'),
               "unstamped")], "short", bars=True)


def disk(sel, by="directory"):
    names = by.split(", ")
    return time_series(
        "Left on the disk", "Of the journals and of the store, which may be "
        "on the same one.",
        [query(sel.least("disk_available_bytes", by=by),
               " ".join(f"{{{{{name}}}}}" for name in names))], "bytes")


def catch_up(sel):
    return time_series(
        "Time to catch up", "Until everything is read, at the pace of the "
        "last ten seconds; 0 while it keeps up, -1 when it cannot be told.",
        [query(sel.most("catch_up_seconds"), "catch up")], "s", minimum=None)


def reading(sel):
    return time_series(
        "Read", "Events of each source, and lines of the log, a second.",
        [query(sel.rate("source_events_total", by="source"), "{{source}}")],
        PER_SECOND, stacked=True)


def dropped(sel):
    return time_series(
        "Dropped events", "What the journals did not take: the limit of their "
        "size, the disk, or memory. The mail itself went on. " + COUNTS,
        [query(sel.growth("journal_events_dropped_total",
                          by="source, reason"), "{{source}}: {{reason}}")],
        "short", bars=True)


def unstamped(sel):
    return time_series(
        "Mail without a stamp", "Seen at delivery: without one (no_stamp), "
        "with another mail's (foreign), of mail that the milter did not see "
        "(no_message) or that Postfix made itself (internal). And what the "
        "milter let pass without one. " + COUNTS,
        [query(sel.growth("unstamped_total", by="reason"), "{{reason}}"),
         query(sel.growth("milter_unstamped_total", by="reason"),
               "milter: {{reason}}")], "short", bars=True)


def log_lines(sel):
    return time_series(
        "Lines of the log", "A second: of Postfix and understood (known), "
        "without meaning for us (unknown), or of others (foreign).",
        [query(sel.rate("log_lines_total", by="kind"), "{{kind}}")],
        PER_SECOND, stacked=True)


def log_gaps(sel):
    return time_series(
        "Gaps in the log", "Places where lines may be missing, by reason. "
        "Nothing of that time is called lost. " + COUNTS,
        [query(sel.growth("log_gaps_total", by="reason"), "{{reason}}")],
        "short", bars=True)


def log_limit(sel):
    return time_series(
        "Share of the log's rate limit", "That Postfix's lines used at most "
        "within the log's last hour. From 100 % on lines are dropped. 0 where "
        "there is no limit.",
        [query(sel.most("log_rate_limit_used_ratio", by="limit"),
               "{{limit}}")], "percentunit")


def journal_written(sel):
    return time_series(
        "Written to the journals", "Bytes a second, by source.",
        [query(sel.rate("journal_appended_bytes_total", by="source"),
               "{{source}}")], "Bps", stacked=True)


def journal_damage(sel):
    return time_series(
        "Damaged journals", "Places that could not be read, records cut off "
        "at a file's end, and whole files. " + COUNTS,
        [query(sel.growth("journal_damaged_records_total"), "damaged"),
         query(sel.growth("journal_torn_records_total"), "torn"),
         query(sel.growth("journal_unreadable_segments_total"),
               "unreadable files")], "short", bars=True)


def store_size(sel):
    return time_series(
        "Size of the store", "Of all its files.",
        [query(sel.now("store_bytes"), "store")], "bytes")


def store_commits(sel):
    return time_series(
        "Commits of the store", "A second; and batches that could not be "
        "stored and were tried again.",
        [query(sel.rate("store_commits_total"), "commits"),
         query(sel.rate("store_errors_total"), "errors")], PER_SECOND)


def store_trouble(sel):
    return time_series(
        "Files of the store in trouble", "Since the exporter's start: set "
        "aside because they could not be read, or removed, replaced or cut by "
        "somebody else.",
        [query(sel.now("store_damaged_files"), "damaged"),
         query(sel.now("store_replaced_files"), "changed by others")],
        "short")


def strange(sel):
    return time_series(
        "Strange mail", "Stamps that were not believed, negative durations, "
        "messages of an impossible day, recipients beyond the milter's room. "
        + COUNTS,
        [query(sel.growth("forged_stamps_total"), "forged stamps"),
         query(sel.growth("clock_skew_total"), "clock skew"),
         query(sel.growth("odd_messages_total"), "odd days"),
         query(sel.growth("recipients_omitted_total"), "omitted")],
        "short", bars=True)


def waiting(sel):
    return time_series(
        "Waiting to be joined", "Deliveries whose message is not known yet, "
        "and sessions of Dovecot's log whose reply is not.",
        [query(sel.now("deliveries_waiting"), "deliveries"),
         query(sel.now("filings_waiting"), "filings")], "short")
