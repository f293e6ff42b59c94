"""Makes a program that differs as small as it gets while it differs in the same way.

`shrink(program, differs, most)` asks `differs(candidate)` of smaller and smaller candidates, `most` times, and keeps those that still differ.
"""
import copy
import itertools

import programs


# Arguments without which a program would be left to chance, or print: they stay.
KEPT = {"shuffle", "seed", "verbose", "training"}


def without(items, at):
    return items[:at] + items[at + 1:]


def variables(expr, found):
    """Adds the variables that an expression refers to."""
    if isinstance(expr, list):
        if len(expr) == 2 and expr[0] == "ref":
            found.add(expr[1])
        for one in expr:
            variables(one, found)
    return found


def used(program):
    """The program without statements that make what nothing takes."""
    needed = set(program["show"])
    for _, expr in program["values"] + program["body"] + [["", program.get("wrt") or []]]:
        variables(expr, needed)
    return {**program, "values": [one for one in program["values"] if one[0] is None or one[0] in needed]}


def places(expr, path=()):
    """The paths to all expressions within an expression, outermost first."""
    if isinstance(expr, list):
        if expr and isinstance(expr[0], str) and (expr[0] in programs.SOURCES or expr[0] in ("py", "tensor", "array", "call")):
            yield path
        for at, one in enumerate(expr):
            yield from places(one, path + (at,))


def at_path(expr, path):
    for at in path:
        expr = expr[at]
    return expr


def replaced(expr, path, new):
    if not path:
        return new
    return expr[:path[0]] + [replaced(expr[path[0]], path[1:], new)] + expr[path[0] + 1:]


def rows(shape, data, axis, at):
    """Shape and data of an array of which row `at` of an axis is left."""
    inner = 1
    for size in shape[axis + 1:]:
        inner *= size
    block = inner * shape[axis]
    starts = range(at * inner, len(data), block or 1)
    return shape[:axis] + [1] + shape[axis + 1:], [one for start in starts for one in data[start:start + inner]]


def together(program):
    """All arrays of one shape with the same row of an axis: what must match still does."""
    shapes = {}
    for part in ("values", "body"):
        for at, (_, expr) in enumerate(program[part]):
            for path in places(expr):
                found = at_path(expr, path)
                if found[0] in ("tensor", "array"):
                    shapes.setdefault(tuple(found[2]), []).append((part, at, path))
    for shape, where in shapes.items():
        for axis, size in enumerate(shape if len(where) > 1 else ()):
            for row in sorted({0, size - 1} if size > 1 else ()):
                best = {**program, "values": list(program["values"]), "body": list(program["body"])}
                for part, at, path in where:
                    name, expr = best[part][at]
                    what, dtype, _, data = at_path(expr, path)
                    best[part][at] = [name, replaced(expr, path, [what, dtype, *rows(list(shape), data, axis, row)])]
                yield best


def smaller_tensor(expr):
    what, dtype, shape, data = expr
    if dtype not in ("float32", "string", "int32", "bool") and not dtype.startswith("complex"):
        yield [what, "int32" if "int" in dtype else "float32", shape, data]
    if dtype == "string":
        return
    zero = [0.0, 0.0] if dtype.startswith("complex") else False if dtype == "bool" else 0.0 if "float" in dtype else 0
    one = [1.0, 0.0] if dtype.startswith("complex") else True if dtype == "bool" else 1.0 if "float" in dtype else 1
    for fill in (one, zero):
        if any(value != fill for value in data):
            yield [what, dtype, shape, [fill] * len(data)]
    for axis, size in enumerate(shape):
        for at in sorted({0, size // 2, size - 1} if size > 1 else ()):
            yield [what, dtype, *rows(shape, data, axis, at)]
        if size == 1:
            yield [what, dtype, without(shape, axis), data]
    if len(data) <= 8:
        for at, value in enumerate(data):
            if value not in (zero, one):
                yield [what, dtype, shape, data[:at] + [one] + data[at + 1:]]


def smaller(expr):
    """Simpler forms of one expression."""
    if expr[0] in ("tensor", "array"):
        yield from smaller_tensor(expr)
    elif expr[0] == "call":
        for at, (word, _) in enumerate(expr[3]):
            if word not in KEPT:
                yield [*expr[:3], without(expr[3], at)]
        if len(expr[2]) > 1:
            yield [*expr[:2], expr[2][:-1], expr[3]]
    elif expr[0] in ("list", "tuple", "dict") and len(expr[1]) > 1:
        for at in range(len(expr[1])):
            yield [expr[0], without(expr[1], at)]
    elif expr[0] == "py" and isinstance(expr[1], (int, float)) and not isinstance(expr[1], bool) and expr[1] not in (0, 1):
        yield ["py", type(expr[1])(1)]


def chained(statement):
    """A chain of methods without one of its links."""
    name, expr = statement
    link, path = expr, ()
    while link[0] == "call" and link[1][0] == "attr" and link[1][1][0] == "call":
        yield [name, replaced(expr, path, link[1][1])]
        path += (1, 1)
        link = link[1][1]


def candidates(program):
    """Smaller programs, those that save most first."""
    if program["mode"] in programs.WRAPPED:
        yield {**program, "mode": "eager", "wrt": None}
    for at in reversed(range(len(program["body"]))):
        if program["body"][at][0] not in program["show"]:
            yield {**program, "body": without(program["body"], at)}
    for at, (name, _) in enumerate(program["values"]):
        if name is None:
            yield {**program, "values": without(program["values"], at)}
    for at, name in enumerate(program["show"]):
        if len(program["show"]) > 1:
            yield {**program, "show": without(program["show"], at), "body": [one for one in program["body"] if one[0] != name]}
    for part in ("values", "body"):
        for at, statement in enumerate(program[part]):
            for other in chained(statement):
                yield {**program, part: program[part][:at] + [other] + program[part][at + 1:]}
    yield from together(program)
    for part in ("values", "body"):
        for at, (name, expr) in enumerate(program[part]):
            for path in places(expr) if name != "matrix" else ():    # one of equal numbers has no single answer
                for new in smaller(at_path(expr, path)):
                    other = [name, replaced(expr, path, new)]
                    yield {**program, part: program[part][:at] + [other] + program[part][at + 1:]}


def shrink(program, differs, most=60):
    """The smallest program found that still differs, by at most so many questions.

    What was tried in vain is tried again only when all the rest has been: a program has many parts, and few of them matter.
    """
    best, asked, place, shrunk = used(copy.deepcopy(program)), 0, 0, False
    if not programs.same(best, program) and not differs(best):
        best = program
    while asked < most:
        candidate = next(itertools.islice(candidates(best), place, None), None)
        if candidate is None and not shrunk:
            break
        if candidate is None:
            place, shrunk = 0, False
            continue
        asked += 1
        candidate = used(candidate)
        if differs(candidate):
            best, shrunk = candidate, True
        else:
            place += 1
    return best
