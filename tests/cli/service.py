"""What the tests of the data service share: its processes, a client in C, and certificates.

Nothing is timed: a process is waited for by what it prints or how it ends, for a minute at most.
"""
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time

from tool import BUILD, LEAT, ROOT, ToolTest, setting

LONG = 120  # what a test waits for at most, in seconds
TOKEN = "0123456789abcdef-of-the-tests"


def until(condition, what):
    end = time.monotonic() + LONG
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it took too long until " + what)
        time.sleep(0.02)


class Process:
    """A process of the tool; what it prints is read line by line."""

    def __init__(self, arguments, env=None, before=(), **more):
        self.process = subprocess.Popen([*before, LEAT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(env or {})}, **more)
        self.said, self.lines, self.failed = [], queue.Queue(), []
        self.threads = [threading.Thread(target=self.read_lines), threading.Thread(target=self.read_errors)]
        for thread in self.threads:
            thread.start()

    def read_lines(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def read_errors(self):
        for line in self.process.stderr:
            self.failed.append(line)

    @property
    def pid(self):
        return self.process.pid

    def line(self, pattern):
        """The next line that the pattern is found in: the match."""
        while True:
            try:
                line = self.lines.get(timeout=LONG)
            except queue.Empty:
                line = None
            if line is None:
                self.kill()
                raise AssertionError("no line with %s; it said %s%s" % (pattern, "".join(self.said), "".join(self.failed)))
            self.said.append(line)
            found = re.search(pattern, line)
            if found:
                return found

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        """Waits for its end: status, and what it printed on standard error."""
        self.process.wait(timeout=LONG)
        for thread in self.threads:
            thread.join()
        while not self.lines.empty():
            self.said.append(self.lines.get() or "")
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.returncode, "".join(self.failed)

    def kill(self):
        if self.process.returncode is None:
            self.process.kill()
        if not self.process.stdout.closed:
            self.end()


class Reader:
    """tests/cli/service_reader.c, which has stopped after `pause` elements; `state` may be a file from which it goes on."""

    def __init__(self, program, service, count=200000, visitation=0, pause=100, env=None, state=()):
        self.process = subprocess.Popen([program, service, str(count), str(visitation), str(pause), *state], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, "LD_LIBRARY_PATH": BUILD, **(env or {})})

    def paused(self):
        line = self.process.stdout.readline()
        if line != "paused\n":
            raise AssertionError("the reader has not come so far: " + line + self.process.communicate()[1])
        return self

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        if not self.process.stdout.closed:
            self.process.communicate()

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def rest(self):
        """Reads on to the end: what came, and what it said of a failure."""
        out, err = self.process.communicate("\n", timeout=LONG)
        return json.loads(out.splitlines()[-1]), err


class ServiceTest(ToolTest):
    """A test that starts processes, which end with it."""

    @classmethod
    def setUpClass(cls):
        """Compiles the client, as a user would."""
        folder = os.path.join(BUILD, "tests", "cli")
        os.makedirs(folder, exist_ok=True)
        cls.reader_program = os.path.join(folder, "service_reader-%d" % os.getpid())
        flags = {"address": ["-fsanitize=address,undefined"], "thread": ["-fsanitize=thread"]}
        subprocess.run([setting("CMAKE_C_COMPILER") or "cc", "-std=c11", "-Wall", "-Wextra", "-Werror",
                        *flags.get(setting("LEAT_SANITIZE"), []), "-I" + os.path.join(ROOT, "include"),
                        os.path.join(ROOT, "tests", "cli", "service_reader.c"), "-L" + BUILD, "-lleat", "-o", cls.reader_program],
                       check=True)

    @classmethod
    def tearDownClass(cls):
        os.remove(cls.reader_program)

    def start(self, *arguments, **more):
        process = Process(arguments, **more)
        self.addCleanup(process.kill)
        return process

    def dispatcher(self, *options, **more):
        """A dispatcher that serves; `address` is where."""
        process = self.start("service", "dispatcher", *options, **more)
        process.address = "localhost:" + process.line(r"^dispatcher at grpc://localhost:(\d+)$")[1]
        return process

    def worker(self, address, *options, **more):
        """A worker that serves; `address` is its own."""
        process = self.start("service", "worker", "--dispatcher", address, *options, **more)
        process.address = process.line(r"^worker at (\S+) of the dispatcher")[1]
        return process

    def service(self, workers=2, options=()):
        """A dispatcher and workers."""
        dispatcher = self.dispatcher(*options)
        return dispatcher, [self.worker(dispatcher.address) for _ in range(workers)]

    def reader(self, service, **more):
        reader = Reader(self.reader_program, service, **more)
        self.addCleanup(reader.kill)
        return reader

    def state(self, address, *options):
        return json.loads(self.leat("service", "status", "--dispatcher", address, "--json", *options).stdout)

    def workers_of(self, address):
        """State by address; of several at one address the last."""
        return {worker["address"]: worker["state"] for worker in self.state(address)["workers"]}

    def assert_ends(self, process, code, keyword=None):
        status, said = process.end()
        self.assertEqual(status, code, said)
        if keyword is None:
            self.assertEqual(said, "")
        else:
            self.assert_named(keyword, said)
        return said

    def assert_whole(self, result):
        """All elements came, each once."""
        read, said = result
        self.assertEqual((read["doubled"], read["missing"], read["code"]), (0, 0, "OUT_OF_RANGE"), said)

    def certificates(self):
        """A CA, and a certificate of localhost by it: paths by name."""
        def openssl(*words):
            subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=self.folder)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=leat tests", "-keyout", "ca.key", "-out", "ca.pem")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
                "-keyout", "own.key", "-out", "own.csr")
        self.write("names", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\n")
        openssl("x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", "names", "-out", "own.pem")
        return {name: os.path.join(self.folder, file) for name, file in
                (("ca", "ca.pem"), ("cert", "own.pem"), ("key", "own.key"))}


__all__ = ["LEAT", "LONG", "Process", "Reader", "ServiceTest", "TOKEN", "json", "os", "re", "signal", "subprocess", "sys", "until"]
