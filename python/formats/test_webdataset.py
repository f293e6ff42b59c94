"""Tar shards beside WebDataset's own reader and writer."""

import io
import os
import tarfile

import numpy as np
import PIL.Image
import pytest
import webdataset
from test_arrow import plain, values

import leat as tf

D = tf.data.Dataset
COUNT = 30


def picture(i, form="PNG"):
    out = io.BytesIO()
    rows = np.arange(8 * (5 + i % 3) * 3, dtype=np.uint8).reshape(8, 5 + i % 3, 3) + np.uint8(i)
    PIL.Image.fromarray(rows).save(out, form)
    return out.getvalue()


def sample(i):
    return {"__key__": f"dir/{i:05d}", "png": picture(i), "cls": i % 7, "txt": f"tä{i}",
            "npy": np.full((2, i % 3 + 1), i, np.float32), "json": {"n": i, "words": ["w"] * (i % 3)},
            "seg.png": picture(i + 1)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three shards by their writer."""
    place = tmp_path_factory.mktemp("wds")
    with webdataset.ShardWriter(str(place / "a-%06d.tar"), maxcount=10, verbose=0) as writer:
        for i in range(COUNT):
            writer.write(sample(i))
    return place


def theirs(folder, *decode):
    dataset = webdataset.WebDataset(sorted(str(folder / name) for name in os.listdir(folder)), shardshuffle=False)
    return list(dataset.decode(*decode) if decode else dataset)


FIELDS = ["png", "cls", "txt", "npy", "json", "seg.png"]


def test_bytes(folder):
    for fields in (None, FIELDS):
        found = values(tf.data.from_webdataset(folder, fields))
        expected = theirs(folder)
        assert len(found) == COUNT
        for ours, other in zip(found, expected):
            assert ours.pop("__key__").decode() == other["__key__"]
            assert ours == {key: other[key] for key in ours} and len(ours) == 6
    assert [list(row) for row in values(tf.data.from_webdataset(folder, ["cls"]).take(1))] == [["__key__", "cls"]]
    assert len(values(tf.data.from_webdataset(folder, ["jpg;png"]))) == COUNT


@pytest.mark.parametrize("spec", ["rgb8", "rgb", "rgba8", "l8", "l"])
def test_decoded_as_theirs(folder, spec):
    found = values(tf.data.from_webdataset(folder, decode=spec))
    for ours, other in zip(found, theirs(folder, spec), strict=True):
        assert ours["cls"] == other["cls"] and ours["txt"].decode() == other["txt"]
        assert ours["npy"].dtype == other["npy"].dtype and (ours["npy"] == other["npy"]).all()
        assert ours["json"] == webdataset.writer.default_handlers["json"](other["json"])
        for key in ("png", "seg.png"):
            want = other[key] if "l" not in spec else other[key][..., None]
            assert ours[key].dtype == want.dtype and ours[key].shape == want.shape
            # Colours become grey by the weights of libpng or of Pillow, and rounding.
            exact = 0 if spec in ("rgb8", "rgba8") else 1e-6 if spec == "rgb" else 1.01 / (1 if spec == "l8" else 255)
            assert np.abs(ours[key].astype(np.float64) - want).max() <= exact


def test_decoders_by_field(folder):
    signature = {"n": tf.TensorSpec([], tf.int64), "words": tf.TensorSpec([None], tf.string)}
    dataset = tf.data.from_webdataset(folder, decode={
        "png": "rgb8", "json": signature, "txt": lambda text: tf.strings.length(text), "seg.png": "bytes"})
    assert dataset.element_spec["png"].dtype is tf.uint8 and dataset.element_spec["json"] == signature
    for i, row in enumerate(values(dataset)):
        assert plain(row["json"]) == {"n": i, "words": [b"w"] * (i % 3)} and row["txt"] == len(f"tä{i}".encode())
        assert row["seg.png"] == picture(i + 1) and row["cls"] == b"%d" % (i % 7)
    for decode, word in (({"gone": "rgb8"}, "gone"), ("cmyk", "cmyk"), ({"json": "rgb8"}, "picture")):
        with pytest.raises(ValueError, match=word):
            tf.data.from_webdataset(folder, decode=decode)


@pytest.mark.parametrize("form", ["JPEG", "WEBP", "BMP", "GIF"])
def test_other_pictures(tmp_path, form):
    data = picture(3, form)
    with webdataset.TarWriter(str(tmp_path / "a.tar")) as writer:
        writer.write({"__key__": "x", form.lower(): data})
    (ours,) = values(tf.data.from_webdataset(tmp_path, decode="rgb8"))
    (other,) = theirs(tmp_path, "rgb8")
    assert np.abs(ours[form.lower()].astype(int) - other[form.lower()]).max() <= 4  # JPEG's colours are smoothed there


@pytest.mark.parametrize("arguments", [{}, {"num_parallel_reads": 2}, {"shuffle_shards": True, "seed": 1},
                                       {"num_parallel_reads": 3, "shuffle_shards": True, "seed": 1}], ids=str)
def test_order_and_positions(folder, arguments):
    dataset = tf.data.from_webdataset(folder, ["npy"], "rgb8", **arguments)
    keys = [row["__key__"].decode() for row in values(dataset)]
    assert sorted(keys) == [f"dir/{i:05d}" for i in range(COUNT)]
    assert (keys == sorted(keys)) == (not arguments)
    iterator, other = iter(dataset), iter(dataset)
    for _ in range(13):
        next(iterator)
    other.restore(iterator.save())
    assert [row["__key__"].numpy() for row in other] == [row["__key__"].numpy() for row in iterator]
    strategy = tf.distribute.MirroredStrategy()
    only = tf.data.from_webdataset(folder, ["cls"], **arguments).batch(2)
    assert "policy FILE" in str(strategy.experimental_distribute_dataset(only).explain())


@pytest.mark.parametrize("ending", ["tar", "tar.gz"])
def test_written_as_theirs(tmp_path, ending):
    rows = [{"__key__": f"k{i}", "cls": i, "txt": f"text {i}", "npy": np.full(i % 3 + 1, i, np.int16),
             "a.bin": b"\0" * i} for i in range(25)]
    for place in ("theirs", "ours"):
        os.mkdir(tmp_path / place)
    pattern = str(tmp_path / "theirs" / f"a-%06d.{ending}")
    with webdataset.ShardWriter(pattern, maxcount=10, verbose=0, mtime=7) as writer:
        for row in rows:
            writer.write(row)
    dataset = D.from_generator(lambda: iter(rows), output_signature={
        **{key: tf.TensorSpec([], tf.string) for key in ("__key__", "txt")}, "cls": tf.TensorSpec([], tf.int64),
        "npy": tf.TensorSpec([None], tf.int16), "a.bin": tf.TensorSpec([], tf.string)})
    assert tf.data.to_webdataset(dataset, tmp_path / "ours" / f"a-%06d.{ending}", maxcount=10, mtime=7) == 25
    assert sorted(os.listdir(tmp_path / "ours")) == [f"a-{i:06d}.{ending}" for i in range(3)]
    for name in os.listdir(tmp_path / "ours"):
        if ending == "tar":
            assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    for other in (theirs(tmp_path / "theirs"), theirs(tmp_path / "ours")):
        assert [row["npy"] for row in other] == [row["npy"] for row in theirs(tmp_path / "ours")]
    back = tf.data.from_webdataset(tmp_path / "ours", decode="rgb8")
    assert [int(row["cls"]) for row in values(back)] == list(range(25))


def test_pictures_out(tmp_path):
    rows = D.range(4).map(lambda i: tf.cast(i, tf.uint8)).map(
        lambda i: {"png": tf.fill([3, 4, 3], i), "jpg": tf.fill([8, 8, 3], i)})
    assert tf.data.to_webdataset(rows, str(tmp_path / "%d.tar"), maxsize=1) == 4
    assert len(os.listdir(tmp_path)) == 4
    for i, row in enumerate(theirs(tmp_path, "rgb8")):
        assert row["__key__"] == f"{i:09d}" and (row["png"] == i).all()
        assert np.abs(row["jpg"].astype(int) - i).max() <= 1


def test_refusals(tmp_path):
    def make(value):
        return D.from_tensors({"__key__": "a", "x": value})
    for dataset, word in ((D.range(3), "dictionaries"), (make(3), "'x'"), (make(tf.ragged.constant([[1], []])), "'x'")):
        with pytest.raises(TypeError, match=word):
            tf.data.to_webdataset(dataset, str(tmp_path / "%d.tar"))
    with pytest.raises(ValueError, match="number"):
        tf.data.to_webdataset(make("a"), str(tmp_path / "a.tar"))
    fails = D.from_tensor_slices([1, 2, 0]).map(lambda i: {"cls": 8 // i})
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.data.to_webdataset(fails, str(tmp_path / "%d.tar"), maxcount=1)
    assert os.listdir(tmp_path) == []  # nothing of what failed
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        tf.data.from_webdataset(tmp_path / "nowhere.tar")
    with tarfile.open(tmp_path / "empty.tar", "w"):
        pass
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty.tar"):
        tf.data.from_webdataset(tmp_path / "empty.tar")
    (tmp_path / "a.tar.gz").write_bytes(b"")
    with pytest.raises(ValueError, match="compressed"):
        tf.data.from_webdataset(tmp_path, ["x"])


def test_damage(tmp_path):
    for number in range(2):
        with webdataset.TarWriter(str(tmp_path / f"{number}.tar"), mtime=1) as writer:
            for i in range(3):
                writer.write({"__key__": f"{number}{i}", "cls": i, "npy": np.arange(3)})
    with open(tmp_path / "0.tar", "r+b") as file:
        file.truncate(512 * 9)
    iterator, keys, lost = iter(tf.data.from_webdataset(tmp_path, ["cls", "npy"], "rgb8")), [], []
    for _ in range(9):
        try:
            keys.append(next(iterator)["__key__"].numpy().decode())
        except tf.errors.DataLossError as error:
            lost.append(str(error))
        except StopIteration:
            break
    assert keys == ["00", "01", "10", "11", "12"] and len(lost) == 1 and "0.tar" in lost[0]
    with webdataset.TarWriter(str(tmp_path / "0.tar")) as writer:
        writer.write({"__key__": "a", "cls": b"x", "npy": np.arange(3)})
        writer.write({"__key__": "b", "cls": b" 5\n", "npy": b"no array"})
    iterator = iter(tf.data.from_webdataset(tmp_path / "0.tar", decode="rgb8"))
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    with pytest.raises(tf.errors.DataLossError, match="npy"):
        next(iterator)
    (row,) = values(tf.data.from_webdataset(tmp_path / "0.tar", ["cls"], {"cls": "rgb8"}).ignore_errors())
    assert row["cls"] == 5
