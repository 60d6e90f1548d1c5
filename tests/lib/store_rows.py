# SPDX-License-Identifier: BSD-2-Clause
"""Reads the store with SQLite alone, past our code: the rows of its day files,
and how far the journals are in it."""

import collections
import datetime
import glob
import os
import re
import sqlite3
import uuid

from journal import varint

# As in store/record.h.
STATES = ("in_flight", "delivered", "bounced", "rejected", "aborted",
          "deferred", "held", "relayed", "handed_off", "expired", "discarded",
          "deleted", "ghost", "lost", "unknown", "expanded", "merged")

# `recipients` is a list of (address, state).
Row = collections.namedtuple("Row", "id recipients")

RECIPIENTS = """
    SELECT recipient.key >> 20, address.local, domain.text, recipient.state
    FROM recipient JOIN address ON address.id = recipient.address
    LEFT JOIN domain ON domain.id = address.domain ORDER BY recipient.key"""


def _text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) \
        else str(value)


def _midnight_us(path):
    """Of the day file's UTC day, from its name; odd.db counts from 1970."""
    day = re.search(r"day-(\d{8})\.db$", path)
    if not day:
        return 0
    moment = datetime.datetime.strptime(day[1] + "+0000", "%Y%m%d%z")
    return int(moment.timestamp()) * 1_000_000


def _identifier(midnight_us, row, text):
    """Only the last ten bytes are kept where the row number, a microsecond of
    the day, tells the first six, which are milliseconds."""
    if len(text) == 10:
        text = ((midnight_us + row) // 1000).to_bytes(6, "big") + text
    return str(uuid.UUID(bytes=text))


# What is counted by minute and by hour, and what the rows say of it.
COUNTED = {1: "SELECT time, state, count FROM outcome_minute WHERE count <> 0",
           60: "SELECT time, state, count FROM outcome_hour WHERE count <> 0"}
OUTCOMES = """
    SELECT min((key >> 20) / 60000000, 1439) / ?, state, count(*)
    FROM recipient GROUP BY 1, 2"""


def _check_outcomes(path, database):
    for minutes, counted in COUNTED.items():
        assert (set(database.execute(counted))
                == set(database.execute(OUTCOMES, (minutes,)))), path


def _read(path):
    midnight_us = _midnight_us(path)
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        database.execute("BEGIN")
        _check_outcomes(path, database)
        rows = {row: Row(_identifier(midnight_us, row, text), [])
                for row, text in database.execute("SELECT row, id FROM message")}
        for row, local, domain, state in database.execute(RECIPIENTS):
            address = _text(local)
            if domain is not None:
                address += "@" + _text(domain)
            rows[row].recipients.append((address, STATES[state]))
        return list(rows.values())
    finally:
        database.close()


def _day_files(directory):
    return [path for path in sorted(glob.glob(f"{directory}/*.db"))
            if not path.endswith(("/control.db", "/archive.db"))]


def read_rows(directory):
    """Every message there is a row for, in all files."""
    return [row for path in _day_files(directory) for row in _read(path)]


def _query(path, sql):
    """[] also of a file that has no tables yet."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
    try:
        return database.execute(sql).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return []
    finally:
        database.close()


def read_positions(directory):
    """{source: up to where there are rows of it}"""
    found = {}
    for path in _day_files(directory):
        for source, *position in _query(
                path, "SELECT source, segment, offset FROM position"):
            found[_text(source)] = max(tuple(position),
                                       found.get(_text(source), (0, 0)))
    return found


SOURCES = ("lmtp", "milter")


def journal_ends(directory):
    """[(segment, offset)] of the newest segments of both journals."""
    ends = []
    for source in SOURCES:
        path = max(glob.glob(f"{directory}/{source}/*.journal"))
        number = int(os.path.basename(path).removesuffix(".journal"), 16)
        ends.append((number, os.path.getsize(path)))
    return Positions(ends)


def read_bounds(directory):
    """Up to where the store has both journals."""
    found = {_text(source): (segment, offset)
             for source, segment, offset in _query(
                 f"{directory}/control.db",
                 "SELECT source, segment, offset FROM lower_bound")}
    return Positions(found.get(source, (0, 0)) for source in SOURCES)


def _unpack(data):
    """Names, by their length, and positions."""
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        name, at = data[at:at + size].decode(), at + size
        segment, at = varint(data, at)
        offset, at = varint(data, at)
        yield name, (segment, offset)


def read_synced(directory):
    """{source: up to where the disk has what the store has, and it is shown}
    """
    notes = _query(f"{directory}/control.db",
                   "SELECT value FROM note WHERE name = 'synced'")
    return dict(_unpack(notes[0][0])) if notes else {}


def read_synced_bounds(directory):
    found = read_synced(directory)
    return Positions(found.get(source, (0, 0)) for source in SOURCES)


class Positions(list):
    """Ordered only where every one of them is."""

    def __ge__(self, other):
        return all(mine >= theirs for mine, theirs in zip(self, other))
