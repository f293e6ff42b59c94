#!/usr/bin/env python3
"""Print what changed since the last release: the fragments in changes/, in the order in which CHANGELOG.md links them.

    changelog.py [ROOT]

A fragment is a title (`# Datasets`) and a list (`- ` and lines that go on two columns further in). One without items is
left out. A fragment without a link, a link without a fragment and text outside of the list are mistakes.
"""
import os
import re
import sys

import sources

LINK = re.compile(r"\]\(changes/([\w-]+)\.md\)")
VERSION = re.compile(r"#define LEAT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)")


def fragment(root, topic):
    """The title of a fragment, its items as one text, and what is wrong with it."""
    name = "changes/%s.md" % topic
    if not os.path.isfile(os.path.join(root, name)):
        return topic, "", ["CHANGELOG.md links %s, which is not there" % name]
    first, _, rest = sources.read(root, name).partition("\n")
    problems = [] if re.match(r"# \S", first) else [name + ":1: expected a title such as `# Datasets`"]
    in_item = False
    for number, line in enumerate(rest.split("\n"), 2):
        in_item = line.startswith("- ") or in_item and line.startswith("  ")
        if line and not in_item:
            problems.append("%s:%d: expected `- ` or the next line of an item" % (name, number))
    return first[2:], rest.strip("\n"), problems


def assemble(root):
    """The text of the next release, and what is wrong with the fragments."""
    topics = LINK.findall(sources.read(root, "CHANGELOG.md"))
    there = [name for name in sources.listed(root) if re.fullmatch(r"changes/[\w-]+\.md", name)]
    problems = ["%s: CHANGELOG.md has no link to it" % name for name in there if name[8:-3] not in topics]
    text = "## %s\n" % ".".join(VERSION.findall(sources.read(root, "include/leat/base.h")))
    for topic in topics:
        title, items, wrong = fragment(root, topic)
        problems += wrong
        if items:
            text += "\n### %s\n\n%s\n" % (title, items)
    return text, problems


if __name__ == "__main__":
    release, mistakes = assemble(sys.argv[1] if len(sys.argv) > 1 else sources.ROOT)
    if mistakes:
        sys.exit("\n".join(mistakes))
    print(release, end="")
