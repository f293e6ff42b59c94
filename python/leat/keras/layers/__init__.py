"""``keras.layers``: the layers of the library's table, and those that are written in Python."""

import warnings

import numpy as np

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat._graph import ops
from leat.keras._base import masking, tables
from leat.keras._base.layer import InputSpec, KerasTensor, Layer, Node  # noqa: F401
from leat.keras._base.variables import Variable
from leat.keras.layers import borders, merging, pictures
from leat.keras.layers.lookups import Hashing, IntegerLookup, Numbering, StringLookup, encode  # noqa: F401
from leat.keras.layers.table import TableLayer
from leat.keras.layers.text import TextVectorization  # noqa: F401
from leat.keras.layers.wrappers import Pipeline, SpectralNormalization, Wrapper  # noqa: F401

def _op(path, *args, **kwargs):
    return ops.FUNCTIONS[path](*args, **kwargs)


for _entry in tables.entries("layer"):
    _base = pictures.PictureLayer if _entry["prepares"] and _entry["min_rank"] == 3 else TableLayer
    if _entry["name"].startswith(("Cropping", "ZeroPadding")):
        _base = borders.BorderLayer
    globals()[_entry["name"]] = tables.make_class("layer", _entry, _base, __name__, _base._setup, "kwargs")


class InputLayer(Layer):
    """Says what a model takes (``keras.layers.InputLayer``): `shape` of one example, `batch_size`, `dtype`.

    `input_tensor`: a KerasTensor to begin at, in place of a new one.
    """

    sparse = ragged = False

    def __init__(self, shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None,
                 input_tensor=None, optional=False, name=None, **kwargs):
        if "input_shape" in kwargs:
            warnings.warn("Argument `input_shape` is deprecated. Use `shape` instead.", stacklevel=2)
            shape = kwargs.pop("input_shape")
        if "batch_input_shape" in kwargs:
            batch_shape = kwargs.pop("batch_input_shape")
        shape = (shape,) if isinstance(shape, int) else shape
        if input_tensor is not None:
            batch_shape, dtype = _as_tensor_says(input_tensor, shape, batch_size, batch_shape, dtype, sparse, ragged)
        elif shape is not None and batch_shape is not None:
            raise ValueError("You cannot pass both `shape` and `batch_shape` at the same time.")
        elif batch_size is not None and batch_shape is not None:
            raise ValueError("You cannot pass both `batch_size` and `batch_shape` at the same time.")
        elif shape is None and batch_shape is None:
            raise ValueError("You must pass a `shape` argument.")
        super().__init__(name=name, dtype=dtype, **kwargs)
        for word, given in (("sparse", sparse), ("ragged", ragged)):
            if given:
                raise ValueError(f"`{word}=True` is not supported: leat's models take dense tensors; leave it out")
        self.batch_shape = tuple((batch_size, *shape) if batch_shape is None else batch_shape)
        self._input_dtype = dtypes.as_dtype(dtype or "float32").name
        self.optional = optional
        self.built = True
        output = KerasTensor(self.batch_shape, self._input_dtype, name=self.name)
        Node(self, (), {}, output if input_tensor is None else input_tensor)

    dtype = property(lambda self: self._input_dtype)

    def call(self, *args):
        """Its input, if it has any."""
        return args[0] if args else None

    def get_config(self):
        """The arguments that make another one like it."""
        return {"batch_shape": self.batch_shape, "dtype": self.dtype, "sparse": False, "ragged": False,
                "name": self.name, "optional": self.optional}


def _as_tensor_says(tensor, shape, batch_size, batch_shape, dtype, sparse, ragged):
    """Shape and dtype of the tensor that an InputLayer begins at. ValueError where other arguments say otherwise."""
    if not isinstance(tensor, KerasTensor):
        raise ValueError(f"Argument `input_tensor` must be a KerasTensor. Received invalid type: input_tensor={tensor} "
                         f"(of type {type(tensor)})")
    for name, given, own in (
            ("shape", shape, tensor.shape[1:]), ("batch_shape", batch_shape, tensor.shape),
            ("batch_size", batch_size, tensor.shape[0]), ("dtype", dtype, tensor.dtype),
            ("sparse", sparse or None, tensor.sparse), ("ragged", ragged or None, tensor.ragged)):
        if given is not None and (tuple(given) if name.endswith("shape") else given) != own:
            raise ValueError("When providing the `input_tensor` argument, you cannot provide an incompatible "
                             f"`{name}` argument. Received {name}={given}; the tensor has {own}")
    return tensor.shape, tensor.dtype


