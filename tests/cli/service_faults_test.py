#!/usr/bin/env python3
"""A data service whose processes are killed, drained, started again and kept short, with an account of every element."""
import resource
import shutil
import unittest

from service import LEAT, ServiceTest, TOKEN, os, re, signal, subprocess, sys, until

AT_MOST_ONCE, AT_LEAST_ONCE, EXACTLY_ONCE = range(3)
# A worker that was killed is lost after this, not after ten seconds.
SOON = ("--worker-timeout", "1")


class WorkersTest(ServiceTest):
    def test_drained(self):
        """A worker that gets SIGTERM in the middle of an epoch: nothing is lost, under any level."""
        for level in (AT_MOST_ONCE, AT_LEAST_ONCE, EXACTLY_ONCE):
            with self.subTest(level=level):
                dispatcher, workers = self.service()
                reader = self.reader(dispatcher.address, visitation=level).paused()
                workers[0].signal(signal.SIGTERM)
                read, said = reader.rest()
                self.assertEqual((read["missing"], read["code"]), (0, "OUT_OF_RANGE"), said)
                # What a client has not confirmed yet comes again under this level.
                if level != AT_LEAST_ONCE:
                    self.assertEqual(read["doubled"], 0)
                self.assert_ends(workers[0], 0)
                dispatcher.kill()

    def test_killed(self):
        """kill -9: at most once loses and doubles nothing twice, at least once loses nothing, exactly once is whole."""
        for level in (AT_MOST_ONCE, AT_LEAST_ONCE, EXACTLY_ONCE):
            with self.subTest(level=level):
                dispatcher, workers = self.service(options=SOON)
                reader = self.reader(dispatcher.address, visitation=level).paused()
                workers[0].signal(signal.SIGKILL)
                read, said = reader.rest()
                self.assertEqual(read["code"], "OUT_OF_RANGE", said)
                if level != AT_LEAST_ONCE:
                    self.assertEqual(read["doubled"], 0)
                if level != AT_MOST_ONCE:
                    self.assertEqual(read["missing"], 0)
                self.assertEqual(self.workers_of(dispatcher.address)[workers[0].address], "lost")
                dispatcher.kill()

    def test_the_last_one(self):
        """A job whose only worker was killed waits for the next one."""
        dispatcher, (worker,) = self.service(1, SOON)
        reader = self.reader(dispatcher.address, visitation=EXACTLY_ONCE).paused()
        worker.signal(signal.SIGKILL)
        until(lambda: self.workers_of(dispatcher.address)[worker.address] == "lost", "the worker is lost")
        self.worker(dispatcher.address)
        self.assert_whole(reader.rest())

    def test_rolling_upgrade(self):
        """Every worker is replaced in the middle of an epoch."""
        dispatcher, workers = self.service()
        reader = self.reader(dispatcher.address, visitation=EXACTLY_ONCE).paused()
        for worker in workers:
            self.worker(dispatcher.address)
            worker.signal(signal.SIGTERM)
            self.assert_ends(worker, 0)
        self.assert_whole(reader.rest())


class DispatcherTest(ServiceTest):
    def durable(self, *more, **others):
        return self.dispatcher("--work-dir", os.path.join(self.folder, "state"), "--fault-tolerant", *more, **others)

    def test_restarted(self):
        """kill -9 in the middle of an epoch, and the same folder again: the epoch is whole."""
        for level in (AT_MOST_ONCE, EXACTLY_ONCE):
            with self.subTest(level=level):
                dispatcher = self.durable()
                port = dispatcher.address.partition(":")[2]
                for _ in range(2):
                    self.worker(dispatcher.address)
                reader = self.reader(dispatcher.address, visitation=level).paused()
                dispatcher.kill()
                again = self.durable("--port", port)
                self.assert_whole(reader.rest())
                self.assertGreater(self.state(again.address)["incarnation"], 1)
                again.kill()
                shutil.rmtree(os.path.join(self.folder, "state"))

    def test_two_on_one_folder(self):
        """The second is refused, and the first goes on."""
        first = self.durable()
        folder = os.path.join(self.folder, "state")
        self.fail_with(1, folder, "service", "dispatcher", "--work-dir", folder, "--fault-tolerant")
        self.worker(first.address)
        self.assert_whole(self.reader(first.address, pause=0).rest())
        first.signal(signal.SIGTERM)
        self.assert_ends(first, 0)
        self.durable()

    def test_broken_folders(self):
        """A file for a folder, a folder that nobody may write, a database that is none."""
        file = self.write("file", "no folder")
        self.fail_with(1, file, "service", "dispatcher", "--work-dir", file, "--fault-tolerant")
        self.fail_with(1, "work_dir", "service", "dispatcher", "--fault-tolerant")
        dispatcher = self.durable()
        dispatcher.signal(signal.SIGTERM)
        self.assert_ends(dispatcher, 0)
        folder = os.path.join(self.folder, "state")
        databases = [name for name in os.listdir(folder) if os.path.getsize(os.path.join(folder, name)) > 1000]
        self.assertTrue(databases)
        for name in databases:
            with open(os.path.join(folder, name), "r+b") as damaged:
                damaged.write(b"no database at all" * 50)
        self.fail_with(1, folder, "service", "dispatcher", "--work-dir", folder, "--fault-tolerant")


