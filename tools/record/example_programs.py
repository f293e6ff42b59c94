#!/usr/bin/env python3
"""Record what example programs print under TensorFlow, alone and as several processes of one job:

    example_programs.py > python/tests/data/example_programs.json

Needs TensorFlow; the programs run with its import in the place of leat's.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
PROGRAMS = {"per_replica": (1, 2, 3), "dataset_function": (1, 2, 3), "imbalanced_workers": (1,)}


def addresses(count):
    """Addresses of this host that are free now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    found = ["127.0.0.1:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return found


def run(program, workers):
    """The lines that each worker prints."""
    cluster, processes = {"worker": addresses(workers)}, []
    for index in range(workers):
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0")
        if workers > 1:
            environment["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        processes.append(subprocess.Popen([sys.executable, "-W", "ignore", program], env=environment, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
    found = [process.communicate(timeout=600)[0].splitlines() for process in processes]
    if any(process.returncode for process in processes):
        sys.exit("%s with %d workers failed" % (program, workers))
    return found


def main():
    recorded = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, counts in PROGRAMS.items():
            with open(os.path.join(EXAMPLES, name + ".py"), encoding="utf-8") as file:
                text = file.read().replace("import leat as tf", "import tensorflow as tf")
            program = os.path.join(folder, name + ".py")
            with open(program, "w", encoding="utf-8") as file:
                file.write(text)
            recorded[name] = {str(workers): run(program, workers) for workers in counts}
    json.dump(recorded, sys.stdout, indent=0)
    print()


if __name__ == "__main__":
    main()
