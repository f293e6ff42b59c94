#!/usr/bin/env python3
"""Measure every operation and a zoo of training steps beside TensorFlow: `make bench-ops`.

    main.py [--build build] [--peer PYTHON] [--sizes small,middle,large] [--forms eager,traced,step] [--rounds 5] [--seconds 0.01] [--xla]
            [--out FILE] [--against FILE] [--page] [CASE...]

A CASE is a name or a pattern ("nn.*", "step.cnn", "math.tanh"). Two processes live through the run, one on leat and one on the peer
(--peer, LEAT_BENCH_PEER, or what bench/peers has); each case is measured by both in turns, and the ratio is of the best rounds, so that load
hits both alike. A line of JSON each goes to the output and to the end of --out, build/ops.jsonl. A case whose outputs differ in dtype,
shape or value is told as broken and counts for nothing. --page writes docs/SPEED.md from the newest lines of that file; --against compares
with the lines of an earlier run and fails where a ratio has risen by more than --tolerance.
"""
import argparse
import datetime
import fnmatch
import json
import math
import os
import select
import subprocess
import sys

import cases
import page
import steps

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "peers"))
LOOSE = {"float16": 2e-2, "bfloat16": 6e-2, "float64": 1e-5, "complex128": 1e-5}    # any other number is as loose as float32


class Died(Exception):
    """A side ended or did not answer."""


class Side:
    """A process that answers lines by lines; it is started anew where it has died."""

    def __init__(self, python, package, build, limit):
        self.argv, self.limit = [python, "-B", os.path.join(HERE, "worker.py"), package], limit
        self.environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        if package == "leat":
            self.environment["PYTHONPATH"] = os.path.join(build, "python")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.argv, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                        stderr=None if os.environ.get("LEAT_BENCH_EXPLAIN") else subprocess.DEVNULL)

    def ask(self, **asked):
        """The answer; Died where there is none in time, RuntimeError where the case failed."""
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(asked).encode() + b"\n")
            line = self.line()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise Died("the process ended with %s" % self.end(grace=10))
        answer = json.loads(line)
        if "failed" in answer:
            raise RuntimeError(answer["failed"])
        return answer

    def line(self):
        found = b""
        while not found.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], self.limit)[0]:
                self.end()
                raise Died("no answer within %g s" % self.limit)
            read = os.read(self.process.stdout.fileno(), 1 << 20)
            if not read:
                break
            found += read
        return found

    def end(self, grace=0):
        if self.process is None:
            return None
        try:
            code = self.process.wait(grace)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process = None
        return code


def far(one, other, loose):
    """Whether two lists of numbers differ by more than `loose` of the largest."""
    if isinstance(one, list):
        return len(one) != len(other) or any(far(a, b, loose) for a, b in zip(one, other))
    if isinstance(one, str) or isinstance(other, str):
        return one != other
    if math.isnan(one) or math.isnan(other) or math.isinf(one) or math.isinf(other):
        return str(one) != str(other)
    return abs(one - other) > loose


def difference(ours, theirs, comparable):
    """What differs between the outputs of both sides, in words; None where they agree."""
    if len(ours) != len(theirs):
        return "%d outputs, not %d" % (len(ours), len(theirs))
    for mine, its in zip(ours, theirs):
        for key in ("dtype", "shape"):
            if mine[key] != its[key]:
                return "%s %s, not %s" % (key, mine[key], its[key])
        parts = [part for one in its["values"] for part in (one if isinstance(one, list) else [one])]
        numbers = [abs(one) for one in parts if isinstance(one, (int, float)) and math.isfinite(one)]
        exact = mine["dtype"] in ("string", "bool") or "int" in mine["dtype"]
        loose = (1 if "int" in mine["dtype"] else 0) if exact else LOOSE.get(mine["dtype"], 2e-3) * max([1e-6, *numbers])
        if comparable and far(mine["values"], its["values"], loose):
            at = [far(a, b, loose) for a, b in zip(mine["values"], its["values"])].index(True)
            return "value %s, not %s" % (mine["values"][at], its["values"][at])
    return None


def turns(sides, names, took, most, args):
    """The best time of each side over `most` alternating rounds; fewer of them where a call takes long."""
    rounds = max(1 if sum(took) > 3 else 2, min(most, int(args.most * most / args.rounds / max(sum(took), 2 * args.seconds))))
    best = [math.inf] * len(sides)
    for number in range(rounds):
        for i in range(len(sides)) if number % 2 == 0 else reversed(range(len(sides))):
            best[i] = min(best[i], sides[i].ask(ask="round")["seconds"])
    return dict(zip(names, best))


