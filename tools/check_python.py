#!/usr/bin/env python3
"""Check the Python sources: lines of at most 120 columns, spaces that nobody sees, functions of at most 100 lines, and a
docstring on every module, public class and public function of the package and the examples.

    check_python.py [ROOT]

Public is what has no underscore in front, in a class or module that is public too; what stands in a function is its own
affair, and a setter or an overload is documented where it is first defined. Stubs are generated: tools/make_stubs.py.
"""
import ast
import sys

import sources

COLUMNS, FUNCTION_LINES = 120, 100
DOCUMENTED = ("python/leat/", "examples/")
FOLDERS = ("python/", "examples/")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
AGAIN = ("setter", "deleter", "overload")


def check_lines(name, text):
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        where = "%s:%d: " % (name, number)
        if len(line) > COLUMNS:
            problems.append(where + "%d columns; at most %d" % (len(line), COLUMNS))
        if line != line.rstrip():
            problems.append(where + "spaces at the end of the line")
        if "\t" in line:
            problems.append(where + "a tab")
    if text and not text.endswith("\n") or text.endswith("\n\n"):
        problems.append("%s: must end with one end of line" % name)
    return problems


def check_functions(name, tree):
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield "%s:%d: %s has %d lines; at most %d" % (name, node.lineno, node.name, lines, FUNCTION_LINES)


def undocumented(node, path=""):
    """Yield (line, name) of each public definition below a module or class that has no docstring."""
    for child in node.body:
        if isinstance(child, (ast.If, ast.Try)):
            yield from undocumented(child, path)
        if not isinstance(child, (ast.ClassDef, *FUNCTIONS)) or child.name.startswith("_"):
            continue
        decorators = {getattr(d, "attr", getattr(d, "id", "")) for d in child.decorator_list}
        if ast.get_docstring(child) is None and not decorators.intersection(AGAIN):
            yield child.lineno, path + child.name
        if isinstance(child, ast.ClassDef):
            yield from undocumented(child, path + child.name + ".")


def check_file(root, name):
    text = sources.read(root, name)
    problems = check_lines(name, text)
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return problems + ["%s:%s: %s" % (name, error.lineno, error.msg)]
    problems += check_functions(name, tree)
    if name.startswith(DOCUMENTED):
        if ast.get_docstring(tree) is None:
            problems.append("%s:1: the module has no docstring" % name)
        problems += ["%s:%d: %s has no docstring" % (name, *found) for found in undocumented(tree)]
    return problems


def check(root):
    problems = []
    names = [n for n in sources.listed(root) if n.endswith(".py") and n.startswith(FOLDERS)]
    for name in names:
        problems += check_file(root, name)
    return problems, len(names)


if __name__ == "__main__":
    sources.finish("check_python", *check(sys.argv[1] if len(sys.argv) > 1 else sources.ROOT))
