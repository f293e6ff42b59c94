"""keras.utils against recordings of Keras 3: folders, sequences, arrays; PyDataset in fit; models as SVG."""

import json
import pathlib
import re
import sys
import types
import warnings
import xml.etree.ElementTree

import numpy as np
import pytest

import folder_programs
import leat as tf
from leat import keras
from leat.keras import layers

RECORDED = json.loads((pathlib.Path(__file__).parent / "data" / "folders.json").read_text())


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def same(found, expected, where):
    if isinstance(expected, dict) and set(expected) == {"dtype", "shape", "data"}:
        assert (found["dtype"], found["shape"]) == (expected["dtype"], expected["shape"]), where
        if expected["dtype"] == "float32":
            np.testing.assert_allclose(found["data"], expected["data"], atol=1e-3, err_msg=where)
        else:
            assert found["data"] == expected["data"], where
    elif isinstance(expected, dict):
        assert set(found) == set(expected), where
        for key in expected:
            same(found[key], expected[key], f"{where}/{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected)):
            same(one, other, f"{where}[{number}]")
    else:
        assert found == expected, where


def test_datasets_of_folders(tmp_path, capsys):
    folder_programs.make(tmp_path)
    found = folder_programs.folders(keras, str(tmp_path))
    found = json.loads(json.dumps(found).replace(str(tmp_path), "FOLDER"))
    same(found, RECORDED["folders"], "folders")
    out = capsys.readouterr().out.splitlines()
    assert "Found 11 files belonging to 2 classes." in out and "Found 11 files." in out
    assert "Using 8 files for training." in out and "Using 3 files for validation." in out


def test_arrays():
    same(folder_programs.arrays(keras), RECORDED["arrays"], "arrays")


def test_splits():
    found = folder_programs.splits(tf)
    for name in ("type", "sum of numbers"):  # Keras' texts have a blank too many, and one too few
        assert found[name]["text"].split()[:4] == RECORDED["splits"][name]["text"].split()[:4]
        found[name]["text"] = RECORDED["splits"][name]["text"]
    same(found, RECORDED["splits"], "splits")


def test_pictures_of_a_folder_train(tmp_path):
    folder_programs.make(tmp_path)
    train, test = keras.utils.image_dataset_from_directory(
        tmp_path / "pictures", image_size=(8, 8), batch_size=4, validation_split=0.3, subset="both", seed=1,
        label_mode="categorical", verbose=False)
    model = keras.Sequential([keras.Input((8, 8, 3)), layers.Rescaling(1 / 255), layers.Flatten(),
                              layers.Dense(2, activation="softmax")])
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(train, epochs=2, validation_data=test, verbose=0).history
    assert set(history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    with pytest.raises(tf.errors.UnimplementedError, match='"tf"'):
        keras.utils.image_dataset_from_directory(tmp_path / "pictures", format="grain")
    with pytest.raises(ValueError, match="`pad_to_aspect_ratio`"):
        keras.utils.image_dataset_from_directory(tmp_path / "pictures", pad_to_aspect_ratio=True,
                                                 crop_to_aspect_ratio=True)
    first = next(iter(keras.utils.image_dataset_from_directory(
        tmp_path / "pictures", image_size=(2, 3), data_format="channels_first", verbose=False)))
    assert first[0].shape == (11, 3, 2, 3)


def test_what_leat_does_not_do():
    with pytest.raises(tf.errors.UnimplementedError, match="plot_model"):
        keras.utils.model_to_dot(None)


def test_parts_of_batches_and_pictures_as_arrays():
    utils = keras.utils
    assert utils.pack_x_y_sample_weight(1) == 1 and utils.pack_x_y_sample_weight([1]) == ([1],)
    assert utils.pack_x_y_sample_weight(1, 2) == (1, 2) and utils.pack_x_y_sample_weight(1, 2, 3) == (1, 2, 3)
    assert utils.unpack_x_y_sample_weight((1, 2)) == (1, 2, None)
    picture = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert utils.img_to_array(picture).dtype == np.float32
    assert utils.img_to_array(picture, "channels_first").shape == (3, 2, 2)
    assert utils.img_to_array(picture[..., 0], dtype="uint8").shape == (2, 2, 1)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        utils.img_to_array(picture[0, 0])
    with pytest.raises(ValueError, match="data_format"):
        utils.img_to_array(picture, "x")


# ---- PyDataset ----

class Batches(keras.utils.PyDataset):
    """Batches that note what is asked of them."""

    def __init__(self, count=4, **kwargs):
        super().__init__(**kwargs)
        self.count, self.asked, self.epochs = count, [], []

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        self.asked.append(index)
        x = np.full((2, 3), index, np.float32)
        return x, x[:, :1]

    def on_epoch_begin(self):
        self.epochs.append(("begin", len(self.asked)))

    def on_epoch_end(self):
        self.epochs.append(("end", len(self.asked)))


def model():
    made = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    made.compile("sgd", "mse")
    return made


def test_batches_of_python_train():
    data = Batches()
    history = model().fit(data, epochs=3, shuffle=False, verbose=0)
    assert data.asked == [0] + [0, 1, 2, 3] * 3 and len(history.history["loss"]) == 3
    assert data.epochs == [("begin", 1), ("end", 5), ("begin", 5), ("end", 9), ("begin", 9), ("end", 13)]
    data = Batches()
    model().fit(data, epochs=2, shuffle=True, verbose=0)
    assert sorted(data.asked[1:5]) == sorted(data.asked[5:]) == [0, 1, 2, 3]
    data = Batches()
    made = model()
    assert made.predict(data, verbose=0).shape == (8, 1) and data.asked == [0, 1, 2, 3]
    assert made.evaluate(data, verbose=0) >= 0
    assert isinstance(keras.utils.Sequence, type) and issubclass(keras.utils.Sequence, keras.utils.PyDataset)


def test_threads_make_batches_ahead_in_order():
    data, plain = Batches(10, workers=3, max_queue_size=4), Batches(10)
    first, second = model(), model()
    second.set_weights(first.get_weights())
    histories = [one.fit(given, epochs=2, shuffle=False, verbose=0).history["loss"]
                 for one, given in ((first, data), (second, plain))]
    np.testing.assert_array_equal(*histories)
    assert sorted(data.asked) == sorted(plain.asked)


def test_batches_without_end_and_wrong_ones():
    class Endless(Batches):
        num_batches = None
    data = Endless()
    model().fit(data, steps_per_epoch=5, epochs=2, verbose=0)
    assert data.asked == [0, *range(10)]  # looked at before the first epoch
    with pytest.raises(ValueError, match=r"\b0\b"):
        model().fit(Batches(0), verbose=0)

    class Wrong(Batches):
        def __getitem__(self, index):
            return (np.zeros((2, 3), np.float32),) * 4
    with pytest.raises(ValueError, match="__getitem__"):
        model().fit(Wrong(), verbose=0)
    with pytest.raises(ValueError, match="`y`"):
        model().fit(Batches(), np.zeros(3), verbose=0)

    class Careless(keras.utils.PyDataset):
        def __init__(self):
            pass

        def __len__(self):
            return 1

        def __getitem__(self, index):
            return np.zeros((2, 3), np.float32), np.zeros((2, 1), np.float32)
    with pytest.warns(UserWarning, match="`super"):
        model().fit(Careless(), verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(Batches(2))[1][0][0, 0] == 1
    with pytest.raises(NotImplementedError, match="`num_batches`"):
        keras.utils.PyDataset().num_batches  # noqa: B018


# ---- SVG ----

def drawing(text):
    """(boxes, lines, texts, size) of an SVG file."""
    root = xml.etree.ElementTree.fromstring(text)
    tag = "{http://www.w3.org/2000/svg}"
    boxes = [tuple(float(one.get(name)) for name in ("x", "y", "width", "height")) for one in root.iter(tag + "rect")]
    lines = [[tuple(map(float, point.split(","))) for point in one.get("points").split()]
             for one in root.iter(tag + "polyline")]
    return boxes, lines, [one.text for one in root.iter(tag + "text")], (
        float(root.get("width")), float(root.get("height")))


def check_places(boxes, lines, size):
    """No two boxes overlap, all lie inside, and every line goes from one box's edge to another's."""
    for number, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x and x + width <= size[0] and 0 <= y and y + height <= size[1]
        for a, b, c, d in boxes[:number]:
            assert x + width <= a or a + c <= x or y + height <= b or b + d <= y
    for points in lines:
        for px, py in (points[0], points[-1]):
            assert any(x - 0.2 <= px <= x + w + 0.2 and y - 0.2 <= py <= y + h + 0.2 for x, y, w, h in boxes)


def branching():
    start = keras.Input((8, 8, 3), name="start")
    a = layers.Conv2D(3, 1, name="a")(start)
    b = layers.Conv2D(3, 3, padding="same", activation="relu", name="b")(a)
    added = layers.Add(name="added")([a, layers.Conv2D(3, 3, padding="same", name="c")(b)])
    inner = keras.Sequential([keras.Input((8, 8, 6)), layers.Flatten(name="flat"), layers.Dense(4, name="dense<1>")],
                             name="inner")
    return keras.Model(start, inner(layers.Concatenate(name="joined")([start, added])))


def test_a_model_as_svg(tmp_path):
    made = branching()
    text = keras.utils.plot_model(made, tmp_path / "m.svg", show_shapes=True, show_layer_names=True, show_dtype=True,
                                  show_layer_activations=True, show_trainable=True)
    assert (tmp_path / "m.svg").read_text() == text
    boxes, lines, texts, size = drawing(text)
    check_places(boxes, lines, size)
    assert len(boxes) == 7 and len(lines) == 8
    assert "b (Conv2D)" in texts and "activation: relu" in texts and "dtype: float32" in texts and "trainable" in texts
    assert "[(None, 8, 8, 3), (None, 8, 8, 3)] -> (None, 8, 8, 6)" in texts
    place = {name: box for name, box in zip([t for t in texts if re.search(r"\(\w+\)$", t)], boxes)}
    assert place["a (Conv2D)"][1] < place["b (Conv2D)"][1] < place["c (Conv2D)"][1] < place["added (Add)"][1]


def test_other_forms_of_svg(tmp_path):
    made = branching()
    boxes, lines, texts, size = drawing(keras.utils.plot_model(made, None, expand_nested=True, show_layer_names=True))
    check_places(boxes, lines, size)
    assert len(boxes) == 9 and "dense<1> (Dense)" in texts
    boxes, lines, texts, turned = drawing(keras.utils.plot_model(made, None, rankdir="LR"))
    check_places(boxes, lines, turned)
    assert turned[0] > turned[1] and size[1] > size[0]
    boxes, lines, texts, size = drawing(keras.utils.plot_model(keras.applications.ResNet50(weights=None), None))
    check_places(boxes, lines, size)
    assert len(boxes) == 177 and len(lines) == 192
    line = keras.Sequential([keras.Input((4,)), layers.Dense(2), layers.Dense(1)])
    boxes, lines, texts, _ = drawing(keras.utils.plot_model(line, None, show_shapes=True))
    assert (len(boxes), len(lines)) == (3, 2) and texts == [
        "InputLayer", "(None, 4)", "Dense", "(None, 2)", "Dense", "(None, 1)"]
    for wrong, text in ((dict(to_file="m.pdf"), "`.svg`"), (dict(rankdir="X"), "rankdir"),
                        (dict(other=1), "'other'")):
        with pytest.raises(ValueError, match=text):
            keras.utils.plot_model(line, **wrong)
    with pytest.raises(ValueError, match="built"):
        keras.utils.plot_model(keras.Sequential([layers.Dense(1)]), None)


def test_a_model_as_png(tmp_path, monkeypatch):
    """Where the package cairosvg makes it."""
    line, path = keras.Sequential([keras.Input((4,)), layers.Dense(2)]), tmp_path / "m.png"
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(ImportError, match="cairosvg"):
        keras.utils.plot_model(line, path)
    assert not path.exists()
    made = types.ModuleType("cairosvg")
    made.svg2png = lambda bytestring, dpi, scale, background_color: b"%d %.2f %s" % (
        len(bytestring), scale, background_color.encode())
    monkeypatch.setitem(sys.modules, "cairosvg", made)
    text = keras.utils.plot_model(line, path, dpi=48)
    assert text.startswith("<svg") and path.read_bytes() == b"%d 0.50 white" % len(text.encode())


def test_windows_of_a_series():
    series = np.arange(30)

    def windows(**arguments):
        data = keras.utils.timeseries_dataset_from_array(series, series * 10, 6, **arguments)
        return [(np.asarray(rows), np.asarray(targets)) for rows, targets in data]
    (rows, targets), = windows()
    np.testing.assert_array_equal(rows, series[:25, None] + np.arange(6))
    np.testing.assert_array_equal(targets, series[:25] * 10)
    (rows, targets), = windows(sequence_stride=4, sampling_rate=2, start_index=5, end_index=25)
    np.testing.assert_array_equal(rows, 5 + np.array([[0], [4], [8]]) + 2 * np.arange(6))
    np.testing.assert_array_equal(targets, [50, 90, 130])
    first = [int(rows[0, 0]) for rows, _ in windows(shuffle=True, seed=7, batch_size=3)]
    assert first == [2, 16, 15, 5, 13, 9, 18, 6, 24]  # Keras' order
    (alone,) = keras.utils.timeseries_dataset_from_array(np.eye(4), None, 2, sequence_stride=3, batch_size=None)
    assert alone.shape == (2, 4)
    for arguments, text in (({"start_index": 30}, "start_index=30"), ({"sampling_rate": 0}, "sampling_rate=0"),
                            ({"start_index": 9, "end_index": 3}, "end_index=3"),
                            ({"format": "grain"}, "`format`")):
        with pytest.raises(ValueError, match=text):
            windows(**arguments)
