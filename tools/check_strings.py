#!/usr/bin/env python3
"""Check that nothing is decided by a text that only tables, or people, should read.

Names: an operator, an operation, a codec or a strategy is known by its descriptor. What others ask
about it is a field there; a rule that is about one of them compares descriptors. So `op->name`
stands in no comparison but those that look a name up (LOOKUPS), and no `name` of anything is
compared with a word that stands in the code.

Wording: an error has a code, a reason and a place; neither the library nor a C test compares an error's text, but for the
tests of how it is put together (SENTENCES). C tests ask by tests/support/refused.h, which takes one keyword and no phrase.
How often Python's tests look for a phrase, TensorFlow's and Keras' among them, is counted in PHRASES_IN_PYTHON, which may
only fall.
"""
import ast
import re

import sources

LOOKUPS = {"src/data/plan/table.c", "src/graph/table.c"}
SENTENCES = {
    "src/base/error_test.c": "how a sentence is composed of message, place and context",
    "src/base/text_test.c": "how context is put in front, and how long texts are cut",
}
PHRASES_IN_PYTHON = 359
PYTHON_TESTS = ("python/", "tests/")
COMPARES = r"\b(?:strn?cmp|strn?casecmp|str(?:case)?str|strchr|memcmp|memmem|assert_(?:string|memory)_equal)\s*\("
CALL = re.compile(COMPARES)
DESCRIPTOR = re.compile(r"\bop(?:->|\.)name\b")
NAME = re.compile(r"(?:->|\.)name\s*(?:[,)]|$)")
WORD = re.compile(r'"[A-Za-z]')
TEXT = re.compile(r"\b(?:e|err|errors?(?:\[\w+\])?|local|why|failure|failed|outcome|stop)(?:->|\.)text\b|\bleat_error_message\(")


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


def compares_wording(arguments):
    """Is an error's text compared, with something else than another error's?"""
    return len(TEXT.findall(arguments)) == 1


def phrase(node):
    """Does an expression hold a literal of several words?"""
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value.strip()
               for part in ast.walk(node))


def phrases(code):
    """The lines of Python in which an exception's text is compared with a phrase."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "match" and phrase(keyword.value):
                    yield keyword.value.lineno
        elif isinstance(node, ast.Compare):
            texts = [side for side in (node.left, *node.comparators)
                     if isinstance(side, ast.Call) and isinstance(side.func, ast.Name) and side.func.id == "str"]
            if texts and any(phrase(side) for side in (node.left, *node.comparators)):
                yield node.lineno


def check(root):
    problems = []
    names = sources.c_files(root, "src", "python/native", "tests", "bench")
    for name in names:
        is_test = not name.startswith(("src/", "python/")) or name.endswith("_test.c")
        for line, arguments in calls(sources.without_comments(sources.read(root, name))):
            if compares_wording(arguments) and name not in SENTENCES:
                problems.append("%s:%d: compares an error's wording; ask for its code, reason and a keyword"
                                % (name, line))
            if is_test or name in LOOKUPS:
                continue
            if DESCRIPTOR.search(arguments) or NAME.search(arguments) and WORD.search(arguments):
                problems.append("%s:%d: decides by a name; ask a field of the descriptor, or compare descriptors"
                                % (name, line))
    python = [name for name in sources.listed(root) if name.endswith(".py") and name.startswith(PYTHON_TESTS)]
    found = [(name, line) for name in python for line in phrases(sources.read(root, name))]
    if len(found) > PHRASES_IN_PYTHON:
        problems.append("%s:%d: tests look for phrases in exceptions %d times; at most %d"
                        % (*found[-1], len(found), PHRASES_IN_PYTHON))
    return problems, len(names) + len(python)


if __name__ == "__main__":
    import argparse
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("root", nargs="?", default=sources.ROOT)
    sources.finish("check_strings", *check(parser.parse_args().root))
