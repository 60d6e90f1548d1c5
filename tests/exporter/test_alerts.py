# SPDX-License-Identifier: BSD-2-Clause
"""Each alert of packaging/prometheus comes, does not come and goes, and no
other comes with it (issue 5, must show 4)."""

import subprocess
import tempfile
import unittest

import tap
from rule_tester import HOST, OTHER, RuleTester, Scenario, alert, at, growing

HOUR, DAY = 60, 24 * 60
GIB = 1 << 30

LATENCY = "postlag_delivery_latency_seconds"
LAST = "postlag_source_last_event_timestamp_seconds"


def latencies(quick, slow):
    """Recipients a minute within a second, and within one to five minutes."""
    def both(*functions):
        return lambda minute: sum(f(minute) for f in functions)
    quick, slow = growing(*quick), growing(*slow)
    labels = {le: f'{LATENCY}_bucket{{route="inbound",le="{le}"}}'
              for le in ("1", "60", "300", "+Inf")}
    return {labels["1"]: quick, labels["60"]: quick,
            labels["300"]: both(quick, slow), labels["+Inf"]: both(quick, slow),
            f'{LATENCY}_count{{route="inbound"}}': both(quick, slow)}


def recipients(state):
    return f'postlag_recipients{{state="{state}"}}'


def outcomes(outcome):
    return f'postlag_recipient_outcomes_total{{outcome="{outcome}"}}'


def attempts(result):
    return f'postlag_delivery_attempts_total{{result="{result}"}}'


def last(source):
    return f'{LAST}{{source="{source}"}}'


def until(end, begin_again=None):
    """The time of an event a minute, until `end`."""
    def value_at(minute):
        if begin_again is not None and minute >= begin_again:
            return 60 * minute
        return 60 * min(minute, end)
    return value_at


LOST = alert("PostlagMailLost", state="lost")
SLOW = alert("PostlagDeliverySlow", route="inbound")
DOWN = alert("PostlagDown")


