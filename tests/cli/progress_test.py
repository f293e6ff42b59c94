#!/usr/bin/env python3
"""Progress of long work: a line on a terminal, which is gone in the end, and nothing elsewhere."""
import json
import os
import pty
import re
import struct
import subprocess
import unittest
import zlib

from tool import LEAT, ROOT, ToolTest


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def large_png(side):
    """Pixels that are dear to unpack, as many as a camera's."""
    row = b"\0" + bytes((i * i + i // 7) % 251 for i in range(3 * side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(row * side, 1))
            + chunk(b"IEND", b""))


class ProgressTest(ToolTest):
    def on_a_terminal(self, *arguments, term="xterm"):
        """What the tool writes on a standard error that is a terminal, and its standard output."""
        ours, its = pty.openpty()
        process = subprocess.Popen([LEAT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=its,
                                   cwd=ROOT, env={**os.environ, "TERM": term})
        os.close(its)
        said = b""
        while True:
            try:
                said += os.read(ours, 65536)
            except OSError:  # nobody has the other end any more
                break
        out = process.communicate(timeout=240)[0].decode()
        os.close(ours)
        self.assertEqual(process.returncode, 0, said)
        return said.decode(), out

    def pictures(self, count):
        """A folder of two classes with so many links to one picture."""
        folder = os.path.join(self.folder, "in")
        for name in ("cat", "dog"):
            os.makedirs(os.path.join(folder, name))
        first = os.path.join(folder, "cat", "0000.png")
        with open(first, "wb") as file:
            file.write(large_png(1000))
        for i in range(1, count):
            os.link(first, os.path.join(folder, ("cat", "dog")[i % 2], "%04d.png" % i))
        return folder

    def test_bars_count_to_the_end(self):
        folder = self.pictures(200)
        said, out = self.on_a_terminal("convert", folder, os.path.join(self.folder, "out"))
        self.assertIn("200 pictures of 2 classes", out)
        lines = [line for line in said.split("\r\x1b[K") if line]
        self.assertTrue(lines, "no line came; is this machine so fast?")
        numbers = []
        for line in lines:
            found = re.fullmatch(r" *(\d+)% \[(#*)(-*)\] ([\d,]+) of 200 pictures, (\d+):(\d\d) left", line)
            self.assertIsNotNone(found, line)
            share, full, rest, number = int(found[1]), len(found[2]), len(found[3]), int(found[4])
            self.assertEqual((share, full, full + rest), (number * 100 // 200, number * 24 // 200, 24))
            numbers.append(number)
        self.assertEqual(numbers, sorted(numbers))
        self.assertTrue(said.endswith("\r\x1b[K"), "the line is gone in the end")

    def test_nothing_where_there_is_no_terminal(self):
        folder = self.pictures(80)
        self.succeed("convert", folder, os.path.join(self.folder, "out"))  # which wants no word on standard error
        said, _ = self.on_a_terminal("convert", folder, os.path.join(self.folder, "dumb"), term="dumb")
        self.assertEqual(said, "")

    def test_short_work_says_nothing(self):
        plan = self.write("plan.json", json.dumps({"op": "range", "args": {"stop": 10}}).encode())
        said, out = self.on_a_terminal("run", "--count", plan)
        self.assertEqual((said, out), ("", "10\n"))

    def test_elements_without_a_known_end(self):
        plan = self.write("plan.json", json.dumps({"op": "range", "args": {"stop": 10**12}}).encode())
        said, out = self.on_a_terminal("run", "--count", "--limit", "30000000", plan)
        self.assertEqual(out, "30000000\n")
        self.assertRegex(said, r"^(\r\x1b\[K[\d,]+ elements)+\r\x1b\[K$")

    def test_messages_stand_on_lines_of_their_own(self):
        folder = self.pictures(100)
        for i in range(0, 200, 2):
            with open(os.path.join(folder, "dog", "bad%04d.png" % i), "wb") as file:
                file.write(b"no picture")
        said, _ = self.on_a_terminal("convert", "--skip-bad", folder, os.path.join(self.folder, "out"))
        for line in said.split("\n"):
            self.assertRegex(line.rstrip("\r"), r"^((\r\x1b\[K[^\r]*)*\r\x1b\[K)?(leat: .*)?$")
        self.assertGreaterEqual(said.count("leat: "), 100)


if __name__ == "__main__":
    unittest.main()
