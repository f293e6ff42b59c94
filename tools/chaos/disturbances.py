"""What is done to programs while they run. Each draws its numbers when it is made, so that a trial's seed says all of it.

A disturbance has `settings`, with which the job is started; `watch`, called again and again while it runs; `came`, whether it took
place before the job ended; `allowed`, the statuses besides 0 with which a job may then end, and `says`, what it must say in that
case (a pattern of lower case). `suits` says for which scenarios and machines it is.
"""
import shutil
import signal

import jobs

FAILED = {1}
ENDED = {128 + signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGINT}    # the last by leat launch, whatever it was told by


def preloaded(machine, folder, **numbers):
    """What tests/faults/calls.h is told: faults at counted calls for files below `folder`."""
    return {"LD_PRELOAD": machine.preload, "LEAT_FAULTS_FOLDER": folder,
            **{"LEAT_FAULTS_" + name: str(number) for name, number in numbers.items()}}


class Moment:
    """When: at a counted call that changes files, at a counted element or step, or after a share of the usual time."""

    def __init__(self, rng, scenario, usual, machine):
        share = rng.random()
        kinds = ["time"]
        if machine.preload and usual.calls:
            kinds += ["call"] * 4
        if usual.ticks:
            kinds += ["tick"] * 2
        self.kind, self.done = rng.choice(kinds), False
        self.at = {"call": 1 + int(share * usual.calls), "tick": 1 + int(share * usual.ticks), "time": share * usual.seconds}[self.kind]

    def __str__(self):
        return "after %.2f s" % self.at if self.kind == "time" else "at %s %d" % (self.kind, self.at)

    def variables(self, machine, folder, number):
        """What makes the program give itself the signal; nothing where the time decides."""
        if self.kind == "call":
            return preloaded(machine, folder, KILL_AT=self.at, SIGNAL=int(number))
        return {"CHAOS_TICK": "%d:%d" % (self.at, number)} if self.kind == "tick" else {}

    def is_reached(self, job):
        reached = self.kind == "time" and not self.done and job.elapsed() >= self.at
        self.done = self.done or reached
        return reached


class Disturbance:
    settings, allowed, says = jobs.Settings(), set(), ""

    def __init__(self, rng, scenario, usual, machine, folder):
        self.moment, self.done = Moment(rng, scenario, usual, machine), False
        self.rank = rng.randrange(scenario.workers) if scenario.workers > 1 else None
        if self.rank is not None and self.moment.kind == "call":
            self.rank = 0    # who writes the files
        self.draw(rng, scenario, usual, machine, folder)

    def draw(self, rng, scenario, usual, machine, folder):
        raise NotImplementedError

    @classmethod
    def suits(cls, scenario, machine):
        return True

    def watch(self, job):
        pass

    def came(self, job):
        return job.status != 0

    def after(self, folder):
        """Takes back what outlives the job."""

    def __str__(self):
        return "%s%s %s" % (type(self).__name__.lower(), " worker %d" % self.rank if self.rank else "", self.moment)


class Kill(Disturbance):
    """SIGKILL to the program, one of the workers, all of a job, or the launcher alone."""
    number = signal.SIGKILL

    def draw(self, rng, scenario, usual, machine, folder):
        self.which = rng.choice([self.rank, self.rank, "all", "launcher"]) if scenario.workers > 1 else 0
        if isinstance(self.which, str) and self.moment.kind != "time":
            self.which = self.rank
        self.settings = jobs.Settings(self.rank, self.moment.variables(machine, folder, self.number))
        self.allowed = ENDED | (FAILED if scenario.workers > 1 else set())

    def watch(self, job):
        if self.moment.is_reached(job):
            job.send(self.number, self.which)

    def __str__(self):
        return "%s%s" % (super().__str__(), " (%s)" % self.which if isinstance(self.which, str) else "")


