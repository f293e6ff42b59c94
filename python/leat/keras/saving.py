"""``keras.saving``: objects as configurations and back."""

import numpy

from leat.keras import tables

_CUSTOM = {}  # "package>Name" -> class or function


def register_keras_serializable(package="Custom", name=None):
    """A decorator that makes a class or function known to configurations as "package>name"."""
    def decorate(thing):
        registered = f"{package}>{name or thing.__name__}"
        _CUSTOM[registered] = thing
        thing._leat_registered_name = registered
        return thing
    return decorate


def get_custom_objects():
    """What configurations know by name, a dictionary to change (``keras.saving.get_custom_objects``)."""
    return _CUSTOM


class CustomObjectScope:
    """``with custom_object_scope({"name": class}):`` configurations know these, too."""

    def __init__(self, custom_objects):
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
    return (custom_objects or {}).get(name) or _CUSTOM.get(name) or (module_objects or {}).get(name)


def get_registered_name(thing):
    """The name under which a class or function was registered, else its own."""
    return getattr(thing, "_leat_registered_name", thing.__name__)


def plain(value):
    """A configuration's value as JSON has it: tuples as lists, numbers of numpy as Python's."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, slice):
        return {"class_name": "__slice__", "config": {"start": value.start, "stop": value.stop, "step": value.step}}
    if value is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    if hasattr(value, "tolist") and not hasattr(value, "get_config"):
        return value.tolist()
    return value


def _module_of(class_):
    module = class_.__module__
    if class_.__name__ == "Functional":
        return "keras.src.models.functional"
    if class_.__name__ in ("Sequential", "Model", "DTypePolicy") and module.startswith("leat.keras"):
        return "keras"
    if not module.startswith("leat.keras"):
        return module
    return "keras.layers" if "layer" in module else module.replace("leat.", "", 1)


def serialize_keras_object(thing):
    """The configuration of an object (``keras.saving.serialize_keras_object``)."""
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, (list, tuple)):
        return [serialize_keras_object(item) for item in thing]
    if isinstance(thing, dict):
        return {key: serialize_keras_object(item) for key, item in thing.items()}
    if not hasattr(thing, "get_config"):
        return plain(thing)
    class_ = type(thing)
    is_own = class_.__module__.startswith("leat.keras")
    registered = getattr(class_, "_leat_registered_name", None)
    if registered is None and (not is_own or class_.__name__ == "Functional"):
        registered = class_.__name__
    made = {"module": _module_of(class_), "class_name": class_.__name__, "config": plain(thing.get_config()),
            "registered_name": registered}
    build_config = thing.get_build_config() if hasattr(thing, "get_build_config") else None
    if build_config is not None:
        made["build_config"] = plain(build_config)
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


def _class_of(config, custom_objects):
    from leat.keras import (constraints, functional, initializers, layers, losses, metrics, model, ops, optimizers,
                            random, regularizers)
    name = config["class_name"]
    if str(config.get("module")).startswith("keras.src.ops"):
        found = ops.class_of(config["module"], name)
        if found is None:
            raise TypeError(f"keras.ops has no {name}; make it a layer of your own")
        return found
    found = get_registered_object(config.get("registered_name") or name, custom_objects) or (
        get_registered_object(name, custom_objects))
    if found is not None:
        return found
    modules = (layers, model, functional, optimizers, optimizers.schedules, losses, metrics, initializers, regularizers,
               constraints, random)
    named = f"leat.{config.get('module')}"  # a name may be that of a loss and a metric, or a layer and an initializer
    for module in sorted(modules, key=lambda module: module.__name__ != named):
        found = getattr(module, name, None)
        if isinstance(found, type):
            return found
    raise TypeError(f"Could not locate class '{name}'. Make sure custom classes and functions are decorated with "
                    "`@keras.saving.register_keras_serializable()`.")


def deserialize_keras_object(config, custom_objects=None):
    """The object of a configuration (``keras.saving.deserialize_keras_object``). TypeError for an unknown class."""
    if isinstance(config, (list, tuple)):
        return [deserialize_keras_object(item, custom_objects) for item in config]
    if not isinstance(config, dict):
        return config
    if "class_name" not in config or "config" not in config:
        return {key: deserialize_keras_object(item, custom_objects) for key, item in config.items()}
    if config["class_name"] == "DTypePolicy":
        return config["config"]["name"]
    if config["class_name"] == "__slice__":
        return slice(*[config["config"][end] for end in ("start", "stop", "step")])
    if config["class_name"] == "__ellipsis__":
        return Ellipsis
    if config["class_name"] in ("__numpy__", "__tensor__"):
        return numpy.array(config["config"]["value"], config["config"]["dtype"])
    if config["class_name"] == "function":
        name = config["config"] if isinstance(config["config"], str) else config["config"]["name"]
        found = get_registered_object(name, custom_objects)
        if found is None:
            raise TypeError(f"Could not locate function '{name}'. Give it as one of `custom_objects`")
        return found
    class_ = _class_of(config, custom_objects)
    inner = config["config"]
    if _takes_custom_objects(class_):
        made = class_.from_config(dict(inner), custom_objects=custom_objects)
    else:
        made = class_.from_config({key: _inner(value, custom_objects) for key, value in inner.items()})
    build_config = config.get("build_config")
    if build_config and hasattr(made, "build_from_config") and not getattr(made, "built", True):
        made.build_from_config({name: tables.tupled(value) for name, value in build_config.items()})
    return made


def _inner(value, custom_objects):
    """A policy or a custom object among a configuration's values; layers read the others themselves."""
    if isinstance(value, dict) and "class_name" in value and "config" in value:
        return deserialize_keras_object(value, custom_objects)
    return value


def _takes_custom_objects(class_):
    import inspect
    return "custom_objects" in inspect.signature(class_.from_config).parameters
