"""``tf.data.Options``: how a dataset's iterators run. The fields are those of the operator with_options."""

import enum

from leat.data.operators import OPERATORS


class AutoShardPolicy(enum.IntEnum):
    """How a distribution strategy shards a dataset (``tf.data.experimental.AutoShardPolicy``)."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """How tuned numbers are found (``tf.data.experimental.AutotuneAlgorithm``)."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """What saving does about state outside of a dataset (``tf.data.experimental.ExternalStatePolicy``)."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


_NOT_SET = object()
_FIELDS = [argument["name"] for argument in OPERATORS["with_options"]["arguments"]]
_ENUMS = {"autotune.autotune_algorithm": AutotuneAlgorithm,
          "experimental_distribute.auto_shard_policy": AutoShardPolicy,
          "experimental_external_state_policy": ExternalStatePolicy}

_KINDS = {"bool": bool, "integer": int, "string": str, "list": list}


class _Group:
    """Some of the fields; ``options.threading.private_threadpool_size``."""

    _prefix = ""

    def __init__(self):
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_is_fixed", False)  # part of what a dataset says of its options

    def _names(self):
        return [field[len(self._prefix):] for field in _FIELDS
                if field.startswith(self._prefix) and "." not in field[len(self._prefix):]]

    def __dir__(self):
        return sorted({*super().__dir__(), *self._names()})

    def __getattr__(self, name):
        if name in ("_values", "_groups"):  # a copy that has nothing yet
            raise AttributeError(name)
        if name in self._names():
            value = self._values.get(name)
            return _DEFAULTS.get(self._prefix + name) if value is None else value
        raise AttributeError(f"Cannot get the property {name} on {type(self).__name__}.")

    def __setattr__(self, name, value):
        if name not in self._names():
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        self._refuse_fixed()
        argument = next(a for a in OPERATORS["with_options"]["arguments"] if a["name"] == self._prefix + name)
        kind = _ENUMS.get(argument["name"]) or _KINDS.get(argument["type"].split()[0])
        if value is not None and kind and (not isinstance(value, kind) or kind is int and isinstance(value, bool)):
            raise TypeError(f"Property \"{name}\" must be of type {kind}, got: {value!r} (type: {type(value)})")
        self._values[name] = value

    def _refuse_fixed(self):
        if self._is_fixed:
            raise ValueError("Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no effect. Use "
                             "`tf.data.Dataset.with_options(options)` to set or update dataset options.")

    def _set(self):
        return {self._prefix + name: value for name, value in self._values.items() if value is not None}

    def __eq__(self, other):
        return type(self) is type(other) and self._set() == other._set()

    def __ne__(self, other):
        return not self == other

    __hash__ = None


_DEFAULTS = {"experimental_distribute.auto_shard_policy": AutoShardPolicy.AUTO}


class ThreadingOptions(_Group):
    """``tf.data.ThreadingOptions``."""

    _prefix = "threading."


class AutotuneOptions(_Group):
    """``tf.data.experimental.AutotuneOptions``."""

    _prefix = "autotune."


class DistributeOptions(_Group):
    """``tf.data.experimental.DistributeOptions``."""

    _prefix = "experimental_distribute."


class OptimizationOptions(_Group):
    """``tf.data.experimental.OptimizationOptions``."""

    _prefix = "experimental_optimization."


class ServiceOptions(_Group):
    """``tf.data.experimental.ServiceOptions``."""

    _prefix = "experimental_service."


_GROUPS = {"autotune": AutotuneOptions, "experimental_distribute": DistributeOptions,
           "experimental_optimization": OptimizationOptions, "experimental_service": ServiceOptions,
           "threading": ThreadingOptions}


class Options(_Group):
    """``tf.data.Options``; a field that is None leaves the matter to inputs and defaults."""

    def __init__(self):
        super().__init__()
        object.__setattr__(self, "_groups", {name: group() for name, group in _GROUPS.items()})

    def __getattr__(self, name):
        name = "threading" if name == "experimental_threading" else name
        name = "deterministic" if name == "experimental_deterministic" else name
        return self._groups[name] if name in _GROUPS else super().__getattr__(name)

    def __dir__(self):
        return sorted({*super().__dir__(), *_GROUPS, "experimental_deterministic", "experimental_threading"})

    def __setattr__(self, name, value):
        name = "threading" if name == "experimental_threading" else name
        name = "deterministic" if name == "experimental_deterministic" else name
        if name in self._groups:
            if not isinstance(value, _GROUPS[name]):
                raise TypeError(f"Property \"{name}\" must be of type {_GROUPS[name]}, got: {value!r} "
                                f"(type: {type(value)})")
            self._refuse_fixed()
            self._groups[name] = value
        else:
            super().__setattr__(name, value)

    def _set(self):
        out = super()._set()
        for group in self._groups.values():
            out.update(group._set())
        return out

    def _fixed(self):
        """These options, of which no field can be set any more."""
        for part in (self, *self._groups.values()):
            object.__setattr__(part, "_is_fixed", True)
        return self

    def merge(self, options):
        """These options, overruled by those that are set in `options`."""
        out = Options()
        for source in (self, options):
            for field, value in source._set().items():
                target = out
                *parents, name = field.split(".")
                for parent in parents:
                    target = getattr(target, parent)
                setattr(target, name, value)
        return out

    def _arguments(self):
        return {field: value.value if isinstance(value, enum.Enum) else value
                for field, value in self._set().items()}