class Alerts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tester = RuleTester()

    def check(self, series=None, **more):
        scenario = Scenario(series, **more)
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(self.tester.check(scenario, directory), "")

    def test_no_alert_without_mail(self):
        """Nor where there never was any"""
        self.check(step=5,
                   firing={minute: [] for minute in range(0, 27 * HOUR, 35)})

    def test_no_alert_with_mail(self):
        self.check({
            'postlag_messages_accepted_total': growing((0, 50)),
            last("log"): until(DAY),
            outcomes("delivered"): growing((0, 60)),
            attempts("delivered"): growing((0, 60)),
            attempts("deferred"): growing((0, 3)),
            recipients("in_flight"): at((0, 5)),
            recipients("deferred"): at((0, 30)),
            'postlag_oldest_in_flight_timestamp_seconds':
                lambda minute: max(0, 60 * (minute - 3 * HOUR)),
            'postlag_unstamped_total{reason="no_message"}': growing((0, 1)),
            'postlag_unstamped_total{reason="internal"}': growing((0, 500)),
            **latencies([(0, 60)], [(0, 0)]),
        }, step=5, firing={minute: [] for minute in range(0, 8 * HOUR, 35)})

    def test_no_alert_over_a_restart(self):
        """Who keeps counters and gauges, as the store does"""
        self.check({
            'postlag_messages_accepted_total': growing((0, 50)),
            outcomes("delivered"): growing((0, 60)),
            outcomes("unknown"): at((0, 7)),
            'postlag_journal_events_dropped_total'
            '{source="lmtp",reason="limit"}': at((0, 3)),
            last("milter"):
                lambda minute: 0 if 33 <= minute < 35 else 60 * minute,
            'postlag_catch_up_seconds': at((0, 0), (33, -1), (35, 0)),
        }, away=(30, 33), firing={minute: [] for minute in range(2 * HOUR)})

    def test_mail_lost(self):
        """Within two evaluations; neither a restart nor a long stop of the
        exporter ends it, recovery does (case 75)"""
        self.check({recipients("lost"): at((0, 0), (10, 1), (40, 0))},
                   away=(20, 23), says=[
            "mx1.example:9154: mail for 1 recipients is lost"], firing={
            9: [], 11: [LOST], 21: [LOST], 24: [LOST], 39: [LOST], 40: []})

    def test_mail_lost_on_two_hosts(self):
        self.check({recipients("lost"): at((0, 2))}, hosts=[OTHER, HOST],
                   firing={1: [alert("PostlagMailLost", OTHER, state="lost")]})

    def test_mail_lost_and_the_exporter_stopped(self):
        self.check({recipients("lost"): at((0, 1))}, away=(20, 300), firing={
            24: [LOST], 40: [DOWN, LOST], 100: [DOWN]})

    def test_delivery_slow(self):
        self.check(latencies([(0, 90)], [(0, 0), (10, 10), (60, 0)]), says=[
            "mx1.example:9154: one in a hundred recipients of inbound mail"
            " waits 4m 36s or more"], firing={
            10: [], 30: [SLOW], 60: [SLOW], 76: []})

    def test_delivery_slow_for_a_few_of_little_mail(self):
        """Two of four, and a single one"""
        self.check(latencies([(0, 0.1)], [(0, 0.1)]),
                   firing={minute: [] for minute in range(0, 2 * HOUR, 7)})

    def test_delivery_slow_for_a_few_of_much_mail(self):
        """Nine of a thousand"""
        self.check(latencies([(0, 991)], [(0, 9)]),
                   firing={minute: [] for minute in range(0, HOUR, 7)})

    def test_backlog(self):
        backlog = alert("PostlagBacklog")
        self.check({
            recipients("deferred"): at((0, 0), (60, 1), (8 * HOUR, 0)),
            'postlag_oldest_in_flight_timestamp_seconds':
                at((0, 0), (60, 3600), (8 * HOUR, 0)),
        }, away=(6 * HOUR, 6 * HOUR + 5), says=[
            "mx1.example:9154: the oldest mail in the queue has waited for "
            "4h 20m 0s"], step=5, firing={
            5 * HOUR + 10: [], 5 * HOUR + 20: [backlog],
            6 * HOUR: [backlog], 6 * HOUR + 5: [backlog],
            8 * HOUR: []})

    def test_no_backlog_of_what_is_held(self):
        self.check({
            recipients("held"): at((0, 1)),
            'postlag_oldest_in_flight_timestamp_seconds': at((0, 60)),
        }, step=5, firing={minute: [] for minute in range(0, 6 * HOUR, 35)})

    def test_queue_stalled(self):
        stalled = alert("PostlagQueueStalled", state="in_flight")
        self.check({
            recipients("in_flight"): at((0, 3)),
            outcomes("delivered"): growing((0, 10), (60, 0), (120, 10)),
        }, says=["mx1.example:9154: mail for 3 recipients waits, and none"
                 " leaves"], firing={
            59: [], 85: [], 95: [stalled], 120: [stalled], 123: []})

    def test_queue_not_stalled_while_it_is_empty(self):
        """A mail now and then that waits for less than a quarter"""
        self.check({recipients("in_flight"): lambda minute: minute % 14 > 0},
                   firing={minute: [] for minute in range(3 * HOUR)})

    def test_deferral_ratio(self):
        ratio = alert("PostlagDeferralRatio")
        self.check({
            attempts("delivered"): growing((0, 30)),
            attempts("deferred"): growing((0, 1), (60, 10), (120, 0)),
            attempts("unanswered"): growing((0, 0), (60, 10), (120, 0)),
        }, says=["mx1.example:9154: the LMTP server refuses 40% for now"],
            firing={60: [], 100: [ratio], 120: [ratio], 151: []})

    def test_deferral_ratio_of_little_mail(self):
        """All of it, and fewer than twenty in half an hour"""
        self.check({attempts("deferred"): growing((0, 0.5))},
                   firing={minute: [] for minute in range(0, 2 * HOUR, 7)})

    def test_deferred_growing(self):
        grows = alert("PostlagDeferredGrowing")
        self.check({
            recipients("deferred"): lambda minute:
                100 + 10 * min(max(0, minute - 60), 60),
            outcomes("relayed"): growing((0, 10)),
        }, says=["mx1.example:9154: 50% of the last hour's mail was deferred"
                 " and still is"], firing={
            60: [], 120: [grows], 185: []})

    def test_deferred_growing_by_what_is_little_among_the_rest(self):
        self.check({
            recipients("deferred"): growing((0, 2)),
            outcomes("delivered"): growing((0, 10)),
        }, firing={minute: [] for minute in range(0, 2 * HOUR, 7)})

    def test_deferred_growing_not_by_what_has_waited_for_long(self):
        """Among little other mail"""
        self.check({
            recipients("deferred"): at((0, 100)),
            outcomes("delivered"): growing((0, 0.1)),
        }, firing={minute: [] for minute in range(0, 2 * HOUR, 7)})

    def test_source_silent(self):
        """A heartbeat that does not come (case 9)"""
        silent = alert("PostlagSourceSilent", source="lmtp")
        self.check({last("lmtp"): until(20, 60)}, away=(40, 43), says=[
            "mx1.example:9154: nothing from postlag-lmtp for 8m 0s"], firing={
            26: [], 28: [silent], 45: [silent], 59: [silent], 60: []})

    def test_source_silent_also_after_a_restart(self):
        """Which knows of no event yet"""
        silent = alert("PostlagSourceSilent", source="lmtp")
        self.check({last("lmtp"): at((0, 60), (30, 0))}, away=(25, 30),
                   firing={15: [silent], 30: [silent], 20 * HOUR: [silent],
                           DAY + HOUR: []}, step=5)

    def test_source_not_silent_while_the_exporter_catches_up(self):
        """An hour away; what it reads then is old"""
        self.check({
            last("milter"): lambda minute: 60 * (
                minute if not 80 <= minute < 100
                else minute - (100 - minute) * 3),
            'postlag_catch_up_seconds': at((0, 0), (80, -1), (100, 0)),
        }, away=(20, 80), firing={
            24: [], 30: [DOWN], 79: [DOWN],
            **{minute: [] for minute in range(80, 110)}})

    def test_source_never_heard_is_not_silent(self):
        """A host without the hook"""
        self.check({last("lmtp"): at((0, 0))},
                   firing={minute: [] for minute in range(0, HOUR, 7)})

    def test_log_silent(self):
        silent = alert("PostlagLogSilent", source="log")
        self.check({last("log"): until(60, 120),
                    'postlag_messages_accepted_total': growing((0, 1))},
                   says=["mx1.example:9154: no line of Postfix's log for "
                         "22m 0s, although mail comes in"], firing={
            80: [], 82: [silent], 119: [silent], 120: []})

    def test_log_may_be_silent_without_mail(self):
        self.check({last("log"): until(60)},
                   firing={minute: [] for minute in range(0, 3 * HOUR, 7)})

    def test_events_dropped(self):
        self.check({
            'postlag_journal_events_dropped_total'
            '{source="milter",reason="limit"}': at((0, 3), (30, 7)),
            'postlag_journal_events_dropped_total'
            '{source="milter",reason="error"}': at((0, 0), (30, 2)),
        }, says=["mx1.example:9154: 6 events of postlag-milter were dropped"],
            firing={29: [],
                    30: [alert("PostlagEventsDropped", source="milter")],
                    95: []})

    def test_unknown(self):
        self.check({outcomes("unknown"): at((0, 12), (70, 15))}, says=[
            "mx1.example:9154: what became of mail for 3 recipients is not"
            " known"], firing={69: [], 75: [alert("PostlagUnknown")], 131: []})

    def test_unstamped(self):
        unstamped = alert("PostlagUnstamped")
        self.check({
            'postlag_messages_accepted_total': growing((0, 9), (60, 0)),
            'postlag_unstamped_total{reason="no_message"}':
                growing((0, 0.5), (60, 6), (120, 0)),
            'postlag_unstamped_total{reason="no_stamp"}':
                growing((0, 0), (60, 3), (120, 0)),
        }, says=["mx1.example:9154: 100% of the mail has no stamp"], firing={
            60: [], 120: [unstamped], 175: [unstamped], 182: []})

    def test_unstamped_of_little_mail(self):
        self.check({'postlag_unstamped_total{reason="no_message"}':
                    growing((0, 0.1))},
                   firing={minute: [] for minute in range(0, 2 * HOUR, 7)})

    def test_loss_detection(self):
        for state, other in (("off", "blind"), ("blind", "off")):
            with self.subTest(state):
                blind = alert("PostlagLossDetection", state=state)
                self.check({
                    'postlag_loss_detection{state="on"}':
                        at((0, 1), (10, 0), (60, 1)),
                    f'postlag_loss_detection{{state="{state}"}}':
                        at((0, 0), (10, 1), (60, 0)),
                    f'postlag_loss_detection{{state="{other}"}}': at((0, 0)),
                }, away=(30, 33), says=[
                    "mx1.example:9154: lost mail would not be noticed (loss"
                    f" detection is {state})"], firing={
                    24: [], 25: [blind], 31: [blind], 34: [blind], 60: []})

    def test_log_rate_limit(self):
        """And a restart, after which the exporter has seen no peak"""
        near = alert("PostlagLogRateLimit", limit="imuxsock")
        used = 'postlag_log_rate_limit_used_ratio{limit="imuxsock"}'
        self.check({used: at((0, 0.79), (10, 0.9), (20, 0))}, says=[
            "mx1.example:9154: Postfix used 90% of the rate limit of imuxsock"],
            firing={9: [], 10: [near], 30: [near], 80: []})

    def test_log_gap(self):
        self.check({'postlag_log_gaps_total{reason="copied"}':
                    at((0, 1), (30, 2))}, says=[
            "mx1.example:9154: lines may be missing in Postfix's log (copied)"],
            firing={29: [], 30: [alert("PostlagLogGap", reason="copied")],
                    95: []})

    def test_down(self):
        """Not by a restart; also for a day after the target is gone"""
        self.check(away=(10, 40), says=[
            "mx1.example:9154: no metrics from postlag-exporter"], firing={
            14: [], 19: [DOWN], 39: [DOWN], 40: []})

    def test_down_from_the_beginning(self):
        self.check(away=(0, 30), firing={4: [], 5: [DOWN], 30: []})

    def test_down_by_what_is_not_asked_any_more(self):
        """Its job and `up` are gone, too"""
        gone = {name: at((0, value), (60, None)) for name, value in (
            ('postlag_build_info{version="1"}', 1), ("up", 1),
            ('postlag_loss_detection{state="on"}', 1))}
        self.check(gone, firing={
            60: [], 75: [DOWN], 20 * HOUR: [DOWN], DAY + 2 * HOUR: []},
            step=5)

    def test_absent(self):
        absent = alert("PostlagAbsent", None)
        self.check(hosts=[], says=["Prometheus has these rules, and no"
                                   " postlag-exporter to ask"],
                   firing={9: [], 10: [absent], 3 * HOUR: [absent]})

    def test_absent_until_one_answers(self):
        self.check({}, hosts=[HOST], away=(0, 20), firing={
            9: [DOWN], 15: [alert("PostlagAbsent", None), DOWN], 20: []})

    def test_behind(self):
        for value in (500, -1):
            with self.subTest(value):
                behind = alert("PostlagBehind")
                self.check({'postlag_catch_up_seconds':
                            at((0, 0), (10, value), (60, 0))},
                           away=(30, 33), says=[
                    "mx1.example:9154: postlag-exporter is behind with"
                    " reading"], firing={
                    39: [], 40: [behind], 59: [behind], 60: []})

    def test_journal_filling(self):
        self.check({'postlag_journal_behind_bytes{source="lmtp"}':
                    at((0, GIB // 2), (10, 3 * GIB // 4), (30, 0))}, says=[
            "mx1.example:9154: 768MiB of the journal of postlag-lmtp are not"
            " read yet"], firing={
            9: [], 15: [alert("PostlagJournalFilling", source="lmtp")],
            30: []})

    def test_disk_low(self):
        """Not when it cannot be told"""
        self.check({
            'postlag_disk_available_bytes{directory="store"}':
                at((0, GIB), (10, GIB // 2), (30, GIB)),
            'postlag_disk_available_bytes{directory="journal"}': at((0, -1)),
        }, says=["mx1.example:9154: 512MiB left on the disk of the store"],
            firing={9: [], 15: [alert("PostlagDiskLow", directory="store")],
                    30: []})

    def test_disk_filling(self):
        """Full in a day, and not from a short rise"""
        filling = alert("PostlagDiskFilling", directory="store")
        name = 'postlag_disk_available_bytes{directory="store"}'
        self.check({name: lambda minute: 40 * GIB - min(
            minute, 8 * HOUR) * 40 * GIB // DAY}, says=[
            "mx1.example:9154: the disk of the store will be full within a"
            " day"], firing={
            3 * HOUR: [], 4 * HOUR + 5: [filling], 8 * HOUR: [filling],
            15 * HOUR: []}, step=5)
        self.check({name: lambda minute: 40 * GIB - (
            30 * GIB if 240 <= minute < 270 else 0)},
            step=5, firing={minute: [] for minute in range(0, 8 * HOUR, 5)})

    def test_store_errors(self):
        """Counted since start, and over one"""
        errors = alert("PostlagStoreErrors")
        self.check({'postlag_store_errors_total': lambda minute: (
            0 if minute < 10 else minute - 10 if minute < 20
            else min(minute, 30) - 20)}, says=[
            "mx1.example:9154: postlag-exporter cannot write its store"],
            firing={12: [], 17: [errors], 30: [errors], 46: []})

    def test_store_damaged(self):
        for name in ("damaged", "replaced"):
            with self.subTest(name):
                self.check({f'postlag_store_{name}_files':
                            at((0, 0), (10, 1), (30, 0))}, says=[
                    "mx1.example:9154: files of the store were damaged or"
                    " changed by others"], firing={
                    9: [], 10: [alert("PostlagStoreDamaged")], 30: []})

    def test_journal_damaged(self):
        for name in ("damaged_records", "unreadable_segments"):
            with self.subTest(name):
                self.check({f'postlag_journal_{name}_total{{source="milter"}}':
                            at((0, 4), (30, 5))}, says=[
                    "mx1.example:9154: a part of the journal of postlag-milter"
                    " cannot be read"], firing={
                    29: [], 30: [alert("PostlagJournalDamaged",
                                       source="milter")], 95: []})


class Examples(unittest.TestCase):
    def check(self, *command):
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False, cwd="packaging/prometheus")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_prometheus_takes_the_rules(self):
        self.check("promtool", "check", "config", "prometheus.yml")

    def test_alertmanager_takes_its_example(self):
        self.check("amtool", "check-config", "alertmanager.yml")


tap.main()
