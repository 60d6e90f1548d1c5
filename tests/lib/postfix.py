# SPDX-License-Identifier: BSD-2-Clause
"""A Postfix of our own on loopback: configuration, queue, log.

Several can run side by side. Nothing outside the given directory is touched.
"""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from programs import ROOT
from waiting import free_port, wait_until

DAEMONS = "/usr/lib/postfix/sbin"

MAIN_CF = {
    "compatibility_level": "3.6",
    "mail_owner": "postfix",
    "setgid_group": "postdrop",
    "inet_protocols": "all",
    "myhostname": "mx.example.test",
    "mydomain": "example.test",
    "mydestination": "",
    "local_recipient_maps": "",
    "alias_maps": "",
    "mynetworks": "127.0.0.0/8 [::1]/128",
    "smtpd_peername_lookup": "no",
    "in_flow_delay": "0",
    "smtputf8_enable": "yes",
    "smtp_tls_security_level": "none",
    "enable_long_queue_ids": "yes",
    "maillog_file_permissions": "0644",
}

# One line a service: name, type, unprivileged... as master(5) orders them.
MASTER_CF = """\
postlog    unix-dgram n - n - 1 postlogd
pickup     unix  n - n 60 1 pickup
cleanup    unix  n - n - 0 cleanup
qmgr       unix  n - n 300 1 qmgr
tlsmgr     unix  - - n 1000? 1 tlsmgr
rewrite    unix  - - n - - trivial-rewrite
bounce     unix  - - n - 0 bounce
defer      unix  - - n - 0 bounce
trace      unix  - - n - 0 bounce
verify     unix  - - n - 1 verify
flush      unix  n - n 1000? 0 flush
proxymap   unix  - - n - - proxymap
smtp       unix  - - n - - smtp
relay      unix  - - n - - smtp
showq      unix  n - n - - showq
error      unix  - - n - - error
retry      unix  - - n - - error
discard    unix  - - n - - discard
local      unix  - n n - - local
lmtp       unix  - - n - - lmtp
anvil      unix  - - n - 1 anvil
scache     unix  - - n - 1 scache
"""


def packaged_hook_transport():
    """The -o options of the transport in the packaged master.cf snippet."""
    with open(f"{ROOT}/packaging/postfix/master.cf.snippet",
              encoding="utf-8") as file:
        return dict(re.findall(r"^\s+-o (\w+)=(\S+)$", file.read(),
                               re.MULTILINE))


def packaged_milter():
    """The value of smtpd_milters in the packaged main.cf snippet."""
    with open(f"{ROOT}/packaging/postfix/main.cf.snippet",
              encoding="utf-8") as file:
        text = re.search(r"^smtpd_milters = (.*(?:\n\s.*)*)", file.read(),
                         re.MULTILINE)[1]
    return " ".join(text.split())


class Listener:
    """One smtpd service. `options` are its -o overrides. With `tls` it offers
    STARTTLS, with `sasl` AUTH (any user, any password)."""

    def __init__(self, name, options=None, tls=False, sasl=False,
                 host="127.0.0.1"):
        self.name = name
        self.options = dict(options or {})
        self.tls = tls
        self.sasl = sasl
        self.host = host
        self.port = free_port(host)
        self.options.setdefault("milter_macro_daemon_name", name)
        self.options.setdefault("syslog_name", f"postfix/{name}")

    @property
    def address(self):
        return self.host, self.port


