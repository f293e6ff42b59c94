#!/usr/bin/env python3
"""leat predict: what it prints of networks that leat train wrote, and what it says about bad input."""
import os
import unittest

from tool import DIGITS, ToolTest

SAMPLE = os.path.join(DIGITS, "sample")


def pictures(count):
    """The first pictures of each class, with its name."""
    return [(name, os.path.join(SAMPLE, name, picture)) for name in sorted(os.listdir(SAMPLE))
            for picture in sorted(os.listdir(os.path.join(SAMPLE, name)))[:count]]


class PredictTest(ToolTest):
    def network(self, *data):
        out = os.path.join(self.folder, "network")
        self.succeed("train", *data, "-e20", "--out", out)
        return out

    def test_numbers(self):
        """Trained on records, whose classes are numbers: it knows most of these pictures."""
        known = pictures(4)
        lines = self.succeed("predict", self.network(DIGITS), *[path for _, path in known]).splitlines()
        rows = [line.split("\t") for line in lines]
        self.assertEqual([row[0] for row in rows], [path for _, path in known])
        self.assertTrue(all(len(row) == 3 and 0 < float(row[2]) <= 1 for row in rows))
        right = sum(row[1] == name for row, (name, _) in zip(rows, known))
        self.assertGreater(right, 0.9 * len(known))

    def test_names(self):
        """Trained on folders, whose names it prints; all classes of a picture come to 1."""
        network = self.network(SAMPLE)
        row = self.succeed("predict", "--top", "20", network, pictures(1)[3][1]).rstrip("\n").split("\t")
        self.assertEqual(sorted(row[1::2]), sorted(os.listdir(SAMPLE)))
        chances = [float(text) for text in row[2::2]]
        self.assertEqual(chances, sorted(chances, reverse=True))
        self.assertAlmostEqual(sum(chances), 1, delta=2e-3)

    def test_bad_input(self):
        network = self.network(SAMPLE)
        picture = pictures(1)[0][1]
        self.fail_with(1, "safetensors", "predict", picture, picture)
        self.fail_with(1, "none", "predict", os.path.join(self.folder, "none"), picture)
        self.fail_with(1, "none.png", "predict", network, os.path.join(self.folder, "none.png"))
        self.fail_with(1, "README.md", "predict", network, os.path.join(DIGITS, "README.md"))


if __name__ == "__main__":
    unittest.main()
