"""What users say that operations do with their own types (``tf.experimental.dispatch_for_api`` and its kin)."""

import functools
import inspect
import sys
import typing

from leat import nest
from leat._core.tensor import Tensor
from leat._graph import ops

_handlers = {}  # an API function -> [(handler, [{parameter: type}])], the last one first
_unary, _binary, _asserts = [], [], []  # (types, handler)
_operations = {}  # name of an operation -> the API functions that it is


def _fits(value, kind):
    """Is a value of a type: a class, a Union, List[...] or Tuple[...] of them?"""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        return any(_fits(value, one) for one in inner)
    if origin in (list, tuple):
        return isinstance(value, (list, tuple)) and all(_fits(one, inner[0]) for one in value)
    if kind is Tensor:
        return isinstance(value, Tensor)
    return isinstance(kind, type) and isinstance(value, kind)


def _is_own(kind):
    return isinstance(kind, type) and hasattr(kind, "_is_leaf_value") or any(map(_is_own, typing.get_args(kind)))


def dispatch_for_api(api, *signatures):
    """A decorator: `api` calls the function for arguments of the types of one of the signatures, dictionaries of
    parameters and types; without them its annotations count (``tf.experimental.dispatch_for_api``)."""
    api = getattr(api, "_dispatched", api)

    def decorate(handler):
        wanted = list(signatures)
        if not wanted:
            hints = typing.get_type_hints(handler)
            wanted = [{name: kind for name, kind in hints.items() if name != "return"}]
        names = list(inspect.signature(api).parameters)
        own = [name for name in inspect.signature(handler).parameters]
        if own != names and own != [name for name in names if name != "name"]:
            raise ValueError(f"Dispatch function's signature {inspect.signature(handler)} does not match API's "
                             f"signature {inspect.signature(api)}.")
        wanted = [{names[key] if isinstance(key, int) else key: kind for key, kind in one.items()} for one in wanted]
        if not all(any(map(_is_own, one.values())) for one in wanted):
            raise ValueError("signature must contain at least one type of tensors of one's own")
        if api not in _handlers:
            _install(api)
        _handlers.setdefault(api, []).insert(0, (handler, wanted))
        return handler
    return decorate


def unregister_dispatch_for(dispatch_target):
    """Undoes what one of the decorators did with a function (``tf.experimental.unregister_dispatch_for``)."""
    found = False
    for entries in (*_handlers.values(), _unary, _binary, _asserts):
        left = [entry for entry in entries if dispatch_target not in entry]
        found, entries[:] = found or len(left) < len(entries), left
    if not found:
        raise ValueError(f"Function {dispatch_target} was not registered")


def _install(api):
    """Lets the function ask for handlers: an operation of the table does when it meets a type of one's own, others
    are replaced in the modules that have them."""
    for path, names in ops._PATHS.items():
        if dict.get(ops.FUNCTIONS, path) is api:
            for name in names:
                _operations.setdefault(name, []).append(api)
            return

    @functools.wraps(api)
    def dispatched(*args, **kwargs):
        found = _of_api(api, args, kwargs)
        return api(*args, **kwargs) if found is NotImplemented else found
    dispatched._dispatched = api
    for name, module in list(sys.modules.items()):
        if name == "leat" or name.startswith("leat.") and "._" not in name:
            for key, value in list(vars(module).items()):
                if value is api:
                    setattr(module, key, dispatched)


def _of_api(api, args, kwargs):
    """What a handler of the function gives for these arguments; NotImplemented: none takes them."""
    try:
        bound = inspect.signature(api).bind(*args, **kwargs)
    except TypeError:
        return NotImplemented
    if not any(hasattr(value, "_is_leaf_value") for value in nest.flatten(list(bound.arguments.values()))):
        return NotImplemented
    for handler, signatures in _handlers.get(api, ()):
        for signature in signatures:
            if all(name in bound.arguments and _fits(bound.arguments[name], kind) for name, kind in signature.items()):
                given = inspect.signature(handler).parameters
                return handler(**{name: value for name, value in bound.arguments.items() if name in given})
    return NotImplemented


def _elementwise(kinds, registry, count):
    def decorate(handler):
        registry.insert(0, (kinds, handler, count))
        return handler
    return decorate


def dispatch_for_unary_elementwise_apis(x_type):
    """A decorator: the function is called as ``handler(api, x)`` for every operation on the values of one `x_type`
    (``tf.experimental.dispatch_for_unary_elementwise_apis``)."""
    return _elementwise((x_type,), _unary, 1)


def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """The same of operations on pairs of values: ``handler(api, x, y)``."""
    return _elementwise((x_type, y_type), _binary, 2)


def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """The same of the assertions of ``tf.debugging`` that compare two values: ``handler(assert_func, x, y)``."""
    return _elementwise((x_type, y_type), _asserts, 2)


def of_assertion(assertion, x, y):
    """What someone's function gives for such an assertion; NotImplemented where nobody has one."""
    for kinds, handler, _ in _asserts:
        if all(map(_fits, (x, y), kinds)):
            return handler(assertion, x, y)
    return NotImplemented


def of_operation(entry, values, arguments):
    """What someone's function gives for an operation of the table; ValueError where nobody has one for such values."""
    inputs = [declared["name"] for declared in entry["inputs"]]
    rows = [row["name"] for row in entry["arguments"]]
    for api in _operations.get(entry["name"], ()):
        names = set(inspect.signature(api).parameters)
        given = {**dict(zip(rows, arguments)), **dict(zip(inputs, values))}
        found = _of_api(api, (), {name: value for name, value in given.items() if name in names})
        if found is not NotImplemented:
            return found
    if "elementwise" in entry["flags"]:
        for kinds, handler, count in _unary if len(values) == 1 else _binary:
            if len(values) == count and all(map(_fits, values, kinds)):
                return handler(lambda *parts: ops.dispatch(entry["name"], parts, arguments), *values)
    own = next(value for value in nest.flatten(list(values)) if hasattr(value, "_is_leaf_value"))
    raise ValueError(f"Attempt to convert a value ({own!r}) with an unsupported type ({type(own)}) to a Tensor: no "
                     f"function was registered for {entry['name']} of it (tf.experimental.dispatch_for_api)")
