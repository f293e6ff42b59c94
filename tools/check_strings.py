#!/usr/bin/env python3
"""Check that nothing is decided by a text that only tables, or people, should read.

Names: an operator, an operation, a codec or a strategy is known by its descriptor. What others ask
about it is a field there; a rule that is about one of them compares descriptors. So `op->name`
stands in no comparison but those that look a name up (LOOKUPS), and no `name` of anything is
compared with a word that stands in the code.

Wording: an error has a code, a reason and a place; neither the library nor a test compares an error's text, but for the
tests of how it is put together (SENTENCES). C tests ask by tests/support/refused.h, which takes one keyword and no phrase.
Python tests ask for the class, the fields and one keyword, TensorFlow's and Keras' texts among them (tools/phrases.py);
what is a printed report of values, and no sentence, stands in REPORTS.
"""
import re

import phrases
import sources

LOOKUPS = {"src/data/plan/table.c", "src/graph/table.c"}
SENTENCES = {
    "src/base/error_test.c": "how a sentence is composed of message, place and context",
    "src/base/text_test.c": "how context is put in front, and how long texts are cut",
}
REPORTS = {
    ("python/tests/test_debugging.py", "test_texts_of_failed_assertions"):
        "assertions print the values that they compared, line by line as TensorFlow prints them",
    ("tests/cli/launch_test.py", "test_streams"): "what a program itself prints goes through",
}
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
    for name in python:
        problems.extend("%s:%d: compares several words of an error's text; ask for its class, its fields and one keyword"
                        % (name, line) for line, function in phrases.phrases(sources.read(root, name))
                        if (name, function) not in REPORTS)
    return problems, len(names) + len(python)


if __name__ == "__main__":
    import argparse
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("root", nargs="?", default=sources.ROOT)
    sources.finish("check_strings", *check(parser.parse_args().root))
