#!/usr/bin/env python3
"""Programs that are killed, stopped, starved and cut off at random moments, and their accounts: `make chaos`.

    main.py [--seconds 60] [--seed 1] [--trial N] [--only SCENARIO,...] [--build build]        --list: scenarios and disturbances

A trial takes the next scenario of the table (scenarios.py), starts its program one to three times under a disturbance each
(disturbances.py), and then once undisturbed. The accounts must then be closed: every element once, steps, iterations and bits of weights as
in a run that nobody disturbed, nothing lost that was said to be saved, no other statuses and errors than the disturbance explains,
no file, process or shared memory left over, and nothing that takes longer than the documented deadlines.

A trial draws from a seed of its own, made of SEED, its number and its scenario: --trial N --only SCENARIO repeats it alone. Kills come at
counted calls that change files (tests/faults), or at counted elements, where they can; else at a drawn time, and then a repetition may meet another
place. What is kept of a trial that lost something lies in BUILD/chaos. The last line counts; exit status 1 where something was lost.
"""
import argparse
import collections
import os
import random
import re
import shutil
import sys
import tempfile
import time

import disturbances
import jobs
import scenarios

LEAST_S = 60    # a job may take so long, and so many times what it takes undisturbed
TIMES = 20
Usual = collections.namedtuple("Usual", "calls ticks seconds result names")


