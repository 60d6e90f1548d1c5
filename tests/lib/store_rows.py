# SPDX-License-Identifier: BSD-2-Clause
"""Reads the rows of the store's day files with SQLite alone, past our code."""

import collections
import glob
import sqlite3
import uuid

# As in store/record.h.
STATES = ("in_flight", "delivered", "bounced", "rejected", "aborted")

# `recipients` is a list of (address, state).
Row = collections.namedtuple("Row", "id recipients")

RECIPIENTS = """
    SELECT recipient.key >> 20, address.local, domain.text, recipient.state
    FROM recipient JOIN address ON address.id = recipient.address
    LEFT JOIN domain ON domain.id = address.domain ORDER BY recipient.key"""


def _text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) \
        else str(value)


def _read(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = {row: Row(str(uuid.UUID(bytes=id)), [])
                for row, id in database.execute("SELECT row, id FROM message")}
        for row, local, domain, state in database.execute(RECIPIENTS):
            address = _text(local)
            if domain is not None:
                address += "@" + _text(domain)
            rows[row].recipients.append((address, STATES[state]))
        return list(rows.values())
    finally:
        database.close()


def read_rows(directory):
    """Every message there is a row for, in all files."""
    return [row for path in sorted(glob.glob(f"{directory}/*.db"))
            if not path.endswith("/control.db") for row in _read(path)]
