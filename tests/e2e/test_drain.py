# SPDX-License-Identifier: BSD-2-Clause
"""How fast a real Postfix's queue drains, as `postlag queue` tells it."""

import json

import tap
from loss_stack import LossCase
from waiting import wait_until


class Drain(LossCase):
    def destinations(self):
        """{domain: its object} of postlag queue --json."""
        found = json.loads(self.stack.postlag("queue", "--json").stdout)
        return {entry["domain"]: entry for entry in found["destinations"]}

    def wait_for(self, domain, **members):
        def shows():
            seen = self.destinations().get(domain)
            return seen if seen and members.items() <= seen.items() else None
        return wait_until(shows, f"{domain} with {members}", 60)

    def reach(self, port):
        """Where mail to down.test goes from now on."""
        with open(f"{self.stack.postfix.etc}/transport", "w",
                  encoding="utf-8") as out:
            out.write(f"down.test smtp:[127.0.0.1]:{port}\n"
                      f"slow.test smtp:[127.0.0.1]:{self.stack.slow.port}\n")
        self.stack.postfix.command("postfix", "reload")

    def test_who_waits_and_who_left(self):
        """Nothing is promised before anything left; then the time follows
        from those who had waited, not from those who passed through; held
        ones do not wait"""
        queue_ids = [self.deferred() for _ in range(15)]
        for queue_id in queue_ids[:3]:
            self.stack.postfix.command("postsuper", "-h", queue_id)
            self.wait_for_state(queue_id, "held")
        seen = self.wait_for("down.test", waiting=12)
        self.assertEqual((seen["drain"], seen["left"],
                          seen["empty_in_seconds"]), ("too_early", 0, None))
        self.assertIn("too early to tell", self.stack.postlag("queue").stdout)
        self.reach(self.stack.slow.port)
        passing = self.send(["u1@down.test"])
        self.wait_for_state(passing, "relayed")
        self.stack.postfix.flush()
        for queue_id in queue_ids[3:]:
            self.wait_for_state(queue_id, "relayed")
        self.assertEqual(self.destinations(), {})
        self.reach(1)
        for queue_id in queue_ids[:3]:
            self.stack.postfix.command("postsuper", "-H", queue_id)
        seen = self.wait_for("down.test", waiting=3)
        self.assertEqual((seen["drain"], seen["left"]), ("moving", 12))
        self.assertEqual(seen["empty_in_seconds"], 600 * 3 // 12)
        self.assertRegex(
            self.stack.postlag("queue").stdout,
            r"(?m)^down\.test +3 +\d.* s +2 m 30 s, as 12 left in 10 m$")


tap.main()