class Terminate(Kill):
    """SIGTERM, which programs may answer by saving, and end with a status of their own."""
    number = signal.SIGTERM

    def draw(self, rng, scenario, usual, machine, folder):
        super().draw(rng, scenario, usual, machine, folder)
        self.allowed |= {42}


class Hurry(Disturbance):
    """SIGTERM to all, and SIGKILL a moment later, when they may be saving."""

    def draw(self, rng, scenario, usual, machine, folder):
        self.moment.kind, self.moment.at = "time", rng.random() * usual.seconds
        self.grace, self.told = rng.choice([0.002, 0.005, 0.02, 0.1]) * (1 + rng.random()), None
        self.allowed = ENDED | {42} | (FAILED if scenario.workers > 1 else set())

    def watch(self, job):
        if self.moment.is_reached(job):
            job.send(signal.SIGTERM, "all")
            self.told = job.elapsed()
        if self.told is not None and job.elapsed() >= self.told + self.grace:
            job.send(signal.SIGKILL, "all")


class Stop(Disturbance):
    """SIGSTOP, and SIGCONT after a while; a worker that stays away longer than the others wait for is given up."""

    def draw(self, rng, scenario, usual, machine, folder):
        self.long = scenario.workers > 1 and rng.random() < 0.15
        self.seconds = 14 if self.long else 0.05 + rng.random()
        self.settings = jobs.Settings(self.rank, self.moment.variables(machine, folder, signal.SIGSTOP))
        self.allowed = FAILED | ENDED if self.long else set()
        self.stopped = None

    def watch(self, job):
        if self.moment.is_reached(job):
            job.send(signal.SIGSTOP, self.rank)
        if self.stopped is None and any(map(jobs.is_stopped, job.all_numbers())):
            self.stopped, self.done = job.elapsed(), True
        if self.stopped is not None and job.elapsed() >= self.stopped + self.seconds:
            job.send(signal.SIGCONT, "all")
            self.stopped = None

    def came(self, job):
        return self.done


class Full(Disturbance):
    """From a counted call on, the disk has no room (ENOSPC)."""
    allowed, says = FAILED, "no space left|resourceexhausted"

    def draw(self, rng, scenario, usual, machine, folder):
        self.moment.kind, self.moment.at = "call", 1 + rng.randrange(max(1, usual.calls))
        self.settings = jobs.Settings(None, preloaded(machine, folder, FULL_AT=self.moment.at))

    @classmethod
    def suits(cls, scenario, machine):
        return machine.preload


class Disk(Disturbance):
    """A disk of its own with room for some more pages."""
    allowed, says = FAILED, "no space left|resourceexhausted|bus error"

    def draw(self, rng, scenario, usual, machine, folder):
        self.pages = rng.choice([0, 1, 2, 3, 5, 8, 13, 21])
        usage = shutil.disk_usage(folder)
        jobs.resize(folder, usage.used + self.pages * 4096)

    @classmethod
    def suits(cls, scenario, machine):
        return machine.private

    def after(self, folder):
        jobs.resize(folder, 64 << 20)

    def __str__(self):
        return "disk with %d pages" % self.pages


class FileSize(Disturbance):
    """A limit on the size of files."""
    allowed, says = FAILED, "file too large|outofrange|out of range"

    def draw(self, rng, scenario, usual, machine, folder):
        self.blocks = rng.choice([0, 1, 2, 4, 8, 32, 128])
        self.settings = jobs.Settings(None, {}, "-f %d" % self.blocks)    # of 512 bytes

    @classmethod
    def suits(cls, scenario, machine):
        return scenario.workers == 1 and scenario.names_sizes

    def __str__(self):
        return "files of %d bytes" % (512 * self.blocks)


