"""What `make soak` makes of its samples: a planted leak of each sort is found, noise is not, and the curve can be drawn.

The samples are made here: rounds of seventy seconds over two hours, as the tool takes them.
"""
import os
import random
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "soak"))
import curve  # noqa: E402
import judge  # noqa: E402
import samples  # noqa: E402

HOURS, ROUNDS, EACH = 2.0, 100, 14


def made(value):
    """Rows of a run, where value(hours, busy) is what a sample finds."""
    rows = []
    for number in range(ROUNDS):
        for part in range(EACH):
            hours = HOURS * (number + part / EACH) / ROUNDS
            rows.append((hours, value(hours, part < 2), number))
    return rows


def verdict(measure, value):
    return judge.judge(made(value), measure)["verdict"]


class Judge(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(1)

    def test_constant(self):
        for measure in judge.LIMITS:
            self.assertEqual(verdict(measure, lambda hours, busy: 8), "flat")

    def test_leak_of_memory(self):
        """Nine MiB in the judged eighty minutes, beneath work that takes and gives back thirty."""
        def leaking(hours, busy):
            return 90 + hours * 9 / (HOURS * 2 / 3) + self.random.uniform(0, 1) + (self.random.uniform(0, 30) if busy else 0)
        self.assertEqual(verdict("memory", leaking), "grows")
        self.assertAlmostEqual(judge.judge(made(leaking), "memory")["growth"], 9, delta=0.5)

    def test_noise_of_memory(self):
        """Warming up, busy times, steps both ways of a few MiB as malloc makes them, and some wild values."""
        def noisy(hours, busy):
            warm = 60 * min(1.0, hours / 0.5)
            step = [0, 3, 5, 2, 6, 3][int(hours * 3) % 6]
            wild = 400 if self.random.random() < 0.1 else 0
            return 90 + warm + step + wild + (self.random.uniform(0, 30) if busy else 0)
        self.assertEqual(verdict("memory", noisy), "flat")

    def test_leaks_that_are_counted(self):
        """One more in the last half hour is enough, where it does not go again; so it is a line for the rest, not one value."""
        for measure in ("descriptors", "threads", "files", "shared", "zombies", "processes"):
            with self.subTest(measure):
                self.assertEqual(verdict(measure, lambda hours, busy: 8 + int(hours * 1.5) + (3 if busy else 0)), "grows")
                self.assertEqual(verdict(measure, lambda hours, busy: 8 + (3 if busy else 0)), "flat")
                self.assertEqual(verdict(measure, lambda hours, busy: 8 + (hours < 0.6) * 5), "flat")

    def test_leak_on_disk(self):
        self.assertEqual(verdict("disk", lambda hours, busy: 1 + hours * 7), "grows")

    def test_falling_is_flat(self):
        self.assertEqual(verdict("memory", lambda hours, busy: 200 - hours * 40), "flat")

    def test_too_short(self):
        rows = [(hours / 100, 8, hours) for hours in range(judge.FEWEST)]
        self.assertEqual(judge.judge(rows, "threads")["verdict"], "too short")
        self.assertEqual(judge.judge([], "threads")["verdict"], "too short")

    def test_verdict_of_all(self):
        def of(*verdicts):
            return judge.verdict([{"verdict": one} for one in verdicts])
        self.assertEqual(of("flat", "too short", "grows"), "grows")
        self.assertEqual(of("flat", "too short"), "too short")
        self.assertEqual(of("flat", "flat"), "flat")
        self.assertEqual(of(), "too short")

    def test_slope(self):
        """By hand: the slopes of the pairs of (0, 0), (1, 2), (2, 2) and (4, 20) are 2, 1, 5, 0, 6 and 9."""
        self.assertEqual(judge.slope([(0, 0), (1, 2), (2, 2), (4, 20)]), 3.5)


class Samples(unittest.TestCase):
    def test_own_process(self):
        before = samples.of_process(os.getpid())
        with open(os.devnull):
            after = samples.of_process(os.getpid())
        self.assertEqual(after["descriptors"], before["descriptors"] + 1)
        self.assertGreaterEqual(before["threads"], 1)
        self.assertTrue(0 < before["memory"] <= before["rss"])

    def test_descendants_and_zombies(self):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)
            os._exit(0)
        os.close(read)
        self.assertIn(child, samples.descendants(os.getpid()))
        os.close(write)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        self.assertEqual(samples.descendants(os.getpid())[child], "Z")
        self.assertIsNone(samples.of_process(child))
        os.waitpid(child, 0)
        self.assertNotIn(child, samples.descendants(os.getpid()))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "below"))
            for name in ("one", "below/two"):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(bytes(1 << 19))
            self.assertEqual(samples.of_folder(folder), (2, 1.0))

    def test_shared_entries_of_ended_processes(self):
        """An entry whose process has ended is still the job's, and one of a stranger is not."""
        with tempfile.TemporaryDirectory() as folder:
            before, samples.SHARED = samples.SHARED, folder
            self.addCleanup(setattr, samples, "SHARED", before)
            for pid in (4_000_001, 4_000_002):
                with open(os.path.join(folder, "leat-%d-0-abc" % pid), "wb"):
                    pass
            shared = set()
            self.assertEqual(samples.of_job(os.getpid(), folder, folder, {4_000_001}, shared)["shared"], 1)
            self.assertEqual(samples.of_job(os.getpid(), folder, folder, set(), shared)["shared"], 1)
            os.remove(os.path.join(folder, "leat-4000001-0-abc"))
            self.assertEqual(samples.of_job(os.getpid(), folder, folder, set(), shared)["shared"], 0)


class Curve(unittest.TestCase):
    def test_drawn(self):
        memory = {"one & two": made(lambda hours, busy: 100), "three": made(lambda hours, busy: 40 + hours)}
        counts = {"threads": made(lambda hours, busy: 5), "shared": []}
        root = xml.fromstring(curve.draw(memory, counts, HOURS))
        space = "{http://www.w3.org/2000/svg}"
        lines = root.findall(space + "polyline")
        self.assertEqual(len(lines), 3)
        self.assertTrue(all(len(line.get("points").split()) <= 240 for line in lines))
        self.assertIn("one & two 100", [text.text for text in root.findall(space + "text")])

    def test_from_the_file(self):
        """What samples.csv holds is drawn as the run itself draws it: a line for each process and each count."""
        job = {"hours": "0.5", "round": "3", "process": "job", **{name: "2" for name in curve.COUNTED}}
        memory, counts, hours = curve.of_samples([{"hours": "0.5", "round": "3", "process": "fit", "memory": "40.25"}, job])
        self.assertEqual((dict(memory), hours), ({"fit": [(0.5, 40.25, 3)]}, 0.5))
        self.assertEqual(dict(counts), {name: [(0.5, 2.0, 3)] for name in curve.COUNTED})

    def test_nothing(self):
        xml.fromstring(curve.draw({}, {}, 0.0))

    def test_labels_do_not_meet(self):
        places = curve.spread([50, 50, 51, 200], 12, 0, 200)
        self.assertTrue(all(abs(a - b) >= 12 for i, a in enumerate(places) for b in places[:i]))


if __name__ == "__main__":
    unittest.main()
