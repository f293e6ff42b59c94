"""Folders of TensorFlow Datasets: one that it wrote (tools/record/tfds_folder.py), and what it read from it."""

import json
import os
import pathlib
import shutil

import numpy as np
import pytest

import leat as tf

FOLDER = pathlib.Path(__file__).parent / "data" / "tfds"
RECORDED = json.loads((FOLDER / "elements.json").read_text())


def values(dataset):
    return list(dataset.as_numpy_iterator())


def plain(value):
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (np.ndarray, list)):
        return [plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("split", RECORDED["elements"])
def test_elements(split):
    dataset = tf.data.tfds(FOLDER, split)
    assert [plain(row) for row in values(dataset)] == RECORDED["elements"][split]
    assert len(dataset) == len(RECORDED["elements"][split])


def test_specs():
    spec = tf.data.tfds(FOLDER).element_spec
    assert sorted(spec) == sorted(RECORDED["spec"])
    for key, expected in RECORDED["spec"].items():
        assert str(spec[key]) == expected, key


def test_several_splits_and_orders():
    both = tf.data.tfds(FOLDER, "train[:2]+test")
    assert [int(row["id"]) for row in values(both)] == [0, 1, 0, 1, 2] and len(both) == 5
    assert values(tf.data.tfds(FOLDER, "train[5:5]")) == []
    dataset = tf.data.tfds(FOLDER, shuffle_files=True, seed=3)
    first, second = ([int(row["id"]) for row in values(dataset)] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(12)) and (first != list(range(12)) or second != first)
    strategy = tf.distribute.MirroredStrategy()
    numbers = tf.data.tfds(FOLDER).map(lambda row: row["id"]).batch(2)
    assert "policy FILE" in str(strategy.experimental_distribute_dataset(numbers).explain())


def test_pictures_stay_bytes():
    row = values(tf.data.tfds(FOLDER, decode=False))[5]
    assert tf.io.decode_png(row["image"]).numpy().tolist() == RECORDED["elements"]["train"][5]["image"]
    frames = [tf.io.decode_png(one).numpy().tolist() for one in row["frames"]]
    assert frames == RECORDED["elements"]["train"][5]["frames"]


@pytest.mark.parametrize("taken", [0, 3, 4, 9])
def test_iterators_are_restored(taken):
    dataset = tf.data.tfds(FOLDER).shuffle(3, seed=1)
    iterator, other = iter(dataset), iter(dataset)
    for _ in range(taken):
        next(iterator)
    other.restore(iterator.save())
    assert [int(row["id"]) for row in other] == [int(row["id"]) for row in iterator]


@pytest.fixture
def folder(tmp_path):
    """A copy that may be changed, below the name of its version."""
    shutil.copytree(FOLDER, tmp_path / "small" / "1.0.0")
    return tmp_path / "small" / "1.0.0"


def change(path, edit):
    found = json.loads(path.read_text())
    edit(found)
    path.write_text(json.dumps(found))


def test_supervised_and_versions(folder):
    change(folder / "dataset_info.json", lambda info: info.update(
        supervisedKeys={"tuple": {"items": [{"featureKey": "text"}, {"featureKey": "label"}]}}))
    rows = values(tf.data.tfds(folder.parent, as_supervised=True))
    assert rows[4] == ("text ü 4".encode(), 1)
    shutil.copytree(folder, folder.parent / "2.0.0")
    with pytest.raises(ValueError, match="versions"):
        tf.data.tfds(folder.parent)
    with pytest.raises(ValueError, match="as_supervised"):
        tf.data.tfds(FOLDER, as_supervised=True)


def test_refusals(folder, tmp_path):
    for split, word in (("valid", "train"), ("train[", "train"), ("train[:200%]", "%")):
        with pytest.raises(ValueError, match=word):
            tf.data.tfds(folder, split)
    with pytest.raises(ValueError, match="shuffle_files"):
        tf.data.tfds(folder, "train[:5]", shuffle_files=True)
    with pytest.raises(tf.errors.NotFoundError, match="dataset_info"):
        tf.data.tfds(tmp_path / "nowhere")
    with open(folder / "small-train.tfrecord-00001-of-00003", "r+b") as file:
        file.seek(100)
        file.write(b"\xff\xff")
    with pytest.raises(tf.errors.DataLossError, match="00001"):
        values(tf.data.tfds(folder))
    os.unlink(folder / "small-train.tfrecord-00001-of-00003")
    with pytest.raises(tf.errors.NotFoundError, match="00001"):
        tf.data.tfds(folder)


@pytest.mark.parametrize("name, edit, error", [
    ("features.json", lambda f: f["featuresDict"]["features"]["id"].update(odd=1), tf.errors.UnimplementedError),
    ("features.json", lambda f: f["featuresDict"]["features"].update(x={"optional": {}}), tf.errors.UnimplementedError),
    ("features.json", lambda f: f["featuresDict"]["features"]["vector"]["tensor"]["shape"].update(
        dimensions=["2", "-1"]), tf.errors.UnimplementedError),
    ("features.json", lambda f: f["featuresDict"].pop("features"), tf.errors.DataLossError),
    ("dataset_info.json", lambda i: i.update(fileFormat="array_record"), tf.errors.UnimplementedError),
    ("dataset_info.json", lambda i: i["splits"][0].update(filepathTemplate="../{SPLIT}"), ValueError),
    ("dataset_info.json", lambda i: i.pop("name"), tf.errors.DataLossError)], ids=str)
def test_descriptions_that_are_not_known(folder, name, edit, error):
    change(folder / name, edit)
    with pytest.raises(error):
        tf.data.tfds(folder)
