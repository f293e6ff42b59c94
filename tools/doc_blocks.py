"""The code blocks of the pages (*.md), for the tests that run them and the check that none is left out.

A block is fenced, and the line that opens it says what it is:

    ```python            run, the blocks of a page one after the other in one namespace (python/tests/test_docs.py)
    ```sh                run by bash, likewise in one folder (tests/cli/docs_test.py), as are the next two
    ```c                 a whole program: compiled and run
    ```json              read; a pipeline is run by `leat run`
    ```c from FILE       an excerpt: it stands in that file, which is compiled (any language)
    ```output            what the block above prints, to the letter
    ```text              no code: a drawing, a layout, a synopsis
    ```sh not-run: WHY   code that no test runs, and the reason
    ```python needs: X   run where the module X is installed
    ```sh needs: X       likewise, among the page's Python blocks, with the package and the tool at hand
"""
import collections
import re

import sources

RUN = ("python", "sh", "c", "json")
OTHER = ("output", "text")
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=indent)```[ ]*$", re.M | re.S)
LIST_ITEM = re.compile(r"^ *(?:[*+-]|\d+\.) ")

Block = collections.namedtuple("Block", "page line language source reason needs text output")


def pages(root=sources.ROOT):
    """The pages of the project."""
    return [name for name in sources.listed(root) if name.endswith(".md")]


def blocks(page, text):
    """The blocks of a page in their order. source: the file of an excerpt; reason: why it is not run; needs: a module;
    output: what it must print, None where that is not said."""
    found = []
    for match in FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        indent = len(match["indent"])
        code = "".join(line[indent:] if line.strip() else line for line in match["text"].splitlines(True))
        line = text.count("\n", 0, match.start("text")) + 1
        if language == "output" and found:
            found[-1] = found[-1]._replace(output=code)
            continue
        kind, _, value = rest.partition(" ")
        found.append(Block(page, line, language, value if kind == "from" else None,
                           value.strip() if kind == "not-run:" else None, value if kind == "needs:" else None, code, None))
    return found


def all_blocks(root=sources.ROOT):
    """The blocks of all pages."""
    return [block for page in pages(root) for block in blocks(page, sources.read(root, page))]


def runs(block, language):
    """Whether a test has to run this block, as a program of the language."""
    return block.language == language and block.source is None and block.reason is None


def check(root):
    """What is wrong with the pages' blocks: code without a fence, a language that no test knows, a mark without a reason."""
    problems = []
    for page in pages(root):
        text = sources.read(root, page)
        problems += ["%s:%d: code that is only indented; fence it with ``` and its language" % (page, line)
                     for line in indented(text)]
        for match in FENCE.finditer(text):
            where = "%s:%d: " % (page, text.count("\n", 0, match.start()) + 1)
            words = match["info"].split()
            if not words or words[0] not in RUN + OTHER:
                problems.append(where + "a block of language %r; expected %s" % (" ".join(words), " ".join(RUN + OTHER)))
            elif len(words) > 1 and (words[0] in OTHER or words[1] not in ("from", "not-run:", "needs:") or len(words) == 2):
                problems.append(where + "expected `from FILE`, `needs: X` or `not-run: WHY`, found %r" % " ".join(words[1:]))
    return problems


def indented(text):
    """The lines at which Markdown begins a block of code by four spaces alone, outside of fences and lists."""
    text = FENCE.sub(lambda match: sources.blank(match[0]), text)
    found, blank, in_list, in_code = [], True, False, False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            blank = True
            continue
        deep = line.startswith("    ")
        if deep and blank and not in_list and not in_code:
            found.append(number)
        in_code = deep and (in_code or blank)
        if LIST_ITEM.match(line):
            in_list = True
        elif not line.startswith(" "):
            in_list = False
        blank = False
    return found
