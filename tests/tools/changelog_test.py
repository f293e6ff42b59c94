"""tools/changelog.py puts a release together from fragments, and says what is wrong with them."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VERSION = "#define LEAT_VERSION_MAJOR 0\n#define LEAT_VERSION_MINOR 3\n#define LEAT_VERSION_PATCH 1\n"


class Changelog(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.write("include/leat/base.h", VERSION)
        self.write("CHANGELOG.md", "* [tool](changes/tool.md), [data](changes/data.md)\n")
        self.write("changes/tool.md", "# The tool\n\n- It runs,\n  and ends.\n- It helps.\n")
        self.write("changes/data.md", "# Datasets\n\n- Orders are TensorFlow's.\n")

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_tool(self, root):
        script = os.path.join(ROOT, "tools", "changelog.py")
        return subprocess.run([sys.executable, "-B", script, root], capture_output=True, text=True)

    def complains(self, place):
        done = self.run_tool(self.root)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1))
        self.assertIn(place, done.stderr.split(" ")[:3])

    def test_order_of_links(self):
        done = self.run_tool(self.root)
        self.assertEqual(done.stdout, "## 0.3.1\n\n### The tool\n\n- It runs,\n  and ends.\n- It helps.\n"
                                      "\n### Datasets\n\n- Orders are TensorFlow's.\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nothing_changed(self):
        self.write("changes/data.md", "# Datasets\n")
        self.assertNotIn("Datasets", self.run_tool(self.root).stdout)

    def test_no_link(self):
        self.write("changes/new.md", "# New\n")
        self.complains("changes/new.md:")

    def test_no_fragment(self):
        os.remove(os.path.join(self.root, "changes/data.md"))
        self.complains("changes/data.md,")

    def test_no_title(self):
        self.write("changes/data.md", "Datasets\n\n- One.\n")
        self.complains("changes/data.md:1:")

    def test_text_outside(self):
        self.write("changes/data.md", "# Datasets\n\nOne.\n")
        self.complains("changes/data.md:3:")

    def test_the_project(self):
        done = self.run_tool(ROOT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\n### Datasets\n\n- ", done.stdout)


if __name__ == "__main__":
    unittest.main()
