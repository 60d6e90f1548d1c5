# SPDX-License-Identifier: BSD-2-Clause
"""Decodes what is sent to Prometheus in protobuf: the numbers of the fields are
those of io.prometheus.client's metrics.proto, from its documentation, not from
what the exporter is built with."""

import struct

CONTENT_TYPE = ("application/vnd.google.protobuf; "
                "proto=io.prometheus.client.MetricFamily; encoding=delimited")

TYPES = {0: "counter", 1: "gauge", 4: "histogram"}
SCHEMA = 5
ZERO_THRESHOLD = 2.0 ** -128

WIRE_TYPES = {"uint": 0, "sint": 0, "double": 1, "string": 2}

# (name, kind, how many): "1" must be there, "?" may be, "*" any number.
LABEL = {1: ("name", "string", "1"), 2: ("value", "string", "1")}
NUMBER = {1: ("value", "double", "1")}
TIMESTAMP = {1: ("seconds", "uint", "1"), 2: ("nanos", "uint", "1")}
EXEMPLAR = {1: ("label", LABEL, "*"), 2: ("value", "double", "1"),
            3: ("timestamp", TIMESTAMP, "1")}
BUCKET = {1: ("cumulative_count", "uint", "1"),
          2: ("upper_bound", "double", "1"), 3: ("exemplar", EXEMPLAR, "?")}
SPAN = {1: ("offset", "sint", "1"), 2: ("length", "uint", "1")}
HISTOGRAM = {1: ("sample_count", "uint", "1"),
             2: ("sample_sum", "double", "1"), 3: ("bucket", BUCKET, "*"),
             5: ("schema", "sint", "1"), 6: ("zero_threshold", "double", "1"),
             7: ("zero_count", "uint", "1"), 12: ("positive_span", SPAN, "*"),
             13: ("positive_delta", "sint", "*"),
             16: ("exemplars", EXEMPLAR, "*")}
METRIC = {1: ("label", LABEL, "*"), 2: ("gauge", NUMBER, "?"),
          3: ("counter", NUMBER, "?"), 7: ("histogram", HISTOGRAM, "?")}
FAMILY = {1: ("name", "string", "1"), 2: ("help", "string", "1"),
          3: ("type", "uint", "1"), 4: ("metric", METRIC, "*")}


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def more(self):
        return self.at < len(self.data)

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                assert byte or shift == 7, "longer than need be"
                assert value < 1 << 64
                return value

    def bytes(self, size):
        assert self.at + size <= len(self.data), "cut short"
        self.at += size
        return self.data[self.at - size:self.at]

    def value(self, kind):
        if kind == "uint":
            return self.varint()
        if kind == "sint":
            value = self.varint()
            return (value >> 1) ^ -(value & 1)
        if kind == "double":
            number, = struct.unpack("<d", self.bytes(8))
            assert number == number, "NaN"
            return number
        data = self.bytes(self.varint())
        return data.decode() if kind == "string" else message(data, kind)


def message(data, fields):
    """{field's name: value or list}"""
    reader = Reader(data)
    found = {name: [] for name, _, many in fields.values() if many == "*"}
    while reader.more():
        key = reader.varint()
        name, kind, many = fields[key >> 3]
        wire = 2 if isinstance(kind, dict) else WIRE_TYPES[kind]
        assert key & 7 == wire, f"{name} of wire type {key & 7}"
        value = reader.value(kind)
        if many == "*":
            found[name].append(value)
        else:
            assert name not in found, f"{name} twice"
            found[name] = value
    for name, _, many in fields.values():
        assert many != "1" or name in found, f"no {name}"
    return found


def messages(body):
    """The families, each with its length before it."""
    reader = Reader(body)
    while reader.more():
        yield message(reader.bytes(reader.varint()), FAMILY)


def native_buckets(histogram):
    """{index: count} of all that are not empty, and "zero"."""
    assert histogram["schema"] == SCHEMA
    assert histogram["zero_threshold"] == ZERO_THRESHOLD
    deltas = iter(histogram["positive_delta"])
    buckets = {"zero": histogram["zero_count"]}
    index = count = 0
    for number, span in enumerate(histogram["positive_span"]):
        assert number == 0 or span["offset"] > 2, "a gap worth bridging"
        assert span["length"] > 0
        index += span["offset"]
        for _ in range(span["length"]):
            count += next(deltas)
            assert count >= 0
            if count > 0:
                buckets[index] = count
            index += 1
    assert next(deltas, None) is None, "buckets beyond the spans"
    return buckets
