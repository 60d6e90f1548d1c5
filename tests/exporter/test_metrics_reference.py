# SPDX-License-Identifier: BSD-2-Clause
"""The reference of metrics in the documentation says what /metrics of a running
exporter shows, and from what it comes."""

import re
import unittest

import exposition
import tap
from exporter_alone import ExporterAlone, LogAlone
from programs import ROOT

PAGE = f"{ROOT}/packaging/prometheus/metrics.md"
COLUMNS = ["metric", "type", "labels", "unit", "from", "meaning"]
ANY = {"milter", "hook", "log", "Dovecot's log", "queue", "operator"}


def cells(line):
    return [cell.strip() for cell in line.strip("|").split(" |")]


class Entry:
    """What the page says of a family."""

    def __init__(self, line):
        name, self.type, labels, self.unit, evidence, self.help = cells(line)
        self.name = name.strip("`")
        self.labels = {}
        for text in labels.split("; ") if labels else []:
            label, values = re.fullmatch(r"`(\w+)`: (.+)", text).groups()
            self.labels[label] = values.split(", ")
        self.evidence = ANY if evidence == "any" else set(
            evidence.split(", "))


def read_page():
    """{name: Entry}"""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    part = re.search(r"<!-- metrics begin -->\n(.*)<!-- metrics end -->", text,
                     re.DOTALL)[1]
    head, _, *lines = part.splitlines()
    assert cells(head) == COLUMNS, head
    entries = [Entry(line) for line in lines]
    assert len({entry.name for entry in entries}) == len(entries)
    return {entry.name: entry for entry in entries}


def label_values(family):
    """{label: set of its values}"""
    values = {}
    for labels in family.samples:
        for label, value in labels:
            values.setdefault(label, set()).add(value)
    return values


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = read_page()

    def scrape(self, alone, content_type):
        status, headers, body = alone.request(
            "/metrics", headers={"Accept": content_type})
        self.assertEqual((status, headers["Content-Type"]),
                         (200, content_type))
        return body

    def test_it_has_exactly_what_a_scrape_shows(self):
        """In every format: families in their order, type, help, labels with
        all their values, before anything has happened (cases 11 and 15)"""
        with ExporterAlone() as alone:
            for content_type in (exposition.TEXT, exposition.OPENMETRICS,
                                 exposition.PROTOBUF):
                families = exposition.read(
                    content_type, self.scrape(alone, content_type))
                self.assertEqual(list(families), list(self.page))
                for name, family in families.items():
                    entry = self.page[name]
                    self.assertEqual(
                        (family.type, family.help, label_values(family)),
                        (entry.type, entry.help, {
                            label: set(values) for label, values
                            in entry.labels.items()}), name)

    def test_no_value_of_a_label_stands_there_twice(self):
        for name, entry in self.page.items():
            for label, values in entry.labels.items():
                self.assertEqual(len(values), len(set(values)), (name, label))

    def test_its_units_are_those_of_openmetrics(self):
        with ExporterAlone() as alone:
            body = self.scrape(alone, exposition.OPENMETRICS).decode()
        units = dict(re.findall(r"^# UNIT (\w+) (\w+)$", body, re.MULTILINE))
        self.assertTrue(units)
        self.assertEqual(units, {
            name.removesuffix("_total"): entry.unit
            for name, entry in self.page.items() if entry.unit})

    def check_evidence(self, alone, *evidence):
        """What is not 0 may come from it."""
        metrics = alone.metrics()
        used = metrics.families_in_use()
        for name in used:
            self.assertTrue(
                self.page[name].evidence & {"exporter", *evidence},
                (name, evidence))
        return used

    def test_what_the_milter_alone_tells_is_from_the_milter(self):
        with ExporterAlone() as alone:
            for number in range(20):
                alone.message(f"m{number}", f"Q{number}", "u1@example.test",
                              "u2@example.test")
            alone.wait_for("postlag_recipients", 40, state="in_flight")
            used = self.check_evidence(alone, "milter")
        self.assertLessEqual({"postlag_messages_accepted_total",
                              "postlag_phase_seconds"}, used)

    def test_what_the_hook_alone_tells_is_from_the_hook(self):
        with ExporterAlone(stamp_wait="1s") as alone:
            for label, code in (("-", 250), ("-", 451), ("-", 550),
                                ("?", 250)):
                alone.delivery(label, f"Q{code}{label == '?'}",
                               f"u1@example.test={code}")
            alone.wait_for("postlag_deliveries_waiting", 1)
            used = self.check_evidence(alone, "hook")
            alone.wait_for("postlag_forged_stamps_total", 1)
            used |= self.check_evidence(alone, "hook")
        self.assertLessEqual({"postlag_delivery_attempts_total",
                              "postlag_deliveries_waiting",
                              "postlag_unstamped_total"}, used)

    def test_what_the_log_alone_tells_is_from_the_log(self):
        with LogAlone() as alone:
            for number, (agent, status) in enumerate((
                    ("virtual", "status=sent (delivered to maildir)"),
                    ("smtp", "status=sent (250 Ok)"),
                    ("smtp", "status=deferred (busy)"),
                    ("smtp", "status=bounced (550 no)"))):
                alone.log.message(f"0000000{number}", "u1@x.test",
                                  agent=agent, status=status)
            alone.log.line("smtpd", "NOQUEUE: reject: MAIL from c.test"
                           "[192.0.2.1]: 550 5.7.1 <s@c.test>: Sender "
                           "address rejected: no; from=<s@c.test> "
                           "proto=ESMTP helo=<c.test>")
            alone.wait_for("postlag_smtp_rejects_total", 1)
            alone.log.copy_and_truncate()
            alone.log.line("qmgr", "00000004: removed")
            alone.wait_for("postlag_log_gaps_total", 1)
            used = self.check_evidence(alone, "log")
        self.assertLessEqual({"postlag_unstamped_total",
                              "postlag_recipient_outcomes_total",
                              "postlag_smtp_rejects_total"}, used)


tap.main()
