#!/usr/bin/env python3
"""gdb with tools/gdb/leat.py shows the data of the running tool; skipped where there is no gdb, or it cannot run a program."""
import shutil
import subprocess
import unittest

from tool import LEAT, ROOT, ToolTest

PLAN = """{"op": "batch", "label": "pairs", "args": {"batch_size": 2}, "input":
    {"op": "zip", "inputs": {"dict": {"number": {"op": "range", "args": {"stop": 5}},
        "word": {"op": "from_tensor_slices", "args": {"tensors": {"dtype": "string", "shape": [3], "data": ["a", "bc", "d\\u00e9"]}}}}}}}"""


def runs_programs(gdb):
    done = subprocess.run([gdb, "-nx", "-batch", "-ex", "run", "true"], capture_output=True, text=True)
    return "exited normally" in done.stdout


class GdbTest(ToolTest):
    def setUp(self):
        super().setUp()
        gdb = shutil.which("gdb")
        if gdb is None or not runs_programs(gdb):
            self.skipTest("gdb is not installed, or cannot run programs here")
        with open(LEAT, "rb") as file:
            if any(name in file.read() for name in (b"__asan_init", b"__tsan_init")):
                self.skipTest("the tool is built under a sanitizer")
        self.gdb = gdb

    def shown(self, commands, *arguments):
        """What gdb prints at the breakpoints; commands are gdb's, one in a line."""
        script = self.write("commands", "set confirm off\nset width 0\nset breakpoint pending on\nsource %s/tools/gdb/leat.py\n%s\n"
                            % (ROOT, commands))
        done = subprocess.run([self.gdb, "-nx", "-batch", "-x", script, "--args", LEAT, *arguments],
                              capture_output=True, text=True, timeout=240, cwd=ROOT)
        self.assertNotIn("Exception", done.stderr)
        self.assertNotIn("Error", done.stderr)
        return done.stdout

    def test_data(self):
        plan = self.write("plan.json", PLAN)
        out = self.shown("break leati_print_element\nrun\nprint *element\nprint *element->spec\nprint element->tensors[1]\n"
                         "break leat_iterator_next\ncontinue\nprint *iterator->dataset\nprint iterator->input.block",
                         "run", plan)
        self.assertIn("= element of {number: int64[?], word: string[?]} = {tensor 0 = int64[2] {0, 1}, "
                      "tensor 1 = string[2] {'a', 'bc'}}", out)
        self.assertIn("$2 = {number: int64[?], word: string[?]}\n", out)
        self.assertIn("$3 = string[2] {'a', 'bc'}\n", out)
        self.assertIn('$4 = batch "pairs" <- zip(range, from_tensor_slices); cardinality 2, {number: int64[?], word: string[?]}\n', out)
        self.assertRegex(out, r"\$5 = block of \d rows, 2 columns = \{column 0 = rows of int64\[2\], (STRIDED|SELECTED) by 16 at 0x[0-9a-f]+, ")

    def test_error(self):
        out = self.shown("break leati_say_failure\nrun\nprint *err", "inspect", "/nowhere")
        self.assertRegex(out, r'\$1 = NOT_FOUND ".*/nowhere')


if __name__ == "__main__":
    unittest.main()
