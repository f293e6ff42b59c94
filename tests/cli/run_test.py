#!/usr/bin/env python3
"""leat run and leat explain: pipelines written as JSON."""
import html
import json
import os
import re
import signal
import subprocess
import unittest
import xml.etree.ElementTree

from tool import DIGITS, LEAT, ROOT, ToolTest

RANGE = {"op": "range", "args": {"stop": 10}}
BATCHES = {"op": "batch", "args": {"batch_size": 4}, "input": RANGE}
FOREVER = {"op": "repeat", "args": {"count": -1}, "input": RANGE}


def records(path):
    return {"op": "tf_record_dataset", "args": {"filenames": [path]}}


class RunTest(ToolTest):
    def plan(self, node):
        return self.write("plan.json", json.dumps(node))

    def test_elements(self):
        self.assertEqual(self.succeed("run", self.plan(RANGE)).split(), [str(i) for i in range(10)])
        self.assertEqual(self.succeed("run", self.plan(BATCHES)).splitlines(), ["[0 1 2 3]", "[4 5 6 7]", "[8 9]"])

    def test_standard_input(self):
        text = self.succeed("run", "-", stdin=json.dumps(BATCHES).encode())
        self.assertEqual(text.splitlines()[0], "[0 1 2 3]")

    def test_count(self):
        plan = self.plan(records(os.path.join(DIGITS, "digits-train.tfrecord")))
        self.assertEqual(self.succeed("run", "--count", plan), "1437\n")
        self.assertEqual(self.succeed("run", "-c", "-n", "100", "--threads", "1", plan), "100\n")

    def test_limit(self):
        self.assertEqual(self.succeed("run", "--limit", "12", self.plan(FOREVER)).split(),
                         [str(i % 10) for i in range(12)])
        for command in ("run", "explain"):
            self.fail_with(1, "--limit", command, self.plan(FOREVER))

    def test_seed(self):
        shuffled = self.plan({"op": "shuffle", "args": {"buffer_size": 10}, "input": RANGE})
        first = self.succeed("run", "--seed", "5", shuffled)
        self.assertEqual(first, self.succeed("run", "--seed=5", shuffled))
        self.assertEqual(sorted(first.split()), [str(i) for i in range(10)])

    def test_names_that_are_no_utf8(self):
        folder = os.path.join(os.fsencode(self.folder), b"\xff\xfe")
        os.mkdir(folder)
        lines, plan = os.path.join(folder, b"\xe9.txt"), os.path.join(folder, b"\xe9.json")
        with open(lines, "wb") as file:
            file.write(b"a\nb\n")
        with open(plan, "w") as file:
            json.dump({"op": "text_line_dataset", "args": {"filenames": [{"hex": lines.hex()}]}}, file)
        self.assertEqual(self.succeed("run", plan), "b'a'\nb'b'\n")
        with open(plan, "wb") as file:
            file.write(b'{"op": "text_line_dataset", "args": {"filenames": ["%s"]}}' % lines)
        done = subprocess.run([LEAT, "run", plan], capture_output=True, cwd=ROOT)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'"hex"', done.stderr)
        self.assertIn(plan, done.stderr)

    def test_control_characters_of_names(self):
        self.fail_with(1, r"a\x1b[31m\x7fb", "run", "a\x1b[31m\x7fb")

    def test_bad_plans(self):
        self.fail_with(1, "nowhere.json", "run", "nowhere.json")
        self.fail_with(1, "plan.json: ", "run", self.write("plan.json", "{"))
        self.fail_with(1, "shufle", "run", self.plan({"op": "shufle", "input": RANGE}))
        self.fail_with(1, "directory", "run", self.folder)
        self.fail_with(1, "batch_size", "run", self.plan({"op": "batch", "args": {"batch_size": 0}, "input": RANGE}))

    def test_metrics(self):
        """One sample of each family per operator; labels are escaped."""
        plan = self.plan({"op": "with_options", "args": {"dataset_name": 'a "b"'}, "input": dict(BATCHES, label='four\\')})
        metrics = os.path.join(self.folder, "metrics.prom")
        self.succeed("explain", "--metrics", metrics, plan)
        with open(metrics, encoding="utf-8") as file:
            lines = file.read().splitlines()
        labels = 'pipeline="a \\"b\\"",operator="batch \\"four\\\\\\"",place="0"'
        self.assertIn("leat_operator_elements_total{%s} 3" % labels, lines)
        self.assertIn('leat_operator_elements_total{pipeline="a \\"b\\"",operator="range",place="0.0"} 10', lines)
        for line in lines:
            self.assertRegex(line, r"^(# (HELP|TYPE) leat_[a-z_]+ .+|leat_[a-z_]+\{.*\} [-+.e0-9]+)$")
        families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
        self.assertEqual(len(families), len(set(families)))
        self.fail_with(1, "nowhere/m", "explain", "--metrics", os.path.join(self.folder, "nowhere/m"), plan)

    def test_page(self):
        """--html: a drawing with a box for each operator, and the table; labels are no markup."""
        page = os.path.join(self.folder, "page.html")
        plan = self.plan({"op": "prefetch", "args": {"buffer_size": 2}, "input": {"op": "batch", "args": {"batch_size": 2}, "input": {
            "op": "zip", "inputs": {"tuple": [dict(RANGE, label='<i>"a"'), RANGE]}}}})
        printed = self.succeed("explain", "--html", page, plan)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(set(re.findall(r"<(\w+)", text)), {"html", "head", "meta", "title", "body", "svg", "path", "rect", "text", "pre"})
        root = xml.etree.ElementTree.fromstring(text[text.index("<svg"):text.index("</svg>") + 6])
        boxes = [(int(one.get("x")), int(one.get("y"))) for one in root if one.tag.endswith("rect")]
        texts = [one.text for one in root if one.tag.endswith("text")]
        self.assertEqual([one for one in texts if one in ("prefetch", "batch", "zip", 'range "<i>"a""', "range", "next")],
                         ["prefetch", "batch", "zip", 'range "<i>"a""', "range", "next"])
        self.assertEqual((len(boxes), len(set(boxes)), boxes[3][0]), (5, 5, boxes[4][0]))
        self.assertTrue(any(one.startswith("5 elements") for one in texts) and any(one.startswith("buffer ") for one in texts))
        for line in printed.splitlines()[1:]:
            self.assertIn(html.escape(line), text.replace("&#34;", "&quot;").replace("&#60;", "&lt;").replace("&#62;", "&gt;"))
        self.fail_with(1, "nowhere/p", "explain", "--html", os.path.join(self.folder, "nowhere/p"), plan)

    def test_trace(self):
        """A trace that JSON readers accept, with a span of each operator."""
        trace = os.path.join(self.folder, "trace.json")
        self.succeed("explain", "--trace", trace, self.plan({"op": "prefetch", "args": {"buffer_size": 2}, "input": BATCHES}))
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        self.assertLessEqual({"prefetch", "batch", "range"}, {event["name"] for event in spans})
        self.assertGreater(len({event["tid"] for event in spans}), 1)
        for event in spans:
            self.assertGreaterEqual(event["dur"], 0)
        self.fail_with(1, "nowhere/t", "explain", "--trace", os.path.join(self.folder, "nowhere/t"), self.plan(RANGE))

    def test_failing_element(self):
        """A damaged record ends the run, or only its own place with --keep-going."""
        with open(os.path.join(DIGITS, "digits-test.tfrecord"), "rb") as file:
            good = file.read()
        bad = bytearray(good)
        bad[20] ^= 1
        paths = [self.write("a.tfrecord", bytes(bad)), self.write("b.tfrecord", good)]
        plan = self.plan({"op": "tf_record_dataset", "args": {"filenames": paths}})
        done = self.fail_with(1, "element", "run", plan)
        self.assertIn("a.tfrecord", done.stderr)
        self.assertEqual(done.stdout, "")
        done = self.fail_with(1, "element", "run", "--keep-going", "--count", plan)
        self.assertEqual(done.stdout, "360\n")

    def test_explain_counts_failures(self):
        """The first is shown, and how many there are; elements behind them count."""
        with open(os.path.join(DIGITS, "digits-test.tfrecord"), "rb") as file:
            good = file.read()
        bad = bytearray(good)
        bad[20] ^= 1
        for number in (1, 2):
            paths = [self.write("%d.tfrecord" % i, bytes(bad)) for i in range(number)] + [self.write("b.tfrecord", good)]
            done = self.fail_with(1, "element", "explain", self.plan(
                {"op": "tf_record_dataset", "args": {"filenames": paths}}))
            self.assertRegex(done.stdout, r"\A360 elements in [\d.]+ s\n")
            self.assertEqual(done.stderr.count("\n"), number)
            self.assertEqual("elements" in done.stderr, number == 2)

    def test_lines_of_any_length(self):
        """About the length where a line no longer fits the first buffer, and far beyond."""
        lines = ["x" * size for size in [*range(500, 520), 100000, 0]]
        path = self.write("lines.txt", "\n".join(lines) + "\n")
        text = self.succeed("run", self.plan({"op": "text_line_dataset", "args": {"filenames": [path]}}))
        self.assertEqual(text, "".join("b'%s'\n" % line for line in lines))

    def test_long_plan(self):
        """A plan of more than a few reads, and none at all."""
        plan = json.dumps(RANGE) + " " * 50000
        self.assertEqual(self.succeed("run", "-c", "-", stdin=plan.encode()), "10\n")
        self.fail_with(1, "standard", "run", "-", stdin=b"")
        self.fail_with(1, "standard", "run", "-", stdin=plan[:20].encode())

    def test_no_rewrites(self):
        """Without rewrites each operator of the plan is in the table."""
        plan = self.plan({"op": "repeat", "args": {"count": 2}, "input": {
            "op": "shuffle", "args": {"buffer_size": 10, "seed": 3}, "input": RANGE}})
        self.assertNotEqual(self.succeed("explain", "--no-rewrites", plan).count("repeat"), 0)
        self.assertEqual(self.succeed("run", "--no-rewrites", plan), self.succeed("run", plan))

    def test_missing_file(self):
        self.fail_with(1, "nowhere.tfrecord", "run", self.plan(records("nowhere.tfrecord")))

    def test_no_file_matched(self):
        done = self.fail_with(1, self.folder + "/*.jpg", "run",
                              self.plan({"op": "list_files", "args": {"file_pattern": self.folder + "/*.jpg"}}))
        self.assert_named("matched", done.stderr)

    def test_explain(self):
        text = self.succeed("explain", self.plan(BATCHES))
        self.assertRegex(text, r"\A3 elements in [\d.]+ s\n")
        for name in ("batch", "range"):
            self.assertIn(name, text)

    def test_interrupt(self):
        """Ctrl-C ends the run at once with 130; every line that came out is whole."""
        with subprocess.Popen([LEAT, "run", "--limit", "1000000000000", "-"], cwd=ROOT, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(json.dumps({**FOREVER, "input": {"op": "range", "args": {"stop": 1000000}}}).encode())
            process.stdin.close()
            data = process.stdout.read(1 << 16)
            process.send_signal(signal.SIGINT)
            data += process.stdout.read()
            self.assertEqual(process.wait(60), 130)
            self.assertEqual(process.stderr.read(), b"")
        self.assertTrue(data.endswith(b"\n"))
        numbers = list(map(int, data.split()))
        self.assertEqual(numbers, [i % 1000000 for i in range(len(numbers))])


if __name__ == "__main__":
    unittest.main()
