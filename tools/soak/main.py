#!/usr/bin/env python3
"""Let leat work for hours and see that it stays flat: `make soak HOURS=2`.

    main.py [--hours H | --rounds N] [--build B] [--python P] [--out FOLDER] [--every S] [ONLY...]

One long-lived process for each kind of work of turns.py (two for a job of two workers) works in turns: all kinds once are a round. A
supervisor, this program, tells them when, and every S seconds samples of all of them memory (own, RSS and PSS), descriptors and
threads, and of the job the files in its TMPDIR and its folder, entries of /dev/shm, zombies and processes. In the folder
(build-soak) lie samples.csv, and from the tenth minute on, written again and again, report.txt and curve.svg; log.txt has what the
processes wrote. At the end judge.py says of each measure whether it is flat, by limits that it argues; the last line counts turns
and samples and has the verdict. Ctrl-C ends the run with the verdict so far. Exit status 0 means flat; 1 that something
grows, failed, did not answer or stayed behind, or that there are too few rounds to tell.
"""
import argparse
import collections
import csv
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing import connection

import curve
import judge
import samples

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TURNS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "turns.py")
KINDS = ["pipeline", "fit", "workers", "launch", "abandoned", "callbacks", "files"]
RANKS = {"workers": 2}
OF_PROCESS, OF_JOB = ("memory", "descriptors", "threads"), ("files", "disk", "shared", "zombies", "processes")
COLUMNS = ["hours", "round", "process", "pid", "state", "memory", "rss", "pss", *OF_PROCESS[1:], *OF_JOB]
ANSWER, WRITE = 300.0, 600.0  # seconds until a process counts as stuck; between two reports
CHILD_SUBREAPER = 36  # of prctl: what loses its parent becomes a child of the supervisor, where it is counted


class Failed(Exception):
    """Something other than growth ends the run."""


