"""Models between KerasTensors: how layers are connected, in which order they compute, and configurations of it."""

import collections
import warnings

from leat import nest
from leat.keras._base import layer as _layer, old_configs, registry, tables
from leat.keras._base.input_spec import InputSpec
from leat.keras._base.layer import Layer
from leat.keras._base.state import layers_in
from leat.keras._base.symbolic import KerasTensor
from leat.keras.layers.core import Input, InputLayer
from leat.keras.models import model
from leat.keras.models.masks import BuiltMasks, set_given
from leat.keras.models.model import Model, fitted, takes_tensors
from leat.keras.ops.promote import Operation


class _Graph:
    """The calls between inputs and outputs: `nodes` {depth: calls}, `layers` in Keras' order."""

    def __init__(self, inputs, outputs, path=""):
        self._path = path  # of the outputs, in errors
        self._inputs = {id(tensor) for tensor in inputs}
        self._order, self._places, self._done = [], {}, set()
        for tensor in outputs:
            self._visit(tensor)
        depths = self._depths()
        for tensor in inputs:  # that no output needs
            node = _layer.node_of(tensor)
            if node is not None and isinstance(node.layer, InputLayer) and node not in depths:
                depths[node] = 0
                self._places[id(node.layer)] = -1
                self._order.insert(0, node)
        self.nodes = collections.defaultdict(list)
        for node, depth in depths.items():
            self.nodes[depth].append(node)
        self.nodes = {depth: self.nodes[depth] for depth in sorted(self.nodes, reverse=True)}
        self.order = self._order
        self.members = set(self._order)
        self.layers = self._sorted_layers(depths)
        self._check_reached(inputs)

    def _visit(self, output):
        """Depth first, without recursion, which a deep model would exhaust."""
        stack = [(output, None)]
        while stack:
            tensor, parents = stack.pop()
            node = _layer.node_of(tensor)
            if parents is None:
                if node is None or node in self._done:
                    continue
                if not isinstance(node.layer, InputLayer) and id(tensor) in self._inputs:
                    continue
                if id(node.layer) not in self._places:
                    self._places[id(node.layer)] = len(self._places)
                parents = iter(node.inputs)
            parent = next(parents, None)
            if parent is not None:
                stack += [(tensor, parents), (parent, None)]
            elif node not in self._done:
                self._done.add(node)
                self._order.append(node)

    def _depths(self):
        depths, of_layers, known = {}, {}, set(self._order)
        for node in reversed(self._order):
            depth = max(depths.setdefault(node, 0), of_layers.get(id(node.layer), 0))
            of_layers[id(node.layer)] = depths[node] = depth
            for tensor in node.inputs:
                before = _layer.node_of(tensor)
                if before in known:
                    depths[before] = max(depth + 1, depths.get(before, 0))
        return depths

    def _sorted_layers(self, depths):
        of_layers, layers = {}, {}
        for node, depth in depths.items():
            number = id(node.layer)
            layers[number] = node.layer
            of_layers[number] = max(depth, of_layers.get(number, 0))
        found = sorted(layers, key=lambda number: (-of_layers[number], self._places[number]))
        names = [layers[number].name for number in found]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f'The name "{name}" is used {names.count(name)} times in the model. All operation '
                                 "names should be unique.")
        return [layers[number] for number in found]

    def _check_reached(self, inputs):
        reached = {id(tensor) for tensor in inputs}
        accessed = []
        for node in self.order:
            if not isinstance(node.layer, InputLayer):
                for tensor in node.inputs:
                    if id(tensor) not in reached:
                        raise ValueError(f"Graph disconnected: cannot find parent for tensor {tensor} at operation "
                                         f"'{node.layer}'. The following previous operations were accessed without "
                                         f"issue: {accessed}")
                accessed.append(node.layer.name)
                reached.update(id(tensor) for tensor in node.outputs)
            elif not any(id(tensor) in reached for tensor in node.outputs):
                raise ValueError(f"Output with path `{self._path}` is not connected to `inputs`: it depends on "
                                 f"{node.outputs[0]}, which is not among them")


