#!/usr/bin/env python3
"""Check that `leat_error *err` is never NULL inside of the library.

    check_errors.py [ROOT]

Callers of a public function may give NULL; so each that takes an `err` to write begins with LEATI_ERROR_DOOR(err), which
puts a record there. Behind the doors nobody compares with NULL what is declared as `leat_error *`, and no internal
function, member of a descriptor or macro is given NULL in that place, in tests neither. A call whose error nobody wants
is given `&(leat_error){0}`, or a record for leati_error_unwanted where it is made per element.
"""
import re
import sys

import sources

MACROS = "src/base/error."    # where records and the door are
FOLDERS = ("src", "python/native")
RECORD = re.compile(r"(?<!const )\bleat_error \*(\w+)\s*[,)]")
PUBLIC = re.compile(r"\bLEAT_API\b[^;{]*?\b(leat_\w+)\(([^;{]*)\)[^;{()]*(?:\([^;{()]*\)\s*)?;")
FUNCTION = re.compile(r"(?<![\w>.])(?!(?:if|for|while|switch|return|sizeof)\b)(\w+)\s*\(")
POINTER = re.compile(r"\(\*\s*(\w+)\)\s*\(")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)", re.M)
MEMBER = re.compile(r"(?:->|\.)(\w+)\s*\(")
NOTHING = re.compile(r"(?:^|[?:]\s*)\(*(?:NULL|0)\)*\s*(?::|$)")


def arguments(code, at):
    """What stands between the parenthesis before `at` and its partner, cut at its commas; and the place behind."""
    parts, begin, depth = [], at, 0
    for match in re.compile(r"[][(){},]").finditer(code, at):
        if match[0] == "," and depth == 0 or depth == 0 and match[0] == ")":
            parts.append(code[begin:match.start()].strip())
            begin = match.end()
            if match[0] == ")":
                return parts, match.end()
        elif match[0] != ",":
            depth += 1 if match[0] in "([{" else -1
    return [], len(code)


def place(parameters):
    """The number of the parameter that is a record to write; None without."""
    return next((i for i, text in enumerate(parameters) if re.match(r"leat_error \*\s*\w*$", text)), None)


def declared(code, pattern):
    """Yield (name, number of parameters, place of the record) of what is declared or defined with one. The number is
    None where any number may follow."""
    for match in pattern.finditer(code):
        parameters, _ = arguments(code, match.end())
        if place(parameters) is not None:
            yield match[1], None if parameters[-1] == "..." else len(parameters), place(parameters)


def macros(code):
    """The same of function-like macros, whose parameter is called err."""
    for match in MACRO.finditer(code):
        names = [name.strip() for name in match[2].replace("\\\n", "").split(",")]
        if "err" in names and not match[1].endswith("_DOOR"):
            yield match[1], None, names.index("err")


def doors(code, public):
    """Yield (place, what is wrong) of public functions without a door, and of doors elsewhere."""
    begins = set()
    for match in re.finditer(r"^\w[^;{}()#]*?\b(leat_\w+)\s*\(", code, re.M):
        parameters, end = arguments(code, match.end())
        body = re.match(r"\s*\{\s*", code[end:])
        if body and match[1] in public and place(parameters) is not None:
            begins.add(end + body.end())
            if not code.startswith("LEATI_ERROR_DOOR(err);", end + body.end()):
                yield match.start(1), "%s does not begin with LEATI_ERROR_DOOR(err)" % match[1]
    for match in re.finditer(r"\bLEATI_ERROR_DOOR\(", code):
        if match.start() not in begins:
            yield match.start(), "a door is the first line of a public function"


def compared(code):
    """Yield the places where a record to write is compared with NULL."""
    name = r"(?<![\w.>&*])(?:%s)\b" % "|".join(sorted({"err"}.union(RECORD.findall(code))))
    tested = r"%s\s*[!=]=\s*NULL\b|\bNULL\s*[!=]=\s*%s|!%s|\b(?:if|while) \(%s\s*(?:\)|&&|\|\|)|(?:&&|\|\|)\s*%s\s*(?:\)|&&|\|\||\?)"
    for match in re.finditer(tested.replace("%s", name), code):
        yield match.start()


def given(code, pattern, known):
    """Yield (place, name) of calls that give NULL in the place of a record."""
    for match in pattern.finditer(code):
        for count, at in known.get(match[1], ()):
            parts, _ = arguments(code, match.end())
            if count in (None, len(parts)) and at < len(parts) and NOTHING.search(parts[at]):
                yield match.start(1), match[1]


def table(*lists):
    known = {}
    for entries in lists:
        for name, count, at in entries:
            known.setdefault(name, set()).add((count, at))
    return known


def check(root):
    problems = []
    texts = {name: sources.read(root, name) for name in sources.c_files(root, "include", "tests", *FOLDERS)}
    bare = {name: sources.bare(text) for name, text in texts.items()}
    public = {match[1] for name, code in bare.items() if name.startswith("include/") for match in PUBLIC.finditer(code)}
    headers = [name for name in texts if name.startswith("src/") and name.endswith(".h")]
    functions = [entry for name in headers for entry in declared(bare[name], FUNCTION)]
    functions += [entry for name in headers for entry in macros(sources.without_comments(texts[name]))]
    members = table(*(declared(bare[name], POINTER) for name in headers))
    for name, code in bare.items():
        if name.startswith("include/"):
            continue
        found = []
        own = [entry for entry in declared(code, FUNCTION) if entry[0] not in public]
        known = table([entry for entry in functions if entry[0] not in public], own)
        for at, callee in [*given(code, FUNCTION, known), *given(code, MEMBER, members)]:
            found.append((at, "%s is given NULL in the place of leat_error *" % callee))
        if not name.startswith(("tests/", MACROS)) and not name.endswith("_test.c"):
            found += doors(code, public)
            found += [(at, "compares leat_error * with NULL, which it never is inside") for at in compared(code)]
        problems += ["%s:%d: %s" % (name, code.count("\n", 0, at) + 1, text) for at, text in sorted(found)]
    return problems, len(texts)


if __name__ == "__main__":
    sources.finish("check_errors", *check(sys.argv[1] if len(sys.argv) > 1 else sources.ROOT))
