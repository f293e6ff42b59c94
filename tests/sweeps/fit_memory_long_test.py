"""Two epochs of fit over 4 GB of records, made on the fly, keep the process below 1.5 GB. Needs .venv."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", ROOT / "build"))
PYTHON = pathlib.Path(os.environ.get("LEAT_TEST_PYTHON", ROOT / ".venv/bin/python"))
SHARDS, BYTES, MOST = 8, 4_000_000_000, 1_500_000_000

# A shard after the other is written by the process that will fit, as a user's program would.
PROGRAM = r'''
import resource, sys
import numpy as np
import leat as tf
from leat import keras

folder, shards, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
SIDE = 128
row = SIDE * SIDE * 3
rows = size // shards // (row + 60)
rng = np.random.default_rng(1)
noise = rng.integers(0, 256, 4 * row, np.uint8).tobytes()
paths, written = [], 0
for shard in range(shards):
    paths.append(f"{folder}/{shard}.tfrecord")
    with tf.io.TFRecordWriter(paths[-1]) as writer:
        for i in range(rows):
            at = int(rng.integers(0, 3 * row))
            features = {"x": tf.train.Feature(bytes_list=tf.train.BytesList(value=[noise[at:at + row]])),
                        "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 10]))}
            one = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
            writer.write(one)
            written += len(one) + 16
FEATURES = {"x": tf.io.FixedLenFeature([], tf.string), "y": tf.io.FixedLenFeature([], tf.int64)}

def parse(record):
    parsed = tf.io.parse_single_example(record, FEATURES)
    pixels = tf.reshape(tf.io.decode_raw(parsed["x"], tf.uint8), [SIDE, SIDE, 3])
    return tf.cast(pixels, tf.float32) / 255.0, parsed["y"]

ds = tf.data.TFRecordDataset(paths, num_parallel_reads=2).shuffle(1000, seed=1)
ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(64).prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([keras.Input((SIDE, SIDE, 3)), keras.layers.MaxPooling2D(4), keras.layers.Conv2D(8, 3),
                          keras.layers.BatchNormalization(), keras.layers.ReLU(),
                          keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(ds, epochs=2, verbose=0)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(written, len(history.history["loss"]), model.optimizer.iterations.numpy(), -(-rows * shards // 64), peak)
'''


def reason():
    """Why the test cannot run; None: it can."""
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True).returncode:
        return "there is no numpy in .venv; `make deps` installs it"
    if not (BUILD / "python/leat/_native.abi3.so").exists():
        return "the Python package was not built"
    if shutil.disk_usage(tempfile.gettempdir()).free < BYTES * 1.2:
        return "there are not 5 GB free in %s" % tempfile.gettempdir()
    return None


@unittest.skipIf(reason(), reason())
class FitMemory(unittest.TestCase):
    def test_two_epochs_over_4_gb(self):
        folder = tempfile.mkdtemp(prefix="leat-fit-")
        self.addCleanup(shutil.rmtree, folder)
        environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
        done = subprocess.run([PYTHON, "-B", "-c", PROGRAM, folder, str(SHARDS), str(BYTES)], capture_output=True,
                              text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-4000:])
        written, epochs, steps, batches, peak = map(int, done.stdout.split())
        self.assertGreater(written, 0.99 * BYTES)
        self.assertEqual((epochs, steps), (2, 2 * batches))
        self.assertLess(peak, MOST, "the process had %.2f GB" % (peak * 1e-9))
        print("peak %.2f GB" % (peak * 1e-9), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