@model.functional_class.provide
class Functional(Model):
    """A model between KerasTensors (what ``keras.Model(inputs, outputs)`` makes)."""

    _has_warned = False
    _takes_sparse = True  # those that say so
    _casts_inputs = False  # each to the dtype of its own, in `call`

    def __init__(self, inputs, outputs, name=None, trainable=None, **kwargs):
        Layer.__init__(self, name=name, trainable=True if trainable is None else trainable, **kwargs)
        for tensor in _layer._leaves(inputs):
            if not isinstance(tensor, KerasTensor):
                raise ValueError(f"All `inputs` values must be KerasTensors. Received: inputs={inputs} including "
                                 f"invalid value {tensor} of type {type(tensor)}")
        for tensor in _layer._leaves(outputs):
            if not isinstance(tensor, KerasTensor):
                raise ValueError(f"All `outputs` values must be KerasTensors. Received: outputs={outputs} including "
                                 f"invalid value {tensor} of type {type(tensor)}")
            if _layer.node_of(tensor) is None and all(tensor is not one for one in _layer._leaves(inputs)):
                raise ValueError(f"Output with path `` is not connected to `inputs`: {tensor} was made by hand")
        inputs, outputs = _from_inputs(inputs, outputs)
        self._inputs, self._outputs, self._own_spec = _unpacked(inputs), _unpacked(outputs), None
        self._as_written = inputs, outputs  # for configurations, which keep lists of one
        self._graph = _graph_of(inputs, outputs)
        self._layers = self._graph.layers
        for layer in self._layers:
            node = next(node for node in self._graph.order if node.layer is layer)
            layer._output_shape = _layer._map(lambda tensor: tensor.shape, node.structure)
        self._output_shape = self.output_shape
        self.built = True
        if trainable is False:
            self.trainable = False

    def _checkpoint_children(self):
        others = [(name, value) for name, value in super()._checkpoint_children() if name != "_layers"]
        return [("_operations", list(self._layers)), *others]

    def _input_signature(self):
        return [self._inputs]

    inputs = property(lambda self: _layer._leaves(self._inputs))
    outputs = property(lambda self: _layer._leaves(self._outputs))
    input = property(lambda self: self._inputs)
    output = property(lambda self: self._outputs)
    input_shape = property(lambda self: _layer._map(lambda tensor: tensor.shape, self._inputs))
    output_shape = property(lambda self: _layer._map(lambda tensor: tensor.shape, self._outputs))
    input_names = property(lambda self: [tensor.name for tensor in self.inputs])

    @property
    def output_names(self):
        """The names of the layers that give the outputs."""
        return [_layer.node_of(tensor).layer.name for tensor in self.outputs]

    @Model.layers.getter
    def layers(self):
        """The layers in the order in which they compute, without operations of keras.ops."""
        return [layer for layer in self._flatten_layers() if Operation not in type(layer).__mro__]

    @layers.setter
    def layers(self, _):
        raise AttributeError("`Model.layers` attribute is reserved and should not be used. Please use another name.")

    @property
    def operations(self):
        """The layers and operations in the order in which they compute."""
        return list(self._layers)

    def _flatten_layers(self, include_self=False):
        """Those between inputs and outputs, and those that are attributes beside them."""
        seen = {id(self)}
        found = list(layers_in(self._layers, seen))
        for name, value in list(self.__dict__.items()):
            found += layers_in(value, seen) if name not in ("_layers", "_graph") else []
        return [self, *found] if include_self else found

    @property
    def input_spec(self):
        """What the inputs must be."""
        if self._own_spec is not None:
            return self._own_spec if isinstance(self._own_spec, (list, tuple)) else [self._own_spec]
        return [InputSpec(shape=(None, *tensor.shape[1:]), allow_last_axis_squeeze=True, name=tensor.name)
                for tensor in self.inputs]

    @input_spec.setter
    def input_spec(self, value):
        self.__dict__["_own_spec"] = value  # None: the inputs say it

    def _ordered(self, inputs):
        """The given tensors in the order of the inputs. ValueError on another number or name, and on None for an input
        that is not optional."""
        expected = self._inputs
        if isinstance(inputs, dict) and not isinstance(expected, dict):
            given = _by_name(inputs, {name: name for name in self.input_names})
            given = [given[name] for name in self.input_names]
        elif isinstance(expected, dict) and not isinstance(inputs, dict):
            given = self._in_order_of_names(inputs)
        else:
            if isinstance(expected, dict) and set(inputs) > set(expected):
                self._warn_of_structure("The structure of `inputs` doesn't match the expected structure. Expected the "
                                        f"keys {list(expected)}, received {list(inputs)}; the others are left out")
            given = _layer._leaves(_by_name(inputs, expected) if isinstance(expected, dict) else inputs)
        places = self.inputs
        if len(given) != len(places):
            raise ValueError(f'Layer "{self.name}" expects {len(places)} input(s), but it received {len(given)} input '
                             f"tensors. Inputs received: {[_layer._describe(leaf) for leaf in given]}")
        for place, value in zip(places, given):
            if value is None and not _layer.node_of(place).layer.optional:
                raise ValueError(f"The input '{place.name}' is not optional, but None was passed. Please provide a "
                                 "valid tensor, or make the input with keras.Input(..., optional=True)")
        return given

    def _in_order_of_names(self, inputs):
        """A list of tensors for inputs with names: in their order, if that is the only one that may be meant."""
        names, given = list(self._inputs), _layer._leaves(inputs)
        if len(given) != len(self.inputs):
            raise ValueError(f'Layer "{self.name}" expects named input(s) with keys {names}, but it received '
                             f"{len(given)} input(s) without names: {[_layer._describe(leaf) for leaf in given]}")
        text = ("The structure of `inputs` doesn't match the expected structure. Expected a dictionary with keys "
                f"{names}, received {len(given)} tensors without names")
        if names != sorted(names):
            raise ValueError(f"{text}, which may be meant in the order of the keys or of the alphabet")
        self._warn_of_structure(text)
        return given

    def _warn_of_structure(self, text):
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(text, stacklevel=7)

    def _check_inputs(self, first):
        if first is None:
            return
        for index, (spec, value) in enumerate(zip(self.input_spec, self._ordered(first))):
            if spec is None or value is None:
                continue
            rank = getattr(getattr(value, "shape", None), "rank", 0)
            if hasattr(value, "shape") and rank is not None and rank + 1 != len(spec.shape) != rank - 1:
                spec.check(_layer.shape_of(value), self.name, index, spec.name)

    def call(self, inputs, training=None, mask=None):
        """The outputs, layer by layer."""
        values = {id(place): fitted(place, value) for place, value in zip(self.inputs, self._ordered(inputs))}
        set_given(list(values.values()), mask)
        masks = BuiltMasks(values)

        def put(leaf):
            if not isinstance(leaf, KerasTensor):
                return leaf
            value = values[id(leaf)]
            return value if not hasattr(value, "dense_shape") or _layer.takes_sparse(node.layer) else (
                model._of_known_shape(leaf, _layer.dense(value)))
        for node in self._graph.order:
            if isinstance(node.layer, InputLayer):
                continue
            _layer._context.before = self._giver(node)
            kwargs = {key: _layer._map(put, value) for key, value in node.kwargs.items()}
            if training is not None and "training" in kwargs:  # what the model is told counts, as in Keras
                kwargs["training"] = training
            results = node.layer(*[_layer._map(put, value) for value in node.args], **masks.given(node, kwargs))
            for tensor, result in zip(node.outputs, _layer._leaves(results)):
                values[id(tensor)] = result
            masks.note(node, _layer._leaves(results))
        return _layer._map(lambda tensor: values[id(tensor)], self._outputs)

    @staticmethod
    def _giver(node):
        """The names of the layers that gave the inputs of a call, for messages; None: the model's inputs."""
        given = [_layer.node_of(tensor) for tensor in node.inputs]
        names = [one.layer.name for one in given if one is not None and not isinstance(one.layer, InputLayer)]
        return "', '".join(dict.fromkeys(names)) or None

    # ---- configuration ----

    def _node_number(self, node):
        """The place of a call among those of its layer that belong to the model; a model's own call is the first."""
        own = [one for one in node.layer._inbound_nodes if one in self._graph.members]
        return own.index(node) + (1 if isinstance(node.layer, Functional) else 0)

    def _place_of(self, tensor):
        node = _layer.node_of(tensor)
        return [node.layer.name, self._node_number(node), node.outputs.index(tensor)]

    def _saved(self, value):
        if isinstance(value, KerasTensor):
            node = _layer.node_of(value)
            own = [one for one in node.layer._inbound_nodes if one in self._graph.members]
            return {"class_name": "__keras_tensor__",
                    "config": {"shape": tuple(value.shape), "dtype": value.dtype,
                               "keras_history": [node.layer.name, own.index(node), node.outputs.index(value)]}}
        if isinstance(value, (list, tuple)):
            return (tuple if isinstance(value, tuple) else list)(self._saved(item) for item in value)
        if isinstance(value, dict):
            return {key: self._saved(item) for key, item in value.items()}
        return registry.serialize_keras_object(value)

    def get_build_config(self):
        """No shape: the configuration has them."""
        return {"input_shape": None}

    def get_config(self):
        """Layers, how they are connected, inputs and outputs, as Keras writes them."""
        if not takes_tensors(type(self)):
            return self._automatic_config()
        listed = []
        for layer in self._layers:
            config = old_configs.of_layer(layer)
            config["name"] = layer.name
            config["inbound_nodes"] = [
                {"args": self._saved(tuple(node.args)), "kwargs": self._saved(node.kwargs)}
                for node in layer._inbound_nodes if node in self._graph.members and node.inputs]
            listed.append(config)
        return {"name": self.name, "trainable": self.trainable, "layers": listed,
                "input_layers": _layer._map(self._place_of, self._as_written[0]),
                "output_layers": _layer._map(self._place_of, self._as_written[1])}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model of a configuration. ValueError where calls are not connected."""
        if "layers" in config and "output_layers" in config and takes_tensors(cls):
            return of_config(cls, config, custom_objects)
        return super().from_config(config, custom_objects)


_OWN_KEYS = ("name", "trainable", "layers", "input_layers", "output_layers")  # others are a subclass's


@model.of_functional_config.provide
def of_config(cls, config, custom_objects=None):
    """A model of a class, between the inputs and outputs of a configuration."""
    made, waiting = {}, []
    is_old = any(isinstance(node, list) for one in config["layers"] for node in one["inbound_nodes"])
    for one in config["layers"]:
        layer = made[one["name"]] = old_configs.to_layer(one, custom_objects)
        waiting += [(layer, node) for node in one["inbound_nodes"]]
    while waiting:
        left = []
        for layer, node in waiting:
            try:
                args, kwargs = _call_of(node, made)
            except IndexError:
                left.append((layer, node))
                continue
            if not any(isinstance(leaf, KerasTensor) for leaf in _layer._leaves([args, list(kwargs.values())])):
                raise ValueError("Invalid Functional model configuration. A layer is called with nothing that an input "
                                 f"leads to: {layer.name}")
            layer(*args, **{key: value for key, value in kwargs.items() if value is not None})
        if len(left) == len(waiting):
            raise ValueError("Invalid Functional model configuration. The graph of the Functional model either has "
                             "loops or disconnected nodes. The following nodes failed to be resolved: "
                             f"{[layer.name for layer, _ in left]}")
        waiting = left
    return cls(*(_placed(config[name], made, is_old) for name in ("input_layers", "output_layers")),
               name=config.get("name"), trainable=config.get("trainable"),
               **{key: value for key, value in config.items() if key not in _OWN_KEYS})


def _by_name(given, expected):
    """Of a dictionary those that are expected, at every depth; ValueError names what is missing."""
    if not isinstance(expected, dict) or not isinstance(given, dict):
        return given
    missing = [name for name in expected if name not in given]
    if missing:
        raise ValueError(f"Missing data for input \"{missing[0]}\". You passed a data dictionary with keys "
                         f"{list(given)}. Expected the following keys: {sorted(expected)}")
    return {name: _by_name(given[name], inner) for name, inner in expected.items()}


def _graph_of(inputs, outputs):
    """The calls between inputs and outputs; ValueError names an output that needs something else."""
    starts = _layer._leaves(inputs)
    for name in sorted(outputs) if isinstance(outputs, dict) else ():
        try:
            _Graph(starts, _layer._leaves(outputs[name]), name)
        except ValueError as error:
            if "disconnected" in str(error):
                raise ValueError(f"Output with path `{name}` is not connected to `inputs`: {error}") from None
            raise
    return _Graph(starts, _layer._leaves(outputs))


def _from_inputs(inputs, outputs):
    """Inputs and outputs of the same calls, with inputs of its own for tensors in the middle of another model."""
    starts = _layer._leaves(inputs)

    def is_start(tensor):
        node = _layer.node_of(tensor)
        return node is None or isinstance(node.layer, InputLayer)
    if not all(isinstance(one, KerasTensor) for one in starts) or all(is_start(one) for one in starts):
        return inputs, outputs
    values = {id(one): one if is_start(one) else Input(batch_shape=one.shape, dtype=one.dtype, name=one.name)
              for one in starts}

    def put(leaf):
        return values.get(id(leaf), leaf) if isinstance(leaf, KerasTensor) else leaf
    for node in _graph_of(inputs, outputs).order:
        if isinstance(node.layer, InputLayer) or all(id(tensor) in values for tensor in node.outputs):
            continue
        made = _layer._map(lambda tensor: KerasTensor(tensor.shape, tensor.dtype, name=tensor.name), node.structure)
        _layer.Node(node.layer, [_layer._map(put, value) for value in node.args],
                    {name: _layer._map(put, value) for name, value in node.kwargs.items()}, made)
        for tensor, other in zip(node.outputs, _layer._leaves(made)):
            values.setdefault(id(tensor), other)
    return _layer._map(put, inputs), _layer._map(put, outputs)


def _unpacked(value):
    """A list of one tensor as the tensor, as Keras keeps it."""
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value


def _tensor_of(name, number, index, made):
    if name not in made:
        raise ValueError(f"Missing node: {name}; the configuration names a layer that it does not have")
    return made[name]._inbound_nodes[number].outputs[index]


def _call_of(node, made):
    """What a layer is called with: (args, kwargs). A list of [layer, call, index, kwargs] is Keras 2's."""
    if not isinstance(node, list):
        return _revived(node["args"], made), _revived(node["kwargs"], made)
    places = node if isinstance(node[0], list) else [node]
    kwargs = places[-1][3] if len(places[-1]) > 3 else {}
    return [_unpacked([_placed(place[:3], made, True) for place in places])], kwargs


