"""Hugging Face's datasets, in memory and streamed."""

import io

import datasets
import numpy as np
import PIL.Image
import pytest
from test_arrow import encoded, plain, values

import leat as tf

COUNT = 50


def picture(i):
    return PIL.Image.fromarray(np.full((2 + i % 3, 4, 3), i, np.uint8))


@pytest.fixture(scope="module")
def rows():
    features = datasets.Features({
        "id": datasets.Value("int32"), "text": datasets.Value("string"), "label": datasets.ClassLabel(names=["a", "b"]),
        "image": datasets.Image(), "matrix": datasets.Array2D((2, 3), "float32"),
        "rows": datasets.Array2D((None, 2), "int64"), "pair": datasets.Sequence(datasets.Value("int64"), length=2),
        "tokens": datasets.Sequence(datasets.Value("int64")), "flag": datasets.Value("bool"),
        "nested": {"x": datasets.Value("float64"), "names": datasets.Sequence(datasets.Value("string"))},
        "images": datasets.Sequence(datasets.Image())})
    return datasets.Dataset.from_dict({
        "id": list(range(COUNT)), "text": [f"t{i}" for i in range(COUNT)], "label": [i % 2 for i in range(COUNT)],
        "image": [picture(i) for i in range(COUNT)],
        "matrix": [np.full((2, 3), i, np.float32) for i in range(COUNT)],
        "rows": [np.full((1 + i % 3, 2), i) for i in range(COUNT)], "pair": [[i, -i] for i in range(COUNT)],
        "tokens": [list(range(i % 4)) for i in range(COUNT)], "flag": [i % 3 == 0 for i in range(COUNT)],
        "nested": [{"x": i / 2, "names": ["n"] * (i % 2)} for i in range(COUNT)],
        "images": [[picture(i)] * (i % 2) for i in range(COUNT)]}, features)


def check(element, i):
    image = np.asarray(PIL.Image.open(io.BytesIO(element["image"])))
    assert image.shape == (2 + i % 3, 4, 3) and (image == i).all()
    assert len(element["images"]) == i % 2
    assert plain({key: element[key] for key in element if key not in ("image", "images")}) == encoded({
        "id": i, "text": f"t{i}", "label": i % 2, "matrix": [[float(i)] * 3] * 2, "rows": [[i, i]] * (1 + i % 3),
        "pair": [i, -i], "tokens": list(range(i % 4)), "flag": i % 3 == 0,
        "nested": {"x": i / 2, "names": ["n"] * (i % 2)}})


@pytest.mark.parametrize("read_size", [1, 7, 1000])
def test_rows(rows, read_size):
    dataset = tf.data.from_huggingface(rows, read_size=read_size)
    assert len(dataset) == COUNT
    found = values(dataset)
    assert len(found) == COUNT
    for i, element in enumerate(found):
        check(element, i)


def test_specs(rows):
    spec = tf.data.from_huggingface(rows, batch_size=4).element_spec
    assert spec["matrix"] == tf.TensorSpec([None, 2, 3], tf.float32)
    assert spec["label"] == tf.TensorSpec([None], tf.int64)
    assert spec["image"] == tf.TensorSpec([None], tf.string) and spec["pair"] == tf.TensorSpec([None, 2], tf.int64)
    assert spec["rows"] == tf.RaggedTensorSpec([None, None, 2], tf.int64, 1)
    assert spec["nested"]["names"] == tf.RaggedTensorSpec([None, None], tf.string, 1)


@pytest.mark.parametrize("change", [
    lambda d: d.shuffle(seed=3), lambda d: d.select(range(10, 30)), lambda d: d.select([4, 2, 40]),
    lambda d: d.filter(lambda row: row["label"] == 1), lambda d: datasets.concatenate_datasets([d, d.select([7])]),
    lambda d: d.with_format("numpy"), lambda d: d.sort("label"), lambda d: d.select([])],
    ids=["shuffle", "range", "some", "filter", "concatenated", "format", "sort", "none"])
