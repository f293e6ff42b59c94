#!/usr/bin/env python3
"""Check that every prototype of the public headers is documented, that every code block of the pages says what it is, and that
the files and symbols they point to are there.

    check_docs.py [ROOT]

A prototype is documented by a comment that starts at the margin of the same paragraph: between
the two there is no blank line. So a comment may cover a group of prototypes, or an options struct
and the function that takes it. A prototype that is neither LEAT_API nor static is a mistake too:
nobody could call it. How a block of a page is marked: doc_blocks.py; what counts as pointing to a file: doc_links.py.
"""
import re
import sys

import doc_blocks
import doc_links
import sources

# A declaration at file level: everything up to the semicolon, or up to the body of an inline function.
PROTOTYPE = re.compile(r"^(?!typedef\b)([A-Za-z_][^;{}=]*?\b(\w+)\s*\([^;{}]*\))\s*(?:LEAT_\w+(?:\([^)]*\))?\s*)*[;{]", re.M | re.S)


def check_header(name, text):
    problems = []
    code = sources.TOKEN.sub(lambda m: m[0] if m["text"] else re.sub(r"[^\n]", " ", m[0]), text)
    code = sources.DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), code)
    for match in PROTOTYPE.finditer(code):
        if inside(code, match.start()):
            continue
        paragraph = re.split(r"\n[ \t]*\n", text[:match.start()])[-1]
        where = "%s:%d: %s" % (name, text.count("\n", 0, match.start()) + 1, match[2])
        if not re.search(r"^(?:/\*|//)", paragraph, re.M):
            problems.append(where + " has no comment directly before it")
        if not match[1].startswith(("LEAT_API", "static")):
            problems.append(where + " is not marked LEAT_API")
    return problems


def inside(code, position):
    """Whether a position is within a struct, an enum or a body; extern "C" does not count."""
    before = re.sub(r'extern\s+"C"\s*\{', "", code[:position])
    return before.count("{") > before.count("}")


def check(root):
    problems = []
    names = sources.c_files(root, "include")
    for name in names:
        problems += check_header(name, sources.read(root, name))
    return problems + doc_blocks.check(root) + doc_links.check(root), len(names)


if __name__ == "__main__":
    sources.finish("check_docs", *check(sys.argv[1] if len(sys.argv) > 1 else sources.ROOT))
