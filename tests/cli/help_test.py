#!/usr/bin/env python3
"""The command line itself: help, version, exit statuses, suggestions, and a full disk."""
import random
import re
import subprocess
import unittest

from tool import LEAT, ROOT, ToolTest

with open(ROOT + "/src/cli/commands.def") as table:
    COMMANDS = re.findall(r"(?m)^X\((\w+)\)", table.read())
with open(ROOT + "/src/cli/service.def") as table:
    PARTS = ["service " + name for name in re.findall(r"(?m)^X\((\w+)\)", table.read())]


def distance(a, b):
    """The steps from one word to the other: a letter more, less, or another one, or two neighbours the other way round."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (x != y)))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                row[-1] = min(row[-1], rows[-2][j - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


class HelpTest(ToolTest):
    def test_version(self):
        with open(ROOT + "/include/leat/base.h") as file:
            parts = re.findall(r"#define LEAT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read())
        self.assertEqual(self.succeed("--version"), "leat %s\n" % ".".join(parts))

    def test_overview_lists_every_command(self):
        text = self.succeed("help")
        for command in COMMANDS:
            self.assertRegex(text, r"(?m)^  %s +\S" % command)
        self.assertEqual(self.succeed("--help"), text)

    def test_every_command_has_help(self):
        for command in COMMANDS:
            text = self.succeed("help", command)
            self.assertTrue(text.startswith("Usage: leat %s [OPTION]..." % command), text)
            self.assertIn("--help", text)
            self.assertEqual(self.succeed(command, "--help"), text)
            self.assertEqual(self.succeed(command, "-h"), text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_every_part_has_help(self):
        """A command that consists of parts lists them, and each has help of its own."""
        overview = self.succeed("help", "service")
        for part in PARTS:
            words = part.split()
            text = self.succeed("help", *words)
            self.assertTrue(text.startswith("Usage: leat %s [OPTION]..." % part), text)
            self.assertEqual(self.succeed(*words, "--help"), text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
            self.assertRegex(overview, r"(?m)^  %s +\S" % words[1])
        for keyword, arguments in (
                ("given", ["service"]),
                ("worker?", ["service", "wroker"]),
                ("lists", ["service", "xyzzy"]),
                ("worker?", ["help", "service", "workers"]),
                ('"worker"', ["help", "run", "worker"]),
                ("--json", ["service", "--json"]),
                ("--watch", ["service", "status", "--wacth"]),
                ("-z", ["service", "drain", "-z"]),
                ("65536", ["service", "dispatcher", "--port", "65536"])):
            self.assertEqual(self.fail_with(2, keyword, *arguments).stdout, "")

    def test_usage_errors(self):
        for keyword, arguments in (
                ("given", []),
                ("train?", ["trian"]),
                ("xyzzy", ["xyzzy"]),
                ("nothing", ["help", "nothing"]),
                ("--verbose", ["--verbose"]),
                ("--epochs", ["train", "--epoch", "3", "x"]),
                ("--replicas", ["train", "--relpicas=3", "x"]),
                ("-z", ["train", "-z"]),
                ('"two"', ["train", "--epochs", "two", "x"]),
                ("1000000", ["train", "--epochs=0", "x"]),
                ('"3.5"', ["train", "-b3.5", "x"]),
                ('"fast"', ["train", "--learning-rate", "fast"]),
                ('"inf"', ["train", "--learning-rate=inf", "x"]),
                ('""', ["train", "--seed=", "x"]),
                ('"9223372036854775808"', ["train", "--seed", "9223372036854775808", "x"]),
                ("-1", ["launch", "--grace", "-1", "true"]),
                ("3600.5", ["launch", "--grace=3600.5", "true"]),
                ("513", ["launch", "-n513", "true"]),
                ("x" * 60, ["train", "--" + "x" * 70, "x"]),
                ("value", ["train", "x", "--seed"]),
                ("DATA", ["train"]),
                ('"3"', ["run", "--count=3", "x"]),
                ('"b"', ["run", "a", "b"])):
            done = self.fail_with(2, keyword, *arguments)
            self.assertEqual(done.stdout, "")

    def test_suggestions(self):
        """The first of the nearest names within a third of the length, or one that begins so; else none."""
        commands = re.findall(r"(?m)^  (\w+) ", self.succeed("help").partition("\n\n'leat help")[0])
        generator = random.Random(4)
        words = ["x", "ru", "r", "tr", "trainer", "expla", "opss", "onps", "lanuch", "inedx", "", "l" * 63, "ops" * 22]
        for command in commands * 3:
            word = list(command)
            for _ in range(generator.randint(1, 3)):
                at = generator.randrange(len(word))
                word[at:at + 2] = generator.choice([word[at:at + 2][::-1], word[at + 1:at + 2], [generator.choice("aeinrst")] + word[at:at + 2]])
            words.append("".join(word) or "y")
        suggested = 0
        for word in words:
            if word in commands:
                continue
            limit = max(1, len(word) // 3)
            found = [(distance(word, c), i) for i, c in enumerate(commands) if max(len(word), len(c)) < 64
                     and (distance(word, c) <= limit or (len(word) >= 2 and c.startswith(word)))]
            self.fail_with(2, commands[min(found)[1]] + "?" if found else "lists", word)
            suggested += bool(found)
        self.assertGreater(suggested, 10)

    def test_dashes(self):
        """`--` ends the options."""
        self.fail_with(1, "--count", "run", "--", "--count")

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([LEAT, "help"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"output", done.stderr)


class OpsTest(ToolTest):
    def test_tables_are_whole(self):
        import json
        tables = json.loads(self.succeed("ops", "--json"))
        listed = self.succeed("ops")
        for key, path in (("dataset_operators", "src/data/ops.def"), ("layers", "src/train/layers.def"),
                          ("strategies", "src/dist/strategies.def"), ("losses", "src/train/losses.def"),
                          ("optimizers", "src/train/optimizers.def"), ("metrics", "src/train/metrics.def")):
            with open(ROOT + "/" + path) as file:
                lines = re.findall(r"(?m)^X\((?:\w+, )?(\w+)\)", file.read())
            if key == "dataset_operators":
                lines.append("data_service")  # of src/service/ops.def
            self.assertEqual(len(tables[key]), len(lines), key)
            self.assertTrue(lines, key)
            for entry in tables[key]:
                self.assertRegex(listed, r"(?m)^  %s +\S" % entry["name"])
        operations = {entry["name"] for entry in tables["tensor_operations"]}
        for name in ("cast", "conv2d", "parse_example", "decode_png", "cond"):
            self.assertIn(name, operations)
        for entries in tables.values():
            for entry in entries if isinstance(entries, list) else []:
                self.assertTrue(entry["doc"], entry["name"])
                for argument in entry["arguments"]:
                    self.assertTrue(argument["doc"], (entry["name"], argument["name"]))

    def test_arguments_of_one(self):
        text = self.succeed("ops", "shuffle")
        self.assertIn("shuffle (dataset operator)", text)
        self.assertRegex(text, r"(?m)^  buffer_size: .*required")
        self.assertRegex(text, r"(?m)^  reshuffle_each_iteration: ")
        both = self.succeed("ops", "range")
        self.assertIn("range (dataset operator)", both)
        self.assertIn("range (tensor operation)", both)

    def test_texts_are_whole(self):
        """What is shown of an operator is its JSON: every word of the texts, in lines of at most 96 columns behind the indent."""
        import json
        tables = json.loads(self.succeed("ops", "--json"))
        for entry in [e for e in tables["dataset_operators"] if e["name"] in ("shuffle", "cache", "map", "unique")]:
            shown = self.succeed("ops", entry["name"]).split("\n\n")[0].rstrip("\n").split("\n")
            self.assertEqual(shown[0], entry["name"] + " (dataset operator)")
            self.assertLessEqual(max(map(len, shown)), 96)
            blocks, at = [], 1                      # lines of one indent, joined
            while at < len(shown):
                end = at + 1
                while end < len(shown) and self.indent(shown[end]) == self.indent(shown[at]) and self.indent(shown[at]) != 2:
                    end += 1
                blocks.append(" ".join(line.strip() for line in shown[at:end]))
                at = end
            text = "\n".join(blocks)
            head = " ".join(line.strip() for line in shown[1:shown.index("  inputs: %d" % entry["num_inputs"])])
            self.assertEqual(head, entry["doc"])
            for argument in entry["arguments"]:
                self.assertRegex(text, r"(?m)^%s: .*\n%s$" % (argument["name"], re.escape(argument["doc"])))
            self.assertEqual("arguments:" in shown, bool(entry["arguments"]))

    @staticmethod
    def indent(line):
        return len(line) - len(line.lstrip(" "))

    def test_unknown_name(self):
        self.fail_with(1, "shuffle?", "ops", "shufle")
        self.fail_with(1, "zzqqzzqq", "ops", "zzqqzzqq")

    def test_lines_of_arguments(self):
        """The type of an argument, whether it is required, and the default, of each type."""
        lines = {
            "shuffle": ["buffer_size: integer, required", "seed: integer seed", "reshuffle_each_iteration: bool, default true"],
            "csv_dataset": ['field_delim: string, default ","', 'na_value: string, default ""', "header: bool, default false"],
            "range": ["output_type: dtype, default int64"],
            "map": ["num_parallel_calls: integer or AUTOTUNE, default none"],
            "prefetch": ["buffer_size: integer or AUTOTUNE, default AUTOTUNE"],
            "Adam": ["beta_1: number, default 0.90000000000000002"]}
        for name, expected in lines.items():
            text = self.succeed("ops", name)
            for line in expected:
                self.assertIn("\n  %s\n" % line, text)
        inputs = {"zip": "1 or more", "range": "0", "map": "1"}
        for name, expected in inputs.items():
            self.assertIn("\n  inputs: %s\n" % expected, self.succeed("ops", name))


if __name__ == "__main__":
    unittest.main()
