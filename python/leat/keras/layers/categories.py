"""Layers that number values, or make vectors of numbers, and do more than the library's."""

import numpy as np

from leat._graph import ops
from leat.keras._base import tables
from leat.keras._base.named import op as _op
from leat.keras._base.symbolic import KerasTensor
from leat.keras.layers import quantiles
from leat.keras.layers.lookups import Numbering, checked_sparse, encode
from leat.keras.layers.table import TableLayer


class CategoryEncoding(Numbering, TableLayer):
    """Numbers of categories as vectors (``keras.layers.CategoryEncoding``).

    `output_mode`: "one_hot" for each number, "multi_hot" for what a row has, "count" for how often it has it.
    """

    _entry = tables.entry_of("layer", "CategoryEncoding")

    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        output_mode = "multi_hot" if output_mode == "binary" else output_mode
        if output_mode not in ("count", "one_hot", "multi_hot"):
            raise ValueError(f"Unknown arg for output_mode: {output_mode}")
        if num_tokens is None:
            raise ValueError("num_tokens must be set to use this layer. If the number of tokens is not known "
                             "beforehand, use the IntegerLookup layer instead.")
        if num_tokens < 1:
            raise ValueError(f"`num_tokens` must be >= 1. Received: num_tokens={num_tokens}.")
        super().__init__(num_tokens=num_tokens, output_mode=output_mode, **kwargs)
        self.sparse = self._given["sparse"] = bool(sparse)

    def get_config(self):
        """The arguments that make another one like it; Keras' do not say `sparse`."""
        config = super().get_config()
        return config if self.sparse else {name: value for name, value in config.items() if name != "sparse"}

    def _of_rows(self, inputs):
        numbers = _op("cast", inputs.flat_values, "int64")
        return encode(inputs.with_flat_values(numbers).to_tensor(-1), self.output_mode, self.num_tokens,
                      self.compute_dtype)

    def call(self, inputs, count_weights=None):
        """The vectors. `count_weights`: what each number counts, in the mode "count"."""
        if count_weights is None:
            return super().call(inputs)
        if self.output_mode != "count":
            raise ValueError("`count_weights` is not used when `output_mode` is not `'count'`. Received "
                             f"`count_weights={count_weights}`.")
        numbers = ops.FUNCTIONS["cast"](inputs, "int64")
        return encode(numbers, "count", self.num_tokens, self.compute_dtype, count_weights)


class Discretization(Numbering, TableLayer):
    """The number of the bin of each value (``keras.layers.Discretization``).

    `bin_boundaries` are given, or found by `adapt`, which makes `num_bins` bins of equally many values, but for a part
    of `epsilon`. `output_mode`: "int", or as in CategoryEncoding.
    """

    _entry = tables.entry_of("layer", "Discretization")

    def __init__(self, bin_boundaries=None, num_bins=None, epsilon=0.01, output_mode="int", sparse=False, dtype=None,
                 name=None):
        if num_bins is not None and num_bins < 0:
            raise ValueError("`num_bins` must be greater than or equal to 0. Received: "
                             f"`num_bins={num_bins}`")
        if (bin_boundaries is None) == (num_bins is None):
            raise ValueError("You need to set either `num_bins` or `bin_boundaries`." if num_bins is None else
                             "Both `num_bins` and `bin_boundaries` should not be set. Received: "
                             f"`num_bins={num_bins}` and `bin_boundaries={bin_boundaries}`")
        super().__init__(bin_boundaries=[0.0] if bin_boundaries is None else bin_boundaries, output_mode=output_mode,
                         dtype=dtype, name=name)
        self.sparse = checked_sparse(sparse, output_mode)
        self.num_bins, self.epsilon, self.bin_boundaries, self.summary = num_bins, epsilon, bin_boundaries, None

    def adapt(self, data, steps=None):
        """Finds the boundaries in an array, a tensor, or `steps` batches of a dataset or iterable, None: all."""
        if self.num_bins is None:
            raise ValueError("Cannot adapt a Discretization layer that has been initialized with `bin_boundaries`, use "
                             "`num_bins` instead.")
        self.summary = np.zeros((2, 0), np.float32)
        for step, batch in enumerate([data] if hasattr(data, "shape") else data):
            if steps is not None and step >= steps:
                break
            found = quantiles.summary_of(np.asarray(batch), self.epsilon)
            self.summary = quantiles.merged(found, self.summary, self.epsilon)
        self._set_boundaries(quantiles.boundaries(self.summary, self.num_bins))

    def _set_boundaries(self, boundaries):
        self.bin_boundaries = boundaries
        self._part = self._part_alone = tables.part("layer", self._entry, {
            "bin_boundaries": boundaries, "output_mode": self.output_mode})
        self._compiled = None

    @property
    def output_dtype(self):
        """The dtype of what the layer gives: "int32" for numbers of bins."""
        return "int32" if self.output_mode == "int" else self.compute_dtype

    def compute_output_spec(self, inputs):
        """A KerasTensor for what it gives for one."""
        return KerasTensor(self.compute_output_shape(tuple(inputs.shape)), self.output_dtype)

    def call(self, inputs):
        """The numbers, or what output_mode makes of them."""
        if self.bin_boundaries is None:
            raise ValueError("You need to either pass the `bin_boundaries` argument at construction time or call "
                             "`adapt(dataset)` before you can start using the `Discretization` layer.")
        return super().call(inputs)

    def compute_output_shape(self, input_shape):
        """The shape of the output for an input of this shape, also before `adapt`."""
        shape = tuple(input_shape)
        depth = self.num_bins if self.bin_boundaries is None else len(self.bin_boundaries) + 1
        if self.output_mode == "int":
            return shape
        if self.output_mode == "one_hot":
            return (*(shape[:-1] if len(shape) > 1 and shape[-1] == 1 else shape), depth)
        return (*shape[:1], *shape[2:], depth) if len(shape) > 1 else (depth,)

    def get_config(self):
        """The arguments that make another one like it."""
        return {"bin_boundaries": self.bin_boundaries, "num_bins": self.num_bins, "epsilon": self.epsilon,
                "output_mode": self.output_mode, "sparse": self.sparse, "name": self.name, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config):
        """One of these arguments; both boundaries and a number of bins are those of one that has looked at data."""
        config = dict(config)
        found = config.pop("bin_boundaries") if config.get("num_bins") is not None else None
        made = cls(**config)
        if found is not None:
            made._set_boundaries(found)
        return made
