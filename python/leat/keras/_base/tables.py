"""The library's tables of layers, losses, metrics, optimizers and initializers, as classes need them.

A line of a table becomes a class without a line of Python: `parameters` gives its constructor Keras' parameters,
`part` makes the library's object of what was given.
"""

import contextlib
import functools
import json
import re

from leat import _native, errors
from leat._core.signatures import REQUIRED, function

_TABLES = json.loads(_native.train_tables())
SORTS = {"layer": "layers", "loss": "losses", "metric": "metrics", "optimizer": "optimizers",
         "initializer": "initializers", "schedule": "schedules"}


def entries(sort):
    """The lines of a table."""
    return _TABLES[SORTS[sort]]


def entry_of(sort, name):
    """The line of a name."""
    return next(entry for entry in entries(sort) if entry["name"] == name)


def rows(entry):
    """{name: argument} of a line."""
    return {row["name"]: row for row in entry["arguments"]}


def with_lists(entry, given):
    """The arguments of a line, with empty lists in the place of None."""
    lists = {row["name"] for row in entry["arguments"] if row["type"].startswith("list")}
    return {name: [] if value is None and name in lists else value for name, value in given.items()}


def tupled(value):
    """Lists as tuples, at every depth."""
    return tuple(tupled(item) for item in value) if isinstance(value, (list, tuple)) else value


def parameters(entry):
    """[(name, default or REQUIRED)] of a line's constructor, in Keras' order."""
    known, out = rows(entry), []
    words = entry["signature"] if entry["signature"] is not None else [{"name": name} for name in known]
    for word in words:
        row = known.get(word["name"])
        if "default" in word:
            default = tupled(word["default"])
        else:
            default = REQUIRED if row is not None and row["required"] else row["default"] if row is not None else None
        out.append((word["name"], default))
    return out


def docstring(entry, sort):
    """What help() says of a line's class."""
    lines = [entry["doc"], ""]
    known = rows(entry)
    for name, default in parameters(entry):
        if name in known:
            lines.append(f"{name}: {known[name]['doc']}")
        elif name.endswith(("_regularizer", "_constraint")):
            lines.append(f"{name}: a function of the weight ({name.rsplit('_', 1)[1]}); None: none.")
        else:
            lines.append(f"{name}: as in Keras; {default!r} alone where leat has nothing else.")
    return "\n".join(lines).strip()


def constructor(entry, module, setup, rest=None):
    """The constructor of a line's class; it calls ``setup(self, given, others)`` with what was given by name."""
    def construct(values):
        self = values.pop("self")
        others = values.pop(rest) if rest else {}
        setup(self, values, others)
    init = function(f"{entry['name']}.__init__", [("self", REQUIRED), *parameters(entry)], construct, "", module, rest)
    init.__doc__ = None
    return init


def make_class(sort, entry, base, module, setup, rest=None):
    """The class of a line."""
    name, init = entry["name"], constructor(entry, module, setup, rest)
    return type(name, (base,), {"__init__": init, "__doc__": docstring(entry, sort), "__module__": module,
                                "_entry": entry})


# ---- arguments as JSON ----

def _plain(value):
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item") and getattr(value, "shape", None) in ((), None):
        return value.item()
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "numpy"):
        return _plain(value.numpy())
    raise TypeError(f"expected numbers or text, found {value!r}")


def _flat(value):
    """A number, a list or pairs in a list as one list."""
    if not isinstance(value, list):
        return [value]
    return [item for part in value for item in _flat(part)]


def part(sort, entry, given):
    """The library's object of a line. ValueError names what it refuses."""
    known, config = rows(entry), {}
    for name, value in given.items():
        row = known.get(name)
        if row is None or value is None and row["required"] is False and not row.get("absent"):
            continue
        if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
            value = "nan" if value != value else "inf" if value > 0 else "-inf"
        value = _plain(value)
        if row["type"].startswith("list"):
            value = [-1 if item is None else item for item in _flat(value)]
        if row["type"] == "float" and isinstance(value, int):
            value = float(value)
        config[name] = value
    try:
        return _native.Part(sort, entry["name"], json.dumps(config))
    except (errors.InvalidArgumentError, errors.UnimplementedError, errors.NotFoundError) as error:
        message = error.message
        raise ValueError(message.removeprefix(f"{entry['name']}: ") if sort == "optimizer" else message) from None


def refuse_unknown(entry, given):
    """Refuses values other than the default of arguments that the library does not have."""
    known = rows(entry)
    for name, default in parameters(entry):
        if name not in known and name in given and given[name] != default:
            raise NotImplementedError(f"{entry['name']}: {name}={given[name]!r} is not supported; leave it at "
                                      f"{default!r}")


# ---- identifiers and configurations ----

_BASE = ("name", "trainable", "dtype", "reduction")


def ordered(entry, config):
    """A configuration as Keras says it, by the words of its line (``src/train/frame/kind.h``, `config`)."""
    if entry["config"] is None:
        return config
    words, defaults = entry["config"].split(), {"trainable": True, **dict(parameters(entry))}
    pairs = [word.partition("=") for word in words]
    config = {**config, **{name: json.loads(value) for name, equals, value in pairs if equals}}
    words = [name for name, _, _ in pairs]
    unsaid = {word[:-1] for word in words if word.endswith("?")}
    place = words.index("...") if "..." in words else len(words)
    first, last = ([word for word in part if word in config and word not in unsaid]
                   for part in (words[:place], words[place + 1:]))
    start = [] if set(words) & set(_BASE) else [name for name in _BASE if name in config]
    said = [name for name in config if name not in unsaid or config[name] != defaults.get(name)]
    order = [*start, *first, *(name for name in said if name not in last), *last]
    return {name: config[name] for name in order}


def made_of(class_, config, values=()):
    """What was pickled: an object of a configuration, and the values of its variables."""
    made = class_.from_config(config)
    for variable, value in zip(made.variables if values else (), values):
        variable.assign(value)
    return made


# ---- names ----

_counts = {}


@functools.cache
def snake_case(name):
    """The class name as Keras names objects of it."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def next_number(prefix):
    """How many names there are with a prefix; one more from then on."""
    number = _counts.get(prefix, 0)
    _counts[prefix] = number + 1
    return number


def auto_name(prefix):
    """`prefix`, and from the second time on with a number."""
    number = next_number(prefix)
    return prefix if number == 0 else f"{prefix}_{number}"


def take_names(prefix, number):
    """As many names with a prefix are taken from then on."""
    _counts[prefix] = _counts.get(prefix, 0) + number


@contextlib.contextmanager
def uncounted(prefix):
    """A block whose names with a prefix are free again behind it."""
    number = _counts.get(prefix, 0)
    try:
        yield
    finally:
        _counts[prefix] = number


def forget_names():
    """Numbers of names start anew (``keras.backend.clear_session``)."""
    _counts.clear()
