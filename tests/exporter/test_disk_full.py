# SPDX-License-Identifier: BSD-2-Clause
"""The store's disk is full while mail comes in, days are sealed or purged, and an
address is forgotten: the exporter stays up or starts, says what is wrong, and
when there is room it does what was due, as if nothing had been (I2, I3, I5)."""

import json
import os
import shutil
import subprocess
import time
import unittest

import tap
from programs import program_path
from stack import SmallDisk
from store_trouble import DAYS, LIVE, Trouble, Visitor
from waiting import wait_until

PAGE = 4096
DAY = 86400
# In pages: what fits before the disk is full, so that it is at another moment.
ROOMS = (0, 3, 12, 40)
FORGOTTEN = "u7.0@example.test"


@unittest.skipUnless(SmallDisk.possible(), "cannot mount")
class OnSmallDisk(Trouble):
    def setUp(self):
        super().setUp()
        # Room for logs that nobody has had the time to copy.
        self.disk = SmallDisk(self.alone.store, "128m")
        self.disk.mount()
        self.addCleanup(self.disk.unmount)
        self.addCleanup(self.alone.program.kill)


class Full(OnSmallDisk):
    def test_disk_full_the_exporter_says_so_and_catches_up(self):
        self.begin(100)
        for _ in range(3):
            self.disk.fill()
            with Visitor(self.alone) as visitor:
                self.load(500, wait=False)
                self.wait_until_ready(False)
                self.assertIn(b" full", self.alone.request("/-/ready")[2])
                self.disk.make_room()
                self.wait_until_counted()
                self.wait_until_ready()
            self.assertEqual(visitor.wrong, [])
        self.assert_counted()
        self.assert_consistent()

    def test_killed_while_the_disk_is_full(self):
        """And started when there is room again."""
        self.begin(100)
        self.disk.fill()
        self.load(500, wait=False)
        self.wait_until_ready(False)
        self.alone.program.kill()
        self.disk.make_room()
        self.alone.program.start()
        self.wait_until_counted()
        self.assert_counted()
        self.assert_consistent()


class Upkeep(OnSmallDisk):
    """What is due when it starts, on a disk that is full already."""

    def setUp(self):
        # Not over midnight, which would make one day more.
        wait_until(lambda: time.time() % DAY < DAY - 300, "the next day", 320)
        super().setUp()
        self.alone.program.settings["operator"] = {
            "journal": self.alone.journal}
        self.operator = f"{self.alone.journal}/operator"
        self.kept = f"{self.alone.directory}/kept"
        self.alone.journals.tell("open", "a", "QOPEN", DAYS - 1)
        self.begin(200)
        self.before = self.alone.metrics()
        self.latency = self.ask_latency()
        self.alone.program.stop()
        self.keep()

    def keep(self):
        """What each room begins with."""
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.alone.store, f"{self.kept}/store")
        if os.path.exists(self.operator):
            shutil.copytree(self.operator, f"{self.kept}/operator")

    def take_back(self):
        for name in os.listdir(self.alone.store):
            os.unlink(os.path.join(self.alone.store, name))
        shutil.copytree(f"{self.kept}/store", self.alone.store,
                        dirs_exist_ok=True)
        if os.path.exists(f"{self.kept}/operator"):
            shutil.rmtree(self.operator)
            shutil.copytree(f"{self.kept}/operator", self.operator)

    def ask_latency(self):
        since = time.strftime("%Y-%m-%d",
                              time.gmtime(time.time() - (DAYS + 2) * DAY))
        return json.loads(self.alone.request(
            f"/api/v1/latency?since={since}&step=1h")[2])["whole"]

    def value(self, name, **labels):
        return self.alone.metrics().total(f"postlag_{name}", **labels)

    def configure(self, **options):
        self.alone.program.settings["store"].update(options)

    def run_until(self, is_done, room):
        """On a disk with so much room, and then enough. Returns whether it
        had been too little."""
        self.alone.program.kill()
        self.take_back()
        self.disk.fill(leave_bytes=room * PAGE)
        told = self.alone.program.log().count(" full")
        self.alone.program.start()
        wait_until(lambda: is_done() or self.value("store_errors_total") > 0,
                   "the work to be done or to fail")
        was_full = not is_done()
        if was_full:
            self.assertGreater(self.alone.program.log().count(" full"), told)
        with Visitor(self.alone) as visitor:
            self.disk.make_room()
            wait_until(is_done, "the work to be done")
            self.wait_until_ready()
        self.assertEqual(visitor.wrong, [])
        return was_full

    def check(self, is_done, check_done, sealed):
        """Whatever room there is, it is done in the end."""
        was_full = []
        for room in ROOMS:
            with self.subTest(room=room):
                was_full.append(self.run_until(is_done, room))
                self.assert_same(sealed)
                check_done()
                self.assertEqual(self.ask_latency(), self.latency)
        self.assertIn(True, was_full)

    def assert_same(self, sealed):
        """As before, but for the message that nothing was heard of."""
        wanted = dict(self.before.samples)
        if sealed:
            unknown = ("postlag_recipient_outcomes_total",
                       (("outcome", "unknown"),))
            self.assertEqual(wanted[unknown], 0)
            wanted[unknown] = 2
        seen = self.alone.metrics()
        for key in self.before.counters():
            if not key[0].startswith(LIVE) \
                    and ("source", "operator") not in key[1]:
                self.assertEqual(seen.samples[key], wanted[key], key)
        self.assert_balanced(seen)

    def is_sealed(self):
        return self.value("recipient_outcomes_total", outcome="unknown") == 2

    def test_while_days_are_sealed(self):
        self.configure(queue_lifetime="0", retention="0")
        self.check(self.is_sealed, self.assert_consistent, sealed=True)

    def test_while_days_are_purged(self):
        """No day is gone that is not in the archive."""
        def check_done():
            self.assertEqual(len(self.days()), DAYS - 1)
            self.assert_consistent(has_all_rows=False)
        self.configure(queue_lifetime="0", retention="0")
        self.alone.program.start()
        wait_until(self.is_sealed, "the sealing")
        self.alone.program.stop()
        self.keep()
        self.configure(retention="1d")
        self.check(lambda: self.value("store_purges_total") == 1, check_done,
                   sealed=True)

    def places(self):
        """Where the name is."""
        found = []
        for name in os.listdir(self.alone.store):
            with open(os.path.join(self.alone.store, name), "rb") as file:
                if FORGOTTEN.partition("@")[0].encode() in file.read():
                    found.append(name)
        return found

    def test_while_an_address_is_forgotten(self):
        self.assertNotEqual(self.places(), [])
        os.mkdir(self.operator)
        subprocess.run([program_path("postlag"), "forget", "-c",
                        self.alone.program.config, "--yes", FORGOTTEN],
                       check=True, capture_output=True)
        self.keep()
        self.check(lambda: not self.places(), self.assert_consistent,
                   sealed=False)


tap.main()
