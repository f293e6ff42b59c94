#!/usr/bin/env python3
"""Check that the name of an internal function says where it is declared.

    check_prefixes.py [ROOT]

A function that a header below src/ declares is called leati_<place>_..., where <place> is the header's room, one of the
folders that it lies in, or the first words of the header's own name, in the singular or the plural (src/data/run/rows.h:
leati_data_, leati_run_, leati_rows_, leati_row_). Words that the rooms base and core begin names with are the vocabulary of
all others; there a function may begin with any word, as long as no function of another room begins with it. No function
has the name of a type, in whatever room.
"""
import re
import sys

import check_names
import sources

FUNCTION = re.compile(r"\bleati_(\w+)\s*\(")
VOCABULARY = ("base", "core")


def flat(code):
    """C text without what stands in braces: bodies of inline functions, members of structs."""
    kept, depth = [], 0
    for part in re.split(r"([{}])", code):
        depth += (part == "{") - (part == "}")
        kept.append(";" if part == "}" and depth == 0 else part if depth == 0 and part != "}" else sources.blank(part))
    return "".join(kept)


def declared(code):
    """Yields (name without leati_, place in the text) of the functions that a header declares or defines."""
    at = 0
    for statement in flat(code).split(";"):
        match = FUNCTION.search(statement)
        if match and not re.match(r"\s*typedef\b", statement) and "=" not in statement[:match.start()]:
            yield match[1], at + match.start()
        at += len(statement) + 1


def numbers(word):
    """A word, and what may be its singular or plural."""
    found = {word, word + "s"}
    for plural, singular in (("s", ""), ("ies", "y"), ("ves", "f"), ("ices", "ix")):
        if word.endswith(plural):
            found.add(word[:-len(plural)] + singular)
    return found


def places(name):
    """What names of functions in the header may begin with."""
    *folders, file = name.split("/")[1:]
    words = re.sub(r"_parts$", "", file[:-2]).split("_")
    found = set(folders)
    for count in range(1, len(words) + 1):
        found |= {"_".join(words[:count - 1] + [last]) for last in numbers(words[count - 1])}
    return found


def check(root):
    problems, found, users, types = [], [], {}, {}
    names = [name for name in sources.c_files(root, "src") if name.endswith(".h") and name.count("/") > 1]
    for name in names:
        code = sources.bare(sources.read(root, name))
        types.update((word, name) for word, _ in check_names.definitions(code))
        for function, at in declared(code):
            found.append((name, code.count("\n", 0, at) + 1, function))
            users.setdefault(function.split("_")[0], set()).add(name.split("/")[1])
    for name, line, function in found:
        if "leati_" + function in types:
            problems.append("%s:%d: leati_%s is a type in %s" % (name, line, function, types["leati_" + function]))
        if any(function == place or function.startswith(place + "_") for place in places(name)):
            continue
        room = name.split("/")[1]
        others = users[function.split("_")[0]].difference(VOCABULARY)
        if room not in VOCABULARY:
            problems.append("%s:%d: leati_%s begins with no place of its header" % (name, line, function))
        elif others:
            problems.append("%s:%d: leati_%s begins with a word of %s" % (name, line, function, ", ".join(sorted(others))))
    return problems, len(names)


if __name__ == "__main__":
    sources.finish("check_prefixes", *check(sys.argv[1] if len(sys.argv) > 1 else sources.ROOT))
