"""``keras.Layer``: weights, sublayers and a call; the base of the library's layers and of a program's own.

A layer builds itself when it first meets an input, in the scope of its name. The library's layers hold a part of the
library without variables; their weights are Variables, handed to the part as values, so tapes, traced functions and
replicas see them as they see any other variable.
"""

import inspect
import json
import threading
import weakref

import numpy as np

from leat import debugging, dtypes, errors, nest, trace
from leat.keras import calls, masking, tables
from leat.keras.random import SeedGenerator
from leat.keras.variables import Variable, current_path, name_scope
from leat.tensor import Tensor, convert_to_tensor


def _regularizer(identifier):
    if identifier is None:
        return None
    from leat.keras import regularizers
    return regularizers.get(identifier)


class InputSpec:
    """What a layer takes (``keras.InputSpec``): `ndim`, `min_ndim`, `max_ndim`, `axes` {dimension: size}, `shape`."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None,
                 allow_last_axis_squeeze=False, name=None, optional=False):
        self.dtype, self.name, self.optional = dtype, name, optional
        self.shape = None if shape is None else tuple(shape)
        self.ndim = len(self.shape) if shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        self.allow_last_axis_squeeze = allow_last_axis_squeeze

    def __repr__(self):
        words = [f"dtype={self.dtype}" if self.dtype else "", f"shape={self.shape}" if self.shape else "",
                 f"ndim={self.ndim}" if self.ndim else "", f"max_ndim={self.max_ndim}" if self.max_ndim else "",
                 f"min_ndim={self.min_ndim}" if self.min_ndim else "", f"axes={self.axes}" if self.axes else ""]
        return f"InputSpec({', '.join(word for word in words if word)})"

    def check(self, shape, layer, index=0, name=None):
        """ValueError where an input's shape does not fit."""
        start = f"Input {index} with name '{name}' of layer '{layer}' is incompatible with the layer: "
        rank = len(shape)
        if self.ndim is not None and rank != self.ndim:
            raise ValueError(f"{start}expected ndim={self.ndim}, found ndim={rank}. Full shape received: {shape}")
        if self.max_ndim is not None and rank > self.max_ndim:
            raise ValueError(f"{start}expected max_ndim={self.max_ndim}, found ndim={rank}")
        if self.min_ndim is not None and rank < self.min_ndim:
            raise ValueError(f"{start}expected min_ndim={self.min_ndim}, found ndim={rank}. Full shape received: "
                             f"{shape}")
        for axis, size in self.axes.items():
            if size is not None and shape[axis] not in (size, None):
                raise ValueError(f"{start}expected axis {axis} of input shape to have value {size}, but received input "
                                 f"with shape {shape}")
        for wanted, found in zip(self.shape or (), shape):
            if None not in (wanted, found) and wanted != found:
                raise ValueError(f"{start}expected shape={self.shape}, found shape={shape}")


class _Context(threading.local):
    def __init__(self):
        self.training = None  # what the call around this one said
        self.before = None  # the name of the layer that gave the inputs of the call to come
        self.depth = 0


_context = _Context()
_with_losses = weakref.WeakSet()  # layers that have added losses since their last call


def shape_of(value):
    """The shape of a tensor as a tuple; None stands for an unknown dimension."""
    return tuple(value.shape.as_list()) if hasattr(value.shape, "as_list") else tuple(value.shape)


def _dtype_name(dtype):
    if dtype is None:
        return "float32"
    if isinstance(dtype, dict):  # of a configuration
        return dtype["config"]["name"]
    return dtype.name if hasattr(dtype, "name") else dtypes.as_dtype(dtype).name


class DTypePolicy:
    """The dtype of a layer's weights and of what it computes (``keras.DTypePolicy``)."""

    def __init__(self, name="float32"):
        self.name = self.compute_dtype = self.variable_dtype = name

    def __repr__(self):
        return f'<DTypePolicy "{self.name}">'


def layers_in(value, seen):
    """The layers in an attribute: itself, or those of a list, tuple or dictionary."""
    if isinstance(value, Layer):
        if id(value) not in seen:
            seen.add(id(value))
            yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from layers_in(item, seen)
    elif isinstance(value, dict):
        for item in value.values():
            yield from layers_in(item, seen)


