#!/usr/bin/env python3
"""leat launch: what processes are told, what comes out, and how a job ends."""
import json
import os
import resource
import signal
import subprocess
import sys
import time
import unittest

from tool import DIGITS, LEAT, ToolTest

SHOW = "import json, os; c = json.loads(os.environ['TF_CONFIG']); print(c['task']['index'], len(c['cluster']['worker']))"


def alive(pid):
    """Does the process run? One that has ended and was not waited for does not."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class LaunchTest(ToolTest):
    def launch(self, *arguments):
        return subprocess.run([LEAT, "launch", *arguments], capture_output=True, text=True, timeout=120)

    def test_numbers(self):
        done = self.launch("-n", "3", "--", sys.executable, "-c", SHOW)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.splitlines()), ["[worker %d] %d 3" % (i, i) for i in range(3)])

    def test_arguments(self):
        for between in ([], ["--"]):
            done = self.launch("-n", "1", *between, "echo", "a", "b")
            self.assertEqual((done.stdout, done.stderr), ("[worker 0] a b\n", ""))

    def test_addresses(self):
        done = self.launch("--plain", "-n", "4", "--", sys.executable, "-c", "import os; print(os.environ['TF_CONFIG'])")
        configs = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sorted(c["task"]["index"] for c in configs), [0, 1, 2, 3])
        self.assertEqual({c["task"]["type"] for c in configs}, {"worker"})
        addresses = configs[0]["cluster"]["worker"]
        self.assertTrue(all(c["cluster"] == {"worker": addresses} for c in configs))
        self.assertEqual(len(set(addresses)), 4)
        self.assertTrue(all(a.startswith("localhost:") and 0 < int(a[10:]) < 65536 for a in addresses))

    def test_secret(self):
        """All processes of a job have one secret, another one in each job, whatever the environment had."""
        program = [sys.executable, "-c", "import os; print(os.environ['LEAT_JOB_SECRET'])"]
        os.environ["LEAT_JOB_SECRET"] = "one that a shell has left"
        self.addCleanup(os.environ.pop, "LEAT_JOB_SECRET")
        secrets = [self.launch("--plain", "-n", "3", "--", *program).stdout.splitlines() for _ in range(2)]
        self.assertEqual([len(set(job)) for job in secrets], [1, 1])
        self.assertEqual({len(job[0]) for job in secrets}, {64})
        self.assertEqual(len({job[0] for job in secrets}), 2)

    def test_tls(self):
        """The variables of TLS are passed on as they are: half of them is a mistake that every worker names."""
        os.environ["LEAT_TLS_CERT"] = "worker.pem"
        self.addCleanup(os.environ.pop, "LEAT_TLS_CERT")
        done = self.launch("-n", "2", "--", LEAT, "train", DIGITS, "-e", "1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("LEAT_TLS_CERT", done.stderr)

    def test_streams(self):
        program = "import sys; sys.stdout.write('a\\nb'); sys.stderr.write('c\\n'); " \
                  "print(repr(sys.stdin.read()), end='')"
        done = self.launch("-n", "1", "--", sys.executable, "-c", program)
        self.assertEqual((done.stdout, done.stderr), ("[worker 0] a\n[worker 0] b''\n", "[worker 0] c\n"))

    def test_long_lines(self):
        done = self.launch("--plain", "-n", "1", "--", sys.executable, "-c", "print('x' * 200000)")
        self.assertEqual(done.stdout.replace("\n", ""), "x" * 200000)

    def test_failure(self):
        program = "import os, time, json; i = json.loads(os.environ['TF_CONFIG'])['task']['index']; " \
                  "os._exit(7) if i == 1 else time.sleep(600)"
        done = self.launch("-n", "3", "--", sys.executable, "-c", program)
        self.assertEqual(done.returncode, 7)
        self.assert_named("7", done.stderr)

    def test_signal(self):
        done = self.launch("-n", "1", "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
        self.assertEqual(done.returncode, 137)
        self.assert_named("9", done.stderr)

    def test_deaf(self):
        """Who ignores SIGTERM is killed when the grace is over."""
        program = "import os, signal, time, json; i = json.loads(os.environ['TF_CONFIG'])['task']['index']\n" \
                  "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" \
                  "print('ready', flush=True)\n" \
                  "os._exit(3) if i == 0 else time.sleep(600)"
        done = self.launch("-n", "2", "--grace", "0.2", "--", sys.executable, "-c", program)
        self.assertEqual(done.returncode, 3)

    def test_no_program(self):
        done = self.launch("-n", "1", "--", "/nowhere/program")
        self.assertEqual(done.returncode, 127)
        self.assert_named("/nowhere/program", done.stderr)
        self.fail_with(2, "PROGRAM", "launch")
        self.fail_with(2, "--service", "launch", "--service-restarts", "1", "--", "true")
        self.fail_with(2, "512", "launch", "-n", "0", "--", "true")

    def test_no_descriptors(self):
        """Where the second cannot be started, the first is ended."""
        for limit, keyword in ((4, "port"), (9, "started")):
            done = subprocess.run([LEAT, "launch", "-n2", "--", "sleep", "600"], capture_output=True, text=True, timeout=120,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assert_named(keyword, done.stderr)

    def start(self, program):
        """A job of two that waits; its Popen and the pids that it printed."""
        job = subprocess.Popen([LEAT, "launch", "--plain", "--", sys.executable, "-c", program], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        return job, [int(job.stdout.readline()) for _ in range(2)]

    def test_interrupt(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130)):
            job, pids = self.start("import os, time; print(os.getpid(), flush=True); time.sleep(600)")
            job.send_signal(number)
            job.communicate(timeout=60)
            self.assertEqual(job.returncode, code)
            self.assertFalse(any(alive(pid) for pid in pids))

    def test_asked_twice(self):
        """Who does not end when asked is killed when asked again."""
        program = "import os, signal, time; [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGTERM)]; " \
                  "print(os.getpid(), flush=True); time.sleep(600)"
        job = subprocess.Popen([LEAT, "launch", "--plain", "--grace", "3600", "--", sys.executable, "-c", program],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2):
            job.stdout.readline()
        job.send_signal(signal.SIGINT)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.communicate(timeout=60), ("", ""))
        self.assertEqual(job.returncode, 130)

    def test_killed(self):
        job, pids = self.start("import os, time; print(os.getpid(), flush=True); time.sleep(600)")
        job.kill()
        job.communicate(timeout=60)
        until(lambda: not any(alive(pid) for pid in pids))

    def test_what_processes_started(self):
        program = "import os, subprocess, sys; c = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); " \
                  "print(c.pid, flush=True)"
        job, pids = self.start(program)
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0)
        until(lambda: not any(alive(pid) for pid in pids))


if __name__ == "__main__":
    unittest.main()
