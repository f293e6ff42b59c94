"""``keras.Layer``: weights, sublayers and a call; the base of the library's layers and of a program's own.

A layer builds itself when it first meets an input, in the scope of its name. The library's layers hold a part of the
library without variables; their weights are Variables, handed to the part as values, so tapes, traced functions and
replicas see them as they see any other variable.
"""

import functools
import inspect
import threading
import weakref

import numpy as np

from leat import debugging, dtypes, errors, nest
from leat._core import threads
from leat._core.specs import TensorSpec
from leat._core.tensor import Tensor, convert_to_tensor
from leat._core.tracking import grown
from leat._graph import ops, trace
from leat._structures.ragged import RaggedTensor
from leat.keras._base import calls, loading, masking, policies, registry, tables
from leat.keras._base.input_spec import check_inputs
from leat.keras._base.signature import CallSignature, input_shape_of, plain_arguments, shapes_for
from leat.keras._base.sparse import as_sparse, dense
from leat.keras._base.state import State, _all_layers, _leaves, _regularizer, _scope_of, has_unbuilt, shape_of
from leat.keras._base.symbolic import KerasTensor
from leat.keras._base.variables import StatelessScope, autocast_of


class _Context(threading.local):
    def __init__(self):
        self.training = None  # what the call around this one said
        self.before = None  # the name of the layer that gave the inputs of the call to come
        self.depth = 0
        self.is_symbolic = False  # is the call traced for shapes and dtypes alone?


_context = threads.inherit(_Context())
_with_losses = weakref.WeakSet()  # layers that have added losses since their last call


def _recorded(build):
    """A `build` that is in its layer's scope, and after which the layer is built and takes no more state."""
    signature = inspect.signature(build)

    @functools.wraps(build)
    def whole(self, *args, **kwargs):
        if self._is_building:  # called by a subclass's
            return build(self, *args, **kwargs)
        self._is_building, self._is_locked = True, False
        try:
            with _scope_of(self):
                build(self, *args, **kwargs)
        finally:
            self._is_building = False
        names = signature.bind(self, *args, **kwargs).arguments
        self._note_built(dict(list(names.items())[1:]))
    return whole