class Memory(Disturbance):
    """A limit on addresses: so much more than a Python program has when it begins, or so much in all for the tool."""
    # The last two are ld.so's, and Python's own where it loads a module and has no memory for the exception.
    allowed, says = FAILED, ("memory|resourceexhausted|thread|allocat|failed to map segment|"
                             "error return without exception set")

    def draw(self, rng, scenario, usual, machine, folder):
        self.mebibytes = rng.choice([0, 1, 2, 4, 8, 16, 32, 64, 128])
        if scenario.program:
            self.settings = jobs.Settings(self.rank, {"CHAOS_LIMIT": "AS:%d" % (self.mebibytes << 20)})
        else:
            self.settings = jobs.Settings(self.rank, {}, "-v %d" % ((40 + 2 * self.mebibytes) << 10))
            self.allowed, self.says = self.allowed | {127}, self.says + "|shared libraries"    # it could not even be started
        if scenario.workers > 1:
            self.allowed = self.allowed | ENDED

    def __str__(self):
        return "memory of %d MiB%s" % (self.mebibytes, " of worker %d" % self.rank if self.rank else "")


class Descriptors(Disturbance):
    """A limit on open files: so many more than a Python program has when it begins, or so many in all for the tool."""
    allowed, says = FAILED, "open files|resourceexhausted|descriptor"

    def draw(self, rng, scenario, usual, machine, folder):
        self.most = rng.randrange(12)
        if scenario.program:
            self.settings = jobs.Settings(self.rank, {"CHAOS_LIMIT": "NOFILE:%d" % self.most})
        else:
            self.settings = jobs.Settings(self.rank, {}, "-n %d" % (4 + self.most))
        if scenario.workers > 1:
            self.allowed = self.allowed | ENDED

    def __str__(self):
        return "%d descriptors%s" % (self.most, " of worker %d" % self.rank if self.rank else "")


class Clock(Disturbance):
    """The time of day jumps, forwards or backwards, at a counted call."""

    def draw(self, rng, scenario, usual, machine, folder):
        self.jump = rng.choice([1, -1]) * rng.choice([2, 3600, 86400, 3650 * 86400])
        self.moment.kind, self.moment.at = "call", rng.randrange(1 + usual.calls)
        self.settings = jobs.Settings(self.rank, preloaded(machine, folder, JUMP=self.jump, JUMP_AT=self.moment.at))

    @classmethod
    def suits(cls, scenario, machine):
        return machine.preload

    def came(self, job):
        return True

    def __str__(self):
        return "clock by %+d s%s %s" % (self.jump, " of worker %d" % self.rank if self.rank else "", self.moment)


class Cut(Disturbance):
    """The connections between the workers and their meeting point are reset, after so many bytes since all had joined."""
    mode, allowed = "cut", FAILED | ENDED

    def draw(self, rng, scenario, usual, machine, folder):
        self.bytes = rng.choice([1, 100, 500, 1000, 2000, 4000])
        self.settings, self.armed = jobs.Settings(proxied=True), False

    @classmethod
    def suits(cls, scenario, machine):
        return scenario.workers > 1

    def watch(self, job):
        if not self.armed and job.joined():
            job.proxy.arm(self.bytes, self.mode)
            self.armed = True

    def came(self, job):
        return job.proxy.came

    def __str__(self):
        return "%s after %d bytes" % (type(self).__name__.lower(), self.bytes)


class Stall(Cut):
    """Nothing passes for a while: shorter than the others wait, and the job goes on; longer, and it ends."""
    mode = "hold"

    def draw(self, rng, scenario, usual, machine, folder):
        super().draw(rng, scenario, usual, machine, folder)
        self.long = rng.random() < 0.3
        self.seconds, self.held = 60 if self.long else 0.2 + 3 * rng.random(), None
        self.allowed = Cut.allowed if self.long else set()

    def watch(self, job):
        super().watch(job)
        if job.proxy.came and self.held is None:
            self.held = job.elapsed()
        if self.held is not None and job.elapsed() >= self.held + self.seconds:
            job.proxy.mode = "pass"

    def __str__(self):
        return "%s of %.1f s" % (super().__str__(), self.seconds)


TABLE = (Kill, Kill, Terminate, Hurry, Stop, Full, Disk, FileSize, Memory, Descriptors, Clock, Cut, Stall)
