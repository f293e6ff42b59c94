"""Layers of the library's table: their arguments, weights and calls under Keras' names."""

import functools
import json

from leat import dtypes, errors, nest
from leat._core.specs import TensorSpec
from leat._core.tensor import convert_to_tensor
from leat._graph import ops, trace
from leat.keras import activations, backend, constraints, initializers, regularizers
from leat.keras._base import calls, registry, tables
from leat.keras._base.input_spec import InputSpec
from leat.keras._base.layer import Layer, is_own
from leat.keras._base.state import _leaves, shape_of
from leat.keras._base.symbolic import KerasTensor
from leat.keras._base.variables import in_stateless_scope
from leat.keras.random import SeedGenerator

_REGULAR = ("_regularizer", "_constraint")
_SPATIAL = ("kernel_size", "strides", "dilation_rate", "pool_size", "size", "output_padding", "output_size")
_POSITIVE = ("kernel_size", "strides", "dilation_rate", "pool_size")
_EITHER_FORMAT = ("Global", "SpatialDropout")  # kinds that take channels first themselves
# The kinds that Keras builds as they are made, besides those that begin so.
_BUILT_AT_INIT = ("Dropout", "AlphaDropout", "ReLU", "LeakyReLU", "ELU", "Softmax", "Reshape", "UnitNormalization")
_BUILT_PREFIXES = ("MaxPooling", "AveragePooling", "GlobalMaxPooling", "GlobalAveragePooling", "Gaussian",
                   "SpatialDropout")
