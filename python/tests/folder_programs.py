"""Datasets of folders, padded sequences and the like, with Keras (tools/record/folders.py) and with leat."""

import os
import struct
import zlib

import numpy as np


def png(path, pixels):
    """Writes uint8 pixels [height, width, 1, 3 or 4] as a PNG."""
    height, width, channels = pixels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + pixels[row].tobytes() for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows))
                   + chunk(b"IEND", b""))


def wav(path, samples):
    """Writes int16 samples [samples, channels] as a WAV file."""
    data, channels = samples.astype("<i2").tobytes(), samples.shape[1]
    head = struct.pack("<HHIIHH", 1, channels, 8000, 8000 * 2 * channels, 2 * channels, 16)
    with open(path, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + head + b"data"
                   + struct.pack("<I", len(data)) + data)


def make_sounds(folder):
    """Two classes of sounds in `folder`/sounds."""
    for name, count in (("cats", 4), ("dogs", 3)):
        os.makedirs(os.path.join(folder, "sounds", name))
        for number in range(count):
            samples = (np.arange((3 + number) * 2).reshape(-1, 2) - 4) * 1000 * (number + count)
            wav(os.path.join(folder, "sounds", name, f"s{number}.wav"), samples)


def make(folder):
    """Two classes of pictures in `folder`/pictures, of texts in `folder`/texts and of sounds."""
    make_sounds(folder)
    rng = np.random.default_rng(2)
    for name, count in (("cats", 6), ("dogs", 5)):
        os.makedirs(os.path.join(folder, "pictures", name, "deeper"))
        os.makedirs(os.path.join(folder, "texts", name))
        for number in range(count):
            size = (int(rng.integers(4, 9)), int(rng.integers(4, 9)), [1, 3, 4][number % 3])
            place = os.path.join(folder, "pictures", name, "deeper" if number == 3 else "", f"p{number}.png")
            png(place, rng.integers(0, 256, size).astype(np.uint8))
            with open(os.path.join(folder, "texts", name, f"t{number}.txt"), "w") as file:
                file.write(f"{name} number {number}")
    for name in ("notes.md", ".hidden"):
        with open(os.path.join(folder, "pictures", name), "w") as file:
            file.write("no picture")
    os.makedirs(os.path.join(folder, "empty"))


PICTURES = {
    "plain": dict(seed=3, image_size=(4, 5), batch_size=4),
    "sorted": dict(shuffle=False, image_size=3, batch_size=None, label_mode="categorical"),
    "gray": dict(shuffle=False, image_size=(3, 4), color_mode="grayscale", label_mode="binary",
                 interpolation="nearest"),
    "rgba": dict(shuffle=False, image_size=(2, 2), color_mode="rgba", labels=None, interpolation="bicubic"),
    "cropped": dict(shuffle=False, image_size=(3, 5), crop_to_aspect_ratio=True),
    "padded": dict(shuffle=False, image_size=(3, 5), pad_to_aspect_ratio=True),
    "training": dict(seed=7, validation_split=0.3, subset="training", image_size=(2, 2)),
    "validation": dict(seed=7, validation_split=0.3, subset="validation", image_size=(2, 2)),
    "both": dict(seed=7, validation_split=0.3, subset="both", image_size=(2, 2)),
    "chosen": dict(shuffle=False, class_names=["dogs"], image_size=(2, 2)),
    "swapped": dict(shuffle=False, class_names=["dogs", "cats"], image_size=(2, 2)),
    "given": dict(shuffle=False, labels=[3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1], image_size=(2, 2)),
    "quiet": dict(shuffle=False, label_mode=None, image_size=(2, 2), verbose=False),
}
TEXTS = {
    "plain": dict(seed=3, batch_size=4), "cut": dict(shuffle=False, max_length=6, batch_size=None),
    "both": dict(seed=1, validation_split=0.2, subset="both", label_mode="binary"),
}
SOUNDS = {
    "plain": dict(seed=3, batch_size=3), "cut": dict(shuffle=False, output_sequence_length=4, batch_size=4),
    "single": dict(shuffle=False, batch_size=None, label_mode="categorical"),
    "both": dict(seed=1, validation_split=0.3, subset="both", label_mode="binary", batch_size=2),
    "validation": dict(seed=1, validation_split=0.3, subset="validation", batch_size=2, labels=None),
    "given": dict(shuffle=False, labels=[2, 1, 2, 3, 1, 2, 3], batch_size=7),
    "ragged": dict(shuffle=False, ragged=True, batch_size=4),
    "ragged alone": dict(shuffle=False, ragged=True, batch_size=4, label_mode=None),
}
WRONG_SOUNDS = {
    "labels": dict(labels="own"), "mode": dict(label_mode="x"),
    "both": dict(ragged=True, output_sequence_length=3),
    "rate": dict(sampling_rate=-1), "text": dict(sampling_rate="a"), "part": dict(validation_split=0.2),
    "binary": dict(label_mode="binary", class_names=["dogs"]), "names": dict(class_names=["birds"]),
}
WRONG = {
    "labels": dict(labels="own"), "names with labels": dict(labels=[1] * 11, class_names=["a"]),
    "names without labels": dict(labels=None, class_names=["a"]), "mode": dict(label_mode="x"),
    "colour": dict(color_mode="x"), "size": dict(image_size=(1, 2, 3)), "interpolation": dict(interpolation="x"),
    "part": dict(validation_split=2.0, subset="training"), "no subset": dict(validation_split=0.2),
    "subset": dict(validation_split=0.2, subset="x", seed=1),
    "no seed": dict(validation_split=0.2, subset="training"), "names": dict(class_names=["birds"]),
    "count": dict(labels=[1, 2]), "binary": dict(label_mode="binary", class_names=["dogs"]),
    "format": dict(format="x"),
}


