"""Factors of matrices whose signs are free, so that there are no values to compare with, and where they run."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import leat as tf


def matrices(seed, *shape, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 7), st.integers(0, 7), st.booleans(), st.booleans())
def test_svd(seed, rows, columns, full, stacked):
    x = matrices(seed, *([2] if stacked else []), rows, columns)
    s, u, v = (part.numpy() for part in tf.linalg.svd(x, full_matrices=full))
    least = min(rows, columns)
    assert s.shape == x.shape[:-2] + (least,)
    assert u.shape[-1] == (rows if full else least) and v.shape[-1] == (columns if full else least)
    np.testing.assert_allclose((u[..., :least] * s[..., None, :]) @ np.swapaxes(v[..., :least], -1, -2), x, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False), atol=1e-12)
    for q in (u, v):
        np.testing.assert_allclose(np.swapaxes(q, -1, -2) @ q, np.broadcast_to(np.eye(q.shape[-1]), q.shape[:-2] + (
            q.shape[-1],) * 2), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 7))
def test_eigh(seed, size):
    x = matrices(seed, 2, size, size)
    x = x + np.swapaxes(x, -1, -2)
    values, vectors = (part.numpy() for part in tf.linalg.eigh(x))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(x), atol=1e-12)
    np.testing.assert_allclose(x @ vectors, vectors * values[:, None, :], atol=1e-12)
    np.testing.assert_array_equal(tf.linalg.eigh(np.tril(x)).__class__, tuple)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 3))
def test_against_numpy(seed, size, columns):
    x, b = matrices(seed, size, size) + 3 * np.eye(size), matrices(seed + 1, size, columns)
    np.testing.assert_allclose(tf.linalg.inv(x).numpy(), np.linalg.inv(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tf.linalg.solve(x, b).numpy(), np.linalg.solve(x, b), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tf.linalg.det(x).numpy(), np.linalg.det(x), rtol=1e-9)
    np.testing.assert_allclose(tf.linalg.pinv(b).numpy(), np.linalg.pinv(b), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(tf.linalg.lu_reconstruct(*tf.linalg.lu(x)).numpy(), x, atol=1e-12)
    q, r = tf.linalg.qr(b)
    np.testing.assert_allclose(q.numpy() @ r.numpy(), b, atol=1e-12)
    power = x @ x.T
    np.testing.assert_allclose(tf.linalg.logdet(power).numpy(), np.linalg.slogdet(power)[1], rtol=1e-9)


def test_in_datasets(caplog):
    rows = matrices(1, 6, 3, 3, dtype=np.float32) + 3 * np.eye(3, dtype=np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(rows).map(lambda x: (
        tf.linalg.inv(x), tf.linalg.svd(x, compute_uv=False), tf.linalg.expm(x)))
    for x, (inverse, values, power) in zip(rows, dataset):
        np.testing.assert_allclose(inverse.numpy(), np.linalg.inv(x), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(values.numpy(), np.linalg.svd(x, compute_uv=False), rtol=1e-5)
        np.testing.assert_allclose(power.numpy(), tf.linalg.expm(x).numpy(), rtol=1e-4)
    assert not caplog.records  # no callback


def test_results_have_names():
    x = [[4.0, 1.0], [1.0, 3.0]]
    assert tf.linalg.qr(x)._fields == ("q", "r") and tf.linalg.lu(x)._fields == ("lu", "p")
    assert tf.linalg.slogdet(x)._fields == ("sign", "log_abs_determinant")
    assert type(tf.linalg.svd(x)) is tuple and isinstance(tf.linalg.svd(x, compute_uv=False), tf.Tensor)
    with pytest.raises(tf.errors.InvalidArgumentError, match="invertible") as caught:
        list(tf.data.Dataset.from_tensor_slices([np.eye(2), np.zeros((2, 2))]).map(tf.linalg.inv))
    assert caught.value.element == 1
