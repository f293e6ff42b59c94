"""Layers that are written in Python, or that do more than the library's: inputs, functions, masks, tables of rows."""

import warnings

from leat import dtypes
from leat._core.tensor import convert_to_tensor
from leat.keras import activations, ops as whole, regularizers
from leat.keras._base import masking, registry, tables
from leat.keras._base.layer import Layer, Node
from leat.keras._base.named import op as _op
from leat.keras._base.policies import floatx
from leat.keras._base.symbolic import KerasTensor
from leat.keras.layers.low_rank import LowRank, adapted
from leat.keras.layers.table import TableLayer


class InputLayer(Layer):
    """Says what a model takes (``keras.layers.InputLayer``): `shape` of one example, `batch_size`, `dtype`.

    `input_tensor`: a KerasTensor to begin at, in place of a new one.
    """

    _takes_sparse = True

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
        dtype = dtype or floatx()
        super().__init__(name=name, dtype=dtype, **kwargs)
        if sparse and ragged:
            raise ValueError("Cannot set both `sparse=True` and `ragged=True` in a Keras input.")
        self.batch_shape = tuple((batch_size, *shape) if batch_shape is None else batch_shape)
        self._input_dtype = dtypes.as_dtype(dtype).name
        self.optional = optional
        self.built = True
        self.sparse = bool(sparse if input_tensor is None else input_tensor.sparse)
        self.ragged = bool(ragged)
        output = KerasTensor(self.batch_shape, self._input_dtype, self.sparse, self.ragged, name=name)
        Node(self, (), {}, output if input_tensor is None else input_tensor)

    dtype = property(lambda self: self._input_dtype)

    def call(self, *args):
        """Its input, if it has any."""
        return args[0] if args else None

    def get_config(self):
        """The arguments that make another one like it."""
        return {"batch_shape": self.batch_shape, "dtype": self.dtype, "sparse": self.sparse, "ragged": self.ragged,
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
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs):
        """The activation of the input."""
        return self.activation(inputs)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "activation": activations.serialize(self.activation)}


class Lambda(Layer):
    """Applies a function of tensors (``keras.layers.Lambda``). `mask`: the output's, or a function (inputs, mask).

    `output_shape`: that of one example, or a function of the input's shape; without it the function is traced.
    """

    _takes_complex = True

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
        config = {**super().get_config(), "function": registry.serialize_function(self.function)}
        if self._shape is not None:
            config["output_shape"] = registry.serialize_function(self._shape)
        if self._mask is not None:
            config["mask"] = registry.serialize_function(self._mask)
        return {**config, "arguments": self.arguments}

    @classmethod
    def from_config(cls, config, custom_objects=None, safe_mode=None):
        """One of these arguments. ValueError for a lambda expression: leat runs no code of a configuration."""
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
        return whole.any(whole.not_equal(inputs, self.mask_value), axis=-1)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "mask_value": self.mask_value}


class ActivityRegularization(Layer):
    """Adds a penalty of its input to the losses (``keras.layers.ActivityRegularization``)."""

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1, self.l2 = l1, l2
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs):
        """The input."""
        return inputs

    def get_config(self):
        """The arguments that make another one like it; the regularizer is made of them."""
        config = super().get_config()
        config.pop("activity_regularizer", None)
        return {**config, "l1": self.l1, "l2": self.l2}


