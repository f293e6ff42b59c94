#!/usr/bin/env python3
"""Fuzz the formats that come from outside: `make fuzz`.

    fuzz.py [--seconds S] [--keep] [TARGET...]        --list: the targets
    fuzz.py --fixed WHAT FILE TARGET                  put FILE among the kept inputs of TARGET, as fixed-WHAT

Builds build-fuzz with clang, libFuzzer and the address and undefined-behaviour sanitizers, and runs each target of
tests/fuzz/targets.def on one core for S seconds, from the kept corpus, the recorded files of its format and the inputs it
makes itself; the dictionary comes from the tables of operators. Inputs that a run finds new stay in build-fuzz/corpus for the
next one; an input that breaks something is written to build-fuzz/findings, and the run of its target ends. --keep puts the
smallest inputs that together reach all that was reached into tests/fuzz/corpus, which `make test` replays. There each target has
one file TARGET.seeds, whose form tests/fuzz/replay.c describes and reads; inputs whose names begin with fixed- are those of
mended mistakes and stay. A target in Python, tests/fuzz/TARGET.py, runs only where it is named: with .venv, the package of the
build folder LEAT_BUILD and atheris (python/requirements-fuzz.txt); its findings end it likewise. The last line of each target: inputs tried, edges reached, verdict. Exit status 1 if something was found.
"""
import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build-fuzz")
CORPUS = os.path.join(ROOT, "tests", "fuzz", "corpus")
RECORDED = os.path.join(ROOT, "tests", "golden", "data")
KEPT_BYTES, KEPT_FILES = 200 << 10, 24
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}


def build():
    compiler = {"CC": "clang", "CXX": "clang++"}
    for command in (["cmake", "-G", "Ninja", "-B", BUILD, "-DLEAT_SANITIZE=fuzzer"],
                    ["ninja", "-C", BUILD, "--quiet", "tests/fuzz", "tests/fuzz_replay"]):
        if subprocess.run(command, cwd=ROOT, env={**os.environ, **compiler}, stdout=subprocess.DEVNULL).returncode:
            sys.exit("fuzz: building failed")


def program(name, *arguments):
    """What fuzz_replay prints."""
    command = [os.path.join(BUILD, "tests", name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **ENVIRONMENT}).stdout


def read_targets():
    targets = {}
    for line in program("fuzz_replay", "--list").splitlines():
        name, most, folders, ending, options, doc = line.split("\t")
        targets[name] = {"most": int(most), "folders": [] if folders == "-" else folders.split(","),
                         "ending": "" if ending == "-" else ending, "options": int(options), "doc": doc}
    return targets


def kept_path(name):
    return os.path.join(CORPUS, name + ".seeds")


def kept_lines(name):
    if not os.path.exists(kept_path(name)):
        return []
    with open(kept_path(name)) as file:
        return file.read().splitlines()


def kept_line(name, data):
    """The line of one input: its name and its bytes in printable ASCII."""
    text = "".join(chr(c) if 32 <= c < 127 and c != ord("\\") else "\\%02x" % c for c in data)
    return name + " " + (text[:-1] + "\\20" if text.endswith(" ") else text)


def write_kept(name, lines):
    with open(kept_path(name), "w") as out:
        out.write("".join(line + "\n" for line in sorted(lines, key=lambda line: line.split(" ")[0])))


def start_corpus(name, target):
    """The working corpus: kept inputs, those of earlier runs, recorded files, and what the target makes."""
    work = os.path.join(BUILD, "corpus", name)
    os.makedirs(work, exist_ok=True)
    if kept_lines(name):
        program("fuzz_replay", "--unpack", CORPUS, name, work)
    program("fuzz_replay", "--seeds", name, work)
    for folder in target["folders"]:
        for file in sorted(os.listdir(os.path.join(RECORDED, folder))):
            if not file.endswith(target["ending"]):
                continue
            with open(os.path.join(RECORDED, folder, file), "rb") as source:
                data = source.read()
            for variant in (b"", b"\x01\x85\x1b", b"\x43\x04\xf2") if target["options"] else (b"",):
                options = (variant + bytes(target["options"]))[:target["options"]]
                with open(os.path.join(work, "recorded-%s-%s" % (options.hex(), file)), "wb") as copy:
                    copy.write(options + data)
    return work


def fuzz(name, target, seconds):
    """Runs one target; returns whether it found nothing."""
    work, findings = start_corpus(name, target), os.path.join(BUILD, "findings")
    os.makedirs(findings, exist_ok=True)
    return watched(name, [os.path.join(BUILD, "tests", "fuzz"), work, "-max_total_time=%d" % seconds, "-max_len=%d" % target["most"],
                          "-dict=" + os.path.join(BUILD, "fuzz.dict"), "-artifact_prefix=%s/%s-" % (findings, name), "-timeout=25",
                          "-rss_limit_mb=3000", "-reload=0"], {**os.environ, **ENVIRONMENT, "LEAT_FUZZ_TARGET": name})