def test_views(rows, change):
    view = change(rows)
    dataset = tf.data.from_huggingface(view, read_size=8)
    expected = [int(i) for i in view["id"]]
    found = values(dataset)
    assert [int(row["id"]) for row in found] == expected and len(dataset) == len(expected)
    for element, i in zip(found, expected):
        check(element, i)


def test_columns_batches_and_shuffles(rows):
    dataset = tf.data.from_huggingface(rows, ["id", "tokens"], batch_size=16, shuffle=True, seed=2)
    assert len(dataset) == 4
    first, second = (np.concatenate([batch["id"] for batch in values(dataset)]).tolist() for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(COUNT)) and first != second
    again = tf.data.from_huggingface(rows, ["id"], shuffle=True, seed=2)
    assert [int(row["id"]) for row in values(again)] == first
    for batch in values(dataset):
        assert [len(one) for one in batch["tokens"]] == [i % 4 for i in batch["id"]]
    with pytest.raises(ValueError, match="'nothing'"):
        tf.data.from_huggingface(rows, ["nothing"])


@pytest.mark.parametrize("shuffle", [False, True])
def test_iterators_are_restored(rows, shuffle):
    dataset = tf.data.from_huggingface(rows, ["id"], read_size=8, shuffle=shuffle, seed=1)
    iterator, other = iter(dataset), iter(dataset)
    for _ in range(21):
        next(iterator)
    other.restore(iterator.save())
    rest = [int(row["id"]) for row in iterator]
    assert [int(row["id"]) for row in other] == rest and len(rest) == 29


def test_streams(rows):
    stream = rows.to_iterable_dataset(num_shards=3)
    dataset = tf.data.from_huggingface(stream, read_size=8)
    for _ in range(2):
        found = values(dataset)
        assert len(found) == COUNT
        for i, element in enumerate(found):
            check(element, i)
    batches = values(tf.data.from_huggingface(stream, ["id"], batch_size=20))
    assert [len(batch["id"]) for batch in batches] == [20, 20, 10]
    with pytest.raises(ValueError, match="shuffle"):
        tf.data.from_huggingface(stream, shuffle=True)

    def generate():
        yield from ({"a": i, "b": [i] * i} for i in range(1, 5))
    unknown = datasets.IterableDataset.from_generator(generate)
    assert [plain(row) for row in values(tf.data.from_huggingface(unknown))] == [
        {"a": i, "b": [i] * i} for i in range(1, 5)]


def test_saved_folders_and_files(rows, tmp_path):
    small = rows.select_columns(["id", "text"])
    small.save_to_disk(str(tmp_path / "saved"))
    loaded = datasets.load_from_disk(str(tmp_path / "saved"))
    assert [int(row["id"]) for row in values(tf.data.from_huggingface(loaded))] == list(range(COUNT))
    files = values(tf.data.from_arrow_files(tmp_path / "saved"))
    assert [row["text"] for row in files] == [b"t%d" % i for i in range(COUNT)]
    picture(7).save(tmp_path / "7.png")
    paths = datasets.Dataset.from_dict({"image": [str(tmp_path / "7.png")]}).cast_column("image", datasets.Image())
    (row,) = values(tf.data.from_huggingface(paths))
    assert row["image"] == (tmp_path / "7.png").read_bytes()


def test_what_is_missing_or_no_dataset():
    holes = datasets.Dataset.from_dict({"x": [1, None]})
    with pytest.raises(ValueError, match="'x'"):
        values(tf.data.from_huggingface(holes))
    assert [int(row["x"]) for row in values(tf.data.from_huggingface(holes, nulls={"x": 5}))] == [1, 5]
    with pytest.raises(TypeError, match="train"):
        tf.data.from_huggingface(datasets.DatasetDict({"train": holes}))
    with pytest.raises(TypeError, match="list"):
        tf.data.from_huggingface([1])
