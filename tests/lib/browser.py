# SPDX-License-Identifier: BSD-2-Clause
"""A real Chromium, told step by step what to do (see browser.mjs).

    with Browser() as browser:
        browser.open(url)
        browser.click("text=Week")
        browser.wait("h1", "Message")
"""

import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODULES = os.path.join(ROOT, "build/tests/node_modules")


class Browser:
    def __init__(self):
        self.process = subprocess.Popen(
            ["node", os.path.join(HERE, "browser.mjs"), MODULES,
             shutil.which("chromium")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def tell(self, do, **more):
        self.process.stdin.write(json.dumps({"do": do, **more}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the browser ended at {do} {more}"
        answer = json.loads(line)
        assert "error" not in answer, f"{do} {more}: {answer['error']}"
        return answer["answer"]

    def open(self, url):
        self.tell("open", url=url)

    def wait(self, selector, text=None):
        """The text of what is there then."""
        more = {"text": text} if text else {}
        return self.tell("wait", selector=selector, **more)

    def click(self, selector):
        self.tell("click", selector=selector)

    def search(self, text):
        self.tell("fill", selector="#search", value=text)
        self.tell("press", key="Enter")
