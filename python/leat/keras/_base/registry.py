"""Objects as configurations and back: what ``keras.saving`` has besides files of models."""

import re
import types

import numpy

from leat._core.later import Hook
from leat._core.tensor import convert_to_tensor
from leat.keras._base import loading, policies, tables

_CUSTOM = {}  # "package>Name" -> class or function
_OWN = {}  # the same of leat's, which no program asked for
_CLASSES, _FUNCTIONS = [], []  # modules whose classes and functions configurations name; leat.keras
class_of_operation = Hook()  # (module, name): the class of an operation of Keras; leat.keras.ops.promote


def look_in(classes, functions):
    """Configurations name classes and functions of these modules; where several have one, the first."""
    _CLASSES.extend(classes)
    _FUNCTIONS.extend(functions)


def register_keras_serializable(package="Custom", name=None):
    """A decorator that makes a class or function known to configurations as "package>name"."""
    def decorate(thing):
        if isinstance(thing, type) and not hasattr(thing, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method. Received: "
                             f"{thing.__name__}")
        registered = f"{package}>{name or thing.__name__}"
        (_OWN if package.startswith("leat.") else _CUSTOM)[registered] = thing
        thing._leat_registered_name = registered
        return thing
    return decorate


def get_custom_objects():
    """What configurations know by name, a dictionary to change (``keras.saving.get_custom_objects``)."""
    return _CUSTOM


class CustomObjectScope:
    """``with custom_object_scope({"name": class}):`` configurations know these, too. ValueError for no dictionary."""

    def __init__(self, custom_objects):
        if not isinstance(custom_objects, (dict, type(None))):
            raise ValueError("Expected `custom_objects` to be a dictionary of names and classes or functions. "
                             f"Received: {custom_objects} (of type {type(custom_objects)})")
        self._objects = custom_objects or {}

    def __enter__(self):
        self._before = dict(_CUSTOM)
        _CUSTOM.update(self._objects)
        return self

    def __exit__(self, *error):
        _CUSTOM.clear()
        _CUSTOM.update(self._before)


custom_object_scope = CustomObjectScope


def get_registered_object(name, custom_objects=None, module_objects=None):
    """What was registered under a name; None."""
    return (custom_objects or {}).get(name) or _CUSTOM.get(name) or _OWN.get(name) or (
        module_objects or {}).get(name)


def get_registered_name(thing):
    """The name under which a class or function was registered, else its own."""
    return getattr(thing, "_leat_registered_name", thing.__name__)


