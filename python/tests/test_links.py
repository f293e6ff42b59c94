"""Files and folders that are links. What is one of several files that belong together takes the place of a link, so
that what the link led to, which others may use, is never half of something else; a single file is written through it.
"""

import os

import pytest

import leat as tf
from leat import keras

PARTS = (".index", ".data-00000-of-00001")


def _checkpoint(value):
    return tf.train.Checkpoint(v=tf.Variable(float(value)))


def _value(prefix):
    checkpoint = _checkpoint(-1)
    checkpoint.read(str(prefix)).assert_existing_objects_matched()
    return float(checkpoint.v.numpy())


@pytest.fixture
def real(tmp_path):
    """A checkpoint of the value 1 in a folder of its own."""
    (tmp_path / "real").mkdir()
    _checkpoint(1).write(tmp_path / "real/r")
    return tmp_path / "real/r"


@pytest.mark.parametrize("linked", [PARTS, PARTS[:1], PARTS[1:]], ids=["both", "index", "data"])
def test_a_checkpoint_of_links_is_replaced_and_the_one_behind_stays(tmp_path, real, linked):
    for part in PARTS:
        there = tmp_path / f"ck{part}"
        (there.symlink_to if part in linked else there.hardlink_to)(f"{real}{part}")
    assert _value(tmp_path / "ck") == 1
    for value in (2, 3):
        _checkpoint(value).write(tmp_path / "ck")
        assert (_value(tmp_path / "ck"), _value(real)) == (value, 1)
    assert not any(entry.is_symlink() for entry in tmp_path.iterdir())
    assert len(os.listdir(tmp_path)) == 3 and len(os.listdir(tmp_path / "real")) == 2


@pytest.mark.parametrize("target", ["gone/x.index", "x.index", "ck.index"], ids=["no folder", "no file", "itself"])
def test_an_index_that_is_a_link_to_nothing_is_replaced(tmp_path, target):
    (tmp_path / "ck.index").symlink_to(target)
    with pytest.raises((tf.errors.NotFoundError, OSError)):
        _value(tmp_path / "ck")
    _checkpoint(2).write(tmp_path / "ck")
    assert _value(tmp_path / "ck") == 2
    assert sorted(os.listdir(tmp_path)) == ["ck.data-00000-of-00001", "ck.index"]


def test_a_folder_that_is_a_link_is_followed(tmp_path, real):
    (tmp_path / "way").symlink_to("real")
    for value in (2, 3):
        _checkpoint(value).write(tmp_path / "way/r")
    assert _value(real) == 3 and (tmp_path / "way").is_symlink() and len(os.listdir(tmp_path / "real")) == 2
    manager = tf.train.CheckpointManager(_checkpoint(4), tmp_path / "way", max_to_keep=1)
    manager.save()
    manager.save()
    assert tf.train.latest_checkpoint(tmp_path / "way") == str(tmp_path / "way/ckpt-2")
    assert len(os.listdir(tmp_path / "real")) == 5 and (tmp_path / "way").is_symlink()


def test_a_manager_leaves_what_its_files_are_links_to(tmp_path, real):
    """The file "checkpoint" and a checkpoint, which is dropped, are links to those of another folder."""
    (tmp_path / "m").mkdir()
    for name in ("checkpoint", *(f"ckpt-1{part}" for part in PARTS)):
        (tmp_path / "m" / name).symlink_to(f"../real/{name.replace('ckpt-1', 'r')}")
    state = 'model_checkpoint_path: "r"\nall_model_checkpoint_paths: "r"\n'
    (tmp_path / "real/checkpoint").write_text(state)
    with pytest.warns(UserWarning):  # there is no m/r
        manager = tf.train.CheckpointManager(_checkpoint(2), tmp_path / "m", max_to_keep=1)
    manager.save(checkpoint_number=5)
    assert sorted(os.listdir(tmp_path / "m")) == ["checkpoint", *(f"ckpt-5{part}" for part in reversed(PARTS))]
    assert _value(tmp_path / "m/ckpt-5") == 2 and _value(real) == 1
    assert (tmp_path / "real/checkpoint").read_text() == state


def test_saved_datasets_of_linked_metadata(tmp_path):
    for folder in ("a", "b"):
        tf.data.Dataset.range(3).save(str(tmp_path / folder))
    for name in ("dataset_spec.pb", "snapshot.metadata"):
        (tmp_path / "b" / name).unlink()
        (tmp_path / "b" / name).symlink_to(f"../a/{name}")
    tf.data.Dataset.from_tensor_slices([1., 2.]).save(str(tmp_path / "b"))
    assert [int(x) for x in tf.data.Dataset.load(str(tmp_path / "a"))] == [0, 1, 2]
    assert [float(x) for x in tf.data.Dataset.load(str(tmp_path / "b"))] == [1, 2]
    (tmp_path / "way").symlink_to("a")
    tf.data.Dataset.range(4).save(str(tmp_path / "way"))
    assert len(list(tf.data.Dataset.load(str(tmp_path / "a")))) == 4


def test_caches_of_links(tmp_path):
    def cached(name, count):
        return len(list(tf.data.Dataset.range(count).cache(str(tmp_path / name))))
    cached("real", 5)
    for name in os.listdir(tmp_path):
        (tmp_path / name.replace("real", "c")).symlink_to(name)
    assert cached("c", 5) == 5
    (tmp_path / "real.index").rename(tmp_path / "kept.index")  # the links lead to half a cache, which is made anew
    before = (tmp_path / "real.data").read_bytes()
    assert cached("c", 4) == 4 and cached("c", 4) == 4
    assert (tmp_path / "real.data").read_bytes() == before


def _weights(value):
    model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.set_weights([[[float(value)]]])
    return model


@pytest.mark.parametrize("name", ["m.keras", "m.weights.h5", "m.safetensors"])
def test_models_are_written_through_links(tmp_path, name):
    def save(value):
        model = _weights(value)
        (model.save if name == "m.keras" else model.save_weights)(tmp_path / name)

    def load():
        model = _weights(-1)
        model.load_weights(tmp_path / "real" / name)
        return model.get_weights()[0].item()
    (tmp_path / "real").mkdir()
    (tmp_path / name).symlink_to(f"real/{name}")
    for value in (1, 2):  # into a new file, and over one
        save(value)
        assert load() == value and (tmp_path / name).is_symlink()
    for target in (name, "gone/x"):
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to(target)
        with pytest.raises(OSError, match=name if target == name else "gone"):
            save(3)
        assert (tmp_path / name).is_symlink() and sorted(os.listdir(tmp_path)) == [name, "real"]
