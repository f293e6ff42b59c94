#!/usr/bin/env python3
"""Check the sizes: files of at most 600 lines, functions of at most 60 lines and complexity 20.

    check_size.py [--list N] [ROOT]        --list: print the N most complex functions instead

Complexity is McCabe's, modified: one, and one more for each if, for, while, switch, &&, || and ?;
the cases of a switch are free, as a flat table of them is easy to read. The limits are turned
down as the code allows, never up.
"""
import argparse
import re

import sources

FILE_LINES, FUNCTION_LINES, COMPLEXITY = 600, 60, 20
FOLDERS = ("src", "include", "tests", "examples", "bench", "tools", "fuzz", "python")
BRANCH = re.compile(r"\b(?:if|for|while|switch)\b|&&|\|\||\?")
HEAD = re.compile(r"\b(\w+)\s*\($")


def functions(text):
    """Yield (name, first line, lines, complexity) of each function in C text."""
    code = re.sub(r'extern\s*""\s*\{', lambda m: m[0].replace("{", ";"), sources.bare(text))
    depth = start = head = 0
    for match in re.finditer(r"[{};]", code):
        at, mark = match.start(), match[0]
        if mark == "{":
            if depth == 0:
                head, start = start, at
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                found = signature(code[head:start])
                if found:
                    name, offset = found
                    first = code.count("\n", 0, head + offset) + 1
                    last = code.count("\n", 0, at) + 1
                    yield name, first, last - first + 1, 1 + len(BRANCH.findall(code[start:at]))
                start = at + 1
        elif depth == 0:
            start = at + 1


def signature(head):
    """The name of the function whose body follows head, and where its declaration starts; None for data."""
    text = head.rstrip()
    if not text.endswith(")") or "=" in text:
        return None
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth == 0:
            name = HEAD.search(text[:at + 1])
            return (name[1], len(head) - len(head.lstrip())) if name else None
    return None


def check(root):
    problems, found = [], []
    names = sources.c_files(root, *FOLDERS)
    scripts = [n for n in sources.listed(root) if n.endswith((".py", ".sh", ".cmake", ".def"))]
    for name in names + scripts:
        text = sources.read(root, name)
        if text.count("\n") > FILE_LINES:
            problems.append("%s: %d lines; at most %d" % (name, text.count("\n"), FILE_LINES))
        if name not in names:
            continue
        for function, line, lines, complexity in functions(text):
            found.append((complexity, lines, "%s:%d: %s" % (name, line, function)))
            if lines > FUNCTION_LINES:
                problems.append("%s:%d: %s has %d lines; at most %d" % (name, line, function, lines, FUNCTION_LINES))
            if complexity > COMPLEXITY:
                problems.append("%s:%d: %s has complexity %d; at most %d" % (name, line, function, complexity, COMPLEXITY))
    return problems, len(names), found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=int, default=0)
    parser.add_argument("root", nargs="?", default=sources.ROOT)
    args = parser.parse_args()
    problems, count, found = check(args.root)
    if args.list:
        for complexity, lines, where in sorted(found, reverse=True)[:args.list]:
            print("%4d %4d lines  %s" % (complexity, lines, where))
        return
    sources.finish("check_size", problems, count)


if __name__ == "__main__":
    main()
