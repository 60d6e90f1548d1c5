# SPDX-License-Identifier: BSD-2-Clause
"""A syslog daemon for one program: what that logs with syslog(3) is appended to
a file, as rsyslogd writes it traditionally.

    daemon = SyslogDaemon(directory, path)
    subprocess.Popen([*daemon.command(), "dovecot", ...])

The program sees a /dev of its own, in which /dev/log is ours.
"""

import os
import re
import socket
import threading

NODES = (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9))


class SyslogDaemon:
    def __init__(self, directory, path, host="mx"):
        self.socket_path = os.path.join(directory, "syslog.sock")
        self.path = path
        self.host = host
        self.socket = None
        self.thread = None

    def command(self):
        """What runs the program whose arguments follow."""
        # Private directories may lie in /dev/shm.
        steps = ["mount -t tmpfs postlag-test /mnt", "mkdir /mnt/shm",
                 "mount --bind /dev/shm /mnt/shm",
                 "mount -t tmpfs postlag-test /dev", "mkdir /dev/shm",
                 "mount --move /mnt/shm /dev/shm",
                 *(f"mknod -m 666 /dev/{name} c 1 {minor}"
                   for name, minor in NODES),
                 f"ln -s {self.socket_path} /dev/log", 'exec "$@"']
        return ["unshare", "--mount", "sh", "-c", " && ".join(steps), "sh"]

    def start(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.socket_path)
        os.chmod(self.socket_path, 0o666)
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def stop(self):
        if self.socket is not None:
            # Wakes the thread.
            self.socket.shutdown(socket.SHUT_RDWR)
            self.thread.join()
            self.socket.close()
            self.socket = None

    def _run(self):
        while data := self.socket.recv(65536):
            line = re.match(rb"<\d+>(.{15}) (.*)", data.rstrip(b"\0\n"),
                            re.DOTALL)
            with open(self.path, "ab") as log:
                log.write(b"%b %b %b\n" % (line[1], self.host.encode(),
                                           line[2]))
