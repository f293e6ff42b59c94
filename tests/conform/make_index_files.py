#!/usr/bin/env python3
"""Writes FILE.leat-index beside record files, independently of leat: make_index_files.py FILE..."""
import struct
import sys

TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    TABLE.append(number)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def index_of(data):
    """The index of a record file's bytes."""
    starts, at = [], 0
    while at < len(data):
        starts.append(at)
        at += 16 + struct.unpack_from("<Q", data, at)[0]
    assert at == len(data)
    head, blocks = b"leat-index\r\n" + struct.pack("<I", 1), b""
    for number, first in enumerate(range(0, len(starts), 512)):
        values = (starts + [at])[first:first + 513]
        block = struct.pack("<%dQ" % len(values), *values)
        blocks += block + struct.pack("<I", masked(block) ^ number)
    tail = struct.pack("<16sQQII", b"tfrecord", len(data), len(starts), crc32c(data[:4096]), crc32c(data[-4096:]))
    return head + blocks + tail + struct.pack("<I", masked(head + tail))


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        index = index_of(file.read())
    with open(path + ".leat-index", "wb") as file:
        file.write(index)
