# SPDX-License-Identifier: BSD-2-Clause
"""A private mail system with our three programs in it, as packaged: three
unprivileged users, one postlag.conf, journals and store with their rights.

    with Stack() as stack:
        stack.send("a@client.test", ["u1@example.test"])
        stack.wait_until_delivered(1)
        stack.wait_until_stored(1)
        print(stack.metrics().value("postlag_messages_accepted_total"))

Listener "plain" has the milter, "bare" has none. The members milter, hook and
exporter are programs.Program objects to kill, pause, stop and start again.
"""

import errno
import grp
import json
import os
import pwd
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from mail_system import HOOK_HOST, Listener, MailSystem
from metrics import Metrics
from postfix import packaged_milter
from programs import Program, program_path, write_configuration
from store_rows import journal_ends, read_positions, read_rows, read_synced, \
    read_synced_bounds
from waiting import PATIENCE, PrivateDirectory, free_port, wait_until

MILTER = packaged_milter()
GROUP = "postlag"
READER = {"user": "nobody", "group": GROUP, "extra_groups": []}


def _owned(path, user, group, mode):
    os.makedirs(path, exist_ok=True)
    os.chown(path, pwd.getpwnam(user).pw_uid, grp.getgrnam(group).gr_gid)
    os.chmod(path, mode)


