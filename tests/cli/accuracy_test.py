#!/usr/bin/env python3
"""The demo learns: the median test accuracy of three seeds, and none with shuffled labels."""
import os
import random
import re
import statistics
import unittest

from tool import DIGITS, ToolTest, record, records_of


def with_labels_shuffled(records):
    """The same examples with each other's labels. A label is the last value of its record's text: the
    int64 list of the feature "label", one byte as it is less than 128."""
    marks = [data.index(b"\n\x05label") for data in records]
    places = [data.index(b"\x1a\x03\n\x01", mark) + 4 for data, mark in zip(records, marks)]
    labels = [data[place] for data, place in zip(records, places)]
    random.Random(11).shuffle(labels)
    return [data[:place] + bytes([label]) + data[place + 1:] for data, place, label in zip(records, places, labels)]


class AccuracyTest(ToolTest):
    def accuracy(self, *arguments):
        text = self.succeed("train", *arguments)
        return float(re.search(r"(?m)^test accuracy ([\d.]+)$", text)[1])

    def test_digits(self):
        found = [self.accuracy(DIGITS, "--seed", str(seed)) for seed in (1, 2, 3)]
        self.assertGreaterEqual(statistics.median(found), 0.905, found)

    def test_shuffled_labels(self):
        train = records_of(os.path.join(DIGITS, "digits-train.tfrecord"))
        self.write("x-train.tfrecord", b"".join(map(record, with_labels_shuffled(train))))
        with open(os.path.join(DIGITS, "digits-test.tfrecord"), "rb") as file:
            self.write("x-test.tfrecord", file.read())
        self.assertLess(self.accuracy(self.folder), 0.2)


if __name__ == "__main__":
    unittest.main()
