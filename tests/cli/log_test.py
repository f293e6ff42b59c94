#!/usr/bin/env python3
"""LEAT_LOG: each category tells its decisions, nothing is told where nobody asked, and mistakes are said."""
import os
import re
import subprocess
import unittest

from tool import DIGITS, LEAT, ROOT, ToolTest

with open(ROOT + "/src/base/log.def") as table:
    CATEGORIES = re.findall(r"(?m)^X\(\w+, (\w+), ", table.read())
PLAN = """{"op": "prefetch", "args": {"buffer_size": 2}, "inputs": [
    {"op": "take", "args": {"count": 5}, "inputs": [
        {"op": "repeat", "args": {"count": 2}, "inputs": [
            {"op": "shuffle", "args": {"buffer_size": 4, "seed": 1}, "inputs": [
                {"op": "range", "args": {"start": 0, "stop": 10, "step": 1}}]}]}]}]}"""

PICTURE = """{"op": "map", "args": {"map_func": {"input": {"dtype": "string", "shape": []}, "output": {"dtype": "float32", "shape": [4, 4, 1]},
    "nodes": [{"op": "read_file", "inputs": [0]}, {"op": "decode_png", "attrs": {"channels": 1}, "inputs": [1]},
              {"op": "resize", "attrs": {"size": [4, 4]}, "inputs": [2]}], "outputs": [3]}},
    "input": {"op": "from_tensor_slices", "args": {"tensors": {"dtype": "string", "shape": [1],
        "data": ["data/digits/sample/3/digit_0003.png"]}}}}"""


class LogTest(ToolTest):
    def lines(self, levels, *arguments):
        """What a run writes to standard error with LEAT_LOG=levels; None: without it."""
        environment = {name: value for name, value in os.environ.items() if name != "LEAT_LOG"}
        if levels is not None:
            environment["LEAT_LOG"] = levels
        done = subprocess.run([LEAT, *arguments], capture_output=True, text=True, timeout=240, cwd=ROOT, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.splitlines()

    def tells(self, category, expected, *arguments):
        """Each text is in a line, all lines are of the category, and without LEAT_LOG, or with that of others, there is none."""
        lines = self.lines("debug:" + category, *arguments)
        for line in lines:
            self.assertRegex(line, r"^(\[worker \d\] )?leat: (debug|info): %s: " % category)
        for text in expected:
            self.assertTrue(any(text in line for line in lines), (text, lines))
        others = ",".join(name for name in CATEGORIES if name != category)
        self.assertEqual(self.lines(None, *arguments), [])
        for line in self.lines("debug:" + others, *arguments):
            self.assertNotIn(": %s: " % category, line)
        return lines

    def test_data(self):
        plan = self.write("plan.json", PLAN)
        lines = self.tells("data", ["info: data: rewrite shuffle_and_repeat_fusion: repeat over shuffle becomes shuffle over range",
                                    "debug: data: prefetch: a driver reads ahead"], "run", plan)
        info = self.lines("info:data", "run", plan)
        self.assertEqual(info, [line for line in lines if "leat: info: " in line])
        self.assertTrue(info)

    def test_file(self):
        out = os.path.join(self.folder, "digits")
        self.succeed("convert", DIGITS + "/sample", out, "-c", "GZIP")
        path = out + "-00000-of-00001.tfrecord"
        path = path if os.path.exists(path) else path + ".gz"
        self.tells("file", ["debug: file: %s: unpacked by GZIP" % path], "inspect", path)

    def test_image(self):
        self.tells("image", ["info: image: PNG pictures come by their first bytes"], "convert", "-f", DIGITS + "/sample",
                   os.path.join(self.folder, "digits"))

    def test_exec_and_dist(self):
        train = ["train", DIGITS, "-e", "1", "-s", "1"]
        self.tells("exec", ["info: exec: replica 0: a step of", "info: exec: replica 1: a step of",
                            "debug: exec: replica 0: conv2d by "], *train)
        self.tells("dist", ['info: dist: strategy "mirrored": 2 replicas in sync',
                            "info: dist: distribute: 2 replicas, policy FILE (the source reads record files), "], *train)

    def test_pictures_in_one_pass(self):
        self.tells("exec", ["info: exec: in one pass over a picture: decode_png, resize"], "run", "--count",
                   self.write("plan.json", PICTURE))

    def test_coll(self):
        lines = self.tells("coll", ["[worker 0] leat: info: coll: rank 0 of 2 exchanges by ", "coll: rank 1 of 2 exchanges by "],
                           "launch", "-n", "2", "--", LEAT, "train", DIGITS, "-e", "1")
        self.assertTrue(all("shared memory" in line for line in lines) or any("no shared memory" in line for line in lines), lines)

    def test_service(self):
        """A dispatcher says where it listens, and ends when it is told to."""
        for levels, expected in (("debug:service", ["service"]), ("debug:data", [])):
            serving = subprocess.Popen([LEAT, "service", "dispatcher"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env={**os.environ, "LEAT_LOG": levels})
            self.assertIn("grpc://localhost:", serving.stdout.readline())
            serving.terminate()
            _, told = serving.communicate(timeout=240)
            self.assertEqual(serving.returncode, 0)
            self.assertEqual(re.findall(r"leat: info: (\w+): dispatcher grpc://localhost:", told), expected)

    def test_every_category_has_a_test(self):
        tested = {"data", "file", "image", "exec", "coll", "dist", "service"}
        self.assertEqual(tested, set(CATEGORIES))
        overview = self.succeed("help")
        for category in CATEGORIES:
            self.assertRegex(overview, r"(?m)^  %s +\S" % category)

    def test_mistakes(self):
        plan = self.write("plan.json", PLAN)
        for levels, text in (("loud", '"loud" is no log level; expected debug, info, warning or error, as in debug:data,dist'),
                             ("debug:dta", '"dta" is no category of log lines; there are %s' % ", ".join(CATEGORIES))):
            self.assertEqual(self.lines(levels, "run", plan), ["leat: warning: the environment's LEAT_LOG is not used: " + text])


if __name__ == "__main__":
    unittest.main()