# The kinds that Keras computes in float32 where its inputs are halves, and whose result it rounds.
# What becomes of whole numbers is a fraction.
_FRACTIONS = ("GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D", "LeakyReLU")
_WIDE = ("BatchNormalization", "LayerNormalization", "GroupNormalization", "Embedding")
_LISTS = ("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "UpSampling1D")  # what Keras gives as such
# What Keras says of shapes without looking at what comes out: a function of the layer and the input's shape.
_SAYS = {
    "RepeatVector": lambda layer, shape: (shape[0], layer.n, shape[1]),
    "CategoryEncoding": lambda layer, shape: (
        *(shape if layer.output_mode == "one_hot" and (shape[-1:] != (1,) or len(shape) == 1) else shape[:-1]),
        layer.num_tokens),
    "RandomCrop": lambda layer, shape: (*shape[:-3], *(
        (shape[-3], layer.height, layer.width) if layer.data_format == "channels_first" else
        (layer.height, layer.width, shape[-1]))),
}
# Where Keras keeps a weight in an attribute of another name.
_CHECKPOINT_NAMES = {**dict.fromkeys(("Dense", "EinsumDense", "Conv1D", "Conv2D", "Conv3D"), {"kernel": "_kernel"}),
                     "Embedding": {"embeddings": "_embeddings"}}


# What the kinds do with ragged tensors.
_EACH_VALUE = ("Embedding", "ReLU", "LeakyReLU", "ELU", "Rescaling", "Dropout", "GaussianNoise", "GaussianDropout",
               "ThresholdedReLU")
_EACH_VECTOR = ("BatchNormalization", "LayerNormalization", "Normalization", "UnitNormalization", "RMSNormalization",
                "Softmax")
_UNCAST = ("GroupNormalization", "LayerNormalization")  # what is beyond a half's range is normalized first
_OVER_STEPS = {"GlobalAveragePooling1D": "reduce_mean", "GlobalMaxPooling1D": "reduce_max"}


def _widened(tensor):
    """A half as float32."""
    halves = (dtypes.float16, dtypes.bfloat16)
    return ops.FUNCTIONS["cast"](tensor, dtypes.float32) if tensor.dtype in halves else tensor


@functools.cache
def _constructor(name):
    """The constructor of a line, with the parameters that Keras has."""
    return tables.constructor(tables.entry_of("layer", name), "leat.keras.layers",
                              lambda self, given, others: self._setup(given, others), "kwargs")


class TableLayer(Layer):
    """A layer of the library's table: `_entry` is its line. A class without a constructor of its own has the line's."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "_entry" in cls.__dict__ and "__init__" not in cls.__dict__:
            cls.__init__ = _constructor(cls._entry["name"])

    def __init__(self, *args, **kwargs):
        _constructor(self._entry["name"])(self, *args, **kwargs)

    @property
    def _checkpoint_names(self):
        return _CHECKPOINT_NAMES.get(self._entry["name"], {})

    _training_default = property(lambda self: self._entry["prepares"] or None)

    def _setup(self, given, others):
        others, start = dict(others), given.pop("weights", None)
        regularizer = given.pop("activity_regularizer", others.pop("activity_regularizer", None))
        if "name" in given:
            others = {"name": given.pop("name"), **others}
        tables.refuse_unknown(self._entry, {name: value for name, value in given.items()
                                            if not name.endswith(_REGULAR)})
        known = tables.rows(self._entry)
        attributes, arguments = self._understood(given, known)
        turns = self._rank_of_space > 0 and attributes.get("data_format") == "channels_first"
        if turns and not self._entry["name"].startswith(_EITHER_FORMAT):
            arguments["data_format"] = "channels_last"
        else:
            turns = False
        part = tables.part("layer", self._entry, arguments)
        Layer.__init__(self, activity_regularizer=regularizer, **others)
        self.autocast = self.autocast and self._entry["name"] not in _UNCAST
        for name, value in attributes.items():
            object.__setattr__(self, name, value)
        self._part, self._given, self._turns = part, dict(given), turns
        self._part_alone = part  # where there are no other replicas
        if arguments.get("synchronized"):
            self._part_alone = tables.part("layer", self._entry, {**arguments, "synchronized": False})
        self._weights = []
        self._compiled = None
        self.supports_masking = self.supports_masking or self._entry["masks"] or self._entry["merges"]
        self._specify()
        draws = attributes.get("rate", attributes.get("stddev")) != 0  # Keras' layers that draw nothing take no seed
        if draws and "seed" in attributes and not any(name.endswith("_initializer") for name in known):
            self.seed_generator = SeedGenerator(attributes["seed"])
        name = self._entry["name"]
        if name in _BUILT_AT_INIT or name.startswith(_BUILT_PREFIXES):
            self._build_at_init()
        if start is not None:
            self.build((None,))
            self.set_weights(start if isinstance(start, list) and len(start) == 1 else [start])

    def _understood(self, given, known):
        """What was given as attributes, and what of it the library is given. ValueError."""
        readers = {"_initializer": initializers.get, "_regularizer": regularizers.get, "_constraint": constraints.get}
        attributes, arguments = {"activation": None}, {}
        for name, value in given.items():
            ending = next((ending for ending in readers if name.endswith(ending)), None)
            if ending is not None:
                value = readers[ending](value)
            elif name == "activation":
                value = activations.get(value)
            elif name in known:
                value = arguments[name] = self._checked(name, value, known[name])
            attributes[name] = value
        if attributes.get("strides", ()) is None:  # of pooling
            attributes["strides"] = attributes["pool_size"]
        strides, dilations = attributes.get("strides", ()), attributes.get("dilation_rate", ())
        if self._entry["name"].startswith("Conv") and max(strides, default=1) > 1 and max(dilations, default=1) > 1:
            raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                             f"strides={strides} and dilation_rate={dilations}")
        return attributes, arguments

    _rank_of_space = property(lambda self: max(self._entry["rank"] - 2, 0))

    def _checked(self, name, value, row):
        """An argument as the attribute keeps it: one number for all directions of space as a tuple. ValueError."""
        if name == "axis" and not isinstance(value, (int, list, tuple)):
            raise TypeError("Invalid value for `axis` argument: expected an int or a list/tuple of ints. Received: "
                            f"axis={value}")
        if name == "dims" and sorted(value) != list(range(1, len(value) + 1)):
            raise ValueError("Invalid permutation argument `dims`: expected each number from 1 to that of the "
                             f"dimensions once. Received dims={value}")
        if name == "target_shape":
            self._check_target(tuple(value))
        if name == "groups" and self._entry["name"] == "GroupNormalization" and (
                not isinstance(value, int) or value < -1 or value == 0):
            raise ValueError("Invalid value for the argument `groups`: expected a positive integer or -1. Received: "
                             f"groups={value}")
        if name == "data_format":
            return value or backend.image_data_format()
        if value is None and name in ("negative_slope", "threshold", "alpha"):
            kind = {"LeakyReLU": "Leaky ReLU"}.get(self._entry["name"], self._entry["name"])
            start = "The negative_slope value" if kind == "Leaky ReLU" else name
            raise ValueError(f"{start} of a {kind} layer cannot be None or a negative value. Received: {name}=None")
        if name == "max_value" and value is not None and value < 0:
            raise ValueError(f"max_value of a ReLU layer cannot be a negative value. Received: max_value={value}")
        if name == "padding" and isinstance(value, str):
            return value.lower()
        if row["type"] == "integer" and row.get("minimum") == 1 and (value is not None or row["required"]):
            if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
                if name == "n":
                    self._refuse_count(name, value)
                if name == "groups":
                    raise ValueError("The number of groups must be a positive integer. Received: "
                                     f"groups={value}.")
                raise ValueError(f"Invalid value for argument `{name}`. Expected a strictly positive value. Received "
                                 f"{name}={value}: `{name}` must be a positive integer")
        directions = self._rank_of_space if name in _SPATIAL else 0
        if name == "size" and directions == 1 and (not isinstance(value, (int, list, tuple)) or (
                isinstance(value, int) and (value < 1 or isinstance(value, bool)))):
            self._refuse_count(name, value)
        if name == "output_shape" and isinstance(value, int):
            return (value,)
        if name == "size" and directions == 1:
            return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
        if row["type"].startswith("list") and isinstance(value, int) and directions > 0:
            value = (value,) * directions
        if row["type"].startswith("list") and isinstance(value, (list, tuple)) and directions > 0:
            start = f"The `{name}` argument must be a tuple of {directions} integers. Received {name}={value}"
            if len(value) != directions and not isinstance(value[0], (list, tuple)):
                raise ValueError(start)
            wrong = {one for one in value if name in _POSITIVE and not (isinstance(one, int) and one > 0)}
            if wrong:
                raise ValueError(f"{start}, including values {wrong} that do not satisfy `value > 0`")
        return tuple(value) if isinstance(value, list) else value

    @staticmethod
    def _check_target(shape):
        if any(size is not None and size < -1 for size in shape):
            raise ValueError("Each size of `target_shape` must be a non-negative integer, or -1 for the one that "
                             f"follows from the others. Received: target_shape={shape}")
        if sum(size == -1 for size in shape) > 1:
            raise ValueError("There must be at most one unknown dimension (-1) in target_shape. Received: "
                             f"target_shape={shape}.")

    @staticmethod
    def _refuse_count(name, value):
        """Refuses what is no positive integer, as Keras does where it asks for the type."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"Expected an integer value for `{name}`, got {type(value)}.")
        raise ValueError(f"Argument `{name}` should be a positive integer. Received: {name}={value}")

    # ---- channels first: the library computes with them last ----

    def _turned(self, tensor):
        """[batch, channels, space...] as [batch, space..., channels]."""
        return ops.FUNCTIONS["transpose"](tensor, [0, *range(2, tensor.shape.rank), 1]) if self._turns else tensor

    def _turned_back(self, tensor):
        rank = tensor.shape.rank
        return ops.FUNCTIONS["transpose"](tensor, [0, rank - 1, *range(1, rank - 1)]) if self._turns else tensor

    # ---- weights ----

    def _build_at_init(self):
        self._make_weights(None)  # the states of generators alone
        if type(self).build is TableLayer.build:
            self._note_built({})

    def _specify(self, channels=None):
        """What inputs must be, before and after the weights are made."""
        rank, least = self._entry["rank"], self._entry["min_rank"]
        axis = 1 if self._turns else -1
        if self._entry["merges"]:
            self.input_spec = None
        elif self._entry["fixed_last"] and (rank > 0 or channels is not None):
            self.input_spec = InputSpec(min_ndim=max(rank, least), axes=None if channels is None else {axis: channels})
        else:
            self.input_spec = InputSpec(ndim=rank) if rank > 0 else InputSpec(min_ndim=least) if least > 0 else None

    def _shapes_of(self, input_shape):
        """The shape of each input. ValueError where inputs that are put together do not fit."""
        if not self._entry["merges"]:
            return [input_shape]
        if not isinstance(input_shape, (list, tuple)) or _is_shape(input_shape):
            raise ValueError("A merge layer should be called on a list of inputs. Received: "
                             f"input_shape={input_shape} (not a list of shapes)")
        self._check_shapes(input_shape)
        return input_shape

    def _check_shapes(self, shapes):
        pass  # layers that put inputs together say more

    def _listed(self, input_shape):
        """What the library says of the weights for inputs of this shape, and the shapes it was told. ValueError."""
        if input_shape is None and not self._entry["fixed_last"]:  # weights that do not depend on it
            input_shape = (None,) * max(self._entry["rank"], self._entry["min_rank"])
        shapes = self._shapes_of(input_shape)
        if self._turns:
            shapes = [(shape[0], *shape[2:], shape[1]) for shape in shapes]
        try:
            return json.loads(self._part.states([list(shape) for shape in shapes])), shapes
        except errors.InvalidArgumentError as error:
            raise ValueError(error.message) from None

    def build(self, input_shape=None):
        """Makes the weights that the library lists for inputs of this shape."""
        shapes = self._make_weights(input_shape)
        if self._entry["fixed_last"]:
            self._specify(shapes[0][-1])
        self.built = True

    def _make_weights(self, input_shape):
        self._weights = []
        listed, shapes = self._listed(input_shape)
        made_names = {weight["name"] for weight in listed}
        for name in tables.rows(self._entry):  # of a bias that is not used, and their like
            name = name.removesuffix("_initializer")
            if name in ("bias", "beta", "gamma") and name not in made_names:
                object.__setattr__(self, name, None)
        for weight in listed:
            name = weight["name"]
            if weight["is_seed"]:
                self._weights.append(self.seed_generator.state)
                continue
            made = self.add_weight(
                shape=weight["shape"], name=name, trainable=weight["trainable"],
                initializer=self._of_weight(name, "initializer") or weight["initializer"],
                autocast=self._entry["name"] not in _WIDE,
                regularizer=self._of_weight(name, "regularizer"), constraint=self._of_weight(name, "constraint"))
            object.__setattr__(self, name, made)
            self._weights.append(made)
        return shapes

    def _of_weight(self, name, sort):
        """The initializer, regularizer or constraint that was given for a weight: kernel_... or depthwise_..."""
        if name == "kernel" and hasattr(self, f"depthwise_{sort}"):
            name = "depthwise"
        return getattr(self, f"{name}_{sort}", None) or getattr(self, f"{name.removesuffix('_kernel')}_{sort}", None)

    # ---- calls ----

    def call(self, inputs, training=None):
        """What the library computes, through the activation."""
        if hasattr(inputs, "with_flat_values"):
            return self._of_ragged(inputs, training)
        tensors = [convert_to_tensor(leaf) for leaf in _leaves(inputs)]
        training = training and not (self._entry["freezes"] and not self.trainable)
        casts = self._entry["prepares"] and trace.is_tracing()
        if casts or self._weights and not self._entry["takes_integers"] or self._entry["name"] in _FRACTIONS:
            tensors = [self._floating(tensor) for tensor in tensors]
        wide = self._entry["name"] in _WIDE
        if wide:
            tensors = [_widened(tensor) for tensor in tensors]
        if self._entry["name"] in _UNCAST:
            wanted = dtypes.float64 if self.compute_dtype == "float64" else dtypes.float32
            tensors = [tensor if tensor.dtype is wanted else ops.FUNCTIONS["cast"](tensor, wanted)
                       for tensor in tensors]
        if calls.is_plain(tensors) and not in_stateless_scope():
            if self._compiled is None:
                self._compiled = calls.Compiled(self._compute)
            output = self._compiled(bool(training), tensors)
        else:
            output = self._compute(bool(training), tensors)
        if self._entry["name"] == "UpSampling2D" and output.dtype is not tensors[0].dtype and output.dtype.is_floating:
            output = ops.FUNCTIONS["cast"](output, tensors[0].dtype)
        if wide and output.dtype.name != self.compute_dtype:
            output = ops.FUNCTIONS["cast"](output, dtypes.as_dtype(self.compute_dtype))
        return output if self.activation is None else self.activation(output)

    def _of_ragged(self, inputs, training):
        """What becomes of a ragged tensor: each row for itself, or the rows' steps together."""
        name, last = self._entry["name"], inputs.flat_values.shape.rank - 1
        if name in _EACH_VALUE or name in _EACH_VECTOR and last > 0 and getattr(self, "axis", -1) in (-1, [-1], (-1,)):
            return inputs.with_flat_values(self.call(inputs.flat_values, training))
        if name in _OVER_STEPS and inputs.ragged_rank == 1 and last == 1 and not self._turns and not self.keepdims:
            return ops.FUNCTIONS[_OVER_STEPS[name]](inputs, 1)
        raise NotImplementedError(f"layer '{self.name}' ({name}) does not take ragged tensors of the shape "
                                  f"{tuple(inputs.shape)}; give it `to_tensor()` of one")

    def _floating(self, tensor):
        return tensor if tensor.dtype.is_floating else ops.FUNCTIONS["cast"](tensor, dtypes.as_dtype(
            self.compute_dtype))

    def _compute(self, training, tensors):
        part = self._part if trace.replica_context() is not None else self._part_alone
        replica = trace.running_replica()
        if replica is not None and training and part is not self._part_alone:
            if calls.is_plain(tensors):
                return replica.together(self._compute, training, tensors)
            raise errors.UnimplementedError(None, None, f"layer {self.name!r} is synchronized, for which replicas "
                                            "compute at the same time; put what strategy.run runs into a tf.function")
        tensors = [self._turned(tensor) for tensor in tensors]
        weights = self._values_of_weights(training)
        if self._entry["name"] in _WIDE:
            weights = [_widened(weight) for weight in weights]
        output, updates = calls.call(part, tensors, weights, training)
        for weight, update in zip(self._weights, updates):
            if update is not None:
                weight.assign(update)
        return self._turned_back(output)

    def _values_of_weights(self, training):
        """What the library takes for weights; but in training it draws nothing, so a generator's state counts for
        nothing there, and what is saved or served does without."""
        state = None if training or not hasattr(self, "seed_generator") else self.seed_generator.state
        return [ops.FUNCTIONS["zeros"](weight.shape, weight.dtype) if weight is state else weight._as_tensor()
                for weight in self._weights]

    def compute_output_shape(self, input_shape):
        """The shape of the output for an input of this shape, batch's dimension included; builds nothing.

        It is Keras' also where that is another than comes out, or a list."""
        says = _SAYS.get(self._entry["name"])
        if says is not None and not is_own(type(self).call):
            return says(self, tuple(input_shape))
        found = self._shape_of_output(input_shape)
        return list(found) if self._entry["name"] in _LISTS else found

    def _shape_of_output(self, input_shape):
        if self.built and self._weights or is_own(type(self).call):
            return Layer.compute_output_shape(self, input_shape)
        listed, _ = self._listed(input_shape)
        shapes = self._shapes_of(input_shape)
        specs = [TensorSpec(shape, self.compute_dtype) for shape in shapes]
        specs += [TensorSpec(weight["shape"], weight["dtype"] if weight["is_seed"] else self.variable_dtype)
                  for weight in listed]
        graph = trace.Graph(nest.to_text(tuple(specs)))
        try:
            with trace.tracing(graph), trace.recorded():
                given = list(graph.arguments())
                inputs = [self._turned(tensor) for tensor in given[:len(shapes)]]
                output = self._turned_back(calls.call(self._part, inputs, given[len(shapes):], False)[0])
                return shape_of(output if self.activation is None else self.activation(output))
        except errors.InvalidArgumentError as error:
            raise ValueError(error.message) from None
        finally:
            graph.release()

    def compute_output_spec(self, *args, **kwargs):
        """KerasTensors for what it gives for KerasTensors; builds nothing."""
        if self.built and self._weights or is_own(type(self).call):
            return super().compute_output_spec(*args, **kwargs)
        shapes = [shape_of(leaf) for leaf in _leaves(args[0])]
        return KerasTensor(self._shape_of_output(shapes if isinstance(args[0], (list, tuple)) else shapes[0]),
                           self.compute_dtype)

    def get_config(self):
        """The arguments that make another one like it."""
        config = super().get_config()
        for name, value in self._given.items():
            current = getattr(self, name, value)
            if name.endswith("_initializer"):
                current = initializers.serialize(current)
            elif name == "activation":
                current = activations.serialize(current)
            elif name.endswith(_REGULAR):
                current = registry.serialize_keras_object(getattr(self, name, None))
            config[name] = current
        words = (self._entry["config"] or "").split()
        if self.activity_regularizer is not None or "activity_regularizer" in words:
            config["activity_regularizer"] = registry.serialize_keras_object(self.activity_regularizer)
        if "dtype" in words:
            config["dtype"] = self.dtype_policy.name
        return tables.ordered(self._entry, config)


def _is_shape(value):
    return all(item is None or isinstance(item, int) for item in value)
