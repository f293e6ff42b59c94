#!/usr/bin/env python3
"""Do the tests notice mistakes? Seeded one-line changes of src/, each of which should turn `make check` red: `make mutants`.

    mutants.py [--count 50] [--seed 1] [--only TEXT] [--folder build-mutants]        --show: print the changes and stop

Works in a copy of the tree that is built without debugging information, so that a change that the compiler makes nothing of is
known by its unchanged object file and replaced by another one. The tests run nearest first, as many at a time as there are cores:
those beside the changed file, those of its room, the conformance and recorded cases, then the others; the first that fails, or
takes ten times as long as without the change, ends the mutant. Before the first mutant all tests run once with counters of gcov;
tests that do not come by the changed line cannot notice and are passed over. A change that all of them let pass runs once more, by the
nearest tests, under the address and undefined-behaviour sanitizers and under the thread sanitizer, as `make test` runs all of
them: values read too far, memory not given back and locks not taken show nowhere else. Tests of the tools and of the installation
are left out, as no change of src/ concerns them alone.

Prints a line per mutant, then the survivors as diffs. Exit status 1 if fewer than 85% were noticed.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

import sources
import test as steps

ENOUGH = 0.85
CODES = ["LEAT_INVALID_ARGUMENT", "LEAT_DATA_LOSS", "LEAT_OUT_OF_RANGE", "LEAT_NOT_FOUND", "LEAT_FAILED_PRECONDITION",
         "LEAT_UNIMPLEMENTED", "LEAT_RESOURCE_EXHAUSTED"]
LEFT_OUT = ("tools/", "install")
MOST_MEMORY = 8 << 30    # of a program: a mutant may ask for all there is
SKIPPED = 77
NEAR = 4                 # lines
# Which, for the tests of which label, how much slower they may be, how many seconds of them (as they take without it) at most.
SANITIZERS = [("address", None, 4, 40), ("thread", "threads", 20, 15)]
CORES = len(os.sched_getaffinity(0))


# ---- what may be changed ----

def swap(pattern, *replacements):
    """A rule that puts each of the replacements in place of a match."""
    compiled = re.compile(pattern)
    return lambda line: [(m.start(), m.end(), m.expand(r)) for m in compiled.finditer(line) for r in replacements]


def negate(line):
    """if (x) and while (x), closed on their line."""
    found = []
    for match in re.finditer(r"\b(?:if|while) \(", line):
        depth, end = 1, match.end()
        while end < len(line) and depth:
            depth += {"(": 1, ")": -1}.get(line[end], 0)
            end += 1
        if depth == 0:
            found.append((match.end(), end - 1, "!(%s)" % line[match.end():end - 1]))
    return found


def drop(line):
    """A whole statement: a call, an assignment, a jump."""
    match = re.match(r"\s+((?:\*?[A-Za-z_][\w.>\[\]-]*(?:\([^;{}]*\)| (?:[-+*|&]?=) [^;{}]*|\+\+|--)|break|continue);)$", line)
    if not match or re.match(r"\s+(?:return|goto|struct|static|const|va_|else)\b", line):
        return []
    return [(match.start(1), match.end(1), "(void)0;")]


RULES = {
    "comparison": [swap(r" < ", " <= ", " >= "), swap(r" <= ", " < "), swap(r" > ", " >= ", " <= "), swap(r" >= ", " > "),
                   swap(r" == ", " != "), swap(r" != ", " == ")],
    "off by one": [swap(r" ([-+]) 1\b(?![.\d])", r" \1 0", r" \1 2"), swap(r"(?<=[ (\[])0(?=[,;)\]])", "1"),
                   swap(r"(?<=[ (\[])1(?=[,;)\]])", "0")],
    "condition": [negate],
    "logic": [swap(r" && ", " || "), swap(r" \|\| ", " && ")],
    "arithmetic": [swap(r" \+ ", " - "), swap(r" - ", " + "), swap(r" \* ", " + "), swap(r" % ", " / "), swap(r" \+= ", " -= "),
                   lambda line: [] if "for (" in line else swap(r"\+\+", "--")(line)],
    "statement": [drop],
    "constant": [swap(r"\btrue\b", "false"), swap(r"\bfalse\b", "true")]
                + [swap(r"\b%s\b" % code, CODES[(i + 1) % len(CODES)]) for i, code in enumerate(CODES)],
    "return": [swap(r"\breturn ([a-z][^;]*);$", "return 0;"), swap(r"\breturn (status|code);$", "return LEAT_OK;")],
}


def bodies(code):
    """The lines (from 0) that lie inside function bodies of C text without comments and strings."""
    depth, inside = 0, []
    for number, line in enumerate(code.split("\n")):
        if depth > 0 and not line.lstrip().startswith(("case ", "default:")):
            inside.append(number)
        depth += line.count("{") - line.count("}")
    return inside


def changes_of(root, name):
    """All changes of a file: (name, line from 0, rule, new line)."""
    text = sources.read(root, name)
    lines = text.split("\n")
    # Strings and comments keep their length here, so that columns are those of the file.
    code = sources.TOKEN.sub(lambda m: re.sub(r"[^\n]", "~" if m["text"] else " ", m[0]), text)
    code = sources.DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), code).split("\n")
    found = []
    for number in bodies("\n".join(code)):
        for rule, parts in RULES.items():
            for part in parts:
                for begin, end, new in part(code[number]):
                    if "~" in code[number][begin:end]:
                        continue                     # it would write a blanked string back
                    line = lines[number][:begin] + new + lines[number][end:]
                    found.append((name, number, rule, line))
    return found


# ---- the copy ----

class Tree:
    """A copy of the project with its builds."""

    def __init__(self, folder):
        self.root = os.path.join(folder, "tree")
        names = sources.listed(sources.ROOT)
        known = set(names)
        for name in names:
            source, target = os.path.join(sources.ROOT, name), os.path.join(self.root, name)
            if not os.path.exists(target) or open(source, "rb").read() != open(target, "rb").read():
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy2(source, target)
                os.utime(target)
        for place, folders, files in os.walk(self.root):
            if place == self.root:               # builds and .venv are not of the copy
                folders[:] = [f for f in folders if not f.startswith("build") and f != ".venv"]
            for file in files:
                if os.path.relpath(os.path.join(place, file), self.root) not in known:
                    os.remove(os.path.join(place, file))
        environment = os.path.join(sources.ROOT, ".venv")
        if os.path.exists(environment) and not os.path.lexists(os.path.join(self.root, ".venv")):
            os.symlink(environment, os.path.join(self.root, ".venv"))
        self.plain = Build(self.root, os.path.join(self.root, "build"), flags="-O2")
        self.counted, self.counts = os.path.join(folder, "counted"), os.path.join(folder, "counts")
        self.tests = list(self.plain.tests.values())
        self.sanitized = {}

    def count_test(self, test):
        """Runs the test in the build with counters, which are left below the folder of the test."""
        def there(text):
            return text.replace(self.plain.folder, self.counted)
        folder = os.path.join(self.counts, re.sub(r"\W", "_", test["name"]))
        counted = {"command": [there(word) for word in test["command"]], "folder": there(test["folder"]),
                   "environment": {**{key: there(value) for key, value in test["environment"].items()}, "GCOV_PREFIX": folder,
                                   "GCOV_ERROR_FILE": os.devnull}}
        for way in (counted, test):
            start = time.monotonic()
            test["status"] = self.plain.status(way, 1800)
            test["seconds"] = time.monotonic() - start
            if test["status"] in (0, SKIPPED):
                break
        test["counters"] = {} if way is counted else None    # of each file of src/: the counters of its objects; None: unknown
        for place, _, files in os.walk(folder):
            for file in files:
                match = re.search(r"\.dir/(src/.*\.c)\.gcda$", os.path.join(place, file))
                if match and way is counted:
                    test["counters"].setdefault(match[1], []).append(os.path.join(place, file))

    def count_tests(self):
        """Runs every test once, as it should pass, and remembers how long it took and which lines it came by; leaves out those
        that cannot run here."""
        shutil.rmtree(self.counts, ignore_errors=True)
        Build(self.root, self.counted, flags="-O1 --coverage")
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            list(pool.map(self.count_test, self.tests))
        for test in list(self.tests):
            if test["status"] == SKIPPED:
                print("left out: %s cannot run here" % test["name"], flush=True)
                self.tests.remove(test)
            elif test["status"] != 0:
                sys.exit("mutants: %s fails without a change" % test["name"])

    def lines(self, test, name):
        """How often the test came by each line (from 1) of the file that has code, and (first, last) line of each function."""
        counts, functions = {}, set()
        for path in (test["counters"] or {}).get(name, []):
            notes = path[path.index(self.counted):].removesuffix(".gcda") + ".gcno"
            shutil.copy(notes, os.path.dirname(path))
            shown = subprocess.run(["gcov", "--json-format", "--stdout", path], cwd=self.counted, capture_output=True, text=True, check=True)
            for file in json.loads(shown.stdout)["files"]:
                if file["file"].endswith(name):
                    functions.update((function["start_line"], function["end_line"]) for function in file["functions"])
                    for line in file["lines"]:
                        counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
        return counts, functions

    def comes_by(self, test, name, number, functions):
        """Does the test come by the line, or by one near it in its function, as counters of optimised code lie some lines apart?
        By a table, if it comes by one of the file's functions. A test that fails with counters may come anywhere."""
        counts = test["lines"][name][0]
        around = next(((first, last) for first, last in functions if first <= number <= last), None)
        if test["counters"] is None or not functions:
            return True
        if around is None:
            return any(counts.values())
        inside = [line for line in counts if around[0] <= line <= around[1]]
        near = [line for line in inside if abs(line - number) <= NEAR]
        return any(counts[line] > 0 for line in near or inside)

    def nearest(self, name, number):
        """The tests that come by a line, those next to its file first; among equals the quick ones."""
        place = name.split("/")
        stem = re.sub(r"\.c$", "", "/".join(place[1:]))

        def distance(test):
            own = test["name"].removesuffix("_test")
            if own == stem or own.startswith(stem + "_") or stem.startswith(own + "_"):
                return 0
            if own.startswith(place[1] + "/"):
                return 1
            return 2 if own.startswith(("conform", "golden")) else 3
        for test in self.tests:
            if name not in test["lines"]:
                test["lines"][name] = self.lines(test, name)
        functions = set().union(*(test["lines"][name][1] for test in self.tests))
        near = [test for test in self.tests if self.comes_by(test, name, number, functions)]
        return sorted(near, key=lambda test: (distance(test), test["seconds"]))

    def judge(self, change):
        """What becomes of a change: (verdict, what noticed it)."""
        tests = self.nearest(change[0], change[1] + 1)
        verdict = self.plain.judge(change, tests)
        if verdict[0] != "survived":
            return verdict
        for sanitize, label, patience, seconds in SANITIZERS:
            some = [test for test in tests if label is None or label in test["labels"]]
            totals = itertools.accumulate(test["seconds"] for test in some)
            some = [test for test, total in zip(some, totals) if total <= seconds]
            if not some:
                continue
            if sanitize not in self.sanitized:
                folder = os.path.join(self.root, "build-" + sanitize)
                self.sanitized[sanitize] = Build(self.root, folder, sanitize=sanitize, patience=patience)
            verdict, by = self.sanitized[sanitize].judge(change, some)
            if verdict != "survived":
                self.must_pass(self.sanitized[sanitize], by)
                return verdict, "%s under the %s sanitizer" % (by, sanitize)
        return "survived", ""

    def must_pass(self, build, name):
        """Ends where a test of the build that has noticed a change fails without one."""
        if name in build.tests and build.run_tests([(build.tests[name], 180)])[0] != "survived":
            sys.exit("mutants: %s fails in %s without a change" % (name, build.folder))


