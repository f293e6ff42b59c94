"""Reads changed files of one kind, as a process of its own: mutated_files.py KIND COUNT SEED FOLDER.

Each file is refused by a ValueError, TypeError or, of .npy, one of leat's errors, or it is read; a refusal changes no
variable. The process has 2 GiB of addresses beyond what it begins with, takes 200 MiB at most, and opens nothing
outside of the folder. It prints how many files were refused; the seed and the number of a file make it again.
"""

import io
import json
import os
import random
import resource
import sys
import warnings
import zipfile

import numpy as np

import leat as tf
from leat import keras
from leat.keras import layers

KIND, COUNT, SEED, FOLDER = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
NAMES = {"config": "m.keras", "keras": "m.keras", "h5": "m.weights.h5", "old": "m.h5",
         "safetensors": "m.safetensors", "npy": "m.npy"}
INTERESTING = [0, 1, 2, 3, 127, 128, 255, 256, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 63 - 1,
               2 ** 64 - 1]
WORDS = ["../../etc/hostname", "/etc/hostname", "__class__", "os", "system", "", "keras.layers", "Lambda", "Dense",
         "StringLookup", "function", "__lambda__", "__numpy__", -1, 0, 1 << 40, 1e308, None, True, [], {}]


def model():
    made = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="relu"), layers.BatchNormalization(),
                             layers.Dense(2)])
    made.compile("adam", "mse", metrics=["mae"])
    made.optimizer.build(made.trainable_variables)
    return made


def content(one):
    """A whole file of the kind."""
    path = os.path.join(FOLDER, NAMES[KIND])
    if KIND == "npy":
        np.save(path, np.arange(12, dtype=np.float32).reshape(4, 3))
    else:
        one.save_weights(path) if KIND in ("h5", "safetensors") else one.save(path)
    with open(path, "rb") as file:
        return file.read()


def changed(data, rng):
    """Bytes with one to six changes: bits, numbers, pieces that go, come twice or change places."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at, size = rng.randrange(len(data)), rng.choice((1, 2, 4, 8))
        way = rng.randrange(10)
        if way < 4:
            data[at] ^= 1 << rng.randrange(8)
        elif way < 8:
            data[at:at + size] = (rng.choice(INTERESTING) & (1 << 8 * size) - 1).to_bytes(size, "little")
        elif way == 8:
            other, size = rng.randrange(len(data)), rng.randint(1, 64)
            data[at:at + size] = data[other:other + size]
        else:
            del data[at:at + rng.randint(1, 64)]
        if not data:
            return b""
    return bytes(data)


def places(value, found):
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            places(value[key], found)
    return found


def with_config(data, rng):
    """A `.keras` file whose configuration has other values in one to three places."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as made:
        for name in source.namelist():
            text = source.read(name)
            if name == "config.json":
                config = json.loads(text)
                for _ in range(rng.randint(1, 3)):
                    holder, key = rng.choice(places(config, []))
                    holder[key] = rng.choice([*WORDS, rng.choice(INTERESTING), rng.choice(places(config, []))[1]])
                text = json.dumps(config)
            made.writestr(name, text)
    return out.getvalue()


def read(path, target):
    if KIND == "npy":
        list(tf.data.experimental.numpy_dataset([path]))
    elif KIND == "config" or KIND in ("keras", "old") and SEED % 2:
        keras.models.load_model(path)
    else:
        target.load_weights(path)


def main():
    target = model()
    whole, path = content(target), os.path.join(FOLDER, NAMES[KIND])
    read(path, target)  # everything that is imported late is there from now on
    before = [variable.numpy() for variable in target.variables]
    opened = []
    sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
    pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    limit = pages + (2 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    peak, refused = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0
    for number in range(COUNT):
        rng = random.Random(f"{KIND} {SEED} {number}")
        with open(path, "wb") as file:
            file.write(with_config(whole, rng) if KIND == "config" else changed(whole, rng))
        opened.clear()
        keras.backend.clear_session()
        wrong = None
        try:
            read(path, target)
        except (ValueError, TypeError, NotImplementedError, *([tf.errors.OpError] if KIND == "npy" else [])):
            refused += 1
            if any(not np.array_equal(one.numpy(), old) for one, old in zip(target.variables, before)):
                wrong = "is refused and changed variables"
        except Exception as error:
            wrong = f"ends in {type(error).__name__}: {error}"
        for one, old in zip(target.variables, before):
            one.assign(old)
        outside = [one for one in opened if not isinstance(one, int) and os.fspath(one) != path and not str(
            one).endswith((".py", ".pyc"))]  # a traceback's lines
        if outside:
            wrong = f"opened {outside}"
        if wrong:
            sys.exit(f"file {number} of {KIND}, seed {SEED}, {wrong}")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    # A file may unpack to 64 MiB, and a model take as much beyond it (leat.config.set_load_limits).
    if grown > 200 << 10:
        sys.exit(f"{KIND}, seed {SEED}: {grown} KiB more memory at the peak")
    print(refused)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
