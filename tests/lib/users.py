# SPDX-License-Identifier: BSD-2-Clause
"""The system users that tests need, made when they are missing.

Producers have a group of their own each: they may write their own journal and
nothing else. The exporter is in group postlag, and so is whoever may read. Who
may write operator's journal is in group postlag-admin, and the exporter, too.
"""

import fcntl
import grp
import pwd
import subprocess

USERS = {
    "postlag-milter": ["--user-group"],
    "postlag-lmtp": ["--user-group"],
    "postlag-exporter": ["--gid", "postlag"],
    "postlag-vmail": ["--user-group"],
}
GROUPS = ("postlag", "postlag-admin")


def _known(lookup, name):
    try:
        lookup(name)
        return True
    except KeyError:
        return False


def _reads_operators():
    return "postlag-exporter" in grp.getgrnam("postlag-admin").gr_mem


def ensure_users():
    """Several tests may do this at once."""
    if all(_known(grp.getgrnam, name) for name in GROUPS) \
            and all(_known(pwd.getpwnam, name) for name in USERS) \
            and _reads_operators():
        return
    with open("/etc/passwd", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in GROUPS:
            if not _known(grp.getgrnam, name):
                subprocess.run(["groupadd", "--system", name], check=True)
        for name, options in USERS.items():
            if not _known(pwd.getpwnam, name):
                subprocess.run(
                    ["useradd", "--system", "--no-create-home",
                     "--home-dir", "/nonexistent",
                     "--shell", "/usr/sbin/nologin", *options, name],
                    check=True)
        if not _reads_operators():
            subprocess.run(["usermod", "-aG", "postlag-admin",
                            "postlag-exporter"], check=True)
