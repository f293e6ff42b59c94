"""The two processes, seen from outside: asked by lines of JSON, ended where they take too long, and started again."""
import json
import os
import re
import select
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
START_S = 180.0    # that importing a package may take on a busy machine
MOST_KIB = 3 << 20    # of memory, above which a process is begun anew


class Side:
    """A worker: `ask` answers like the worker, or {"hang": seconds} and {"crash": status} where it does not."""

    def __init__(self, package, python, path, limit):
        self.package, self.python, self.path, self.limit = package, python, path, limit
        self.process, self.said, self.folder, self.starts, self.buffer = None, None, None, 0, b""

    def start(self):
        self.said, self.folder = tempfile.TemporaryFile(), tempfile.TemporaryDirectory(prefix="leat-differ-")
        environment = {**os.environ, "PYTHONPATH": self.path, "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3",
                       "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": "", "LEAT_LOG": "error", "KERAS_BACKEND": "tensorflow"}
        environment.pop("TF_CONFIG", None)
        self.process = subprocess.Popen([self.python, "-B", os.path.join(HERE, "worker.py"), self.package], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.said, env=environment, cwd=self.folder.name)
        self.starts += 1
        self.buffer = b""
        if self.line(START_S) != "ready":
            raise SystemExit("differ: %s does not start by %s:\n%s" % (self.package, self.python, self.text()))

    def text(self):
        """The end of what the process has said of itself."""
        self.said.seek(0)
        return self.said.read()[-3000:].decode(errors="replace")

    def line(self, seconds):
        """The next line as data; a dictionary that says why where none comes."""
        until = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                self.end()
                return {"hang": seconds}
            more = os.read(self.process.stdout.fileno(), 1 << 20)
            if not more:
                status = self.process.wait()
                self.end()
                return {"crash": status, "text": self.text()}
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(text)

    def send(self, message):
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write((json.dumps(message) + "\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass    # the answer says that it crashed

    def ask(self, message, seconds=None):
        self.send(message)
        return self.line(seconds or self.limit)

    def run(self, program):
        return self.ask({"ask": "run", "program": program})

    def trim(self):
        """Ends a process that has grown; the next question starts another."""
        if self.process is not None and kibibytes(self.process.pid) > MOST_KIB:
            self.end()

    def end(self):
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.folder.cleanup()
        self.process = None


def kibibytes(number):
    """Resident memory of a process, 0 where it is not there."""
    try:
        with open("/proc/%d/status" % number, encoding="ascii") as file:
            found = re.search(r"VmRSS:\s*(\d+)", file.read())
    except OSError:
        return 0
    return int(found.group(1)) if found else 0