def watched(name, command, environment):
    """Runs a fuzzer and prints the line of its target; returns whether it found nothing."""
    log = os.path.join(BUILD, "fuzz-%s.log" % name)
    with open(log, "wb") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=environment).returncode
    with open(log, errors="replace") as text:
        output = text.read()
    steps = re.findall(r"#(\d+)\s.*cov: (\d+)", output) or [("0", "0")]
    found = re.search(r"Test unit written to (\S+)", output)
    print("%-14s %10s inputs %7s edges   %s" % (
        name, steps[-1][0], steps[-1][1], "found nothing" if code == 0 else "FOUND %s, see %s" % (
            os.path.relpath(found[1], ROOT) if found else "an exit status of %d" % code, os.path.relpath(log, ROOT))),
        flush=True)
    return code == 0


def python_targets():
    """Those that run with atheris, by name."""
    folder = os.path.join(ROOT, "tests", "fuzz")
    return {name[:-3]: os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".py")}


def fuzz_python(name, program, seconds):
    """Runs one target in Python; returns whether it found nothing."""
    python, package = os.path.join(ROOT, ".venv/bin/python"), os.path.join(os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build")), "python")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))}
    if not os.path.exists(python) or subprocess.run([python, "-c", "import atheris, leat"], env=environment, capture_output=True).returncode:
        sys.exit("fuzz: %s wants the built package and atheris in .venv: `make`, then `sh tools/venv.sh fuzz`" % name)
    work, findings = os.path.join(BUILD, "corpus", name), os.path.join(BUILD, "findings")
    os.makedirs(work, exist_ok=True)
    os.makedirs(findings, exist_ok=True)
    subprocess.run([python, program, "--seeds", work], check=True, env=environment, stderr=subprocess.DEVNULL)
    return watched(name, [python, program, work, "-max_total_time=%d" % seconds, "-max_len=65536",
                          "-artifact_prefix=%s/%s-" % (findings, name), "-timeout=25", "-rss_limit_mb=3000"], environment)


def keep(name, share):
    """Puts the smallest inputs with all the coverage into the kept corpus."""
    work = os.path.join(BUILD, "corpus", name)
    lines = [line for line in kept_lines(name) if line.startswith("fixed-")]
    left = share - sum(os.path.getsize(os.path.join(work, line.split(" ")[0])) for line in lines)
    with tempfile.TemporaryDirectory() as merged:
        subprocess.run([os.path.join(BUILD, "tests", "fuzz"), "-merge=1", merged, work], capture_output=True,
                       env={**os.environ, **ENVIRONMENT, "LEAT_FUZZ_TARGET": name})
        files = sorted((os.path.join(merged, file) for file in os.listdir(merged)), key=os.path.getsize)
        # From the whole range of sizes, as the smallest are mostly refused at once.
        step = max(1, len(files) // KEPT_FILES)
        for file in files[::-1][::step][::-1][:KEPT_FILES]:
            with open(file, "rb") as source:
                data = source.read()
            if 0 < len(data) <= left:
                left -= len(data)
                lines.append(kept_line(hashlib.sha1(data).hexdigest()[:12], data))
    write_kept(name, lines)


def add_fixed(what, path, name):
    """Puts an input of a mended mistake into the kept corpus."""
    with open(path, "rb") as source:
        line = kept_line("fixed-" + what, source.read())
    write_kept(name, [line, *(other for other in kept_lines(name) if other.split(" ")[0] != "fixed-" + what)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--fixed", nargs=2, metavar=("WHAT", "FILE"))
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    args = parser.parse_args()
    if args.fixed:
        if len(args.targets) != 1 or not os.path.exists(kept_path(args.targets[0])) or not re.fullmatch(r"[a-z0-9-]+", args.fixed[0]):
            sys.exit("fuzz: --fixed wants a name of a-z, 0-9 and -, a file, and one target of tests/fuzz/corpus")
        return add_fixed(*args.fixed, args.targets[0])
    python = python_targets()
    if args.targets and not set(args.targets) - set(python):
        sys.exit(0 if all([fuzz_python(name, python[name], args.seconds) for name in args.targets]) else 1)
    build()
    targets = read_targets()
    if args.list:
        print("\n".join(["%-14s %s" % (name, target["doc"]) for name, target in targets.items()] +
                        ["%-14s in Python, only where it is named" % name for name in python]))
        return
    unknown = [name for name in args.targets if name not in targets]
    if unknown:
        sys.exit("fuzz: no target %s; --list shows them, and those in Python run by themselves" % unknown[0])
    with open(os.path.join(BUILD, "fuzz.dict"), "w") as out:
        out.write(program("fuzz_replay", "--dictionary"))
    good = True
    for name in args.targets or targets:
        good = fuzz(name, targets[name], args.seconds) and good
        if args.keep:
            keep(name, KEPT_BYTES // len(targets))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
