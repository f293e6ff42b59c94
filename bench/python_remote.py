#!/usr/bin/env python3
"""Files of a web server: python_remote.py BUILD SECONDS full|slow. Wall time, in alternation, medians.

A file of 256 MiB that nginx serves on the loopback is read by fixed_length_record_dataset, in records of a megabyte; the
limit is the program curl, which writes as many ranges of it at a time to /dev/null. full: as fast as nginx gives it;
slow: 32 MB/s for each connection, so that only keeping all of them busy is fast.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(sys.argv[1], "python"), os.path.join(ROOT, "python/tests")]
import leat as tf  # noqa: E402
import remote_servers as servers  # noqa: E402

SIZE, CONNECTIONS = 256 << 20, 8


def by_curl(url):
    """Ranges of 4 MiB, as leat asks for them."""
    command = ["curl", "--parallel", "--parallel-immediate", "--parallel-max", str(CONNECTIONS), "--no-progress-meter"]
    for at in range(0, SIZE, 4 << 20):
        command += ["--next"] * bool(at) + ["--http1.1", "--fail", "--output", "/dev/null",
                                            "--range", f"{at}-{at + (4 << 20) - 1}", url]
    subprocess.run(command, check=True)


def by_leat(url):
    records = sum(1 for _ in tf.data.FixedLengthRecordDataset(url, 1 << 20))
    assert records == SIZE >> 20


def main():
    seconds, kind = float(sys.argv[2]), sys.argv[3]
    if servers.NGINX is None:
        sys.exit("there is no nginx; `make deps` installs nginx-light")
    os.environ["LEAT_REMOTE_CONNECTIONS"] = str(CONNECTIONS)
    taken = {by_curl: [], by_leat: []}
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, "data"), "wb") as file:
            file.write(servers.content(1 << 20) * (SIZE >> 20))
        with servers.nginx(folder, folder, rate="32m") as base:
            url = base + ("/data" if kind == "full" else "/slow/data")
            end = time.monotonic() + seconds
            while time.monotonic() < end or len(taken[by_leat]) < 3:
                for reader, times in taken.items():
                    start = time.perf_counter()
                    reader(url)
                    times.append(time.perf_counter() - start)
    curl, leat = (SIZE / 1e6 / statistics.median(times) for times in taken.values())
    print(json.dumps({"rate": leat, "limit": curl, "unit": "MB/s"}))


if __name__ == "__main__":
    main()