class Layer(State):
    """The base of layers (``keras.layers.Layer``).

    A subclass makes weights in `build(input_shape)` with `add_weight`, and computes in `call(inputs)`. Layers that are
    attributes, alone or in lists and dictionaries, are part of it. `trainable`: do tapes watch its weights?
    """

    _takes_sparse = False  # of the library's layers: sparse tensors come as they are
    _casts_inputs = True  # floats to its own dtype, and takes nothing but tensors by position
    _builds_parts = False  # of models: `build` calls the layers inside, and the model stays open for more

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "build" in cls.__dict__ and not cls.__dict__.get("_builds_parts"):
            cls.build = _recorded(cls.__dict__["build"])

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        for name in ("_tracked", "_generators", "_inbound_nodes"):
            object.__setattr__(self, name, [])
        for name in ("_is_ready", "_is_building", "_is_locked"):
            object.__setattr__(self, name, False)
        if not cls.__module__.startswith("leat.keras"):
            object.__setattr__(self, "_auto_config", plain_arguments(cls, args, kwargs))
        return self

    def __init__(self, *, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None, **kwargs):
        self._input_shape_argument = input_shape_of(kwargs)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        if name is not None and (not isinstance(name, str) or "/" in name):
            raise ValueError("Argument `name` must be a string and cannot contain character `/`. Received: "
                             f"name={name} (of type {type(name)})")
        if not isinstance(trainable, bool):
            raise ValueError(f"Expected `trainable` to be a boolean. Received: trainable={trainable} (of type "
                             f"{type(trainable)})")
        self.name = name if name is not None else tables.auto_name(tables.snake_case(type(self).__name__))
        self.built = False
        self.autocast = autocast
        self.supports_masking = type(self).compute_mask is not Layer.compute_mask
        self.supports_jit = True
        self.input_spec = None
        self.activity_regularizer = _regularizer(activity_regularizer)
        self.dtype_policy = dtype
        self._trainable = trainable
        self._losses = []
        self._output_shape = self._build_shapes = None
        self._parent_path = None
        self._is_ready = True

    _training_default = None  # of a call that says nothing, where `call` does not tell
    dtype = property(lambda self: self._policy_here.variable_dtype)
    variable_dtype = property(lambda self: self._policy_here.variable_dtype)
    compute_dtype = property(lambda self: self._policy_here.compute_dtype)
    input_dtype = property(lambda self: self.compute_dtype)

    @property
    def dtype_policy(self):
        """The DTypePolicy; it may be set to one, or to the name of a dtype."""
        return self._dtype_policy

    @dtype_policy.setter
    def dtype_policy(self, value):
        self._dtype_policy = policies.replaced(self.__dict__.get("_dtype_policy"), self, value)

    @property
    def _policy_here(self):
        """The policy, or the one that a map has for the layer's path."""
        policy = self._dtype_policy
        return policy[self.path] if isinstance(policy, policies.DTypePolicyMap) else policy

    @property
    def path(self):
        """The name behind the names of the layers around it."""
        return f"{self._parent_path}/{self.name}" if self._parent_path else self.name

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    # ---- losses that layers add ----

    def add_loss(self, loss):
        """Adds a scalar, or several, to `losses` (``keras.Layer.add_loss``). ValueError for what is no tensor."""
        for one in _leaves(loss):
            if not isinstance(one, Tensor):
                raise ValueError("`add_loss()` can only be called from inside `build()` or `call()`, on a tensor "
                                 f"input. Received invalid value: {one}")
        self._losses.extend(_leaves(loss))
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
        """Makes the weights for inputs of this shape; a subclass overrides it.

        Of a class without a `build` the layers inside are built by tracing its call.
        """
        if type(self).build is Layer.build and input_shape is not None:
            if any(not layer.built for layer in self._flatten_layers()):
                self.built = True
                try:
                    symbolic_outputs(self, [_map_shapes(lambda s: KerasTensor(s, self.compute_dtype), input_shape)], {})
                except Exception:
                    self.built = False
                    raise
            self._note_built({"input_shape": input_shape})
        self.built = True

    def _build_at_init(self):
        """A layer without weights is built from the start, unless a subclass has a `build` of its own."""
        if type(self).build is Layer.build:
            self._note_built({})

    def _note_built(self, shapes):
        self._build_shapes, self.built = shapes, True
        if not self._builds_parts:
            self._is_locked = True
        grown(self)

    def _build_for(self, signature, tensors):
        shapes = {name: _shapes(value) for name, value in tensors.items() if name != "mask"}
        if type(self).build is Layer.build:
            self._note_built({"input_shape": next(iter(shapes.values()), None)})
        else:
            self.build(**shapes_for(self.build, shapes, signature, type(self).__name__))
            self.built = True

    def get_build_config(self):
        """What `build_from_config` needs to make the weights: the shapes that the layer was built for; None."""
        shapes = self._build_shapes
        if not shapes:
            return None
        return {"input_shape": next(iter(shapes.values()))} if len(shapes) == 1 else {"shapes_dict": shapes}

    def build_from_config(self, config):
        """Builds the layer for the shapes that `get_build_config` gave."""
        if config and "input_shape" in config:
            self.build(config["input_shape"])
        elif config and "shapes_dict" in config:
            self.build(**config["shapes_dict"])

    def call(self, *args, **kwargs):
        """What the layer computes; a subclass overrides it."""
        raise self._lacks("call")

    call._is_missing = True

    def _lacks(self, method):
        return NotImplementedError(f"Layer {type(self).__name__} does not have a `{method}` method implemented.")

    def _require_init(self):
        if not self._is_ready:
            raise RuntimeError(f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the "
                               "first statement in the `__init__()` method. Go add it!")

    def _signature(self):
        found = type(self).__dict__.get("_call_signature")
        if found is None or found.call is not type(self).call:
            found = type(self)._call_signature = CallSignature(type(self).call)
        return found

    def __call__(self, *args, **kwargs):
        self._require_init()
        if any(isinstance(leaf, KerasTensor) for value in (*args, *kwargs.values()) for leaf in _leaves(value)):
            return symbolic_call(self, args, kwargs)
        args = [_converted(value, self) for value in args]
        kwargs = {key: _converted(value, self, named=True) for key, value in kwargs.items()}
        signature = self._signature()
        training = kwargs.get("training")
        if training is None:
            training = _context.training
        if training is None:
            training = self._training_default or signature.training
        if signature.takes_training and training is not None:
            kwargs["training"] = training
        elif not signature.takes_training:
            kwargs.pop("training", None)
        tensors = signature.tensors(args, kwargs, _is_tensor, _leaves)
        masks = self._masks_of(signature, tensors, kwargs)
        return self._called(args, kwargs, training, masks, signature, tensors)

    def _masks_of(self, signature, tensors, kwargs):
        """Puts the masks of the tensors among the arguments of a call that takes them; the first argument's."""
        def found_in(name):
            found = masking.masks_of(tensors[name], _map)
            return found if any(mask is not None for mask in _leaves(found)) else None
        if not tensors:
            return None
        first = next(iter(tensors))
        if len(tensors) > 1:
            for name in tensors:
                own = signature.masks.get(name)
                if own is not None and kwargs.get(own) is None and (mask := found_in(name)) is not None:
                    kwargs[own] = mask
        masks = kwargs.get("mask")
        if masks is None:
            masks = found_in(first)
        if not signature.takes_mask:
            kwargs.pop("mask", None)
        elif masks is not None:
            kwargs["mask"] = masks
        return masks

    def _called(self, args, kwargs, training, masks, signature, tensors):
        first = next(iter(tensors.values()), args[0] if args else None)
        around, before, _context.before = _context.training, _context.before, None
        if _context.depth == 0 and _with_losses:
            for layer in _all_layers(self, set()):
                layer._losses = []
                _with_losses.discard(layer)
        _context.training, _context.depth = training, _context.depth + 1
        try:
            self._check_inputs(first)
            is_tried = is_own(type(self).call) and not is_own(type(self).build) and has_unbuilt(self)
            if not self.built:
                with _scope_of(self):
                    self._build_for(signature, tensors)
                self._check_inputs(first)
            with _scope_of(self), autocast_of(self):
                outputs = self.call(*args, **kwargs)
            if debugging.checks_numerics():
                for leaf in _leaves(outputs):
                    debugging.watch_numerics(leaf, f"the output of layer '{self.name}' ({type(self).__name__})")
            if self.activity_regularizer is not None:
                self.add_loss([self._activity_loss(leaf) for leaf in _leaves(outputs) if isinstance(leaf, Tensor)])
            tables.take_names("keras_tensor", sum(is_tried for _ in _leaves(outputs)))  # Keras' by a call to build it
            if first is not None:
                self._output_shape = _shapes(outputs) if self._output_shape is None else self._output_shape
                masking.hand_on(self, first, outputs, masks, _leaves)
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
        loss = self.activity_regularizer(output)
        if not output.shape.rank:
            return loss
        count = ops.FUNCTIONS["cast"](ops.FUNCTIONS["shape"](output)[0], output.dtype)
        return ops.FUNCTIONS["math.divide_no_nan"](loss, count)

    def _check_inputs(self, first):
        if self.input_spec:
            check_inputs(self.input_spec, first, self.name, shape_of)

    def stateless_call(self, trainable_variables, non_trainable_variables, *args, return_losses=False, **kwargs):
        """The call with these values in place of the variables', which stay as they are (``keras.Layer``).

        (outputs, new values of the non-trainable variables), and the losses if asked. ValueError on other numbers.
        """
        if not self.built:
            raise ValueError(f"To call stateless_call, {type(self).__name__} must be built (i.e. its variables must "
                             "have been already created). You can build it by calling it on some data.")
        pairs = []
        for name, given in (("trainable_variables", trainable_variables),
                            ("non_trainable_variables", non_trainable_variables)):
            own = getattr(self, name)
            if len(own) != len(given):
                raise ValueError(f"Argument `{name}` must be a list of tensors corresponding 1:1 to "
                                 f"{type(self).__name__}().{name}. Received list with length {len(given)}, but "
                                 f"expected {len(own)} variables.")
            pairs += zip(own, given)
        kept = [(layer, layer._losses) for layer in _all_layers(self, set())]
        for layer, _ in kept:
            layer._losses = []
        try:
            with StatelessScope(pairs) as scope:
                outputs = self(*args, **kwargs)
                losses = self.losses if return_losses else None
                changed = [scope.get_current_value(variable) for variable in self.non_trainable_variables]
        finally:
            for layer, own_losses in kept:
                layer._losses = own_losses
        return (outputs, changed, losses) if return_losses else (outputs, changed)

    def compute_mask(self, inputs, previous_mask=None):
        """The mask of the output of a layer that supports masking: that of the input, unless a subclass says more."""
        return previous_mask

    def compute_output_shape(self, *args, **kwargs):
        """The shape of the output for an input of this shape, batch's dimension included."""
        if type(self).call is Layer.call:
            raise self._lacks("compute_output_shape")
        inputs = [_map_shapes(lambda shape: KerasTensor(shape, self.compute_dtype), shape) for shape in args]
        kwargs = {key.removesuffix("_shape"): _map_shapes(lambda shape: KerasTensor(shape, self.compute_dtype), shape)
                  for key, shape in kwargs.items()}
        return _map(lambda tensor: tensor.shape, symbolic_outputs(self, inputs, kwargs))

    def _as_said(self, outputs):
        """KerasTensors as the layer says that they are, where Keras' says something else than it then gives."""
        return outputs

    def compute_output_spec(self, *args, **kwargs):
        """KerasTensors for what it gives for KerasTensors; of a program's own `compute_output_shape` if it has one."""
        if not is_own(type(self).compute_output_shape):
            return symbolic_outputs(self, args, kwargs)
        signature = self._signature()
        tensors = signature.tensors(args, kwargs, _is_tensor, _leaves)
        shapes = {name: _shapes(value) for name, value in tensors.items() if name != "mask"}
        given = shapes_for(self.compute_output_shape, shapes, signature, type(self).__name__)
        return _map_shapes(lambda shape: KerasTensor(shape, self.compute_dtype), self.compute_output_shape(**given))

    # ---- configuration ----

    def get_config(self):
        """The arguments that make another one like it.

        Of a program's layer that has no `get_config` the arguments it was made with, where they are numbers, texts and
        lists of them; otherwise NotImplementedError.
        """
        return self._base_config() if type(self).get_config is not Layer.get_config else self._automatic_config()

    def _base_config(self):
        base = {"name": self.name, "trainable": self.trainable, "dtype": policies.serialize(self.dtype_policy)}
        if self.activity_regularizer is not None:
            base["activity_regularizer"] = registry.serialize_keras_object(self.activity_regularizer)
        return base

    def _automatic_config(self):
        """That of a class without a `get_config`."""
        base, class_ = self._base_config(), type(self)
        if not hasattr(self, "_auto_config"):  # one of the library's
            return base
        if self._auto_config is None:
            raise NotImplementedError(
                f"Layer {class_.__name__} was made with arguments that are no numbers or texts, or that have no names, "
                "and therefore the object must override `get_config()`: give the arguments of `__init__()` as a "
                'dictionary, {**super().get_config(), "units": self.units}')
        names, takes_all = _parameters(class_)
        if "name" not in names and not takes_all:
            del base["name"]
        return {**self._auto_config, **base}

    @classmethod
    def from_config(cls, config):
        """One of these arguments. TypeError where they do not make one."""
        if isinstance(config.get("dtype"), dict):
            config = {**config, "dtype": policies.get(config["dtype"])}
        try:
            return cls(**config)
        except loading.REFUSALS:
            raise
        except (TypeError, ValueError) as error:
            raise TypeError(f"Error when deserializing class '{cls.__name__}' using config={config}.\n\nException "
                            f"encountered: {error}") from error

    def __reduce__(self):
        """Copies and pickles: configuration, shapes and values."""
        return _revived, (type(self), self.get_config(), self.get_build_config(), self.get_weights())