class ShortTest(ServiceTest):
    """Little of everything: what works, works; what does not says so, and nobody hangs."""

    def test_one_core(self):
        core = str(min(os.sched_getaffinity(0)))
        dispatcher = self.dispatcher(before=("taskset", "-c", core))
        for _ in range(2):
            self.worker(dispatcher.address, before=("taskset", "-c", core))
        self.assert_whole(self.reader(dispatcher.address, pause=0).rest())

    def test_few_descriptors(self):
        def limited(count):
            return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

        dispatcher = self.dispatcher(preexec_fn=limited(64))
        self.worker(dispatcher.address, preexec_fn=limited(64))
        self.assert_whole(self.reader(dispatcher.address, pause=0).rest())

    def test_loopback_alone(self):
        """In a network that has nothing but the loopback."""
        inside = ("unshare", "--net", "--map-root-user", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
        if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
            self.skipTest("this user makes no networks")
        program = ('"$0" service dispatcher --port 7001 & "$0" service worker --dispatcher localhost:7001 & '
                   '"$0" service status --dispatcher localhost:7001 --ready --wait 100 && "$1" localhost:7001 1000 0 0; '
                   'code=$?; kill -9 %1 %2; exit $code')
        environment = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(os.path.dirname(LEAT))}
        done = subprocess.run([*inside, "bash", "-mc", program, LEAT, self.reader_program], capture_output=True, text=True, timeout=240,
                              env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"read": 1000, "doubled": 0, "missing": 0', done.stdout)


class LaunchTest(ServiceTest):
    """leat launch --service: a service beside a job."""

    SHOW = "import os; print(os.environ['LEAT_SERVICE_ADDRESS'], os.environ['LEAT_SERVICE_TOKEN'])"

    def launch(self, *arguments, **more):
        return self.start("launch", *arguments, **more)

    def test_address_and_token(self):
        tokens = set()
        for _ in range(2):
            job = self.launch("-n", "2", "--service", "1", "--", sys.executable, "-c", self.SHOW)
            lines = [job.line(r"^\[worker \d\] (127\.0\.0\.1:\d+) ([0-9a-f]{64})$") for _ in range(2)]
            self.assert_ends(job, 0)
            self.assertEqual(lines[0].groups(), lines[1].groups())
            tokens.add(lines[0][2])
            said = "".join(job.said)
            self.assertEqual(said.count(lines[0][2]), 1 + (lines[1].string in said and lines[0].string in said))
        self.assertEqual(len(tokens), 2)

    def test_reading(self):
        """The job's processes read from it; the service ends with them."""
        program = '"$0" service status --ready --workers 2 --wait 100 && exec "$1" "$LEAT_SERVICE_ADDRESS" 1000 0 0'
        environment = {"LD_LIBRARY_PATH": os.path.dirname(os.path.dirname(LEAT))}
        job = self.launch("-n", "1", "--service", "2", "--", "sh", "-c", program, LEAT, self.reader_program, env=environment)
        job.line(r'^\[worker 0\] \{"read": 1000, "doubled": 0, "missing": 0')
        self.assert_ends(job, 0)
        self.assertTrue({"[dispatcher]", "[service worker 0]", "[service worker 1]"} <=
                        {re.match(r"\[[^]]*\]", line)[0] for line in job.said if line.startswith("[")})

    def job_with(self, *options):
        """A job whose one process waits; its service's address and the job."""
        program = "import os; print(os.environ['LEAT_SERVICE_ADDRESS'], os.environ['LEAT_SERVICE_TOKEN'], flush=True); " \
                  "import time; time.sleep(600)"
        job = self.launch("-n", "1", *options, "--", sys.executable, "-c", program)
        found = job.line(r"^\[worker 0\] (\S+) (\S+)$")
        return job, found[1], {**os.environ, "LEAT_SERVICE_TOKEN": found[2]}

    def pids(self, job, kind):
        """The service's processes of a job, by their command lines."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % name) as stat, open("/proc/%s/cmdline" % name) as line:
                    if int(stat.read().rsplit(")", 1)[1].split()[1]) == job.pid and "\0service\0%s\0" % kind in line.read():
                        found.append(int(name))
            except (FileNotFoundError, ProcessLookupError):
                continue
        return found

    def wait_ready(self, address, environment, count):
        done = subprocess.run([LEAT, "service", "status", "--dispatcher", address, "--ready", "--workers", str(count), "--wait", "100"],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_worker_dies(self):
        """It is named; the job goes on with the other one."""
        job, address, environment = self.job_with("--service", "2")
        self.wait_ready(address, environment, 2)
        os.kill(self.pids(job, "worker")[0], signal.SIGKILL)
        until(lambda: any("signal 9" in line for line in job.failed), "the launcher says so")
        self.assertEqual(len(self.pids(job, "worker")), 1)
        job.signal(signal.SIGTERM)
        status, said = job.end()
        self.assertEqual(status, 130)
        self.assertRegex(said, r"service worker \d was ended by signal 9 .*go on")

    def test_worker_starts_again(self):
        job, address, environment = self.job_with("--service", "1", "--service-restarts", "1")
        self.wait_ready(address, environment, 1)
        first = self.pids(job, "worker")
        os.kill(first[0], signal.SIGKILL)
        until(lambda: self.pids(job, "worker") not in ([], first), "it is started again")
        self.wait_ready(address, environment, 1)
        os.kill(self.pids(job, "worker")[0], signal.SIGKILL)
        said = self.assert_ends(job, 137, "again")
        self.assertRegex(said, r"service worker 0 was ended by signal 9 .*ending the others")

    def test_dispatcher_dies(self):
        job, address, environment = self.job_with("--service", "1")
        self.wait_ready(address, environment, 1)
        os.kill(self.pids(job, "dispatcher")[0], signal.SIGKILL)
        said = self.assert_ends(job, 137, "dispatcher")
        self.assertIn("ending the others", said)
        self.assertNotIn(TOKEN, said)


if __name__ == "__main__":
    unittest.main()
