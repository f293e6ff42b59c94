"""Configurations of layers, losses, metrics and others: keras_configs.py recorded what Keras 3.15 gives."""

import json
import pathlib

import keras_configs
import pytest

import leat as tf
from leat import keras

RECORDED = json.loads((pathlib.Path(__file__).parent / "data/keras_configs.json").read_text())
# What Keras leaves out, and so loses: said where it is not the default (docs/COMPATIBILITY.md).
KEPT = {("layers.RandomGrayscale", "seed")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(RECORDED))
def test_what_keras_says(name):
    known, wanted = RECORDED[name]
    place = tf.keras
    for part in name.split("."):
        place = getattr(place, part)
    found = json.loads(json.dumps(keras_configs.configs(place, known)))
    for given in set(wanted) & set(found):
        more = [pair for pair in found[given] if pair not in wanted[given]]
        if (name, given) in KEPT:
            assert [key for key, _ in more] == [given]
        else:
            assert found[given] == wanted[given], given
    assert "" in found or "" not in wanted


def test_what_keras_loses_is_said():
    for made, name in ((tf.keras.losses.CosineSimilarity(axis=0), "axis"), (tf.keras.losses.Huber(delta=2.), "delta"),
                       (tf.keras.metrics.CosineSimilarity(axis=0), "axis"),
                       (tf.keras.initializers.Identity(gain=2.), "gain"),
                       (tf.keras.layers.AlphaDropout(.5, noise_shape=(2, 1)), "noise_shape"),
                       (tf.keras.layers.SpatialDropout1D(.5, trainable=False), "trainable")):
        again = type(made).from_config(made.get_config())
        assert name in made.get_config()
        assert getattr(again, name, None) == getattr(made, name, None)


def test_lists_of_one_stay_in_configurations():
    """Of Keras 3.15."""
    place, end = ["a", 0, 0], ["d", 0, 0]
    inputs = keras.Input((3,), name="a")
    outputs = keras.layers.Dense(4, name="d")(inputs)
    for given, written in ((inputs, place), ([inputs], [place]), ([[inputs]], [[place]]),
                           ([{"x": inputs}], [{"x": place}])):
        model = keras.Model(given, [outputs])
        for one in (model, keras.models.model_from_json(model.to_json())):
            config = one.get_config()
            assert config["input_layers"] == written and config["output_layers"] == [end]
    config = {**model.get_config(), "output_layers": [["none", 0, 0]]}
    with pytest.raises(ValueError, match="none"):
        keras.Model.from_config(config)
