# SPDX-License-Identifier: BSD-2-Clause
"""The exporter started with the rights that the packaged unit gives it: its
helper looks into the queue, and nobody keeps a right (I10)."""

import grp
import os
import pwd
import re

import tap
from fate_stack import FATE_PATIENCE, FateCase, FateStack
from mail_system import Listener
from programs import ROOT
from stack import GROUP
from waiting import wait_until

UNIT = f"{ROOT}/packaging/systemd/postlag-exporter.service"


def unit_values(name):
    with open(UNIT, encoding="utf-8") as file:
        return re.findall(rf"^{name}=(.*)$", file.read(), re.MULTILINE)


def as_systemd_starts_it():
    """setpriv(1) with the unit's user, groups and capabilities. The log's group
    stands for adm, which the README adds."""
    user, = unit_values("User")
    ambient, = unit_values("AmbientCapabilities")
    bounding, = unit_values("CapabilityBoundingSet")
    groups = [GROUP]
    for name in " ".join(unit_values("SupplementaryGroups")).split():
        try:
            grp.getgrnam(name)
        except KeyError:
            continue
        groups.append(name)
    return ["setpriv", f"--reuid={user}", f"--regid={GROUP}",
            f"--groups={','.join(groups)}", "--no-new-privs",
            f"--bounding-set={capabilities(bounding)}",
            f"--inh-caps={capabilities(ambient)}",
            f"--ambient-caps={capabilities(ambient)}"]


def capabilities(names):
    return ",".join(["-all", *(f"+{name.removeprefix('CAP_').lower()}"
                               for name in names.split())])


def status(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file
                    if ":\t" in line)


class PackagedRights(FateCase):
    @classmethod
    def make_stack(cls):
        return FateStack([Listener("hold", {
            "smtpd_recipient_restrictions":
                "check_recipient_access static:HOLD, permit"})])

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        exporter = cls.stack.exporter
        assert exporter.stop() == 0
        exporter.start(prefix=as_systemd_starts_it())
        # setpriv(1) has become the exporter.
        exporter.prefix = []

    def helper(self):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                seen = status(pid)
            except OSError:
                continue
            if seen["PPid"] == str(self.stack.exporter.pid()):
                return seen
        return None

    def assert_bare(self, seen, user):
        number = str(pwd.getpwnam(user).pw_uid)
        self.assertEqual(set(seen["Uid"].split()), {number})
        for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(seen[name], 16), 0, name)
        self.assertEqual(seen["NoNewPrivs"], "1")

    def test_nobody_keeps_a_capability(self):
        self.assert_bare(status(self.stack.exporter.pid()),
                         "postlag-exporter")
        helper = self.helper()
        self.assertEqual(helper["Name"], "postlag-queue")
        self.assert_bare(helper, "postfix")
        self.assertEqual(helper["Groups"].split(),
                         [str(pwd.getpwnam("postfix").pw_gid)])

    def test_every_thread_has_given_them_up(self):
        pid = self.stack.exporter.pid()
        threads = os.listdir(f"/proc/{pid}/task")
        self.assertGreater(len(threads), 2)
        for thread in threads:
            self.assert_bare(status(f"{pid}/task/{thread}"),
                             "postlag-exporter")

    def test_the_helper_finds_queue_files(self):
        queue_id = self.send(["u1@example.test"])
        self.assert_fates(queue_id, {"u1@example.test": "held"})
        wait_until(lambda: self.stack.metrics().value(
            "postlag_queue_lookups_total", answer="hold") > 0,
            "a look into the hold queue", FATE_PATIENCE, 0.1)
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.assert_fates(queue_id, {"u1@example.test": "deleted"})


if __name__ == "__main__":
    tap.main()
