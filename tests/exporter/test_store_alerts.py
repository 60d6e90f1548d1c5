# SPDX-License-Identifier: BSD-2-Clause
"""The packaged alerts that tell of a store and journals in trouble, in a real
Prometheus (issue 5, must show 4)."""

import datetime
import os
import sqlite3
import subprocess
import time
import unittest

import tap
from alert_case import OFF, AlertCase
from exporter_alone import ExporterAlone


class Store(AlertCase):
    def start(self):
        """On a small disk, with a file that is none."""
        exporter = ExporterAlone(start=False)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs",
                        exporter.store], check=True)
        self.addCleanup(subprocess.run, ["umount", exporter.store], check=True)
        yesterday = datetime.datetime.now(datetime.timezone.utc) \
            - datetime.timedelta(1)
        with open(f"{exporter.store}/day-{yesterday:%Y%m%d}.db", "wb") as file:
            file.write(b"no database" * 1000)
        exporter.program.start()
        self.addCleanup(exporter.program.kill)
        return exporter

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount a small disk")
    def test_its_troubles(self):
        exporter = self.start()
        prometheus = self.watch(exporter.port)
        steady = [OFF, "PostlagStoreDamaged", "PostlagDiskLow"]
        self.wait_for(prometheus, *steady)
        exporter.load(10)
        exporter.wait_for("postlag_messages_accepted_total", 10)
        day, = [name for name in os.listdir(exporter.store)
                if name.startswith("day-") and name.endswith(".db")]
        lock = sqlite3.connect(f"{exporter.store}/{day}", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        exporter.load(500)
        steady.append("PostlagStoreErrors")
        self.wait_for(prometheus, *steady, "PostlagBehind")
        lock.execute("ROLLBACK")
        lock.close()
        self.wait_for(prometheus, *steady)
        number = time.time_ns() // 1000 + 1000000
        os.mkdir(f"{exporter.journal}/milter/{number:016x}.journal")
        exporter.journals.close()
        self.wait_for(prometheus, *steady, "PostlagJournalDamaged")


tap.main()