def _revived(class_, config, build_config, weights):
    names, takes_all = _parameters(class_)
    layer = class_.from_config(config if takes_all else {key: config[key] for key in config if key in names})
    layer.trainable = config.get("trainable", True)
    if build_config and not layer.built:
        layer.build_from_config(build_config)
    layer.set_weights(weights)
    return layer


def is_own(function):
    """Is it a program's, and not the library's?"""
    return not getattr(function, "__module__", "").startswith("leat.keras")


@functools.cache
def _parameters(class_):
    """The names of a constructor's parameters, and whether it takes any other name."""
    parameters = inspect.signature(class_.__init__).parameters.values()
    return [one.name for one in parameters], any(one.kind is one.VAR_KEYWORD for one in parameters)


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
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"expected a shape, a tuple of numbers and None, or a structure of shapes; received {value}")
    return type(value)(_map_shapes(function, item) for item in value)


def _shapes(value):
    return _map(lambda leaf: shape_of(leaf) if getattr(leaf, "shape", None) is not None and (
        getattr(leaf.shape, "rank", 0) is not None) else None, value)


def _is_tensor(leaf):
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype")


def takes_sparse(layer):
    """Does it take sparse tensors as they are, as all of a program's own do?"""
    return layer._takes_sparse or is_own(type(layer).call)