def _revived(value, made):
    if isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
        return _tensor_of(*value["config"]["keras_history"], made)
    if isinstance(value, (list, tuple)):
        return type(value)(_revived(item, made) for item in value)
    if isinstance(value, dict) and "class_name" not in value:
        return {key: _revived(item, made) for key, item in value.items()}
    return registry.deserialize_keras_object(value)


def _placed(value, made, is_old=False):
    """Inputs or outputs that [layer, call, index] name. The first call of a model is its own; in old configurations
    that of a Sequential one, too."""
    if isinstance(value, list) and len(value) == 3 and isinstance(value[0], str):
        name, number, index = value
        if isinstance(made.get(name), Functional) or is_old and isinstance(made.get(name), model.Sequential):
            number -= 1
        return _tensor_of(name, number, index, made)
    if isinstance(value, dict):
        return {key: _placed(item, made, is_old) for key, item in value.items()}
    return tables.tupled([_placed(item, made, is_old) for item in value]) if isinstance(value, tuple) else [
        _placed(item, made, is_old) for item in value]


class Function(Operation):
    """What lies between KerasTensors as an operation (``keras.Function``); it holds no layers as its own."""

    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        for kind, values in (("inputs", inputs), ("outputs", outputs)):
            if not _layer._leaves(values):
                raise ValueError(f"`{kind}` argument cannot be empty. Received:\ninputs={inputs}\noutputs={outputs}")
        object.__setattr__(self, "_between", Functional(inputs, outputs, name=self.name))

    inputs = property(lambda self: self._between.inputs)
    outputs = property(lambda self: self._between.outputs)
    operations = property(lambda self: self._between.operations)

    def call(self, inputs):
        """The outputs. ValueError for inputs of another structure or shape."""
        self._check(inputs)
        return self._between.call(inputs)

    def _check(self, inputs):
        wanted = self._between.input
        try:
            nest.assert_same_structure(inputs, wanted)
        except (TypeError, ValueError):
            raise ValueError("Function was called with an invalid input structure. Expected input structure: "
                             f"{wanted}\nReceived input structure: {inputs}") from None
        for given, one in zip(_layer._leaves(inputs), self.inputs):
            shape = tuple(given.shape)
            if len(shape) != len(one.shape) or any(
                    size is not None and length is not None and size != length
                    for size, length in zip(one.shape, shape)):
                raise ValueError(f"{type(self).__name__} was passed incompatible inputs. For input '{one.name}', "
                                 f"expected shape {one.shape}, but received instead a tensor with shape {shape}.")

    def compute_output_spec(self, inputs):
        """KerasTensors for what it gives."""
        return _layer.symbolic_outputs(self._between, [inputs], {})

    def compute_output_shape(self, input_shape):
        """The shape of what it gives for an input of this shape."""
        return self._between.compute_output_shape(input_shape)
