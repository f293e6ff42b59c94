#!/usr/bin/env python3
"""Check that a name of the library means one thing.

    check_names.py [ROOT]

In src/ and include/, a type (struct, enum, union or typedef) or an enumerator whose name begins with leat_, leati_, LEAT_
or LEATI_ is defined once in the whole tree: layers forbid most of two meanings from meeting, a reader and a debugger meet
them all. Names without these beginnings belong to their file.
"""
import re
import sys

import sources

NAME = r"(leati?_\w+)"
TAGGED = re.compile(r"\b(?:struct|enum|union)\s+%s\s*\{" % NAME)
ALIAS = re.compile(r"\}\s*%s\s*;" % NAME)
POINTER = re.compile(r"\btypedef\b[^;{}]*?\(\s*\*\s*%s\s*\)\s*\(" % NAME)
PLAIN = re.compile(r"\btypedef\s+(?!struct\b|enum\b|union\b)[^;{}()]*?\b%s\s*;" % NAME)
FORWARD = re.compile(r"\btypedef\s+(?:struct|enum|union)\s+(\w+)\s+%s\s*;" % NAME)
ENUM = re.compile(r"\benum\b[^;{}()]*\{([^{}]*)\}")
ENUMERATOR = re.compile(r"(?:^|,)\s*(LEATI?_\w+)")


def definitions(code):
    """Yields (name, place in the text) of what C text defines; a typedef of its own tag counts once."""
    tags = {}
    for match in TAGGED.finditer(code):
        tags[match[1]] = match.start(1)
        yield match[1], match.start(1)
    for pattern in (ALIAS, POINTER, PLAIN):
        for match in pattern.finditer(code):
            if match[1] not in tags:
                yield match[1], match.start(1)
    for match in FORWARD.finditer(code):
        if match[1] != match[2]:
            yield match[2], match.start(2)
    for match in ENUM.finditer(code):
        for name in ENUMERATOR.finditer(match[1]):
            yield name[1], match.start(1) + name.start(1)


def check(root):
    problems, found = [], {}
    names = sources.c_files(root, "src", "include")
    for name in names:
        code = sources.bare(sources.read(root, name))
        for word, at in definitions(code):
            place = "%s:%d" % (name, code.count("\n", 0, at) + 1)
            if word in found:
                problems.append("%s: %s is defined at %s too" % (place, word, found[word]))
            else:
                found[word] = place
    return problems, len(names)


if __name__ == "__main__":
    sources.finish("check_names", *check(sys.argv[1] if len(sys.argv) > 1 else sources.ROOT))