def _describe(leaf):
    return f"{tuple(leaf.shape)} {leaf.dtype}" if hasattr(leaf, "shape") and hasattr(leaf, "dtype") else repr(leaf)


def _converted(value, layer, named=False):
    """An argument with tensors in place of arrays, floats in the layer's dtype; dense ones for the library's layers."""
    def convert(leaf):
        if hasattr(leaf, "dense_shape") and not takes_sparse(layer):
            leaf = dense(leaf)
        leaf = np.asarray(leaf) if hasattr(leaf, "iloc") else leaf  # a table of pandas'
        if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype != object:
            leaf = convert_to_tensor(leaf)
        if isinstance(leaf, Tensor) and leaf.dtype.is_complex:
            calls.refuse_complex(leaf, layer)
        if not layer._casts_inputs:
            return leaf
        if isinstance(leaf, Tensor) and layer.autocast and leaf.dtype.is_floating:
            wanted = dtypes.as_dtype(layer.compute_dtype)
            if leaf.dtype is not wanted and wanted.is_floating:
                mask, leaf = calls.mask_of(leaf), ops.FUNCTIONS["cast"](leaf, wanted)
                if mask is not None:
                    masking.set_mask(leaf, mask)
        elif not named and isinstance(leaf, (bool, int, float, str)):
            raise ValueError("Only input tensors may be passed as positional arguments. The following argument value "
                             f"should be passed as a keyword argument: {leaf} (of type {type(leaf)})")
        return leaf
    return _map(convert, value)


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


