# SPDX-License-Identifier: BSD-2-Clause
"""What `make install DESTDIR= PREFIX=` puts where, and that systemd, sysusers
and tmpfiles understand it."""

import glob
import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

import tap
import yaml
from programs import ROOT, build_directory
from users import USERS

PREFIX = "/usr"

EXPECTED = {
    "usr/sbin/postlag-milter": 0o755,
    "usr/sbin/postlag-lmtp": 0o755,
    "usr/sbin/postlag-exporter": 0o755,
    "usr/bin/postlag": 0o755,
    "usr/share/man/man1/postlag.1": 0o644,
    "usr/share/man/man5/postlag.conf.5": 0o644,
    "usr/share/man/man8/postlag-milter.8": 0o644,
    "usr/share/man/man8/postlag-lmtp.8": 0o644,
    "usr/share/man/man8/postlag-exporter.8": 0o644,
    "usr/share/doc/postlag/README.md": 0o644,
    "usr/share/doc/postlag/LICENSE": 0o644,
    "usr/share/doc/postlag/postlag.conf": 0o644,
    "usr/share/doc/postlag/openapi.json": 0o644,
    "usr/share/doc/postlag/postfix/main.cf.snippet": 0o644,
    "usr/share/doc/postlag/postfix/master.cf.snippet": 0o644,
    "usr/share/doc/postlag/dovecot/lmtp.conf.snippet": 0o644,
    "usr/share/doc/postlag/dovecot/log.conf.snippet": 0o644,
    "usr/share/doc/postlag/prometheus/alertmanager.yml": 0o644,
    "usr/share/doc/postlag/prometheus/metrics.md": 0o644,
    "usr/share/doc/postlag/prometheus/postlag.rules.yml": 0o644,
    "usr/share/doc/postlag/prometheus/prometheus.yml": 0o644,
    "usr/share/doc/postlag/prometheus/runbook.md": 0o644,
    "usr/share/postlag/grafana/dashboards/postlag-host.json": 0o644,
    "usr/share/postlag/grafana/dashboards/postlag-overview.json": 0o644,
    "usr/share/postlag/grafana/provisioning/dashboards/postlag.yml": 0o644,
    "usr/share/postlag/grafana/provisioning/datasources/postlag.yml": 0o644,
    "usr/lib/systemd/system/postlag-milter.service": 0o644,
    "usr/lib/systemd/system/postlag-lmtp.service": 0o644,
    "usr/lib/systemd/system/postlag-exporter.service": 0o644,
    "usr/lib/systemd/system/postlag-milter.socket": 0o644,
    "usr/lib/systemd/system/postlag-lmtp.socket": 0o644,
    "usr/lib/sysusers.d/postlag.conf": 0o644,
    "usr/lib/tmpfiles.d/postlag.conf": 0o644,
    "etc/postlag/postlag.conf": 0o644,
}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def install(root, prefix=PREFIX):
    """What the Makefile's rule runs, without building again meanwhile."""
    subprocess.run(
        ["sh", "packaging/install", build_directory(), root, prefix],
        check=True, cwd=ROOT)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="postlag-install-")
        install(cls.root)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def path(self, name):
        return os.path.join(self.root, name)

    def units(self):
        return sorted(glob.glob(
            self.path("usr/lib/systemd/system/postlag-*")))

    def test_the_tree_is_exactly_what_is_expected(self):
        """The installed files and their modes are exactly the expected ones"""
        found = {}
        for directory, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(directory, name)
                mode = stat.S_IMODE(os.stat(path).st_mode)
                found[os.path.relpath(path, self.root)] = mode
        self.assertEqual(found, EXPECTED)

    def test_the_makefile_calls_the_script(self):
        """`make install` runs packaging/install with BUILD, DESTDIR, PREFIX"""
        done = subprocess.run(
            ["make", "-n", "-o", "all", "install", "DESTDIR=/d", "PREFIX=/p"],
            cwd=ROOT, capture_output=True, text=True, check=True,
            env={"PATH": os.environ["PATH"]})
        self.assertRegex(
            done.stdout,
            r'packaging/install \S+/build/release "?/d"? "?/p"?\s')

    def test_a_configuration_that_exists_is_kept(self):
        """An existing postlag.conf is not overwritten"""
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(f"{root}/etc/postlag")
            with open(f"{root}/etc/postlag/postlag.conf", "w",
                      encoding="utf-8") as file:
                file.write("# mine\n")
            install(root)
            self.assertEqual(read(root, "etc/postlag/postlag.conf"),
                             "# mine\n")

    def test_the_sample_configuration_is_accepted_by_all_programs(self):
        """Each program's -t accepts the installed postlag.conf, and its -p
        prints the same values as without options"""
        sample = self.path("etc/postlag/postlag.conf")
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as empty:
            for name in ("milter", "lmtp", "exporter"):
                program = self.path(f"usr/sbin/postlag-{name}")
                subprocess.run([program, "-t", "-c", sample], check=True)
                said = [subprocess.run(
                    [program, "-p", "-c", path], check=True,
                    capture_output=True, text=True).stdout
                    for path in (sample, empty.name)]
                self.assertEqual(*said)

    def test_options_written_out_are_accepted_too(self):
        """With every option of the sample uncommented, -p prints the same"""
        sample = self.path("etc/postlag/postlag.conf")
        lines = re.sub(r"^#(\w+ =)", r"\1", read(sample), flags=re.MULTILINE)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as full:
            full.write(lines)
            full.flush()
            for name in ("milter", "lmtp", "exporter"):
                program = self.path(f"usr/sbin/postlag-{name}")
                said = [subprocess.run(
                    [program, "-p", "-c", path], check=True,
                    capture_output=True, text=True).stdout
                    for path in (sample, full.name)]
                self.assertEqual(*said)

    def test_no_placeholder_is_left_in_the_units(self):
        """Units name the installed programs and carry the hardening"""
        for path in self.units():
            text = read(path)
            self.assertNotIn("@HARDENING@", text)
            self.assertNotIn("@SBINDIR@", text)
            if path.endswith(".service"):
                name = os.path.basename(path).removesuffix(".service")
                self.assertIn(f"ExecStart={PREFIX}/sbin/{name}\n", text)
                self.assertIn(f"User={name}\n", text)
                self.assertIn("Type=notify\n", text)
                self.assertIn("ProtectSystem=strict\n", text)

    def test_grafana_is_told_where_the_dashboards_are(self):
        """The provider's path is the installed directory, with their prefix
        """
        provider, = yaml.safe_load(read(self.path(
            "usr/share/postlag/grafana/provisioning/dashboards/postlag.yml"
        )))["providers"]
        found = sorted(os.listdir(self.path(
            provider["options"]["path"].lstrip("/"))))
        self.assertEqual(found, sorted(
            os.path.basename(path) for path in EXPECTED
            if "grafana/dashboards/" in path))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_systemd_understands_the_units(self):
        """systemd-analyze verify has nothing to say about the units"""
        with tempfile.TemporaryDirectory() as directory:
            units = []
            for path in self.units():
                units.append(f"{directory}/{os.path.basename(path)}")
                with open(units[-1], "w", encoding="utf-8") as file:
                    # With programs that exist here.
                    file.write(read(path).replace(
                        f"={PREFIX}/sbin", f"={self.path('usr/sbin')}"))
            done = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", *units],
                capture_output=True, text=True, check=False)
        ours = [line for line in (done.stdout + done.stderr).splitlines()
                if "postlag" in line]
        self.assertEqual(ours, [])

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_the_units_are_hardened(self):
        """systemd-analyze security has nothing against them but what they
        need"""
        for path in self.units():
            if not path.endswith(".service"):
                continue
            done = subprocess.run(
                ["systemd-analyze", "security", "--offline=yes",
                 "--threshold=25", path], capture_output=True, text=True,
                env={**os.environ, "SYSTEMD_PAGER": ""}, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def make_users(self, root):
        """What systemd-sysusers makes of ours, in a root of its own that has
        a Postfix already."""
        os.makedirs(f"{root}/etc")
        with open(f"{root}/etc/group", "w", encoding="utf-8") as file:
            file.write("root:x:0:\npostfix:x:42:\n")
        with open(f"{root}/etc/passwd", "w", encoding="utf-8") as file:
            file.write("root:x:0:0::/root:/bin/sh\n")
        subprocess.run(["systemd-sysusers", f"--root={root}",
                        self.path("usr/lib/sysusers.d/postlag.conf")],
                       check=True, capture_output=True)
        users = [line.split(":") for line in
                 read(root, "etc/passwd").splitlines()]
        groups = {line.split(":")[2]: line.split(":")[0]
                  for line in read(root, "etc/group").splitlines()}
        return ({user[0]: groups[user[3]] for user in users},
                {user[2]: user[0] for user in users}, groups)

    @unittest.skipUnless(shutil.which("systemd-sysusers"), "no sysusers")
    def test_sysusers_makes_the_three_users(self):
        """systemd-sysusers makes three users as the tests have them"""
        with tempfile.TemporaryDirectory() as root:
            users = self.make_users(root)[0]
        self.assertEqual(users, {"root": "root",
                                 "postlag-milter": "postlag-milter",
                                 "postlag-lmtp": "postlag-lmtp",
                                 "postlag-exporter": "postlag"})
        self.assertLessEqual(set(users) - {"root"}, set(USERS))

    @unittest.skipUnless(shutil.which("systemd-tmpfiles"), "no tmpfiles")
    @unittest.skipUnless(os.geteuid() == 0, "not root")
    def test_tmpfiles_makes_the_directories(self):
        """systemd-tmpfiles makes the directories with the rights that the
        README's table shows"""
        rows = re.findall(r"^\| `(/var/\S+)` \| (\d+) \| (\S+):(\S+) \|",
                          read(ROOT, "README.md"), re.MULTILINE)
        self.assertEqual(len(rows), 5)
        with tempfile.TemporaryDirectory() as root:
            _, users, groups = self.make_users(root)
            subprocess.run(["systemd-tmpfiles", f"--root={root}", "--create",
                            self.path("usr/lib/tmpfiles.d/postlag.conf")],
                           check=True, capture_output=True)
            for path, mode, user, group in rows:
                found = os.stat(root + path)
                self.assertEqual(
                    (f"{stat.S_IMODE(found.st_mode):o}",
                     users[str(found.st_uid)], groups[str(found.st_gid)]),
                    (mode, user, group), path)

    def test_manual_pages_have_no_warnings(self):
        """groff has nothing to say about the manual pages"""
        if not shutil.which("groff"):
            self.skipTest("no groff")
        for path in glob.glob(self.path("usr/share/man/man*/*")):
            done = subprocess.run(
                ["groff", "-man", "-ww", "-z", "-Tutf8", path],
                capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "")


tap.main()
