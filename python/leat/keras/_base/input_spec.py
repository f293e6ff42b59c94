"""``keras.InputSpec``: what a layer takes, and the check that a call's first argument is that."""

from leat import dtypes, nest


class InputSpec:
    """What a layer takes (``keras.InputSpec``): `ndim`, `min_ndim`, `max_ndim`, `axes` {dimension: size}, `shape`.

    `allow_last_axis_squeeze`: a last dimension of 1 may be missing or too many. `optional`: None may be given.
    """

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None,
                 allow_last_axis_squeeze=False, name=None, optional=False):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.name, self.optional = name, optional
        self.shape = None if shape is None else tuple(shape)
        self.ndim = len(self.shape) if shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"Argument `axes` must be a dict with integer keys. Received: axes={axes}") from None
        most = self.ndim if self.ndim is not None else max_ndim
        if self.axes and most is not None and max(self.axes) >= most:
            raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {most - 1}")

    def __repr__(self):
        words = [f"dtype={self.dtype}" if self.dtype else "", f"shape={self.shape}" if self.shape else "",
                 f"ndim={self.ndim}" if self.ndim else "", f"max_ndim={self.max_ndim}" if self.max_ndim else "",
                 f"min_ndim={self.min_ndim}" if self.min_ndim else "", f"axes={self.axes}" if self.axes else ""]
        return f"InputSpec({', '.join(word for word in words if word)})"

    def check(self, shape, layer, index=0, name=None, dtype=None):
        """ValueError where an input's shape, or its dtype if one is given, does not fit."""
        start = f"Input {index} with name '{name}' of layer '{layer}' is incompatible with the layer: "
        rank = len(shape)
        if self.ndim is not None and rank != self.ndim and not self.allow_last_axis_squeeze:
            raise ValueError(f"{start}expected ndim={self.ndim}, found ndim={rank}. Full shape received: {shape}")
        if self.max_ndim is not None and rank > self.max_ndim:
            raise ValueError(f"{start}expected max_ndim={self.max_ndim}, found ndim={rank}")
        if self.min_ndim is not None and rank < self.min_ndim:
            raise ValueError(f"{start}expected min_ndim={self.min_ndim}, found ndim={rank}. Full shape received: "
                             f"{shape}")
        if None not in (self.dtype, dtype) and dtype != self.dtype:
            raise ValueError(f"{start}expected dtype={self.dtype}, found dtype={dtype}")
        for axis, size in self.axes.items():
            if size is not None and shape[axis] not in (size, None):
                raise ValueError(f"{start}expected axis {axis} of input shape to have value {size}, but received input "
                                 f"with shape {shape}")
        wanted, found = self.shape or (), shape
        if self.allow_last_axis_squeeze:
            wanted, found = (given[:-1] if given and given[-1] == 1 else given for given in (wanted, found))
        if any(None not in pair and pair[0] != pair[1] for pair in zip(wanted, found)):
            raise ValueError(f"{start}expected shape={self.shape}, found shape={shape}")

    def get_config(self):
        """The arguments that make another one like it."""
        return {"dtype": self.dtype, "shape": self.shape, "ndim": self.ndim, "max_ndim": self.max_ndim,
                "min_ndim": self.min_ndim, "axes": self.axes, "optional": self.optional}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


def check_inputs(specs, inputs, layer, shape_of):
    """ValueError where what a layer is given is not what its specs say; `layer` is its name."""
    specs = nest.flatten(specs)
    names = [spec.name for spec in specs if spec is not None]
    if isinstance(inputs, dict) and len(names) == len(specs) and all(names):
        missing = [name for name in names if name not in inputs]
        if missing:
            raise ValueError(f"Missing data for input \"{missing[0]}\". You passed a data dictionary with keys "
                             f"{list(inputs)}. Expected the following keys: {names}")
        inputs = [inputs[name] for name in names]
    inputs = nest.flatten(inputs)
    if len(inputs) != len(specs):
        raise ValueError(f'Layer "{layer}" expects {len(specs)} input(s), but it received {len(inputs)} input tensors. '
                         f"Inputs received, by shape: {[getattr(value, 'shape', value) for value in inputs]}")
    for index, (spec, value) in enumerate(zip(specs, inputs)):
        if spec is None or value is None and spec.optional:
            continue
        if not hasattr(value, "shape"):
            raise ValueError(f"Inputs to a layer should be tensors. Got '{value}' (of type {type(value)}) as input for "
                             f"layer '{layer}'.")
        if getattr(value.shape, "rank", 0) is not None:
            dtype = getattr(value, "dtype", None)
            spec.check(shape_of(value), layer, index, spec.name, getattr(dtype, "name", dtype))
