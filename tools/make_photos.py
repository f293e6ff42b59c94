#!/usr/bin/env python3
"""Build an ImageNet-like corpus of JPEG photographs for benchmarks.

The pictures are random crops of photographs shipped in four Debian packages of wallpapers (free licences; see
usr/share/doc/<package>/copyright inside the cache). They are fetched with `apt-get download`, unpacked with `dpkg-deb -x`,
cropped, scaled to ImageNet's mix of sizes and encoded as JPEG. Nothing is installed. Needs Debian and Pillow.

    make_photos.py OUT [--count 512] [--size 500] [--quality 92] [--shards 8] [--seed 1] [--cache DIR] [--grain 1.0]

It writes
    OUT/photos/class_K/img_NNNN.jpg     NNNN counts over the whole corpus
    OUT/records/photos-SSSSS-of-NNNNN.tfrecord
                                        tf.train.Example: image/encoded (bytes), image/class/label (int64),
                                        image/filename (bytes, relative to OUT/photos); shuffled
    OUT/manifest.csv                    file,label,width,height,bytes,quality,kind,source

The same arguments and the same Pillow give the same bytes. Most pictures are 4:2:0 baseline; about 5 % are progressive,
2 % grey, 3 % 4:4:4.

Classes are the ten groups of source photographs in CLASSES below. Crops of one photograph can fall on both sides of a split,
so they are easy to tell apart: on 16 x 16 thumbnails a random forest trained on the first 80 % names 84 % of the rest.
"""
import argparse
import csv
import io
import os
import random
import struct
import subprocess
import sys
from functools import lru_cache

from PIL import Image, ImageChops, __version__ as pillow_version

Image.MAX_IMAGE_PIXELS = None

PACKAGES = ["lomiri-wallpapers-16.04", "lomiri-wallpapers-20.04", "mate-backgrounds", "plasma-workspace-wallpapers"]

# Name of the class, and (package number, path below usr/share) of its photographs.
_L = "backgrounds/%s"
_M = "backgrounds/mate/%s"
_P = "wallpapers/%s/contents/images/%s"
CLASSES = [
    ("mountain", [(0, _L % "picosdeeuropa_by_Aitzol_Berasategi.jpg"), (0, _L % "aitzgorri_by_Aitzol_Berasategi.jpg"),
                  (0, _L % "sunset_by_Aitzol_Berasategi.jpg")]),
    ("water", [(0, _L % "life_by_Aitzol_Berasategi.jpg"), (3, _P % ("BytheWater", "2560x1600.jpg")),
               (3, _P % ("Volna", "5120x2880.jpg"))]),
    ("flower", [(2, _M % "nature/Garden.jpg"), (2, _M % "nature/FreshFlower.jpg"),
                (2, _M % "nature/YellowFlower.jpg"), (2, _M % "nature/TwoWings.jpg")]),
    ("leaf", [(2, _M % "nature/Blinds.jpg"), (2, _M % "nature/GreenMeadow.jpg"), (2, _M % "nature/RainDrops.jpg"),
              (2, _M % "nature/LadyBird.jpg")]),
    ("seed", [(0, _L % "Dragonfly_by_Bolly.jpg"), (0, _L % "seeding_by_Clements_Engelhardt.jpg")]),
    ("forest", [(3, _P % ("Path", "2560x1600.jpg")), (3, _P % ("OneStandsOut", "2560x1600.jpg"))]),
    ("autumn", [(3, _P % ("Autumn", "2560x1600.jpg")), (3, _P % ("FallenLeaf", "2560x1600.jpg"))]),
    ("bird", [(1, _L % "Kleiber_by_Lukas_Baubkus.jpg"), (0, _L % "free_by_Peter_Nerlich.jpg")]),
    ("thing", [(0, _L % "Picture_0B_by_freespace.jpg"), (0, _L % "Picture_1A_by_freespace.jpg"),
               (0, _L % "Wine_by_Jakkub_Mede.jpg"), (0, _L % "greentock_by_Peter_Nerlich.jpg"),
               (3, _P % ("ColorfulCups", "2560x1600.jpg"))]),
    ("shore", [(0, _L % "Bridge_by_Sander_Klootwijk.jpg"), (0, _L % "friends_by_Aitzol_Berasategi.jpg"),
               (3, _P % ("EveningGlow", "2560x1600.jpg")), (2, _M % "nature/Dune.jpg")]),
]

