# SPDX-License-Identifier: BSD-2-Clause
"""Ground of tests that look at the page with a real browser. Each picture is
written, for review, to build/VARIANT/page/ at two widths, light and dark. axe
looks at two of these, which have both widths and both colours."""

import os
import unittest

from browser import Browser
from programs import build_directory

PICTURES = os.path.join(build_directory(), "page")
WIDTHS = (1280, 390)
WITH_AXE = ((1280, "light"), (390, "dark"))
# The browser itself reports answers of 400 and above, and none at all.
REPORTED = "console: Failed to load resource"


class PageCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(PICTURES, exist_ok=True)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.expected = ()

    def tearDown(self):
        """No error on the console, and no request leaves the host."""
        faults = [fault for fault in self.browser.tell("faults")
                  if not fault.startswith(self.expected or ("nothing",))]
        self.assertEqual(faults, [])

    def hash(self):
        return self.browser.tell("hash")

    def look(self, name):
        """Pictures of what is shown now, and what axe finds serious."""
        findings = []
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                self.browser.tell("look", width=width, scheme=scheme)
                self.browser.tell("shot", path=os.path.join(
                    PICTURES, f"{name}-{width}-{scheme}.png"))
                if (width, scheme) in WITH_AXE:
                    findings += self.browser.tell("axe")
            self.assertLessEqual(self.browser.tell("overflow"), 0, width)
        self.browser.tell("look", width=WIDTHS[0], scheme="light")
        self.assertEqual(findings, [])