class Layer:
    """The base of layers (``keras.layers.Layer``).

    A subclass makes weights in `build(input_shape)` with `add_weight`, and computes in `call(inputs)`. Layers that are
    attributes, alone or in lists and dictionaries, are part of it. `trainable`: do tapes watch its weights?
    """

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        object.__setattr__(self, "_own_variables", [])
        object.__setattr__(self, "_seed_generators", [])
        object.__setattr__(self, "_inbound_nodes", [])
        object.__setattr__(self, "_is_ready", False)
        return self

    def __init__(self, *, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None, **kwargs):
        self._input_shape_argument = _input_shape_of(kwargs)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        if name is not None and not isinstance(name, str):
            raise ValueError(f"Argument `name` must be a string. Received: name={name} (of type {type(name)})")
        self.name = name or tables.auto_name(tables.snake_case(type(self).__name__))
        self.built = False
        self.autocast = autocast
        self.supports_masking = type(self).compute_mask is not Layer.compute_mask
        self.input_spec = None
        self.activity_regularizer = _regularizer(activity_regularizer)
        self.dtype_policy = DTypePolicy(_dtype_name(dtype))
        self._trainable = bool(trainable)
        self._losses = []
        self._output_shape = self._build_shape = None
        self._parent_path = None
        self._is_ready = True

    _training_default = None  # of a call that says nothing, where `call` does not tell
    dtype = property(lambda self: self.dtype_policy.variable_dtype)
    variable_dtype = property(lambda self: self.dtype_policy.variable_dtype)
    compute_dtype = property(lambda self: self.dtype_policy.compute_dtype)

    @property
    def path(self):
        """The name behind the names of the layers around it."""
        return f"{self._parent_path}/{self.name}" if self._parent_path else self.name

    def __setattr__(self, name, value):
        if isinstance(value, SeedGenerator):
            self._seed_generators.append(value)
        if isinstance(value, Variable) and all(value is not known for known in self._own_variables):
            self._own_variables.append(value)
        object.__setattr__(self, name, value)

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    # ---- weights ----

    def add_weight(self, shape=None, initializer=None, dtype=None, trainable=True, autocast=True, regularizer=None,
                   constraint=None, aggregation="none", overwrite_with_gradient=False, name=None):
        """A new weight of the layer, a `keras.Variable`; by default glorot_uniform for floats and zeros for others."""
        from leat.keras import initializers
        dtype = dtypes.as_dtype(dtype or self.variable_dtype)
        initializer = initializer or ("glorot_uniform" if dtype.is_floating else "zeros")
        with _scope_of(self):
            made = Variable(initializers.get(initializer), shape=() if shape is None else shape, dtype=dtype,
                            trainable=trainable and self._trainable, autocast=autocast, aggregation=aggregation,
                            name=name)
        from leat.keras import constraints
        made.regularizer, made.constraint = _regularizer(regularizer), constraints.get(constraint)
        made._is_weight_trainable = trainable
        self._own_variables.append(made)
        return made

    def _flatten_layers(self, include_self=False):
        seen = {id(self)}
        found = [self] if include_self else []
        for value in list(self.__dict__.values()):
            found.extend(layers_in(value, seen))
        return found

    @property
    def variables(self):
        """All variables: the layer's own, trainable ones first, those of its layers, and states of generators."""
        return self._collect(with_states=True)

    @property
    def weights(self):
        """The variables without the states of generators of random numbers."""
        return self._collect(with_states=False)

    def _collect(self, with_states):
        own = sorted(self._own_variables, key=lambda v: not getattr(v, "_is_weight_trainable", v.trainable))
        if with_states:
            own += [generator.state for generator in self._seed_generators]
        found, seen = [], set()
        for variable in [*own, *(v for layer in self._flatten_layers() for v in layer._collect(with_states))]:
            if id(variable) not in seen:
                seen.add(id(variable))
                found.append(variable)
        return found

    @property
    def trainable_variables(self):
        """The variables that training changes; none where the layer is not trainable."""
        return [variable for variable in self.variables if variable.trainable] if self.trainable else []

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self):
        """The variables that training leaves alone."""
        if not self.trainable:
            return self.variables
        return [variable for variable in self.variables if not variable.trainable]

    @property
    def non_trainable_weights(self):
        """The same without the states of generators of random numbers."""
        states = {id(generator.state) for layer in _all_layers(self, set()) for generator in layer._seed_generators}
        return [variable for variable in self.non_trainable_variables if id(variable) not in states]

    @property
    def trainable(self):
        """Does training change the weights? Setting it reaches all layers inside."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        value = bool(value)
        self._trainable = value
        for variable in self._own_variables:
            if getattr(variable, "_is_weight_trainable", True):
                variable.trainable = value
        for layer in self._flatten_layers():
            layer.trainable = value

    def get_weights(self):
        """The values of the weights as a list of numpy arrays."""
        return [np.array(variable.numpy()) for variable in self.weights]

    def set_weights(self, weights):
        """Sets the weights to a list of arrays, as get_weights gives them. ValueError on other numbers or shapes."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of length "
                             f"{len(weights)}, but the layer was expecting {len(own)} weights.")
        for variable, value in zip(own, weights):
            if tuple(np.shape(value)) != shape_of(variable):
                raise ValueError(f"Layer {self.name} weight shape {shape_of(variable)} is not compatible with provided "
                                 f"weight shape {tuple(np.shape(value))}.")
            variable.assign(value)

    def count_params(self):
        """The number of values in the weights. ValueError before the layer is built."""
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on layer '{self.name}', but the layer isn't built. You "
                             "can build it manually via: `layer.build(input_shape)`.")
        return sum(int(np.prod(shape_of(variable))) for variable in self.weights)

    # ---- losses that layers add ----

    def add_loss(self, loss):
        """Adds a scalar to `losses` (``keras.Layer.add_loss``)."""
        self._losses.extend(loss if isinstance(loss, (list, tuple)) else [loss])
        _with_losses.add(self)

    @property
    def losses(self):
        """What layers added in the last call, and the penalties of weights with regularizers."""
        everyone = _all_layers(self, set())
        found = [loss for layer in everyone for loss in layer._losses]
        return found + [variable.regularizer(variable) for variable in self.trainable_variables
                        if getattr(variable, "regularizer", None) is not None]

    # ---- as part of models ----

    def _of_first_node(self, what):
        if not self._inbound_nodes:
            raise AttributeError(f"The layer {self.name} has never been called and thus has no defined {what}.")
        return self._inbound_nodes[0]

    @property
    def input(self):
        """The KerasTensors that the layer was first called with."""
        node = self._of_first_node("input")
        return node.inputs[0] if len(node.inputs) == 1 else node.inputs

    @property
    def output(self):
        """The KerasTensors that it gave then."""
        return self._of_first_node("output").structure

    # ---- building and calling ----

    def build(self, input_shape=None):
        """Makes the weights for inputs of this shape; a subclass overrides it."""
        self.built = True

    def call(self, *args, **kwargs):
        """What the layer computes; a subclass overrides it."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call` method implemented.")

    def _signature(self):
        found = type(self).__dict__.get("_call_signature")
        if found is None or found[0] is not type(self).call:
            names = inspect.signature(type(self).call).parameters
            default = names["training"].default if "training" in names else None
            found = (type(self).call, "training" in names, self._training_default or default, "mask" in names)
            type(self)._call_signature = found
        return found

    def __call__(self, *args, **kwargs):
        if not self._is_ready:
            raise RuntimeError(f"In layer {type(self).__name__}, you forgot to call `super().__init__()` as the first "
                               "statement in the `__init__()` method. Go add it!")
        if any(isinstance(leaf, KerasTensor) for value in (*args, *kwargs.values()) for leaf in _leaves(value)):
            return symbolic_call(self, args, kwargs)
        args = [_converted(value, self) for value in args]
        kwargs = {key: _converted(value, self, named=True) for key, value in kwargs.items()}
        _, takes_training, default, takes_mask = self._signature()
        training = kwargs.get("training")
        if training is None:
            training = _context.training if _context.training is not None else default
        if takes_training and training is not None:
            kwargs["training"] = training
        elif not takes_training:
            kwargs.pop("training", None)
        masks = kwargs.get("mask")
        if masks is None and args:
            masks = masking.masks_of(args[0], _map)
        if takes_mask and any(mask is not None for mask in _leaves(masks)):
            kwargs["mask"] = masks
        elif not takes_mask:
            kwargs.pop("mask", None)
        return self._called(args, kwargs, training, masks)

    def _called(self, args, kwargs, training, masks):
        around, before, _context.before = _context.training, _context.before, None
        if _context.depth == 0 and _with_losses:
            for layer in _all_layers(self, set()):
                layer._losses = []
                _with_losses.discard(layer)
        _context.training, _context.depth = training, _context.depth + 1
        try:
            self._check_inputs(args)
            if not self.built:
                self._build_for(args)
            with _scope_of(self):
                outputs = self.call(*args, **kwargs)
            if debugging.checks_numerics():
                for leaf in _leaves(outputs):
                    debugging.watch_numerics(leaf, f"the output of layer '{self.name}' ({type(self).__name__})")
            if self.activity_regularizer is not None:
                self.add_loss([self._activity_loss(leaf) for leaf in _leaves(outputs) if isinstance(leaf, Tensor)])
            if args and self._output_shape is None:
                self._output_shape = _shapes(outputs)
            if args:
                masking.hand_on(self, args[0], outputs, masks, _leaves)
            return outputs
        except (ValueError, TypeError, NotImplementedError, errors.OpError) as error:
            if not isinstance(error, trace.NotTraceable) and not getattr(error, "_leat_noted", False):
                error._leat_noted = True
                error.add_note(f"in the call of layer '{self.name}' ({type(self).__name__}), given "
                               f"{[_describe(leaf) for value in args for leaf in _leaves(value)]}"
                               + (f" by layer '{before}'" if before else ""))
            raise
        finally:
            _context.training, _context.depth = around, _context.depth - 1

    def _activity_loss(self, output):
        """The penalty of an output by its rows, so that it does not depend on the size of batches."""
        from leat import ops
        loss = self.activity_regularizer(output)
        if not output.shape.rank:
            return loss
        count = ops.FUNCTIONS["cast"](ops.FUNCTIONS["shape"](output)[0], output.dtype)
        return ops.FUNCTIONS["math.divide_no_nan"](loss, count)

    def _check_inputs(self, args):
        if self.input_spec is None or not args:
            return
        found = self.input_spec if isinstance(self.input_spec, (list, tuple)) else [self.input_spec]
        for index, (spec, value) in enumerate(zip(found, _leaves(args[0]))):
            if getattr(value, "shape", None) is not None and getattr(value.shape, "rank", 0) is not None:
                spec.check(shape_of(value), self.name, index)

    def _build_for(self, args):
        shapes = _shapes(args[0]) if args else None
        if self._parent_path is None:
            self._parent_path = current_path()
        self._build_shape = shapes
        self.build(shapes)
        self.built = True

    def _build_from_config(self, input_shape):
        """Builds the layer for the shape that its configuration knows."""
        with _scope_of(self):
            self._build_shape = input_shape
            self.build(input_shape)
            self.built = True

    def compute_mask(self, inputs, previous_mask=None):
        """The mask of the output of a layer that supports masking: that of the input, unless a subclass says more."""
        return previous_mask

    def compute_output_shape(self, *args, **kwargs):
        """The shape of the output for an input of this shape, batch's dimension included."""
        inputs = _map_shapes(lambda shape: KerasTensor(shape, self.compute_dtype), args[0])
        return _map(lambda tensor: tensor.shape, symbolic_outputs(self, [inputs], kwargs))

    # ---- configuration ----

    def get_config(self):
        """The arguments that make another one like it."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self._policy_config()}

    def _policy_config(self):
        return {"module": "keras", "class_name": "DTypePolicy", "config": {"name": self.dtype_policy.name},
                "registered_name": None}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


class _scope_of(name_scope):
    """The scope of a layer's name, unless it is the innermost one already."""

    def __init__(self, layer):
        super().__init__(layer.name)
        self._layer = layer

    def __enter__(self):
        from leat.keras.variables import _scopes
        if self._layer._parent_path is None:
            self._layer._parent_path = current_path()
        self._around, _scopes.names = _scopes.names, [part for part in (self._layer._parent_path, self.name) if part]
        return self

    def __exit__(self, *error):
        from leat.keras.variables import _scopes
        _scopes.names = self._around