# (weight, width, height) for a long side of 500; "long" scales with --size.
SHAPES = [(30, 500, 375), (14, 375, 500), (18, 500, 333), (8, 333, 500), (8, 400, 300), (6, 500, 500), (4, 640, 480),
          (3, 300, 225), (3, 250, 250), (3, 800, 600), (2, 1024, 768), (1, 500, 281)]


# ---- the packages -------------------------------------------------------------------------------------------------

def unpack(cache):
    """Return the folder of each package's files, downloading and unpacking what is not there yet."""
    os.makedirs(cache, exist_ok=True)
    roots = []
    for name in PACKAGES:
        root = os.path.join(cache, name)
        if not os.path.isdir(os.path.join(root, "usr", "share")):
            debs = [f for f in os.listdir(cache) if f.startswith(name + "_") and f.endswith(".deb")]
            if not debs:
                subprocess.run(["apt-get", "download", "-q", name], cwd=cache, check=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
                debs = [f for f in os.listdir(cache) if f.startswith(name + "_") and f.endswith(".deb")]
            subprocess.run(["dpkg-deb", "-x", os.path.join(cache, debs[0]), root], check=True)
        roots.append(root)
    return roots


# ---- TFRecord and tf.train.Example, written by hand ---------------------------------------------------------------

def _crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


def _python_crc32c(data, table=_crc_table()):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


try:
    from crc32c import crc32c
except ImportError:
    try:
        from google_crc32c import value as crc32c
    except ImportError:
        crc32c = _python_crc32c


def masked_crc(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def write_record(out, data):
    length = struct.pack("<Q", len(data))
    out.write(length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data)))


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, payload):
    """A length-delimited protobuf field."""
    return bytes([number << 3 | 2]) + varint(len(payload)) + payload


def example(features):
    """Serialise {name: bytes or int or list of float} as a tf.train.Example, keys in sorted order."""
    entries = b""
    for name in sorted(features):
        value = features[name]
        if isinstance(value, bytes):
            feature = field(1, field(1, value))
        elif isinstance(value, int):
            feature = field(3, field(1, varint(value & 0xFFFFFFFFFFFFFFFF)))
        else:
            feature = field(2, field(1, struct.pack("<%df" % len(value), *value)))
        entries += field(1, field(1, name.encode()) + field(2, feature))
    return field(1, entries)


# ---- the pictures -------------------------------------------------------------------------------------------------

@lru_cache(maxsize=2)
def load(path):
    with Image.open(path) as image:
        return image.convert("RGB")


def add_grain(image, sigma, seed):
    """Add the luminance noise of a sensor; wallpapers have less of it than snapshots, so they compress too well."""
    if sigma <= 0:
        return image
    rng = random.Random(seed)
    tile = Image.frombytes("L", (256, 256), bytes(
        min(255, max(0, round(128 + rng.gauss(0, sigma)))) for _ in range(65536)))
    noise = Image.new("L", image.size)
    for y in range(0, image.size[1], 256):
        for x in range(0, image.size[0], 256):
            noise.paste(tile.transpose(rng.randrange(7)), (x, y))
    luma, blue, red = image.convert("YCbCr").split()
    luma = ImageChops.add(luma, noise, 1, -128)
    return Image.merge("YCbCr", (luma, blue, red)).convert("RGB")