def Input(shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None, name=None, tensor=None,
          optional=False):
    """What a model takes, as the start of its layers (``keras.Input``): a KerasTensor of (batch, *shape)."""
    return InputLayer(shape=shape, batch_size=batch_size, dtype=dtype, sparse=sparse, ragged=ragged,
                      batch_shape=batch_shape, input_tensor=tensor, optional=optional, name=name).output


class Activation(Layer):
    """Applies an activation (``keras.layers.Activation``), by name or as a function."""

    def __init__(self, activation, **kwargs):
        from leat.keras import activations
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs):
        """The activation of the input."""
        return self.activation(inputs)

    def get_config(self):
        """The arguments that make another one like it."""
        from leat.keras import activations
        return {**super().get_config(), "activation": activations.serialize(self.activation)}


class Lambda(Layer):
    """Applies a function of tensors (``keras.layers.Lambda``). `mask`: the output's, or a function (inputs, mask).

    `output_shape`: that of one example, or a function of the input's shape; without it the function is traced.
    """

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.function, self.arguments, self._mask, self._shape = function, arguments or {}, mask, output_shape
        self.supports_masking = mask is not None
        self._build_at_init()

    def call(self, inputs, mask=None, training=None):
        """The function of the input, with `mask` and `training` if it has such parameters."""
        return self.function(inputs, **self.arguments, **{
            name: value for name, value in (("mask", mask), ("training", training))
            if value is not None and name in self._parameters()})

    def _parameters(self):
        import inspect
        try:
            return inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            return ()

    def compute_mask(self, inputs, previous_mask=None):
        """The mask that was given, or what its function gives."""
        return self._mask(inputs, previous_mask) if callable(self._mask) else self._mask

    def compute_output_shape(self, input_shape):
        """The shape of the output for an input of this shape, batch's dimension included."""
        if self._shape is None:
            return super().compute_output_shape(input_shape)
        return self._shape(input_shape) if callable(self._shape) else (input_shape[0], *self._shape)

    def get_config(self):
        """The arguments that make another one like it; a lambda expression is kept as Keras does."""
        from leat.keras._base import registry
        config = {**super().get_config(), "function": registry.serialize_function(self.function)}
        if self._shape is not None:
            config["output_shape"] = registry.serialize_function(self._shape)
        if self._mask is not None:
            config["mask"] = registry.serialize_function(self._mask)
        return {**config, "arguments": self.arguments}

    @classmethod
    def from_config(cls, config, custom_objects=None, safe_mode=None):
        """One of these arguments. ValueError for a lambda expression: leat runs no code of a configuration."""
        from leat.keras._base import registry
        config = dict(config)
        for name in ("function", "output_shape", "mask"):
            value = config.get(name)
            if isinstance(value, dict) and value.get("class_name") == "__lambda__":
                raise ValueError("This Lambda layer's function is a Python lambda expression, code that leat does not "
                                 "run out of a configuration. Make the function with `def`, give it to "
                                 "`keras.saving.register_keras_serializable()` or pass it in `custom_objects`")
            if isinstance(value, dict):
                config[name] = registry.deserialize_keras_object(value, custom_objects)
        if isinstance(config.get("dtype"), dict):
            config["dtype"] = config["dtype"]["config"]["name"]
        return cls(**config)


class Masking(Layer):
    """Leaves steps out whose values all are `mask_value` (``keras.layers.Masking``): they become 0 and do not count."""

    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.mask_value = mask_value
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs):
        """The input with zeros in the steps that are left out."""
        kept = self.compute_mask(inputs)
        inputs = convert_to_tensor(inputs)
        outputs = _op("where", _op("expand_dims", kept, -1), inputs, _op("zeros_like", inputs))
        masking.set_mask(outputs, kept)
        return outputs

    def compute_mask(self, inputs, previous_mask=None):
        """The steps that count."""
        from leat.keras import ops as whole
        return whole.any(whole.not_equal(inputs, self.mask_value), axis=-1)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "mask_value": self.mask_value}


class ActivityRegularization(Layer):
    """Adds a penalty of its input to the losses (``keras.layers.ActivityRegularization``)."""

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        from leat.keras import regularizers
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1, self.l2 = l1, l2
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs):
        """The input."""
        return inputs

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "l1": self.l1, "l2": self.l2}


