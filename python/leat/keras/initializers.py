"""``keras.initializers``: what weights start with, made of the library's table."""

import math

import numpy as np

from leat import dtypes
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat.keras import backend, random
from leat.keras._base import registry, tables, variables
from leat.keras.random import SeedGenerator, make_default_seed


class Initializer:
    """The base of initializers: callable with a shape and a dtype, it gives a tensor."""

    def __call__(self, shape, dtype=None):
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")

    def get_config(self):
        """The arguments that make another one like it."""
        return {}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)

    def clone(self):
        """Another one like it."""
        return self.__class__.from_config(self.get_config())


class TableInitializer(Initializer):
    """An initializer of the library's table."""

    def _setup(self, given, _):
        self._config = dict(given)
        if self._entry["random"]:
            self.seed = given.get("seed") if given.get("seed") is not None else make_default_seed()
        for name, value in given.items():
            if name != "seed":
                setattr(self, name, value)
        self._arguments = {name: value for name, value in given.items() if name != "seed"}
        self._part = tables.part("initializer", self._entry, self._arguments)

    def _values(self, shape):
        return self._part.initialize(_number(getattr(self, "seed", 0)), shape)

    def __call__(self, shape, dtype=None):
        drawn = self._drawn_as(dtype or backend.floatx())
        if drawn is None:
            return _of_dtype(self._values(tuple(shape)), dtype)
        draw, *arguments = drawn(tuple(shape))
        return draw(tuple(shape), *arguments, dtype=dtypes.as_dtype(dtype or backend.floatx()).name, seed=self.seed)

    def _drawn_as(self, dtype):
        """What says for a shape how its numbers are drawn in another dtype than float32, whose generator gives others:
        a function of keras.random and two arguments. None where the library's are cast."""
        name = self._entry["name"]
        if dtypes.as_dtype(dtype) not in (dtypes.float64, dtypes.float16, dtypes.bfloat16):
            return None
        if name == "RandomUniform":
            return lambda shape: (random.uniform, self.minval, self.maxval)
        draw = {"RandomNormal": random.normal, "TruncatedNormal": random.truncated_normal}.get(name)
        return None if draw is None else lambda shape: (draw, self.mean, self.stddev)

    def get_config(self):
        """The arguments that make another one like it."""
        seed = self._config.get("seed")
        config = {**self._config, "seed": registry.configuration(seed)} if hasattr(seed, "get_config") else (
            dict(self._config))
        return tables.ordered(self._entry, config)

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        if isinstance(config.get("seed"), dict):
            config = {**config, "seed": SeedGenerator.from_config(config["seed"]["config"])}
        return cls(**config)


class FilledInitializer(TableInitializer):
    """``keras.initializers.Constant``: its value is a number, or an array that is repeated over the shape."""

    def _setup(self, given, others):
        self._array = given["value"] if _is_array(given["value"]) else None
        super()._setup({} if self._array is not None else given, others)
        self._config = {"value": given["value"]}
        self.value = given["value"]

    def __call__(self, shape, dtype=None):
        if self._array is None:
            return super().__call__(shape, dtype)
        return ops.FUNCTIONS["broadcast_to"](_of_dtype(self._array, dtype), tuple(shape))

    def get_config(self):
        """The value; an array as its numbers and dtype."""
        if self._array is None:
            return {"value": self.value}
        array = self._array.numpy() if hasattr(self._array, "numpy") else np.asarray(self._array)
        return {"value": {"class_name": "__numpy__", "config": {"value": array.tolist(), "dtype": array.dtype.name}}}

    @classmethod
    def from_config(cls, config):
        """One of this value."""
        return cls(registry.deserialize_keras_object(config["value"]))


# What kinds of one scale are in terms of VarianceScaling: scale and mode; the end of the name says the distribution.
_CUT = 0.87962566103423978  # the standard deviation of a normal distribution that is cut at 2
_SCALES = {"Glorot": (1.0, "fan_avg"), "He": (2.0, "fan_in"), "Lecun": (1.0, "fan_in")}


