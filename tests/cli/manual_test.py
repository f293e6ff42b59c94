#!/usr/bin/env python3
"""What the tool prints for other programs: its manual page, and the script that completes command lines in bash."""
import re
import shutil
import subprocess
import unittest

from tool import LEAT, ROOT, ToolTest

with open(ROOT + "/src/cli/commands.def") as table:
    COMMANDS = re.findall(r"(?m)^X\((\w+)\)", table.read())
with open(ROOT + "/src/cli/service.def") as table:
    PARTS = re.findall(r"(?m)^X\((\w+)\)", table.read())
# Parts stand behind their command.
PAGES = [page for command in COMMANDS for page in [command, *("service " + part for part in PARTS if command == "service")]]


class ManualTest(ToolTest):
    def options_of(self, command):
        """The options of a command as its help shows them: (letter or "", name, value, sentence)."""
        text = self.succeed("help", *command.split()).partition("\nOptions:\n")[2]
        return re.findall(r"(?m)^  (?:-(\w), |    )--([\w-]+)(?: (\S+))?  +(.+)$", text)

    def test_every_command_and_option(self):
        page = self.succeed("help", "--man").replace("\\-", "-").replace("\\(aq", "'").replace("\\(ga", "`")
        sections = dict(re.findall(r"(?ms)^\.SS leat ([\w ]+) - [^\n]+\n(.*?)(?=^\.S)", page))
        self.assertEqual(list(sections), PAGES)
        for command in PAGES:
            options = self.options_of(command)
            self.assertEqual(options[-1][1], "help")
            for letter, name, value, doc in options[:-1]:
                line = (r"\fB-%s\fR, " % letter if letter else "") + r"\fB--%s\fR" % name + (r" \fI%s\fR" % value if value else "")
                self.assertIn(".TP\n%s\n%s\n" % (line, doc), sections[command])

    def test_groff_reads_it(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        page = subprocess.run([LEAT, "help", "--man"], capture_output=True).stdout
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-c", "-P-b", "-P-u"], input=page, capture_output=True)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        words = " ".join(done.stdout.decode().split())
        for text in ("leat - input pipelines and synchronous data-parallel training", "Every command has the option --help (-h)",
                     "leat launch [OPTION]... ", "'-' reads it from standard input.", "`leat train --out FILE`"):
            self.assertIn(text, words)

    def test_one_page(self):
        self.fail_with(2, "--man", "help", "--man", "run")


class CompletionTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.script = self.write("leat.bash", self.succeed("completion", "bash"))

    def bash(self, program):
        done = subprocess.run(["bash", "--norc", "-c", "source %s\n%s" % (self.script, program)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def completed(self, *words):
        quoted = " ".join("'%s'" % word for word in words)
        program = 'COMP_WORDS=(%s); COMP_CWORD=%d; _leat; printf "%%s\\n" "${COMPREPLY[@]}"' % (quoted, len(words) - 1)
        return self.bash(program).split()

    def test_registered(self):
        self.assertEqual(self.bash("complete -p leat"), "complete -o default -F _leat leat\n")

    def test_commands(self):
        self.assertEqual(self.completed("leat", ""), COMMANDS + ["--help", "--version"])
        self.assertEqual(self.completed("leat", "in"), ["inspect", "index"])
        self.assertEqual(self.completed("leat", "help", ""), COMMANDS)

    def test_options(self):
        for command in COMMANDS:
            names = re.findall(r"(?m)^  (?:-\w, |    )(--[\w-]+)", self.succeed("help", command))
            self.assertEqual([word for word in self.completed("leat", command, "-") if word.startswith("--")], names)
        self.assertEqual(self.completed("leat", "train", "data", "--ep"), ["--epochs"])

    def test_parts(self):
        self.assertEqual(self.completed("leat", "service", ""), PARTS)
        self.assertEqual(self.completed("leat", "service", "dr"), ["drain"])
        self.assertEqual(self.completed("leat", "service", "status", ""), [])
        self.assertEqual(self.completed("leat", "service", "drain", "--al"), ["--all"])
        for part in PARTS:
            names = re.findall(r"(?m)^  (?:-\w, |    )(--[\w-]+)", self.succeed("help", "service", part))
            found = self.completed("leat", "service", part, "-")
            self.assertEqual([word for word in found if word.startswith("--")], names)

    def test_files(self):
        """Where nothing fits, the shell completes names of files by itself."""
        self.assertEqual(self.completed("leat", "train", ""), [])
        self.assertEqual(self.completed("leat", "run", "--limit", "3", "pipe"), [])

    def test_shells(self):
        self.assertEqual(self.completed("leat", "completion", ""), ["bash"])
        self.fail_with(2, "tcsh", "completion", "tcsh")


if __name__ == "__main__":
    unittest.main()