def _all_layers(layer, seen):
    if id(layer) in seen:
        return []
    seen.add(id(layer))
    return [layer, *(inner for child in layer._flatten_layers() for inner in _all_layers(child, seen))]


def _input_shape_of(kwargs):
    """The shape that a layer was given as an old argument, with the batch's dimension; taken out of `kwargs`."""
    batch, shape = kwargs.pop("batch_input_shape", None), kwargs.pop("input_shape", None)
    size, width = kwargs.pop("batch_size", None), kwargs.pop("input_dim", None)
    if batch is not None:
        return tuple(batch)
    if shape is None and width is not None:
        shape = (width,)
    return None if shape is None else (size, *shape)


def _leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    return [value]


def _map(function, value):
    if isinstance(value, (list, tuple)):
        made = [_map(function, item) for item in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):  # in the order of the keys, as leaves are listed
        made = {key: _map(function, value[key]) for key in sorted(value)}
        return {key: made[key] for key in value}
    return function(value)


def _map_shapes(function, value):
    """The same over shapes, which are tuples of numbers."""
    if isinstance(value, (list, tuple)) and all(item is None or isinstance(item, int) for item in value):
        return function(tuple(value))
    if isinstance(value, dict):
        return {key: _map_shapes(function, item) for key, item in value.items()}
    return type(value)(_map_shapes(function, item) for item in value)