def plain(value):
    """A configuration's value as Keras has it in one: numbers of numpy as Python's; JSON makes tuples lists."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value) if type(value) in (list, tuple) else (
            [plain(item) for item in value])
    if isinstance(value, slice):
        return {"class_name": "__slice__", "config": {"start": value.start, "stop": value.stop, "step": value.step}}
    if value is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    if hasattr(value, "tolist") and not hasattr(value, "get_config") and not isinstance(value, type):
        return value.tolist()
    return value


def _module_of(class_):
    module = class_.__module__
    if hasattr(class_, "_exported_module") and module.startswith("leat.keras"):
        return class_._exported_module
    if class_.__name__ == "Functional":
        return "keras.src.models.functional"
    if class_.__name__ in ("Sequential", "Model", *policies.CLASSES) and module.startswith("leat.keras"):
        return "keras"
    if not module.startswith("leat.keras"):
        return None if module == "__main__" else module
    return "keras.layers" if "layer" in module else module.replace("leat.", "", 1)


def serialize_keras_object(thing):
    """The configuration of an object (``keras.saving.serialize_keras_object``)."""
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, bytes):
        return {"class_name": "__bytes__", "config": {"value": thing.decode()}}
    if isinstance(thing, (list, tuple)):
        made = [serialize_keras_object(item) for item in thing]
        return tuple(made) if isinstance(thing, tuple) else made
    if isinstance(thing, dict):
        return {key: serialize_keras_object(item) for key, item in thing.items()}
    if isinstance(thing, slice):
        return {"class_name": "__slice__", "config": {
            end: serialize_keras_object(getattr(thing, end)) for end in ("start", "stop", "step")}}
    if isinstance(thing, numpy.ndarray) and thing.ndim or hasattr(thing, "numpy") and hasattr(thing, "shape"):
        array = numpy.asarray(thing)
        sort = "__numpy__" if isinstance(thing, numpy.ndarray) else "__tensor__"
        return {"class_name": sort, "config": {"value": array.tolist(), "dtype": array.dtype.name}}
    if hasattr(thing, "as_list") and hasattr(thing, "rank"):  # a TensorShape
        return thing.as_list()
    if hasattr(thing, "get_config"):
        return _of_object(thing)
    return serialize_function(thing) if callable(thing) and hasattr(thing, "__name__") else plain(thing)


def _of_object(thing):
    class_ = type(thing)
    is_own = class_.__module__.startswith("leat.keras")
    registered = getattr(class_, "_leat_registered_name", None)
    if registered is None and (not is_own or class_.__name__ == "Functional"):
        registered = class_.__name__
    config = serialize_keras_object(plain(thing.get_config()) if is_own else thing.get_config())
    name = vars(class_).get("_exported_name", class_.__name__)
    made = {"module": _module_of(class_), "class_name": name, "config": config,
            "registered_name": registered}
    build_config = thing.get_build_config() if hasattr(thing, "get_build_config") else None
    if build_config is not None:
        made["build_config"] = serialize_keras_object(build_config)
    compile_config = thing.get_compile_config() if hasattr(thing, "get_compile_config") else None
    if compile_config is not None:
        made["compile_config"] = compile_config
    return made


def serialize_function(function):
    """The configuration of a function by its name, of a lambda expression as Keras has it; other values as they are."""
    if not callable(function):
        return serialize_keras_object(function)
    if getattr(function, "__name__", None) != "<lambda>":
        return {"module": "builtins", "class_name": "function", "config": get_registered_name(function),
                "registered_name": "function"}
    import base64
    import marshal
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")
    closure = [cell.cell_contents for cell in function.__closure__ or ()] or None
    return {"class_name": "__lambda__",
            "config": {"code": code, "defaults": plain(function.__defaults__), "closure": plain(closure)}}


_NOT_NAMED = ("deserialize", "get", "serialize")  # functions that work on configurations; none stands in one


def public(module, name):
    """What of a module of leat.keras configurations may name: classes and functions of its own; None for others."""
    found = None if name.startswith("_") or name in _NOT_NAMED else getattr(module, name, None)
    return found if callable(found) and str(getattr(found, "__module__", "")).startswith("leat.keras") else None


def layer_class(name):
    """A layer of the library by its name."""
    return next(public(module, name) for module in _CLASSES if module.__name__ == "leat.keras.layers")


def _class_of(config, custom_objects):
    name = config["class_name"]
    if not isinstance(name, str):
        raise TypeError(f"Expected 'class_name' to be a str. Received: {config}")
    if str(config.get("module")).startswith("keras.src.ops"):
        found = class_of_operation(config["module"], name)
        if found is None:
            raise TypeError(f"keras.ops has no {name}; make it a layer of your own")
        return found
    found = get_registered_object(config.get("registered_name") or name, custom_objects) or (
        get_registered_object(name, custom_objects))
    if found is not None:
        return found
    named = f"leat.{config.get('module')}"  # a name may be that of a loss and a metric, or a layer and an initializer
    for module in sorted(_CLASSES, key=lambda module: module.__name__ != named):
        found = public(module, name)
        if isinstance(found, type):
            _refuse_other_name(config, name)
            return found
    raise TypeError(f"Could not locate class '{name}'. Make sure custom classes and functions are decorated with "
                    "`@keras.saving.register_keras_serializable()`.")


def _refuse_other_name(config, name):
    if config.get("registered_name") not in (None, "", name, config.get("class_name")):
        raise ValueError(f"The registered name '{config['registered_name']}' resolved to a Keras built-in, '{name}': a "
                         "configuration of a class or function of its own needs it in `custom_objects`, or registered "
                         "with `@keras.saving.register_keras_serializable()`")


def _function_of(config, custom_objects):
    name = config["config"]["name"] if isinstance(config["config"], dict) else config["config"]
    if not isinstance(name, str):
        raise TypeError(f"Expected 'config' to be a non-null str for a function. Received: {config}")
    found = get_registered_object(name, custom_objects) or next(
        (thing for known, thing in {**_OWN, **_CUSTOM}.items() if known.split(">")[-1] == name), None)
    if found is not None:
        return found
    for module in _FUNCTIONS:
        found = public(module, name)
        if found is not None and not isinstance(found, type):
            _refuse_other_name(config, name)
            return found
    raise TypeError(f"Could not locate function '{name}'. Give it as one of `custom_objects`, or make sure that it is "
                    "decorated with `@keras.saving.register_keras_serializable()`.")


_NUMBERS = re.compile(r"bool|(u?int|float|complex)\d+|bfloat16")


def _of_value(config):
    """(a value that JSON does not have,), or None."""
    sort, inner = config["class_name"], config["config"]
    if sort in policies.CLASSES:
        return (policies.deserialize(config),)
    if sort == "__slice__":
        return (slice(*[deserialize_keras_object(inner[end]) for end in ("start", "stop", "step")]),)
    if sort == "__ellipsis__":
        return (Ellipsis,)
    if sort == "__bytes__":
        return (inner["value"].encode(),)
    if sort in ("__numpy__", "__tensor__"):
        if not _NUMBERS.fullmatch(inner["dtype"]):
            raise ValueError(f"an array of a configuration has the dtype {inner['dtype']!r}; expected one of numbers")
        array = numpy.array(inner["value"], inner["dtype"])
        return (array if sort == "__numpy__" else convert_to_tensor(array),)
    if sort == "__lambda__":
        raise ValueError("Requested the deserialization of a Python lambda expression, code out of a configuration. "
                         "This carries a potential risk of arbitrary code execution, and leat runs none. Make the "
                         "function with `def`, and register it with `keras.saving.register_keras_serializable()` or "
                         "pass it in `custom_objects`")
    return None


def deserialize_keras_object(config, custom_objects=None, safe_mode=True):
    """The object of a configuration (``keras.saving.deserialize_keras_object``). TypeError for an unknown class.

    `safe_mode`: the configuration may name no files. No code of a configuration runs, in safe mode or not.
    """
    with loading.configuration(safe_mode):
        return _deserialized(config, custom_objects)


def _deserialized(config, custom_objects):
    if isinstance(config, str) and config in (custom_objects or ()):
        return custom_objects[config]
    if isinstance(config, (list, tuple)):
        return [deserialize_keras_object(item, custom_objects) for item in config]
    if not isinstance(config, dict):
        return config
    if "class_name" not in config or "config" not in config:
        return {key: deserialize_keras_object(item, custom_objects) for key, item in config.items()}
    value = _of_value(config)
    if value is not None:
        return value[0]
    if config["class_name"] == "function":
        return _function_of(config, custom_objects)
    inner = config["config"]
    if not isinstance(inner, dict):
        wanted = "list or a tuple" if config["class_name"] == "__typespec__" else "dict"
        raise TypeError(f"Expected 'config' to be a {wanted} for class '{config['class_name']}'. Received: {config}")
    class_ = _class_of(config, custom_objects)
    if not hasattr(class_, "from_config"):
        raise TypeError(f"Unable to reconstruct an instance of '{config['class_name']}', because the class "
                        f"{class_} is missing a `from_config()` method.")
    with CustomObjectScope(custom_objects):
        if _takes_custom_objects(class_):
            made = class_.from_config(dict(inner), custom_objects=custom_objects)
        elif class_.__module__.startswith("leat.keras"):
            made = class_.from_config({key: _inner(value, custom_objects) for key, value in inner.items()})
        else:
            made = _made_by_program(class_, dict(inner))
    build_config = config.get("build_config")
    if build_config and hasattr(made, "build_from_config") and not getattr(made, "built", True):
        made.build_from_config({name: tables.tupled(value) for name, value in build_config.items()})
    if config.get("compile_config") and hasattr(made, "compile_from_config"):
        with CustomObjectScope(custom_objects):
            made.compile_from_config(config["compile_config"])
    return made


def _made_by_program(class_, config):
    """One of a program's class, which reads its configuration itself. TypeError where it cannot."""
    try:
        return class_.from_config(config)
    except loading.REFUSALS:
        raise
    except TypeError as error:
        raise TypeError(f"{class_} could not be deserialized properly. Please ensure that components that are Python "
                        "object instances (layers, models, etc.) returned by `get_config()` are explicitly "
                        f"deserialized in the model's `from_config()` method.\n\nconfig={config}.\n\nException "
                        f"encountered: {error}"
                        ) from error