class Identity(Layer):
    """Gives its input back (``keras.layers.Identity``)."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs):
        """The input."""
        return inputs


class Dropout(TableLayer):
    """Sets values to 0 by chance in training, the others become larger (``keras.layers.Dropout``).

    `noise_shape`: the shape of what is drawn, None for a dimension of the input.
    """

    _entry = tables.entry_of("layer", "Dropout")

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


class Embedding(LowRank):
    """Rows of a table by their numbers (``keras.layers.Embedding``). `mask_zero`: number 0 does not count."""

    _entry = tables.entry_of("layer", "Embedding")
    _adapts = "embeddings"
    embeddings = adapted("embeddings")

    def __init__(self, input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None,
                 embeddings_constraint=None, mask_zero=False, weights=None, **kwargs):
        if kwargs.pop("input_length", None) is not None:
            warnings.warn("Argument `input_length` is deprecated. Just remove it.", stacklevel=2)
        super().__init__(input_dim, output_dim, embeddings_initializer=embeddings_initializer,
                         embeddings_regularizer=embeddings_regularizer, embeddings_constraint=embeddings_constraint,
                         weights=weights, **kwargs)
        self.mask_zero = self._given["mask_zero"] = mask_zero
        self.supports_masking = bool(mask_zero)

    def compute_mask(self, inputs, previous_mask=None):
        """With `mask_zero` the places whose number is not 0."""
        return whole.not_equal(inputs, 0) if self.mask_zero else None


class ReversibleEmbedding(Embedding):
    """An Embedding that with `reverse=True` gives the logits of all numbers (``keras.layers.ReversibleEmbedding``).

    `tie_weights`: by the same table, else by a weight of its own. `reverse_dtype`: in which products are taken.
    `logit_soft_cap`: logits stay within it.
    """

    def __init__(self, input_dim, output_dim, tie_weights=True, embeddings_initializer="uniform",
                 embeddings_regularizer=None, embeddings_constraint=None, mask_zero=False, reverse_dtype=None,
                 logit_soft_cap=None, **kwargs):
        super().__init__(input_dim, output_dim, embeddings_initializer=embeddings_initializer,
                         embeddings_regularizer=embeddings_regularizer, embeddings_constraint=embeddings_constraint,
                         mask_zero=mask_zero, **kwargs)
        self.tie_weights, self.reverse_dtype, self.logit_soft_cap = tie_weights, reverse_dtype, logit_soft_cap

    def build(self, input_shape=None):
        """Makes the table, and the weight of the way back where that has one of its own."""
        super().build(input_shape)
        if not self.tie_weights:
            self.reverse_embeddings = self.add_weight(
                shape=(self.output_dim, self.input_dim), initializer=self.embeddings_initializer,
                name="reverse_embeddings")

    def call(self, inputs, reverse=False):
        """Rows of the table, or with `reverse` products of the inputs and all rows."""
        if not reverse:
            result, mask = super().call(inputs), super().compute_mask(inputs)
            if mask is not None:
                masking.set_mask(result, mask)
            return result
        kernel = whole.transpose(self.embeddings) if self.tie_weights else convert_to_tensor(self.reverse_embeddings)
        if self.reverse_dtype is not None:
            inputs, kernel = [whole.cast(one, self.reverse_dtype) for one in (inputs, kernel)]
        logits = whole.matmul(inputs, kernel)
        cap = self.logit_soft_cap
        return logits if cap is None else whole.multiply(whole.tanh(whole.divide(logits, cap)), cap)

    def compute_mask(self, inputs, previous_mask=None):
        """None: a call gives its result the mask itself."""
        return None

    def compute_output_shape(self, input_shape, reverse=False):
        """The shape of the rows, or with `reverse` of the logits."""
        return (*input_shape[:-1], self.input_dim) if reverse else (*input_shape, self.output_dim)

    def compute_output_spec(self, inputs, reverse=False):
        """KerasTensors for what it gives for KerasTensors."""
        if not self.built:
            self.build(None)
        return KerasTensor(self.compute_output_shape(tuple(inputs.shape), reverse), self.compute_dtype)

    def get_config(self):
        """The arguments that make another one like it."""
        config = {"activity_regularizer": None, **super().get_config()}
        behind = list(config)[list(config).index("embeddings_regularizer") + 1:]
        return {**{name: config[name] for name in config if name not in ("activity_regularizer", *behind)},
                "activity_regularizer": config["activity_regularizer"], **{name: config[name] for name in behind},
                "tie_weights": self.tie_weights, "reverse_dtype": self.reverse_dtype,
                "logit_soft_cap": self.logit_soft_cap}


class Softmax(TableLayer):
    """Exponentials that add up to 1 along an axis, over what a mask lets count (``keras.layers.Softmax``).

    `axis`: a dimension, or a list of them that are taken as one.
    """

    _entry = tables.entry_of("layer", "Softmax")

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
