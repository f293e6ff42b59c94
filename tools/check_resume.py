#!/usr/bin/env python3
"""Check that every dataset operator says how it is saved, and that docs/RESUME.md prints it.

    check_resume.py [--fix] [ROOT]     --fix: write the page's table anew

An operator is a line of src/data/ops.def; the text is what its descriptor's .doc says from the word "saved" on.
"""
import argparse
import os
import re

import sources

TABLE, PAGE = "src/data/ops.def", "docs/RESUME.md"
BEGIN = "<!-- operators: written by tools/check_resume.py --fix -->\n"
END = "<!-- end of operators -->\n"
LITERAL = r'"((?:[^"\\]|\\.)*)"'


def said(text):
    """What the last .doc of a file says about saving; None where it says nothing."""
    docs = re.findall(r"\.doc =\s*((?:%s\s*)+)" % LITERAL.replace("(", "(?:", 1), text)
    whole = "".join(re.findall(LITERAL, docs[-1])) if docs else ""
    found = re.search(r"\bsaved\b.*", whole, re.I)
    return found.group(0)[0].upper() + found.group(0)[1:] if found else None


def check(root, fix):
    names = re.findall(r"^X\((\w+)\)", sources.read(root, TABLE), re.M)
    problems, lines = [], ["| operator | how it is saved, and what restoring costs |", "|---|---|"]
    for name in names:
        path = "src/data/ops/%s.c" % name
        text = said(sources.read(root, path))
        if text is None:
            problems.append(path + ": the descriptor's doc does not say how the operator is saved")
        else:
            lines.append("| %s | %s |" % (name, text))
    page = sources.read(root, PAGE)
    if BEGIN not in page or END not in page:
        return problems + [PAGE + ": the markers of its table are missing"], len(names)
    head, rest = page.split(BEGIN, 1)
    whole = head + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + rest.split(END, 1)[1]
    if whole != page and fix:
        with open(os.path.join(root, PAGE), "w", encoding="utf-8") as file:
            file.write(whole)
    elif whole != page:
        problems.append(PAGE + ": is not current; run tools/check_resume.py --fix")
    return problems, len(names)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("root", nargs="?", default=sources.ROOT)
    given = parser.parse_args()
    sources.finish("check_resume", *check(given.root, given.fix))