class GlobalAveragePooling1D(globals()["GlobalAveragePooling1D"]):  # the table's class, and masks
    """The mean of all steps of sequences, or of those that count (``keras.layers.GlobalAveragePooling1D``)."""

    def call(self, inputs, mask=None, training=None):
        """The means."""
        if mask is None:
            return super().call(inputs, training)
        first = self._given.get("data_format") == "channels_first"
        axis = 2 if first else 1
        weights = _op("cast", _op("expand_dims", mask, 1 if first else 2), inputs.dtype)
        kept = _op("where", _op("cast", weights, "bool"), inputs, _op("zeros_like", inputs))
        keepdims = bool(self._given.get("keepdims"))
        return _op("reduce_sum", kept, axis, keepdims) / _op("reduce_sum", weights, axis, keepdims)

    def compute_mask(self, inputs, previous_mask=None):
        """None: no steps are left."""
        return None


class BatchNormalization(globals()["BatchNormalization"]):  # the table's class, and masks
    """Values without their mean and variance, times gamma, plus beta (``keras.layers.BatchNormalization``)."""

    def call(self, inputs, training=None, mask=None):
        """The input with the batch's mean and variance taken out, in inference those of training."""
        if mask is None or not training or not self.trainable:
            return super().call(inputs, training)
        if self.synchronized:
            raise NotImplementedError(f"BatchNormalization '{self.name}' is given a mask and is synchronized, which do "
                                      "not go together; leave synchronized at False, or use LayerNormalization")
        return self._masked_call(inputs, mask)

    def _masked_call(self, inputs, mask):
        """The same with the mean and variance of what the mask lets count."""
        rank = inputs.shape.rank
        others = [axis for axis in range(rank) if axis != self.axis % rank]
        counted = _op("zeros_like", inputs) + _op("cast", _op("expand_dims", mask, -1), inputs.dtype)
        total = _op("reduce_sum", counted, others) + 1e-7
        mean = _op("reduce_sum", _op("math.multiply_no_nan", inputs, counted), others) / total
        shape = [inputs.shape[axis] if axis == self.axis % rank else 1 for axis in range(rank)]

        def spread(vector):
            return _op("reshape", vector, shape)
        apart = inputs - spread(mean)
        variance = _op("reduce_sum", _op("math.multiply_no_nan", _op("square", apart), counted), others) / total
        for moving, found in ((self.moving_mean, mean), (self.moving_variance, variance)):
            moving.assign(moving * self.momentum + _op("stop_gradient", found) * (1 - self.momentum))
        outputs = apart * spread(_op("math.rsqrt", variance + self.epsilon))
        if self.scale:
            outputs = outputs * spread(self.gamma)
        return outputs + spread(self.beta) if self.center else outputs


