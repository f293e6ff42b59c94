"""What the pages (*.md) point to: links, and the names of files in backquotes.

    [`leati_ring_pull`](../src/data/ahead/ring.c)   the file is there, and the symbol occurs in it
    `src/data/ahead/ring.c`, `data/ahead/ring`      the file is there; rooms may leave out src/, and files .c, .h or .def

A name in backquotes counts as a file's where it has a slash and begins with a folder of the tree or, on the pages of the
root and of docs/, with a room.
"""
import os
import re

import doc_blocks
import sources

LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<to>[^()\s]+)\)")
SYMBOL = re.compile(r"`(\w+)(?:\(\))?`")
QUOTED = re.compile(r"`([\w.-]+(?:/[\w.-]+)+/?)`")
ENDINGS = ("", ".c", ".h", ".def", ".cc", ".py")
FOLDERS = ("bench", "changes", "cmake", "data", "docs", "examples", "include", "python", "src", "tests", "tools")


def prose(text):
    """The page without its blocks of code."""
    return doc_blocks.FENCE.sub(lambda match: sources.blank(match[0]), text)


def exists(root, name):
    return any(os.path.exists(os.path.join(root, name.rstrip("/") + ending)) for ending in ENDINGS)


def check_link(root, page, text, to):
    """What is wrong with a link: None, or a text."""
    if re.match(r"[a-z]+:|#", to):
        return None
    name = os.path.normpath(os.path.join(os.path.dirname(page), to.partition("#")[0]))
    path = os.path.join(root, name)
    if not os.path.exists(path):
        return "the link goes to %s, which is not there" % name
    if os.path.isfile(path):
        content = sources.read(root, name)
        for symbol in SYMBOL.findall(text):
            if not re.search(r"\b%s\b" % symbol, content):
                return "%s has no %s" % (name, symbol)
    return None


def check_quoted(root, page, name, rooms):
    """What is wrong with the name of a file: None, or a text. Beside the page counts, too."""
    first = name.split("/")[0]
    if first not in FOLDERS and (first not in rooms or os.path.dirname(page).split("/")[0] not in ("", "docs")):
        return None
    places = (name, "src/" + name, os.path.join(os.path.dirname(page), name), "include/" + name)
    return None if any(exists(root, place) for place in places) else "there is no file %s" % name


def check(root, pages=None):
    """What is wrong with links and names of files on the pages (all of them)."""
    src = os.path.join(root, "src")
    rooms = set(os.listdir(src)) if os.path.isdir(src) else set()
    problems = []
    for page in doc_blocks.pages(root) if pages is None else pages:
        text = prose(sources.read(root, page))
        found = [(m.start(), check_link(root, page, m["text"], m["to"])) for m in LINK.finditer(text)]
        found += [(m.start(), check_quoted(root, page, m[1], rooms)) for m in QUOTED.finditer(text)]
        problems += ["%s:%d: %s" % (page, text.count("\n", 0, at) + 1, what) for at, what in sorted(found, key=lambda f: f[0])
                     if what is not None]
    return problems