def make_picture(path, rng, long_side, quality, grain):
    source = load(path)
    _, width, height = rng.choices(SHAPES, [s[0] for s in SHAPES])[0]
    width, height = round(width * long_side / 500), round(height * long_side / 500)
    fit = min(source.size[0] / width, source.size[1] / height)
    zoom = min(fit, max(1.0, fit ** rng.uniform(0.4, 1.0)))     # mostly far away: detail per pixel as in snapshots
    box_w, box_h = width * zoom, height * zoom
    left, top = rng.uniform(0, source.size[0] - box_w), rng.uniform(0, source.size[1] - box_h)
    picture = source.resize((width, height), Image.LANCZOS, box=(left, top, left + box_w, top + box_h))
    if rng.random() < 0.5:
        picture = picture.transpose(Image.FLIP_LEFT_RIGHT)
    picture = add_grain(picture, grain * rng.uniform(3.0, 18.0), rng.randrange(1 << 30))
    used = max(60, min(97, round(rng.gauss(quality, 4))))
    kind = rng.random()
    options = {"quality": used, "subsampling": "4:2:0"}
    name = "baseline"
    if kind < 0.05:
        options["progressive"], name = True, "progressive"
    elif kind < 0.07:
        picture, name = picture.convert("L"), "grey"
        del options["subsampling"]
    elif kind < 0.10:
        options["subsampling"], name = "4:4:4", "444"
    out = io.BytesIO()
    picture.save(out, "JPEG", **options)
    return out.getvalue(), picture.size, used, name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--count", type=int, default=512)
    parser.add_argument("--size", type=int, default=500, help="long side of the most common pictures")
    parser.add_argument("--quality", type=int, default=92, help="mean JPEG quality (standard deviation 4)")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", help="folder of the .deb files (default OUT/cache)")
    parser.add_argument("--grain", type=float, default=1.0, help="strength of the added sensor noise; 0 for none")
    args = parser.parse_args()

    roots = unpack(args.cache or os.path.join(args.out, "cache"))
    rng = random.Random(args.seed)
    jobs = []
    for number in range(args.count):
        label = number % len(CLASSES)
        package, path = rng.choice(CLASSES[label][1])
        jobs.append((os.path.join(roots[package], "usr", "share", path), number, label, rng.randrange(1 << 60)))
    missing = sorted({job[0] for job in jobs if not os.path.exists(job[0])})
    if missing:
        sys.exit("make_photos: not in the packages of this Debian release: " + ", ".join(missing))

    rows = [None] * args.count
    data = [None] * args.count
    for path, number, label, seed in sorted(jobs):            # by source, so that each is decoded once
        data[number], size, quality, kind = make_picture(path, random.Random(seed), args.size, args.quality, args.grain)
        name = "class_%d/img_%04d.jpg" % (label, number)
        full = os.path.join(args.out, "photos", name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as out:
            out.write(data[number])
        rows[number] = [name, label, size[0], size[1], len(data[number]), quality, kind, path.split("/usr/share/")[-1]]

    order = list(range(args.count))
    random.Random(args.seed + 1).shuffle(order)
    os.makedirs(os.path.join(args.out, "records"), exist_ok=True)
    for shard in range(args.shards):
        name = "photos-%05d-of-%05d.tfrecord" % (shard, args.shards)
        with open(os.path.join(args.out, "records", name), "wb") as out:
            for number in order[shard::args.shards]:
                write_record(out, example({"image/encoded": data[number], "image/class/label": rows[number][1],
                                           "image/filename": rows[number][0].encode()}))
    with open(os.path.join(args.out, "manifest.csv"), "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["file", "label", "width", "height", "bytes", "quality", "kind", "source"])
        writer.writerows(rows)

    sizes = sorted(row[4] for row in rows)
    pixels = sum(row[2] * row[3] for row in rows)
    kinds = {kind: sum(row[6] == kind for row in rows) for kind in ("baseline", "progressive", "grey", "444")}
    print("%d pictures in %d classes (%s), Pillow %s" % (
        args.count, len(CLASSES), " ".join(name for name, _ in CLASSES), pillow_version))
    print("bytes: mean %d, median %d, min %d, max %d, total %.1f MB; %.2f bytes per pixel" % (
        sum(sizes) / len(sizes), sizes[len(sizes) // 2], sizes[0], sizes[-1], sum(sizes) / 1e6, sum(sizes) / pixels))
    print("mean size %.0f x %.0f; %s; %d shards" % (
        sum(r[2] for r in rows) / len(rows), sum(r[3] for r in rows) / len(rows),
        ", ".join("%s %d" % item for item in kinds.items()), args.shards))


if __name__ == "__main__":
    main()
