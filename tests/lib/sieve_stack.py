# SPDX-License-Identifier: BSD-2-Clause
"""A whole mail system whose Dovecot runs Sieve scripts, and whose exporter
reads Dovecot's log, too.

A user's script is named by the local part of the address: discard@direct.test
discards. What Sieve sends goes to Postfix's first listener.
"""

import os
import pwd
import shutil

from dovecot import USER
from fate_stack import FateStack
from programs import ROOT
from syslog_daemon import SyslogDaemon

FURTHER = """\
protocol lmtp {{
  mail_plugins = sieve quota
}}
plugin {{
  sieve = file:~/sieve;active=~/.dovecot.sieve
  sieve_vacation_min_period = 1d
  quota = maildir:User quota
  quota_rule = *:bytes=1M
}}
submission_host = {submission}
"""

SCRIPTS = {
    "keep": "keep;",
    "fileinto": 'require ["fileinto", "mailbox"];'
                'fileinto :create "Junk Mail";',
    "several": 'require ["fileinto", "mailbox"]; fileinto :create "A";'
               'fileinto :create "B"; keep;',
    "discard": "discard;",
    "filed": 'require ["fileinto", "mailbox"]; discard;'
             'fileinto :create "Kept";',
    "redirect": 'redirect "other@direct.test";',
    "copy": 'require ["copy"]; redirect :copy "other@direct.test";',
    "vacation": 'require ["vacation"]; vacation "away";',
    "reject": 'require ["reject"]; reject "no, thank you";',
}


def packaged_log_settings():
    """The packaged snippet of Dovecot's configuration about its log."""
    with open(f"{ROOT}/packaging/dovecot/log.conf.snippet",
              encoding="utf-8") as file:
        return file.read()


class SieveStack(FateStack):
    def __init__(self, *, syslog=False, dovecot_settings="", **more):
        """With `syslog`, Dovecot's log is in the file of Postfix's."""
        super().__init__(**more)
        self.dovecot.further = FURTHER.format(
            submission="{}:{}".format(*self.address())) + dovecot_settings
        self.dovecot_log = f"{self.dovecot.directory}/dovecot.log"
        self.syslog = None
        if syslog:
            self.syslog = SyslogDaemon(self.directory, self.postfix.log_path)
            self.dovecot.command = self.syslog.command()
            self.dovecot.further += packaged_log_settings()
        else:
            self.settings["exporter"]["dovecot_log"] = self.dovecot_log

    def prepare(self):
        super().prepare()
        self.make_log(self.dovecot_log)
        for name, script in SCRIPTS.items():
            for domain in ("example.test", "direct.test"):
                self._write(f"{self.dovecot.mail}/{name}@{domain}", script)

    def _write(self, home, script):
        path = f"{home}/.dovecot.sieve"
        os.mkdir(home)
        with open(path, "w", encoding="utf-8") as out:
            out.write(script + "\n")
        for name in (home, path):
            shutil.chown(name, USER, pwd.getpwnam(USER).pw_gid)

    def run(self):
        if self.syslog:
            self.syslog.start()
        super().run()

    def stop(self):
        try:
            super().stop()
        finally:
            if self.syslog:
                self.syslog.stop()