def _shapes(value):
    return _map(lambda leaf: shape_of(leaf) if getattr(leaf, "shape", None) is not None and (
        getattr(leaf.shape, "rank", 0) is not None) else None, value)


def _describe(leaf):
    return f"{tuple(leaf.shape)} {leaf.dtype}" if hasattr(leaf, "shape") and hasattr(leaf, "dtype") else repr(leaf)


def _converted(value, layer, named=False):
    """An argument with tensors in place of arrays, floats in the layer's dtype."""
    def convert(leaf):
        if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype != object:
            leaf = convert_to_tensor(leaf)
        if isinstance(leaf, Tensor) and layer.autocast and leaf.dtype.is_floating:
            wanted = dtypes.as_dtype(layer.compute_dtype)
            if leaf.dtype is not wanted:
                from leat import ops
                mask, leaf = calls.mask_of(leaf), ops.FUNCTIONS["cast"](leaf, wanted)
                if mask is not None:
                    masking.set_mask(leaf, mask)
        elif not named and isinstance(leaf, (bool, int, float, str)):
            raise ValueError("Only input tensors may be passed as positional arguments. The following argument value "
                             f"should be passed as a keyword argument: {leaf} (of type {type(leaf)})")
        return leaf
    return _map(convert, value)


# ---- values without numbers: Input, functional models, output shapes ----

