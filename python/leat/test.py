"""``tf.test``: test cases over tensors, and what tests ask of the machine."""

import contextlib
import os
import re
import tempfile
import unittest

import numpy as np

from leat import dtypes, nest
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph.tape import GradientTape
from leat.errors import OpError

__all__ = ["TestCase", "compute_gradient", "disable_with_predicate", "gpu_device_name", "is_built_with_cuda",
           "is_built_with_gpu_support", "is_built_with_rocm", "is_built_with_xla", "is_cpu_target_available",
           "is_gpu_available", "main", "with_eager_op_as_function"]

_HALVES = {"float16": 1e-3, "bfloat16": 1e-2}


class TestCase(unittest.TestCase):
    """A test case whose assertions take tensors, arrays and structures of them (``tf.test.TestCase``)."""

    def setUp(self):
        """Sets the seeds of all random numbers."""
        super().setUp()
        from leat.random import set_seed
        set_seed(87654321)
        np.random.seed(87654321)

    # ---- values ----

    def evaluate(self, tensors):
        """The numpy values of a structure of tensors."""
        return nest.map_structure(_value, tensors)

    def get_temp_dir(self):
        """A folder that lasts as long as the test."""
        if not hasattr(self, "_folder"):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            self._folder = folder.name
        return self._folder

    def create_tempfile(self, file_path="file", content=""):
        """A file in such a folder; its path is the attribute ``full_path``."""
        path = os.path.join(self.get_temp_dir(), file_path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return type("File", (), {"full_path": path})()

    # ---- comparisons ----

    def _arrays(self, a, b):
        a, b = _array(a), _array(b)
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}.")
        return a, b

    def assertAllEqual(self, a, b, msg=None):
        """Equal shapes and values; nan equals nan."""
        a, b = (one.to_list() if hasattr(one, "row_splits") else one for one in (a, b))
        if isinstance(a, list) and isinstance(b, list) and _is_ragged(a):
            self.assertEqual(a, b, msg)
            return
        a, b = self._arrays(a, b)
        same = a == b
        if a.dtype.kind == b.dtype.kind == "f":
            same |= np.isnan(a) & np.isnan(b)
        self.assertTrue(np.all(same), f"{msg or ''}: values differ: {a!r} and {b!r}")

    def assertNotAllEqual(self, a, b, msg=None):
        """Values of which one differs."""
        with self.assertRaises(AssertionError, msg=f"The two values are equal at all elements. {msg or ''}"):
            self.assertAllEqual(a, b)

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Structures with |a - b| <= atol + rtol * |b|; halves are looser."""
        if isinstance(a, dict):
            self.assertIsInstance(b, dict, msg)
            self.assertEqual(sorted(a), sorted(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
            return
        if isinstance(a, (list, tuple)) and any(isinstance(one, (list, tuple, dict, Tensor, np.ndarray)) for one in a):
            self.assertEqual(len(a), len(b), msg)
            for one, other in zip(a, b):
                self.assertAllClose(one, other, rtol, atol, msg)
            return
        a, b = self._arrays(a, b)
        loose = max(_HALVES.get(str(one.dtype), 0.) for one in (a, b))
        a, b = (one.astype(np.float64) if str(one.dtype) == "bfloat16" else one for one in (a, b))
        np.testing.assert_allclose(a, b, max(rtol, loose), max(atol, loose), err_msg=msg or "", equal_nan=True)

    def assertAllCloseAccordingToType(self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6,
                                      half_rtol=1e-3, half_atol=1e-3, bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None):
        """assertAllClose with limits for each dtype."""
        kinds = {str(_array(one).dtype) for one in nest.flatten([a, b])}
        for kind, more, most in (("float32", float_rtol, float_atol), ("float16", half_rtol, half_atol),
                                 ("bfloat16", bfloat16_rtol, bfloat16_atol)):
            if kind in kinds:
                rtol, atol = max(rtol, more), max(atol, most)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Values of which one is further away."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    def assertNear(self, f1, f2, err, msg=None):
        """Two numbers that differ by at most `err`."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r} {msg or ''}")

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        """Two lists of numbers that differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2):
            self.assertNear(float(one), float(other), err, msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """Two arrays whose difference has a norm of at most `err`."""
        self.assertLessEqual(np.linalg.norm(_array(ndarray1) - _array(ndarray2)), err, msg)

    def _all(self, values, test, text):
        values = _array(values)
        self.assertTrue(np.all(test(values)), f"{values!r} {text}")

    def assertAllGreater(self, a, comparison_target):
        """All values are greater."""
        self._all(a, lambda x: x > comparison_target, f"is not greater than {comparison_target}")

    def assertAllGreaterEqual(self, a, comparison_target):
        """All values are greater or equal."""
        self._all(a, lambda x: x >= comparison_target, f"is less than {comparison_target}")

    def assertAllLess(self, a, comparison_target):
        """All values are less."""
        self._all(a, lambda x: x < comparison_target, f"is not less than {comparison_target}")

    def assertAllLessEqual(self, a, comparison_target):
        """All values are less or equal."""
        self._all(a, lambda x: x <= comparison_target, f"is greater than {comparison_target}")

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False):
        """All values lie between bounds, which belong to them unless they are open."""
        self._all(target, lambda x: (x > lower_bound if open_lower_bound else x >= lower_bound) & (
            x < upper_bound if open_upper_bound else x <= upper_bound), f"is not in {lower_bound} to {upper_bound}")

    def assertAllInSet(self, target, expected_set):
        """All values are among some."""
        self._all(target, lambda x: np.isin(x, list(expected_set)), f"is not in {expected_set}")

    def assertShapeEqual(self, input_a, input_b, msg=None):
        """Equal shapes."""
        self.assertEqual(tuple(_array(input_a).shape), tuple(_array(input_b).shape), msg)

    def assertDTypeEqual(self, target, expected_dtype):
        """The dtype is that one."""
        self.assertEqual(dtypes.as_dtype(_array(target).dtype if not hasattr(target, "dtype") else target.dtype),
                         dtypes.as_dtype(expected_dtype))

    def assertStartsWith(self, actual, expected_start, msg=None):
        """The text begins so."""
        self.assertTrue(actual.startswith(expected_start), msg or f"{actual!r} does not start with {expected_start!r}")

    def assertEmpty(self, container, msg=None):
        """Nothing is in it."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container, msg=None):
        """Something is in it."""
        self.assertGreater(len(container), 0, msg)

    def assertLen(self, container, expected_len, msg=None):
        """So much is in it."""
        self.assertEqual(len(container), expected_len, msg)

    def assertDeviceEqual(self, device1, device2, msg=None):
        """Two names of one device."""
        self.assertEqual(*((one or "").lower().replace("device:", "") for one in (device1, device2)), msg)

    def assertProtoEquals(self, expected_message_maybe_ascii, message, msg=None):
        """Equal messages, or a message and its text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            self.assertEqual(expected.split(), str(message).split(), msg)
        else:
            self.assertEqual(expected, message, msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):
        """A block that raises such an exception whose text matches, or of which the function is true."""
        try:
            yield
        except BaseException as error:
            self.assertIsInstance(error, exception_type)
            wanted, text = expected_err_re_or_predicate, getattr(error, "message", None) or str(error)
            holds = wanted(error) if callable(wanted) else re.search(wanted, text)
            self.assertTrue(holds, f"Exception of type {type(error)}: {error}")
            return
        self.fail(f"{exception_type} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        """The same of errors of operations."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type=OpError, expected_err_re_or_predicate="shape"):
        """The same of shapes that do not fit."""
        return self.assertRaisesWithPredicateMatch(exception_type, expected_err_re_or_predicate)