class Softmax(globals()["Softmax"]):  # the table's class, and masks and several axes
    """Exponentials that add up to 1 along an axis, over what a mask lets count (``keras.layers.Softmax``).

    `axis`: a dimension, or a list of them that are taken as one.
    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(axis=axis if isinstance(axis, int) else -1, **kwargs)
        self.axis = self._given["axis"] = axis

    def call(self, inputs, mask=None, training=None):
        """The parts; 0 where a mask, which must broadcast, says so. ValueError for another mask."""
        if mask is not None:
            self._check_mask(inputs.shape, mask.shape)
            mask = mask if mask.dtype.is_bool else mask > 0.5
            inputs = _op("where", mask, inputs, _op("ones_like", inputs) * -1e9)
        outputs = super().call(inputs, training) if isinstance(self.axis, int) else self._over(inputs)
        return outputs if mask is None else _op("where", mask, outputs, _op("zeros_like", outputs))

    def _over(self, inputs):
        from leat.keras import activations
        return activations.softmax(inputs, axis=self.axis)

    @staticmethod
    def _check_mask(shape, mask):
        start = "The `mask` must be broadcastable to `inputs`"
        end = f"Received: inputs.shape={shape}, mask.shape={mask}"
        if mask.rank > shape.rank:
            raise ValueError(f"{start} and must not have more dimensions. {end}")
        for own, wanted in zip(reversed(mask.as_list()), reversed(shape.as_list())):
            if own not in (1, None, wanted) and wanted is not None:
                raise ValueError(f"{start}: each of its dimensions is 1 or that of the input. {end}")


class Embedding(globals()["Embedding"]):  # the table's class, and masks
    """Rows of a table by their numbers (``keras.layers.Embedding``). `mask_zero`: number 0 does not count."""

    def __init__(self, input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None,
                 embeddings_constraint=None, mask_zero=False, weights=None, **kwargs):
        super().__init__(input_dim, output_dim, embeddings_initializer=embeddings_initializer,
                         embeddings_regularizer=embeddings_regularizer, embeddings_constraint=embeddings_constraint,
                         weights=weights, **kwargs)
        self.mask_zero = self._given["mask_zero"] = mask_zero
        self.supports_masking = bool(mask_zero)

    def compute_mask(self, inputs, previous_mask=None):
        """With `mask_zero` the places whose number is not 0."""
        from leat.keras import ops as whole
        return whole.not_equal(inputs, 0) if self.mask_zero else None


for _name in ("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"):
    globals()[_name].compute_mask, globals()[_name]._check_shapes = merging.either, merging.check_elementwise
for _name, _operation in (("Maximum", "maximum"), ("Minimum", "minimum"), ("Multiply", "multiply")):
    globals()[_name].call = merging.over_masks(_operation, TableLayer.call)
globals()["Average"].call = merging.mean_of_integers(TableLayer.call)
globals()["Concatenate"].compute_mask = merging.joined
globals()["Concatenate"]._check_shapes = merging.check_concatenated
globals()["Dot"].compute_mask = lambda self, inputs, previous_mask=None: None


class Normalization(globals()["Normalization"]):  # the table's class, and what looks at data
    """The input less a mean, divided by the root of a variance (``keras.layers.Normalization``).

    Both are given, or found by `adapt`. `axis`: dimensions of which each place has numbers of its own. `invert`: the
    other way.
    """

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if (mean is None) != (variance is None):
            raise ValueError("When setting values directly, both `mean` and `variance` must be set. Received: "
                             f"mean={mean} and variance={variance}")
        if np.shape(mean) != np.shape(variance):
            raise ValueError("When setting values directly, `mean` and `variance` must have the same shape. Received: "
                             f"mean shape {np.shape(mean)} and variance shape {np.shape(variance)}")
        if len(np.shape(mean)) > len(axis):
            raise ValueError(f"The rank of `mean` must be less than or equal to the number of axes ({len(axis)}). "
                             f"Received: mean shape {np.shape(mean)} for axis {axis}")
        self.input_mean, self.input_variance, self._kept = mean, variance, None
        super().__init__(axis=axis, mean=mean, variance=variance, invert=invert, **kwargs)
        self._choose_part(mean, variance)

    def _choose_part(self, mean, variance):
        self._part = self._part_alone = tables.part("layer", self._entry, {
            "axis": self.axis or None, "whole": not self.axis, "mean": mean, "variance": variance,
            "invert": self.invert})

    def _seen(self, given, weight):
        """What was given, or found, in the shape in which it meets inputs; None before the layer is built."""
        if self._kept is None:
            return None
        if given is None:
            return _op("reshape", weight.read_value(), self._kept)
        sizes = [size for axis, size in enumerate(self._kept) if axis in self._places(len(self._kept))]
        return convert_to_tensor(np.broadcast_to(np.asarray(given, np.float32), sizes).reshape(self._kept))

    # Both are arguments, weights and what the layer computes with: the names belong to the last.
    mean = property(lambda self: self._seen(self.input_mean, self.adapt_mean),
                    lambda self, made: _set_found(self, "adapt_mean", made))
    variance = property(lambda self: self._seen(self.input_variance, self.adapt_variance),
                        lambda self, made: _set_found(self, "adapt_variance", made))
    adapt_mean = adapt_variance = None

    def _places(self, rank):
        """The dimensions that are kept, of `rank`. ValueError where there are not so many."""
        if any(not -rank <= axis < rank for axis in self.axis):
            raise ValueError("All `axis` values must be in the range [-ndim, ndim). Received inputs with "
                             f"ndim={rank}, while axis={self.axis}")
        return {axis % rank for axis in self.axis}

    def build(self, input_shape=None):
        """Makes the weights that `adapt` fills, where mean and variance were not given."""
        if input_shape is None:
            return
        places = self._places(len(input_shape))
        for axis in places:
            if input_shape[axis] is None:
                raise ValueError("All `axis` values to be kept must have a known shape. Received axis="
                                 f"{self.axis}, inputs.shape={tuple(input_shape)}, with unknown axis at index {axis}")
        self._kept = [size if axis in places else 1 for axis, size in enumerate(input_shape)]
        if self.input_mean is not None:
            self._choose_part(self.mean, self.variance)
        super().build(input_shape)
        if self.input_mean is None:
            self.count = self.add_weight(shape=(), name="count", dtype="int32", initializer="zeros", trainable=False)

    def adapt(self, data):
        """Finds mean and variance of an array, a tensor, or the batches of a dataset or iterable."""
        if self.input_mean is not None:
            raise ValueError("Normalization was given mean and variance; there is nothing to adapt")
        total, squares, count = 0.0, 0.0, 0
        for batch in self._batches(data):
            batch = np.asarray(batch, np.float64)
            if not self.built:
                self.build((None, *batch.shape[1:]))
            places = self._places(batch.ndim)
            if [size if axis in places else 1 for axis, size in enumerate(batch.shape)] != self._kept:
                raise ValueError(f"The layer keeps dimensions of the sizes {self._kept} (1: any), but adapt() is being "
                                 f"called with data with an incompatible shape, data.shape={batch.shape}")
            others = tuple(axis for axis in range(batch.ndim) if axis not in places)
            total, squares = total + batch.sum(others), squares + np.square(batch).sum(others)
            count += int(np.prod([batch.shape[axis] for axis in others]))
        if not count:
            raise ValueError("adapt() received an empty iterable (no batches). Expected at least one batch.")
        mean = total / count
        self.adapt_mean.assign(mean.astype(np.float32))
        self.adapt_variance.assign(np.maximum(squares / count - mean * mean, 0).astype(np.float32))

    def _batches(self, data):
        """The inputs of the batches. TypeError where they are no arrays."""
        if hasattr(data, "shape"):
            data = [data]
        elif hasattr(data, "element_spec"):
            spec = data.element_spec[0] if isinstance(data.element_spec, tuple) else data.element_spec
            data = data.batch(128) if spec.shape.rank == 1 else data
        elif not hasattr(data, "__iter__") and not hasattr(data, "__getitem__"):
            raise TypeError(f"Unsupported data type: {type(data)}. `adapt` takes an array, a tensor, a dataset, or "
                            "batches of an iterable")
        for batch in data:
            batch = batch[0] if isinstance(batch, (list, tuple)) else batch
            if not hasattr(batch, "shape"):
                raise TypeError("adapt() expects arrays or tensors with a `.shape` attribute; an iterable yielded "
                                f"{type(batch).__name__}")
            yield batch

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "mean": _listed(self.input_mean), "variance": _listed(self.input_variance)}


def _set_found(layer, name, made):
    """Sets a weight that was found; the values that were given are kept elsewhere."""
    if isinstance(made, Variable):
        object.__setattr__(layer, name, made)


def _listed(values):
    return None if values is None else np.asarray(values).tolist()


class Dropout(globals()["Dropout"]):  # the table's class, and what None and numbers below 1 mean
    """Sets values to 0 by chance in training, the others become larger (``keras.layers.Dropout``).

    `noise_shape`: the shape of what is drawn, None for a dimension of the input.
    """

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        start = "Invalid value received for argument `noise_shape`. Expected "
        if not isinstance(noise_shape, (list, tuple, type(None))):
            raise ValueError(f"{start}a tuple or list of integers. Received: noise_shape={noise_shape}")
        for size in noise_shape or ():
            if not isinstance(size, (int, type(None))):
                raise ValueError(f"{start}all elements to be integers or None. Received: noise_shape={noise_shape}")
            if size is not None and size <= 0:
                raise ValueError(f"{start}all dimensions to be positive integers or None. Received: "
                                 f"noise_shape={noise_shape}")
        super().__init__(rate, noise_shape=noise_shape, seed=seed, **kwargs)


class CategoryEncoding(Numbering, globals()["CategoryEncoding"]):  # the table's class, and weights of what is counted
    """Numbers of categories as vectors (``keras.layers.CategoryEncoding``).

    `output_mode`: "one_hot" for each number, "multi_hot" for what a row has, "count" for how often it has it.
    """

    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        output_mode = "multi_hot" if output_mode == "binary" else output_mode
        if output_mode not in ("count", "one_hot", "multi_hot"):
            raise ValueError(f"Unknown arg for output_mode: {output_mode}")
        if num_tokens is None:
            raise ValueError("num_tokens must be set to use this layer. If the number of tokens is not known "
                             "beforehand, use the IntegerLookup layer instead.")
        if num_tokens < 1:
            raise ValueError(f"`num_tokens` must be >= 1. Received: num_tokens={num_tokens}.")
        super().__init__(num_tokens=num_tokens, output_mode=output_mode, sparse=sparse, **kwargs)

    def call(self, inputs, count_weights=None):
        """The vectors. `count_weights`: what each number counts, in the mode "count"."""
        if count_weights is None:
            return super().call(inputs)
        if self.output_mode != "count":
            raise ValueError("`count_weights` is not used when `output_mode` is not `'count'`. Received "
                             f"`count_weights={count_weights}`.")
        return encode(_op("cast", inputs, "int64"), "count", self.num_tokens, self.compute_dtype, count_weights)


class Discretization(Numbering, globals()["Discretization"]):  # the table's class, and what looks at data
    """The number of the bin of each value (``keras.layers.Discretization``).

    `bin_boundaries` are given, or found by `adapt`, which makes `num_bins` bins of equally many values, but for a part
    of `epsilon`. `output_mode`: "int", or as in CategoryEncoding.
    """

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
                         sparse=sparse, dtype=dtype, name=name)
        self.num_bins, self.epsilon, self.bin_boundaries, self.summary = num_bins, epsilon, bin_boundaries, None

    def adapt(self, data, steps=None):
        """Finds the boundaries in an array, a tensor, or `steps` batches of a dataset or iterable, None: all."""
        from leat.keras.layers import quantiles
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
                "output_mode": self.output_mode, "sparse": False, "name": self.name, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config):
        """One of these arguments; both boundaries and a number of bins are those of one that has looked at data."""
        config = dict(config)
        found = config.pop("bin_boundaries") if config.get("num_bins") is not None else None
        made = cls(**config)
        if found is not None:
            made._set_boundaries(found)
        return made


class Identity(Layer):
    """Gives its input back (``keras.layers.Identity``)."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs):
        """The input."""
        return inputs


