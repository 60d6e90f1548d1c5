# SPDX-License-Identifier: BSD-2-Clause
"""Every format says the same, and says it as the format's rules demand: strict
readers read back random values and labels that are hard to escape."""

import os
import subprocess
import unittest
from decimal import Decimal

import exposition
import tap
from programs import build_directory

TOOL = os.path.join(build_directory(), "tests/exporter/tool_exposition")
SEEDS = 200 if os.environ.get("POSTLAG_LONG") else 8
BILLION = Decimal(1000000000)


def written(name, seed):
    return subprocess.run([TOOL, name, str(seed)], stdout=subprocess.PIPE,
                          check=True).stdout


def in_unit(family, number):
    """The table's unit tells how integers are meant."""
    if family.endswith(("_seconds", "_ratio")):
        return Decimal(number) / BILLION
    return Decimal(number)


def labels_of(words):
    pairs = (word.split("=") for word in words)
    return tuple(sorted((name, bytes.fromhex(value).decode())
                        for name, value in pairs))


def observations(words):
    """[(value, exemplar)]"""
    for word in words:
        value, rest = word.split("@")
        time, message = rest.split("/")
        value = Decimal(value) / BILLION
        yield value, exposition.Exemplar({"trace_id": message}, value,
                                         Decimal(time) / BILLION)


def truth(seed):
    """{(family, labels): number or [(value, exemplar)]}"""
    found = {}
    for line in written("truth", seed).decode().splitlines():
        left, _, right = line.partition(" :")
        name, *labels = left.split(" ")
        words = right.split()
        if name.endswith(("test_hard_seconds", "_latency_seconds",
                          "_phase_seconds")):
            value = list(observations(words))
        else:
            value = in_unit(name, words[0])
        found[name, labels_of(labels)] = value
    return found


def native_index(value):
    """By integers alone: i with 2^((i-1)/32) < value <= 2^(i/32)."""
    if value == 0:
        return "zero"
    power = int(value * BILLION) ** 32
    one = 10 ** (9 * 32)
    index = power.bit_length() - one.bit_length() - 1
    while power << max(-index, 0) > one << max(index, 0):
        index += 1
    return index


class Formats(unittest.TestCase):
    CONTENT_TYPES = {"text": exposition.TEXT,
                     "openmetrics": exposition.OPENMETRICS,
                     "protobuf": exposition.PROTOBUF}

    def check_number(self, number, wanted, is_float):
        """A float has 53 bits, and may be the next but one to the exact
        number."""
        if is_float:
            self.assertLessEqual(abs(number - wanted),
                                 abs(wanted) * Decimal(2) ** -52)
        else:
            self.assertEqual(number, wanted)

    def check_native(self, native, wanted):
        counts = dict.fromkeys(native, 0)
        for value, _ in wanted:
            counts[native_index(value)] += 1
        self.assertEqual(native, counts)

    def check_histogram(self, histogram, wanted, has_exemplars):
        """Case 68: a value on a bound is counted in it."""
        has_native = histogram.native is not None
        if has_native:
            self.check_native(histogram.native, wanted)
        for bound, count in histogram.buckets.items():
            edge = Decimal(bound.replace("+Inf", "Infinity"))
            self.assertEqual(count, sum(value <= edge for value, _ in wanted))
        self.check_number(histogram.sum, sum(value for value, _ in wanted),
                          has_native)
        self.assertEqual(histogram.count, len(wanted))
        below, last = Decimal(-1), {}
        for bound in histogram.buckets:
            edge = Decimal(bound.replace("+Inf", "Infinity"))
            for value, exemplar in wanted:
                if below < value <= edge:
                    last[bound] = exemplar
            below = edge
        self.assertEqual(histogram.exemplars, last if has_exemplars else {})

    def check(self, name, seed, wanted):
        families = exposition.read(self.CONTENT_TYPES[name],
                                   written(name, seed))
        self.assertEqual({(family.name, labels)
                          for family in families.values()
                          for labels in family.samples}, set(wanted))
        for family in families.values():
            for labels, sample in family.samples.items():
                value = wanted[family.name, labels]
                if family.type == "histogram":
                    self.check_histogram(sample, value, name != "text")
                else:
                    self.check_number(sample, value, name == "protobuf")
        self.assertEqual(families["test_hard_total"].help,
                         'A \\ and a \\n,\na line and "quotes".')
        self.assertEqual(families["test_bare_ratio"].help, "\\")

    def test_random_values_are_read_back(self):
        for seed in range(SEEDS):
            wanted = truth(seed)
            for name in self.CONTENT_TYPES:
                with self.subTest(name=name, seed=seed):
                    self.check(name, seed, wanted)


tap.main()