def shown(dataset, folder, has_paths):
    """What a dataset gives, as JSON."""
    rows = [[np.asarray((part.to_tensor(-9.0) if hasattr(part, "to_tensor") else part).numpy())
             for part in (row if isinstance(row, tuple) else (row,))] for row in dataset]
    return {"class_names": dataset.class_names,
            "file_paths": [os.path.relpath(path, folder) for path in dataset.file_paths] if has_paths else [],
            "rows": [[{"dtype": str(part.dtype), "shape": list(part.shape),
                       "data": [value.decode() if isinstance(value, bytes) else value
                                for value in part.reshape(-1).tolist()]} for part in row] for row in rows]}


def outcome(function):
    """What it gives, or the error's class and text."""
    try:
        return function()
    except (ValueError, TypeError) as error:
        return {"error": type(error).__name__, "text": str(error)}


def folders(keras, folder):
    """{name: what comes} of all datasets of folders."""
    found = {}
    for kind, cases, make_one in (("pictures", PICTURES, keras.utils.image_dataset_from_directory),
                                  ("texts", TEXTS, keras.utils.text_dataset_from_directory),
                                  ("sounds", SOUNDS, keras.utils.audio_dataset_from_directory)):
        for name, arguments in cases.items():
            made = make_one(os.path.join(folder, kind), **arguments)
            found[f"{kind}/{name}"] = [shown(one, folder, kind == "pictures")
                                       for one in (made if isinstance(made, (list, tuple)) else [made])]
    for name, arguments in WRONG.items():
        found[f"wrong/{name}"] = outcome(lambda: keras.utils.image_dataset_from_directory(
            os.path.join(folder, "pictures"), **arguments))
    for name, arguments in WRONG_SOUNDS.items():
        error = outcome(lambda: keras.utils.audio_dataset_from_directory(os.path.join(folder, "sounds"), **arguments))
        found[f"wrong sounds/{name}"] = error["error"]
    found["wrong/empty"] = outcome(lambda: keras.utils.image_dataset_from_directory(os.path.join(folder, "empty")))
    return found


def listed(value):
    return {"dtype": str(value.dtype), "shape": list(value.shape), "data": value.tolist()}


def arrays(keras):
    """{name: what comes} of functions on arrays."""
    u, rows = keras.utils, [[1], [2, 3], [4, 5, 6], []]
    cases = {
        "pad": lambda: u.pad_sequences(rows), "pad post": lambda: u.pad_sequences(rows, padding="post"),
        "pad 2": lambda: u.pad_sequences(rows, 2), "pad 2 post": lambda: u.pad_sequences(rows, 2, truncating="post"),
        "pad value": lambda: u.pad_sequences(rows, 5, "float32", value=-1.5),
        "pad vectors": lambda: u.pad_sequences([[[1, 2]], [[3, 4], [5, 6]]], 3),
        "pad wrong": lambda: u.pad_sequences([[1], 2]), "pad kind": lambda: u.pad_sequences(rows, padding="x"),
        "pad cut": lambda: u.pad_sequences(rows, truncating="x"), "pad text": lambda: u.pad_sequences(rows, value="a"),
        "pad none": lambda: u.pad_sequences(3), "pad shapes": lambda: u.pad_sequences([[[1, 2]], [[1]]]),
        "one": lambda: u.to_categorical([0, 2, 1]), "one 5": lambda: u.to_categorical([[0], [3]], 5),
        "one matrix": lambda: u.to_categorical([[0, 1], [2, 0]]),
        "norm": lambda: u.normalize(np.array([[3.0, 4.0], [0.0, 0.0]])),
        "norm 1": lambda: u.normalize(np.array([[3.0, 5.0], [1.0, 1.0]]), axis=1, order=1),
    }

    def plain(made):
        return listed(np.asarray(made))
    return {name: outcome(lambda: plain(case())) for name, case in cases.items()}


def splits(tf):
    """{name: rows of both sides} of split_dataset."""
    u, x = tf.keras.utils, np.arange(10).reshape(10, 1)
    data = tf.data.Dataset.range(10)
    cases = {
        "array": lambda: u.split_dataset(x, 0.7), "right": lambda: u.split_dataset(x, right_size=3),
        "both": lambda: u.split_dataset(x, 4, 2), "pair": lambda: u.split_dataset((x, x[:, 0] * 2), 0.5),
        "shuffled": lambda: u.split_dataset(x, 0.6, shuffle=True, seed=5), "dataset": lambda: u.split_dataset(data, 3),
        "batched": lambda: u.split_dataset(data.batch(4), 0.5), "none": lambda: u.split_dataset(x),
        "much": lambda: u.split_dataset(x, 20), "sum": lambda: u.split_dataset(x, 0.7, 0.7),
        "zero": lambda: u.split_dataset(x, 0, 0), "type": lambda: u.split_dataset(x, "a"),
        "thing": lambda: u.split_dataset(3, 1), "sum of numbers": lambda: u.split_dataset(x, 7, 7),
    }

    def rows(pair):
        return [[[listed(np.asarray(part.numpy())) for part in (row if isinstance(row, tuple) else (row,))]
                 for row in side] for side in pair]
    return {name: outcome(lambda: rows(case())) for name, case in cases.items()}