class ScaledInitializer(TableInitializer):
    """``keras.initializers.VarianceScaling`` and its kin: with `input_axes` and `output_axes` the fans are products of
    sizes."""

    def _setup(self, given, others):
        if isinstance(given.get("distribution"), str):
            name = given["distribution"].lower()
            given["distribution"] = "truncated_normal" if name == "normal" else name
        super()._setup(given, others)

    def _values(self, shape):
        if self.input_axes is None or self.output_axes is None:
            return super()._values(shape)
        given, wanted = compute_fans(shape), compute_fans(shape, self.input_axes, self.output_axes)
        scale, mode, distribution = self._as_scaled()
        fan = {"fan_in": lambda fans: fans[0], "fan_out": lambda fans: fans[1]}.get(mode, lambda fans: sum(fans) / 2)
        scale *= max(1.0, fan(given)) / max(1.0, fan(wanted))
        part = tables.part("initializer", tables.entry_of("initializer", "VarianceScaling"),
                           {"scale": scale, "mode": mode, "distribution": distribution})
        return part.initialize(_number(self.seed), shape)

    def _drawn_as(self, dtype):
        if dtypes.as_dtype(dtype) not in (dtypes.float64, dtypes.float16, dtypes.bfloat16):
            return None
        scale, mode, distribution = self._as_scaled()

        def drawn(shape):
            fans = compute_fans(shape, self.input_axes, self.output_axes)
            fan = {"fan_in": fans[0], "fan_out": fans[1]}.get(mode, sum(fans) / 2)
            spread = math.sqrt(scale / max(1.0, fan))
            if distribution == "uniform":
                return random.uniform, -math.sqrt(3.0) * spread, math.sqrt(3.0) * spread
            if distribution == "truncated_normal":
                return random.truncated_normal, 0.0, spread / _CUT
            return random.normal, 0.0, spread
        return drawn

    def _as_scaled(self):
        if hasattr(self, "distribution"):
            return self.scale, self.mode, self.distribution
        name = self._entry["name"]
        kind = name.removesuffix("Normal").removesuffix("Uniform")
        return *_SCALES[kind], "uniform" if name.endswith("Uniform") else "truncated_normal"


class _Orthogonal(TableInitializer):
    """``keras.initializers.Orthogonal``, whose numbers are others in float64."""

    def __call__(self, shape, dtype=None):
        if dtypes.as_dtype(dtype or backend.floatx()) is not dtypes.float64 or len(shape) < 2:
            return super().__call__(shape, dtype)
        rows, columns = math.prod(shape[:-1]), shape[-1]
        normal = random.normal((max(rows, columns), min(rows, columns)), dtype="float64", seed=self.seed)
        turned, upper = ops.FUNCTIONS["linalg.qr"](normal)
        turned *= ops.FUNCTIONS["math.sign"](ops.FUNCTIONS["linalg.diag_part"](upper))
        turned = ops.FUNCTIONS["transpose"](turned) if rows < columns else turned
        return ops.FUNCTIONS["reshape"](turned, list(shape)) * self.gain


class MatrixInitializer(TableInitializer):
    """``keras.initializers.Identity``: of matrices alone."""

    def __call__(self, shape, dtype=None):
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices. Received: "
                             f"shape={tuple(shape)} of rank {len(shape)}.")
        return super().__call__(shape, dtype)


def compute_fans(shape, input_axes=None, output_axes=None):
    """(how many inputs, how many outputs) a weight of this shape connects; the axes of both may be told."""
    if input_axes is not None and output_axes is not None:
        return tuple(math.prod(shape[axis] for axis in axes) for axes in (input_axes, output_axes))
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    return math.prod(shape[:-1]), math.prod(shape[:-2]) * shape[-1]


def _number(seed):
    """A seed as one number: of a generator, that of its next call."""
    if not hasattr(seed, "next"):
        return int(seed)
    first, calls = (int(part) for part in seed.next().numpy())
    return (first + calls * 2654435761) % (2 ** 31 - 1) if calls else first


def _is_array(value):
    return isinstance(value, np.ndarray) and value.ndim > 0 or hasattr(value, "_as_tensor") or (
        hasattr(value, "shape") and len(value.shape) > 0) or isinstance(value, (list, tuple))


def _of_dtype(value, dtype):
    wanted = dtypes.as_dtype(dtype or backend.floatx())
    value = convert_to_tensor(value._as_tensor() if hasattr(value, "_as_tensor") else value)
    return value if value.dtype is wanted else ops.FUNCTIONS["cast"](value, wanted)


def _cosines(*shares):
    """A window that is a sum of cosines."""
    def window(length):
        turns = np.linspace(-np.pi, np.pi, length)
        return sum(share * np.cos(number * turns) for number, share in enumerate(shares))
    return window


def _along(function):
    """A window that is a function of places from -1 to 1."""
    return lambda length: function(np.abs(np.linspace(-1, 1, length)))


def _tukey(length):
    places = np.minimum(np.arange(length), np.arange(length)[::-1]) * 4 / max(length - 1, 1)
    return np.where(places < 1, 0.5 - 0.5 * np.cos(np.pi * np.minimum(places, 1)), 1.0)


def _parzen(length):
    place = np.abs(np.arange(length) - (length - 1) / 2) * 2 / length
    return np.where(place <= 0.5, 1 - 6 * place ** 2 * (1 - place), 2 * (1 - place) ** 3)


def _triangle(length):
    return 1 - np.abs(2 * np.arange(length) - length + 1) / (length + length % 2)


