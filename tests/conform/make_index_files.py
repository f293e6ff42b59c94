#!/usr/bin/env python3
"""Writes FILE.leat-index beside record files and tar shards, independently of leat: make_index_files.py FILE..."""
import io
import struct
import sys
import tarfile

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


def records_of(data):
    """Where the records of a TFRecord file start, and where the last one ends."""
    starts, at = [], 0
    while at < len(data):
        starts.append(at)
        at += 16 + struct.unpack_from("<Q", data, at)[0]
    assert at == len(data)
    return starts, at


def samples_of(data):
    """Where the samples of a tar shard start, and where its end mark stands."""
    starts, last, end = [], None, 0
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            end = member.offset_data + (member.size + 511) // 512 * 512
            folder, _, base = member.name.rpartition("/")
            stem, dot, _ = base.partition(".")
            if not member.isfile() or not dot or not stem or base.startswith("__"):
                continue
            if not starts or (folder, stem) != last:
                starts.append(member.offset)
            last = folder, stem
    return starts, end


def index_of(data, kind):
    """The index of a file's bytes."""
    starts, at = (samples_of if kind == b"tar" else records_of)(data)
    head, blocks = b"leat-index\r\n" + struct.pack("<I", 1), b""
    for number, first in enumerate(range(0, len(starts), 512)):
        values = (starts + [at])[first:first + 513]
        block = struct.pack("<%dQ" % len(values), *values)
        blocks += block + struct.pack("<I", masked(block) ^ number)
    tail = struct.pack("<16sQQII", kind, len(data), len(starts), crc32c(data[:4096]), crc32c(data[-4096:]))
    return head + blocks + tail + struct.pack("<I", masked(head + tail))


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        index = index_of(file.read(), b"tar" if path.endswith(".tar") else b"tfrecord")
    with open(path + ".leat-index", "wb") as file:
        file.write(index)
