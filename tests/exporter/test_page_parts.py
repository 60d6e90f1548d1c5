# SPDX-License-Identifier: BSD-2-Clause
"""The page's pure parts: page_parts.mjs says what of them holds."""

import os

from programs import ROOT

os.execvp("node", ["node", os.path.join(ROOT, "tests/exporter/page_parts.mjs"),
                   os.path.join(ROOT, "build/web/node_modules")])
