"""Arguments that layers refuse, as Keras 3.15 does, when they are made; recorded by trying each there."""
import numpy as np
import pytest

from leat import keras

REFUSED = [("Cropping1D", (1, 2, 3)), ("Cropping1D", (-1, 2)), ("Cropping2D", (1, 2, 3)),
           ("Cropping2D", ((1, 2), (3,))), ("Cropping2D", (-1, 1)), ("Cropping3D", (1, 2)),
           ("Cropping3D", ((1, 2), (1, 1), (1,))), ("Cropping3D", (-1, 1, 1)), ("ZeroPadding1D", (1, 2, 3)),
           ("ZeroPadding1D", (-1, 1)), ("ZeroPadding2D", (1, 2, 3)), ("ZeroPadding2D", (-1, 1)),
           ("ZeroPadding3D", (1, 2)), ("ZeroPadding3D", (-1, 1, 1)), ("UpSampling1D", 0),
           ("UpSampling2D", (1, 2, 3)), ("UpSampling3D", (1, 2)), ("MaxPooling1D", 0),
           ("MaxPooling2D", (1, 2, 3)), ("AveragePooling3D", (1, 2)), ("RepeatVector", -1),
           ("Permute", (0, 1)), ("Permute", (1, 3)), ("Reshape", (-2, 5)), ("Reshape", (-1, -1)),
           ("GroupNormalization", -2), ("GroupNormalization", 1.5), ("GroupNormalization", "32"),
           ("SpatialDropout1D", 1.5), ("Dropout", -0.1),
           ("GaussianNoise", -1.0), ("GaussianDropout", 2.0), ("LeakyReLU", -1.0), ("LeakyReLU", None),
           ("ReLU", -1.0), ("GroupNormalization", 0), ("Dense", 0)]


@pytest.mark.parametrize("name, value", REFUSED)
def test_layers_refuse(name, value):
    with pytest.raises(ValueError):
        getattr(keras.layers, name)(value)


@pytest.mark.parametrize("name, value", [("UpSampling1D", True), ("UpSampling1D", 2.5), ("UnitNormalization", {}),
                                         ("LayerNormalization", {})])
def test_other_types(name, value):
    with pytest.raises(TypeError):
        getattr(keras.layers, name)(value)


def test_a_range_of_unknown_size():
    with pytest.raises(ValueError, match="unknown"):
        keras.ops.arange(keras.ops.shape(keras.Input((None,)))[1])


def test_embedding_of_no_words():
    with pytest.raises(ValueError, match="positive"):
        keras.layers.Embedding(0, 3)


@pytest.mark.parametrize("loss", ["BinaryCrossentropy", "BinaryFocalCrossentropy", "CategoricalCrossentropy"])
@pytest.mark.parametrize("true, pred", [((3,), (2, 3)), ((3, 4), (2, 3, 4)), ((2, 3, 4), (3, 4)), ((3, 1), (2, 3, 4))])
def test_labels_of_another_rank(loss, true, pred):
    """They do not broadcast."""
    with pytest.raises(ValueError, match="shape"):
        getattr(keras.losses, loss)()(np.ones(true, np.float32), np.full(pred, 0.5, np.float32))


def test_r2_of_vectors():
    metric = keras.metrics.R2Score()
    with pytest.raises(ValueError, match="2D"):
        metric.update_state([1.0, 2, 4], [[1.0, 2], [2.5, 1], [3, 1]])
    with pytest.raises(ValueError, match="2D"):
        keras.metrics.R2Score().update_state([1.0, 2, 4], [1.0, 2.5, 3])
    metric.update_state([1.0, 2, 4], [[1.0], [2.5], [3]])
    assert abs(float(metric.result()) - 0.7321429) < 1e-6
