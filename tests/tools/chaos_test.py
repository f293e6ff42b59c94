"""`make chaos` closes its accounts: it repeats its trials, and finds a program that loses elements, results, files or processes."""
import contextlib
import io
import os
import re
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "chaos"))
import disturbances  # noqa: E402
import jobs  # noqa: E402
import main  # noqa: E402
import scenarios  # noqa: E402

BUILD = os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build"))

# Counts to 20 and says so after each number. The faulty ones differ in a word.
PROGRAM = """
import os, subprocess, sys
folder, fault = sys.argv[1:]
log = open(os.path.dirname(folder) + "/log", "a", buffering=1)
path = folder + "/" + ("%d.new" % os.getpid() if fault == "litter" else "new")
taken = []
if os.path.exists(folder + "/at"):
    with open(folder + "/at") as file:
        taken = file.read().split()
taken = taken[:-3] if fault == "forget" else taken
print("begin", len(taken), file=log)
while len(taken) < 20:
    taken.append(str(len(taken) + (fault == "skip" and len(taken) == 10 and os.path.exists(folder + "/again"))))
    with open(path, "w") as file:
        file.write(" ".join(taken))
    os.replace(path, folder + "/at")
    print("saved", len(taken), file=log)
open(folder + "/again", "w").close()
if fault == "fork" and os.environ.get("LEAT_FAULTS_KILL_AT"):
    subprocess.Popen(["sleep", "600"])
if fault == "silent" and os.environ.get("LEAT_FAULTS_FULL_AT"):
    sys.exit(1)
print("result", *taken, file=log)
print("ticks 0", file=log)
"""


class Counting(scenarios.Scenario):
    """The program above, with a fault."""

    def __init__(self, fault):
        super().__init__("counting-" + fault)
        self.fault = fault

    def can_run(self, machine):
        return True

    def argv(self, machine, inputs, folder, variant):
        return [sys.executable, "-B", "-c", PROGRAM, folder, self.fault]


class Always(disturbances.Kill):
    """A kill at the tenth call."""

    def draw(self, rng, scenario, usual, machine, folder):
        self.moment.kind, self.moment.at = "call", 10
        super().draw(rng, scenario, usual, machine, folder)


class Late(Always):
    """A kill that does not come."""

    def draw(self, rng, scenario, usual, machine, folder):
        super().draw(rng, scenario, usual, machine, folder)
        self.settings = jobs.Settings(None, disturbances.preloaded(machine, folder, KILL_AT=100000))


class NeverFull(disturbances.Disturbance):
    """A disk that is said to be full, and is not."""
    allowed, says = disturbances.FAILED, "no space"

    def draw(self, rng, scenario, usual, machine, folder):
        self.settings = jobs.Settings(None, disturbances.preloaded(machine, folder, FULL_AT=100000))


MACHINE = jobs.Machine(BUILD)


@unittest.skipUnless(MACHINE.preload, "a sanitizer's build has no tests/faults_preload.so")
class Accounts(unittest.TestCase):
    def run_trials(self, table, kinds, trials=1, seed="1"):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
            machine = MACHINE
            kept, machine.build = machine.build, folder
            try:
                lost = main.Chaos(machine, seed, folder, table, kinds).run(trials=trials)
            finally:
                machine.build = kept
        return lost, said.getvalue()

    def test_nothing_is_lost_and_trials_repeat(self):
        kinds = (disturbances.Kill, disturbances.Terminate, disturbances.Full, disturbances.Clock)
        table = [Counting("none")]
        lost, said = self.run_trials(table, kinds, trials=3)
        self.assertEqual((lost, said.count(": ok (")), (0, 3), said)
        self.assertIn(" at call ", said)

        def drawn(text):
            return re.sub(r"after [0-9.]+ s|\([^)]*\)", "", text)
        self.assertEqual(drawn(said), drawn(self.run_trials(table, kinds, trials=3)[1]))
        self.assertNotEqual(drawn(said), drawn(self.run_trials(table, kinds, trials=3, seed="2")[1]))

    def found(self, fault, kind, keyword):
        lost, said = self.run_trials([Counting(fault)], (kind,))
        self.assertEqual(lost, 1, said)
        self.assertIn(keyword, said)
        self.assertIn("make chaos SEED=1 TRIAL=0 ONLY=counting-" + fault, said)

    def test_planted_losses_are_found(self):
        self.found("forget", Always, "were saved")
        self.found("litter", Always, "left over")
        with mock.patch.object(jobs, "ORPHANS_S", 0.2):
            self.found("fork", Late, "processes were left")
        self.found("silent", NeverFull, "does not say why")

    def test_a_result_that_differs_is_found(self):
        class Twice(Counting):
            """A start after the end begins anew, and gives another number."""

            def before(self, folder):
                super().before(folder)
                if os.path.exists(os.path.join(folder, "again")):
                    os.remove(os.path.join(folder, "at"))
        lost, said = self.run_trials([Twice("skip")], (Late,))
        self.assertEqual(lost, 1, said)
        self.assertIn("the result is", said)


@unittest.skipUnless(MACHINE.preload and MACHINE.python and os.path.exists(os.path.join(MACHINE.package, "leat", "_native.abi3.so")),
                     "the package is not built, or there is no .venv")
class Short(unittest.TestCase):
    def test_short_run(self):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
            table = [one for one in scenarios.TABLE if one.name in ("pipeline", "convert", "train")]
            kinds = (disturbances.Kill, disturbances.Full, disturbances.Clock)
            chaos = main.Chaos(MACHINE, "5", folder, table, kinds)
            lost = chaos.run(trials=3)
            chaos.report()
        self.assertEqual(lost, 0, said.getvalue())
        self.assertRegex(said.getvalue().splitlines()[-1], r"^chaos: 3 trials, \d+ disturbances, 0 losses$")


if __name__ == "__main__":
    unittest.main()
