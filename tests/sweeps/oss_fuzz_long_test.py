#!/usr/bin/env python3
"""tests/fuzz/oss-fuzz/build.sh builds a target with plain clang, which runs where nothing of the tree is: its seeds, then some
thousand inputs. Minutes, since the whole library is built anew."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = "-O1 -g1 -fsanitize=address,fuzzer-no-link"
TOOLS = ("clang", "clang++", "ninja", "zip")


@unittest.skipUnless(all(shutil.which(tool) for tool in TOOLS), "one of %s is missing" % ", ".join(TOOLS))
class OssFuzz(unittest.TestCase):
    def test_one_target(self):
        folder = tempfile.mkdtemp(prefix="leat-oss-fuzz-")
        self.addCleanup(shutil.rmtree, folder)
        out, seeds = os.path.join(folder, "out"), os.path.join(folder, "seeds")
        os.makedirs(out)
        environment = {**os.environ, "CC": "clang", "CXX": "clang++", "CFLAGS": FLAGS, "CXXFLAGS": FLAGS, "OUT": out,
                       "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer", "WORK": os.path.join(folder, "work"), "SRC": folder}
        done = subprocess.run([os.path.join(ROOT, "tests/fuzz/oss-fuzz/build.sh"), "csv", "plan"], env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-4000:])
        shutil.rmtree(os.path.join(folder, "work"))
        for target in ("csv", "plan"):  # the second reads the recorded files
            self.assertTrue(os.path.exists(os.path.join(out, "fuzz_%s.options" % target)))
            with zipfile.ZipFile(os.path.join(out, "fuzz_%s_seed_corpus.zip" % target)) as archive:
                self.assertGreater(len(archive.namelist()), 10)
                archive.extractall(os.path.join(seeds, target))
            # By relative paths, though the targets run in a folder of their own.
            ran = subprocess.run([os.path.join(out, "fuzz_" + target), "seeds/" + target, "-runs=3000",
                                  "-dict=out/fuzz.dict"], cwd=folder, capture_output=True, text=True,
                                 env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1"})
            self.assertEqual(ran.returncode, 0, ran.stderr[-4000:])
            self.assertGreaterEqual(int(re.findall(r"^#(\d+)", ran.stderr, re.M)[-1]), 3000)


if __name__ == "__main__":
    sys.exit(unittest.main())