class Build:
    """A build of the copy in a folder of its own, with the compiler's flags or under the sanitizers as `make test` has them."""

    def __init__(self, root, folder, flags=None, sanitize="", patience=1):
        self.root, self.folder, self.sanitize, self.patience = root, folder, sanitize, patience
        self.environment = dict(os.environ)
        settings = ["-DLEAT_SANITIZE=" + sanitize]
        self.wrapper = ["prlimit", "--as=%d" % MOST_MEMORY]
        if sanitize:                             # whose shadow of the memory is larger than any limit
            self.wrapper = steps.fixed_addresses() if sanitize == "thread" else []
            self.environment.update(CC="clang", CXX="clang++", **steps.ENVIRONMENT)
            self.environment["ASAN_OPTIONS"] += ":hard_rss_limit_mb=%d" % (MOST_MEMORY >> 20)
        if flags:
            settings += ["-DCMAKE_BUILD_TYPE=Mutants", "-DCMAKE_C_FLAGS_MUTANTS=" + flags, "-DCMAKE_CXX_FLAGS_MUTANTS=" + flags]
        if shutil.which("ccache"):
            settings.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
        if shutil.which("ld.lld"):
            settings += ["-DCMAKE_%s_LINKER_FLAGS=-fuse-ld=lld" % kind for kind in ("EXE", "SHARED", "MODULE")]
        self.run(["cmake", "-G", "Ninja", "-B", folder, *settings], check=True)
        self.run(["ninja", "-C", folder], check=True)
        shown = json.loads(self.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], check=True))
        found = [self.test(item) for item in shown["tests"] if "command" in item]
        self.tests = {t["name"]: t for t in found if not t["name"].startswith(LEFT_OUT) and "long" not in t["labels"]}
        self.objects, self.products = {}, []     # products: what tests without a program of their own may use
        programs = {test["target"] for test in self.tests.values()}
        for line in self.run(["ninja", "-C", folder, "-t", "targets", "all"], check=True).split("\n"):
            target, _, rule = line.partition(": ")
            match = re.match(r"CMakeFiles/\w+\.dir/(src/.*\.c)\.o$", target)
            if match:
                self.objects.setdefault(match[1], target)
            if re.match(r"C\w*_(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)_LINKER__", rule) and target not in programs \
                    and not target.startswith("bench/"):
                self.products.append(target)

    def test(self, item):
        properties = {p["name"]: p["value"] for p in item["properties"]}
        program = item["command"][0]
        inside = os.path.relpath(program, self.folder) if program.startswith(self.folder + os.sep) else None
        settings = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        return {"name": item["name"], "command": self.wrapper + item["command"], "labels": properties.get("LABELS", []), "target": inside,
                "folder": properties.get("WORKING_DIRECTORY", self.root), "environment": {**self.environment, **settings}, "lines": {}}

    def run(self, command, check=False):
        done = subprocess.run(command, cwd=self.root, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        if check and done.returncode:
            sys.exit("mutants: %s failed:\n%s" % (" ".join(command[:4]), done.stdout[-3000:]))
        return done.stdout if check else done.returncode

    def ninja(self, *targets):
        return self.run(["ninja", "-C", self.folder, *targets])

    def status(self, test, limit, stop=None):
        """The exit status, or None where it takes longer than `limit` or the event `stop` is set."""
        process = subprocess.Popen(test["command"], cwd=test["folder"], env=test["environment"], start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + limit
        while time.monotonic() < end and not (stop and stop.is_set()):
            try:
                return process.wait(0.2 if stop else limit)
            except subprocess.TimeoutExpired:
                pass
        os.killpg(process.pid, 9)
        process.wait()
        return None

    def judge(self, change, tests):
        """Applies a change and says what becomes of it here, where those tests may notice it: (verdict, what noticed it)."""
        name, number, _, line = change
        if name not in self.objects:             # oneDNN's are not built for the thread sanitizer
            return "survived", ""
        path, target = os.path.join(self.root, name), self.objects[name]
        original, text = os.path.join(self.folder, target), sources.read(self.root, name)
        before = open(original, "rb").read()
        lines = text.split("\n")
        lines[number] = line
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            if self.ninja(target):
                return "not compiling", ""
            if not self.sanitize and open(original, "rb").read() == before:
                return "no difference", ""
            return self.run_tests([(self.tests[test["name"]], test["seconds"]) for test in tests if test["name"] in self.tests])
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.ninja(target)

    def run_tests(self, tests):
        """Runs the tests, each with its usual seconds, until one notices."""
        verdict, lock, building, stop = [], threading.Lock(), threading.Lock(), threading.Event()

        def notice(what, by):
            with lock:
                if not stop.is_set():
                    verdict.append((what, by))
                stop.set()

        def one(test, seconds):
            if stop.is_set():
                return
            with building:           # what is built already costs a look
                if self.ninja(*([test["target"]] if test["target"] else self.products)):
                    return notice("not compiling", "linking")
            limit = self.patience * (10 * seconds + 20)
            start = time.monotonic()
            status = self.status(test, limit, stop)
            if status is None and time.monotonic() - start >= limit:
                notice("timeout", test["name"])
            elif status:
                notice("killed", test["name"])

        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            for done in [pool.submit(one, *test) for test in tests]:
                done.result()
        return verdict[0] if verdict else ("survived", "")


def diff(root, change):
    name, number, rule, line = change
    return "--- %s:%d (%s)\n-%s\n+%s\n" % (name, number + 1, rule, sources.read(root, name).split("\n")[number], line)


def pick(names, generator, root):
    """An endless series of changes: a file by the number of its lines, then a change of it."""
    found = {}
    weights = [len(sources.read(root, name).split("\n")) for name in names]
    while True:
        name = generator.choices(names, weights)[0]
        if name not in found:
            found[name] = changes_of(root, name)
        if found[name]:
            yield found[name].pop(generator.randrange(len(found[name])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="files of src/ whose name contains this text")
    parser.add_argument("--folder", default=os.path.join(sources.ROOT, "build-mutants"))
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    names = [n for n in sources.c_files(sources.ROOT, "src")
             if n.endswith(".c") and not n.endswith("_test.c") and args.only in n]
    if args.show:
        changes = pick(names, random.Random(args.seed), sources.ROOT)
        for _ in range(args.count):
            print(diff(sources.ROOT, next(changes)))
        return
    tree = Tree(os.path.realpath(args.folder))
    tree.count_tests()
    changes = pick([n for n in names if n in tree.plain.objects], random.Random(args.seed), tree.root)
    counts, survivors = {"killed": 0, "timeout": 0, "survived": 0, "not compiling": 0, "no difference": 0}, []
    while counts["killed"] + counts["timeout"] + counts["survived"] < args.count:
        change = next(changes)
        start = time.monotonic()
        verdict, by = tree.judge(change)
        counts[verdict] += 1
        if verdict == "survived":
            survivors.append(change)
        print("%-14s %4.0f s  %s:%d (%s)%s" % (verdict, time.monotonic() - start, change[0], change[1] + 1, change[2],
                                              " by " + by if by else ""), flush=True)
        if verdict == "survived":
            print(diff(tree.root, change), flush=True)
    noticed = counts["killed"] + counts["timeout"]
    print("\nsurvivors:\n" + "\n".join(diff(tree.root, change) for change in survivors) if survivors else "")
    print("make mutants: %d of %d noticed (%.0f%%): %s" % (
        noticed, args.count, 100 * noticed / args.count, ", ".join("%d %s" % (n, what) for what, n in counts.items())))
    sys.exit(noticed < ENOUGH * args.count)


if __name__ == "__main__":
    main()
