#!/usr/bin/env python3
"""leat inspect: counts, sizes, features, and files that are damaged."""
import base64
import gzip
import os
import re
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

    def test_pages(self):
        """--html: what is printed, with pictures and histograms; nothing of the records is markup."""
        page = os.path.join(self.folder, "page.html")
        self.succeed("inspect", "-n2", "--html", page, TRAIN)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("<tr><th>0</th>") + text.count("<tr><th>1</th>"), 2)
        self.assertNotIn("<tr><th>2</th>", text)
        found = example_of(records_of(TRAIN)[0])
        self.assertIn("data:image/png;base64,%s" % base64.b64encode(found).decode(), text)
        self.assertIn("1,437 records, checksums good", text)
        self.assertIn("default-src 'none'", text)
        # Labels of ten digits: the range, the mean, and a bar for each of them.
        self.assertRegex(text, r"<td>label</td><td>int64</td><td>1437</td><td>1 to 1</td><td>0 to 9, mean 4\.\d+</td>")
        self.assertEqual(len(re.findall(r'<svg ', text)), len(re.findall("</svg>", text)))
        self.assertNotIn("<script", text)
        self.assertNotIn("src=\"http", text)

    def test_pages_escape(self):
        name = b"<script>alert('a')</script>"
        evil = field(1, field(1, field(1, name) + field(2, field(1, field(1, b'"<img src=x onerror=alert(1)>\0&')))))
        path, page = self.write("<b>.tfrecord", record(evil) + record(b"</td><script>")), os.path.join(self.folder, "p.html")
        self.succeed("inspect", "--html", page, path)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(re.findall(r"<(?!/?(?:html|head|meta|title|style|body|h2|p|table|tr|th|td|b|br|svg|rect)\b)(?!!DOCTYPE)", text), [])
        self.assertIn("&#60;script&#62;alert(&#39;a&#39;)&#60;/script&#62;", text)
        self.assertIn("&#34;&#60;img src=x onerror=alert(1)&#62;\\x00&#38;", text)
        self.assertIn("no tf.train.Example", text)
        self.assertNotIn("<b>.tfrecord", text)

    def test_pages_are_bounded_and_tell_of_failures(self):
        page = os.path.join(self.folder, "page.html")
        one = field(1, field(1, field(1, b"x") + field(2, field(1, b"".join(field(1, b"y" * 290) for _ in range(8))))))
        path = self.write("many.tfrecord", record(one) * 3000)
        done = self.leat("inspect", "-n3000", "--html", page, path, "nowhere.tfrecord")
        self.assertEqual(done.returncode, 1)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(1 << 20 < len(text) < 3 << 20, len(text))
        self.assertIn("records are left out", text)
        self.assertIn("nowhere.tfrecord", text)
        self.assertTrue(text.endswith("</body></html>\n"))
        self.fail_with(1, "nofolder", "inspect", "--html", os.path.join(self.folder, "nofolder", "p.html"), TRAIN)
        self.fail_with(2, "--html", "inspect", "--html", path, TRAIN)
        self.assertEqual(os.path.getsize(path), 3000 * (len(one) + 16))


def example_of(data):
    """The first PNG in a record."""
    at = data.index(b"\x89PNG\r\n")
    return data[at:data.index(b"IEND", at) + 8]


if __name__ == "__main__":
    unittest.main()
