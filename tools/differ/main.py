#!/usr/bin/env python3
"""Random programs, run by leat and by the real TensorFlow side by side: `make differ`.

    main.py [--seconds 60] [--seed 1] [--only NAME,...] [--trial N] [--again FILE] [--build build]        --list: what ONLY= takes
    main.py --names        docs/NAMES.md: the names there and missing, by module
    main.py --public       tools/public_names.txt: the names of TensorFlow and Keras, an object a line, which the reference goes by

A trial takes the next public name of a group (calls.py, objects.py, models.py, datasets.py, states.py), draws a program about it, mostly one that
TensorFlow runs and now and then one that it refuses, and lets both sides run it. What differs (compare.py) is shrunk (shrink.py), printed as a
program with both results, and counted once by its kind: name, kind of difference, mode. Names that leat does not have are counted by namespace,
and nothing is drawn of them.

A program is drawn from a seed of its own, made of SEED, the trial's number and the name: --trial N --only NAME draws it again alone. --again FILE
first runs the programs of a findings.json that was kept: those that still differ are findings again. known.json lists
what is known to differ and why; each line has a program that must still differ. All findings lie in BUILD/differ: report.txt for readers,
findings.json as data, missing.txt, and in refused.txt names of which TensorFlow ran no program, which want better hints. Exit status 1 where
something unknown differs or a line of known.json is not needed.

LEAT_DIFFER_PYTHON names a Python with TensorFlow; without it .venv-differ is taken (tools/venv.sh differ).
"""
import argparse
import collections
import fnmatch
import json
import os
import random
import re
import sys
import time

import calls
import compare
import datasets
import draw
import models
import objects
import programs
import shrink
import sides
import states

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WEIGHTS = {"ops": 20, "operators": 2, "methods": 1, "layers": 6, "losses": 2, "metrics": 2, "optimizers": 2, "schedules": 1, "initializers": 1,
    "regularizers": 1,
           "constraints": 1, "random": 1, "models": 3, "datasets": 5, "checkpoints": 2, "strategies": 2}
ATTEMPTS = 6    # drawn programs, of which the first that TensorFlow runs is taken
REFUSED = 0.12    # of programs that TensorFlow refuses are taken all the same
SHRINKS = 3    # programs that are shrunk for one name and kind of difference
ASKED = 60    # questions that shrinking one program may take
WEIGHTIEST = {kind: at for at, kind in enumerate(compare.KINDS)}


def all_rows(table):
    return [one for module in (calls, objects, models, datasets, states) for one in module.rows(table)]


def chosen(rows, only):
    """The rows that ONLY names: a group, a name, or the start of names."""
    return [row for row in rows if not only or any(
        row[0] == word or row[1]["name"] == word or row[1]["name"].startswith(word + ".") for word in only)]


def mentioned(expr, found):
    """Adds the public names that an expression needs."""
    if isinstance(expr, (list, tuple)):
        if len(expr) == 2 and expr[0] == "name":
            found.add(expr[1])
        if len(expr) == 4 and expr[0] == "tensor":
            found.add("tf." + expr[1])
        for one in expr:
            mentioned(one, found)
    return found


def signature(text):
    """The text of an error without what differs from program to program."""
    return re.sub(r"\s+", " ", re.sub(r"-?\d+(\.\d+)?|'[^']*'|\[[^]]*\]", "_", text))[:60]


class Finding:
    """One kind of difference: how often it came, and programs that show it."""

    def __init__(self, key):
        self.key, self.count, self.shown = key, 0, []

    @property
    def known(self):
        """The reason, where known.json has all that was shown of it."""
        reasons = [one["known"] for one in self.shown]
        return reasons[0] if reasons and all(reasons) else None


