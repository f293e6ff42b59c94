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

    def until_shown(self, first, command):
        """What `command(count)` says, for the first count that takes long enough for a line."""
        for count in (first, 4 * first, 16 * first, 64 * first):
            said, out = self.on_a_terminal(*command(count))
            if said:
                return count, said, out
        self.fail("nothing took half a second")

    def pictures(self, count):
        """A folder of two classes with so many links to one picture."""
        folder = os.path.join(self.folder, "in%d" % count)
        for name in ("cat", "dog"):
            os.makedirs(os.path.join(folder, name))
        first = os.path.join(folder, "cat", "0000.png")
        with open(first, "wb") as file:
            file.write(large_png(1000))
        for i in range(1, count):
            os.link(first, os.path.join(folder, ("cat", "dog")[i % 2], "%04d.png" % i))
        return folder

    def out(self, name):
        return os.path.join(self.folder, name)

    def plan(self, value):
        return self.write("plan.json", json.dumps(value).encode())

    def test_bars_count_to_the_end(self):
        count, said, out = self.until_shown(60, lambda n: ("convert", self.pictures(n), self.out("to%d" % n)))
        self.assertIn("%s pictures of 2 classes" % format(count, ","), out)
        numbers = []
        for line in [line for line in said.split("\r\x1b[K") if line]:
            found = re.fullmatch(r" *(\d+)%% \[(#*)(-*)\] ([\d,]+) of %s pictures, (\d+):(\d\d) left"
                                 % format(count, ","), line)
            self.assertIsNotNone(found, line)
            share, full, rest = int(found[1]), len(found[2]), len(found[3])
            numbers.append(int(found[4].replace(",", "")))
            self.assertEqual((share, full, full + rest), (numbers[-1] * 100 // count, numbers[-1] * 24 // count, 24))
        self.assertEqual(numbers, sorted(numbers))
        self.assertTrue(said.endswith("\r\x1b[K"), "the line is gone in the end")
        # The same work where there is no terminal, or one that knows nothing.
        folder = os.path.join(self.folder, "in%d" % count)
        self.succeed("convert", folder, self.out("again"))  # which wants no word on standard error
        self.assertEqual(self.on_a_terminal("convert", folder, self.out("dumb"), term="dumb")[0], "")

    def test_short_work_says_nothing(self):
        said, out = self.on_a_terminal("run", "--count", self.plan({"op": "range", "args": {"stop": 10}}))
        self.assertEqual((said, out), ("", "10\n"))

    def test_elements(self):
        """Their end is the limit, or what the plan says of its length, or nobody knows it."""
        known = r"^(\r\x1b\[K *\d+%% \[#*-*\] [\d,]+ of %s elements, \d+:\d\d left)+\r\x1b\[K$"
        endless = self.plan({"op": "range", "args": {"stop": 10**15}})
        count, said, out = self.until_shown(4000000, lambda n: ("run", "--count", "--limit", str(n), endless))
        self.assertEqual(out, "%d\n" % count)
        self.assertRegex(said, known % format(count, ","))
        count, said, out = self.until_shown(4000000, lambda n: (
            "explain", self.plan({"op": "range", "args": {"stop": n}})))
        self.assertTrue(out.startswith("%d elements in" % count), out)
        self.assertRegex(said, known % format(count, ","))
        lines = {"op": "text_line_dataset", "args": {"filenames": [self.write("lines.txt", b"a\n" * 1000)]}}
        count, said, out = self.until_shown(1000, lambda n: (
            "run", "--count", self.plan({"op": "repeat", "input": lines, "args": {"count": n}})))
        self.assertEqual(out, "%d000\n" % count)
        self.assertRegex(said, r"^(\r\x1b\[K[\d,]+ elements)+\r\x1b\[K$")

    def test_messages_stand_on_lines_of_their_own(self):
        folder = self.pictures(100)
        for i in range(0, 200, 2):
            with open(os.path.join(folder, "dog", "bad%04d.png" % i), "wb") as file:
                file.write(b"no picture")
        said, _ = self.on_a_terminal("convert", "--skip-bad", folder, self.out("out"))
        for line in said.split("\n"):
            self.assertRegex(line.rstrip("\r"), r"^((\r\x1b\[K[^\r]*)*\r\x1b\[K)?(leat: .*)?$")
        self.assertGreaterEqual(said.count("leat: "), 100)


if __name__ == "__main__":
    unittest.main()
