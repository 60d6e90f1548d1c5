# SPDX-License-Identifier: BSD-2-Clause
"""The system users that tests need, made when they are missing.

Producers have a group of their own each: they may write their own journal and
nothing else. The exporter is in group postlag, and so is whoever may read.
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


def _known(lookup, name):
    try:
        lookup(name)
        return True
    except KeyError:
        return False


def ensure_users():
    """Several tests may do this at once."""
    if _known(grp.getgrnam, "postlag") \
            and all(_known(pwd.getpwnam, name) for name in USERS):
        return
    with open("/etc/passwd", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _known(grp.getgrnam, "postlag"):
            subprocess.run(["groupadd", "--system", "postlag"], check=True)
        for name, options in USERS.items():
            if not _known(pwd.getpwnam, name):
                subprocess.run(
                    ["useradd", "--system", "--no-create-home",
                     "--home-dir", "/nonexistent",
                     "--shell", "/usr/sbin/nologin", *options, name],
                    check=True)
