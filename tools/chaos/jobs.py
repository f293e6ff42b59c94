"""One start of a program, alone or as several workers, and what is seen of it from outside."""
import ctypes
import json
import os
import shlex
import signal
import socket
import subprocess
import time

import proxy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CRASHES = {128 + number for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP)}
ORPHANS_S = 20    # that the others of a job may take to end after the launcher


class Machine:
    """What there is to work with, found out once; `missing` says what is not there."""

    def __init__(self, build):
        self.build, self.missing = os.path.abspath(build), []
        self.leat = os.path.join(self.build, "bin", "leat")
        self.preload = self.have(os.path.join(self.build, "tests", "faults_preload.so"), "kills, full disks and jumps of the clock at counted calls")
        self.python = self.have(os.path.join(ROOT, ".venv", "bin", "python"), "programs in Python")
        self.package = os.path.join(self.build, "python")
        self.have(os.path.join(self.package, "leat", "_native.abi3.so"), "the package")
        self.private = self.enter_private()
        if not self.private:
            self.missing.append("full disks of tmpfs, and a /dev/shm of its own (wants root)")
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)    # PR_SET_CHILD_SUBREAPER: orphans become our children

    def have(self, path, what):
        if os.path.exists(path):
            return path
        self.missing.append(what)
        return None

    def enter_private(self):
        """Mounts of its own, so that nobody else's shared memory is looked at and nothing stays mounted."""
        c, recursive_private = ctypes.CDLL(None), 0x4000 | 0x40000
        return c.unshare(0x20000) == 0 and c.mount(b"none", b"/", None, recursive_private, None) == 0 and mount("/dev/shm", 256)

    def environment(self):
        found = {name: value for name, value in os.environ.items() if not name.startswith(("LEAT_", "CHAOS_", "TF_CONFIG"))}
        return {**found, "PYTHONPATH": self.package, "PYTHONDONTWRITEBYTECODE": "1"}


def mount(folder, mebibytes, options=""):
    text = ("size=%dm%s" % (mebibytes, options)).encode()
    return ctypes.CDLL(None).mount(b"none", folder.encode(), b"tmpfs", 0, text) == 0


def resize(folder, size):
    """Leaves a tmpfs `size` bytes in all."""
    return ctypes.CDLL(None).mount(b"none", folder.encode(), None, 0x20, ("size=%d" % size).encode()) == 0


def unmount(folder):
    ctypes.CDLL(None).umount2(folder.encode(), 2)


def children(number):
    """All living descendants of a process."""
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % number):
            with open("/proc/%d/task/%s/children" % (number, task), encoding="ascii") as file:
                found += [int(one) for one in file.read().split()]
    except OSError:
        return []
    return found + [deeper for one in found for deeper in children(one)]


def is_stopped(number):
    try:
        with open("/proc/%d/stat" % number, encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


class Settings:
    """How a job is started: `variables` and `limits` (words of ulimit) for worker `rank`, or for all; through a proxy or by leat launch."""

    def __init__(self, rank=None, variables=(), limits="", proxied=False):
        self.rank, self.variables, self.limits, self.proxied = rank, dict(variables), limits, proxied

    def wrap(self, argv):
        """`argv` behind a shell that sets what is for its worker."""
        does = "".join("export %s=%s; " % (name, shlex.quote(value)) for name, value in self.variables.items())
        does += "".join("ulimit %s; " % limit for limit in self.limits.split(",") if limit)
        pattern = "*" if self.rank is None else "*'\"index\": %d}'*" % self.rank
        return ["sh", "-c", 'case "$TF_CONFIG" in %s) %s:;; esac; exec "$@"' % (pattern, does), "sh", *argv]


class Job:
    """`argv` running as so many workers. `status` is the worst at the end, 128 and the signal for a process that was killed."""

    def __init__(self, machine, argv, workers, settings, folder, environment):
        self.machine, self.folder, self.workers = machine, folder, workers
        self.data, self.began = b"", time.monotonic()
        self.proxy, self.late = None, False
        argv = settings.wrap(argv)
        self.reading, out = os.pipe()    # a file would be under the job's own limit of files
        os.set_blocking(self.reading, False)

        def start(command, **more):
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT,
                                    env={**machine.environment(), **environment, **more}, start_new_session=True)
        if workers == 1:
            self.processes = [start(argv)]
        elif settings.proxied:
            self.processes = [start(argv, TF_CONFIG=config) for config in self.configurations()]
        else:
            self.processes = [start([machine.leat, "launch", "-n", str(workers), "--", *argv])]
        os.close(out)

    def configurations(self):
        """TF_CONFIG of each worker; the first one's address leads all others to the proxy."""
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(self.workers)]
        ports = [one.getsockname()[1] for one in sockets]
        self.proxy = proxy.Proxy(("127.0.0.1", ports[0]))
        for one in sockets:
            one.close()
        self.proxy.start()
        for rank in range(self.workers):
            found = ["127.0.0.1:%d" % port for port in (self.proxy.port if rank else ports[0], *ports[1:])]
            yield json.dumps({"cluster": {"worker": found}, "task": {"type": "worker", "index": rank}})

    def text(self):
        """What all processes have said so far."""
        try:
            while self.reading is not None and (more := os.read(self.reading, 1 << 16)):
                self.data += more
        except BlockingIOError:
            pass
        return self.data.decode(errors="replace")

    def elapsed(self):
        return time.monotonic() - self.began

    def running(self):
        return [one.pid for one in self.processes if one.poll() is None]

    def all_numbers(self):
        """The processes of the job, those that a launcher started too, and no shell's."""
        return [number for one in self.running() for number in (one, *children(one))]

    def send(self, number, which):
        """A signal to one worker, to "launcher" or to "all"."""
        running = self.running()
        if which == "all":
            chosen = self.all_numbers()
        elif which == "launcher" or self.workers == 1:
            chosen = running[:1]
        else:
            chosen = [one for parent in running[:1] for one in children(parent)][which:which + 1]
        for one in chosen:
            try:
                os.kill(one, number)
            except ProcessLookupError:
                pass
        return bool(chosen)

    def wait(self, seconds, watch):
        """Until all have ended; `late` where that takes longer than so many seconds, and they are killed."""
        while self.running() and not self.late:
            watch(self)
            self.text()
            time.sleep(0.003)
            self.late = self.elapsed() > seconds
        self.seconds = self.elapsed()
        return self.end()

    def end(self):
        """Ends what is left; returns how many processes a job that had ended left behind."""
        left = children(os.getpid())
        until = time.monotonic() + (0 if self.late else ORPHANS_S)
        while left and time.monotonic() < until:
            self.reap()
            self.text()
            left = children(os.getpid())
            time.sleep(0.01 if left else 0)
        for number in left:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for one in self.processes:
            one.wait()
        while children(os.getpid()):
            self.reap()
        if self.proxy:
            self.proxy.close()
        self.text()
        os.close(self.reading)
        self.reading = None
        self.statuses = [code if code >= 0 else 128 - code for code in (one.returncode for one in self.processes)]
        self.status = max(self.statuses)
        return 0 if self.late else len(left)

    def reap(self):
        """Takes the statuses of orphans, which are ours now; those of our own are Popen's."""
        own = {one.pid for one in self.processes}
        for one in self.processes:
            one.poll()
        for number in children(os.getpid()):
            if number not in own:
                try:
                    os.waitpid(number, os.WNOHANG)
                except ChildProcessError:
                    pass
