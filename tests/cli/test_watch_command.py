# SPDX-License-Identifier: BSD-2-Clause
"""`postlag watch`: each state of each recipient once, whoever is killed."""

import collections
import json
import os
import pty
import random
import re
import signal
import subprocess
import threading
import unittest

import store_rows
import tap
from exporter_alone import ExporterAlone
from programs import program_path
from waiting import PATIENCE, wait_until

LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  (Q\S+) +([a-z ]+?) *"
                  r"(?: (\d+(?:\.\d+)? \S+))?  (\S+) -> (\S+)(?:  (.*))?")


class Watching:
    """The command, and the lines that it has written so far."""

    def __init__(self, alone, *arguments, stdout=subprocess.PIPE):
        self.process = subprocess.Popen(
            [program_path("postlag"), "watch", "--store", alone.store,
             *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.lines, self.errors = [], []
        self.readers = [
            threading.Thread(target=self.read, args=pair, daemon=True)
            for pair in ((self.process.stdout, self.lines),
                         (self.process.stderr, self.errors)) if pair[0]]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.append(line.rstrip("\n"))

    def objects(self):
        return [json.loads(line) for line in list(self.lines)]

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.status()

    def status(self):
        status = self.process.wait(PATIENCE)
        for reader in self.readers:
            reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        return status


class Watch(unittest.TestCase):
    def setUp(self):
        self.alone = ExporterAlone(start=False)
        self.addCleanup(self.alone.__exit__, None)

    def watch(self, *arguments, **options):
        """Begins before there is a store, so that all of it is new."""
        if os.path.isdir(self.alone.store):
            os.rmdir(self.alone.store)
        watching = Watching(self.alone, *arguments, **options)
        self.addCleanup(watching.process.kill)
        wait_until(lambda: watching.errors, "that there is no store")
        self.assertIn("there is no store", watching.errors[0])
        return watching

    def watch_running(self, *arguments):
        """Begins while the exporter writes, and has seen the last of some
        messages whose queue ids begin with PROBE."""
        watching = Watching(self.alone, *arguments)
        self.addCleanup(watching.process.kill)
        numbers = iter(range(10 ** 6))

        def is_seen():
            number = next(numbers)
            self.alone.message(f"probe{number}", f"PROBE{number}",
                               "probe@example.test")
            return watching.lines
        wait_until(is_seen, "a line", pause=0.2)
        return watching

    def wait_for_lines(self, watching, count):
        wait_until(lambda: len(watching.lines) >= count, f"{count} lines")
        return watching.lines

    def test_each_state_is_a_line_with_time_latency_and_relay(self):
        watching = self.watch()
        self.alone.program.start()
        self.alone.message("a", "Q1", "u1@example.test", "u2@example.test")
        self.wait_for_lines(watching, 2)
        self.alone.delivery("a", "Q1", "u1@example.test=250",
                            "u2@example.test=450")
        self.wait_for_lines(watching, 4)
        self.assertEqual(watching.end(), 0)
        found = [LINE.fullmatch(line) for line in watching.lines]
        self.assertTrue(all(found), watching.lines)
        self.assertEqual(
            [(m[1], m[2], m[5]) for m in found],
            [("Q1", "accepted", "u1@example.test"),
             ("Q1", "accepted", "u2@example.test"),
             ("Q1", "delivered", "u1@example.test"),
             ("Q1", "deferred", "u2@example.test")])
        self.assertEqual([bool(m[3]) for m in found],
                         [False, False, True, True])
        self.assertIn("450", found[3][6])

    def test_json_is_an_object_a_line(self):
        watching = self.watch("--json")
        self.alone.program.start()
        key = self.alone.message("a", "Q1", "u1@example.test")
        self.alone.delivery("a", "Q1", "u1@example.test=550")
        self.wait_for_lines(watching, 2)
        first, second = watching.objects()
        self.assertEqual((first["queue_id"], first["id"], first["to"],
                          first["outcome"], first["was"], first["latency"],
                          first["relay"]),
                         ("Q1", key, "u1@example.test", "in_flight", None,
                          None, None))
        self.assertEqual((second["outcome"], second["was"], second["id"]),
                         ("bounced", "in_flight", key))
        self.assertGreaterEqual(second["latency"], 0)
        self.assertIn("550", second["why"])
        self.assertEqual(second["from"], first["from"])

    def check_against_rows(self, watching):
        """What the lines say last is what the store has, and each line goes on
        from the one before; every outcome that was counted has a line"""
        last, outcomes = {}, collections.Counter()
        for line in watching.objects():
            outcomes[line["outcome"]] += 1
            if line["id"] is None:  # a delivery without a message
                continue
            key = (line["id"], line["to"])
            self.assertEqual(line["was"], last.get(key), line)
            last[key] = line["outcome"]
        rows = {(row.id, address): state
                for row in store_rows.read_rows(self.alone.store)
                for address, state in row.recipients}
        self.assertEqual(last, rows)
        metrics = self.alone.metrics()
        for state in ("delivered", "bounced"):
            self.assertEqual(
                outcomes[state],
                metrics.total("postlag_recipient_outcomes_total",
                              outcome=state), state)
        return outcomes

    def wait_for_the_last(self, watching):
        """Until it has told all: what comes last by either journal."""
        def told(outcome):
            return any(line["queue_id"] == "QLAST"
                       and line["outcome"] == outcome
                       for line in watching.objects())
        self.alone.message("last", "QLAST", "last@example.test")
        wait_until(lambda: told("in_flight"), "the last message")
        self.alone.delivery("last", "QLAST", "last@example.test=250")
        wait_until(lambda: told("delivered"), "the last delivery")

    def replies(self, chance, count):
        """What the LMTP server said one after the other of each message."""
        return [[chance.choice((250, 450, 550))
                 for _ in range(chance.randrange(4))] for _ in range(count)]

    def test_nothing_is_missed_or_told_twice_whoever_is_killed(self):
        """I2, as seen by those who watch: late outcomes, revisions, and the
        exporter killed or the watcher stopped meanwhile"""
        chance = random.Random(4)
        watching = self.watch("--json")
        self.alone.program.start()
        rounds = self.replies(chance, 80)
        for number in range(len(rounds)):
            self.alone.message(f"m{number}", f"Q{number}",
                               f"u{number}@example.test")
        for turn in range(3):
            for number, codes in enumerate(rounds):
                if turn < len(codes):
                    self.alone.delivery(
                        f"m{number}", f"Q{number}",
                        f"u{number}@example.test={codes[turn]}")
                if chance.random() < 0.02:
                    self.alone.program.kill()
                    self.alone.program.start()
                if chance.random() < 0.05:
                    watching.process.send_signal(signal.SIGSTOP)
                if chance.random() < 0.1:
                    watching.process.send_signal(signal.SIGCONT)
        watching.process.send_signal(signal.SIGCONT)
        self.wait_for_the_last(watching)
        outcomes = self.check_against_rows(watching)
        self.assertEqual(outcomes["in_flight"], len(rounds) + 1)
        self.assertTrue(any(line["was"] in ("bounced", "delivered")
                            for line in watching.objects()))
        self.assertEqual(watching.errors[1:], [])
        self.assertEqual(watching.end(), 0)

    def test_nothing_of_a_load_over_several_days_is_missed(self):
        watching = self.watch("--json")
        self.alone.program.start()
        wanted = self.alone.load(2000, recipients=2, days=3)
        self.alone.wait_for("postlag_delivery_attempts_total",
                            wanted["attempts"])
        self.alone.message("last", "QLAST", "last@example.test")
        wait_until(lambda: any("QLAST" in line for line in watching.lines),
                   "the last line")
        self.check_against_rows(watching)
        self.assertGreater(wanted["unjoined"], 0)
        self.assertEqual(
            sum(line["id"] is None and line["outcome"] != "deferred"
                for line in watching.objects()), wanted["unjoined"])
        self.assertEqual(watching.end(signal.SIGTERM), 0)

    def test_terms_choose_by_the_state_that_the_line_is_about(self):
        watching = self.watch("to:*@b.test", "status:deferred")
        self.alone.program.start()
        for name in ("a", "b"):
            self.alone.message(name, f"Q{name}", f"u@{name}.test")
            self.alone.delivery(name, f"Q{name}", f"u@{name}.test=450")
            self.alone.delivery(name, f"Q{name}", f"u@{name}.test=250")
        self.alone.wait_for("postlag_recipient_outcomes_total", 2,
                            outcome="delivered")
        self.alone.message("c", "Qc", "u@b.test")
        self.alone.delivery("c", "Qc", "u@b.test=450")
        self.wait_for_lines(watching, 2)
        self.assertEqual(
            [LINE.fullmatch(line).group(1, 2, 5) for line in watching.lines],
            [("Qb", "deferred", "u@b.test"), ("Qc", "deferred", "u@b.test")])

    def test_what_was_there_before_is_not_told(self):
        self.alone.program.start()
        self.alone.message("a", "Q1", "u1@example.test")
        self.alone.wait_for("postlag_messages_accepted_total", 1)
        watching = self.watch_running()
        self.alone.delivery("a", "Q1", "u1@example.test=250")
        wait_until(lambda: any("Q1 " in line for line in watching.lines),
                   "the outcome")
        self.assertEqual([LINE.fullmatch(line)[2] for line in watching.lines
                          if "Q1 " in line], ["delivered"])
        self.assertEqual(watching.errors, [])

    def test_it_ends_after_so_many_lines(self):
        watching = self.watch("--limit", "2")
        self.alone.program.start()
        for number in range(5):
            self.alone.message(f"m{number}", f"Q{number}", "u@example.test")
        self.assertEqual(watching.status(), 0)
        self.assertEqual(len(watching.lines), 2)

    def test_it_ends_quietly_when_nobody_reads_any_more(self):
        """Also when nothing happens"""
        self.alone.program.start()
        reader, writer = os.pipe()
        watching = Watching(self.alone, stdout=writer)
        self.addCleanup(watching.process.kill)
        os.close(writer)
        os.close(reader)
        self.assertEqual(watching.status(), 0)
        self.assertEqual(watching.errors, [])

    def test_colours_are_for_terminals(self):
        watching = self.watch()
        ours, theirs = pty.openpty()
        self.alone.program.start()
        os.environ["TERM"] = "xterm"
        coloured = Watching(self.alone, "--limit", "1", stdout=theirs)
        self.addCleanup(coloured.process.kill)
        os.close(theirs)
        numbers = iter(range(10 ** 6))

        def has_ended():
            number = next(numbers)
            self.alone.message(f"m{number}", f"Q{number}", "u@example.test")
            return coloured.process.poll() is not None
        wait_until(has_ended, "a line", pause=0.2)
        self.assertEqual(coloured.status(), 0)
        self.assertIn(b"\x1b[", os.read(ours, 4096))
        os.close(ours)
        self.wait_for_lines(watching, 1)
        self.assertNotIn("\x1b", "".join(watching.lines))

    def test_misuse_and_unreadable_stores_are_status_2(self):
        for arguments in (["form:b"], ["--limit", "0"], ["--page", "x"],
                          ["--store", "/dev/null"]):
            watching = Watching(self.alone, *arguments)
            self.addCleanup(watching.process.kill)
            self.assertEqual(watching.status(), 2, arguments)
            self.assertIn("postlag", watching.errors[0])


tap.main()
