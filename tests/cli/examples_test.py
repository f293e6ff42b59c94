#!/usr/bin/env python3
"""What the example programs print, and that the README shows the one that it speaks of."""
import os
import re
import subprocess
import unittest

from tool import BUILD, ROOT


def run(name, *arguments):
    done = subprocess.run([os.path.join(BUILD, "examples", name), *arguments], capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


class ExamplesTest(unittest.TestCase):
    def test_readme_shows_ten_lines(self):
        with open(os.path.join(ROOT, "README.md")) as file:
            shown = re.search(r"```c\n(.*?)```", file.read(), re.S)[1]
        with open(os.path.join(ROOT, "examples", "ten_lines.c")) as file:
            self.assertEqual(file.read().split("\n", 1)[1], shown)

    def test_per_replica(self):
        """A batch of two on two replicas: one number and one label each, as TensorFlow prints them."""
        steps = run("per_replica").split("step ")[1:]
        self.assertEqual(len(steps), 5)
        for i, step in enumerate(steps):
            rows = [2 * i, 2 * i + 1]
            values = ",\n".join("  %d: <tf.Tensor: shape=(1,), dtype=float32, numpy=array([%d.], dtype=float32)>" % (r, row)
                                for r, row in enumerate(rows))
            labels = ",\n".join("  %d: <tf.Tensor: shape=(1,), dtype=int64, numpy=array([%d])>" % (r, row % 2)
                                for r, row in enumerate(rows))
            self.assertEqual(step, "%d: (PerReplica:{\n%s\n}, PerReplica:{\n%s\n})\n" % (i, values, labels))

    def test_small_cnn(self):
        """Loss and accuracy of every epoch; the loss falls even on random pictures with fixed labels."""
        text = run("small_cnn", "16", "64", "3", "8")
        found = re.findall(r"(?m)^epoch (\d), 4 steps: loss ([\d.]+), accuracy ([\d.]+)$", text)
        self.assertEqual([e[0] for e in found], ["1", "2", "3"])
        for _, loss, accuracy in found:
            self.assertLess(float(loss), 10)
            self.assertLessEqual(float(accuracy), 1)


if __name__ == "__main__":
    unittest.main()
