#!/usr/bin/env python3
"""The stubs of the Python package: the build and `make stubs` write them beside the links of build/python, or

    PYTHONPATH=build/python make_stubs.py FOLDER         FOLDER/leat/**/*.pyi; stubs there that have no module go

What the tables make (operations, methods of datasets) takes its types and its docstring from the rows. Everything else is
what the imported package shows: signatures with their defaults, and the types below, which are few. A module that is
INTERNAL has no stub; neither has one that needs a package that is not installed.
"""
import argparse
import enum
import importlib
import inspect
import os
import pkgutil
import re
import sys
import types

INTERNAL = {"leat." + name for name in (
    "_core.later", "_core.signatures", "_core.table", "_graph.ops", "_graph.trace", "_native", "data.checks",
    "data.functions", "jax", "keras._base.calls", "keras._base.tables", "keras.models.summary",
    # No modules of Python's, though they look like them.
    "libleat_crypto", "libleat_curl", "libleat_dnnl", "libleat_grpc", "libleat_http", "libleat_lapack", "libleat_tls",
    "random.draw", "torch")}

B = "builtins."  # the package has names such as bool and range of its own
ARGUMENTS = {
    "bool": B + "bool", "bool or None": B + "bool | None", "integer": "IntLike", "integer seed": "IntLike | None",
    "number": "FloatLike", "string": "StringLike", "dtype": "DTypeLike", "shape": "ShapeLike",
    "list of integers": "IntsLike", "list of strings": "StringsLike", "function": "Callable[..., Any]",
}
PARAMETERS = {"name": B + "str | None", "dtype": "DTypeLike | None"}
DUNDERS = {
    **dict.fromkeys(("__len__", "__int__", "__index__", "__hash__"), B + "int"), "__float__": B + "float",
    **dict.fromkeys(("__repr__", "__str__", "__format__"), B + "str"), "__init__": "None", "__setattr__": "None",
    **dict.fromkeys(("__bool__", "__eq__", "__ne__", "__contains__"), B + "bool"), "__enter__": "Self",
    "__exit__": "None", "__iter__": "typing.Iterator[Any]", "__call__": "Any",
}
OTHER_PARAMETERS = {  # than the base's, as in Keras
    "Discretization.call", "Distiller.compile", "GlobalAveragePooling1D.call", "MeanMetricWrapper.update_state",
    "Softmax.call"}
OPERATORS = {"__%s%s__" % (r, n) for r in ("", "r") for n in "add sub mul truediv floordiv mod pow matmul and or xor".split()} | {
    "__%s__" % n for n in "lt le gt ge neg pos abs invert eq ne getitem".split()}
RETURNS = {
    "Tensor.dtype": "DType", "Tensor.shape": "TensorShape", "Tensor.get_shape": "TensorShape",
    "Tensor.ndim": B + "int | None", "Tensor.numpy": "Any",
    **{"Tensor." + name: "Tensor" for name in OPERATORS}, "constant": "Tensor", "convert_to_tensor": "Tensor",
    "is_tensor": B + "bool", "executing_eagerly": B + "bool", "as_dtype": "DType",
    **{"Dataset." + name: "Dataset" for name in (
        "apply range zip concatenate from_tensors from_tensor_slices from_generator list_files load with_options "
        "from_json prefetch").split()},
    "Dataset.cardinality": "Tensor", "Dataset.fingerprint": "Tensor", "Dataset.to_json": B + "str",
    "Dataset.save": "None", "Dataset.__nonzero__": B + "bool", "Iterator.__iter__": "Self", "Iterator.save": B + "bytes",
    "NumpyIterator.__iter__": "Self", "TensorShape.as_list": B + "list[Any]", "TensorShape.rank": B + "int | None",
}
HEAD = '''# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike
'''
TYPES = '''# Written by tools/make_stubs.py (`make stubs`); not to be edited.
from collections.abc import Sequence
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from leat.dtypes import DType
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor

TensorLike: TypeAlias = Any
DTypeLike: TypeAlias = DType | str | type | np.dtype[Any]
IntLike: TypeAlias = int | np.integer[Any] | Tensor
FloatLike: TypeAlias = float | np.floating[Any] | np.integer[Any] | Tensor
StringLike: TypeAlias = str | bytes | PathLike[str] | Tensor
IntsLike: TypeAlias = IntLike | Sequence[Any] | np.ndarray[Any, Any] | TensorShape
StringsLike: TypeAlias = Any
ShapeLike: TypeAlias = TensorShape | Sequence[Any] | np.ndarray[Any, Any] | IntLike | None
'''