class Differ:
    """A run: two sides, what is drawn for, and what was found."""

    def __init__(self, leat, tensorflow, rows, seed, missing=(), known=(), out=print):
        self.leat, self.tensorflow, self.seed, self.missing, self.known, self.out = leat, tensorflow, seed, set(missing), list(known), out
        self.groups, self.turn = {}, collections.Counter()
        for row in rows:
            if row[1]["name"] not in self.missing:
                self.groups.setdefault(row[0], []).append(row)
        for group, its in self.groups.items():
            random.Random("%s/%s" % (seed, group)).shuffle(its)
        self.asked = ASKED
        self.findings, self.seen, self.tried, self.counts = {}, {}, collections.Counter(), collections.Counter()
        self.banned, self.drew, self.ran = collections.Counter(), collections.Counter(), collections.Counter()

    # ---- programs ----

    def next_row(self, number):
        groups = sorted(self.groups)
        group = random.Random("%s/%d" % (self.seed, number)).choices(groups, [WEIGHTS.get(one, 1) for one in groups])[0]
        self.turn[group] += 1
        return self.groups[group][(self.turn[group] - 1) % len(self.groups[group])]

    def drawn(self, number, row):
        """A program of this trial and TensorFlow's answer; None where none can be drawn."""
        _, about, make = row
        last = None
        for attempt in range(ATTEMPTS):
            rng = random.Random("%s/%d/%s/%d" % (self.seed, number, about["name"], attempt))
            try:
                program = make(draw.Draw(rng), about)
            except (IndexError, KeyError, ValueError):
                continue    # a hint that does not fit the shape; the next attempt has another
            if mentioned([program["values"], program["body"]], set()) & self.missing:
                continue
            answer = self.tensorflow.run(program)
            self.counts["programs"] += 1
            last = program, answer
            if "shown" in answer or "error" not in answer or rng.random() < REFUSED:
                break
        return last

    def pair(self, program):
        return self.tensorflow.run(program), self.leat.run(program)

    def key(self, program, difference, found):
        """By what a finding is counted; and what tells it from others of its kind."""
        name, tag = programs.about(program), ""
        error = found.get("error")
        if error:
            tag = error["classes"][0] + " " + signature(error["text"])
            source = programs.Source(program)
            if error.get("line"):
                name = programs.callee(source.statements[error["line"] - 1]) or name
        elif difference.kind == "accepts":
            tag = signature(difference.expected)
        mode = program["mode"] if name == programs.about(program) else "eager"
        return (name, difference.kind, mode), tag

    # ---- one trial ----

    def trial(self, number):
        row = self.next_row(number)
        if self.banned[row[1]["name"]] >= 2:
            return
        last = self.drawn(number, row)
        self.counts["trials"] += 1
        self.counts["trials " + row[0]] += 1
        if last is None:
            self.counts["none drawn"] += 1
            return
        program, expected = last
        self.drew[program["name"]] += 1
        self.ran[program["name"]] += "shown" in expected
        self.judge(number, program, expected, self.leat.run(program))

    def judge(self, number, program, expected, found):
        difference = compare.compare(program, expected, found)
        self.counts["errors of both" if "error" in expected and "error" in found else "agree" if not difference else "differ"] += 1
        if difference is None:
            return
        if difference.kind in ("tensorflow crash", "tensorflow hang"):
            self.banned[program["name"]] += 1
        key, tag = self.key(program, difference, found)
        before = self.seen.get((key, tag))
        if before is None and self.tried[key] < SHRINKS:
            if difference.kind in ("value", "order") and compare.compare(program, expected, self.tensorflow.run(program)):
                self.counts["of chance"] += 1    # TensorFlow gives another answer each time
                return
            self.tried[key] += 1
            before = self.seen[key, tag] = self.small(number, program, expected, found, difference, key, tag)
        self.count(before or key)

    def small(self, number, program, expected, found, difference, key, tag):
        """Shrinks and tells a finding; the key that it is counted by."""
        best = {"program": program, "difference": difference, "found": found}
        if difference.kind != "hang" and "tensorflow" not in difference.kind:

            def differs(candidate):
                one, other = self.pair(candidate)
                again = compare.compare(candidate, one, other)
                if again is None or again.kind != difference.kind or self.key(candidate, again, other)[1] != tag:
                    return False
                best.update(program=candidate, difference=again, found=other)
                return True
            shrink.shrink(program, differs, self.asked)
        program, difference = best["program"], best["difference"]
        key, tag = self.key(program, difference, best["found"])
        fresh = self.findings.setdefault(key, Finding(key))
        if all(one["tag"] != tag for one in fresh.shown):
            fresh.shown.append({"tag": tag, "program": program, "expected": str(difference.expected), "found": str(difference.found),
                                "where": difference.where, "seed": self.seed, "trial": number, "known": self.reason(key, best["found"])})
            if not fresh.shown[-1]["known"]:
                self.out(described(fresh, fresh.shown[-1]))
        return key

    def count(self, key):
        self.findings.setdefault(key, Finding(key)).count += 1

    def reason(self, key, found):
        """Of the line of known.json that says this finding, or None."""
        text = found.get("error", {}).get("text", "")
        for line in self.known:
            if fnmatch.fnmatchcase(key[0], line["name"]) and key[1] == line["kind"] and key[2] in (line.get("mode"), key[2]) \
                    and re.search(line.get("says", ""), text):
                return line["reason"]
        return None

    def needless(self):
        """Lines of known.json whose program does not differ as they say, not in five runs: some results are of chance."""
        for line in self.known:
            program = line["program"]
            if mentioned([program["values"], program["body"]], set()) & self.missing:
                continue
            kinds = set()
            for _ in range(5):
                if line["kind"] not in kinds:
                    kinds.add(getattr(compare.compare(program, *self.pair(program)), "kind", "no difference"))
            if line["kind"] not in kinds:
                yield "%s (%s): the program of its line in known.json gives %s; take the line away, or mend it" % (
                    line["name"], line["kind"], ", ".join(sorted(kinds)))

    # ---- all of them ----

    def run(self, seconds, trial=None, trials=None, kept=lambda: None):
        """Trials until the time is over, or so many, or one; `kept` is called now and then."""
        until, number = time.monotonic() + seconds, trial or 0
        while trial is not None or (number < trials if trials is not None else time.monotonic() < until):
            self.trial(number)
            number += 1
            if trial is not None:
                break
            if number % 100 == 0:
                kept()
                self.leat.trim()
                self.tensorflow.trim()

    def again(self, findings):
        """The programs of findings that were kept, as if they had been drawn; they are as small as they get."""
        self.asked, seed = 0, self.seed
        for one in findings:
            for shown in one["shown"]:
                program = shown["program"]
                if not mentioned([program["values"], program["body"]], set()) & self.missing:
                    self.counts["trials"] += 1
                    self.seed = shown["seed"]
                    self.judge(shown["trial"], program, *self.pair(program))
        self.asked, self.seed = ASKED, seed

    def unknown(self):
        return [one for one in self.findings.values() if not one.known and not one.key[1].startswith("tensorflow")]

    def sorted(self):
        return sorted(self.findings.values(), key=lambda one: (WEIGHTIEST[one.key[1]], one.key))


