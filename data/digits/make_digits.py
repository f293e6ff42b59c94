#!/usr/bin/env python3
"""Write the digits data set of this folder from scikit-learn's copy. Needs scikit-learn and Pillow.

    make_digits.py [OUT]        OUT defaults to the folder of this script
"""
import csv
import io
import os
import shutil
import sys

from PIL import Image
from sklearn.datasets import load_digits

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
import make_photos as writer  # The TFRecord writer lives there.

TRAIN = 1437          # the first 1437 are train, the last 360 are test
SAMPLE = 20           # pictures of each class in sample/


def png(pixels):
    out = io.BytesIO()
    Image.frombytes("L", (8, 8), pixels).save(out, "PNG")
    return out.getvalue()


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else HERE
    os.makedirs(out, exist_ok=True)
    digits = load_digits()
    # 0..16 becomes 0..255: round(v * 255 / 16), half up, in integers.
    pixels = [bytes((int(v) * 255 + 8) // 16 for v in row) for row in digits.data]
    labels = [int(label) for label in digits.target]
    assert len(pixels) == 1797

    for name, part in (("train", range(TRAIN)), ("test", range(TRAIN, 1797))):
        with open(os.path.join(out, "digits-%s.tfrecord" % name), "wb") as file:
            for i in part:
                writer.write_record(file, writer.example(
                    {"image/raw": pixels[i], "image/encoded": png(pixels[i]), "label": labels[i]}))

    with open(os.path.join(out, "digits.csv"), "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["label"] + ["p%d" % i for i in range(64)])
        for i in range(1797):
            rows.writerow([labels[i]] + list(pixels[i]))

    sample = os.path.join(out, "sample")
    shutil.rmtree(sample, ignore_errors=True)
    count = [0] * 10
    for i in range(1797):
        if count[labels[i]] < SAMPLE:
            count[labels[i]] += 1
            folder = os.path.join(sample, str(labels[i]))
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "digit_%04d.png" % i), "wb") as file:
                file.write(png(pixels[i]))
    print("train %d, test %d, sample %d" % (TRAIN, 1797 - TRAIN, sum(count)))


if __name__ == "__main__":
    main()
