"""``keras.initializers``: what weights start with, made of the library's table."""

import random

from leat import dtypes
from leat.keras import tables


def make_default_seed():
    """The seed of an initializer that was given none, drawn from Python's generator as Keras does."""
    return random.randint(1, int(1e9))


class Initializer:
    """The base of initializers: callable with a shape and a dtype, it gives a tensor."""

    def __call__(self, shape, dtype=None):
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")

    def get_config(self):
        """The arguments that make another one like it."""
        return {}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)

    def clone(self):
        """Another one like it."""
        return self.__class__.from_config(self.get_config())


class TableInitializer(Initializer):
    """An initializer of the library's table."""

    def _setup(self, given, _):
        tables.refuse_unknown(self._entry, given)
        self._config = dict(given)
        if self._entry["random"]:
            self.seed = given.get("seed") if given.get("seed") is not None else make_default_seed()
        for name, value in given.items():
            if name != "seed":
                setattr(self, name, value)
        self._part = tables.part("initializer", self._entry, {k: v for k, v in given.items() if k != "seed"})

    def __call__(self, shape, dtype=None):
        from leat.tensor import convert_to_tensor
        from leat import ops
        value = self._part.initialize(int(getattr(self, "seed", 0)), tuple(shape))
        wanted = dtypes.as_dtype(dtype or "float32")
        return value if value.dtype is wanted else ops.FUNCTIONS["cast"](convert_to_tensor(value), wanted)

    def get_config(self):
        """The arguments that make another one like it."""
        return dict(self._config)


_BY_NAME = {}
for _entry in tables.entries("initializer"):
    _class = tables.make_class("initializer", _entry, TableInitializer, __name__, TableInitializer._setup)
    globals()[_entry["name"]] = globals()[_entry["identifier"]] = _class
    _BY_NAME[_entry["name"]] = _BY_NAME[_entry["identifier"]] = _class
    _BY_NAME[_entry["name"].lower()] = _class


IdentityInitializer, OrthogonalInitializer = _BY_NAME["Identity"], _BY_NAME["Orthogonal"]
_ALIASES = {"uniform": "random_uniform", "normal": "random_normal", "zero": "zeros", "one": "ones"}


def get(identifier):
    """An initializer by name, configuration, class, or itself (``keras.initializers.get``). ValueError."""
    return tables.by_identifier("initializer", _BY_NAME, _ALIASES, identifier)


def serialize(initializer):
    """The configuration of an initializer."""
    return tables.configuration("initializers", initializer)


def deserialize(config, custom_objects=None):
    """The initializer of a configuration."""
    return tables.from_configuration("initializer", _BY_NAME.get, config, custom_objects)