def _value(leaf):
    return leaf.numpy() if hasattr(leaf, "numpy") else leaf


def _array(value):
    if hasattr(value, "to_list") and hasattr(value, "row_splits"):
        value = value.to_list()
    if isinstance(value, (list, tuple)):
        value = [_value(one) for one in value]
    value = _value(value)
    return np.asarray(value, object if isinstance(value, (bytes, str)) else None)


def _is_ragged(rows):
    return any(isinstance(row, list) for row in rows) and len({len(row) for row in rows if isinstance(row, list)}) > 1


def main(argv=None):
    """Runs the tests of the program (``tf.test.main``)."""
    unittest.main(argv=argv)


def compute_gradient(f, x, delta=None):
    """(theoretical, numerical) Jacobians of `f` at the list `x` (``tf.test.compute_gradient``): of each argument a
    matrix of a row for each value of the result and a column for each of the argument."""
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a "
                         f"{type(x)}")
    x = [convert_to_tensor(one) for one in x]
    delta = 1. / 1024 if delta is None else delta
    theoretical, numerical = [], []
    for place, one in enumerate(x):
        with GradientTape() as tape:
            tape.watch(one)
            y = f(*x[:place], one, *x[place + 1:])
        size = one.shape.num_elements()
        found = tape.jacobian(y, one)
        found = np.zeros([y.shape.num_elements(), size]) if found is None else found.numpy()
        theoretical.append(found.reshape(-1, size).astype(one.dtype.as_numpy_dtype))
        numerical.append(_numerical(f, x, place, delta))
    return tuple(theoretical), tuple(numerical)


def _numerical(f, x, place, delta):
    columns, base = [], x[place].numpy()
    base = np.asarray(base)
    for i in range(base.size):
        ends = []
        for step in (delta, -delta):
            moved = base.copy()
            moved.reshape(-1)[i] += step
            ends.append(np.asarray(f(*x[:place], convert_to_tensor(moved), *x[place + 1:]).numpy()).reshape(-1))
        columns.append((ends[0] - ends[1]) / (2 * delta))
    return np.stack(columns, axis=1).astype(base.dtype) if columns else np.zeros([0, 0], base.dtype)


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """False: leat computes on the CPU (``tf.test.is_gpu_available``)."""
    return False


def gpu_device_name():
    """The name of a GPU, of which there is none: "" (``tf.test.gpu_device_name``)."""
    return ""


def is_built_with_cuda():
    """False (``tf.test.is_built_with_cuda``)."""
    return False


def is_built_with_gpu_support():
    """False (``tf.test.is_built_with_gpu_support``)."""
    return False


def is_built_with_rocm():
    """False (``tf.test.is_built_with_rocm``)."""
    return False


def is_built_with_xla():
    """False: functions are compiled without XLA (``tf.test.is_built_with_xla``)."""
    return False


def is_cpu_target_available(target):
    """True of "x86" and "arm" where they are this machine's (``tf.test.is_cpu_target_available``)."""
    import platform
    machine = platform.machine().lower()
    return {"x86": machine in ("x86_64", "amd64", "i686"), "arm": machine in ("aarch64", "arm64")}.get(target, False)


def disable_with_predicate(pred, skip_message):
    """A decorator of tests that are skipped where ``pred()`` is true (``tf.test.disable_with_predicate``)."""
    def decorate(test):
        def wrapped(self, *args, **kwargs):
            if pred():
                self.skipTest(skip_message)
            return test(self, *args, **kwargs)
        return wrapped
    return decorate


def with_eager_op_as_function(cls=None, only_as_function=False):
    """The test class as it is (``tf.test.with_eager_op_as_function``)."""
    return cls if cls is not None else lambda decorated: decorated