def measure(sides, case, size, form, args):
    """The line of a case: times and their ratio, or why it is broken."""
    line = {"case": case, "size": size, "form": form}
    told, who, xla = [], "leat", args.xla and form != "eager"
    rounds = args.rounds * (3 if form == "step" else 1)     # few, and the noisiest
    try:
        for who, side in zip(("leat", "peer"), sides):
            told.append(side.ask(ask="prepare", case=case, size=size, form=form, seconds=args.seconds, xla=xla and who == "peer"))
        comparable = case not in cases.table() or cases.table()[case].comparable
        wrong = difference(told[0]["outputs"], told[1]["outputs"], comparable)
        if wrong:
            return {**line, "broken": "leat has " + wrong}
        who = "a round"
        line.update(turns(sides, ("leat", "peer"), [one["seconds"] for one in told], rounds, args))
        who = "numpy"
        if form == "eager" and cases.table()[case].numpy and not args.without_numpy:
            took = sides[0].ask(ask="prepare", case=case, size=size, form="numpy", seconds=args.seconds)["seconds"]
            line.update(turns(sides[:1], ["numpy"], [took], rounds, args))
    except (Died, RuntimeError) as error:
        return {**line, "broken": "%s: %s" % (who, error)}
    return {**line, "ratio": line["leat"] / line["peer"]}


def wanted(args):
    """Case, size and form of all that is to be measured, in the order of the table."""
    def chosen(name):
        return not args.cases or any(fnmatch.fnmatchcase(name, pattern) for pattern in args.cases)
    sizes, forms = args.sizes.split(","), args.forms.split(",")
    for name in filter(chosen, cases.table()):
        for size in sizes:
            for form in forms:
                if form != "step":
                    yield name, size, form
    for name in filter(chosen, steps.STEPS):
        if "step" in forms:
            yield name, "", "step"


def key(line):
    return line["case"], line["size"], line["form"]


def run(args, build, peer, path):
    """Measures what is wanted; the lines, which are put at the end of the file, and what the table covers."""
    sides = [Side(args.python, "leat", build, args.limit), Side(peer, args.package, build, args.limit)]
    lines = []
    try:
        for side in sides:
            begin(side)
        with open(path, "a", encoding="utf-8") as out:
            for one in wanted(args):
                lines.append({**measure(sides, *one, args), "day": str(datetime.date.today())})
                text = json.dumps(lines[-1])
                print(text, file=out, flush=True)
                print(text, flush=True)
        return lines, sides[0].ask(ask="covered") if args.page else None
    finally:
        for side in sides:
            side.end()


def begin(side):
    try:
        side.ask(ask="there")
    except Died as error:
        way = "`make` builds it" if side.argv[-1] == "leat" else "--peer or LEAT_BENCH_PEER names a Python that has it"
        sys.exit("bench-ops: %s cannot import %s (%s); %s" % (side.argv[0], side.argv[-1], error, way))


def read(path):
    """The newest line of each case."""
    with open(path, encoding="utf-8") as file:
        return list({key(line): line for line in map(json.loads, file)}.values())


def worse(lines, before, tolerance):
    """Lines of text: which ratios have risen by more than the tolerance since an earlier run, worst first."""
    old = {key(one): one["ratio"] for one in before if "ratio" in one}
    found = []
    for one in lines:
        was = old.get(key(one))
        if was and one.get("ratio", math.inf) > was * tolerance:
            found.append((one.get("ratio", math.inf) / was, "%s %s %s: ratio %.2f, was %.2f" % (
                *key(one), one.get("ratio", math.inf), was)))
    return [text for _, text in sorted(found, reverse=True)]


def peer_python(args, build):
    if args.peer or os.environ.get("LEAT_BENCH_PEER"):
        return args.peer or os.environ["LEAT_BENCH_PEER"]
    import importlib.util
    spec = importlib.util.spec_from_file_location("peers", os.path.join(os.path.dirname(HERE), "peers", "main.py"))
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    return peers.interpreter(build)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--python", default=sys.executable, help="leat's interpreter")
    parser.add_argument("--peer", help="the interpreter of the other side")
    parser.add_argument("--package", default="tensorflow", help="what the other side imports as tf")
    parser.add_argument("--sizes", default=",".join(cases.SIZES))
    parser.add_argument("--forms", default="eager,traced,step")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=.01, help="how long a round of one side is")
    parser.add_argument("--most", type=float, default=1, help="seconds for all rounds of a case whose calls take long")
    parser.add_argument("--limit", type=float, default=60, help="seconds after which a side that does not answer is ended")
    parser.add_argument("--xla", action="store_true", help="the peer's functions and steps are compiled by XLA")
    parser.add_argument("--without-numpy", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--against", metavar="FILE")
    parser.add_argument("--tolerance", type=float, default=1.3)
    parser.add_argument("--page", nargs="?", const=page.PATH, metavar="FILE")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    args = parser.parse_args()
    before = read(args.against) if args.against else []
    build = os.path.abspath(args.build)
    path = args.out or os.path.join(build, "ops.jsonl")
    lines, covered = run(args, build, peer_python(args, build), path)
    if not lines:
        sys.exit("bench-ops: no case is called %s; bench/ops/cases.py and bench/ops/steps.py have them" % " or ".join(args.cases))
    if args.page:
        page.write(args.page, read(path), covered)
    page.tell(lines, sys.stderr)
    risen = worse(lines, before, args.tolerance)
    print(*risen, sep="\n", file=sys.stderr)
    sys.exit(1 if risen else 0)


if __name__ == "__main__":
    main()
