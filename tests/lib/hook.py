# SPDX-License-Identifier: BSD-2-Clause
"""postlag-lmtp in front of a server, by itself.

    with Server() as server, Hook(server.endpoint) as hook:
        with Client(hook.address) as client:
            ...
        hook.wait_for_deliveries(1)
"""

import os

from journal import Journal
from programs import Program
from waiting import PrivateDirectory, free_port, wait_until


class Hook(Program):
    def __init__(self, backend, path=None, host="127.0.0.1", **options):
        """Listens on a port of `host`, or on a unix socket at `path` below a
        private directory. `options` are further settings."""
        self.private = PrivateDirectory()
        directory = self.private.path
        if path:
            self.address = os.path.join(directory, path)
            listen = f"unix:{self.address}"
        else:
            self.address = host, free_port(host)
            listen = f"inet:{host}:{self.address[1]}"
        self.journal = os.path.join(directory, "journal")
        os.mkdir(self.journal)
        super().__init__("postlag-lmtp", {"lmtp": {
            "listen": listen, "backend": backend, "journal": self.journal,
            "instance": "test", "host_name": "mx.test", **options}}, directory)

    def deliveries(self):
        """Delivery events recorded so far, in order."""
        return Journal(self.journal, "lmtp").deliveries()

    def wait_for_deliveries(self, count):
        return wait_until(
            lambda: len(self.deliveries()) >= count and self.deliveries(),
            f"{count} delivery events")

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.private.remove()


def codes(delivery):
    """[(address, envelope code, final code)] of a delivery event."""
    return [(recipient["address"],
             (recipient["envelope"] or {}).get("code", 0),
             (recipient["final"] or {}).get("code", 0))
            for recipient in delivery["recipients"]]
