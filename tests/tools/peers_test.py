"""The table of peers in docs/PERFORMANCE.md: measuring some cases leaves the rows of the others."""
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench", "peers"))
import main  # noqa: E402

HEAD = ["", "| case | peer | units per CPU second | units per second | peak MB | leat, times per CPU second |", "|---|---|---|---|---|---|"]
CHAIN = ["| chain_8 | leat | 40 | 30 | 20 |  |", "| chain_8 | tensorflow | 10 | 9 | 200 | 4.0 |"]
SHUFFLE = ["| small_shuffle | leat | 300 | 290 | 15 |  |", "| small_shuffle | tensorflow | 100 | 80 | 50 | 3.0 |"]


def line(case, peer, rate, per_second, peak):
    return {"case": case, "peer": peer, "per_cpu_s": rate, "rate": per_second, "peak_rss_mb": peak}


MEASURED = [line("small_shuffle", "leat", 300, 290, 15), line("small_shuffle", "tensorflow", 100, 80, 50),
            {"case": "small_shuffle", "peer": "grain", "missing": "not installed"}]


class Page(unittest.TestCase):
    def page(self, measured, before, day):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(main.performance, "machine", lambda: day):
            path = os.path.join(folder, "peers.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(one) + "\n" for one in measured)
            return main.page(path, "\n".join(before))

    def test_first_table(self):
        self.assertEqual(self.page(MEASURED, [""], "2026-01-02; X, 2 cores"), ["Measured on 2026-01-02; X, 2 cores.", *HEAD, *SHUFFLE])

    def test_other_cases_stay(self):
        before = ["Measured on 2026-01-01; X, 2 cores.", *HEAD, "| small_shuffle | leat | 1 | 1 | 1 |  |", *CHAIN]
        after = self.page(MEASURED, before, "2026-01-02; X, 2 cores")
        self.assertEqual(after, ["Measured on 2026-01-02; X, 2 cores (small_shuffle).", "Measured on 2026-01-01; X, 2 cores (chain_8).",
                                 *HEAD, *SHUFFLE, *CHAIN])
        again = self.page([line("chain_8", "leat", 40, 30, 20), line("chain_8", "tensorflow", 10, 9, 200)], after, "2026-01-02; X, 2 cores")
        self.assertEqual(again, ["Measured on 2026-01-02; X, 2 cores.", *HEAD, *SHUFFLE, *CHAIN])

    def test_the_page_has_the_part(self):
        found, measured = main.rows_before(main.performance.read_part("peers"))
        self.assertIn("small_shuffle", found)
        self.assertEqual(set(found), set(measured))
        self.assertLessEqual(set(found), set(main.CASES))


if __name__ == "__main__":
    unittest.main()
