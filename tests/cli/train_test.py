#!/usr/bin/env python3
"""leat train: what it prints, that it repeats, what it says about bad input, and Ctrl-C."""
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from tool import DIGITS, LEAT, ROOT, ToolTest, example, png, record, solid

EPOCH = re.compile(r"^epoch +(\d+)/(\d+): loss ([\d.]+), accuracy ([\d.]+), test loss ([\d.]+), "
                   r"test accuracy ([\d.]+), \d+ images/s$", re.M)
SAMPLE = os.path.join(DIGITS, "sample")


class TrainTest(ToolTest):
    def corpus(self, *examples, test=None):
        """A folder of record files: these examples train; `test` or the first of them is the test part."""
        self.write("data/x-train.tfrecord", b"".join(map(record, examples)))
        self.write("data/x-test.tfrecord", record(test or examples[0]))
        return os.path.join(self.folder, "data")

    def test_digits(self):
        text = self.succeed("train", DIGITS, "--epochs", "3")
        epochs = EPOCH.findall(text)
        self.assertEqual([(e[0], e[1]) for e in epochs], [("1", "3"), ("2", "3"), ("3", "3")])
        losses = [float(e[2]) for e in epochs]
        self.assertEqual(losses, sorted(losses, reverse=True))
        self.assertLess(losses[0], 2.4)                      # a guess among ten has ln 10 = 2.303
        self.assertGreater(float(epochs[-1][5]), 0.6)
        self.assertIn("\ntest accuracy %s\n" % epochs[-1][5], text)
        table = text[text.index("\ntest accuracy"):]
        for line in ("where the time went", "step: run", "input, first epoch", "compute-bound, by the step: "):
            self.assertIn(line, table)
        parts = re.search(r"^\d+ images/s in training; a step takes ([\d.]+) us: input ([\d.]+), forward ([\d.]+), backward ([\d.]+), "
                          r"reduce ([\d.]+), update ([\d.]+), rest ([\d.]+)$", table, re.M)
        whole, *shares = map(float, parts.groups())
        self.assertTrue(all(share > 0 for share in shares[:5]), shares)
        self.assertLess(abs(sum(shares) - whole), 1)
        # Only the first step of a size counts as one that compiles.
        self.assertGreater(float(re.search(r"step: run .* ([\d.]+) us a step", table)[1]), 0)
        self.assertNotRegex(text, r"[\r\033]")

    def test_same_seed_same_training(self):
        def lines(*more):
            text = self.succeed("train", DIGITS, "-e2", "--seed", "7", *more)
            return [line[:-1] for line in EPOCH.findall(text)]
        self.assertEqual(lines(), lines())
        self.assertNotEqual(lines(), lines("--seed=8"))

    def test_resumed_training_is_the_same(self):
        """Broken off after two epochs and gone on with, it prints and writes what four in a row do."""
        def lines(*more):
            text = self.succeed("train", DIGITS, *more)
            return EPOCH.findall(text), text
        whole, parts = os.path.join(self.folder, "whole"), os.path.join(self.folder, "parts")
        four, _ = lines("-e4", "--out", whole)
        first, _ = lines("-e2", "--out", parts, "--resume")        # there is nothing to go on from yet
        rest, text = lines("-e4", "--out", parts, "--resume")
        self.assertIn("%s: 2 epochs are done\n" % parts, text)
        self.assertEqual([e[2:] for e in first + rest], [e[2:] for e in four])
        with open(whole, "rb") as one, open(parts, "rb") as other:
            self.assertEqual(one.read(), other.read())
        self.assertEqual(sorted(os.listdir(self.folder)), ["parts", "whole"])

    def test_out_of_other_data(self):
        out = os.path.join(self.folder, "out")
        self.succeed("train", DIGITS, "-e1", "--out", out)
        self.fail_with(1, "has 8x8x1 and 7", "train", DIGITS, "-e2", "--classes", "7", "--out", out, "--resume")
        self.fail_with(1, "not a safetensors file", "train", DIGITS, "-e2", "--out", os.path.join(DIGITS, "digits.csv"), "--resume")
        self.fail_with(1, "/dev/full", "train", DIGITS, "-e1", "--out", "/dev/full")

    def test_resume_without_out(self):
        self.fail_with(2, "--out", "train", DIGITS, "--resume")

    def test_replicas_agree(self):
        """The sum over replicas is the same mean, whatever their number; only rounding differs."""
        def loss(replicas):
            return float(EPOCH.findall(self.succeed("train", DIGITS, "-e1", "-r", replicas))[0][2])
        one = loss("1")
        self.assertAlmostEqual(one, loss("2"), delta=2e-3)
        self.assertAlmostEqual(one, loss("3"), delta=2e-3)

    def test_several_processes(self):
        """Two processes train as one does: the same batches, the same sums; the first prints."""
        options = ["train", DIGITS, "-e2", "-r1", "--batch", "50"]  # 1437 rows: the last batch has 37
        alone = EPOCH.findall(self.succeed(*options))
        text = self.succeed("launch", "--plain", "-n", "2", "--", LEAT, *options)
        self.assertIn("10 classes, 2 replicas in 2 processes, global batch 50, seed 1\n", text)
        together = EPOCH.findall(text)
        self.assertEqual(len(together), 2)
        for one, two in zip(alone, together):
            for a, b in zip(one[2:], two[2:]):
                self.assertAlmostEqual(float(a), float(b), delta=2e-3)
        self.assertEqual(text.count("where the time went"), 1)
        again = self.succeed("launch", "--plain", "-n", "2", "--", LEAT, *options)
        self.assertEqual(EPOCH.findall(again), together)

    def test_strategy(self):
        options = ["train", DIGITS, "-e1", "-r2"]
        found = {EPOCH.findall(self.succeed(*options, "--strategy", name))[0][2:]
                 for name in ("mirrored", "multi_worker_mirrored")}
        self.assertEqual(len(found), 1)
        self.fail_with(1, "--strategy is central; expected mirrored or multi_worker_mirrored", *options,
                       "--strategy=central")
        # Each for itself, though they are several.
        text = self.succeed("launch", "-n", "2", "--", LEAT, *options, "--strategy=mirrored")
        self.assertEqual(text.count("2 replicas, global batch 32"), 2)

    def test_a_process_that_cannot_read(self):
        """Whoever cannot read its data ends the job, whose status it gives."""
        program = "if expr \"$TF_CONFIG\" : '.*\"index\": *1' > /dev/null; then exec '%s' train nowhere; fi; " \
                  "exec '%s' train '%s'" % (LEAT, LEAT, DIGITS)
        done = self.leat("launch", "-n", "2", "--", "sh", "-c", program)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\[worker 1\] leat: .*nowhere")

    def test_batch_smaller_than_replicas(self):
        """A batch of one on two replicas leaves one of them empty: valid."""
        data = self.corpus(*[example(image=solid(8, 8, 10 * i), label=i) for i in range(3)])
        text = self.succeed("train", data, "--batch", "1", "--epochs", "2")
        self.assertEqual(len(EPOCH.findall(text)), 2)

    def test_files_by_name(self):
        parts = [os.path.join(DIGITS, "digits-%s.tfrecord" % part) for part in ("train", "test")]
        text = self.succeed("train", *parts, "-e1")
        self.assertIn("1 training and 1 test record files; pictures 8x8x1, 10 classes", text)

    def test_split_of_one_file(self):
        text = self.succeed("train", os.path.join(DIGITS, "digits-train.tfrecord"), "-e1")
        self.assertIn("1437 records, 287 of them for the test", text)

    def test_class_folders(self):
        text = self.succeed("train", SAMPLE, "--epochs", "20", "--image-size", "8")
        self.assertIn("200 pictures in 10 class folders, 40 of them for the test; pictures 8x8x1, 10 classes", text)
        self.assertGreater(float(EPOCH.findall(text)[-1][3]), 0.6)

    def test_pictures_of_many_sizes(self):
        for kind, value in (("dark", 20), ("light", 230)):
            for i in range(10):
                self.write("%s/%d.png" % (kind, i), solid(8 + i, 9, value))
        text = self.succeed("train", self.folder, "--epochs", "30")
        self.assertIn("pictures 9x8x1, 2 classes", text)
        self.assertEqual(EPOCH.findall(text)[-1][5], "1.0000")

    def test_terminal(self):
        """On a terminal a progress line is redrawn."""
        master, slave = pty.openpty()
        with subprocess.Popen([LEAT, "train", DIGITS, "--epochs", "150"], cwd=ROOT, stdout=slave) as process:
            os.close(slave)
            data = b""
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:                              # the other side is closed
                    break
                if not part:
                    break
                data += part
            self.assertEqual(process.wait(240), 0)
        os.close(master)
        self.assertRegex(data.decode(), r"\repoch +\d+/150, step \d+(/45)?: \d+ images/s, loss [\d.]+, accuracy [\d.]+")
        self.assertRegex(data.decode(), r"\d:\d\d left")
        self.assertNotIn(b"\033[3", data)                    # no colours

    # ---- bad input ----

    def test_missing_data(self):
        self.fail_with(1, "nowhere", "train", "nowhere")
        self.fail_with(1, "expected record files (*.tfrecord) or class folders", "train", self.folder)
        self.write("only/a.png", solid(8, 8, 1))
        self.fail_with(1, "at least two classes, found only only", "train", self.folder)
        self.fail_with(1, "is a folder; expected one folder, or only record files", "train", DIGITS, DIGITS)
        self.fail_with(1, "expected training records beside it", "train", os.path.join(DIGITS, "digits-test.tfrecord"))

    def test_label_out_of_range(self):
        data = self.corpus(example(image=solid(8, 8, 1), label=3), example(image=solid(8, 8, 2), label=12))
        done = self.fail_with(1, "12", "train", data)
        self.assertIn("label", done.stderr)
        data = self.corpus(example(image=solid(8, 8, 1), label=-1))
        self.assertIn("-1", self.fail_with(1, "label", "train", data).stderr)

    def test_not_a_picture(self):
        data = self.corpus(example(image=solid(8, 8, 1), label=3), example(image=b"no picture", label=1))
        self.fail_with(1, "decode", "train", data)

    def test_truncated_picture(self):
        data = self.corpus(example(image=solid(8, 8, 1), label=3), example(image=solid(8, 8, 9)[:-30], label=1))
        self.fail_with(1, "PNG", "train", data)

    def test_huge_picture(self):
        """60000 x 60000 pixels in a few hundred bytes: refused before memory is taken for them."""
        data = self.corpus(example(image=png(60000, 60000), label=3))
        self.fail_with(1, "60000", "train", data)

    def test_unequal_pictures(self):
        pictures = [example(image=solid(8, 8, 1), label=3), example(image=solid(9, 8, 9), label=1)]
        done = self.fail_with(1, "decode", "train", self.corpus(*pictures))
        self.assertRegex(done.stderr, r"8, ?9, ?1")
        self.succeed("train", self.corpus(*pictures), "--image-size", "8", "-e1")

    def test_missing_feature(self):
        data = self.corpus(example(image=solid(8, 8, 1)))
        self.fail_with(1, "label", "train", data)
        data = self.corpus(example(image=solid(8, 8, 1), digit=3))
        self.succeed("train", data, "--label-key", "digit", "-e1")

    def test_damaged_records(self):
        good = record(example(image=solid(8, 8, 1), label=3))
        bad = bytearray(good)
        bad[20] ^= 4
        for data, text in ((good[:-2], "truncated"), (bytes(bad), "byte ")):
            self.write("d/x-train.tfrecord", good + data)
            self.write("d/x-test.tfrecord", good)
            done = self.fail_with(1, text, "train", os.path.join(self.folder, "d"))
            self.assertIn("x-train.tfrecord", done.stderr)

    # ---- Ctrl-C ----

    def test_interrupt(self):
        """In the middle of training: exit status 130 at once, nothing but whole lines printed."""
        with subprocess.Popen([LEAT, "train", DIGITS, "--epochs", "100000"], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            data = b""
            while data.count(b"epoch ") < 2:                 # it has trained for two epochs
                self.assertTrue(select.select([process.stdout], [], [], 120)[0])
                part = os.read(process.stdout.fileno(), 65536)
                self.assertTrue(part, process.stderr.read() if process.poll() is not None else b"")
                data += part
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - start, 10)
            self.assertEqual(process.returncode, 130)
        self.assertEqual(errors, b"")
        for line in (data + rest).decode().splitlines()[1:]:
            self.assertRegex(line, EPOCH)
        self.assertTrue((data + rest).endswith(b"\n"))


if __name__ == "__main__":
    unittest.main()
