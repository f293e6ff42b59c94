"""What is made when it is first asked for, so that importing the package costs little.

A dictionary of such values, and modules that import or make such names. ``dir``, ``help``, ``from ... import *`` and
``pickle`` see them all. And hooks, by which lower floors call higher ones: nothing is imported upwards, but a lower
module makes a hook and says what it stands for, and a higher one provides that, or the package's ``__init__`` says
where it is.
"""

import collections
import collections.abc
import importlib
import os
import sys
import threading
import types

from leat._core import absent

_Mapping = collections.abc.Mapping


_importers = collections.Counter()  # imports under way, by thread
_imported = threading.Condition()
_PATIENCE = 10  # seconds


def _import(module):
    """A module of the package, which a fork waits for: a child has none of the locks' owners, and half of a module."""
    thread = threading.get_ident()
    with _imported:
        _importers[thread] += 1
    try:
        return importlib.import_module(module)
    finally:
        with _imported:
            _importers[thread] -= 1
            _imported.notify_all()


def _others_import():
    own = threading.get_ident()
    return any(count > 0 for thread, count in _importers.items() if thread != own)


def _before_fork():
    _imported.acquire()  # until after the fork: no other thread begins an import
    _imported.wait_for(lambda: not _others_import(), _PATIENCE)


def _in_child():
    own = threading.get_ident()
    for thread in [thread for thread in _importers if thread != own]:
        del _importers[thread]
    _imported.release()


os.register_at_fork(before=_before_fork, after_in_parent=_imported.release, after_in_child=_in_child)


class Lazy(dict):
    """A dictionary of all `keys`, whose values ``make(key)`` gives once each."""

    def __init__(self, keys, make):
        super().__init__()
        self._keys = dict.fromkeys(keys)
        self._make = make

    def __missing__(self, key):
        if key not in self._keys:
            raise KeyError(key)
        return self.setdefault(key, self._make(key))

    def __contains__(self, key):
        return key in self._keys

    def __iter__(self):
        return iter(self._keys)

    def __len__(self):
        return len(self._keys)

    get, keys, values, items = _Mapping.get, _Mapping.keys, _Mapping.values, _Mapping.items


class Hook:
    """A function or class of a higher floor."""

    __slots__ = ("_thing", "_home")

    def __init__(self):
        self._thing = self._home = None

    def provide(self, thing):
        """It is this from now on; returns it, so that it can decorate a function or class."""
        self._thing = thing
        return thing

    def at(self, module, name):
        """It is `name` of a module, which is imported when it is first asked for."""
        self._home = module, name

    @property
    def value(self):
        """What it is."""
        if self._thing is None:
            module, name = self._home
            self._thing = getattr(_import(module), name)
        return self._thing

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)


def _shown(own):
    """Names of a module that are neither its own affair nor modules of others."""
    return [key for key, value in own.items()
            if (key.startswith("__") or not key.startswith("_"))
            and not (isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] != "leat")]


def public(own):
    """A module's ``__dir__``, of its ``globals()``: ``__all__``, or what it defines itself but what begins with an
    underscore."""
    def __dir__():
        if "__all__" in own:
            return sorted([*own["__all__"], *(key for key in own if key.startswith("__"))])
        return sorted(key for key in _shown(own) if getattr(own[key], "__module__", own["__name__"]) == own["__name__"]
                      and not isinstance(own[key], types.ModuleType))
    return __dir__


def module(name, values, homes=None, modules=(), optional=()):
    """Lets module `name` have each of `values`, a dictionary, and what is elsewhere; its own names come first.

    `homes`: {module: names in it, separated by blanks}. `modules`: modules that are names of this one; those in
    `optional` need packages that may not be there, so ``*`` leaves them out.
    """
    own = vars(sys.modules[name])
    places = {key: home for home, names in (homes or {}).items() for key in names.split()}
    below = {module.rpartition(".")[2]: module for module in (*modules, *optional)}

    def __getattr__(key):
        if key in places:
            value = getattr(_import(places[key]), key)
        elif key in below:
            value = _import(below[key])
        elif key in values:
            value = values[key]
        else:
            raise AttributeError(absent.text_of(f"{name}.{key}") or f"module {name!r} has no attribute {key!r}")
        return own.setdefault(key, value)

    def __dir__():
        return sorted({*_shown(own), *places, *below, *values})
    listed = own.get("__all__") or [key for key, value in own.items()
                                    if not key.startswith("_") and not isinstance(value, types.ModuleType)]
    hidden = {module.rpartition(".")[2] for module in optional}
    own.update(__getattr__=__getattr__, __dir__=__dir__,
               __all__=sorted({*listed, *places, *below, *values} - hidden))


def new_module(name, doc=None):
    """An empty module `name`, whose parent is there, for names that no file makes."""
    made = sys.modules[name] = types.ModuleType(name, doc or f"Operations of tf.{name.partition('.')[2]}.")
    parent, _, last = name.rpartition(".")
    setattr(sys.modules[parent], last, made)
    return made