def described(finding, shown):
    """A finding for a reader: what differs, the program, both results, and how to see it again."""
    name, kind, mode = finding.key
    head = "%s: %s (%s)%s" % (name, kind, mode, " " + shown["where"] if shown["where"] else "")
    text = "".join("    " + line + "\n" for line in programs.runnable(shown["program"], "leat").splitlines())
    return "%s\n%s    TensorFlow: %s\n    leat:       %s\n    again: make differ SEED=%s TRIAL=%d ONLY=%s\n" % (
        head, text, shown["expected"][:300], shown["found"][:300], shown["seed"], shown["trial"], shown["program"]["name"].split()[0]
        if " " not in shown["program"]["name"] else "operators")


def namespace(name):
    return name.rpartition(".")[0] or name


def missing_table(table, missing):
    """Rows of names there and missing, by module and by class; members of a class that is missing are not counted."""
    there, gone = collections.Counter(), collections.defaultdict(list)
    for row in table:
        for name in row["names"]:
            space = namespace(name)
            if name in missing and space not in missing:
                gone[space].append(name.rpartition(".")[2])
            elif name not in missing:
                there[space] += 1
    for space in sorted(set(there) | set(gone)):
        yield space, there[space], sorted(gone[space])


def missing_lines(table, missing):
    """Lines for the end of a report: modules one by one, and all members of classes together."""
    classes = {name for row in table if row["what"] == "class" for name in row["names"]}
    rows = list(missing_table(table, missing))
    modules = ["%s %d of %d" % (space, len(names), len(names) + there) for space, there, names in rows if names and space not in classes]
    members = [(len(names), there) for space, there, names in rows if space in classes]
    yield "missing names: " + ", ".join(modules)
    yield "missing members of classes that are there: %d of %d" % (sum(gone for gone, _ in members), sum(gone + there for gone, there in members))


