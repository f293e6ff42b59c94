"""``keras.models.clone_model``: models of the same layers with new weights."""

from leat.keras import tree
from leat.keras._base import layer as _layer
from leat.keras._base.symbolic import KerasTensor
from leat.keras.layers import Input, InputLayer
from leat.keras.models.functional import Functional, takes_tensors
from leat.keras.models.model import Sequential


def _same_again(layer):
    return type(layer).from_config(layer.get_config())


class _Cloner:
    """Clones each layer once; models inside of models too where it is `recursive`."""

    def __init__(self, clone_function, call_function, recursive):
        self.clone_function, self.call_function = clone_function or _same_again, call_function
        self._is_recursive, self._done = recursive, {}

    def __call__(self, layer):
        if id(layer) not in self._done:
            is_inside = self._is_recursive and isinstance(layer, (Sequential, Functional))
            self._done[id(layer)] = layer, _of(layer, None, self) if is_inside else self.clone_function(layer)
        return self._done[id(layer)][1]


def _of(model, input_tensors, cloner):
    return _sequential(model, input_tensors, cloner) if isinstance(model, Sequential) else (
        _functional(model, input_tensors, cloner))


def _compiled(clone, model):
    if model.compiled:
        clone.compile_from_config(model.get_compile_config())
    return clone


def _sequential(model, input_tensors, cloner):
    layers = [cloner(layer) for layer in model.layers]
    first = next(iter(model._sequence), None)
    name = first.name if isinstance(first, InputLayer) else None
    if input_tensors is not None:
        given = input_tensors if isinstance(input_tensors, (list, tuple)) else [input_tensors]
        if len(given) != 1:
            raise ValueError(f"Argument `input_tensors` must contain a single tensor. Received: {input_tensors}")
        if not isinstance(given[0], KerasTensor):
            raise ValueError("Argument `input_tensors` must be a KerasTensor. Received invalid value: input_tensors="
                             f"{input_tensors}")
        layers.insert(0, Input(batch_shape=given[0].shape, dtype=given[0].dtype, name=name))
    elif isinstance(first, InputLayer):
        layers.insert(0, Input(batch_shape=first.batch_shape, dtype=first.dtype, name=name, optional=first.optional))
    return _compiled(Sequential(layers, name=model.name, trainable=model.trainable), model)


def _functional(model, input_tensors, cloner):
    if input_tensors is None:
        input_tensors = _layer._map(
            lambda one: Input(batch_shape=one.shape, dtype=one.dtype, name=one.name), model.input)
    else:
        if not all(isinstance(one, KerasTensor) for one in _layer._leaves(input_tensors)):
            raise ValueError("All entries in `input_tensors` must be KerasTensors. Received invalid values: "
                             f"inputs_tensors={input_tensors}")
        try:
            tree.assert_same_structure(input_tensors, model.input)
        except ValueError:
            raise ValueError("`input_tensors` must have the same structure as model.input. Reference structure: "
                             f"{model.input}, received structure: {input_tensors}") from None
    values = {id(place): given for place, given in zip(model.inputs, _layer._leaves(input_tensors))}

    def put(leaf):
        return values[id(leaf)] if isinstance(leaf, KerasTensor) else leaf
    for node in model._graph.order:
        if isinstance(node.layer, InputLayer):
            continue
        args = [_layer._map(put, value) for value in node.args]
        kwargs = {name: _layer._map(put, value) for name, value in node.kwargs.items()}
        layer = cloner(node.layer)
        results = cloner.call_function(layer, *args, **kwargs) if cloner.call_function else layer(*args, **kwargs)
        values.update((id(tensor), result) for tensor, result in zip(node.outputs, _layer._leaves(results)))
    class_ = type(model) if takes_tensors(type(model)) else Functional
    outputs = _layer._map(lambda tensor: values[id(tensor)], model.output)
    return _compiled(class_(input_tensors, outputs, name=model.name), model)


def clone_model(model, input_tensors=None, clone_function=None, call_function=None, recursive=False):
    """A model of the same layers with new weights (``keras.models.clone_model``), compiled as the model is.

    `clone_function(layer)`: the layer that stands for it in the new model, by default one of the same configuration.
    `call_function(layer, *args, **kwargs)`: how the new layer is called, in functional models. `input_tensors`:
    KerasTensors that the new model takes. `recursive`: layers of models inside are cloned by the functions, too.
    ValueError for arguments that a class of models does not have.
    """
    if isinstance(model, Sequential) and call_function is not None:
        raise ValueError("`call_function` argument is not supported with Sequential models, whose layers are not "
                         f"called one by one. Received: call_function={call_function}")
    if isinstance(model, (Sequential, Functional)) and (
            clone_function or call_function or input_tensors is not None or _has_default_config(model)):
        return _of(model, input_tensors, _Cloner(clone_function, call_function, recursive))
    for name, given in (("clone_function", clone_function), ("input_tensors", input_tensors),
                        ("call_function", call_function)):
        if given is not None:
            raise ValueError("Arguments `clone_function`, `call_function` and `input_tensors` are only supported for "
                             f"Sequential models or Functional models. Received model of type "
                             f"'{type(model).__name__}', with {name}={given}")
    return type(model).from_config(model.get_config())


def _has_default_config(model):
    return type(model).get_config in (Sequential.get_config, Functional.get_config)