_WINDOWS = {  # those of scipy.signal.windows that take no numbers
    "hann": np.hanning, "hamming": np.hamming, "blackman": np.blackman, "bartlett": np.bartlett, "boxcar": np.ones,
    "flattop": _cosines(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368), "triang": _triangle,
    "nuttall": _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411), "tukey": _tukey, "parzen": _parzen,
    "blackmanharris": _cosines(0.35875, 0.48829, 0.14128, 0.01168), "lanczos": _along(np.sinc),
    "barthann": _along(lambda x: 0.62 - 0.24 * x + 0.38 * np.cos(np.pi * x)),
    "bohman": _along(lambda x: (1 - x) * np.cos(np.pi * x) + np.sin(np.pi * x) / np.pi),
    "cosine": lambda length: np.sin(np.pi / length * (np.arange(length) + 0.5)),
    "exponential": lambda length: np.exp(-np.abs(np.arange(length) - (length - 1) / 2))}


class STFT(Initializer):
    """The kernel [length, 1, frequencies] of a convolution that is a Fourier transform (``keras.initializers.STFT``).

    `side`: "real" or "imag". `window`: the name of one of scipy's, such as "hann", an array, or None; divided by its
    norm ("density") or its sum ("spectrum"). `periodic`: the window begins anew behind its last value.
    """

    def __init__(self, side="real", window="hann", scaling="density", periodic=False):
        if side not in ("real", "imag"):
            raise ValueError(f"side should be 'real' or 'imag', not {side}")
        if isinstance(window, str) and window not in _WINDOWS:
            raise ValueError(f"window {window!r} is none of {', '.join(_WINDOWS)}; give its values as an array")
        if scaling not in (None, "density", "spectrum"):
            raise ValueError("Scaling is invalid, it must be `None`, 'density' or 'spectrum'. Received "
                             f"scaling={scaling}")
        self.side, self.window, self.scaling, self.periodic = side, window, scaling, periodic

    def __call__(self, shape, dtype=None):
        length, _, frequencies = shape
        turns = np.arange(length)[:, None, None] * np.arange(frequencies) / (2 * (frequencies - 1))
        kernel = np.cos(2 * np.pi * turns) if self.side == "real" else -np.sin(2 * np.pi * turns)
        if self.window is not None:
            window = self._values(length)
            norm = {"density": np.sqrt(np.sum(window ** 2)), "spectrum": np.sum(np.abs(window)), None: 1}
            kernel = kernel * window[:, None, None] / norm[self.scaling]
        return _of_dtype(kernel, dtype)

    def _values(self, length):
        if isinstance(self.window, str) and length == 1:
            return np.ones(1)
        if isinstance(self.window, str):
            return _WINDOWS[self.window](length + 1)[:length] if self.periodic else _WINDOWS[self.window](length)
        window = np.asarray(self.window)
        if window.shape != (length,):
            raise ValueError("The shape of `window` must be equal to [frame_length]. Received: window "
                             f"shape={window.shape}")
        return window

    def get_config(self):
        """The arguments that make another one like it."""
        return {"side": self.side, "window": self.window, "periodic": self.periodic, "scaling": self.scaling}


STFTInitializer = stft = STFT
_BY_NAME = {"STFT": STFT, "stft": STFT, "STFTInitializer": STFT}
for _entry in tables.entries("initializer"):
    _is_scaled = any(word["name"] == "input_axes" for word in _entry["signature"] or ())
    _base = {"Constant": FilledInitializer, "Identity": MatrixInitializer, "Orthogonal": _Orthogonal}.get(
        _entry["name"], ScaledInitializer if _is_scaled else TableInitializer)
    _class = tables.make_class("initializer", _entry, _base, __name__, _base._setup)
    globals()[_entry["name"]] = globals()[_entry["identifier"]] = _class
    _BY_NAME[_entry["name"]] = _BY_NAME[_entry["identifier"]] = _class
    _BY_NAME[_entry["name"].lower()] = _class


IdentityInitializer, OrthogonalInitializer = _BY_NAME["Identity"], _BY_NAME["Orthogonal"]
_BY_NAME.update(IdentityInitializer=IdentityInitializer, OrthogonalInitializer=OrthogonalInitializer)
_ALIASES = {"uniform": "random_uniform", "normal": "random_normal", "zero": "zeros", "one": "ones"}


@variables.initializer_of.provide
def get(identifier):
    """An initializer by name, configuration, class, itself, or an array of its values (``keras.initializers.get``).

    ValueError.
    """
    if isinstance(identifier, np.ndarray) or isinstance(identifier, Tensor):
        def values(shape, dtype=None):
            if tuple(shape) != tuple(identifier.shape):
                raise ValueError(f"Expected `shape` to be {tuple(identifier.shape)} for direct tensor as initializer. "
                                 f"Received shape={tuple(shape)}")
            return _of_dtype(identifier, dtype)
        return values
    return registry.by_identifier("initializer", _BY_NAME, _ALIASES, identifier)


def serialize(initializer):
    """The configuration of an initializer."""
    return registry.configuration(initializer)


def deserialize(config, custom_objects=None):
    """The initializer of a configuration."""
    return registry.from_configuration("initializer", _BY_NAME.get, config, custom_objects)