PARTS = (("tf.data and below", "tf.data."), ("tf.distribute and below", "tf.distribute."), ("tf.keras and below", "tf.keras."),
         ("operations: tf.math, nn, linalg, image, strings, io, random, signal, sparse, ragged, bitwise, audio, sets",
          tuple("tf.%s." % name for name in "math nn linalg image strings io random signal sparse ragged bitwise audio sets".split())),
         ("the rest of tf", ()))


def names_page(table, missing):
    """docs/NAMES.md: modules, how many of their names are there, and which are missing."""
    classes = {name for row in table if row["what"] == "class" for name in row["names"]}
    rows = [row for row in missing_table(table, missing) if row[0] not in classes]
    whole = collections.Counter(namespace(name) for row in table if row["what"] != "method" for name in row["names"]
                                if namespace(name) in missing)
    there, gone = sum(row[1] for row in rows), sum(len(row[2]) for row in rows) + sum(whole.values())
    yield "# Names of TensorFlow and Keras that are here, and those that are missing"
    yield ""
    yield ("Of the %d public names of TensorFlow 2.21 and Keras 3.15 leat has %d (%.0f %%), as counted by `make differ`'s table"
           % (there + gone, there, 100 * there / (there + gone)))
    yield ("(`python3 -B tools/differ/main.py --names`). A name counts in each module that shows it. Left out and not counted: TensorFlow 1 (`tf.compat.v1`),")
    yield "`tf.raw_ops`, `tf.lite`, `tf.mlir`, DTensor and TensorRT. docs/COMPATIBILITY.md says what differs where a name is there."
    yield ""
    counts = [(space, count, count + len(names), " ".join(names)) for space, count, names in rows]
    counts += [(space, 0, count, "all") for space, count in sorted(whole.items())]
    yield from ("| part | there | of | % |", "|---|---:|---:|---:|")
    for title, starts in PARTS:
        of = [row for row in counts if (row[0] + ".").startswith(starts)]
        if not starts:
            of = [row for row in counts if not any((row[0] + ".").startswith(other) for _, other in PARTS if other)]
        there, names = sum(row[1] for row in of), sum(row[2] for row in of)
        if names:
            yield "| %s | %d | %d | %.0f |" % (title, there, names, 100 * there / names)
    yield ""
    yield from ("| module | there | of | % | missing |", "|---|---:|---:|---:|---|")
    for space, count, names, gone in counts:
        yield "| %s | %d | %d | %.0f | %s |" % (space, count, names, 100 * count / names, gone)


def causes(differ):
    """Errors that stand behind more than one finding, with the names, most names first."""
    found = collections.defaultdict(set)
    for one in differ.unknown():
        for shown in one.shown if one.key[1] in ("refuses", "absent", "error class") else ():
            found[shown["tag"]].add(one.key[0])
    return sorted(((text, names) for text, names in found.items() if len(names) > 1), key=lambda row: (-len(row[1]), row[0]))


def report(differ, table, missing):
    """The lines at the end: kinds, namespaces, and the last one."""
    kinds, spaces = collections.Counter(), collections.Counter()
    for one in differ.sorted():
        yield "%5d  %-16s %-8s %s%s" % (one.count, one.key[1], one.key[2], one.key[0], "  (known: %s)" % one.known if one.known else "")
    for one in differ.unknown():
        kinds[one.key[1]] += 1
        spaces[namespace(one.key[0])] += 1
    yield "by kind: " + ", ".join("%s %d" % (kind, kinds[kind]) for kind in compare.KINDS if kinds[kind])
    yield "by namespace: " + ", ".join("%s %d" % one for one in spaces.most_common())
    for text, names in causes(differ)[:12]:
        yield "by error: %d names: %s" % (len(names), text)
    yield from missing_lines(table, missing)
    counts = differ.counts
    yield "differ: %d trials (%d not drawn, %d of chance), %d agree, %d errors of both, %d differ in %d kinds that nobody knows and %d known" % (
        counts["trials"], counts["none drawn"], counts["of chance"], counts["agree"], counts["errors of both"],
        counts["differ"] - counts["of chance"], len(differ.unknown()), sum(bool(one.known) for one in differ.findings.values()))


