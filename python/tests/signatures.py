"""What the data service shows to who uses it, as JSON: names, parameters, members. Of leat, and of TensorFlow."""
import enum
import inspect

# What every class has, or every enumeration and named tuple.
PLAIN = {name for kind in (object, tuple, int, enum.IntEnum) for name in dir(kind)}


def parameters(function):
    """[{"name", "kind", "default"}]; "default" is absent where there is none."""
    lines = []
    for parameter in inspect.signature(function).parameters.values():
        line = {"name": parameter.name, "kind": parameter.kind.name.lower()}
        if parameter.default is not parameter.empty:
            line["default"] = parameter.default
        lines.append(line)
    return lines


def shown(name, value):
    """A function by its parameters, a class by those of making one and by its members, a value by itself."""
    if inspect.isclass(value):
        members = sorted(member for member in dir(value) if not member.startswith("_") and member not in PLAIN)
        if issubclass(value, enum.Enum):
            return {member: getattr(value, member).value for member in members}
        return {"parameters": parameters(value), "fields": list(getattr(value, "_fields", [])),
                "members": {member: shown(member, inspect.getattr_static(value, member)) for member in members}}
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if inspect.isroutine(value):
        return parameters(value)
    return "property" if inspect.isdatadescriptor(value) else name


def described(tf):
    """Everything of the data service, by its path below tf.data."""
    service = tf.data.experimental.service
    names = getattr(service, "__all__", None) or [name for name in dir(service) if not name.startswith("_")]
    found = {"experimental.service." + name: shown(name, getattr(service, name)) for name in names}
    found["experimental.distributed_save"] = shown("distributed_save", tf.data.experimental.distributed_save)
    found["Dataset.load"] = parameters(inspect.getattr_static(tf.data.Dataset, "load").__func__)
    return found
