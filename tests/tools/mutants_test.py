"""The changes that tools/mutants.py proposes: inside function bodies, one line each, never in comments or strings."""
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import mutants  # noqa: E402

SOURCE = """/* if (a < b) return 1; */
#define LESS(a, b) ((a) < (b))
static const char *name(int a, int b) {
    /* a < b */
    const char *text = "a < b";
    if (a < b && b != 0)
        return text;
    forget(a);
    return NULL;
}
"""


class Changes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(os.path.join(self.folder.name, "a.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        self.found = mutants.changes_of(self.folder.name, "a.c")

    def test_lines_of_the_body_only(self):
        self.assertEqual({number for _, number, _, _ in self.found}, {5, 6, 7})

    def test_each_changes_its_line(self):
        lines = SOURCE.split("\n")
        self.assertTrue(all(line != lines[number] and "\n" not in line for _, number, _, line in self.found))

    def test_kinds(self):
        new = {line.strip() for _, _, _, line in self.found}
        for expected in ("if (a <= b && b != 0)", "if (a < b || b != 0)", "if (a < b && b == 0)", "if (!(a < b && b != 0))", "(void)0;",
                         "return 0;"):
            self.assertIn(expected, new)

    def test_a_survivor_is_shown_as_a_diff(self):
        change = next(c for c in self.found if c[2] == "statement")
        self.assertEqual(mutants.diff(self.folder.name, change), "--- a.c:8 (statement)\n-    forget(a);\n+    (void)0;\n")


if __name__ == "__main__":
    unittest.main()
