#!/usr/bin/env python3
"""Measure leat's peers on the same work: `make bench-peers`.

    main.py [--build build] [--rounds 3] [--seconds 5] [--peers a,b] [--write] [CASE...]

Makes a virtual environment in BUILD/peers with the packages of requirements.txt (LEAT_PEERS_PYTHON names the interpreter of one that
is there already), the corpora, and runs compare.py. --write puts the rates into docs/PERFORMANCE.md, where the rows of other cases stay.
What is not installed is reported as missing; pip says so where it cannot install.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import performance  # noqa: E402
import prepare  # noqa: E402

CASES = ["small_shuffle", "chain_8", "tfrecord_small", "tfrecord_large", "stream_memory", "jpeg_full", "jpeg_rrc",
         "mirrored", "allreduce"]


def interpreter(build):
    """The Python of the virtual environment, made if need be."""
    if os.environ.get("LEAT_PEERS_PYTHON"):
        return os.environ["LEAT_PEERS_PYTHON"]
    folder = os.path.join(build, "peers")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    wanted = os.path.join(HERE, "requirements.txt")
    if subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", wanted]).returncode:
        print("bench-peers: not all packages could be installed; their peers are missing", file=sys.stderr)
    return python


def make_corpora(build, data, cases):
    os.makedirs(data, exist_ok=True)
    if "jpeg_full" in cases or "jpeg_rrc" in cases:
        prepare.pictures(build, data)
    for kind in ("small", "large"):
        if any(case in cases for case in ("tfrecord_" + kind, "stream_memory" if kind == "large" else "")):
            prepare.records(build, data, kind)


def median(lines, key):
    found = [line[key] for line in lines if line.get(key) is not None]
    return statistics.median(found) if found else None


def rows(kept):
    """The rows of the table, by case, from the lines that compare.py wrote."""
    found = {}
    for case in dict.fromkeys(line["case"] for line in kept):
        peers = {peer: [line for line in kept if line["case"] == case and line["peer"] == peer and "missing" not in line]
                 for peer in dict.fromkeys(line["peer"] for line in kept if line["case"] == case)}
        own = median(peers.get("leat", []), "per_cpu_s")
        for peer, got in peers.items():
            rate = median(got, "per_cpu_s")
            if rate:
                found.setdefault(case, []).append("| %s | %s | %s | %s | %s | %s |" % (
                    case, peer, "{:,.0f}".format(rate), "{:,.0f}".format(median(got, "rate")),
                    median(got, "peak_rss_mb") or "", "%.1f" % (own / rate) if own and peer != "leat" else ""))
    return found


def rows_before(text):
    """The rows of a table that was written before, by case, and when and on what machine each case was measured."""
    found, measured = {}, {}
    for line in text.split("\n"):
        case = line.split("|")[1].strip() if line.startswith("| ") else ""
        if case and case != "case":
            found.setdefault(case, []).append(line)
    for match in re.finditer(r"^Measured on ([^\n(]*?)(?: \(([^)]*)\))?\.$", text, re.M):
        measured.update(dict.fromkeys(match[2].split(", ") if match[2] else found, match[1]))
    return found, measured


def page(path, before):
    """The lines of the table in docs/PERFORMANCE.md; cases that were not measured now keep their rows of `before`."""
    with open(path, encoding="utf-8") as file:
        now = rows([json.loads(line) for line in file])
    found, measured = rows_before(before)
    found.update(now)
    measured.update(dict.fromkeys(now, performance.machine()))
    order = [case for case in CASES if case in found]
    days = list(dict.fromkeys(measured[case] for case in order))
    lines = ["Measured on %s%s." % (day, " (%s)" % ", ".join(case for case in order if measured[case] == day) if days[1:] else "")
             for day in days]
    return [*lines, "", "| case | peer | units per CPU second | units per second | peak MB | leat, times per CPU second |",
            "|---|---|---|---|---|---|", *(row for case in order for row in found[case])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--peers")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    args = parser.parse_args()
    unknown = [case for case in args.cases if case not in CASES]
    if unknown:
        sys.exit("bench-peers: no case %s; there are: %s" % (unknown[0], " ".join(CASES)))
    cases, build = args.cases or CASES, os.path.abspath(args.build)
    data = os.path.abspath(prepare.default_folder(build))
    python = interpreter(build)
    make_corpora(build, data, cases)
    raw = os.path.join(build, "peers.jsonl")
    if args.write and os.path.exists(raw):
        os.remove(raw)
    command = [python, os.path.join(HERE, "compare.py"), *cases, "--rounds", str(args.rounds), "--seconds", str(args.seconds),
               "--json", raw, *(["--peers", args.peers] if args.peers else [])]
    code = subprocess.run(command, env={**os.environ, "LEAT_BUILD": build, "LEAT_BENCH_DATA": data}).returncode
    if args.write and not code:
        performance.write_part("peers", page(raw, performance.read_part("peers")))
    sys.exit(code)


if __name__ == "__main__":
    main()
