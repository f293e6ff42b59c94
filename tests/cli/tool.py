"""What the tests of the tool share: running it, and making record files and pictures by hand.

The build folder comes from the environment variable LEAT_BUILD, which ctest sets. Records and
pictures are written here with Python's own library, independently of leat.
"""
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build"))
LEAT = os.path.join(BUILD, "bin", "leat")
DIGITS = os.path.join(ROOT, "data", "digits")


def setting(name):
    """A value of the build folder's CMakeCache.txt."""
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(r"(?m)^%s:\w+=(.*)$" % name, file.read())
    return found[1] if found else ""


class ToolTest(unittest.TestCase):
    """A test with a temporary folder, self.folder."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def leat(self, *arguments, stdin=b"", timeout=240):
        """Run the tool; the result's stdout and stderr are text."""
        done = subprocess.run([LEAT, *arguments], input=stdin, capture_output=True, timeout=timeout, cwd=ROOT)
        done.stdout = done.stdout.decode()
        done.stderr = done.stderr.decode()
        return done

    def succeed(self, *arguments, **more):
        done = self.leat(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def assert_named(self, keyword, said):
        """A keyword stands in what was said, as a whole word: no part of a longer one."""
        self.assertRegex(said, r"(?<!\w)%s(?!\w)" % re.escape(keyword) if keyword[-1].isalnum() else re.escape(keyword))

    def fail_with(self, code, keyword, *arguments, **more):
        """The tool must end with this status and name this on standard error, as `leat: ...`."""
        done = self.leat(*arguments, **more)
        self.assert_named(keyword, done.stderr)
        self.assertEqual(done.returncode, code, done.stderr)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("leat: "), line)
        return done

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return path


CRC_TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    CRC_TABLE.append(number)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    """One record of a TFRecord file."""
    size = struct.pack("<Q", len(data))
    return size + struct.pack("<I", masked_crc(size)) + data + struct.pack("<I", masked_crc(data))


def records_of(path):
    """The records of a TFRecord file, unchecked."""
    with open(path, "rb") as file:
        data = file.read()
    found, at = [], 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        found.append(data[at + 12:at + 12 + size])
        at += 16 + size
    return found


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, data):
    """A length-delimited field of a protobuf message."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def example(**features):
    """A tf.train.Example; `image` stands for image/encoded. Bytes make a BytesList, a number an Int64List."""
    entries = b""
    for name, value in features.items():
        if isinstance(value, bytes):
            feature = field(1, field(1, value))
        else:
            feature = field(3, field(1, varint(value & (1 << 64) - 1)))
        key = "image/encoded" if name == "image" else name
        entries += field(1, field(1, key.encode()) + field(2, feature))
    return field(1, entries)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, pixels=None):
    """A grey PNG; without pixels the picture has only one row of data, whatever its height."""
    rows = pixels if pixels is not None else [bytes(width)]
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def solid(width, height, value):
    """A grey PNG of one value."""
    return png(width, height, [bytes([value]) * width] * height)
