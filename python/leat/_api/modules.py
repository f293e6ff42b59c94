"""``tf.Module`` and the scopes of names and devices."""

import functools
import re

from leat import _native, nest
from leat._api import runtime
from leat._api.devices import DeviceSpec
from leat._core.tracking import grown, kept
from leat._graph.state import device_block
from leat._structures.variables import Variable, open_scopes
from leat.errors import InvalidArgumentError

__all__ = ["Module", "device", "name_scope"]


class name_scope:
    """Variables that are made inside of the block have "name/" before their names (``tf.name_scope``)."""

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name

    name = property(lambda self: self._name)

    def __enter__(self):
        scopes = open_scopes()
        if self._name.endswith("/"):  # as entered before
            scopes.append(self._name)
        else:
            scopes.append(f"{scopes[-1] if scopes else ''}{self._name}/" if self._name else "")
        return scopes[-1]

    def __exit__(self, *error):
        open_scopes().pop()


def get_current_name_scope():
    """The names of the scopes around, without a "/" behind (``tf.get_current_name_scope``)."""
    scopes = open_scopes()
    return scopes[-1].removesuffix("/") if scopes else ""


class device(device_block):
    """A block for the device `device_name` (``tf.device``). A CPU does all that leat computes, in one memory: the block
    changes only what `device` of tensors and new variables says there, the first CPU's name where the device is not
    there. ValueError for what is no name of a device; InvalidArgumentError, when the block begins, for a device that is
    no CPU where `set_soft_device_placement` says so."""

    def __init__(self, device_name):
        if callable(device_name):
            raise RuntimeError("tf.device does not support functions.")
        if device_name is not None and not isinstance(device_name, (str, DeviceSpec)):
            raise ValueError(f"Expecting a string device name. Got {type(device_name)}({device_name})")
        spec = DeviceSpec.from_string(device_name) if isinstance(device_name, str) else device_name
        is_there = spec is not None and spec.device_type == "CPU" and (
            spec.device_index or 0) < _native.num_logical_devices("CPU")
        self._lacks = spec is not None and spec.device_type is not None and not is_there and spec
        super().__init__(f"/job:localhost/replica:0/task:0/device:CPU:{spec.device_index or 0}" if is_there else None)

    def __enter__(self):
        if self._lacks and not runtime.placement["soft"]:
            raise InvalidArgumentError(None, None, "Could not satisfy device specification "
                                       f"'{self._lacks.to_string()}'. enable_soft_placement=0. leat computes on CPUs; "
                                       f"there are {_native.num_logical_devices('CPU')}")
        return super().__enter__()


def _snake_case(name):
    name = re.sub(r"([^_])([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


class Module:
    """An object that knows the variables in its attributes (``tf.Module``), those of modules among them too.

    `name`: a Python identifier, by default the class' name in small letters. ValueError for others.
    """

    def __init__(self, name=None):
        name = _snake_case(type(self).__name__) if name is None else name
        if not name.isidentifier():
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                             "(e.g. a valid class name).")
        self._name = name
        scopes = open_scopes()
        self._scope_name = f"{scopes[-1] if scopes else ''}{name}/"

    def __setattr__(self, name, value):
        super().__setattr__(name, kept(self, value))
        grown(self)

    @property
    def name(self):
        """The name that was given, or the class' in small letters."""
        return self._name

    @property
    def name_scope(self):
        """A scope of names of this module."""
        return name_scope(self._scope_name)

    def _found(self, is_wanted, seen):
        """What is wanted among the attributes by their names, then in the modules among them."""
        modules = []
        for _, value in sorted(vars(self).items()):
            for leaf in nest.flatten(value):
                if id(leaf) in seen:
                    continue
                if is_wanted(leaf) or isinstance(leaf, Module):
                    seen.add(id(leaf))
                if is_wanted(leaf):
                    yield leaf
                if isinstance(leaf, Module):
                    modules.append(leaf)
        for module in modules:
            yield from module._found(is_wanted, seen)

    def _all(self, is_wanted):
        return tuple(self._found(is_wanted, {id(self)}))

    @property
    def variables(self):
        """All variables of the module and the modules in it, a tuple."""
        return self._all(lambda leaf: isinstance(leaf, Variable))

    @property
    def trainable_variables(self):
        """Those that gradient tapes watch by themselves."""
        return self._all(lambda leaf: isinstance(leaf, Variable) and leaf.trainable)

    @property
    def non_trainable_variables(self):
        """The others."""
        return self._all(lambda leaf: isinstance(leaf, Variable) and not leaf.trainable)

    @property
    def submodules(self):
        """All modules in this one, a tuple."""
        return self._all(lambda leaf: isinstance(leaf, Module))

    @classmethod
    def with_name_scope(cls, method):
        """A decorator: variables that the method makes have the module's name before theirs."""
        @functools.wraps(method)
        def wrapped(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)
        return wrapped