class SmallDisk:
    """A file system of a few pages, to be filled."""

    def __init__(self, path, size):
        self.path = path
        self.size = size
        self.mounted = False

    @staticmethod
    def possible():
        """Whether we may mount at all."""
        with PrivateDirectory() as path:
            disk = SmallDisk(path, "64k")
            try:
                disk.mount()
            except subprocess.CalledProcessError:
                return False
            disk.unmount()
            return True

    def mount(self):
        os.makedirs(self.path, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size}",
                        "postlag-test", self.path], check=True,
                       capture_output=True)
        self.mounted = True

    def unmount(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.path], check=True)
            self.mounted = False

    def fill(self, leave_bytes=0):
        with open(f"{self.path}/filler", "ab", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError as error:
                assert error.errno == errno.ENOSPC, error
            file.truncate(file.tell() - leave_bytes)

    def make_room(self):
        os.unlink(f"{self.path}/filler")


class Stack(MailSystem):
    def __init__(self, listeners=None, *, settings=None, main_cf=None,
                 disks=None, **more):
        """`settings` are further options, {section: {option: value}}. `disks`
        puts directories on small disks of their own: {"journal/lmtp": "1m"}.
        """
        if listeners is None:
            listeners = [Listener("plain"),
                         Listener("bare", {"smtpd_milters": ""})]
        super().__init__(
            listeners, hook_port=free_port(HOOK_HOST),
            main_cf={"smtpd_milters": MILTER, "non_smtpd_milters": MILTER,
                     **(main_cf or {})}, **more)
        self.http_port = free_port()
        self.journals = self.path("journal")
        self.store = self.path("store")
        self.disks = [SmallDisk(self.path(name), size)
                      for name, size in (disks or {}).items()]
        self.settings = self._settings()
        for section, options in (settings or {}).items():
            self.settings.setdefault(section, {}).update(options)
        self.config = self.path("postlag.conf")
        self.milter = self._program("postlag-milter")
        self.hook = self._program("postlag-lmtp")
        self.exporter = self._program("postlag-exporter")
        self.programs = [self.exporter, self.hook, self.milter]

    def _settings(self):
        socket = f"{self.postfix.queue_directory}/postlag/milter.sock"
        journal = {"journal": self.journals, "heartbeat_interval": "200ms",
                   "instance": self.postfix.settings["myhostname"]}
        return {
            "milter": {"user": "postlag-milter", "log": "stderr",
                       "socket": f"unix:{socket}", **journal},
            "lmtp": {"user": "postlag-lmtp", "log": "stderr",
                     "listen": f"inet:{HOOK_HOST}:{self.hook_port}",
                     "backend": f"inet:127.0.0.1:{self.dovecot.port}",
                     "host_name": self.postfix.settings["myhostname"],
                     **journal},
            "exporter": {"user": "postlag-exporter", "log": "stderr",
                         "listen": f"inet:127.0.0.1:{self.http_port}",
                         "journal": self.journals},
            "store": {"directory": self.store},
            "operator": {"journal": self.journals,
                         "exporter": f"inet:127.0.0.1:{self.http_port}"},
        }

    def _program(self, name):
        program = Program(name, {}, self.directory)
        # All read one file.
        program.settings = self.settings
        program.config = self.config
        return program

    def prepare(self):
        super().prepare()
        for disk in self.disks:
            disk.mount()
        _owned(f"{self.postfix.queue_directory}/postlag", "postlag-milter",
               "postfix", 0o2750)
        _owned(self.journals, "root", GROUP, 0o755)
        _owned(f"{self.journals}/milter", "postlag-milter", GROUP, 0o2770)
        _owned(f"{self.journals}/lmtp", "postlag-lmtp", GROUP, 0o2770)
        _owned(f"{self.journals}/operator", "root", "postlag-admin", 0o2770)
        _owned(self.store, "postlag-exporter", GROUP, 0o2750)
        write_configuration(self.config, self.settings)
        # A checkout may lie where other users cannot reach it.
        os.mkdir(self.path("bin"))
        shutil.copy(program_path("postlag"), self.path("bin"))

    def run(self):
        for program in self.programs:
            program.start()
        super().run()

    def end(self):
        """Postfix first, so that nothing is cut; then ours, checked."""
        self.postfix.kill()
        for program in reversed(self.programs):
            if program.running():
                program.resume()
                status = program.stop()
                assert status == 0, f"{program.name}: status {status}\n" \
                    + program.log()

    def stop(self):
        try:
            try:
                self.end()
            finally:
                for program in self.programs:
                    program.kill()
                for disk in self.disks:
                    disk.unmount()
        finally:
            super().stop()

    def get(self, path, timeout=PATIENCE):
        """(status, body) of a GET to the exporter."""
        url = f"http://127.0.0.1:{self.http_port}{path}"
        try:
            with urllib.request.urlopen(url, timeout=timeout) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metrics(self):
        status, text = self.get("/metrics")
        assert status == 200, (status, text)
        return Metrics(text)

    def wait_until_shown(self):
        """Until what can be found by now is counted in the metrics, too: rows
        are there a moment earlier. The exporter must be running."""
        found = read_positions(self.store)
        wait_until(lambda: all(
            read_synced(self.store).get(source, (0, 0)) >= position
            for source, position in found.items()),
            f"the exporter to show all up to {found}")

    def message(self, key):
        """The API's word on a message: a dictionary, or None."""
        status, text = self.get("/api/v1/messages/"
                                + urllib.parse.quote(key, safe=""))
        assert status in (200, 404), (status, text)
        return json.loads(text) if status == 200 else None

    def rows(self):
        return read_rows(self.store)

    def postlag(self, *arguments, check=True, **identity):
        """Runs the command line as an ordinary member of group postlag."""
        done = subprocess.run(
            [self.path("bin", "postlag"), "-c", self.config, *arguments],
            capture_output=True, text=True, check=False, cwd="/",
            stdin=subprocess.DEVNULL, **(identity or READER))
        if check:
            assert done.returncode == 0, (arguments, done)
        return done

    def wait_until_stored(self, messages=None, delivered=None,
                          timeout=PATIENCE):
        """Until /metrics shows so many accepted messages and delivered
        recipients."""
        def stored():
            seen = self.metrics()
            return (messages is None or seen.total(
                        "postlag_messages_accepted_total") >= messages) \
                and (delivered is None or seen.total(
                        "postlag_recipient_outcomes_total",
                        outcome="delivered") >= delivered)
        wait_until(stored, f"{messages} messages and {delivered} deliveries "
                   "in the store", timeout, 0.1)

    def wait_until_settled(self, timeout=PATIENCE):
        """Until everything that the producers have written by now is in the
        store and shown. They must be idle but for heartbeats."""
        ends = journal_ends(self.journals)
        # Of this run: the bounds may be those of the one before.
        wait_until(lambda: self.get("/-/ready")[0] == 200,
                   "the exporter to be up to date", timeout)
        wait_until(lambda: read_synced_bounds(self.store) >= ends,
                   f"the exporter to show all up to {ends}", timeout, 0.05)
        wait_until(lambda: self.metrics().value(
            "postlag_deliveries_waiting") == 0,
            "deliveries to find their messages", timeout)
