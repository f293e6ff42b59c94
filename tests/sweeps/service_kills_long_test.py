"""A data service whose processes are killed at random positions of an epoch, under each level of visitation: workers, some of
them with the dispatcher, which is started again on its folder. Every element is accounted for.

LEAT_SERVICE_KILLS is how often for each level, LEAT_SERVICE_KILLS_FROM the first seed."""
import os
import pathlib
import random
import shutil
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from service import ServiceTest  # noqa: E402

COUNT = 200000
KILLS = int(os.environ.get("LEAT_SERVICE_KILLS", "20"))
FIRST = int(os.environ.get("LEAT_SERVICE_KILLS_FROM", "0"))
AT_MOST_ONCE, AT_LEAST_ONCE, EXACTLY_ONCE = range(3)


class KillsTest(ServiceTest):
    def trial(self, level, seed):
        choice = random.Random(seed)
        folder = os.path.join(self.folder, "state")
        durable = ("--worker-timeout", "1", "--work-dir", folder, "--fault-tolerant")
        dispatcher = self.dispatcher(*durable)
        port = dispatcher.address.partition(":")[2]
        workers = [self.worker(dispatcher.address) for _ in range(3)]
        reader = self.reader(dispatcher.address, count=COUNT, visitation=level, pause=choice.randrange(1, COUNT // 2)).paused()
        victims = choice.sample(workers, choice.randrange(1, 3))
        for victim in victims:
            victim.signal(signal.SIGKILL)
        # While the lost workers' streams are being given to others.
        restarts = choice.random() < 0.5
        if restarts:
            dispatcher.kill()
            dispatcher = self.dispatcher(*durable, "--port", port)
        self.worker(dispatcher.address)
        read, said = reader.rest()
        for process in [dispatcher, *workers]:
            process.kill()
        shutil.rmtree(folder)
        case = "seed %d, %d workers killed, the dispatcher %s: %s %s" % (
            seed, len(victims), "too" if restarts else "not", read, said)
        self.assertEqual(read["code"], "OUT_OF_RANGE", case)
        if level != AT_LEAST_ONCE:
            self.assertEqual(read["doubled"], 0, case)
        if level != AT_MOST_ONCE:
            self.assertEqual(read["missing"], 0, case)

    def test_kills(self):
        for seed in range(FIRST, FIRST + KILLS):
            for level in (AT_MOST_ONCE, AT_LEAST_ONCE, EXACTLY_ONCE):
                with self.subTest(level=level, seed=seed):
                    self.trial(level, seed)


if __name__ == "__main__":
    sys.exit(unittest.main())
