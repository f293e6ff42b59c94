#!/usr/bin/env python3
"""leat watch PID: the page of a program that runs, and what a killed one leaves."""
import json
import os
import subprocess
import unittest
import unittest.mock
import urllib.request

from tool import BUILD, LEAT, ToolTest

FOREVER = {"op": "repeat", "args": {"count": -1}, "input": {"op": "range", "args": {"stop": 10}}}


@unittest.skipUnless(os.path.exists(os.path.join(BUILD, "tests", "web_serve")), "this build has no libmicrohttpd")
class WatchTest(ToolTest):
    def setUp(self):
        super().setUp()
        environment = unittest.mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": self.folder})
        environment.start()
        self.addCleanup(environment.stop)

    def start(self):
        """A program with a page, once it has said so."""
        plan = self.write("plan.json", json.dumps(FOREVER))
        program = subprocess.Popen([LEAT, "watch", plan], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.stderr.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program, program.stderr.readline().split(" at ")[1].strip()

    def test_program(self):
        program, url = self.start()
        self.assertEqual(self.succeed("watch", str(program.pid)), url + "\n")
        self.fail_with(2, "option", "watch", "--limit", "3", str(program.pid))
        with urllib.request.urlopen(url + "state", timeout=60) as answer:
            self.assertEqual(json.load(answer)["pid"], program.pid)
        left = os.path.join(self.folder, "leat", str(program.pid))
        program.kill()
        program.wait()
        self.assertTrue(os.path.exists(left))
        self.fail_with(1, "LEAT_WATCH=1", "watch", str(program.pid))
        self.assertFalse(os.path.exists(left))
        self.fail_with(1, "LEAT_WATCH=1", "watch", str(os.getpid()))
        self.fail_with(1, "number", "watch", "0")
        self.fail_with(1, "number", "watch", "99999999999999999999")

    def test_another_users(self):
        """The first process is root's: root asks as somebody else."""
        somebody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if somebody:
            os.chown(self.folder, 65534, 65534)
        done = subprocess.run([LEAT, "watch", "1"], capture_output=True, text=True, timeout=60, **somebody)
        self.assertEqual(done.returncode, 1)
        self.assert_named("another", done.stderr)


if __name__ == "__main__":
    unittest.main()
