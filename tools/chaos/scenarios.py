"""What `make chaos` disturbs: a table of scenarios, one class each.

A scenario says how a job is started (`argv`, `workers`), what it needs (`prepare`) and how its accounts are closed: `result`, equal
to that of a start that nobody disturbs, and `losses`, what an end of a trial shows that must not be. The log of a Python program
(programs.py) is accounted for here, for all of them.
"""
import collections
import hashlib
import os
import re
import struct
import subprocess

import jobs

DIGITS = os.path.join(jobs.ROOT, "data", "digits")


def frames(path):
    """The records of a TFRecord file, with their frames; what is behind the last whole one is left out."""
    with open(path, "rb") as file:
        data = file.read()
    found, at = [], 0
    while at + 12 <= len(data):
        size = struct.unpack_from("<Q", data, at)[0] + 16
        if at + size > len(data):
            break
        found.append(data[at:at + size])
        at += size
    return found, len(data) - at


def checksum(folder):
    """Names and bytes of all files below a folder."""
    found = hashlib.sha256()
    for where, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            with open(os.path.join(where, name), "rb") as file:
                found.update(name.encode() + b"\0" + file.read())
    return found.hexdigest()[:16]


def names(folder):
    """How many files of each name are below a folder, whatever numbers and random parts are in the names."""
    found = collections.Counter()
    for where, _, files in os.walk(folder):
        for name in files:
            found[re.sub(r"[0-9a-f]{8,}|\d+", "#", os.path.relpath(os.path.join(where, name), folder))] += 1
    return found


class Scenario:
    """A Python program of programs.py in `variants` forms."""
    workers, variants, program = 1, 1, None
    names_sizes = True    # does it say so when a file may not grow?

    def __init__(self, name=None, workers=1):
        self.name, self.workers = name or self.program, workers

    def prepare(self, machine, inputs):
        """Makes what all trials read, once."""

    def can_run(self, machine):
        return machine.python and os.path.exists(os.path.join(machine.package, "leat"))

    def argv(self, machine, inputs, folder, variant):
        return [machine.python, "-B", os.path.join(jobs.ROOT, "tools", "chaos", "programs.py"), self.program, folder, str(variant)]

    def lines(self, folder, word):
        """What the log beside a trial's folder says behind a word, in order."""
        path = os.path.join(os.path.dirname(folder), "log")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [line.rstrip("\n").partition(" ")[2] for line in file if line.partition(" ")[0].strip() == word]

    def joined(self, job):
        """Whether all workers have met."""
        return len(self.lines(os.path.join(job.folder, "work"), "begin")) > self.lines_before

    def before(self, folder):
        self.lines_before = len(self.lines(folder, "begin"))

    def result(self, folder):
        found = self.lines(folder, "result")
        return found[-1] if found else None

    def losses(self, folder, expected, starts):
        """The account of the log: what was saved is there when the next start begins, and all results are one."""
        saved = 0
        path = os.path.join(os.path.dirname(folder), "log")
        with open(path, encoding="utf-8") as file:
            words = [line.split() for line in file]
        for word, *rest in words:
            if word == "saved":
                saved = int(rest[0])
            elif word == "over":
                saved = 0
            elif word == "begin" and int(rest[0]) < saved:
                yield "%d were saved, and the next start began behind %d" % (saved, int(rest[0]))
            elif word == "damaged":
                yield " ".join(rest)
        for line in {line for line in self.lines(folder, "result") if line != expected}:
            yield "the result is %.200s, not %.200s" % (line, expected)

    def left(self, folder, expected):
        """Files at the end that an undisturbed start does not leave."""
        return names(folder) - expected


class Pipeline(Scenario):
    program, variants = "pipeline", 6

    def prepare(self, machine, inputs):
        argv = [machine.python, "-B", os.path.join(jobs.ROOT, "tools", "chaos", "programs.py"), "inputs", os.path.join(inputs, "none"), "0"]
        subprocess.run(argv, check=True, env={**machine.environment(), "CHAOS_INPUTS": inputs})


class Service(Pipeline):
    """Dispatcher, workers and client in one process, which goes on with other workers. SQLite keeps to itself that a file may not grow."""
    program, variants, names_sizes = "service", 3, False


