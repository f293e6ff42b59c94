#!/usr/bin/env python3
"""Measure one peer on one benchmark case in this fresh process; print one line of JSON.

    run.py --list
    run.py CASE --peer NAME [--seconds 10] [--warmup 2]

rate counts units (see unit) per second of wall time after the warm-up; per_cpu_s counts units per second of processor time
of the whole process tree, which other programs on the machine disturb far less; first_s is the time from the start of the
process to the first unit; peak_rss_mb is the sum of the peaks of the process and its children (pages that they share count
twice). A peer that cannot run gives {"missing": reason}.
"""
import argparse
import glob
import importlib
import json
import os
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Context, Missing  # noqa: E402

MODULES = ["jpeg", "records", "small", "distribute", "train"]


def cases():
    table = {}
    for name in MODULES:
        table.update(importlib.import_module("cases." + name).CASES)
    for case, peers in importlib.import_module("ours").CASES.items():
        table[case]["peers"] = {**peers, **table[case]["peers"]}
    return table


def tree():
    """This process and those that it started, by number."""
    found = [os.getpid()]
    for pid in found:
        for listed in glob.glob("/proc/%d/task/*/children" % pid):
            try:
                with open(listed) as f:
                    found += [int(word) for word in f.read().split()]
            except OSError:
                pass
    return found


def cpu_seconds():
    ticks = 0
    for pid in tree():
        try:
            with open("/proc/%d/stat" % pid) as f:
                fields = f.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        except OSError:
            pass
    children = os.times()
    return ticks / os.sysconf("SC_CLK_TCK") + children.children_user + children.children_system


def peak_rss_mb():
    total = 0
    for pid in tree():
        try:
            with open("/proc/%d/status" % pid) as f:
                total += next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
        except (OSError, StopIteration):
            pass
    return round(total / 1024)


def since_start():
    with open("/proc/self/stat") as f:
        started = int(f.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    with open("/proc/uptime") as f:
        return float(f.read().split()[0]) - started


def measure(function, context, seconds, warmup):
    result = function(context)
    if isinstance(result, dict):                       # measured by another program
        if result.get("cpu_s"):
            result["per_cpu_s"] = round(result["rate"] * result["elapsed_s"] / result["cpu_s"], 1)
        return result
    iterator = iter(result)
    next(iterator)
    first = since_start()
    start = time.perf_counter()
    next(iterator)
    while time.perf_counter() - start < warmup:
        next(iterator)
    cpu, start, units = cpu_seconds(), time.perf_counter(), 0
    while True:
        units += next(iterator)
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            break
    cpu = cpu_seconds() - cpu
    return {"rate": round(units / elapsed, 2), "cpu_s": round(cpu, 2), "elapsed_s": round(elapsed, 2),
            "per_cpu_s": round(units / cpu, 2) if cpu > 0 else None, "first_s": round(first, 2),
            "peak_rss_mb": peak_rss_mb()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="?")
    parser.add_argument("--peer")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--warmup", type=float, default=2)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    table = cases()
    if args.list or not args.case:
        for name, case in table.items():
            print("%-16s %-12s %s" % (name, case["unit"], " ".join(case["peers"])))
            print("%-16s %s" % ("", case["doc"]))
        return
    case = table[args.case]
    line = {"case": args.case, "peer": args.peer, "unit": case["unit"]}
    context = Context(args.seconds)
    try:
        if args.peer not in case["peers"]:
            raise Missing("no such peer in this case")
        line.update(measure(case["peers"][args.peer], context, args.seconds, args.warmup))
    except Missing as e:
        line["missing"] = str(e)
    except Exception as e:
        traceback.print_exc()
        line["missing"] = "failed: %s: %s" % (type(e).__name__, str(e)[:300])
    line.update(context.notes)
    sys.stdout.flush()
    print(json.dumps(line), flush=True)
    os._exit(0)                                        # some peers hang or complain when they are torn down


if __name__ == "__main__":
    main()
