# SPDX-License-Identifier: BSD-2-Clause
"""Grafana's own types say that the dashboards are dashboards: see
dashboard_schema.mjs."""

import os

from programs import ROOT

os.execvp("node", [
    "node", os.path.join(ROOT, "tests/packaging/dashboard_schema.mjs"),
    os.path.join(ROOT, "build/tests/node_modules")])
