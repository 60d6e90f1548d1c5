# SPDX-License-Identifier: BSD-2-Clause
"""A disk of its own that can become read-only under a running program."""

import os
import subprocess

from waiting import PrivateDirectory


def _run(*command):
    subprocess.run(command, check=True, capture_output=True)


class Ext4Disk:
    """An ext4 in a file, mounted as most distributions do."""

    def __init__(self, path, megabytes=64):
        self.path = path
        self.image = f"{path}.img"
        self.megabytes = megabytes
        self.mounted = False

    @staticmethod
    def possible():
        """Whether we may mount one, and break it."""
        with PrivateDirectory() as path:
            disk = Ext4Disk(os.path.join(path, "disk"), 8)
            try:
                disk.mount()
                return os.access(disk.switch(), os.W_OK)
            except subprocess.CalledProcessError:
                return False
            finally:
                disk.unmount()

    def mount(self):
        if not os.path.exists(self.image):
            with open(self.image, "wb") as image:
                image.truncate(self.megabytes << 20)
            _run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0", self.image)
        os.makedirs(self.path, exist_ok=True)
        _run("mount", "-o", "loop,errors=remount-ro", self.image, self.path)
        self.mounted = True

    def unmount(self):
        """When nothing on it is open any more."""
        if self.mounted:
            _run("umount", self.path)
            self.mounted = False

    def switch(self):
        source = subprocess.run(
            ["findmnt", "-n", "-o", "SOURCE", self.path], check=True,
            capture_output=True, text=True).stdout.strip()
        return f"/sys/fs/ext4/{os.path.basename(source)}/trigger_fs_error"

    def fail(self):
        """It finds an error and becomes read-only, open files included, until
        it is mounted again."""
        with open(self.switch(), "w", encoding="ascii") as switch:
            switch.write("1")

    def protect(self):
        """As if read-only: no file can be written, made, renamed or removed,
        those that are open included."""
        _run("chattr", "-R", "+i", self.path)

    def unprotect(self):
        _run("chattr", "-R", "-i", self.path)
