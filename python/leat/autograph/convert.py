"""Which functions are converted, and from what source.

A function is found in its file by the place of its code, its tree is rewritten, compiled under the same file name and
lines, and joined with the function's own globals, closure and defaults. Functions of libraries, without source, or with
`yield` or `await` are left as they are.
"""

import ast
import functools
import linecache
import os
import sys
import sysconfig
import threading
import types

from leat.autograph import operators, rewrite

_lock = threading.Lock()
_trees = {}  # file name -> (its lines, its functions by first line)
_codes = {}  # code -> what makes the converted function, or None
_LIBRARIES = tuple(os.path.join(sysconfig.get_paths()[name], "") for name in ("stdlib", "platstdlib", "purelib",
                                                                              "platlib"))
_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


def converted(function):
    """The function with its control flow converted; itself where there is nothing to convert."""
    if isinstance(function, functools.partial):
        return functools.partial(converted(function.func), *function.args, **function.keywords)
    if isinstance(function, types.MethodType):
        inner = converted(function.__func__)
        return function if inner is function.__func__ else types.MethodType(inner, function.__self__)
    if not isinstance(function, types.FunctionType):
        own = getattr(type(function), "__call__", None)
        if isinstance(own, types.FunctionType) and not isinstance(function, type):
            return types.MethodType(converted(own), function) if converted(own) is not own else function
        return function
    if getattr(function, "_leat_as_it_is", False):
        return function
    code = function.__code__
    if "ag__" in code.co_freevars:
        return function  # it stands in a function that was converted
    if code not in _codes:
        with _lock:
            _codes.setdefault(code, _convert(function))
    made = _codes[code]
    return function if made is None else _join(made, function)


@operators.convert_callee.provide
def of_callee(function):
    """The same for what a converted function calls."""
    is_object = isinstance(getattr(type(function), "__call__", None), types.FunctionType)
    if isinstance(function, (types.FunctionType, types.MethodType, functools.partial)) or (
            is_object and not isinstance(function, type)):
        return converted(function)
    return function


def _is_library(file):
    file = os.path.abspath(file)
    return file.startswith(_OWN) or (file.startswith(_LIBRARIES) or f"{os.sep}site-packages{os.sep}" in file
                                     or f"{os.sep}dist-packages{os.sep}" in file)


_SKIPPED = 0x20 | 0x80 | 0x100 | 0x200  # generators and coroutines


def _convert(function):
    """The code of the converted function; None where it stays as it is."""
    code = function.__code__
    if code.co_flags & _SKIPPED or code.co_filename.startswith("<leat.") or _is_library(code.co_filename):
        return None
    node = _find(code)
    if node is None:
        return None
    return _compile(_as_definition(node), code)


def _as_definition(node):
    if isinstance(node, ast.FunctionDef):
        return rewrite.rewrite(node)
    value = ast.copy_location(ast.Return(value=node.body), node.body)
    made = ast.FunctionDef(name="ag__lambda", args=node.args, body=[value], decorator_list=[], returns=None)
    if sys.version_info >= (3, 12):
        made.type_params = []
    return rewrite.rewrite(ast.copy_location(made, node))


def _compile(node, code):
    """The code object of a definition, with the free variables of `code` and ag__."""
    name = node.name = f"ag__{node.name}"  # what calls it by its own name finds what the user defined
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    names = ["ag__", *code.co_freevars]
    factory = ast.FunctionDef(name="ag__factory", args=rewrite._parameters(*names), body=[node], decorator_list=[],
                              returns=None)
    if sys.version_info >= (3, 12):
        factory.type_params = []
    tree = ast.fix_missing_locations(ast.Module(body=[ast.copy_location(factory, node)], type_ignores=[]))
    outer = _constant(compile(tree, code.co_filename, "exec", dont_inherit=True,
                              flags=code.co_flags & _FUTURES), "ag__factory")
    return _constant(outer, name).replace(co_name=code.co_name, co_qualname=code.co_qualname)


_FUTURES = 0x100000 | 0x80000  # annotations, generator_stop


def _constant(code, name):
    return next(const for const in code.co_consts if isinstance(const, types.CodeType) and const.co_name == name)


def _join(code, function):
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()), ag__=types.CellType(operators))
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__,
                              tuple(cells[name] for name in code.co_freevars))
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made._leat_as_it_is = True
    return made


# ---- finding the source ----

def _find(code):
    """The tree of the function that a code object was compiled from; None where there is no source."""
    lines = linecache.getlines(code.co_filename)
    if not lines:
        return None
    kept = _trees.get(code.co_filename)
    if kept is None or kept[0] != lines:
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            return None
        kept = _trees[code.co_filename] = lines, _by_line(tree)
    found = [node for node in kept[1].get(code.co_firstlineno, ()) if _fits(node, code)]
    return min(found, key=_extent) if found else None


def _extent(node):
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset if (
        node.end_lineno == node.lineno) else 0


def _by_line(tree):
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            first = min([node.lineno, *[one.lineno for one in getattr(node, "decorator_list", ())]])
            found.setdefault(first, []).append(node)
    return found


def _fits(node, code):
    """Is it the tree of this code, and not of another function in the same line?"""
    arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    if isinstance(node, ast.FunctionDef):
        return node.name == code.co_name
    if code.co_name != "<lambda>" or arguments != list(code.co_varnames[:len(arguments)]):
        return False
    first, last = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    return all(first <= (line, column) and (end, end_column) <= last
               for line, end, column, end_column in code.co_positions()
               if None not in (line, end, column, end_column) and end_column > 0)


def source_of(function):
    """The converted function's text; the function's own where there is nothing to convert."""
    node = _find(function.__code__)
    if node is None:
        raise ValueError(f"no source is known of {function!r}")
    return ast.unparse(_as_definition(node))
