"""The arguments of a layer's call: which of them are tensors, whose masks they take, and what shapes they give
``build`` and ``compute_output_shape``."""

import functools
import inspect

from leat.keras._base.state import _leaves

_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class CallSignature:
    """What the parameters of a `call` tell: does it take `training`, and `mask` or a mask by an argument's name?"""

    def __init__(self, call):
        self.call = call
        parameters = list(inspect.signature(call).parameters.values())[1:]
        self.names = [one.name for one in parameters if one.kind in _NAMED]
        self.all_names = [one.name for one in parameters if one.kind not in _VARIADIC]
        self.takes_training = "training" in self.all_names
        self.takes_mask = "mask" in self.all_names
        self.training = next((one.default for one in parameters if one.name == "training"
                              and one.default is not inspect.Parameter.empty), None)
        self.masks = {name: f"{name}_mask" for name in self.all_names if f"{name}_mask" in self.all_names}

    def tensors(self, args, kwargs, is_tensor, leaves):
        """{name: value} of the arguments that are tensors or structures of them and None, in the call's order."""
        given = {**dict(zip(self.names, args)), **kwargs}
        order = [name for name in self.all_names if name in given]
        order += [name for name in given if name not in self.all_names]
        found = {}
        for name in order:
            flat = leaves(given[name])
            if any(is_tensor(leaf) for leaf in flat) and all(leaf is None or is_tensor(leaf) for leaf in flat):
                found[name] = given[name]
        return found


@functools.lru_cache(maxsize=1024)
def _names_of(function):
    return [one.name for one in inspect.signature(function).parameters.values() if one.kind not in _VARIADIC]


def shapes_for(function, shapes, signature, class_name):
    """The keyword arguments of a `build` or `compute_output_shape` (bound) for the shapes of a call's arguments.

    `shapes`: {argument of the call: its shape or a structure of shapes}. With one parameter it gets the first shape,
    with several each the one of its name, as ``query_shape`` of ``query``. ValueError for other names.
    """
    names = _names_of(function.__func__)[1:] if hasattr(function, "__func__") else _names_of(function)
    if len(names) == 1:
        return {names[0]: next(iter(shapes.values()), None)}
    found, method = {}, function.__name__
    for name in names:
        start = (f"`{method}()` of layer '{class_name}' has several arguments; each must be called like an argument of "
                 f"`call()` with `_shape` behind it, as in `{method}(self, foo_shape, bar_shape)`. Received "
                 f"`{method}()` argument ")
        if not name.endswith("_shape"):
            raise ValueError(f"{start}`{name}`, which does not end in `_shape`.")
        argument = name.removesuffix("_shape")
        if argument not in signature.all_names:
            raise ValueError(f"{start}`{name}`, but `call()` does not have argument `{argument}`.")
        if argument in shapes:
            found[name] = shapes[argument]
    return found


def plain_arguments(class_, args, kwargs):
    """The arguments of a constructor by name, if they are numbers, texts and structures of them; None."""
    signature = inspect.signature(class_.__init__)
    try:
        bound = signature.bind(None, *args, **kwargs)
    except TypeError:  # the constructor says it better
        return None
    given, parameters = dict(bound.arguments), list(signature.parameters.values())
    given.pop(parameters[0].name)
    for one in parameters[1:]:
        if one.kind is one.VAR_KEYWORD:
            given.update(given.pop(one.name, {}))
        elif one.kind is one.POSITIONAL_ONLY or one.kind is one.VAR_POSITIONAL and given.pop(one.name, ()):
            return None
    for name in ("name", "dtype", "trainable", "activity_regularizer"):  # every layer's configuration has them
        given.pop(name, None)
    if any(not isinstance(leaf, (str, int, float, bool, type(None))) for leaf in _leaves(given)):
        return None
    return given


def input_shape_of(kwargs):
    """The shape that a layer was given as an old argument, with the batch's dimension; taken out of `kwargs`."""
    batch, shape = kwargs.pop("batch_input_shape", None), kwargs.pop("input_shape", None)
    size, width = kwargs.pop("batch_size", None), kwargs.pop("input_dim", None)
    if batch is not None:
        return tuple(batch)
    if shape is None and width is not None:
        shape = (width,)
    return None if shape is None else (size, *shape)