class Postfix:
    def __init__(self, directory, listeners, main_cf, services=()):
        """`services` are further master.cf lines; see service()."""
        self.directory = directory
        self.etc = os.path.join(directory, "etc")
        self.queue_directory = os.path.join(directory, "spool")
        self.data = os.path.join(directory, "data")
        self.log_path = os.path.join(directory, "log", "mail.log")
        self.listeners = {listener.name: listener for listener in listeners}
        self.settings = {**MAIN_CF, **main_cf}
        self.services = list(services)

    def prepare(self):
        """Makes the directories and writes the configuration."""
        for path in (self.etc, self.queue_directory, self.data,
                     os.path.dirname(self.log_path)):
            os.makedirs(path, mode=0o755)
        shutil.chown(self.data, "postfix")
        if any(listener.tls for listener in self.listeners.values()):
            self._make_certificate()
        self.write()

    def write(self):
        settings = {
            "queue_directory": self.queue_directory,
            "data_directory": self.data,
            "maillog_file": self.log_path,
            "maillog_file_prefixes": os.path.dirname(self.log_path),
            "inet_interfaces": ", ".join(sorted(
                {item.host for item in self.listeners.values()})),
            **self.settings,
        }
        with open(f"{self.etc}/main.cf", "w", encoding="utf-8") as out:
            for name, value in settings.items():
                out.write(f"{name} = {value}\n")
        with open(f"{self.etc}/master.cf", "w", encoding="utf-8") as out:
            out.write(MASTER_CF)
            out.writelines(line + "\n" for line in self.services)
            for listener in self.listeners.values():
                out.write(self._smtpd(listener) + "\n")

    def _smtpd(self, listener):
        options = dict(listener.options)
        if listener.tls:
            options["smtpd_tls_security_level"] = "may"
            options["smtpd_tls_chain_files"] = f"{self.etc}/key-and-chain.pem"
        if listener.sasl:
            options["smtpd_sasl_auth_enable"] = "yes"
            options["smtpd_sasl_type"] = "dovecot"
        host = f"[{listener.host}]" if ":" in listener.host else listener.host
        return service(f"{host}:{listener.port}", "inet", "smtpd", options)

    def _make_certificate(self):
        key, chain = f"{self.etc}/key.pem", f"{self.etc}/chain.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=mx.example.test", "-keyout", key, "-out", chain],
            check=True, capture_output=True)
        with open(f"{self.etc}/key-and-chain.pem", "w",
                  encoding="ascii") as out:
            for path in (key, chain):
                with open(path, encoding="ascii") as part:
                    out.write(part.read())

    def command(self, name, *arguments, check=True, text=None):
        """Runs one of Postfix's commands on this instance."""
        done = subprocess.run(
            [name, "-c" if name != "sendmail" else "-C", self.etc, *arguments],
            capture_output=True, text=True, check=False, input=text)
        if check and done.returncode != 0:
            raise AssertionError(f"{name} {' '.join(arguments)}: status "
                                 f"{done.returncode}: {done.stderr}\n"
                                 + self.log()[-2000:])
        return done.stdout

    def start(self):
        """The first time it also makes the queue's directories."""
        self.command("postfix", "start")
        wait_until(self.running, "Postfix to run")

    def master_pid(self):
        try:
            with open(f"{self.queue_directory}/pid/master.pid",
                      encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return None

    def processes(self, name):
        """The pids of our processes of that name."""
        return [pid for pid in self._group() if _command(pid) == name]

    def _group(self):
        group = self.master_pid()
        return [pid for pid, fields in _processes()
                if int(fields[2]) == group and fields[0] != "Z"]

    def running(self):
        pid = self.master_pid()
        try:
            return pid is not None and os.kill(pid, 0) is None
        except ProcessLookupError:
            return False

    def stop(self):
        """Ends master and everything under it."""
        self._end(signal.SIGTERM)

    def kill(self):
        """As a power cut would, but for the kernel's memory."""
        self._end(signal.SIGKILL)

    def _end(self, number):
        pid = self.master_pid()
        if not self.running():
            return
        os.killpg(pid, number)
        wait_until(lambda: not _group_alive(pid), "Postfix to end")

    def reload(self):
        self.write()
        self.command("postfix", "reload")

    def reload_in_silence(self):
        """While nobody else logs, so that the log is opened anew also under
        load: there a reload may stop Postfix for good, master(8) waiting to
        log for the very process that it has to start."""
        for pid in self._group():
            if _command(pid) not in ("master", "postlogd"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
        try:
            writers = self.processes("postlogd")
            self.command("postfix", "reload")
            wait_until(lambda: not set(writers)
                       & set(self.processes("postlogd")), "postlogd to end")
        finally:
            os.killpg(self.master_pid(), signal.SIGCONT)

    def flush(self):
        self.command("postqueue", "-f")

    def wake_pickup(self):
        """What postdrop(1) does; by itself pickup(8) looks once a minute."""
        with socket.socket(socket.AF_UNIX) as trigger:
            trigger.connect(f"{self.queue_directory}/public/pickup")
            trigger.sendall(b"W")

    def sendmail(self, message, *arguments):
        """Submits a message (text) with sendmail(1)."""
        self.command("sendmail", *arguments, text=message)

    def queue(self):
        """What `postqueue -j` says: a list of dictionaries."""
        return [json.loads(line)
                for line in self.command("postqueue", "-j").splitlines()]

    def queue_ids(self):
        """Queue ids of all queue files, by looking; {} means: empty."""
        found = {}
        for name in ("maildrop", "incoming", "active", "deferred", "hold"):
            for _, _, files in os.walk(f"{self.queue_directory}/{name}"):
                found.update((file, name) for file in files)
        return found

    def log(self):
        """All of it, what was rotated away to .1, .2, ... included."""
        rotated = glob.glob(f"{glob.escape(self.log_path)}.[0-9]*")
        rotated.sort(key=lambda path: -int(path.rpartition(".")[2]))
        return "".join(_text(path) for path in [*rotated, self.log_path])

    def log_lines(self, *parts):
        """The lines that contain all parts."""
        return [line for line in self.log().splitlines()
                if all(part in line for part in parts)]


def service(name, kind, command, options=None, processes="-", public=False):
    """A line of master.cf, with -o overrides; values may contain blanks.
    `public` is for what smtpd(8) and pickup(8) talk to, cleanup(8) above all.
    """
    private = "n" if kind == "inet" or public else "-"
    text = f"{name} {kind} {private} - n - {processes} {command}"
    for option, value in (options or {}).items():
        text += f"\n  -o {{ {option} = {value} }}"
    return text


def _text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _group_alive(group):
    """Whether a process of the group lives; zombies do not."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    for _, fields in _processes():
        if int(fields[2]) == group and fields[0] != "Z":
            return True
    time.sleep(0.01)
    return False


def _processes():
    """(pid, the fields of its stat(5) from the state on) of all there are."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _text(f"/proc/{name}/stat")
            if stat:
                yield int(name), stat.rpartition(")")[2].split()


def _command(pid):
    return _text(f"/proc/{pid}/comm").rstrip("\n")