def write(folder, differ, table, missing, lines):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "report.txt"), "w", encoding="utf-8", errors="backslashreplace") as file:
        for one in differ.sorted():
            for shown in one.shown:
                file.write(described(one, shown) + "\n")
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(folder, "findings.json"), "w", encoding="utf-8") as file:
        json.dump([{"name": one.key[0], "kind": one.key[1], "mode": one.key[2], "count": one.count, "known": one.known, "shown": one.shown}
                   for one in differ.sorted()], file, indent=1)
    with open(os.path.join(folder, "refused.txt"), "w", encoding="utf-8") as file:
        file.writelines("%s %d\n" % one for one in sorted(differ.drew.items()) if not differ.ran[one[0]])
    with open(os.path.join(folder, "missing.txt"), "w", encoding="utf-8") as file:
        for space, there, names in missing_table(table, missing):
            file.write("%s: %d there, %d missing: %s\n" % (space, there, len(names), " ".join(names)))


def open_sides(build):
    """Both sides, not started yet."""
    python = os.environ.get("LEAT_DIFFER_PYTHON", os.path.join(ROOT, ".venv-differ", "bin", "python"))
    ours = os.path.join(ROOT, ".venv", "bin", "python")
    for path, way in ((python, "LEAT_DIFFER_PYTHON= or sh tools/venv.sh differ"), (ours, "sh tools/venv.sh"),
                      (os.path.join(build, "python", "leat"), "make")):
        if not os.path.exists(path):
            sys.exit("differ: there is no %s; %s makes it" % (path, way))
    return sides.Side("leat", ours, os.path.join(build, "python"), 30.0), sides.Side("tensorflow", python, "", 60.0)


def work(args, leat, tensorflow):
    """Does what the arguments say; the exit status."""
    table = tensorflow.ask({"ask": "names"}, 300.0)
    if args.public:
        print("\n".join(" ".join(row["names"]) for row in table if row["what"] not in ("method", "module")))
        return 0
    rows = chosen(all_rows(table), [word for word in args.only.split(",") if word])
    if args.list:
        print("\n".join("%-12s %s" % (group, row["name"]) for group, row, _ in rows))
        return 0
    if not rows:
        return "differ: nothing is named %s; --list shows what there is" % args.only
    missing = leat.ask({"ask": "have", "names": [name for row in table for name in row["names"]]}, 120.0)
    if args.names:
        print("\n".join(names_page(table, missing)))
        return 0
    with open(os.path.join(HERE, "known.json"), encoding="utf-8") as file:
        known = json.load(file)
    differ = Differ(leat, tensorflow, rows, args.seed, missing, known, lambda text: print(text, flush=True))
    needless = list(differ.needless()) if not args.only else []

    def kept():
        lines = needless + list(report(differ, table, missing))
        write(os.path.join(args.build, "differ"), differ, table, missing, lines)
        return lines
    try:
        if args.again:
            with open(args.again, encoding="utf-8") as file:
                differ.again(json.load(file))
        differ.run(args.seconds, args.trial, kept=kept)
    except KeyboardInterrupt:
        print("differ: ended by Ctrl-C")
    print("\n".join(kept()))
    return 1 if differ.unknown() or needless else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="")
    parser.add_argument("--trial", type=int)
    parser.add_argument("--again", metavar="FILE")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--public", action="store_true")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    leat, tensorflow = open_sides(args.build)
    try:
        sys.exit(work(args, leat, tensorflow))
    finally:
        leat.end()
        tensorflow.end()


if __name__ == "__main__":
    main()