class Saved(Scenario):
    """Runs that were finished stay when another is saved over them, as TensorFlow's do."""
    program, variants = "saved", 3

    def left(self, folder, expected):
        folder = os.path.join(folder, "saved")
        runs = [run for run in os.listdir(folder) if os.path.isdir(os.path.join(folder, run))]
        whole = {name.replace("saved/#/", "") for name in expected if name.startswith("saved/#/")}
        unfinished = [run for run in runs if set(names(os.path.join(folder, run))) != whole]
        return unfinished + [name for name in os.listdir(folder) if name not in runs and "saved/" + name not in expected]


class Through(Scenario):
    """Complete readings, each of which is the same."""

    def losses(self, folder, expected, starts):
        yield from super().losses(folder, expected, starts)
        for line in {line for line in self.lines(folder, "elements") if line != expected}:
            yield "a reading gave %.200s" % line


class Snapshot(Through):
    program, variants = "snapshot", 3


class Cache(Through):
    program = "cache"


class Write(Scenario):
    program = "write"


class Manager(Scenario):
    program, variants = "manager", 3


class Preempted(Scenario):
    program = "preempted"

    def left(self, folder, expected):
        """The handler's checkpoint stays where it was told to end: one at most."""
        found = names(folder)
        return found if sum(found.values()) > 3 else {}


class Backup(Scenario):
    program, variants = "backup", 2


class ModelCheckpoint(Scenario):
    program, variants = "model_checkpoint", 3


class Workers(Scenario):
    program, variants = "workers", 2

    def left(self, folder, expected):
        return super().left(folder, expected) if expected else Preempted.left(self, folder, expected)


class Events(Scenario):
    """Every start writes a file of its own; the end of one that was killed may be missing, what flush returned for may not."""
    program = "events"

    def losses(self, folder, expected, starts):
        yield from super().losses(folder, expected, starts)
        steps = collections.Counter()
        for name in os.listdir(folder):
            for frame in frames(os.path.join(folder, name))[0]:
                at = re.match(rb"\x09.{8}(?:\x10(.))?", frame[12:-4], re.S)
                if b"loss" in frame and at:
                    steps[at[1][0] if at[1] else 0] += 1
        missing = [step for step in range(20) if not steps[step]]
        if missing:
            yield "steps %s are in no event file" % missing

    def left(self, folder, expected):
        return {name: count for name, count in names(folder).items() if "tfevents" not in name}


class Convert(Scenario):
    def can_run(self, machine):
        return os.path.exists(machine.leat)

    def argv(self, machine, inputs, folder, variant):
        return [machine.leat, "convert", os.path.join(DIGITS, "sample"), os.path.join(folder, "out"), "-n", "3", "--index", "-f", "--shuffle"]

    def result(self, folder):
        return checksum(folder)

    def losses(self, folder, expected, starts):
        if self.result(folder) != expected:
            yield "the files are other ones"


class Train(Convert):
    """leat train, alone and as a job."""

    def prepare(self, machine, inputs):
        for part, rows in (("train", 160), ("test", 40)):
            found, _ = frames(os.path.join(DIGITS, "digits-%s.tfrecord" % part))
            with open(os.path.join(inputs, "few-%s.tfrecord" % part), "wb") as out:
                out.write(b"".join(found[:rows]))

    def argv(self, machine, inputs, folder, variant):
        strategy = ["--strategy", "multi_worker_mirrored"] if self.workers > 1 else []
        files = [os.path.join(inputs, "few-%s.tfrecord" % part) for part in ("train", "test")]
        return [machine.leat, "train", *files, "-e", "6", "-r", "1", "--out", os.path.join(folder, "net"), "--resume", *strategy]

    def joined(self, job):
        return "processes" in job.text()

    def before(self, folder):
        pass

    def losses(self, folder, expected, starts):
        yield from super().losses(folder, expected, starts)
        done = 0
        for text in starts:
            begun = max([int(one) for one in re.findall(r"(\d+) epochs are done", text)] or [0])
            ended = len(re.findall(r"epoch +\d+/\d+: ", text))
            if begun < done and "loss" in text:
                yield "%d epochs were done, and the next start began behind %d" % (done, begun)
            done = max(done, begun + ended - 1)


TABLE = (Pipeline(), Service(), Write(), Train("train"), Manager(), Saved(), Backup(), Train("train2", 2), Preempted(), Snapshot(), ModelCheckpoint(),
         Workers("workers2", 2), Cache(), Convert("convert"), Events(), Train("train3", 3), Workers("workers3", 3))