class KerasTensor:
    """What stands for a tensor while a model is put together (``keras.KerasTensor``): a shape and a dtype."""

    def __init__(self, shape, dtype="float32", sparse=False, ragged=False, record_history=True, name=None):
        self.shape, self.dtype = tuple(shape), _dtype_name(dtype)
        self.name = name or tables.auto_name("keras_tensor")
        self.sparse, self.ragged = sparse, ragged
        self._history = None  # the call that gave it

    ndim = property(lambda self: len(self.shape))

    def __repr__(self):
        return (f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse={self.sparse}, ragged={self.ragged}, "
                f"name={self.name}>")

    def __array__(self, *_):
        raise ValueError(f"A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any "
                         f"actual numerical value. You cannot convert it to a NumPy array.")

    def __bool__(self):
        raise TypeError("A symbolic KerasTensor cannot be used as a boolean.")

    def __iter__(self):
        raise TypeError("Iterating over a symbolic KerasTensor is not supported.")

    def __getitem__(self, index):
        from leat.keras import ops
        return ops.get_item(self, index)


class Node:
    """One call of a layer as part of a model: its arguments, KerasTensors among them, and its outputs."""

    def __init__(self, layer, args, kwargs, structure):
        self.layer, self.args, self.kwargs, self.structure = layer, args, kwargs, structure
        self.inputs = [leaf for value in (*args, *kwargs.values()) for leaf in _leaves(value)
                       if isinstance(leaf, KerasTensor)]
        self.outputs = _leaves(structure)
        layer._inbound_nodes.append(self)
        for tensor in self.outputs:
            tensor._history = self


def node_of(tensor):
    """The call that gave a KerasTensor; None: it was made by hand."""
    return tensor._history