GENERIC = {dict: "[Any, Any]", list: "[Any]", tuple: "[Any, ...]"}  # what a class of these is a class of


class Stubs:
    """The text of every stub, of the package that is imported."""

    def __init__(self):
        import leat
        from leat._graph import ops
        from leat.data import dataset
        self.ops, self.dataset = ops, dataset
        for found in pkgutil.walk_packages(leat.__path__, "leat."):
            if found.name not in INTERNAL:
                try:
                    importlib.import_module(found.name)
                except ImportError as error:
                    print("make_stubs: no stub of %s: %s" % (found.name, error), file=sys.stderr)
        self.modules = {name: module for name, module in sorted(sys.modules.items())
                        if name.split(".")[0] == "leat" and name not in INTERNAL}
        for module in self.modules.values():
            for key in getattr(module, "__all__", ()):
                getattr(module, key)  # many are made when they are first asked for
        self.homes = {}
        for name, module in self.modules.items():
            for value in vars(module).values():
                if isinstance(value, (type, types.FunctionType)) and id(value) not in self.homes:
                    self.homes[id(value)] = name
        for name, module in self.modules.items():
            for value in vars(module).values():
                if isinstance(value, (type, types.FunctionType)) and value.__module__ == name:
                    self.homes[id(value)] = name
        self.entries = {}
        for entry in ops.TABLE.values():
            for path in entry["names"]:
                self.entries.setdefault(path, []).append(entry)

    def files(self):
        """{path below the folder: text}."""
        out = {"leat/_types.pyi": TYPES}
        for name in self.modules:
            folder = hasattr(self.modules[name], "__path__") or any(
                other.startswith(name + ".") for other in self.modules)
            out[name.replace(".", "/") + ("/__init__.pyi" if folder else ".pyi")] = self.module(name)
        return out

    # ---- a module ----

    def module(self, name):
        self.name, self.uses, self.whole = name, set(), set()
        mine = [value for value in vars(self.modules[name]).values() if isinstance(value, type)
                and self.homes[id(value)] == name and not value.__name__.startswith("_")]
        self.bases = [base for value in mine for base in value.__bases__ if base.__name__.startswith("_")
                      and base.__module__ == name]
        body = []
        for key, value in sorted(vars(self.modules[name]).items()):
            if key == "__version__" or not key.startswith("_") or value in self.bases:
                body += self.member(key, value)
        mine = {line.split(" as ")[-1] for line in body if line.startswith("from ")}
        uses = {use for use in self.uses if self.homes[use[1]] != name and use[0] not in mine}
        imports = sorted("from %s import %s" % (self.homes[number], use) for use, number in uses)
        own = "|".join(line[6:-1] for line in body if line.startswith("class ") and line.endswith(":"))
        head = re.sub(r", (%s)\b" % own, "", HEAD) if own else HEAD
        return "\n".join([head, *sorted(self.whole), *imports, *body]).rstrip() + "\n"

    def member(self, key, value):
        if isinstance(value, types.ModuleType):
            parent, _, last = value.__name__.rpartition(".")
            inside = value.__name__ in self.modules
            return ["from %s import %s as %s" % (parent, last, key)] if inside and (
                parent == self.name or key in getattr(self.modules[self.name], "__all__", ())) else []
        path = "%s.%s" % (self.name, key)
        path = path.removeprefix("leat.")
        if self.ops.FUNCTIONS.get(path) is value and value is not None:
            return self.operation(key, self.entries[path])
        home = self.homes.get(id(value)) if isinstance(value, (type, types.FunctionType)) else None
        if isinstance(value, (type, types.FunctionType)):
            if not value.__module__.startswith("leat") or value.__module__ in INTERNAL and not self.public(key):
                return []
            if home != self.name or value.__name__ != key and isinstance(value, type):
                if home is None or not self.public(key):
                    return []
                return ["from %s import %s as %s" % (home, self.name_in(home, value), key)]
            return self.a_class(value) if isinstance(value, type) else self.function(key, value)
        kind = type(value)
        if kind is object or kind.__module__ in INTERNAL:
            return []
        if kind.__module__.startswith("leat"):
            return ["%s: %s" % (key, self.use(kind))]
        return ["%s: %s" % (key, "None" if value is None else B + kind.__name__ if kind in (bool, int, float, str)
                            else "Any")]

    def public(self, key):
        """Whether a name that the module imports is for its users: it lists it, or is a name space altogether."""
        module = self.modules[self.name]
        whole = hasattr(module, "__path__") or not hasattr(module, "__file__") or self.name.endswith(".experimental")
        return whole or key in getattr(module, "__all__", ())

    def name_in(self, home, value):
        found = vars(self.modules[home])
        return value.__name__ if found.get(value.__name__) is value else next(k for k in found if found[k] is value)

    def use(self, kind):
        """The name of a class of the package, which the stub then imports; Any where it has no stub."""
        if self.homes.get(id(kind)) is None:
            return "Any"
        own = vars(self.modules[self.name]).get(kind.__name__)
        if isinstance(own, type) and own is not kind and self.homes.get(id(own)) == self.name:
            self.whole.add("import " + self.homes[id(kind)])  # a class of the module has that name, too
            return "%s.%s" % (self.homes[id(kind)], kind.__name__)
        self.uses.add((kind.__name__, id(kind)))
        return kind.__name__

    def result(self, text):
        """A type of RETURNS, with its classes imported."""
        from leat import DType, Tensor, TensorShape
        for kind in (DType, Tensor, TensorShape, self.dataset.Dataset):
            if text == kind.__name__:
                return self.use(kind)
        return text

    # ---- functions ----

    def operation(self, name, entries):
        """A function of the operations' table; operations that share a path are overloads."""
        out = []
        for entry in sorted(entries, key=lambda entry: entry["max_inputs"]):
            types_of = {a["name"]: self.argument(a) for a in entry["arguments"]}
            types_of.update((i["name"], "TensorLike") for i in entry["inputs"])
            made = self.ops._make(entry, name)
            fields = inspect.signature(made).parameters
            result = self.result("Tensor") if entry["result"] == "tensor" else "Any"
            out += ["@overload"] if len(entries) > 1 else []
            out += ["def %s(%s) -> %s:" % (name, self.parameters(fields, types_of, False), result),
                    *docstring(made.__doc__), "    ..."]
        return out

    def argument(self, argument):
        return ARGUMENTS.get(argument["type"], "Any")

    def parameters(self, fields, types_of, method):
        out, star = [], False
        for field in fields.values():
            if field.kind == field.KEYWORD_ONLY and not star:
                out.append("*")
            star = star or field.kind in (field.KEYWORD_ONLY, field.VAR_POSITIONAL)
            text = {field.VAR_POSITIONAL: "*", field.VAR_KEYWORD: "**"}.get(field.kind, "") + field.name
            if field.name in ("self", "cls") and not out and method:
                out.append(field.name)
                continue
            kind = types_of.get(field.name) or "Any"
            if kind == "Any" and field.default is not field.empty:
                kind = PARAMETERS.get(field.name, kind)
            if field.default is None and kind not in ("Any", "TensorLike") and "None" not in kind:
                kind += " | None"
            default = "" if field.default is field.empty else " = " + literal(field.default)
            out.append("%s: %s%s" % (text, kind, default))
        return ", ".join(out)

    def function(self, name, value, owner="", decorators=()):
        """What the package shows of a function; a method of the operators' table takes its types from there."""
        key = owner + "." + name if owner else name
        returns = RETURNS.get(key) or DUNDERS.get(name, "Any")
        types_of, doc = {}, []
        entry = self.dataset.OPERATORS.get(getattr(value, "__name__", ""))
        source = getattr(getattr(value, "__code__", None), "co_filename", "")
        if entry and source.startswith("<leat.data."):
            types_of = {a["name"]: self.argument(a) for a in entry["arguments"]}
            returns, doc = "Dataset", docstring(value.__doc__)
            if ".experimental." in source:  # a function for Dataset.apply
                returns = "Callable[[%s], %s]" % (self.result(returns), self.result(returns))
        try:
            fields = inspect.signature(value).parameters
        except (TypeError, ValueError):
            return [*decorators, "def %s(%s*args: Any, **kwargs: Any) -> %s: ..." % (
                name, "self, " if owner else "", returns)]
        if name in OPERATORS and len(fields) == 2:
            types_of = dict.fromkeys(list(fields)[1:], B + "object" if name in ("__eq__", "__ne__") else "Any")
        head = "def %s(%s) -> %s:" % (name, self.parameters(fields, types_of, bool(owner)), self.result(returns))
        if name in ("__eq__", "__ne__") and returns == "Tensor" or key in OTHER_PARAMETERS:
            return [*decorators, head + " ...  # type: ignore[override]"]
        return [*decorators, head, *doc, "    ..."] if doc else [*decorators, head + " ..."]

    # ---- classes ----

    def a_class(self, value):
        fields = getattr(value, "_fields", None)
        if fields and issubclass(value, tuple):
            # One that has a __new__ of its own, in Python, has its defaults there.
            own = inspect.signature(value.__new__).parameters if "__new__" in vars(value) else {}
            given = {name for name, item in own.items() if item.default is not item.empty} | {*value._field_defaults}
            return ["class %s(NamedTuple):" % value.__name__, *[
                "    %s: Any%s" % (field, " = ..." if field in given else "") for field in fields]]
        bases = [self.use(base) if base.__module__.startswith("leat") else "enum." + base.__name__
                 if base.__module__ == "enum" else B + base.__name__ + GENERIC.get(base, "") for base in value.__bases__
                 if base is not object and (base.__module__ in ("builtins", "enum") or id(base) in self.homes)]
        out = []
        if issubclass(value, enum.Enum):
            out = ["%s = %r" % (member.name, member.value) for member in value]
        else:
            for key, item in vars(value).items():
                out += self.attribute(value, key, item)
            if hasattr(value, "__getitem__") and "__getitem__" not in vars(value) and "leat._native" in {
                    base.__module__ for base in value.__mro__}:
                out.append("def __getitem__(self, key: Any) -> %s: ..." % value.__name__)
        out = ["    " + line if line else line for line in out] or ["    ..."]
        return ["class %s%s:" % (value.__name__, "(%s)" % ", ".join(bases) if bases else ""), *out]

    def attribute(self, owner, key, item):
        """A member of a class; private ones and those of every object are left out."""
        inner = item.__func__ if isinstance(item, (staticmethod, classmethod)) else item
        if key == "__hash__" and item is None:
            again = any(vars(base).get("__hash__", owner) is None for base in owner.__mro__[1:]
                        if base.__module__.startswith("leat") and not base.__name__.startswith("_"))
            return ["__hash__: ClassVar[None]" + ("" if again else "  # type: ignore[assignment]")]
        dunder = key.startswith("__") and key.endswith("__")
        if dunder and (not isinstance(inner, types.FunctionType) or hasattr(object, key)
                       and key not in DUNDERS and key not in OPERATORS):
            return []
        if key.startswith("_") and not dunder:
            return []
        name = owner.__name__
        if isinstance(item, property):
            kind = self.result(RETURNS.get("%s.%s" % (name, key), "Any"))
            out = ["@property", "def %s(self) -> %s: ..." % (key, kind)]
            return out + (["@%s.setter" % key, "def %s(self, value: Any) -> None: ..." % key] if item.fset else [])
        if isinstance(item, (staticmethod, classmethod)):
            return self.function(key, inner, name, ["@" + type(item).__name__])
        if isinstance(item, types.FunctionType) or callable(item) and not isinstance(item, type):
            return self.function(key, item, name)
        return ["%s: Any" % key]


def docstring(text):
    """The lines of a docstring, in a function's body."""
    lines = [line.rstrip() for line in (text or "").replace("\\", "\\\\").replace('"""', '\\"\\"\\"').split("\n")]
    if not any(lines):
        return []
    if lines[-1].endswith('"'):
        lines[-1] = lines[-1][:-1] + '\\"'
    if len(lines) == 1:
        return ['    """%s"""' % lines[0]]
    return ['    """%s' % lines[0], *["    " + line if line else "" for line in lines[1:]], '    """']


def literal(value):
    """The source of a default; three dots where that is not a plain one."""
    plain = value is None or type(value) in (bool, int, str) or type(value) is float and value == value
    return repr(value) if plain and abs(value if type(value) is float else 0) < 1e300 else "..."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    top = parser.parse_args().folder
    made = Stubs().files()
    there = {os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top)
             for name in names if name.endswith(".pyi")}
    for name, text in made.items():
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    for name in there - set(made):
        os.remove(os.path.join(top, name))


if __name__ == "__main__":
    main()