class Chaos:
    def __init__(self, machine, seed, folder, table=scenarios.TABLE, kinds=disturbances.TABLE):
        self.machine, self.seed, self.folder, self.table, self.kinds = machine, seed, folder, table, kinds
        self.inputs, self.known, self.prepared = os.path.join(folder, "inputs"), {}, set()
        self.counts = collections.defaultdict(collections.Counter)
        os.makedirs(self.inputs)

    # ---- one start ----

    def start(self, scenario, trial, variant, disturbance=None):
        work, settings = os.path.join(trial, "work"), disturbance.settings if disturbance else jobs.Settings()
        argv = scenario.argv(self.machine, self.inputs, work, variant)
        job = jobs.Job(self.machine, argv, scenario.workers, settings, trial, {"CHAOS_INPUTS": self.inputs})
        job.joined = lambda: scenario.joined(job)
        usual = self.known.get((scenario.name, variant))
        left = job.wait(LEAST_S + TIMES * (usual.seconds if usual else 0), disturbance.watch if disturbance else lambda job: None)
        return job, left

    def make_folder(self, name):
        trial = tempfile.mkdtemp(prefix=name + "-", dir=self.folder)
        os.makedirs(os.path.join(trial, "work"))
        if self.machine.private:
            jobs.mount(os.path.join(trial, "work"), 64)
        return trial, os.path.join(trial, "work")

    def remove_folder(self, trial):
        if self.machine.private:
            jobs.unmount(os.path.join(trial, "work"))
        shutil.rmtree(trial)

    def usual(self, scenario, variant):
        """What an undisturbed run does, measured once."""
        if scenario.name not in self.prepared:
            self.prepared.add(scenario.name)
            scenario.prepare(self.machine, self.inputs)
        if (scenario.name, variant) in self.known:
            return self.known[scenario.name, variant]
        trial, work = self.make_folder("usual")
        try:
            found = self.known[scenario.name, variant] = self.measure(scenario, variant, trial, work)
        finally:
            self.remove_folder(trial)
        return found

    def measure(self, scenario, variant, trial, work):
        count = os.path.join(trial, "count")
        counting = disturbances.Disturbance.__new__(disturbances.Disturbance)
        counting.settings = jobs.Settings(
            None, disturbances.preloaded(self.machine, work, COUNT=count) if self.machine.preload else {})
        scenario.before(work)
        job, left = self.start(scenario, trial, variant, counting)
        if job.status or left or job.late:
            sys.exit("chaos: %s/%d fails by itself, with status %d:\n%s" % (scenario.name, variant, job.status, job.text()))
        calls = [0]
        if os.path.exists(count):
            with open(count, encoding="ascii") as file:
                calls += [int(line) for line in file]
        ticks = scenario.lines(work, "ticks")
        return Usual(max(calls), int(ticks[0]) if ticks else 0, job.seconds, scenario.result(work), scenarios.names(work))

    # ---- one trial ----

    def trial(self, number, scenario):
        """Runs one trial and prints its line; returns what was lost, a list of sentences."""
        rng = random.Random("%s/%s/%s" % (self.seed, number, scenario.name))
        variant = rng.randrange(scenario.variants)
        usual = self.usual(scenario, variant)
        trial, work = self.make_folder("trial")
        try:
            return self.disturb(number, scenario, variant, rng, usual, trial, work)
        finally:
            self.remove_folder(trial)

    def disturb(self, number, scenario, variant, rng, usual, trial, work):
        done, losses, texts, began = [], [], [], time.monotonic()
        kinds = [kind for kind in self.kinds if kind.suits(scenario, self.machine)]
        for _ in range(rng.randint(1, 3)):
            one = rng.choice(kinds)(rng, scenario, usual, self.machine, work)
            scenario.before(work)
            job, left = self.start(scenario, trial, variant, one)
            one.after(work)
            came = one.came(job)
            done.append("%s%s" % (one, "" if came else " (too late)"))
            self.counts[scenario.name]["disturbances"] += came
            self.counts["", type(one).__name__]["disturbances"] += came
            losses += ["after %s: %s" % (one, what) for what in self.judge(job, left, one, came)]
            texts.append(job.text())
        job, left = self.start(scenario, trial, variant)
        texts.append(job.text())
        losses += ["at the end: %s" % what for what in self.judge(job, left, None, False)]
        losses += scenario.losses(work, usual.result, texts)
        over = scenario.left(work, usual.names)
        losses += ["left over: %s" % ", ".join(sorted(over))] if over else []
        self.counts[scenario.name]["trials"] += 1
        self.counts[scenario.name]["losses"] += bool(losses)
        print("trial %d %s/%d: %s: %s (%.1f s)" % (number, scenario.name, variant, ", ".join(done), "LOST" if losses else "ok",
                                                 time.monotonic() - began), flush=True)
        if losses:
            self.tell(number, scenario, trial, losses, texts)
        return losses

    def judge(self, job, left, disturbance, came):
        """What is wrong with the end of one start."""
        text = job.text().lower()
        shared = os.listdir("/dev/shm") if self.machine.private else []
        if job.late:
            yield "it hangs (%.0f s)" % job.seconds
        elif job.status in jobs.CRASHES or re.search(r"sanitizer|fatal python error|assertion.*failed", text):
            yield "it crashed, status %d" % job.status
        elif job.status and (not came or job.status not in disturbance.allowed):
            yield "status %s" % job.statuses
        elif job.status == 1 and not re.search(disturbance.says, text):
            yield "it does not say why it failed (%s)" % disturbance.says
        if left:
            yield "%d processes were left" % left
        if disturbance is None and shared:
            yield "shared memory was left: %s" % ", ".join(shared)

    def tell(self, number, scenario, trial, losses, texts):
        kept = os.path.join(self.machine.build, "chaos", "%s-%d-%s" % (self.seed, number, scenario.name))
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(trial, kept)
        for at, text in enumerate(texts):
            with open(os.path.join(kept, "output-%d" % at), "w", encoding="utf-8") as file:
                file.write(text)
        for what in losses:
            print("    " + what)
        print("    kept in %s; again: make chaos SEED=%s TRIAL=%d ONLY=%s" % (os.path.relpath(kept), self.seed, number, scenario.name), flush=True)

    # ---- all of them ----

    def run(self, seconds=60, only=None, trial=None, trials=None):
        """Trials until the time is over, or so many, or one; returns how many lost something."""
        table = [one for one in self.table if (not only or one.name in only) and one.can_run(self.machine)]
        if not table:
            sys.exit("chaos: no scenario %s that can run here; --list shows them" % ",".join(only or []))
        until, number, lost = time.monotonic() + seconds, trial or 0, 0
        while trial is not None or (number < trials if trials is not None else time.monotonic() < until):
            lost += bool(self.trial(number, table[number % len(table)]))
            number += 1
            if trial is not None:
                break
        return lost

    def report(self):
        for one in self.table:
            if self.counts[one.name]["trials"]:
                print("%-18s %5d trials %5d disturbances %5d losses" % (one.name, *(self.counts[one.name][what] for what in (
                    "trials", "disturbances", "losses"))))
        kinds = {name[1]: count["disturbances"] for name, count in self.counts.items() if isinstance(name, tuple)}
        print("disturbances: " + ", ".join("%s %d" % (name.lower(), kinds[name]) for name in sorted(kinds)))
        total = [sum(self.counts[one.name][what] for one in self.table) for what in ("trials", "disturbances", "losses")]
        print("chaos: %d trials, %d disturbances, %d losses" % tuple(total))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--trial", type=int)
    parser.add_argument("--only", default="", metavar="SCENARIO,...")
    parser.add_argument("--build", default=os.path.join(jobs.ROOT, "build"))
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list:
        print("\n".join(one.name for one in scenarios.TABLE))
        print("\n".join("%s: %s" % (kind.__name__.lower(), kind.__doc__) for kind in dict.fromkeys(disturbances.TABLE)))
        return
    machine = jobs.Machine(args.build)
    if machine.missing:
        print("chaos: skipped here: %s" % "; ".join(machine.missing))
    with tempfile.TemporaryDirectory(prefix="leat-chaos-") as folder:
        chaos = Chaos(machine, args.seed, folder)
        lost = chaos.run(args.seconds, [name for name in args.only.split(",") if name], args.trial)
    chaos.report()
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