def symbolic_outputs(layer, args, kwargs):
    """KerasTensors for what a layer gives: its call traced once for unknown values; builds it."""
    tensors = [leaf for value in (*args, *kwargs.values()) for leaf in _leaves(value) if isinstance(leaf, KerasTensor)]
    from leat.specs import TensorSpec
    text = nest.to_text(tuple(TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors))
    graph = trace.Graph(text)
    try:
        with trace.tracing(graph), trace.recorded():
            arguments = iter(graph.arguments())

            def put(leaf):
                return next(arguments) if isinstance(leaf, KerasTensor) else leaf
            outputs = layer(*[_map(put, value) for value in args],
                            **{key: _map(put, value) for key, value in kwargs.items()})
        return _map(lambda leaf: KerasTensor(shape_of(leaf), leaf.dtype), outputs)
    finally:
        graph.release()


def symbolic_call(layer, args, kwargs):
    """The call of a layer as part of a model that is put together."""
    outputs = symbolic_outputs(layer, args, kwargs)
    Node(layer, args, kwargs, outputs)
    return outputs


def _operator(name):
    def forward(self, other):
        from leat.keras import ops
        return getattr(ops, name)(self, other)

    def backward(self, other):
        from leat.keras import ops
        return getattr(ops, name)(other, self)
    return forward, backward


for _name, _operation in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "true_divide"),
                          ("floordiv", "floor_divide"), ("mod", "mod"), ("pow", "power"), ("matmul", "matmul"),
                          ("and", "logical_and"), ("or", "logical_or"), ("xor", "logical_xor")):
    _forward, _backward = _operator(_operation)
    setattr(KerasTensor, f"__{_name}__", _forward)
    setattr(KerasTensor, f"__r{_name}__", _backward)