def _merging(name):
    def merge(inputs, **kwargs):
        return globals()[name](**kwargs)(inputs)
    merge.__name__ = merge.__qualname__ = name.lower()
    merge.__doc__ = f"The layer {name} called with `inputs` (``keras.layers.{name.lower()}``)."
    return merge


def _concatenate(inputs, axis=-1, **kwargs):
    """The layer Concatenate called with `inputs` (``keras.layers.concatenate``)."""
    return Concatenate(axis=axis, **kwargs)(inputs)  # noqa: F821 (of the table)


def _dot(inputs, axes=-1, **kwargs):
    """The layer Dot called with `inputs` (``keras.layers.dot``)."""
    return Dot(axes=axes, **kwargs)(inputs)  # noqa: F821 (of the table)


for _name in ("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"):
    globals()[_name.lower()] = _merging(_name)
concatenate, dot = _concatenate, _dot


def serialize(layer):
    """A layer's configuration (``keras.layers.serialize``)."""
    from leat.keras._base import registry
    return registry.serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """The layer of a configuration (``keras.layers.deserialize``). TypeError for an unknown class."""
    from leat.keras._base import registry
    return registry.deserialize_keras_object(config, custom_objects)


def _aliases():
    """Keras' other names: MaxPool2D, Convolution2D and their like."""
    for begin, other in (("MaxPooling", "MaxPool"), ("AveragePooling", "AvgPool"), ("Conv", "Convolution"),
                         ("GlobalAveragePooling", "GlobalAvgPool"), ("GlobalMaxPooling", "GlobalMaxPool"),
                         ("SeparableConv", "SeparableConvolution")):
        for end in ("1D", "2D", "3D", "1DTranspose", "2DTranspose", "3DTranspose"):
            if begin + end in globals():
                globals()[other + end] = globals()[begin + end]


_aliases()
_LATER = {name: what for what, names in (
    ("recurrent layers are", "RNN SimpleRNN SimpleRNNCell LSTM LSTMCell GRU GRUCell ConvLSTM1D ConvLSTM2D ConvLSTM3D "
                             "StackedRNNCells Bidirectional TimeDistributed"),
    ("attention is", "Attention AdditiveAttention MultiHeadAttention GroupQueryAttention ReversibleEmbedding"),
    ("this way of preparing data is", "HashedCrossing MelSpectrogram STFTSpectrogram MaxNumBoundingBoxes"),
    ("layers of other libraries are", "JaxLayer FlaxLayer TorchModuleWrapper TFSMLayer"),
) for name in names.split()}


def __getattr__(name):
    if name in _LATER:
        raise AttributeError(f"keras.layers.{name} is UNIMPLEMENTED: {_LATER[name]} not part of leat yet; write a "
                             "layer of your own (keras.layers.Layer) in its place")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [name for name in globals() if name[0].isupper() and name != "Numbering"] + [
    "add", "average", "concatenate", "deserialize", "dot", "maximum", "minimum", "multiply", "serialize", "subtract"]
