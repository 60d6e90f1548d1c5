# SPDX-License-Identifier: BSD-2-Clause
"""Reads journals, independently of the code under test: frames and protobuf
are taken apart here, with the field names of proto/event.proto.

    for message in Journal(directory, "milter").messages():
        print(message["queue_id"], message["mail_at"]["wall_ns"])

An event is a dictionary; what is absent has the value that protobuf gives it
(0, "", [], a stamp of zeros); the null sender is "<>". Identifiers are UUID
text or "". Enumerators are words. Checksums are not looked at: damage is the C tests' business.
"""

import glob
import os
import re
import struct
import uuid

from programs import ROOT
from waiting import wait_until

MARKER = int.from_bytes(b"\xf5PLG", "little")
HEADER = struct.Struct("<III")

PHASES = ["none", "connect", "helo", "mail", "rcpt", "data", "content", "eom"]
ENDINGS = ["none", "accepted", "aborted", "closed"]
DELIVERY_PHASES = ["none", "connect", "lhlo", "mail", "rcpt", "data",
                   "content_end"]
DELIVERY_ENDINGS = ["none", "completed", "reset", "client_lost",
                    "backend_lost", "timed_out", "stopped"]

OPERATIONS = ["none", "acknowledge"]

SCALARS = {"uint32", "uint64", "bool", "sfixed64", "fixed64", "bytes",
           "string"}
IDENTIFIERS = {"id", "previous", "stamp_id", "message"}


def _read_schema():
    """{message: {number: (name, type, repeated)}} of event.proto."""
    with open(f"{ROOT}/proto/event.proto", encoding="utf-8") as proto:
        text = re.sub(r"//.*", "", proto.read())
    schema = {}
    for part in re.split(r"^message ", text, flags=re.M)[1:]:
        name = part.split()[0]
        schema[name] = {
            int(number): (field, kind, bool(repeated))
            for repeated, kind, field, number in re.findall(
                r"(repeated )?(\w+) (\w+) = (\d+);", part)}
    return schema


SCHEMA = _read_schema()


def _counter_names():
    """Of proto/producer_counter.h, in lower case, by number."""
    with open(f"{ROOT}/proto/producer_counter.h", encoding="utf-8") as header:
        body = re.search(r"enum producer_counter \{(.*?)\};", header.read(),
                         re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return [word.lower() for word in re.findall(r"PRODUCER_(\w+)", body)][:-1]


COUNTERS = _counter_names()


def varint(data, offset):
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, offset


def _fields(data):
    """(number, raw value) of each field in the bytes of a message."""
    offset = 0
    while offset < len(data):
        key, offset = varint(data, offset)
        if key & 7 == 0:
            value, offset = varint(data, offset)
        elif key & 7 == 1:
            value = struct.unpack_from("<q", data, offset)[0]
            offset += 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size, offset = varint(data, offset)
            value = data[offset:offset + size]
            offset += size
        yield key >> 3, value


def _convert(name, kind, value):
    if kind in SCHEMA:
        return _decode(kind, value)
    if kind == "bytes" and name in IDENTIFIERS:
        return str(uuid.UUID(bytes=value)) if value else ""
    if kind in ("bytes", "string"):
        return value.decode("utf-8", "surrogateescape")
    return bool(value) if kind == "bool" else value


def _default(kind, repeated):
    if repeated:
        return []
    if kind in SCHEMA:
        return _decode(kind, b"") if kind == "Stamp" else None
    return {"bytes": "", "string": "", "bool": False}.get(kind, 0)


def _decode(message, data):
    fields = SCHEMA[message]
    result = {name: _default(kind, repeated)
              for name, kind, repeated in fields.values()}
    for number, raw in _fields(data):
        name, kind, repeated = fields[number]
        value = _convert(name, kind, raw)
        if repeated:
            result[name].append(value)
        else:
            result[name] = value
    if message == "Message":
        result["phase"] = PHASES[result["phase"]]
        result["ending"] = ENDINGS[result["ending"]]
    elif message == "Delivery":
        result["phase"] = DELIVERY_PHASES[result["phase"]]
        result["ending"] = DELIVERY_ENDINGS[result["ending"]]
    elif message == "Operation":
        result["kind"] = OPERATIONS[result["kind"]]
    return result


def _frames(data, offset, seed):
    """(payload, offset behind it) up to the first thing that is no whole
    frame."""
    while offset + HEADER.size <= len(data):
        marker, size, _ = HEADER.unpack_from(data, offset)
        end = offset + HEADER.size + size
        if marker != MARKER ^ (seed >> 32) or end > len(data):
            return
        yield data[offset + HEADER.size:end], end
        offset = end


def _read_segment(path):
    """(header, events); a header that is not written yet is None."""
    with open(path, "rb") as segment:
        data = segment.read()
    headers = list(_frames(data, 0, 0))[:2]
    if len(headers) < 2:
        return None, []
    assert headers[0][0] == headers[1][0], "both copies are the same"
    header = _decode("SegmentHeader", headers[0][0])
    seed = header["checksum_seed"] & (1 << 64) - 1
    return header, [_decode("Event", payload) for payload, _ in
                    _frames(data, headers[1][1], seed)]


class Journal:
    def __init__(self, directory, source):
        self.directory = os.path.join(directory, source)

    def segments(self):
        return sorted(glob.glob(f"{self.directory}/*.journal"))

    def bytes(self):
        return sum(os.path.getsize(path) for path in self.segments())

    def headers(self):
        """The segment headers."""
        return [_read_segment(path)[0] for path in self.segments()]

    def events(self):
        """[(kind, event)] with kind message, delivery or heartbeat."""
        result = []
        for path in self.segments():
            for event in _read_segment(path)[1]:
                kind = next(k for k, v in event.items() if v is not None)
                result.append((kind, event[kind]))
        return result

    def messages(self):
        return [event for kind, event in self.events() if kind == "message"]

    def deliveries(self):
        return [event for kind, event in self.events() if kind == "delivery"]

    def counters(self):
        """{name: sum of the increases in all heartbeats}; all names exist."""
        result = dict.fromkeys(COUNTERS, 0)
        for kind, event in self.events():
            if kind == "heartbeat":
                for count in event["counts"]:
                    result[COUNTERS[count["counter"]]] += count["increase"]
        return result

    def wait_for_messages(self, count):
        """Exactly so many; returns them."""
        wait_until(lambda: len(self.messages()) >= count,
                   f"{count} messages in {self.directory}")
        messages = self.messages()
        assert len(messages) == count, (count, len(messages))
        return messages

    def wait_for_counter(self, name, value):
        wait_until(lambda: self.counters()[name] >= value,
                   f"{name} {value} in {self.directory}")
        assert self.counters()[name] == value, (name, value, self.counters())
