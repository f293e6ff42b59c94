#!/usr/bin/env python3
"""leat convert: the records against the pictures, the order, and what is refused."""
import os
import unittest
import zlib

from tool import DIGITS, ToolTest, png, records_of, solid

SAMPLE = os.path.join(DIGITS, "sample")
JPEG = os.path.join(os.path.dirname(DIGITS), "..", "tests", "golden", "data", "image", "files", "a_420.jpg")


def fields_of(data):
    """The fields of a protobuf message as (number, value)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            at += value
            value = data[at - value:at]
        yield tag >> 3, value


def example_of(data):
    """The features of a tf.train.Example that has one value each."""
    found = {}
    for _, entry in fields_of(dict(fields_of(data))[1]):
        entry = dict(fields_of(entry))
        (kind, values), = fields_of(entry[2])
        value = dict(fields_of(values))[1]
        found[entry[1].decode()] = value if kind == 1 else dict(fields_of(b"\x08" + value))[1]
    return found


class ConvertTest(ToolTest):
    def out(self, name="out"):
        return os.path.join(self.folder, name)

    def names(self, folder="."):
        return sorted(os.listdir(os.path.join(self.folder, folder)))

    def pictures(self):
        """Two classes: dog has two pictures, cat one PNG and one JPEG whose names say the opposite."""
        with open(JPEG, "rb") as file:
            self.jpeg = file.read()
        self.write("in/dog/b.png", solid(3, 2, 7))
        self.write("in/dog/a.png", solid(5, 4, 9))
        self.write("in/cat/x.png", self.jpeg)
        self.write("in/cat/y.jpg", solid(1, 1, 0))
        self.write("in/.hidden", b"")
        return os.path.join(self.folder, "in")

    def test_examples(self):
        folder = self.pictures()
        text = self.succeed("convert", folder, self.out())
        path = self.out() + "-00000-of-00001.tfrecord"
        self.assertEqual(text, path + ": 4 records\n4 pictures of 2 classes; leat train reads them with "
                         "--label-key image/class/label --classes 2\n")
        found = [example_of(data) for data in records_of(path)]
        self.assertEqual(found[0].pop("image/encoded"), self.jpeg)
        size = found[0].pop("image/height"), found[0].pop("image/width")
        self.assertGreater(min(size), 1)
        self.assertEqual(found[0], {"image/format": b"jpeg", "image/class/label": 0, "image/class/text": b"cat",
                                    "image/filename": b"x.png"})
        self.assertEqual(found[1]["image/format"], b"png")
        self.assertEqual(found[2], {
            "image/encoded": solid(5, 4, 9), "image/format": b"png", "image/height": 4, "image/width": 5,
            "image/class/label": 1, "image/class/text": b"dog", "image/filename": b"a.png"})
        self.assertEqual([f["image/filename"] for f in found], [b"x.png", b"y.jpg", b"a.png", b"b.png"])

    def test_shards(self):
        """Shards are equal parts of the order, whatever their number; --shuffle mixes, the seed decides."""
        orders = {}
        for key, more in (("plain", []), ("again", []), ("mixed", ["--shuffle"]), ("seed", ["--shuffle", "--seed", "1"]),
                          ("other", ["--shuffle", "--seed", "2"])):
            os.mkdir(self.out(key))
            self.succeed("convert", SAMPLE, os.path.join(self.out(key), "s"), "--shards", "3", *more)
            self.assertEqual(self.names(key), ["s-0000%d-of-00003.tfrecord" % i for i in range(3)])
            parts = [records_of(os.path.join(self.out(key), name)) for name in self.names(key)]
            self.assertEqual([len(part) for part in parts], [66, 67, 67])
            orders[key] = sum(parts, [])
        self.assertEqual(orders["plain"], orders["again"])
        self.assertEqual(orders["mixed"], orders["seed"])
        self.assertNotEqual(orders["mixed"], orders["other"])
        self.assertNotEqual(orders["mixed"], orders["plain"])
        self.assertEqual(sorted(orders["mixed"]), sorted(orders["plain"]))
        self.assertEqual(sorted(orders["other"]), sorted(orders["plain"]))
        names = [os.path.join(c, n) for c in sorted(os.listdir(SAMPLE)) for n in sorted(os.listdir(os.path.join(SAMPLE, c)))]
        for name, data in zip(names, orders["plain"], strict=True):
            with open(os.path.join(SAMPLE, name), "rb") as file:
                self.assertEqual(example_of(data)["image/encoded"], file.read())

    def test_train_reads_them(self):
        self.succeed("convert", SAMPLE, self.out(), "--shards", "2", "--shuffle", "--index")
        self.assertEqual(self.names(), ["out-0000%d-of-00002.tfrecord%s" % (i, end) for i in range(2)
                                        for end in ("", ".leat-index")])
        text = self.leat("train", self.folder, "--label-key", "image/class/label", "--epochs", "1").stdout
        self.assertIn("200 records, 40 of them for the test", text)

    def test_compression(self):
        folder = self.pictures()
        self.succeed("convert", folder, self.out("packed"), "--compression", "GZIP")
        self.assertIn("4 records", self.succeed("inspect", self.out("packed-00000-of-00001.tfrecord")))
        self.fail_with(1, "index", "convert", folder, self.out(), "--index",
                       "--compression", "GZIP")
        self.fail_with(1, "LZW", "convert", folder, self.out(), "--compression", "LZW")

    def test_force(self):
        """Existing files stay without --force; with it an index of the old ones goes."""
        folder = self.pictures()
        self.succeed("convert", folder, self.out(), "--index")
        self.write("in/dog/c.png", solid(1, 1, 1))
        before = records_of(self.out("out-00000-of-00001.tfrecord"))
        self.fail_with(1, "out-00000-of-00001.tfrecord", "convert", folder, self.out())
        self.assertEqual(records_of(self.out("out-00000-of-00001.tfrecord")), before)
        self.succeed("convert", folder, self.out(), "--force")
        self.assertEqual(len(records_of(self.out("out-00000-of-00001.tfrecord"))), 5)
        self.assertEqual(self.names(), ["in", "out-00000-of-00001.tfrecord"])

    def test_bad_files(self):
        """What is no picture is named; nothing is written, or with --skip-bad everything else."""
        folder = self.pictures()
        whole = zlib.compress(os.urandom(3000))
        cut = png(64, 64, [bytes(whole[i * 40:i * 40 + 64].ljust(64)) for i in range(64)])[:-40]
        bad = {"in/cat/z.png": cut, "in/dog/notes.txt": b"no picture", "in/dog/empty.jpg": b"",
               "in/LICENSE.txt": b"text", "in/dog/more/d.png": solid(1, 1, 1)}
        named = {"in/dog/more/d.png": "in/dog/more"}
        for name, data in bad.items():
            path = self.write(name, data)
            done = self.fail_with(1, os.path.join(self.folder, named.get(name, name)), "convert", folder, self.out())
            self.assertIn("--skip-bad", done.stderr)
            self.assertEqual(self.names(), ["in"])
            os.remove(path)
            if name in named:
                os.rmdir(os.path.dirname(path))
        os.mkdir(os.path.join(folder, "bird"))
        self.fail_with(1, "in/bird", "convert", folder, self.out())
        for name, data in bad.items():
            self.write(name, data)
        done = self.leat("convert", folder, self.out(), "--skip-bad")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 6, lines)
        for name in [*bad, "in/bird"]:
            path = os.path.join(self.folder, named.get(name, name)) + ":"
            self.assertEqual(sum(path in line for line in lines), 1, (path, lines))
        self.assertIn("4 pictures of 2 classes, 6 skipped; ", done.stdout)
        self.assertEqual([example_of(data)["image/class/label"] for data in
                          records_of(self.out("out-00000-of-00001.tfrecord"))], [0, 0, 1, 1])

    def test_links(self):
        """A link to a folder is a class, one to a picture a picture, one to nothing cannot be read."""
        folder = self.pictures()
        os.rename(os.path.join(folder, "dog"), self.out("elsewhere"))
        os.symlink("../elsewhere", os.path.join(folder, "dog"))
        os.symlink("../../elsewhere/a.png", os.path.join(folder, "cat", "z.png"))
        self.assertIn(": 5 records\n5 pictures of 2 classes; ", self.succeed("convert", folder + "//", self.out()))
        found = [example_of(data) for data in records_of(self.out("out-00000-of-00001.tfrecord"))]
        self.assertEqual([(f["image/class/text"], f["image/filename"]) for f in found],
                         [(b"cat", b"x.png"), (b"cat", b"y.jpg"), (b"cat", b"z.png"), (b"dog", b"a.png"), (b"dog", b"b.png")])
        os.symlink("nothing", os.path.join(folder, "cat", "none.png"))
        for more in ([], ["--skip-bad"]):
            self.fail_with(1, "in/cat/none.png", "convert", folder, self.out("other"), *more)

    def test_three_classes(self):
        """Labels go by the order of names; a class that is passed over takes no number."""
        for i, name in enumerate(("c", "a", "b")):
            self.write("in/%s/1.png" % name, solid(1, 1, i))
        os.mkdir(self.out("in/aa"))
        done = self.leat("convert", self.out("in"), self.out(), "--skip-bad", "--shards", "3")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1))
        self.assert_named(self.out("in/aa"), done.stderr)
        self.assertIn("3 pictures of 3 classes, 1 skipped; leat train reads them with --label-key image/class/label --classes 3\n",
                      done.stdout)
        for i in range(3):
            (data,) = records_of(self.out("out-0000%d-of-00003.tfrecord" % i))
            found = example_of(data)
            self.assertEqual((found["image/class/label"], found["image/class/text"]), (i, b"abc"[i:i + 1]))

    def test_nothing_left(self):
        os.makedirs(self.out("in/cat"))
        self.fail_with(1, "picture", "convert", self.out("in"), self.out(), "--skip-bad")
        self.assertEqual(self.names(), ["in"])

    def test_refused(self):
        folder = self.pictures()
        self.fail_with(1, "folder", "convert", os.path.join(folder, "cat"), self.out())
        self.fail_with(1, "nowhere", "convert", "nowhere", self.out())
        self.fail_with(1, "no/out-00000", "convert", folder, self.out("no/out"))
        self.fail_with(1, "--shards", "convert", folder, self.out(), "--shards", "5")
        self.fail_with(2, "FOLDER", "convert", folder)
        self.assertEqual(self.names(), ["in"])


if __name__ == "__main__":
    unittest.main()
