# SPDX-License-Identifier: BSD-2-Clause
"""The log file's rights and rotation, as the README tells the administrator:
the exporter goes on reading, and a log it may not read makes nobody lost."""

import os
import shutil

import tap
from fate_stack import FateCase
from stack import GROUP


class LogFile(FateCase):
    options = {"main_cf": {"defer_transports": "lmtp"}}

    def deliver(self, address="u1@example.test"):
        queue_id = self.send([address, "waits@direct.test"])
        self.assert_fates(queue_id, {address: "delivered",
                                     "waits@direct.test": "deferred"})
        return queue_id

    def assert_deletion_is_seen(self, queue_id):
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.assert_fates(queue_id, {"u1@example.test": "delivered",
                                     "waits@direct.test": "deleted"})

    def test_1_rotated_with_create_and_reload(self):
        """Case 6: logrotate's `create 640 root postlag`, then postfix reload
        """
        before = self.deliver()
        path = self.stack.postfix.log_path
        os.rename(path, path + ".1")
        self.stack.make_log()
        self.stack.postfix.command("postfix", "reload")
        self.assert_deletion_is_seen(before)
        self.assert_deletion_is_seen(self.deliver())

    def test_2_rotated_by_postfix_and_not_readable(self):
        """As by postfix logrotate: mode 600. In doubt nothing is lost, and all
        is made up for when the administrator gives the rights"""
        before = self.deliver()
        path = self.stack.postfix.log_path
        # Itself it would not do that to a log below /dev, as in /dev/shm.
        os.rename(path, path + ".2")
        self.stack.postfix.command("postfix", "reload")
        self.stack.postfix.command("postsuper", "-d", before)
        queue_id = self.send(["u1@example.test"])
        self.wait_for_line(f"{queue_id}: removed")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assert_fates(queue_id, {"u1@example.test": "delivered"})
        # Longer than it takes to be lost where the log is complete.
        self.assert_never_lost(before, 5)
        shutil.chown(path, "root", GROUP)
        os.chmod(path, 0o640)
        self.assert_fates(before, {"u1@example.test": "delivered",
                                   "waits@direct.test": "deleted"}, 40)


if __name__ == "__main__":
    tap.main()
