# SPDX-License-Identifier: BSD-2-Clause
"""Strict readers of what Prometheus scrapes: the text format 0.0.4, OpenMetrics
1.0 and protobuf. All give {family's name: Family}, whatever the format: names
with _total, numbers as Decimal.

What a format does not allow is an AssertionError.
"""

import re
from dataclasses import dataclass, field
from decimal import Decimal

import exposition_protobuf

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROTOBUF = exposition_protobuf.CONTENT_TYPE

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL_NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d+)?"
UNITS = ("seconds", "bytes", "ratio")
EXEMPLAR_CHARACTERS = 128


@dataclass
class Exemplar:
    labels: dict
    value: Decimal
    time: Decimal


@dataclass
class Histogram:
    buckets: dict = field(default_factory=dict)  # cumulative, by le
    exemplars: dict = field(default_factory=dict)  # likewise
    sum: Decimal = None
    count: int = None
    native: dict = None  # by index in schema 5, not cumulative; "zero" too


@dataclass
class Family:
    name: str
    type: str
    help: str
    samples: dict = field(default_factory=dict)  # by sorted labels

    def add(self, labels, value):
        key = tuple(sorted(labels.items()))
        assert len(key) == len(labels)
        assert key not in self.samples, f"{self.name}: {key} twice"
        self.samples[key] = value


def unescape(text, allowed):
    """Undoes \\\\, \\n and a backslash before one of `allowed`; nothing else
    may follow a backslash, nor may what must be escaped stand alone."""
    out, at = [], 0
    while at < len(text):
        if text[at] == "\\":
            follows = text[at + 1:at + 2]
            assert follows and follows in "\\n" + allowed, f"\\{follows}"
            out.append("\n" if follows == "n" else follows)
            at += 2
        else:
            assert text[at] not in allowed, f"bare {text[at]}"
            out.append(text[at])
            at += 1
    return "".join(out)


class Line:
    """Takes one line apart from the left."""

    def __init__(self, text):
        self.text = text
        self.rest = text

    def take(self, pattern):
        match = re.match(pattern, self.rest)
        assert match, f"no {pattern} at {self.rest!r} of {self.text!r}"
        self.rest = self.rest[match.end():]
        return match[0]

    def labels(self):
        found = {}
        if not self.rest.startswith("{"):
            return found
        self.take(r"\{")
        while not self.rest.startswith("}"):
            name = self.take(LABEL_NAME)
            self.take('="')
            value = self.take(r'(?:[^"\\]|\\.)*')
            self.take('"')
            assert name not in found, f"{name} twice"
            found[name] = unescape(value, '"')
            if not self.rest.startswith("}"):
                self.take(",")
        self.take(r"\}")
        return found

    def number(self):
        return Decimal(self.take(NUMBER))

    def end(self):
        assert self.rest == "", self.text


class TextReader:
    """The text format 0.0.4."""

    HEADS = ("HELP", "TYPE")
    HELP_ESCAPED = ""

    def __init__(self, body):
        assert body.endswith("\n") and "\r" not in body
        self.families = {}
        self.family = None
        self.heads = {}
        lines = body.split("\n")[:-1]
        for text in self.contents(lines):
            line = Line(text)
            if text.startswith("#"):
                self.head(line)
            else:
                self.sample(line)
        for family in self.families.values():
            check_family(family)

    def contents(self, lines):
        return lines

    def head(self, line):
        """In their order, before the samples."""
        line.take("# ")
        keyword, name = line.take("[A-Z]+"), line.take(f" {NAME} ")[1:-1]
        order = self.HEADS.index(keyword)
        if order == 0:
            self.heads = {"name": name}
        assert self.heads["name"] == name, line.text
        assert all(self.HEADS.index(known) < order for known in self.heads
                   if known in self.HEADS), line.text
        self.heads[keyword] = line.rest
        if keyword == self.HEADS[-1]:
            self.begin()

    def begin(self):
        name = self.full_name(self.heads["name"], self.heads["TYPE"])
        assert name not in self.families, f"{name} twice"
        self.family = Family(name, self.heads["TYPE"], unescape(
            self.heads["HELP"], self.HELP_ESCAPED))
        self.families[name] = self.family

    def full_name(self, name, _):
        return name

    def sample(self, line):
        name, labels = line.take(NAME), line.labels()
        line.take(" ")
        value = line.number()
        if self.family.type != "histogram":
            assert name == self.family.name, line.text
            self.family.add(labels, value)
        else:
            self.part(line, name, labels, value)
        line.end()

    def part(self, line, name, labels, value):
        """Of a histogram."""
        suffix = name.removeprefix(self.family.name)
        bound = labels.pop("le", None)
        assert (suffix == "_bucket") == (bound is not None), line.text
        key = tuple(sorted(labels.items()))
        if key not in self.family.samples:
            self.family.samples[key] = Histogram()
        histogram = self.family.samples[key]
        if suffix == "_bucket":
            assert histogram.sum is None and bound not in histogram.buckets
            histogram.buckets[bound] = int(value)
            self.exemplar(line, histogram, bound)
        elif suffix == "_sum":
            assert histogram.sum is None
            histogram.sum = value
        else:
            assert suffix == "_count" and histogram.count is None, line.text
            histogram.count = int(value)

    def exemplar(self, line, histogram, bound):
        pass


