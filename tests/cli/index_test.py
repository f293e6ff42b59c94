#!/usr/bin/env python3
"""leat index: the sidecar's numbers against ones counted here, and files that have none."""
import gzip
import os
import shutil
import struct
import tarfile
import unittest

from tool import DIGITS, ToolTest, example, record, records_of

TRAIN = os.path.join(DIGITS, "digits-train.tfrecord")


def numbers_of(path):
    """The starts of records, and the end of the last one, as an index of version 1 has them."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:16] == b"leat-index\r\n" + struct.pack("<I", 1)
    count = struct.unpack_from("<Q", data, len(data) - 20)[0]
    found, at = [], 16
    for first in range(0, count, 512):
        n = min(512, count - first)
        block = struct.unpack_from("<%dQ" % (n + 1), data, at)
        assert not found or found[-1] == block[0]
        found[first:] = block
        at += (n + 1) * 8 + 4
    assert at == len(data) - 44
    return found


class IndexTest(ToolTest):
    def test_digits(self):
        path = os.path.join(self.folder, "train.tfrecord")
        shutil.copy(TRAIN, path)
        self.assertEqual(self.succeed("index", path), path + ": 1,437 records\n")
        expected = [0]
        for data in records_of(TRAIN):
            expected.append(expected[-1] + 16 + len(data))
        self.assertEqual(numbers_of(path + ".leat-index"), expected)
        self.assertEqual(sorted(os.listdir(self.folder)), ["train.tfrecord", "train.tfrecord.leat-index"])

    def test_train_passes_over_indexes(self):
        """An index beside record files is no record file."""
        for part in ("train", "test"):
            path = os.path.join(self.folder, "digits-%s.tfrecord" % part)
            shutil.copy(os.path.join(DIGITS, "digits-%s.tfrecord" % part), path)
            self.succeed("index", path)
        self.leat_trains(self.folder)

    def leat_trains(self, folder):
        done = self.leat("train", folder, "--epochs", "1")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_replaces_an_older_one(self):
        path = self.write("a.tfrecord", record(b"a"))
        self.succeed("index", path)
        self.write("a.tfrecord", record(b"a") + record(b"bc"))
        self.assertEqual(self.succeed("index", path), path + ": 2 records\n")
        self.assertEqual(numbers_of(path + ".leat-index"), [0, 17, 35])

    def test_tar_shard(self):
        path = os.path.join(self.folder, "a.tar")
        with tarfile.open(path, "w") as tar:
            for name in ("a/1.jpg", "a/1.cls", "a/2.jpg", "README", "a/2.cls", "a/3.cls"):
                tar.addfile(tarfile.TarInfo(name))
        self.assertEqual(self.succeed("index", path), path + ": 3 records\n")
        self.assertEqual(numbers_of(path + ".leat-index"), [0, 1024, 2560, 3072])

    def test_several_files(self):
        """The second file gets its index although the first is missing."""
        path = self.write("a.tfrecord", record(example(label=3)))
        done = self.fail_with(1, "nowhere.tfrecord", "index", "nowhere.tfrecord", path)
        self.assertIn("a.tfrecord: 1 records\n", done.stdout)

    def test_files_without(self):
        good = record(b"hello") * 3
        for name, data, text in (("a.tfrecord", good[:-1], "truncated"), ("b.tfrecord", b"x" * 40, "checksum"),
                                 ("c.tfrecord.gz", gzip.compress(good), "GZIP")):
            path = self.write(name, data)
            self.fail_with(1, text, "index", path)
            self.assertFalse(os.path.exists(path + ".leat-index"))
        self.fail_with(2, "FILE", "index")


if __name__ == "__main__":
    unittest.main()
