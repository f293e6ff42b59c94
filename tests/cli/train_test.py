#!/usr/bin/env python3
"""leat train: what it prints, that it repeats, what it says about bad input, and Ctrl-C."""
import json
import os
import pty
import re
import select
import signal
import struct
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
        self.fail_with(1, "8x8x1", "train", DIGITS, "-e2", "--classes", "7", "--out", out, "--resume")
        self.fail_with(1, "safetensors", "train", DIGITS, "-e2", "--out", os.path.join(DIGITS, "digits.csv"), "--resume")
        self.fail_with(1, "/dev/full", "train", DIGITS, "-e1", "--out", "/dev/full")

    def test_a_limit_on_files_is_an_error(self):
        out = os.path.join(self.folder, "out")
        done = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", LEAT, "train", DIGITS, "-e1", "--out", out],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240)
        self.assertEqual(done.returncode, 1)
        self.assert_named(out, done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_others_of_a_job_are_told_why_one_failed(self):
        command = 'trap "" TERM; exec "$@"'  # the launcher's, so that both can say what happened
        done = self.leat("launch", "-n", "2", "--", "sh", "-c", command, "sh", LEAT, "train", DIGITS, "-e2", "--strategy",
                         "multi_worker_mirrored", "--out", "/dev/full")
        self.assertEqual(done.returncode, 1)
        for worker in "01":
            said = [line for line in done.stderr.splitlines() if line.startswith("[worker " + worker)]
            self.assert_named("/dev/full", said[-1])

    def test_one_process_says_what_is_done(self):
        out = os.path.join(self.folder, "out")
        job = [LEAT, "launch", "--plain", "-n", "2", "--", LEAT, "train", DIGITS, "--strategy", "multi_worker_mirrored", "--out", out,
               "--resume"]
        for epochs in "1", "2":
            done = subprocess.run([*job, "--epochs", epochs], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("epochs are done"), int(epochs) - 1)

    def test_resume_without_out(self):
        self.fail_with(2, "--out", "train", DIGITS, "--resume")

    def test_replicas_agree(self):
        """The sum over replicas is the same mean, whatever their number; only rounding differs."""
        def loss(replicas):
            return float(EPOCH.findall(self.succeed("train", DIGITS, "-e1", "-r", replicas))[0][2])
        one = loss("1")
        self.assertAlmostEqual(one, loss("2"), delta=2e-3)
        self.assertAlmostEqual(one, loss("3"), delta=2e-3)

    def test_devices_of_a_plugin(self):
        self.fail_with(1, "npu", "train", DIGITS, "--device", "npu")
        done = self.leat("devices")
        if re.search(r"^XLA_CPU +0", done.stdout, re.M):
            self.skipTest("the package xla-cpu-pjrt is not there")
        alone, there = (EPOCH.findall(self.succeed("train", DIGITS, "-e1", "-r1", "--device", kind))[0]
                        for kind in ("cpu", "xla_cpu"))
        for a, b in zip(alone[2:], there[2:]):
            self.assertAlmostEqual(float(a), float(b), delta=5e-3)

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
        self.fail_with(1, "--strategy", *options,
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
        self.assert_named("nowhere", done.stderr)

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

    def test_size_of_the_first_picture(self):
        """Larger pictures of folders are scaled to a longest side of 128, colours stay, alpha goes, other files are passed over."""
        with open(os.path.join(ROOT, "tests/golden/data/image/files/a_420.jpg"), "rb") as file:
            colours = file.read()
        for first, size, more in ((solid(300, 200, 1), "85x128x1", []), (solid(100, 129, 1), "128x99x1", []),
                                  (solid(128, 5, 1), "5x128x1", []), (colours, "16x16x3", ["--image-size", "16"])):
            for i in range(5):
                self.write("in/a/%d.JPEG" % i, first)
                self.write("in/b/%d.Png" % i, solid(9, 9, 20 * i))
            self.write("in/b/notes.txt", b"no picture")
            self.write("in/none/notes.txt", b"no picture")
            text = self.succeed("train", os.path.join(self.folder, "in"), "-e1", *more)
            self.assertIn("10 pictures in 2 class folders, 2 of them for the test; pictures %s, 2 classes" % size, text)

    def test_files_of_other_parts(self):
        """Where names tell the parts apart, other record files are left out; where none does, all train."""
        good = b"".join(record(example(image=solid(8, 8, 9 * i), label=i)) for i in range(4))
        names = ["train-0.tfrecord", "train-1.tfrecord", "x-test.tfrecord"]
        for name in names:
            self.write("d/" + name, good)
        self.write("d/validation.tfrecord", b"no records")
        data = os.path.join(self.folder, "d")
        self.assertIn("2 training and 1 test record files; ", self.succeed("train", data, "-e1"))
        os.remove(os.path.join(data, "x-test.tfrecord"))
        self.assertIn("8 records, 1 of them for the test; ", self.succeed("train", data, "-e1"))
        files = [os.path.join(data, name) for name in names[:1]] + [self.write("e/some.tfrecord", good)]
        self.fail_with(1, "5", "train", *files)
        self.write("e/more.tfrecord.leat-index", b"no records")
        self.fail_with(1, "4", "train", os.path.join(self.folder, "e"))
        self.fail_with(1, "nowhere.tfrecord", "train", files[0], "nowhere.tfrecord")
        self.write("e/other.tfrecord", good[:-3])
        self.fail_with(1, "other.tfrecord", "train", os.path.join(self.folder, "e"))

    def test_other_networks(self):
        """A file that does not fit says what does not: its notes, a variable that is missing, its shape, the names of classes."""
        out = os.path.join(self.folder, "out")
        self.succeed("train", SAMPLE, "-e1", "--image-size=8", "--out", out)
        with open(out, "rb") as file:
            data = file.read()
        size = struct.unpack("<Q", data[:8])[0]
        picture = os.path.join(SAMPLE, "0", sorted(os.listdir(os.path.join(SAMPLE, "0")))[0])

        def change(function):
            header = json.loads(data[8:8 + size])
            function(header)
            text = json.dumps(header).encode()
            self.write("out", struct.pack("<Q", len(text)) + text + data[8 + size:])

        notes = json.loads(data[8:8 + size])["__metadata__"]
        self.assertEqual(notes, {"format": "leat train 1", "image": "8x8x1", "classes": "10", "epochs": "1",
                                 "names": json.dumps(sorted(os.listdir(SAMPLE)), separators=(",", ":"))})
        resume = ["train", SAMPLE, "-e2", "--image-size=8", "--out", out, "--resume"]
        predict = ["predict", out, picture]
        for key, value in (("format", "leat train 2"), ("format", None), ("image", "8x8"), ("image", None), ("classes", "ten"),
                           ("classes", None)):
            change(lambda header: header["__metadata__"].update({key: value}) if value else header["__metadata__"].pop(key))
            for command in (resume, predict):
                self.fail_with(1, "notes", *command)
        change(lambda header: header.update(other=header.pop("weight/0")))
        for command in (resume, predict):
            self.fail_with(1, '"weight/0"', *command)
        change(lambda header: header["weight/0"].update(shape=header["weight/0"]["shape"][::-1]))
        for command in (resume, predict):
            self.fail_with(1, '"weight/0"', *command)
        change(lambda header: header["weight/1"].update(dtype="I32"))
        self.fail_with(1, '"weight/1"', *predict)
        change(lambda header: header["__metadata__"].update(image="9x8x1"))
        self.fail_with(1, "9x8x1", *resume)
        for names in (["x"] * 10, [str(i) for i in range(9)]):
            change(lambda header: header["__metadata__"].update(names=json.dumps(names)))
            self.fail_with(1, "names", *resume)
        change(lambda header: header["__metadata__"].update(classes="7"))
        self.fail_with(1, "7", *resume)
        change(lambda header: header.pop("optimizer/0"))
        self.fail_with(1, '"optimizer/0"', *resume)
        self.assertEqual(len(self.succeed(*predict).split("\t")), 3)
        change(lambda header: header["__metadata__"].pop("names"))
        self.assertRegex(self.succeed(*predict), r"^%s\t\d\t0\.\d+\n$" % picture)

    def test_names_that_cannot_be_saved(self):
        for name in (b"a", b"\xff"):
            folder = os.path.join(self.folder.encode(), b"in", name)
            os.makedirs(folder)
            for i in range(5):
                with open(os.path.join(folder, b"%d.png" % i), "wb") as file:
                    file.write(solid(8, 8, i))
        self.fail_with(1, "UTF-8", "train", os.path.join(self.folder, "in"), "-e1",
                       "--out", os.path.join(self.folder, "out"))

    def test_too_little(self):
        for name in ("a", "b"):
            for i in range(4):
                self.write("in/%s/%d.png" % (name, i), solid(8, 8, i))
        self.fail_with(1, "8",
                       "train", os.path.join(self.folder, "in"))
        for name in ("train", "test"):
            self.write("d/%s.tfrecord" % name, b"")
        self.fail_with(1, "training", "train", os.path.join(self.folder, "d"))

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
        self.fail_with(1, "*.tfrecord", "train", self.folder)
        self.write("only/a.png", solid(8, 8, 1))
        self.fail_with(1, "only", "train", self.folder)
        self.fail_with(1, "folder", "train", DIGITS, DIGITS)
        self.fail_with(1, "records", "train", os.path.join(DIGITS, "digits-test.tfrecord"))

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