class OpenMetricsReader(TextReader):
    HEADS = ("TYPE", "UNIT", "HELP")
    HELP_ESCAPED = '"'

    def contents(self, lines):
        assert lines[-1] == "# EOF", lines[-1]
        return lines[:-1]

    def begin(self):
        unit, name = self.heads.get("UNIT"), self.heads["name"]
        if unit is not None:
            assert unit in UNITS and name.endswith("_" + unit), name
        else:
            assert not name.endswith(UNITS), name
        super().begin()

    def full_name(self, name, kind):
        assert not name.endswith(("_total", "_created", "_count", "_sum",
                                  "_bucket")), name
        return f"{name}_total" if kind == "counter" else name

    def exemplar(self, line, histogram, bound):
        if line.rest == "":
            return
        line.take(" # ")
        labels = line.labels()
        assert sum(len(name) + len(value) for name, value
                   in labels.items()) <= EXEMPLAR_CHARACTERS
        line.take(" ")
        value = line.number()
        line.take(" ")
        histogram.exemplars[bound] = Exemplar(labels, value, line.number())


def check_family(family):
    assert family.samples, f"{family.name} without samples"
    assert family.type in ("counter", "gauge", "histogram"), family.type
    assert family.name.endswith("_total") == (family.type == "counter")
    assert len({tuple(name for name, _ in labels)
                for labels in family.samples}) == 1, family.name
    for sample in family.samples.values():
        if family.type == "histogram":
            check_histogram(sample)
        elif family.type == "counter":
            assert sample >= 0


def check_histogram(histogram):
    """Bounds rise and are canonical, buckets are cumulative, the last one is
    +Inf and the count, an exemplar lies in its bucket."""
    bounds = list(histogram.buckets)
    assert bounds[-1] == "+Inf"
    for bound in bounds[:-1]:
        assert re.fullmatch(r"\d+\.\d+", bound), bound
    edges = [Decimal(bound) for bound in bounds[:-1]] + [Decimal("Infinity")]
    assert edges == sorted(set(edges))
    counts = list(histogram.buckets.values())
    assert counts == sorted(counts)
    assert counts[-1] == histogram.count
    assert (histogram.sum == 0 or histogram.count > 0) and histogram.sum >= 0
    below = Decimal(-1)
    for bound, edge in zip(bounds, edges):
        exemplar = histogram.exemplars.get(bound)
        assert exemplar is None or below < exemplar.value <= edge, exemplar
        below = edge


def exact(number):
    """The decimal number that a float is the nearest to."""
    return Decimal(repr(number))


def bound_text(bound):
    """As the label le has it."""
    return "+Inf" if bound == float("inf") else repr(bound)


def read_exemplar(parts):
    return Exemplar(
        {label["name"]: label["value"] for label in parts["label"]},
        exact(parts["value"]),
        parts["timestamp"]["seconds"]
        + Decimal(parts["timestamp"]["nanos"]) / 1000000000)


def read_histogram(parts):
    bounds = [bound_text(bucket["upper_bound"]) for bucket in parts["bucket"]]
    histogram = Histogram(
        {bound: bucket["cumulative_count"] for bound, bucket
         in zip(bounds, parts["bucket"])},
        {bound: read_exemplar(bucket["exemplar"]) for bound, bucket
         in zip(bounds, parts["bucket"]) if "exemplar" in bucket},
        exact(parts["sample_sum"]), parts["sample_count"],
        exposition_protobuf.native_buckets(parts))
    assert sum(histogram.native.values()) == histogram.count
    beside = [read_exemplar(exemplar) for exemplar in parts["exemplars"]]
    assert beside == sorted(histogram.exemplars.values(),
                            key=lambda exemplar: exemplar.time)
    return histogram


def read_protobuf(body):
    families = {}
    for parts in exposition_protobuf.messages(body):
        kind = exposition_protobuf.TYPES[parts["type"]]
        family = Family(parts["name"], kind, parts["help"])
        assert family.name not in families, f"{family.name} twice"
        families[family.name] = family
        for metric in parts["metric"]:
            labels = {label["name"]: label["value"]
                      for label in metric.pop("label")}
            (field_name, value), = metric.items()
            assert field_name == kind
            family.add(labels, read_histogram(value) if kind == "histogram"
                       else exact(value["value"]))
        check_family(family)
    return families


def read(content_type, body):
    """By its Content-Type."""
    if content_type == exposition_protobuf.CONTENT_TYPE:
        return read_protobuf(body)
    readers = {TEXT: TextReader, OPENMETRICS: OpenMetricsReader}
    return readers[content_type](body.decode()).families
