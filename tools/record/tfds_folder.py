#!/usr/bin/env python3
"""Record a small folder as TensorFlow Datasets prepares it, and the elements that it reads from it.

    tfds_folder.py FOLDER        (a Python with TensorFlow and tensorflow_datasets; FOLDER: python/tests/data/tfds)

python/tests/test_tfds.py reads the folder with leat and compares.
"""
import json
import os
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow_datasets as tfds

COUNTS = {"train": 12, "test": 3}
FEATURES = {
    "id": tfds.features.Scalar(np.int32), "label": tfds.features.ClassLabel(names=["a", "b", "c"]),
    "text": tfds.features.Text(), "image": tfds.features.Image(shape=(None, None, 3), encoding_format="png"),
    "grey": tfds.features.Image(shape=(4, 5, 1), dtype=np.uint8, encoding_format="png"),
    "box": tfds.features.BBoxFeature(), "matrix": tfds.features.Tensor(shape=(2, 3), dtype=np.float32),
    "wide": tfds.features.Tensor(shape=(2,), dtype=np.float64), "flag": tfds.features.Tensor(shape=(), dtype=np.bool_),
    "vector": tfds.features.Tensor(shape=(None,), dtype=np.int64), "rows": tfds.features.Tensor(shape=(None, 2), dtype=np.uint8),
    "packed": tfds.features.Tensor(shape=(3, 2), dtype=np.int16, encoding="zlib"),
    "raw": tfds.features.Tensor(shape=(None, 2), dtype=np.float32, encoding="bytes"),
    "nested": {"x": np.int64, "deep": {"words": tfds.features.Sequence(tfds.features.Text())}},
    "objects": tfds.features.Sequence({"box": tfds.features.BBoxFeature(), "name": tfds.features.Text()}),
    "triple": tfds.features.Sequence(np.int64, length=3), "lists": tfds.features.Sequence(tfds.features.Sequence(np.int64)),
    "frames": tfds.features.Video(shape=(None, 2, 2, 3)), "audio": tfds.features.Audio(),
    "pair": tfds.features.Translation(languages=["en", "de"]),
}


def example(i):
    return {
        "id": i, "label": i % 3, "text": "text ü %d" % i, "image": np.full((2 + i % 3, 4, 3), i, np.uint8),
        "grey": np.full((4, 5, 1), i, np.uint8), "box": tfds.features.BBox(0.0, 0.25, 0.5, 1.0), "flag": i % 2 == 0,
        "matrix": np.full((2, 3), i / 2, np.float32), "wide": np.array([i, 0.5]), "vector": np.arange(i % 4),
        "rows": np.full((i % 3, 2), i, np.uint8), "packed": np.full((3, 2), -i, np.int16),
        "raw": np.full((i % 3, 2), i, np.float32), "nested": {"x": i, "deep": {"words": ["w"] * (i % 3)}},
        "objects": [{"box": tfds.features.BBox(0.0, 0.0, 1.0, 1.0), "name": "o%d" % k} for k in range(i % 3)],
        "triple": [i, i + 1, i + 2], "lists": [list(range(k)) for k in range(i % 4)],
        "frames": np.full((i % 2 + 1, 2, 2, 3), i, np.uint8), "audio": np.arange(i % 4), "pair": {"en": "e%d" % i, "de": "d%d" % i},
    }


def plain(value):
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if hasattr(value, "to_list"):
        return plain(value.to_list())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.decode() if isinstance(value, bytes) else value.item() if isinstance(value, np.generic) else value


def main(folder):
    work = folder + ".work"
    shutil.rmtree(folder, ignore_errors=True)
    builder = tfds.dataset_builders.store_as_tfds_dataset(
        name="small", version="1.0.0", data_dir=work, features=tfds.features.FeaturesDict(FEATURES),
        split_datasets={name: [(i, example(i)) for i in range(count)] for name, count in COUNTS.items()}, disable_shuffling=True,
        download_config=tfds.download.DownloadConfig(num_shards=3))
    print(builder.info)
    shutil.copytree(builder.data_dir, folder)
    out = {}
    for split in ("train", "test", "train[:50%]", "train[2:-1]", "train[10%:33%]"):
        dataset = builder.as_dataset(split=split, shuffle_files=False)
        out[split] = [plain(element) for element in tfds.as_numpy(dataset)]
    spec = {key: str(one) for key, one in builder.as_dataset(split="train").element_spec.items()}
    with open(os.path.join(folder, "elements.json"), "w") as file:
        json.dump({"elements": out, "spec": spec}, file, separators=(",", ":"))
        file.write("\n")
    shutil.rmtree(work)


if __name__ == "__main__":
    main(sys.argv[1])
