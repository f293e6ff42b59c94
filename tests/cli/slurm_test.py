#!/usr/bin/env python3
"""deploy/slurm/leat-service.sbatch under a Slurm that runs the steps of a job on this machine.

The stand-ins of srun and scontrol know the options that the script uses, and refuse others."""
import shutil
import socket
import unittest

from service import LEAT, ServiceTest, os, signal, subprocess

SCRIPT = os.path.join("deploy", "slurm", "leat-service.sbatch")

SRUN = r'''#!/usr/bin/env python3
"""srun: starts --ntasks processes, hands signals on, and ends with the status of the first that failed."""
import os, signal, subprocess, sys
known = {"--overlap", "--nodes", "--ntasks", "--ntasks-per-node", "--nodelist", "--job-name", "--kill-on-bad-exit", "--wait", "--het-group"}
words, options = sys.argv[1:], {}
while words and words[0].startswith("--"):
    name, _, value = words.pop(0).partition("=")
    if name not in known:
        sys.exit("srun: unrecognized option '%s'" % name)
    options[name] = value
with open(os.environ["STEPS"], "a") as file:
    file.write("%s %s\n" % (options.get("--job-name", "?"), " ".join("%s=%s" % item for item in sorted(options.items()))))
tasks = int(options.get("--ntasks", os.environ["SLURM_NTASKS"]))
running, asked = [], []
def hand_on(number, frame):
    asked.append(number)
    for one in running:
        one.send_signal(number)
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, hand_on)
for i in range(tasks):
    running.append(subprocess.Popen(words, env={**os.environ, "SLURM_PROCID": str(i)}))
    for number in asked:
        running[-1].send_signal(number)
sys.exit(next((code for code in [one.wait() for one in running] if code), 0))
'''
SCONTROL = '#!/bin/sh\n[ "$1 $2" = "show hostnames" ] || exit 1\necho "$3" | tr , "\\n"\n'


@unittest.skipIf(shutil.which("bash") is None, "bash is not installed")
class SlurmTest(ServiceTest):
    def setUp(self):
        super().setUp()
        for name, text in (("srun", SRUN), ("scontrol", SCONTROL)):
            os.chmod(self.write("bin/" + name, text), 0o755)
        with socket.socket() as found:
            found.bind(("", 0))
            port = found.getsockname()[1]
        self.environment = {
            **os.environ, "PATH": os.pathsep.join([os.path.join(self.folder, "bin"), os.path.dirname(LEAT), os.environ["PATH"]]),
            "LD_LIBRARY_PATH": os.path.dirname(os.path.dirname(LEAT)), "STEPS": os.path.join(self.folder, "steps"),
            "SLURM_JOB_ID": "77", "SLURM_JOB_NODELIST": "localhost,otherhost", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS": "1",
            "LEAT_SERVICE_PORT": str(port)}

    def batch(self, *program, **more):
        return subprocess.run(["bash", SCRIPT, *program], capture_output=True, text=True, timeout=240,
                              env={**self.environment, **more})

    def steps(self):
        with open(self.environment["STEPS"]) as file:
            return dict(line.split(" ", 1) for line in file.read().splitlines())

    def test_one_component(self):
        """A worker for each node, the dispatcher on the first, and the program beside them: it reads everything."""
        done = self.batch("sh", "-c", 'exec "$0" "$LEAT_SERVICE_ADDRESS" 1000 0 0', self.reader_program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"read": 1000, "doubled": 0, "missing": 0', done.stdout)
        self.assertIn("ready: 2 of 2 workers", done.stdout)
        self.assertEqual(set(self.steps()), {"dispatcher", "workers", "trainers"})
        self.assertIn("--nodelist=localhost", self.steps()["dispatcher"])
        self.assertIn("--overlap=", self.steps()["trainers"])

    def test_two_components(self):
        done = self.batch("true", SLURM_HET_SIZE="2", SLURM_JOB_NODELIST_HET_GROUP_1="localhost", SLURM_JOB_NUM_NODES_HET_GROUP_1="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([("--het-group=%d" % group) in self.steps()[name] for name, group in
                          (("dispatcher", 1), ("workers", 1), ("trainers", 0))], [True] * 3)

    def test_status_of_the_program(self):
        self.assertEqual(self.batch("sh", "-c", "exit 7").returncode, 7)

    def test_dispatcher_dies(self):
        program = 'kill -9 $(pgrep -f "^leat service dispatcher --host all --port $LEAT_SERVICE_PORT" | head -n 1); exec sleep 600'
        done = self.batch("sh", "-c", program)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assert_named("dispatcher", done.stderr)

    def test_cancelled(self):
        """scancel: every step ends."""
        job = subprocess.Popen(["bash", SCRIPT, "sh", "-c", "echo runs; exec sleep 600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=self.environment)
        while job.stdout.readline() not in ("runs\n", ""):
            pass
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=120)
        self.assertEqual(job.returncode, 143)

    def test_usage(self):
        done = self.batch()
        self.assertEqual(done.returncode, 2)
        self.assert_named("program", done.stderr)

    def test_shellcheck(self):
        if shutil.which("shellcheck") is None:
            self.skipTest("shellcheck is not installed")
        done = subprocess.run(["shellcheck", SCRIPT], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
