#!/usr/bin/env python3
"""Check that nothing is decided by a text that only tables, or people, should read.

Names: an operator, an operation, a codec or a strategy is known by its descriptor. What others ask
about it is a field there; a rule that is about one of them compares descriptors. So `op->name`
stands in no comparison but those that look a name up (LOOKUPS), and no `name` of anything is
compared with a word that stands in the code.

Wording: an error has a code, a reason and a place; the library compares no error's text. How often all tests together do
is counted in WORDING_IN_TESTS, which may only fall.
"""
import re

import sources

LOOKUPS = {"src/data/plan/table.c", "src/graph/table.c"}
WORDING_IN_TESTS = 418
COMPARES = r"\b(?:strn?cmp|strn?casecmp|str(?:case)?str|strchr|memcmp|memmem|assert_(?:string|memory)_equal)\s*\("
CALL = re.compile(COMPARES)
DESCRIPTOR = re.compile(r"\bop(?:->|\.)name\b")
NAME = re.compile(r"(?:->|\.)name\s*(?:[,)]|$)")
WORD = re.compile(r'"[A-Za-z]')
TEXT = re.compile(r"\b(?:e|err|errors?(?:\[\w+\])?|local|why|failure|failed|outcome|stop)(?:->|\.)text\b")


def calls(code):
    """Yield (line, arguments) of every comparison of texts in C text without comments."""
    for match in CALL.finditer(code):
        depth, at, quoted = 1, match.end(), ""
        while depth and at < len(code):
            if code[at] in ("\"", "'") and code[at - 1] != "\\" and quoted in ("", code[at]):
                quoted = "" if quoted else code[at]
            elif not quoted:
                depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        yield code.count("\n", 0, match.start()) + 1, code[match.end():at - 1]


def check(root):
    problems, wording, in_tests = [], {}, 0
    names = sources.c_files(root, "src", "python/native", "tests", "bench")
    for name in names:
        is_test = not name.startswith(("src/", "python/")) or name.endswith("_test.c")
        for line, arguments in calls(sources.without_comments(sources.read(root, name))):
            if TEXT.search(arguments):
                wording.setdefault(name, []).append(line)
                in_tests += is_test
            if is_test or name in LOOKUPS:
                continue
            if DESCRIPTOR.search(arguments) or NAME.search(arguments) and WORD.search(arguments):
                problems.append("%s:%d: decides by a name; ask a field of the descriptor, or compare descriptors"
                                % (name, line))
    for name, lines in sorted(wording.items()):
        is_test = not name.startswith(("src/", "python/")) or name.endswith("_test.c")
        if not is_test:
            problems.append("%s:%d: decides by an error's wording; ask for its code or reason" % (name, lines[-1]))
    if in_tests > WORDING_IN_TESTS:
        problems.append("tests compare the wording of errors %d times; at most %d" % (in_tests, WORDING_IN_TESTS))
    return problems, len(names)


if __name__ == "__main__":
    import argparse
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("root", nargs="?", default=sources.ROOT)
    sources.finish("check_strings", *check(parser.parse_args().root))
