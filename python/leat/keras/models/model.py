"""``keras.Model``, ``keras.Sequential`` and models that are put together of KerasTensors."""

import functools
import inspect
import itertools

from leat import nest
from leat._core.later import Hook
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat.keras._base import layer as _layer, masking, old_configs, policies, registry, tables
from leat.keras._base.calls import mask_of
from leat.keras._base.layer import Layer
from leat.keras._base.state import layers_in, shape_of
from leat.keras._base.symbolic import KerasTensor
from leat.keras._training.trainer import Trainer
from leat.keras.layers.core import InputLayer
from leat.keras.models.summary import summary
from leat.keras.saving import files

functional_class, of_functional_config = Hook(), Hook()  # models between tensors; leat.keras.models.functional


def takes_tensors(class_):
    """Is a model of the class made of inputs and outputs?"""
    names = list(inspect.signature(class_.__init__).parameters)[1:]
    return names[:2] == ["inputs", "outputs"] or {"args", "kwargs"} <= set(names)


class Model(Trainer, Layer):
    """A layer that is made of layers (``keras.Model``).

    Subclass it, or give it the KerasTensors that it starts and ends with: ``Model(inputs, outputs)``.
    """

    _builds_parts = True
    _called_shapes, _further_shapes = None, ()  # of the first call's first tensors, and of others beside them

    def __new__(cls, *args, **kwargs):
        if cls is Model and _is_between_tensors(args, kwargs):
            return super().__new__(functional_class.value)
        return super().__new__(cls, *args, **kwargs)

    def __init__(self, *args, **kwargs):
        if _is_between_tensors(args, kwargs):  # of a subclass, which becomes a functional model's, too
            functional = functional_class.value
            if not isinstance(self, functional):
                self.__class__ = _between_tensors(type(self), functional)
            functional.__init__(self, *args, **kwargs)
            return
        if args or "inputs" in kwargs:
            raise TypeError(f"{type(self).__name__}.__init__() takes keywords alone, or inputs and outputs made with "
                            "keras.Input")
        super().__init__(**kwargs)

    def call(self, *args, **kwargs):
        """What the model computes; a subclass overrides it."""
        raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()` method implemented.")

    call._is_missing = True

    @property
    def layers(self):
        """The layers that it is made of."""
        return self._flatten_layers()

    @layers.setter
    def layers(self, _):
        raise AttributeError("`Model.layers` attribute is reserved and should not be used. Please use another name.")

    def get_layer(self, name=None, index=None):
        """The layer of a name or at a place. ValueError where there is none."""
        if index is not None and name is not None:
            raise ValueError(f"Provide only a layer name or a layer index. Received: index={index}, name={name}.")
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {len(self.layers)} "
                                 "layers.")
            return self.layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index at `get_layer`.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in self.layers]}.")

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model of a configuration. TypeError where it does not have what the class's constructor takes."""
        if {"name", "layers", "input_layers", "output_layers"} <= set(config):
            if takes_tensors(cls):
                return of_functional_config(cls, config, custom_objects)
        try:
            return cls(**config)
        except TypeError as error:
            raise TypeError("Unable to revive model from config. When overriding the `get_config()` method, make sure "
                            "that the returned config contains all items used as arguments in the constructor to "
                            f"{cls}, which is the default behavior. You can override this default behavior by "
                            f"defining a `from_config(cls, config)` class method. Received config={config}. Error "
                            f"encountered: {error}") from error

    def get_state_tree(self, value_format="backend_tensor"):
        """{"trainable_variables", "non_trainable_variables", "optimizer_variables", "metrics_variables"}: the values in
        dictionaries by the parts of their paths. `value_format`: "numpy_array" for arrays in place of tensors.
        ValueError for a path that two variables have."""
        if value_format not in ("backend_tensor", "numpy_array"):
            raise ValueError("Invalid `value_format` argument. Expected one of {'numpy_array', 'backend_tensor'}. "
                             f"Received: value_format={value_format}")
        return {sort: _tree(variables, value_format) for sort, variables in self._sorts_of_variables().items()}

    def set_state_tree(self, state_tree):
        """Sets the variables of a tree, or of a part of one, as `get_state_tree` gives it. ValueError for a path that
        the model does not have."""
        sorts = self._sorts_of_variables()
        for sort, values in state_tree.items():
            if sort not in sorts:
                raise ValueError(f"Unknown variable name: {sort}. Expected one of {list(sorts)}")
            known = {variable.path: variable for variable in sorts[sort]}
            for path, value in _paths_of(values, ""):
                if path not in known:
                    raise ValueError(f"The model has no variable '{path}' among its {sort}: {sorted(known)}")
                known[path].assign(value)

    def _sorts_of_variables(self):
        if self.optimizer is not None and not self.optimizer.built:
            self.optimizer.build(self.trainable_variables)
        return {"trainable_variables": self.trainable_variables,
                "non_trainable_variables": self.non_trainable_variables,
                "optimizer_variables": self.optimizer.variables if self.optimizer is not None else [],
                "metrics_variables": self.metrics_variables}

    def __reduce__(self):
        return files.of_bytes, (type(self), files.model_bytes(self))

    def to_json(self, **kwargs):
        """The model's configuration as JSON text; ``keras.models.model_from_json`` makes a model of it."""
        import json
        return json.dumps(registry.serialize_keras_object(self), **kwargs)

    def save_weights(self, filepath, overwrite=True, max_shard_size=None):
        """Writes the weights into a `.weights.h5` file as Keras does (that needs the package h5py), or into a
        `.safetensors` file. `max_shard_size`: into several files of so many GiB at most, listed in a `.weights.json`
        file."""
        files.save_weights(self, filepath, overwrite, max_shard_size)

    def load_weights(self, filepath, skip_mismatch=False, objects_to_skip=None, by_name=None):
        """Sets the weights from a `.weights.h5`, `.keras` or `.h5` file, Keras' own too, or a `.safetensors` file.
        ValueError where they do not fit; then none is set. `objects_to_skip`: layers whose weights stay. `by_name`: an
        `.h5` file's layers go to those with their names."""
        files.load_weights(self, filepath, skip_mismatch, objects_to_skip, by_name)

    def save(self, filepath, overwrite=True, zipped=None, **kwargs):
        """Writes the model into a `.keras` or an `.h5` file as Keras does, or into an open `.keras` one; needs the
        package h5py. `include_optimizer=False` leaves the optimizer out of an `.h5` file."""
        files.save_model(self, filepath, overwrite, zipped, **kwargs)

    def export(self, filepath, format="tf_saved_model", verbose=None, input_signature=None, **kwargs):
        """Writes the model's call as a SavedModel, which TensorFlow loads and serves: ``serve`` and "serving_default".

        `format`: "tf_saved_model", or "onnx", a file for ONNX Runtime and others (``leat.onnx.export``), with
        `opset_version` as a further argument. `input_signature`: what the call takes (InputSpecs, TensorSpecs,
        tensors), by default what the model was made of or called with, for any batch.
        """
        from leat.keras.saving.export import export_model
        export_model(self, filepath, format, verbose, input_signature, **kwargs)

    def _input_signature(self):
        """The arguments of the call as KerasTensors; None: it was never called."""
        if self._called_shapes is None:
            return None
        return [_layer._map_shapes(lambda shape: KerasTensor(shape, self.compute_dtype), shapes)
                for shapes in (self._called_shapes, *self._further_shapes)]

    def _default_save_signature(self):
        """What ``tf.saved_model.save`` writes as "serving_default"; None where that is not known."""
        from leat.keras.saving.export import serving_function
        return serving_function(self)

    def summary(self, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False,
                layer_range=None):
        """Prints the layers as a table: name and class, output shape, number of parameters.

        `line_length`: width in characters. `print_fn` gets the whole text in place of the standard output.
        """
        text = summary(self, line_length, positions, expand_nested, show_trainable, layer_range)
        (print_fn or print)(text)

    def build(self, input_shape=None):
        """Builds the layers for inputs of this shape, batch's dimension included, by calling the model once."""
        if input_shape is not None and self._called_shapes is None:
            self._called_shapes = input_shape
        if input_shape is not None and type(self).call is not Model.call and not self.built:
            self.built = True
            shapes = _layer._map_shapes(lambda shape: KerasTensor(shape, self.compute_dtype), input_shape)
            try:
                _layer.symbolic_outputs(self, [shapes], {})
            except Exception:
                self.built, self._called_shapes = False, None
                raise
        self.built = True

    def __call__(self, *args, **kwargs):
        if self._called_shapes is None and args and self._is_ready:
            self._called_shapes = _layer._shapes(args[0])
            tensors = itertools.takewhile(lambda value: nest.flatten(value) and all(
                map(_layer._is_tensor, nest.flatten(value))), args[1:])
            self._further_shapes = [_layer._shapes(value) for value in tensors]
        return super().__call__(*args, **kwargs)

    def get_build_config(self):
        """What `build_from_config` needs to make the weights: the shapes of the first call; None."""
        return None if self._called_shapes is None else {"input_shape": self._called_shapes}

    def build_from_config(self, config):
        """Builds the layers for the shapes that `get_build_config` gave, where they can be traced."""
        if config and config.get("input_shape") is not None and not self.built:
            self.build(tables.tupled(config["input_shape"]))

    def _build_for(self, signature, tensors):
        if type(self).build is Model.build:
            self.built = True  # its layers are built as they are called
        else:
            super()._build_for(signature, tensors)


def _tree(variables, value_format):
    found, seen = {}, set()
    for variable in variables:
        if variable.path in seen:
            raise ValueError("The following variable path is found twice in the model: "
                             f"'{variable.path}'. `get_state_tree()` can only be called when all variable paths are "
                             "unique. Make sure to give unique names to your layers (and other objects).")
        seen.add(variable.path)
        *folders, name = variable.path.split("/")
        inner = found
        for folder in folders:
            inner = inner.setdefault(folder, {})
        inner[name] = variable.numpy() if value_format == "numpy_array" else variable.read_value()
    return found


def _paths_of(values, start):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _paths_of(value, f"{start}{name}/")
        else:
            yield start + name, value


def _is_between_tensors(args, kwargs):
    """Do the arguments of a model say where it starts and ends?"""
    return bool(args) and _is_symbolic(args[0]) or "inputs" in kwargs


@functools.cache
def _between_tensors(class_, functional):
    """A program's own subclass of Model whose call goes from inputs to outputs."""
    return type(class_.__name__, (class_, functional), {"__module__": class_.__module__, "__doc__": class_.__doc__,
                                                       "__qualname__": class_.__qualname__})


def _is_symbolic(value):
    return any(isinstance(leaf, KerasTensor) for leaf in _layer._leaves(value))


def _of_place(place, value):
    """An input in the dtype that a model says that it takes."""
    if hasattr(value, "with_flat_values"):
        return value if value.dtype.name == place.dtype else value.with_flat_values(
            ops.FUNCTIONS["cast"](value.flat_values, place.dtype))
    if value is None:
        return None
    if hasattr(value, "dense_shape"):
        if place.sparse:
            return value
        value = _layer.dense(value)
    mask, value = getattr(value, "_keras_mask", None), convert_to_tensor(
        value._as_tensor() if hasattr(value, "_as_tensor") else value)
    if value.dtype.name == place.dtype:
        return value
    value = ops.FUNCTIONS["cast"](value, place.dtype)
    if mask is not None:
        masking.set_mask(value, mask)
    return value


def _as_sparse(place, value):
    """An input that the model takes sparse, as such a tensor."""
    if value is None or not place.sparse or hasattr(value, "dense_shape"):
        return value
    return _layer.as_sparse(value)


def _of_known_shape(place, value):
    """An input whose sizes are not known as yet, with those that a model says that it takes."""
    found = value.shape.as_list()
    known = [size if own is None else own for own, size in zip(found, place.shape)]
    if getattr(place, "_takes_any_batch", False):
        known[0] = found[0]
    if known == found:
        return value
    mask, value = mask_of(value), ops.FUNCTIONS["ensure_shape"](value, known)
    if mask is not None:
        masking.set_mask(value, mask)
    return value


def fitted(place, value):
    """An input in the dtype that the model takes, with a last dimension of 1 more or less, as Keras accepts it.
    ValueError on another rank."""
    value = _as_sparse(place, _of_place(place, value))
    rank = getattr(getattr(value, "shape", None), "rank", None)
    if rank is None:
        return value
    if rank == len(place.shape):
        return _of_known_shape(place, value) if isinstance(value, Tensor) else value
    if rank == len(place.shape) + 1 and value.shape[-1] == 1:
        return ops.FUNCTIONS["squeeze"](value, [-1])
    if rank == len(place.shape) - 1 and place.shape[-1] == 1:
        return ops.FUNCTIONS["expand_dims"](value, -1)
    raise ValueError(f"Invalid input shape for input {_layer._describe(value)} with name '{place.name}' and path ''. "
                     f"Expected shape {place.shape}, but input has incompatible shape {shape_of(value)}")


def _is_shape(value):
    return isinstance(value, (list, tuple)) and all(item is None or isinstance(item, int) for item in value)


def _known_shape(layer):
    """The shape of what a model takes as its first layer's input; None where it is not known or no single tensor."""
    try:
        shape = layer.input_shape if isinstance(layer, Model) else None
    except AttributeError:
        return None
    return shape if isinstance(shape, tuple) and _is_shape(shape) else None


def _may_be(shape, wanted):
    """May a tensor of one shape have the other?"""
    return not _is_shape(shape) or len(shape) == len(wanted) and all(
        None in pair or pair[0] == pair[1] for pair in zip(shape, wanted))


def _called_alone(layer, value):
    """What a layer of a Sequential model gives; ValueError where it needs more than one tensor."""
    try:
        return layer(value)
    except TypeError:
        needed = [one.name for one in inspect.signature(layer.call).parameters.values()
                  if one.kind is one.POSITIONAL_OR_KEYWORD and one.default is one.empty]
        if len(needed) <= 1:
            raise
        raise ValueError("Layers added to a Sequential model can only have a single positional argument, the input "
                         f"tensor. Layer {type(layer).__name__} has multiple positional arguments: {needed}") from None


class Sequential(Model):
    """Layers one after the other (``keras.Sequential``).

    With a shape known beforehand (a `keras.Input` first, or `input_shape` of the first layer) it is built as layers are
    added, otherwise at the first call.
    """

    _builds_parts = True
    _begins = None  # the InputLayer of a model that was built without one
    _casts_inputs = property(lambda self: self._input is None)  # else to the dtype that it begins with, in `call`

    def __new__(cls, *args, **kwargs):
        return Layer.__new__(cls, *args, **kwargs)

    def __init__(self, layers=None, trainable=True, name=None):
        Layer.__init__(self, trainable=trainable, name=name)
        self._sequence = []
        self._input = self._output = None
        self._was_tried = False
        for layer in layers or []:
            self.add(layer, rebuild=False)
        self._rebuild()

    def add(self, layer, rebuild=True):
        """Adds a layer, or a `keras.Input` as the first. ValueError on another object or a name that is taken."""
        if isinstance(layer, KerasTensor) and isinstance(getattr(_layer.node_of(layer), "layer", None), InputLayer):
            layer = layer._history.layer
        if not isinstance(layer, Layer):
            raise ValueError("Only instances of `keras.Layer` can be added to a Sequential model. Received: "
                             f"{layer} (of type {type(layer)})")
        if any(known.name == layer.name for known in self._sequence):
            raise ValueError("All layers added to a Sequential model should have unique names. Name "
                             f"'{layer.name}' is already the name of a layer in this model. Update the `name` argument "
                             "to pass a unique name.")
        if isinstance(layer, InputLayer) and self._sequence:
            raise ValueError(f"Sequential model '{self.name}' has already been configured to use input shape "
                             f"{self.input_shape if self._input is not None else None}. You cannot add a different "
                             "Input layer to it.")
        if not self._sequence and layer._input_shape_argument is not None:
            self._sequence.append(InputLayer(batch_shape=layer._input_shape_argument, dtype=layer.compute_dtype))
        self._sequence.append(layer)
        if rebuild:
            self._rebuild()

    def pop(self, rebuild=True):
        """Takes the last layer away and gives it back."""
        layer = self._sequence.pop()
        self._input = self._output = None
        self.built = False
        if rebuild:
            self._rebuild()
        return layer

    def _rebuild(self):
        """Builds the layers where the input is known."""
        self.built = self._was_tried = False
        if len(self._sequence) > 1:
            first = self._sequence[0]
            shape = first.batch_shape if isinstance(first, InputLayer) else _known_shape(first)
            if shape is not None:
                self.build(shape)

    def build(self, input_shape=None):
        """Builds all layers for inputs of this shape, batch's dimension included."""
        if input_shape is None:
            self.built = bool(self._sequence) and all(layer.built for layer in self._sequence)
            return
        if not self._sequence:
            raise ValueError(f"Sequential model {self.name} cannot be built because it has no layers. Call "
                             "`model.add(layer)`.")
        first = self._sequence[0]
        if isinstance(first, InputLayer) and not _may_be(input_shape, first.batch_shape):
            raise ValueError(f"Sequential model '{self.name}' has already been configured to use input shape "
                             f"{first.batch_shape}. You cannot build it with input_shape {input_shape}")
        if not isinstance(first, InputLayer) and (self._begins is None or self._begins.batch_shape != input_shape):
            self._begins = InputLayer(batch_shape=input_shape, dtype=first.compute_dtype)  # Keras puts one in front
            self._begins.output._takes_any_batch = True
        start = (first if isinstance(first, InputLayer) else self._begins).output
        value = start
        with _layer._scope_of(self):
            for layer in self.layers:
                layer._inbound_nodes.clear()
                try:
                    value = _called_alone(layer, value)
                except NotImplementedError:  # it has no `call`: the model is built when it has
                    self.built = False
                    return
                layer._output_shape = _layer._map(lambda tensor: tensor.shape, value)
        self._input, self._output = start, value
        tables.auto_name("functional")  # Keras makes one of its own here, so that later ones have the same names
        self.built = True

    def _build_for(self, signature, tensors):
        if not self._sequence:
            raise ValueError(f"Sequential model {self.name} cannot be built because it has no layers. Call "
                             "`model.add(layer)`.")
        self.built = True  # its layers are built as they are called

    def _checkpoint_children(self):
        """Keras has the layers in a model of its own in this one, behind what says what it takes."""
        others = [(name, value) for name, value in super()._checkpoint_children() if name != "_sequence"]
        return [("_functional", {"_operations": [None, *self.layers]}), *others]

    @property
    def layers(self):
        """The layers, without the one that says what the model takes."""
        return [layer for layer in self._sequence if not isinstance(layer, InputLayer)]

    @layers.setter
    def layers(self, _):
        raise AttributeError("`Sequential.layers` attribute is reserved and should not be used. Use `add()` and "
                             "`pop()` to change the layers in this model.")

    def _flatten_layers(self, include_self=False):
        seen = {id(self)}
        found = list(layers_in(self._sequence, seen))
        for value in list(self.__dict__.values()):  # attributes beside them
            found += layers_in(value, seen)
        return [self, *found] if include_self else found

    def _known(self, value, what):
        if value is None:
            raise AttributeError(f"Sequential model '{self.name}' has no defined {what} yet.")
        return value

    def _input_signature(self):
        return None if self._input is None else [self._input]

    inputs = property(lambda self: [self._known(self._input, "inputs")])
    outputs = property(lambda self: [self._known(self._output, "outputs")])
    input_shape = property(lambda self: self._known(self._input, "input shape").shape)
    output_shape = property(lambda self: _layer._map(lambda t: t.shape, self._known(self._output, "output shape")))

    def call(self, inputs, training=None, mask=None):
        """The output of the last layer."""
        if self._input is not None and isinstance(inputs, (list, tuple)) and len(inputs) == 1:
            inputs = inputs[0]
        if inputs is None:
            raise ValueError(f"The input of model '{self.name}' is not optional, but None was passed. Please provide a "
                             "valid tensor.")
        if self._input is None:
            self._build_for_input(inputs)
        value = inputs if self._input is None else fitted(self._input, inputs)
        for layer in self._sequence:
            if not isinstance(layer, InputLayer):
                value = layer(value)
                _layer._context.before = layer.name
        _layer._context.before = None
        return value

    def _build_for_input(self, inputs):
        """Finds what goes from layer to layer at the first call, where the layers can be traced."""
        if not hasattr(inputs, "shape") or getattr(inputs.shape, "rank", 0) is None or self._was_tried:
            return
        self._was_tried = True
        training, before = _layer._context.training, _layer._context.before
        _layer._context.training = None
        try:
            self.build(shape_of(inputs))
        except Exception:  # the call itself tells what is wrong
            self._input = self._output = None
            self.built = True
        finally:
            _layer._context.training, _layer._context.before = training, before

    def get_build_config(self):
        """The shape that it was built for; None."""
        return None if self._input is None else {"input_shape": self._input.shape}

    def compute_output_shape(self, input_shape):
        """The output's shape for an input of this shape."""
        for layer in self.layers:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def get_config(self):
        """Name, layers and the shape that it was built for."""
        config = {"name": self.name, "trainable": self.trainable, "dtype": policies.serialize(self.dtype_policy),
                  "layers": [old_configs.of_layer(layer) for layer in self._sequence]}
        if self._input is not None and self._begins is not None and not isinstance(self._sequence[0], InputLayer):
            config["layers"].insert(0, old_configs.of_layer(self._begins))
        if self._input is not None:
            config["build_input_shape"] = self._input.shape
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model of a configuration. ValueError where it is none of a Sequential model."""
        if not isinstance(config, dict) or not {"name", "layers"} <= set(config):
            raise ValueError("A Sequential model configuration must be a dictionary containing the 'name' and 'layers' "
                             f"keys. Received: {config}")
        made = cls(name=config["name"])
        for one in config["layers"]:
            made.add(old_configs.to_layer(one, custom_objects), rebuild=False)
        made._rebuild()
        shape = config.get("build_input_shape")
        if not made.built and shape is not None:
            made.build(tuple(shape))
        return made