for _name, _operation in (("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
                          ("ne", "not_equal")):
    setattr(KerasTensor, f"__{_name}__", _operator(_operation)[0])
for _name, _operation in (("neg", "negative"), ("abs", "absolute"), ("invert", "logical_not")):
    setattr(KerasTensor, f"__{_name}__", lambda self, _operation=_operation: _alone(_operation, self))


def _alone(name, value):
    from leat.keras import ops
    return getattr(ops, name)(value)


# ---- the library's layers ----

_REGULAR = ("_regularizer", "_constraint")
_SPATIAL = ("kernel_size", "strides", "dilation_rate", "pool_size", "size", "output_padding")


class TableLayer(Layer):
    """A layer of the library's table."""

    _training_default = property(lambda self: self._entry["prepares"] or None)

    def _setup(self, given, others):
        others, start = dict(others), given.pop("weights", None)
        regularizer = given.pop("activity_regularizer", others.pop("activity_regularizer", None))
        if "name" in given:
            others = {"name": given.pop("name"), **others}
        if others.pop("rms_scaling", False):
            raise NotImplementedError("rms_scaling=True is not supported; use RMSNormalization")
        tables.refuse_unknown(self._entry, {name: value for name, value in given.items()
                                            if not name.endswith(_REGULAR)})
        from leat.keras import activations, constraints, initializers, regularizers
        known, arguments, attributes = tables.rows(self._entry), {}, {"activation": None}
        for name, value in given.items():
            if name.endswith("_initializer"):
                value = initializers.get(value)
            elif name == "activation":
                value = activations.get(value)
            elif name.endswith("_regularizer"):
                value = regularizers.get(value)
            elif name.endswith("_constraint"):
                value = constraints.get(value)
            elif name in known:
                value = arguments[name] = self._spatial(name, value, known[name])
            attributes[name] = value
        part = tables.part("layer", self._entry, arguments)
        Layer.__init__(self, activity_regularizer=regularizer, **others)
        for name, value in attributes.items():
            object.__setattr__(self, name, value)
        self._part, self._given = part, dict(given)
        self._part_alone = part  # where there are no other replicas
        if arguments.get("synchronized"):
            self._part_alone = tables.part("layer", self._entry, {**arguments, "synchronized": False})
        self._weights = []
        self._compiled = None
        self.supports_masking = self.supports_masking or self._entry["masks"] or self._entry["merges"]
        rank, least = self._entry["rank"], self._entry["min_rank"]
        self.input_spec = InputSpec(ndim=rank) if rank > 0 else InputSpec(min_ndim=least) if least > 0 else None
        if self._entry["fixed_last"] and rank > 0:
            self.input_spec = InputSpec(min_ndim=rank)
        if self._entry["merges"]:
            self.input_spec = None
        if "seed" in attributes and not any(name.endswith("_initializer") for name in known):
            self.seed_generator = SeedGenerator(attributes["seed"])
        if start is not None:
            self.build((None,))
            self.set_weights(start if isinstance(start, list) and len(start) == 1 else [start])

    def _spatial(self, name, value, row):
        """One number for all directions of space as a tuple."""
        directions = self._entry["rank"] - 2 if name in _SPATIAL else 0
        if row["type"].startswith("list") and isinstance(value, int) and directions > 0:
            return (value,) * directions
        if row["type"].startswith("list") and isinstance(value, (list, tuple)) and directions > 0 and (
                len(value) != directions and not isinstance(value[0], (list, tuple))):
            raise ValueError(f"The `{name}` argument must be a tuple of {directions} integers. Received "
                             f"{name}={value}")
        return tuple(value) if isinstance(value, list) else value

    def build(self, input_shape=None):
        """Makes the weights that the library lists for inputs of this shape."""
        shapes = input_shape if self._entry["merges"] and not _is_shape(input_shape) else [input_shape]
        try:
            listed = json.loads(self._part.states([list(shape) for shape in shapes]))
        except errors.InvalidArgumentError as error:
            raise ValueError(error.message) from None
        for weight in listed:
            name = weight["name"]
            if weight["is_seed"]:
                self._weights.append(self.seed_generator.state)
                continue
            made = self.add_weight(
                shape=weight["shape"], name=name, trainable=weight["trainable"],
                initializer=self._of_weight(name, "initializer") or weight["initializer"],
                regularizer=self._of_weight(name, "regularizer"), constraint=self._of_weight(name, "constraint"))
            object.__setattr__(self, name, made)
            self._weights.append(made)
        if self._entry["fixed_last"]:
            rank = self._entry["rank"]
            self.input_spec = InputSpec(min_ndim=max(rank, self._entry["min_rank"]), axes={-1: shapes[0][-1]})
        self.built = True

    def _of_weight(self, name, sort):
        """The initializer, regularizer or constraint that was given for a weight: kernel_... or depthwise_..."""
        return getattr(self, f"{name}_{sort}", None) or getattr(self, f"{name.removesuffix('_kernel')}_{sort}", None)

    def call(self, inputs, training=None):
        """What the library computes, through the activation."""
        tensors = [convert_to_tensor(leaf) for leaf in _leaves(inputs)]
        training = training and not (self._entry["freezes"] and not self.trainable)
        casts = self._entry["prepares"] and trace.is_tracing()
        if casts or self._weights and not self._entry["takes_integers"]:
            tensors = [self._floating(tensor) for tensor in tensors]
        if calls.is_plain(tensors):
            if self._compiled is None:
                self._compiled = calls.Compiled(self._compute)
            output = self._compiled(bool(training), tensors)
        else:
            output = self._compute(bool(training), tensors)
        return output if self.activation is None else self.activation(output)

    def _floating(self, tensor):
        from leat import ops
        return tensor if tensor.dtype.is_floating else ops.FUNCTIONS["cast"](tensor, dtypes.as_dtype(
            self.compute_dtype))

    def _compute(self, training, tensors):
        part = self._part if trace.replica_context() is not None else self._part_alone
        output, updates = calls.call(part, tensors, [weight._as_tensor() for weight in self._weights], training)
        for weight, update in zip(self._weights, updates):
            if update is not None:
                weight.assign(update)
        return output

    def get_config(self):
        """The arguments that make another one like it."""
        from leat.keras import activations, initializers, saving
        config = super().get_config()
        for name, value in self._given.items():
            current = getattr(self, name, value)
            if name.endswith("_initializer"):
                current = initializers.serialize(current)
            elif name == "activation":
                current = activations.serialize(current)
            elif name.endswith("_regularizer"):
                current = saving.serialize_keras_object(getattr(self, name, None))
            elif name.endswith("_constraint"):
                current = saving.serialize_keras_object(getattr(self, name, None))
            if current is not None or not name.startswith("lora_"):
                config[name] = current
        if self.activity_regularizer is not None or "Conv" in type(self).__name__:
            config["activity_regularizer"] = saving.serialize_keras_object(self.activity_regularizer)
        return config

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


def _is_shape(value):
    return all(item is None or isinstance(item, int) for item in value)
