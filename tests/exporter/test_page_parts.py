# SPDX-License-Identifier: BSD-2-Clause
"""The page's pure parts: page_parts.mjs says what of them holds."""

import os

from browser import MODULES

os.execvp("node", ["node", os.path.join(os.path.dirname(__file__),
                                        "page_parts.mjs"), MODULES])
