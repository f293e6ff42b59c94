#!/usr/bin/env python3
"""What `import leat` costs beyond numpy: python_import.py BUILD SECONDS. The limit is 50 ms of processor time.

Each import is a process of its own, which has numpy already; the first fills the caches and does not count.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT_S = 0.050
PROGRAM = """
import time, numpy
cpu, clock = time.process_time(), time.perf_counter()
import leat
print(time.process_time() - cpu, time.perf_counter() - clock)
"""


def main():
    build, seconds = sys.argv[1], float(sys.argv[2])
    cpu, clock = [], []
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPATH": os.path.join(build, "python"), "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        end = time.monotonic() + seconds
        while len(cpu) < 6 or time.monotonic() < end:
            done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            for values, value in zip((cpu, clock), done.stdout.split()):
                values.append(float(value))
    middle = statistics.median(cpu[1:])
    print(json.dumps({"rate": 1 / middle, "unit": "imports/s", "limit": 1 / LIMIT_S, "cpu_s": middle,
                      "elapsed_s": statistics.median(clock[1:])}))


if __name__ == "__main__":
    main()
