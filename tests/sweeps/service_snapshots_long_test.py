"""A data service that writes a snapshot, whose processes are killed at random positions of it: workers, some of them for
good, others only seemingly, and the dispatcher, which is started again on its folder. What is loaded, while it is written, is every element once.

LEAT_SNAPSHOT_KILLS is how often, LEAT_SNAPSHOT_KILLS_FROM the first seed."""
import os
import pathlib
import random
import shutil
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from service import ServiceTest, until  # noqa: E402

COUNT = 60000
KILLS = int(os.environ.get("LEAT_SNAPSHOT_KILLS", "40"))
FIRST = int(os.environ.get("LEAT_SNAPSHOT_KILLS_FROM", "0"))
SMALL = ("--snapshot-chunk-bytes", "16000")


class SnapshotsTest(ServiceTest):
    def trial(self, seed):
        choice = random.Random(seed)
        folder, path = os.path.join(self.folder, "state"), os.path.join(self.folder, "saved")
        durable = ("--worker-timeout", "1", "--work-dir", folder, "--fault-tolerant")
        dispatcher = self.dispatcher(*durable)
        port = dispatcher.address.partition(":")[2]
        workers = [self.worker(dispatcher.address, *SMALL) for _ in range(3)]
        reader = self.reader(dispatcher.address, count=COUNT, visitation="saved",
                             pause=choice.randrange(1, COUNT), state=(path,)).paused()
        kind = choice.choice(["worker", "workers", "dispatcher", "all", "stopped"])
        victims = [] if kind == "dispatcher" else workers if kind == "all" else choice.sample(
            workers, 2 if kind == "workers" else 1)
        for victim in victims:
            victim.signal(signal.SIGSTOP if kind == "stopped" else signal.SIGKILL)
        if kind == "stopped":
            # It is taken for dead, and goes on where it was when its stream is another worker's.
            address = victims[0].address
            until(lambda: self.workers_of(dispatcher.address)[address] == "lost", "the worker is lost")
            victims[0].signal(signal.SIGCONT)
        if kind in ("dispatcher", "all"):
            dispatcher.signal(signal.SIGKILL)
            dispatcher.end()
            dispatcher = self.dispatcher(*durable, "--port", port)
        # Without one the others go on alone.
        if kind == "all" or choice.random() < 0.3:
            workers.append(self.worker(dispatcher.address, *SMALL))
        read, said = reader.rest()
        case = "seed %d, %s killed: %s %s" % (seed, kind, read, said)
        self.assertEqual((read["doubled"], read["missing"], read["code"]), (0, 0, "OUT_OF_RANGE"), case)
        self.assertEqual(self.snapshot(dispatcher), ("done", COUNT), case)
        for process in [dispatcher, *workers]:
            process.kill()
        shutil.rmtree(folder)
        shutil.rmtree(path)

    def snapshot(self, dispatcher):
        (found,) = self.state(dispatcher.address)["snapshots"]
        return found["state"], found["elements"]

    def test_kills(self):
        for seed in range(FIRST, FIRST + KILLS):
            with self.subTest(seed=seed):
                self.trial(seed)


if __name__ == "__main__":
    sys.exit(unittest.main())
