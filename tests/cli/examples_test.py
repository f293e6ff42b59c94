#!/usr/bin/env python3
"""What the example programs print, and that the README shows the one that it speaks of."""
import os
import re
import subprocess
import tempfile
import unittest

from tool import BUILD, LEAT, ROOT


def run(name, *arguments):
    done = subprocess.run([os.path.join(BUILD, "examples", name), *arguments], capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def said(name, *arguments):
    """What it prints, and what goes to the standard error."""
    done = subprocess.run([os.path.join(BUILD, "examples", name), *arguments], capture_output=True, text=True, timeout=240)
    return done.returncode, done.stdout, done.stderr


def launch(processes, name):
    """What each of the processes of a job prints."""
    done = subprocess.run([LEAT, "launch", "-n", str(processes), "--", os.path.join(BUILD, "examples", name)],
                          capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise AssertionError(done.stderr)
    lines = [[] for _ in range(processes)]
    for number, line in re.findall(r"(?m)^\[worker (\d+)\] (.*)$", done.stdout):
        lines[int(number)].append(line)
    return lines


class ExamplesTest(unittest.TestCase):
    def test_the_guide_shows_ten_lines(self):
        with open(os.path.join(ROOT, "docs", "guides", "c_program.md")) as file:
            shown = re.search(r"```c\n(.*?)```", file.read(), re.S)[1]
        with open(os.path.join(ROOT, "examples", "ten_lines.c")) as file:
            self.assertEqual(file.read().split("\n", 1)[1], shown)

    def test_service(self):
        """Alone with servers of its own; as two programs that share one pass of two workers."""
        self.assertEqual(run("service"), "read 1000 elements, their sum is 499500\n")
        done = subprocess.run([LEAT, "launch", "--service", "2", "-n", "2", "--plain", "--", os.path.join(BUILD, "examples", "service")],
                              capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.findall(r"read (\d+) elements, their sum is (\d+)", done.stdout)
        self.assertEqual([sum(int(pair[i]) for pair in found) for i in (0, 1)], [1000, 499500])

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

    def test_per_replica_of_workers(self):
        """Two processes: each batch's first row goes to the first worker, its second to the second."""
        for worker, lines in enumerate(launch(2, "per_replica")):
            rows = re.findall(r"array\(\[(\d+)\.\]", "\n".join(lines))
            self.assertEqual([int(row) for row in rows], [2 * step + worker for step in range(5)])

    def test_small_cnn(self):
        """Loss and accuracy of every epoch; the loss falls even on random pictures with fixed labels."""
        text = run("small_cnn", "16", "64", "3", "8")
        found = re.findall(r"(?m)^epoch (\d), 4 steps: loss ([\d.]+), accuracy ([\d.]+)$", text)
        self.assertEqual([e[0] for e in found], ["1", "2", "3"])
        for _, loss, accuracy in found:
            self.assertLess(float(loss), 10)
            self.assertLessEqual(float(accuracy), 1)

    def test_resnet50_photos(self):
        """Keras' number of parameters for 10 classes, on one and two devices; the loss falls."""
        for devices in (1, 2):
            text = run("resnet50_photos", "data/digits/sample", "8", "%d" % (4 // devices), "10", "%d" % devices, "32")
            self.assertTrue(text.startswith("23608202 parameters\n"), text)
            losses = [float(loss) for loss in re.findall(r"(?m)^epoch \d+, 2 steps: loss ([\d.]+), accuracy [\d.]+$", text)]
            self.assertEqual(len(losses), 10)
            # Two rows a replica are noisy, and processors round differently: the last three against the first.
            self.assertLess(sum(losses[-3:]), sum(losses[:3]))

    def test_distributed_validation(self):
        """Each of the 40 pictures counts once on any number of devices, also where two of three get none; it learns."""
        for devices, batch in ((1, 7), (2, 7), (3, 13)):
            text = run("distributed_validation", "data/digits/sample", "2", str(devices), str(batch))
            found = re.findall(r"(?m)^epoch (\d): loss ([\d.]+), accuracy ([\d.]+), validation ([\d.]+) of 40 pictures$", text)
            self.assertEqual([e[0] for e in found], ["1", "2"], text)
            self.assertLess(float(found[1][1]), float(found[0][1]))
            self.assertAlmostEqual(float(found[1][3]) * 40 % 1, 0, delta=0.01)
        with tempfile.TemporaryDirectory() as empty:
            status, _, errors = said("distributed_validation", empty)
            self.assertEqual((status, "NOT_FOUND: %s: no pictures" % empty in errors), (1, True))

    def test_fit_dataset(self):
        """Three ways: what operators hold is shown and nothing is a copy of the data; one warning; so many steps."""
        status, text, errors = said("fit_dataset", "plain")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(len(re.findall(r"(?m)^epoch \d, 7 steps: ", text)), 2)
        held = {line.split()[0]: line.split()[7] for line in text.splitlines() if re.match(r"\s*(prefetch|batch|map|from_)", line)
                and ":" not in line}
        self.assertEqual((held["batch"], held["from_tensor_slices"]), ("0", "0"))
        status, text, errors = said("fit_dataset", "shuffled")
        self.assertEqual((status, errors.count("shuffled after it was batched")), (0, 1))
        status, text, errors = said("fit_dataset", "steps", "data/digits/sample", "3")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(len(re.findall(r"(?m)^epoch \d, 20 steps: ", text)), 3)
        self.assertIn("60 steps over 32200 pictures, peak below the limit: yes", text)

    def test_imbalanced_workers(self):
        """One, two and three processes: as many steps, and the losses of one process."""
        alone = run("imbalanced_workers").splitlines()
        self.assertEqual((alone[0], len(alone)), ("1 replicas", 12))
        losses = [float(line.split()[-1]) for line in alone[1:]]
        self.assertLess(losses[-1], losses[0] / 2)
        for processes in (1, 2, 3):
            workers = launch(processes, "imbalanced_workers")
            for lines in workers:
                self.assertEqual(lines, workers[0])
                self.assertEqual(lines[0], "%d replicas" % processes)
                self.assertEqual([line.split(":")[0] for line in lines[1:]], [line.split(":")[0] for line in alone[1:]])
                for line, loss in zip(lines[1:], losses):
                    self.assertAlmostEqual(float(line.split()[-1]), loss, delta=2e-4 * loss + 1e-5)

    def test_dataset_function(self):
        """Every number once, on whatever number of workers, and as many batches on each."""
        for processes in (1, 2, 3):
            workers = launch(processes, "dataset_function")
            self.assertEqual({len(lines) for lines in workers}, {4})
            found = [int(number) for lines in workers for line in lines for number in line.split()]
            self.assertEqual(sorted(found), list(range(24)))


if __name__ == "__main__":
    unittest.main()