def _symbol(tensor):
    """The KerasTensor for a tensor of a trace, which has one for its mask."""
    made = KerasTensor(shape_of(tensor), tensor.dtype, hasattr(tensor, "dense_shape"),
                       hasattr(tensor, "with_flat_values"))
    mask = calls.mask_of(tensor) if isinstance(tensor, Tensor) else None
    if mask is not None:
        made._keras_mask = KerasTensor(shape_of(mask), "bool")
    return made


def symbolic_outputs(layer, args, kwargs):
    """KerasTensors for what a layer gives: its call traced once for unknown values; builds it."""
    tensors = [leaf for value in (*args, *kwargs.values()) for leaf in _leaves(value) if isinstance(leaf, KerasTensor)]
    masks = [tensor._keras_mask for tensor in tensors if tensor._keras_mask is not None]
    text = nest.to_text(tuple(TensorSpec(tensor.shape, tensor.dtype) for tensor in (*tensors, *masks)))
    graph = trace.Graph(text)
    around, _context.is_symbolic, graph.is_sketch = _context.is_symbolic, True, True
    try:
        with trace.tracing(graph), trace.recorded():
            given = list(graph.arguments())
            arguments, given_masks = iter(given[:len(tensors)]), iter(given[len(tensors):])

            def put(leaf):
                if not isinstance(leaf, KerasTensor):
                    return leaf
                value = next(arguments)
                if leaf._keras_mask is not None:
                    masking.set_mask(value, next(given_masks))
                if leaf.ragged:
                    return RaggedTensor.from_tensor(value)
                return as_sparse(value) if leaf.sparse and takes_sparse(layer) else value
            outputs = layer(*[_map(put, value) for value in args],
                            **{key: _map(put, value) for key, value in kwargs.items()})
        return layer._as_said(_map(_symbol, outputs))
    finally:
        _context.is_symbolic = around
        for one in list(_with_losses):  # none of this call stays
            one._losses = [loss for loss in one._losses if loss._graph is not graph]
        graph.release()


def symbolic_call(layer, args, kwargs):
    """The call of a layer as part of a model that is put together."""
    says = is_own(type(layer).compute_output_spec) or is_own(type(layer).compute_output_shape)
    if says and not layer.built:
        signature = layer._signature()
        with _scope_of(layer):
            layer._build_for(signature, signature.tensors(args, kwargs, _is_tensor, _leaves))
    outputs = layer.compute_output_spec(*args, **kwargs) if says else symbolic_outputs(layer, args, kwargs)
    Node(layer, args, kwargs, outputs)
    return outputs
