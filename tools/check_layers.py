#!/usr/bin/env python3
"""Check that includes point down, and that imports of the Python package do (python_layers.py).

    check_layers.py [ROOT]

A file of src/<room>/ includes its own room and rooms of lower floors, written as "room/file.h",
and the public headers as <leat/x.h>; unit tests may also include
"support/file.h" of tests/. The floors are
those of cmake/rooms.cmake, and so are the drawers of a room, which are floors inside of it: unit tests
may use all of their room. src/leat.c stands above every room but the tool. Public headers
include public headers and the C library only; examples include these and headers that lie beside them.

A line X(..., file, name) of a table that says files is right: below the folder of the table's name the file is there, and
every file there is said by a line.
"""
import re
import sys

import python_layers
import sources

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)
FLOOR = re.compile(r"set\(LEAT_FLOOR_(\w+) (\d+)\)")
DRAWERS = re.compile(r"set\(LEAT_DRAWERS_(\w+) ([^)]*)\)")
TABLES = ("src/graph/ops.def", *("src/train/%s.def" % kinds for kinds in (
    "initializers", "layers", "losses", "metrics", "optimizers", "schedules")))
LINE = re.compile(r"^X\(([\w, ]+), \w+\)", re.M)


def drawer_of(place):
    """The drawer of a path [room, ..., file]."""
    return place[1] if len(place) > 2 else "."


def check_drawer(drawers, name, target):
    """The complaint about an include within a room, target being [room, ..., file]; None where it points down."""
    order = drawers.get(target[0], [])
    own, other = drawer_of(name.split("/")[1:]), drawer_of(target)
    if not order or target[-1].endswith(".def"):
        return None
    for drawer in (own, other):
        if drawer not in order:
            return "%s/%s/ is no drawer of cmake/rooms.cmake" % (target[0], drawer)
    if name.endswith("_test.c") or order.index(own) >= order.index(other):
        return None
    return "%s/%s may not include %s: its drawer comes later in cmake/rooms.cmake" % (
        target[0], own, "/".join(target))


def check_room(floors, drawers, name, path):
    """The complaint about one quoted include of a file in src/, or None."""
    place = name.split("/")
    target = path.split("/")
    if name.endswith("_test.c") and target[0] == "support":
        return None
    if len(target) < 2:
        return 'write "%s" as "room/file.h"' % path
    if target[0] not in floors:
        return '"%s" is in no room of cmake/rooms.cmake' % path
    if len(place) == 2:                                      # src/leat.c
        return "only the tool may include %s/" % target[0] if target[0] == "cli" else None
    own = place[1]
    if own not in floors:
        return "src/%s/ is no room of cmake/rooms.cmake" % own
    if target[0] != own and floors[target[0]] >= floors[own]:
        return "%s (floor %d) may not include %s (floor %d)" % (own, floors[own], path, floors[target[0]])
    return check_drawer(drawers, name, target) if target[0] == own else None


def check_table(root, table, names):
    """Complaints about a table that says files, and about files that it does not say."""
    folder = table[:-len(".def")] + "/"
    said = {folder + path.replace(", ", "/") + ".c" for path in LINE.findall(sources.read(root, table))}
    there = {name for name in names if name.startswith(folder) and re.search(r"(?<!_test)\.c$", name)}
    return (["%s says %s, which is not there" % (table, name) for name in sorted(said - there)] +
            ["%s: no line of %s says it" % (name, table) for name in sorted(there - said)])


def check(root):
    rooms = sources.read(root, "cmake/rooms.cmake")
    floors = {room: int(floor) for room, floor in FLOOR.findall(rooms)}
    drawers = {room: names.split() for room, names in DRAWERS.findall(rooms)}
    problems = []
    names = sources.c_files(root, "src", "include", "examples")
    for name in names:
        text = sources.without_comments(sources.read(root, name))
        for match in INCLUDE.finditer(text):
            quote, path = match.groups()
            complaint = None
            if name.startswith("src/"):
                complaint = check_room(floors, drawers, name, path) if quote == '"' else None
            elif quote == '"' and not (name.startswith("examples/") and "examples/" + path in names):
                complaint = 'includes "%s"; only <leat/...> and the C library may be included here' % path
            if complaint:
                problems.append("%s:%d: %s" % (name, text.count("\n", 0, match.start()) + 1, complaint))
    for table in TABLES:
        problems += check_table(root, table, names) if table in sources.listed(root) else []
    more, looked_at = python_layers.check(root)
    return problems + more, len(names) + looked_at


if __name__ == "__main__":
    sources.finish("check_layers", *check(sys.argv[1] if len(sys.argv) > 1 else sources.ROOT))
