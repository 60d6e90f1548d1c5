# SPDX-License-Identifier: BSD-2-Clause
"""Starts, watches and ends the programs under test.

    milter = Program("postlag-milter", {"milter": {"socket": ...}}, directory)
    milter.start()                  # returns when it says READY=1
    ...
    assert milter.stop() == 0       # SIGTERM, its exit status

The configuration is written to DIRECTORY/NAME.conf, the log (standard error)
to DIRECTORY/NAME.log. What is still running when Python ends is killed.
"""

import atexit
import os
import signal
import socket
import subprocess
import time

from waiting import PATIENCE, wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

SECTIONS = {
    "postlag-milter": "milter",
    "postlag-lmtp": "lmtp",
    "postlag-exporter": "exporter",
    "postlag": "exporter",
}


def build_directory():
    return os.path.join(ROOT, os.environ.get("POSTLAG_BUILD", "build/release"))


def program_path(name):
    return os.path.join(build_directory(), name)


def write_configuration(path, settings):
    """Writes {section: {option: value}} as an INI file that all may read."""
    with open(path, "w", encoding="utf-8") as out:
        for section, options in settings.items():
            out.write(f"[{section}]\n")
            for option, value in options.items():
                out.write(f"{option} = {value}\n")
    os.chmod(path, 0o644)


def process_status(pid):
    """The fields of its stat(5) from the state on."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return stat.read().rpartition(")")[2].split()


def pause_process(pid, name):
    """SIGSTOP, and returns when it stands still: a system call that it is
    within may have to end first."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: process_status(pid)[0] == "T",
               f"{name} to stand still", pause=0.001)


class Program:
    def __init__(self, name, settings, directory, user=None):
        """`settings` is {section: {option: value}}; `user` is whom it becomes
        after start (None: it stays who we are)."""
        self.name = name
        self.directory = directory
        self.section = SECTIONS[name]
        self.settings = {s: dict(o) for s, o in settings.items()}
        own = self.settings.setdefault(self.section, {})
        own.setdefault("user", user or "")
        own.setdefault("log", "stderr")
        self.config = os.path.join(directory, f"{name}.conf")
        self.log_path = os.path.join(directory, f"{name}.log")
        self.process = None
        self.notify = None
        self.tracers = []
        self.prefix = []
        atexit.register(self._end)

    def configure(self, **options):
        """Changes options of the program's own section; takes effect at the
        next start or reload."""
        self.settings[self.section].update(options)
        write_configuration(self.config, self.settings)

    def start(self, prefix=(), wait=True, sockets=(), timeout=PATIENCE):
        """Starts it and waits until it is ready. `prefix` is a command to run
        it under (strace). `sockets` are listening sockets that it inherits."""
        assert not self.running(), f"{self.name} is running already"
        write_configuration(self.config, self.settings)
        self.prefix = list(prefix)
        command = self.prefix + [program_path(self.name), "-c", self.config]
        environment = dict(os.environ)
        environment.pop("JOURNAL_STREAM", None)
        environment["NOTIFY_SOCKET"] = self._open_notify()
        if sockets:
            command, kept = _with_sockets(command, sockets)
        else:
            kept = ()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment, pass_fds=kept, cwd=ROOT)
            if wait:
                self._wait_ready(timeout)
        return self

    def _open_notify(self):
        # Abstract: reachable whatever user the program becomes. Kept, because
        # the program has more to say when it stops.
        self._close_notify()
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind("")
        self.notify.settimeout(0.05)
        return "@" + self.notify.getsockname()[1:].decode()

    def _close_notify(self):
        if self.notify is not None:
            self.notify.close()
            self.notify = None

    def _wait_ready(self, timeout):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            try:
                if b"READY=1" in self.notify.recv(4096).split(b"\n"):
                    return
            except TimeoutError:
                pass
            if self.process.poll() is not None:
                raise AssertionError(
                    f"{self.name} ended with {self.process.returncode}"
                    f" instead of starting:\n{self.log()}")
        self.kill()
        raise AssertionError(f"{self.name} is not ready:\n{self.log()}")

    def running(self):
        return self.process is not None and self.process.poll() is None

    def pid(self):
        """Of the program itself, also when it runs under another command."""
        if not self.prefix:
            return self.process.pid
        return wait_until(self._child, f"a child of {self.prefix[0]}")

    def _child(self):
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(path, encoding="ascii") as children:
            for pid in children.read().split():
                with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                    if comm.read().strip() == self.name[:15]:
                        return int(pid)
        return None

    def signal(self, number):
        os.kill(self.pid(), number)

    def reload(self):
        self.signal(signal.SIGHUP)

    def pause(self):
        """SIGSTOP, and returns when it stands still."""
        pause_process(self.pid(), self.name)

    def resume(self):
        self.signal(signal.SIGCONT)

    def wait(self, timeout=PATIENCE):
        """Waits for its end; returns the exit status (-N: by signal N)."""
        status = self.process.wait(timeout)
        self._end_tracers()
        return status

    def stop(self, timeout=PATIENCE):
        """SIGTERM; returns the exit status."""
        self.signal(signal.SIGTERM)
        return self.wait(timeout)

    def kill(self):
        """SIGKILL, and returns when it is dead. May be dead already."""
        if self.running():
            try:
                self.signal(signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.wait()

    def _end(self):
        if self.running():
            self.process.send_signal(signal.SIGCONT)
            self.kill()
        self._end_tracers()
        self._close_notify()

    def log(self):
        try:
            with open(self.log_path, encoding="utf-8",
                      errors="replace") as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def wait_for_log(self, text, timeout=PATIENCE):
        wait_until(lambda: text in self.log(),
                   f"{text!r} in the log of {self.name}", timeout)

    def trace(self, *options):
        """Attaches strace with these options, for its fault injection, and
        returns when it is in place. It ends with the program.

        -e inject=writev:signal=SIGKILL:when=1    killed instead of the next
                                                  writev(2) (when counts by
                                                  thread)
        -P FILE -e inject=write:delay_exit=100000 each write to FILE returns
                                                  100 ms late
        """
        tracer = subprocess.Popen(
            ["strace", "-f", "-p", str(self.pid()), "-o", "/dev/null",
             *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.tracers.append(tracer)
        line = tracer.stderr.readline()
        assert b"attached" in line, line
        return tracer

    def _end_tracers(self):
        for tracer in self.tracers:
            tracer.terminate()
            tracer.wait()
            tracer.stderr.close()
        self.tracers.clear()

    def cpu_seconds(self):
        """User and system time of the whole process so far."""
        fields = process_status(self.pid())
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.running():
            self.process.send_signal(signal.SIGCONT)
            try:
                self.stop(10)
            except subprocess.TimeoutExpired:
                self.kill()


def _with_sockets(command, sockets):
    """The command that moves the sockets to descriptors 3 and up and sets
    LISTEN_PID to the program's own, as a supervisor does."""
    kept = [s.fileno() for s in sockets]
    # High numbers first, so that no move overwrites a descriptor still needed.
    script = "".join(f"exec {100 + i}<&{fd}; "
                     for i, fd in enumerate(kept))
    script += "".join(f"exec {3 + i}<&{100 + i} {100 + i}<&-; "
                      for i in range(len(kept)))
    script += f'LISTEN_FDS={len(kept)} LISTEN_PID=$$ exec "$@"'
    return ["bash", "-c", script, "bash"] + command, kept
