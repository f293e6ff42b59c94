#!/usr/bin/env python3
"""Make the corpora of the benchmarks where they are missing.

    prepare.py --build BUILD [--data DIR] [--count 512]

photos/   pictures by tools/make_photos.py where Pillow and the packages of wallpapers can be had; else pictures/ of make_data.c
small/    1,000,000 records in 8 shards: tf.train.Example of id, label (int64), x (16 floats), data (100 bytes)
large/    2,000 records in 4 shards: tf.train.Example of data (100,000 bytes) and label
gzip/     two shards of small/, packed by gzip
sixteen/  320,000 of them in 16 shards, made when a benchmark first asks for them

DIR is $LEAT_BENCH_DATA, or bench-data in the build folder: 0.6 GB. Each corpus is made in a
folder beside its place and then renamed, so an interrupted run leaves nothing half-made.
"""
import argparse
import glob
import gzip
import importlib.util
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PHOTOS = os.path.join(HERE, "..", "tools", "make_photos.py")


def default_folder(build):
    return os.environ.get("LEAT_BENCH_DATA", os.path.join(build, "bench-data"))


def make(place, command):
    """Run a command that fills the folder named by its argument OUT, then put the folder in its place."""
    if os.path.isdir(place):
        return True
    half = place + ".half"
    shutil.rmtree(half, ignore_errors=True)
    done = subprocess.run([half if word == "OUT" else word for word in command], capture_output=True, text=True)
    if done.returncode:
        shutil.rmtree(half, ignore_errors=True)
        print("prepare: %s: %s" % (command[0], done.stderr.strip()[-300:]), file=sys.stderr)
        return False
    os.rename(half, place)
    return True


def pictures(build, data, count=512):
    """What the pictures are, and their files in an order that mixes the classes."""
    maker = os.path.join(build, "bench", "make_data")
    if importlib.util.find_spec("PIL") and make(os.path.join(data, "photos"),
                                                [sys.executable, PHOTOS, "OUT", "--count", str(count)]):
        kind, folder = "photographs", os.path.join(data, "photos", "photos")
    else:
        folder = os.path.join(data, "pictures")
        kind = "synthetic"
        if not make(folder, [maker, "images", "OUT", str(count)]):
            sys.exit("prepare: no pictures could be made")
    return kind, sorted(glob.glob(os.path.join(folder, "*", "*.jpg")), key=os.path.basename)


def records(build, data, kind="small"):
    folder = os.path.join(data, kind)
    arguments = {"small": ["records", "OUT", "1000000", "8"], "large": ["large", "OUT", "2000", "4"],
                 "sixteen": ["records", "OUT", "320000", "16"]}[kind]
    if not make(folder, [os.path.join(build, "bench", "make_data")] + arguments):
        sys.exit("prepare: no records could be made")
    return sorted(glob.glob(os.path.join(folder, "*.tfrecord")))


def packed_records(build, data):
    """Record files packed by gzip."""
    folder = os.path.join(data, "gzip")
    if not os.path.isdir(folder):
        half = folder + ".half"
        shutil.rmtree(half, ignore_errors=True)
        os.makedirs(half)
        for path in records(build, data)[:2]:
            with open(path, "rb") as file, gzip.open(os.path.join(half, os.path.basename(path) + ".gz"), "wb", 6) as out:
                shutil.copyfileobj(file, out, 1 << 20)
        os.rename(half, folder)
    return sorted(glob.glob(os.path.join(folder, "*.gz")))


def write_list(data, name, files):
    path = os.path.join(data, name + ".list")
    with open(path, "w", encoding="utf-8") as out:
        out.write("".join(file + "\n" for file in files))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--data")
    parser.add_argument("--count", type=int, default=512)
    args = parser.parse_args()
    data = args.data or default_folder(args.build)
    os.makedirs(data, exist_ok=True)
    kind, files = pictures(args.build, data, args.count)
    print("%d %s pictures, %d record files in %s" % (len(files), kind, len(records(args.build, data)), data))


if __name__ == "__main__":
    main()
