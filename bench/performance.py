#!/usr/bin/env python3
"""Measure what operators cost and what rewrites help, and write the tables of docs/PERFORMANCE.md: `make performance`.

    performance.py [--build build] [--seconds 0.5]

Only the parts between `<!-- operators -->` or `<!-- rewrites -->` and `<!-- end -->` are written.
"""
import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "PERFORMANCE.md")


def machine():
    """The day and the class of the machine: processor and cores, no name."""
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as info:
            model = re.search(r"model name\s*: (.*)", info.read())[1]
    except (OSError, TypeError):
        pass
    return "%s; %s, %d cores" % (datetime.date.today(), re.sub(r"\(R\)|\(TM\)| CPU| Processor", "", model).strip(),
                                 len(os.sched_getaffinity(0)))


def number(value):
    return "%.0f" % value if value >= 100 else "%.1f" % value if value >= 10 else "%.2f" % value


def part_of(name, text):
    """The match of a part of the page: its first mark, what lies between, its last."""
    found = re.search(r"(<!-- %s -->\n)(.*?)(<!-- end -->)" % name, text, re.S)
    if not found:
        sys.exit("performance: docs/PERFORMANCE.md has no part %s" % name)
    return found


def read_part(name):
    with open(PAGE, encoding="utf-8") as file:
        return part_of(name, file.read())[2]


def write_part(name, lines):
    """Puts `lines` between the marks of a part."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    found = part_of(name, text)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text[:found.start(2)] + "\n" + "\n".join(lines) + "\n\n" + text[found.start(3):])


def operators(found):
    lines = ["Measured on " + machine() + ".", "", "| operator | ns per element | with its inputs |", "|---|---|---|"]
    for one in found:
        lines.append("| %s | %s | |" % (one["operator"], one["reason"]) if "reason" in one else "| %s | %s | %s |" % (
            one["operator"], number(one["ns"]), number(one["ns_with_inputs"])))
    return lines


def rewrites(found):
    lines = ["Measured on " + machine() + ".", "", "| rewrite | ns per element with it | without | times as fast |", "|---|---|---|---|"]
    for one in found:
        lines.append("| %s | %s | | |" % (one["rewrite"], one["reason"]) if "reason" in one else "| %s | %s | %s | %.2f |" % (
            one["rewrite"], number(one["ns_with"]), number(one["ns_without"]), one["ratio"]))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--seconds", type=float, default=0.5)
    args = parser.parse_args()
    done = subprocess.run([os.path.join(args.build, "bench", "leat_operators"), str(args.seconds)], stdout=subprocess.PIPE,
                          text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    write_part("operators", operators([one for one in found if "operator" in one]))
    write_part("rewrites", rewrites([one for one in found if "rewrite" in one]))


if __name__ == "__main__":
    main()