def _inner(value, custom_objects):
    """A policy or a custom object among a configuration's values; layers read the others themselves."""
    if isinstance(value, dict) and "class_name" in value and "config" in value:
        return deserialize_keras_object(value, custom_objects)
    return value


def _takes_custom_objects(class_):
    import inspect
    return "custom_objects" in inspect.signature(class_.from_config).parameters


# ---- what modules of classes share ----

def by_identifier(sort, classes, aliases, identifier):
    """The object that a name, an alias of one, a configuration or a class stands for, or itself. ValueError."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return from_configuration(sort, classes.get, identifier)
    found = identifier
    if isinstance(identifier, str):
        found = classes.get(aliases.get(identifier.lower(), identifier))
    if callable(found):
        return found() if isinstance(found, type) else found
    raise ValueError(f"Could not interpret {sort} identifier: {identifier}")


def configuration(thing):
    """The configuration of an object of Keras, or of a function by its name."""
    if isinstance(thing, types.FunctionType):
        return {"module": "builtins", "class_name": "function", "config": get_registered_name(thing),
                "registered_name": "function"}
    return serialize_keras_object(thing)


def from_configuration(sort, find, config, custom_objects=None):
    """The object of a configuration, or of a name; `find` knows classes and functions by name. ValueError."""
    if isinstance(config, str):
        config = {"class_name": config, "config": {}}
    name, inner = config.get("class_name"), config.get("config") or {}
    if name == "function":
        name = inner
    found = (get_registered_object(config.get("registered_name"), custom_objects)
             or get_registered_object(name, custom_objects) or find(name))
    if found is None:
        raise ValueError(f"Could not interpret {sort} identifier: {config}")
    if not isinstance(found, type):
        return found
    with custom_object_scope(custom_objects):
        return found.from_config(dict(inner))
