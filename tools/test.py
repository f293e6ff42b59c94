#!/usr/bin/env python3
"""Everything that CI runs, from nothing: `make test`.

    test.py [STEP...]        steps: checks gcc asan tsan, in this order, by default; and clang

checks: the rules of tools/check_*.py. gcc: warnings are errors; all tests but the long ones.
asan: clang, whose warnings are errors, too, under the address and undefined-behaviour sanitizers,
without what one compiler is enough for, which is the tests of the Python package and of the tools.
tsan: the tests that use threads under the thread sanitizer, training on the plain kernels, as it
cannot see into libgomp. clang, before a release: the tests of asan by clang's optimised code.
A step that fails does not stop the next. The last line counts tests and checks; a build
that fails is one failure. Build folders are build-<step> and stay, so a second run is
incremental. The Python tests want .venv, which is made first where it is missing (tools/venv.sh).
"""
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
JOBS = str(2 * len(os.sched_getaffinity(0)))    # many tests wait for processes, deadlines or disks
CHECKS = ["check_layers", "check_docs", "check_size", "check_format", "check_deviations",
          "check_resume", "check_python", "check_strings", "check_names", "check_prefixes", "check_errors"]
BUILDS = {
    "gcc": {"CC": "gcc", "CXX": "g++"},
    "clang": {"CC": "clang", "CXX": "clang++"},
    "asan": {"CC": "clang", "CXX": "clang++", "sanitize": "address"},
    "tsan": {"CC": "clang", "CXX": "clang++", "sanitize": "thread"},
}
DEFAULT = ["checks", "gcc", "asan", "tsan"]
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}
SUMMARY = re.compile(r"tests passed, (\d+) tests failed out of (\d+)")
SKIPPED = re.compile(r"^\s*\d+ - (\S+) \(Skipped\)", re.M)


def run(command, **more):
    """Run a command in the root, show what it prints as it comes, and return its status and output."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", **more)
    lines = []
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    return process.wait(), "".join(lines)


def checks():
    failed = sum(run([sys.executable, "-B", os.path.join("tools", name + ".py")])[0] != 0 for name in CHECKS)
    return len(CHECKS) - failed, failed, 0


def fixed_addresses():
    """The thread sanitizer needs its shadow memory free: without address randomisation, where that is allowed."""
    command = ["setarch", "-R", "true"]
    try:
        return command[:2] if subprocess.run(command, capture_output=True).returncode == 0 else []
    except FileNotFoundError:
        return []


def build_and_test(step):
    settings = dict(BUILDS[step])
    folder = os.path.join(ROOT, "build-" + step)
    sanitize = settings.pop("sanitize", "")
    environment = {**os.environ, **settings, **ENVIRONMENT, "CTEST_OUTPUT_ON_FAILURE": "1"}
    for command in (["cmake", "-G", "Ninja", "-B", folder, "-DLEAT_WERROR=ON", "-DLEAT_SANITIZE=" + sanitize],
                    ["ninja", "-C", folder, "-k", "20", "--quiet", *(["threads"] if sanitize == "thread" else [])]):
        if run(command, env=environment)[0]:
            return 0, 1, 0
    wrapper = fixed_addresses() if sanitize == "thread" else []
    which = ["-L", "threads"] if sanitize == "thread" else []
    left_out = {"gcc": "^long$", "asan": "^(long|once)$"}.get(step, "^(long|once|full)$")
    code, output = run([*wrapper, "ctest", "--test-dir", folder, "-j", JOBS, "-LE", left_out, *which], env=environment)
    found = SUMMARY.search(output)
    failed, total = map(int, found.groups()) if found else (1, 1)
    skipped = len(SKIPPED.findall(output))
    return total - failed - skipped, failed if failed or code == 0 else 1, skipped


def main():
    steps = sys.argv[1:] or DEFAULT
    unknown = [step for step in steps if step != "checks" and step not in BUILDS]
    if unknown:
        sys.exit("test: no step %s; there are: checks %s" % (unknown[0], " ".join(BUILDS)))
    if steps != ["checks"] and run(["sh", "tools/venv.sh"])[0]:
        print("test: without .venv the Python tests are skipped")
    results = []
    for step in steps:
        print("\n==== %s" % step, flush=True)
        start = time.monotonic()
        counts = checks() if step == "checks" else build_and_test(step)
        results.append((step, *counts, time.monotonic() - start))
    print()
    for step, passed, failed, skipped, seconds in results:
        print("%-7s %4d passed %3d failed %3d skipped %5.0f s" % (step, passed, failed, skipped, seconds))
    passed, failed, skipped = (sum(result[i] for result in results) for i in (1, 2, 3))
    print("make test: %d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
