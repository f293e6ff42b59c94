#!/usr/bin/env python3
"""Check the list of deviations from TensorFlow, and that docs/COMPATIBILITY.md prints it.

    check_deviations.py [--fix] [ROOT]     --fix: write the page's section anew

A line of `recorded` must match at least one recorded case and have members of its own in `expect`;
a line of `unrecorded` must name a test that is there: a case of a JSON file, or a function of a C
test. The golden runner checks the rest: that leat gives what the list says, and that TensorFlow
does not.
"""
import argparse
import fnmatch
import json
import os

import sources

LIST, CASES, PAGE = "tests/golden/deviations.json", "tests/golden/data", "docs/COMPATIBILITY.md"
BEGIN = "<!-- deviations: written by tools/check_deviations.py --fix -->\n"
END = "<!-- end of deviations -->\n"


def case_names(path):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    cases = found["cases"] if isinstance(found, dict) else found
    return [case.get("name", "case_%d" % i) for i, case in enumerate(cases)]


def check_line(root, line, classes, recorded):
    where = "%s: %s %s: " % (LIST, line["file"], line["case"])
    if line["class"] not in classes:
        return [where + "unknown class " + line["class"]]
    path = os.path.join(root, CASES if recorded else ".", line["file"])
    if not os.path.isfile(path):
        return [where + "there is no such file"]
    if recorded and not line.get("expect"):
        return [where + "no answer of its own in expect"]
    if path.endswith(".c"):
        found = "void %s(" % line["case"] in sources.read(root, line["file"])
    else:
        found = any(fnmatch.fnmatchcase(name, line["case"]) for name in case_names(path))
    return [] if found else [where + "no such case"]


def section(listed):
    """The generated part of the page: per class what it means, and a table."""
    out = []
    for name, meaning in listed["classes"].items():
        lines = [line for kind in ("recorded", "unrecorded") for line in listed[kind] if line["class"] == name]
        out += ["### %s%s\n" % (name[0].upper(), name[1:]), meaning + "\n", "| what | tested by |", "|---|---|"]
        places = {}
        for line in lines:
            places.setdefault(line["reason"], []).append("`%s` %s" % (line["file"], line["case"]))
        out += ["| %s | %s |" % (reason, "; ".join(cases)) for reason, cases in places.items()]
        out.append("")
    count = "%d lines stand for recorded cases that leat answers otherwise, %d for what TensorFlow has no recorded answer to."
    return "\n".join([count % (len(listed["recorded"]), len(listed["unrecorded"])), "", *out])


def check(root, fix):
    listed = json.loads(sources.read(root, LIST))
    problems = []
    for kind in ("recorded", "unrecorded"):
        for line in listed[kind]:
            problems += check_line(root, line, listed["classes"], kind == "recorded")
    text = sources.read(root, PAGE)
    if BEGIN not in text or END not in text:
        return problems + [PAGE + ": the markers of its generated section are missing"], 2
    head, rest = text.split(BEGIN, 1)
    whole = head + BEGIN + "\n" + section(listed) + "\n" + END + rest.split(END, 1)[1]
    if whole != text and fix:
        with open(os.path.join(root, PAGE), "w", encoding="utf-8") as file:
            file.write(whole)
    elif whole != text:
        problems.append(PAGE + ": is not current; run tools/check_deviations.py --fix")
    return problems, 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("root", nargs="?", default=sources.ROOT)
    given = parser.parse_args()
    sources.finish("check_deviations", *check(given.root, given.fix))
