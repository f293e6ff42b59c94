"""What the checks share: the list of source files, and C text without comments and strings.

Files are those that git knows or would add; in a tree without git, every file outside build
folders.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//(?:\\\n|[^\n])*)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
""", re.S | re.X)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)


def listed(root):
    """Every file of the tree, relative to root, sorted."""
    done = None
    if os.path.exists(os.path.join(root, ".git")):  # a copy inside of another tree is none of Git's
        command = ["git", "-C", root, "ls-files", "-co", "--exclude-standard"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done is not None and done.returncode == 0:
        names = set(done.stdout.split("\n"))
    else:
        names = set()
        for folder, folders, files in os.walk(root):
            folders[:] = [f for f in folders if not f.startswith(("build", "."))]
            names.update(os.path.relpath(os.path.join(folder, f), root) for f in files)
    return sorted(name for name in names if name and os.path.isfile(os.path.join(root, name)))


def c_files(root, *folders):
    """The C sources and headers below the given folders."""
    ends = (".c", ".h", ".cc", ".cpp")
    starts = tuple(folder + "/" for folder in folders)
    return [name for name in listed(root) if name.startswith(starts) and name.endswith(ends)]


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def blank(text):
    """As many line ends as text has, and nothing else."""
    return "\n" * text.count("\n")


def without_comments(text):
    """C text with comments blanked and strings kept."""
    return TOKEN.sub(lambda m: m[0] if m["text"] else " " + blank(m[0]), text)


def bare(text):
    """C text with comments, directives (macro bodies too) and the insides of strings blanked."""
    text = TOKEN.sub(lambda m: '""' if m["text"] else " " + blank(m[0]), text)
    return DIRECTIVE.sub(lambda m: blank(m[0]), text)


def finish(tool, problems, looked_at):
    """Print what was found and end the program: 0 when there is nothing to complain about."""
    for problem in problems:
        print(problem)
    if not looked_at:
        problems = [tool + ": found no file to look at"]
        print(problems[0])
    print("%s: %d files, %d problems" % (tool, looked_at, len(problems)), file=sys.stderr)
    sys.exit(1 if problems else 0)
