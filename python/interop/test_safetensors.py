"""Weights as safetensors, both ways with the real package."""

import ml_dtypes
import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from leat import keras
from leat.keras import layers
from leat.keras.saving import safetensors


def model():
    return keras.Sequential([keras.Input((4,)), layers.Dense(3), layers.BatchNormalization(), layers.Dense(2)])


def test_the_package_reads_what_leat_writes(tmp_path):
    made = model()
    made.save_weights(tmp_path / "w.safetensors")
    found = load_file(tmp_path / "w.safetensors")
    assert set(found) == {"layers/dense/kernel", "layers/dense/bias", "layers/batch_normalization/gamma",
                          "layers/batch_normalization/beta", "layers/batch_normalization/moving_mean",
                          "layers/batch_normalization/moving_variance", "layers/dense_1/kernel", "layers/dense_1/bias"}
    np.testing.assert_array_equal(found["layers/dense_1/kernel"], made.layers[2].kernel.numpy())


def test_leat_reads_what_the_package_writes(tmp_path):
    made, other = model(), model()
    made.save_weights(tmp_path / "w.safetensors")
    save_file(load_file(tmp_path / "w.safetensors"), tmp_path / "again.safetensors", metadata={"format": "np"})
    other.load_weights(tmp_path / "again.safetensors")
    for found, expected in zip(other.get_weights(), made.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_every_dtype(tmp_path):
    kinds = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
             "float64"]
    arrays = {kind: np.arange(6).reshape(2, 3).astype(kind) for kind in kinds}
    arrays.update(empty=np.zeros((0, 2), np.float32), scalar=np.float32(2.5))
    (tmp_path / "a.safetensors").write_bytes(safetensors.encode(arrays))
    read = load_file(tmp_path / "a.safetensors")
    save_file({name: np.asarray(value) for name, value in arrays.items()}, tmp_path / "b.safetensors")
    again = safetensors.load(tmp_path / "b.safetensors")
    for found in (read, again):
        assert set(found) == set(arrays)
        for name, value in arrays.items():
            assert found[name].dtype == value.dtype and found[name].shape == np.shape(value)
            np.testing.assert_array_equal(found[name], value)
    half = np.array([1.5, -2], ml_dtypes.bfloat16)
    (tmp_path / "c.safetensors").write_bytes(safetensors.encode({"half": half}))
    np.testing.assert_array_equal(safetensors.load(tmp_path / "c.safetensors")["half"], half)


def test_both_refuse_a_damaged_file(tmp_path):
    model().save_weights(tmp_path / "w.safetensors")
    data = (tmp_path / "w.safetensors").read_bytes()
    for cut in (data[:5], data[:40], data[:-1]):
        (tmp_path / "c.safetensors").write_bytes(cut)
        with pytest.raises(SafetensorError):
            load_file(tmp_path / "c.safetensors")
        with pytest.raises(ValueError):
            model().load_weights(tmp_path / "c.safetensors")
