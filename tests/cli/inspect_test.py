#!/usr/bin/env python3
"""leat inspect: counts, sizes, features, and files that are damaged."""
import gzip
import os
import struct
import unittest

from tool import DIGITS, ToolTest, example, field, record, records_of

TRAIN = os.path.join(DIGITS, "digits-train.tfrecord")


class InspectTest(ToolTest):
    def test_digits(self):
        sizes = [len(data) for data in records_of(TRAIN)]
        self.assertEqual(len(sizes), 1437)
        text = self.succeed("inspect", TRAIN)
        self.assertIn("%s: 1,437 records in %s bytes, checksums good\n" % (TRAIN, format(os.path.getsize(TRAIN), ",")), text)
        self.assertIn("record size: min %d, mean %.1f, max %d bytes; together %s\n" % (
            min(sizes), sum(sizes) / len(sizes), max(sizes), format(sum(sizes), ",")), text)
        self.assertEqual(text.count("\nrecord 0:") + text.startswith("record 0:"), 1)
        self.assertIn("record 2: ", text)
        self.assertNotIn("record 3: ", text)
        self.assertRegex(text, r"  label +int64\[1\] 0\n")
        self.assertRegex(text, r"  image/encoded +bytes\[1\] \d+ bytes of PNG ")
        self.assertRegex(text, r"  image/raw +bytes\[1\] 64 bytes ")

    def test_number_of_records_shown(self):
        self.assertNotIn("record 0", self.succeed("inspect", "--records", "0", TRAIN))
        self.assertIn("record 7: ", self.succeed("inspect", "-n8", TRAIN))

    def test_compressed(self):
        with open(TRAIN, "rb") as file:
            path = self.write("a.tfrecord.gz", gzip.compress(file.read()))
        self.assertRegex(self.succeed("inspect", path), r"1,437 records in [\d,]+ bytes, GZIP, checksums good")
        self.fail_with(1, "ZLIB", "inspect", "--compression", "ZLIB", path)
        self.fail_with(1, "LZW", "inspect", "--compression", "LZW", path)

    def test_no_example(self):
        path = self.write("a.tfrecord", record(b"hello \xff"))
        text = self.succeed("inspect", path)
        self.assertIn("no tf.train.Example", text)
        self.assertIn('"hello \\xff"', text)

    def test_values(self):
        """Eight values of a list at most, forty bytes of each; features of each kind, and of none."""
        def feature(key, data):
            return field(1, field(1, key) + field(2, data))

        floats = struct.pack("<9f", 1.5, 0.1, -2, 1e30, 0, 0, 0, 0, 7)
        texts = [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"x" * 41, b"y" * 40]
        data = field(1, feature(b"a", field(2, field(1, floats))) + feature(b"empty", b"")
                     + feature(b"bytes", field(1, b"".join(field(1, text) for text in texts)))
                     + feature(b"n" * 25, field(3, field(1, bytes(range(8))))))
        path = self.write("a.tfrecord", record(data) + record(b""))
        size = len(data)
        self.assertEqual(self.succeed("inspect", path, path), "\n".join(2 * [
            'record 0: %d bytes at byte 0' % size,
            '  a                    float[9] 1.5 0.100000001 -2 1.00000002e+30 0 0 0 0 ...',
            '  empty                empty[0]',
            '  bytes                bytes[4] 3 bytes of JPEG "\\xff\\xd8\\xff" 8 bytes of PNG "\\x89PNG\\x0d\\x0a\\x1a\\x0a" '
            '41 bytes "%s"... 40 bytes "%s"' % ("x" * 40, "y" * 40),
            '  nnnnnnnnnnnnnnnnnnnnnnnnn int64[8] 0 1 2 3 4 5 6 7',
            'record 1: 0 bytes at byte %d' % (size + 16),
            '%s: 2 records in %d bytes, checksums good' % (path, size + 32),
            'record size: min 0, mean %.1f, max %d bytes; together %d' % (size / 2, size, size), ''])[:-1] + "\n")
        self.assertEqual(self.succeed("inspect", "-c", "NONE", "-n1", path).count("record 1:"), 0)

    def test_bytes_behind(self):
        """Fewer bytes than a record has in front are told of, and ignored as TensorFlow does."""
        path = self.write("a.tfrecord", record(b"abc") + bytes(5))
        done = self.leat("inspect", path)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1))
        self.assert_named(path, done.stderr)
        self.assert_named("5", done.stderr)
        self.assertIn("1 records in 24 bytes", done.stdout)

    def test_no_records(self):
        self.assertIn(": 0 records in 0 bytes", self.succeed("inspect", self.write("a.tfrecord", b"")))

    def test_truncated(self):
        data = record(example(label=3)) + record(example(label=4))
        path = self.write("a.tfrecord", data[:-3])
        first = len(record(example(label=3)))
        done = self.fail_with(1, path, "inspect", path)
        self.assertIn("truncated", done.stderr)
        self.assert_named(str(first), done.stderr)
        self.assertNotIn("checksums good", done.stdout)

    def test_wrong_checksum(self):
        data = bytearray(record(example(label=3)))
        data[14] ^= 1
        path = self.write("a.tfrecord", bytes(data))
        done = self.fail_with(1, path, "inspect", path)
        self.assert_named("checksum", done.stderr)
        self.assert_named("0", done.stderr)

    def test_huge_length(self):
        import tool
        size = struct.pack("<Q", 1 << 62)
        data = size + struct.pack("<I", tool.masked_crc(size)) + b"abc"
        path = self.write("a.tfrecord", data)
        done = self.fail_with(1, path, "inspect", path)
        self.assertIn(str(1 << 62), done.stderr.replace(",", ""))

    def test_one_bad_file_of_two(self):
        """The second file is inspected although the first is missing."""
        done = self.fail_with(1, "nowhere.tfrecord", "inspect", "nowhere.tfrecord", TRAIN)
        self.assertIn("1,437 records", done.stdout)


if __name__ == "__main__":
    unittest.main()
