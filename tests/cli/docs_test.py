#!/usr/bin/env python3
"""The code blocks of the pages: shell blocks, C programs and pipelines run, excerpts stand in their files. tools/doc_blocks.py
says how a page marks them; Python blocks are run by python/tests/test_docs.py.

The blocks of a page run in one folder, which holds what a clone has in data/, and pipeline.json, the first of docs/PLANS.md.
"""
import collections
import json
import os
import re
import subprocess
import sys

from tool import BUILD, LEAT, ROOT, ToolTest, setting
import unittest

sys.path.insert(0, os.path.join(ROOT, "tools"))
import doc_blocks  # noqa: E402
import sources  # noqa: E402

NOT_RUN = 10  # blocks of code that no test runs; turned down, never up
BLOCKS = doc_blocks.all_blocks(ROOT)


class DocsTest(ToolTest):
    def command(self, block, *words):
        """Run a command in the test's folder; it must succeed and print what the page says, where it says so."""
        path = os.pathsep.join([os.path.dirname(LEAT), os.environ["PATH"]])
        done = subprocess.run(words, cwd=self.folder, text=True, capture_output=True, timeout=240,
                              env={**os.environ, "PATH": path, "HOME": self.folder, "LD_LIBRARY_PATH": BUILD})
        self.assertEqual(done.returncode, 0, done.stderr)
        if block.output is not None:
            self.assertEqual(done.stdout, block.output)

    def compiled(self, block):
        source, program = self.write("program.c", block.text), os.path.join(self.folder, "program")
        flags = {"address": ["-fsanitize=address,undefined"], "thread": ["-fsanitize=thread"]}
        self.command(block._replace(output=None), setting("CMAKE_C_COMPILER") or "cc", "-std=c11", "-Wall", "-Wextra", "-Werror",
                     *flags.get(setting("LEAT_SANITIZE"), []), "-I" + os.path.join(ROOT, "include"), source,
                     "-L" + BUILD, "-lleat", "-o", program)
        self.command(block, program)

    def pipeline(self, block):
        plan = json.loads(block.text)
        if "op" in plan:
            self.command(block, LEAT, "run", self.write("plan.json", block.text))

    def run_page(self, blocks):
        os.symlink(os.path.join(ROOT, "data"), os.path.join(self.folder, "data"))
        first = next(block for block in BLOCKS if block.page == "docs/PLANS.md" and doc_blocks.runs(block, "json"))
        self.write("pipeline.json", first.text)
        for block in blocks:
            with self.subTest(block="%s:%d" % (block.page, block.line)):
                if block.language == "sh" and block.needs is None:
                    self.command(block, "bash", "-euc", block.text)
                elif block.language == "c":
                    self.compiled(block)
                elif block.language == "json":
                    self.pipeline(block)

    def test_excerpts(self):
        """Spaces aside, an excerpt stands in the file that it names."""
        for block in BLOCKS:
            if block.source is not None:
                with self.subTest(block="%s:%d" % (block.page, block.line)):
                    self.assertIn("".join(block.text.split()), "".join(sources.read(ROOT, block.source).split()))

    def test_marks(self):
        self.assertEqual(doc_blocks.check(ROOT), [])

    def test_every_block_is_run_or_says_why_not(self):
        counts = collections.Counter(
            "not run" if block.reason is not None else "excerpt" if block.source is not None else
            "%s with %s" % (block.language, block.needs) if block.needs is not None else block.language
            for block in BLOCKS if block.language != "text")
        print(", ".join("%d %s" % (count, kind) for kind, count in sorted(counts.items())), file=sys.stderr)
        self.assertLessEqual(counts["not run"], NOT_RUN)
        for kind in ("python", "sh", "c", "json", "excerpt"):
            self.assertGreater(counts[kind], 0)


def page_test(page):
    blocks = [block for block in BLOCKS if block.page == page]
    return lambda self: self.run_page([b for b in blocks if any(doc_blocks.runs(b, kind) for kind in ("sh", "c", "json"))])


for name in sorted({block.page for block in BLOCKS}):
    setattr(DocsTest, "test_page_" + re.sub(r"\W", "_", name), page_test(name))


if __name__ == "__main__":
    unittest.main()
