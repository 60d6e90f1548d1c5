# SPDX-License-Identifier: BSD-2-Clause
"""Reads journal segments without our code: frames by their lengths, payloads by
what proto/event.proto says.

    for event in read_events("/tmp/x/journal/lmtp"):
        print(event["delivery"]["recipients"][0]["address"])

Absent numbers read as 0, absent text as "", absent messages as {}.
"""

import glob
import os
import re
import struct

from programs import ROOT

FIELD = re.compile(r"^\s+(repeated )?(\w+) (\w+) = (\d+);", re.MULTILINE)
SCALARS = {"bytes", "string", "uint32", "uint64", "bool", "sfixed64",
           "fixed64"}


def _schema():
    with open(f"{ROOT}/proto/event.proto", encoding="utf-8") as file:
        text = file.read()
    return {name: {int(number): (field, kind, bool(repeated))
                   for repeated, kind, field, number in FIELD.findall(body)}
            for name, body in re.findall(
                r"^message (\w+) \{(.*?)^\}", text, re.MULTILINE | re.DOTALL)}


SCHEMA = _schema()


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _empty(kind, repeated):
    if repeated:
        return []
    if kind not in SCALARS:
        return {}
    return "" if kind == "string" else b"" if kind == "bytes" else 0


def decode(data, message="Event"):
    fields = SCHEMA[message]
    result = {name: _empty(kind, repeated)
              for name, kind, repeated in fields.values()}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        name, kind, repeated = fields[key >> 3]
        if key & 7 == 0:
            value, at = _varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<q", data, at)[0], at + 8
        else:
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
            if kind == "string":
                value = value.decode()
            elif kind not in SCALARS:
                value = decode(value, kind)
        if repeated:
            result[name].append(value)
        else:
            result[name] = value
    return result


def read_payloads(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + 12 <= len(data):
        size, = struct.unpack_from("<I", data, at + 4)
        if at + 12 + size > len(data):
            break
        yield data[at + 12:at + 12 + size]
        at += 12 + size


def read_events(directory):
    """All events of a source's directory, in order."""
    events = []
    for path in sorted(glob.glob(os.path.join(directory, "*.journal"))):
        # The first two payloads are the segment's header, twice.
        events += [decode(payload)
                   for payload in list(read_payloads(path))[2:]]
    return events
