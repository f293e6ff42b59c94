#!/usr/bin/env python3
"""Writes the tar shards of the conformance cases with Python's own tarfile: make_tar_files.py FOLDER."""
import gzip
import io
import os
import sys
import tarfile

LONG = "deep/" + "folder/" * 20 + "sample-with-a-long-name-" + "n" * 40


def archive(members, form=tarfile.USTAR_FORMAT):
    """The bytes of an archive with two blocks of zeros at its end."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            if data is None:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            else:
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        end = tar.offset
    return out.getvalue()[:end] + bytes(1024)


def sample(key, label, picture=b"", extension="jpg"):
    return [(key + "." + extension, picture or ("picture of " + key).encode()), (key + ".cls", str(label).encode())]


FIRST = (sample("a/0001", 3) + sample("a/0002", 5, b"", "PNG") + sample("a/0003", 7, b"x" * 700)
         + [("a/0003.seg.png", b"mask")])
SECOND = ([("./", None), ("README", b"no sample"), (".hidden.jpg", b"h"), ("__meta__.json", b"{}")]
          + sample("b/10", 1) + [("b/sub/", None)] + sample("b/11", 2, b"y" * 512))
LACKING = sample("c/1", 1) + [("c/2.jpg", b"alone")] + sample("c/3", 3) + [("c/4.cls", b"4")]
TWICE = sample("d/1", 1) + [("d/2.jpg", b"one"), ("d/2.jpg", b"two"), ("d/2.cls", b"2")] + sample("d/3", 3)

FILES = {
    "first.tar": archive(FIRST),
    "second.tar": archive(SECOND),
    "empty.tar": bytes(1024),
    "lacking.tar": archive(LACKING),
    "twice.tar": archive(TWICE),
    "long_pax.tar": archive(sample(LONG, 1) + sample("short", 2), tarfile.PAX_FORMAT),
    "long_gnu.tar": archive(sample(LONG, 1) + sample("short", 2), tarfile.GNU_FORMAT),
    "prefixed.tar": archive(sample("p" * 60 + "/" + "q" * 70, 1)),
    "first.tar.gz": gzip.compress(archive(FIRST), mtime=0),
    "no_end.tar": archive(FIRST)[:-1024],
    "cut_data.tar": archive(FIRST)[:512 + 1024 + 1024 + 512 + 300],
    "cut_header.tar": archive(SECOND)[:-1024 - 512 - 200],
    "no_tar.tar": b"this is no archive" * 100,
    "zero_bytes.tar": b"",
}
damaged = bytearray(archive(FIRST))
damaged[4 * 512 + 20] ^= 1
FILES["damaged.tar"] = bytes(damaged)

if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, data in FILES.items():
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(data)
