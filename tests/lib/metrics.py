# SPDX-License-Identifier: BSD-2-Clause
"""Reads the Prometheus text format 0.0.4, as far as tests need it."""

import os
import re

# Where tests/run.py learns which families were ever other than 0.
SEEN = os.environ.get("POSTLAG_FAMILIES_SEEN")

SAMPLE = re.compile(
    r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)",?')


def _base(name):
    return re.sub(r"_(bucket|count|sum)$", "", name)


def _unescape(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), text)


class Metrics:
    """{(name, ((label, value), ...)): number} with some questions to ask."""

    def __init__(self, text):
        self.types = {}
        self.samples = {}
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.types[name] = kind
            elif line and not line.startswith("#"):
                self._sample(line)
        if SEEN:
            for family in self.families_in_use():
                with open(f"{SEEN}/{family}", "a", encoding="ascii"):
                    pass

    def families_in_use(self):
        """Those with a sample that is not 0."""
        return {name if name in self.types else _base(name)
                for (name, _), value in self.samples.items() if value != 0}

    def _sample(self, line):
        match = SAMPLE.match(line)
        assert match, f"not a sample: {line!r}"
        name, labels, value = match.groups()
        labels = LABEL.findall(labels or "")
        key = name, tuple(sorted((n, _unescape(v)) for n, v in labels))
        assert key not in self.samples, f"twice: {key}"
        self.samples[key] = float(value)

    def value(self, name, **labels):
        """The sample with exactly these labels."""
        return self.samples[name, tuple(sorted(labels.items()))]

    def total(self, name, **labels):
        """The sum of all samples that have these labels among theirs."""
        wanted = set(labels.items())
        return sum(value for (sample, have), value in self.samples.items()
                   if sample == name and wanted <= set(have))

    def counters(self):
        """Every sample that may only grow: counters, and histograms' buckets,
        counts and sums."""
        return {key: value for key, value in self.samples.items()
                if self._kind(key[0]) in ("counter", "histogram")}

    def _kind(self, name):
        return self.types.get(name) or self.types.get(_base(name))

    def decreased_since(self, earlier):
        """Counters that are smaller or gone, with both values."""
        now = self.counters()
        return {key: (value, now.get(key))
                for key, value in earlier.counters().items()
                if now.get(key, -1.0) < value}