class Soak:
    """A run: the processes, the samples, and the end."""

    def __init__(self, options):
        self.options, self.ended, self.round = options, False, 0
        self.kinds = options.only or KINDS
        self.links, self.started, self.busy, self.ended_pids, self.shared = {}, [], set(), set(), set()
        self.rows, self.turns, self.count = collections.defaultdict(list), collections.Counter(), 0
        self.folder = tempfile.mkdtemp(prefix="leat-soak-")
        self.temporary, self.work = (os.path.join(self.folder, name) for name in ("tmp", "work"))
        os.mkdir(self.temporary)
        os.mkdir(self.work)
        os.makedirs(options.out, exist_ok=True)
        self.log = open(self.path("log.txt"), "wb")
        self.file = open(self.path("samples.csv"), "w", newline="", encoding="utf-8")
        self.csv = csv.DictWriter(self.file, COLUMNS, restval="")
        self.csv.writeheader()
        self.begin = time.monotonic()
        self.next_sample = self.next_report = float("inf")  # none before everything runs
        # Enough rounds to judge in a short run, and in a long one not so short slices that only beginnings are seen.
        # Rounds that are counted have turns that are, too: what came out does not hang on the machine.
        self.slice = 0.0 if options.rounds else min(10.0, max(0.2, options.hours * 3600 / (30 * len(self.kinds))))

    def path(self, name):
        return os.path.join(self.options.out, name)

    def hours(self):
        return (time.monotonic() - self.begin) / 3600

    # ---- the processes ----

    def start(self):
        """All processes, each connected and ready. The address has no file: an abstract socket."""
        address = "leat-soak-%d" % os.getpid()
        tool = os.path.join(self.options.build, "bin", "leat")
        environment = {**os.environ, "PYTHONPATH": os.path.join(self.options.build, "python"), "TMPDIR": self.temporary,
                       "PYTHONDONTWRITEBYTECODE": "1", "LEAT_LOG": "error", "SOAK_LEAT": tool}
        environment.pop("TF_CONFIG", None)
        with connection.Listener("\0" + address, family="AF_UNIX") as listener:
            for kind in self.kinds:
                command = [self.options.python, "-B", TURNS, kind, address, self.work]
                if kind in RANKS:
                    command = [tool, "launch", "-n", str(RANKS[kind]), "--", *command]
                # A session of its own: Ctrl-C is for the supervisor alone.
                child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment,
                                         start_new_session=True, cwd=self.folder)
                self.started.append(child)
                for _ in range(RANKS.get(kind, 1)):
                    self.accept(listener, child)
                if kind in RANKS:
                    self.links["leat launch"] = (kind, None, child.pid)
        for name, (_, link, _) in self.links.items():
            if link is not None:
                self.answer(name, link)

    def accept(self, listener, child):
        """The next process that says who it is; one that ends before that ends the run."""
        limit = time.monotonic() + ANSWER
        while not connection.wait([listener._listener._socket], 0.2):  # a Listener has no deadline of its own
            if child.poll() is not None or time.monotonic() >= limit:
                raise Failed("a process did not start; see %s" % self.path("log.txt"))
        link = listener.accept()
        hello = link.recv()
        name = hello["kind"] + (" %d" % hello["rank"] if hello["kind"] in RANKS else "")
        self.links[name] = (hello["kind"], link, hello["pid"])

    def of(self, kind):
        """The names of the processes of a kind that can be told to work."""
        return [name for name, (its, link, _) in self.links.items() if its == kind and link is not None]

    def answer(self, name, link):
        """What a process says; samples are taken while it works."""
        limit = time.monotonic() + ANSWER
        while not link.poll(max(0.0, min(self.next_sample, limit) - time.monotonic())):
            if time.monotonic() >= limit:
                os.kill(self.links[name][2], signal.SIGUSR1)  # its stacks go to the log
                time.sleep(1)
                raise Failed("%s did not answer in %.0f seconds; see %s" % (name, ANSWER, self.path("log.txt")))
            if time.monotonic() >= self.next_sample:
                self.sample()
        try:
            return link.recv()
        except (EOFError, OSError):
            raise Failed("%s ended; see %s" % (name, self.path("log.txt"))) from None

    def turn(self, kind):
        """A kind works for a slice of time."""
        names = self.of(kind)
        self.busy = set(names)
        for name in names:
            self.tell(name, self.slice)
        told = [self.answer(name, self.links[name][1]) for name in names]
        self.busy = set()
        self.turns[kind] += told[0]["turns"]
        for one in told:
            self.ended_pids.update(one["pids"])

    def tell(self, name, message):
        try:
            self.links[name][1].send(message)
        except OSError:
            raise Failed("%s ended; see %s" % (name, self.path("log.txt"))) from None

    # ---- samples ----

    def sample(self):
        """One sample of all processes and of the job."""
        hours, total = self.hours(), collections.Counter()
        for name, (_, _, pid) in self.links.items():
            one = samples.of_process(pid)
            if one is None:
                continue
            self.write(hours, name, one, OF_PROCESS, pid=pid, state="works" if name in self.busy else "waits")
            total.update(one)
        job = samples.of_job(os.getpid(), self.temporary, self.work, self.ended_pids, self.shared)
        self.ended_pids.clear()
        self.write(hours, "job", {**total, **job}, OF_JOB)
        for measure in OF_PROCESS[1:]:
            self.rows["sum", measure].append((hours, total[measure], self.round))
        self.file.flush()
        self.count += 1
        self.next_sample = max(self.next_sample + self.options.every, time.monotonic())

    def write(self, hours, name, values, measures, **more):
        for measure in measures:
            self.rows[name, measure].append((hours, values[measure], self.round))
        rounded = {key: round(value, 3) for key, value in values.items()}
        self.csv.writerow({"hours": round(hours, 6), "round": self.round, "process": name, **more, **rounded})

    def results(self):
        return {key: judge.judge(rows, key[1]) for key, rows in self.rows.items() if key[0] != "sum"}

    def report(self):
        """Table and curve so far; the results."""
        results = self.results()
        memory = {name: rows for (name, measure), rows in self.rows.items() if measure == "memory"}
        counts = {measure: self.rows["sum" if measure in OF_PROCESS else "job", measure] for measure in curve.COUNTED}
        last = self.last_line(judge.verdict(results.values()))
        self.put("curve.svg", curve.draw(memory, counts, self.hours(), last))
        self.put("report.txt", "\n".join([*judge.table(results, self.turns), last, ""]))
        self.next_report = time.monotonic() + WRITE
        return results

    def put(self, name, text):
        with open(self.path(name + ".new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(self.path(name + ".new"), self.path(name))

    def last_line(self, verdict):
        return "soak: %.2f hours, %d rounds, %d turns, %d samples: %s" \
            % (self.hours(), self.round, sum(self.turns.values()), self.count, verdict)

    # ---- the run ----

    def over(self):
        rounds = self.options.rounds
        return self.ended or (self.round >= rounds if rounds else self.hours() >= self.options.hours)

    def run(self):
        """Until the time is over or somebody ends it; the table, and what was wrong beside growth."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: setattr(self, "ended", True))
        ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
        wrong = []
        try:
            self.start()
            self.begin = self.next_sample = time.monotonic()
            self.next_report = self.begin + WRITE
            while not self.over():
                for kind in self.kinds:
                    if not self.ended:
                        self.turn(kind)
                self.sample()  # at least one in each round, when nothing is busy
                self.round += 1
                if time.monotonic() >= self.next_report:
                    self.report()
        except (Failed, OSError) as problem:
            wrong.append(str(problem))
        results = self.report()
        wrong += self.stop()
        return results, wrong

    def stop(self):
        """Ends all processes; what stayed behind."""
        for name, (_, link, _) in self.links.items():
            if link is not None:
                try:
                    link.send(None)
                except OSError:
                    pass
        wrong, limit = [], time.monotonic() + 60
        for child in self.started:
            try:
                code = child.wait(max(0.1, limit - time.monotonic()))
                if code != 0:
                    wrong.append("a process ended with status %d; see %s" % (code, self.path("log.txt")))
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                wrong.append("a process did not end by itself")
        left = samples.of_job(os.getpid(), self.temporary, self.folder + "/none", self.ended_pids, self.shared)
        wrong += ["%s left at the end: %d" % (measure, left[measure]) for measure in ("files", "shared", "zombies", "processes")
                  if left[measure]]
        self.file.close()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=0, help="end after so many short rounds instead")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="a build folder, or a copy of its bin and python")
    parser.add_argument("--python", default=os.path.join(ROOT, ".venv", "bin", "python"))
    parser.add_argument("--out", default=os.path.join(ROOT, "build-soak"))
    parser.add_argument("--every", type=float, default=5.0, help="seconds between samples")
    parser.add_argument("only", nargs="*", choices=[[], *KINDS], metavar="ONLY", help=", ".join(KINDS))
    options = parser.parse_args()
    for name in ("build", "python", "out"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    soak = Soak(options)
    results, wrong = soak.run()
    verdict = "failed" if wrong else judge.verdict(results.values())
    lines = [*judge.table(results, soak.turns), *wrong, soak.last_line(verdict)]
    soak.put("report.txt", "\n".join([*lines, ""]))
    print("\n".join(lines))
    sys.exit(0 if verdict == "flat" else 1)


if __name__ == "__main__":
    main()
