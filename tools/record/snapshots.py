#!/usr/bin/env python3
"""Records the folders that TensorFlow's data service writes (tf.data.experimental.distributed_save): each file's bytes.

    snapshots.py > python/tests/data/snapshots.json       with Python that has tensorflow
"""
import base64
import json
import os
import pathlib
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

data, service = tf.data.Dataset, tf.data.experimental.service

CASES = {
    "range": (data.range(10), None),
    "snappy": (data.range(10), "SNAPPY"),
    "gzip": (data.range(10), "GZIP"),
    "strings": (data.from_tensor_slices(["a", "bc", "", "def"]), None),
    "nested": (data.from_tensor_slices({"a": [1, 2, 3], "b": {"c": ["x", "y", "z"], "d": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}}),
               "SNAPPY"),
    "repeated": (data.range(5).repeat(3), None),
    "chosen": (data.choose_from_datasets([data.from_tensor_slices(list("abc")), data.from_tensor_slices(list("def"))],
                                         data.range(2).repeat(3)), None),
    "empty": (data.range(0), None),
    "failed": (data.range(4).map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 2, tf.float32), "no")), None),
}


def files(folder):
    """The bytes of each file below the folder; the graph, which is long, and splits, which nobody reads, left out."""
    return {str(path.relative_to(folder)): base64.b64encode(path.read_bytes()).decode()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != "dataset_def.proto" and "splits" not in str(path.relative_to(folder))}


def main():
    """Prints the JSON."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        dispatcher = service.DispatchServer(service.DispatcherConfig(work_dir=folder + "/work", fault_tolerant_mode=True))
        address = dispatcher.target.split("://")[1]
        workers = [service.WorkerServer(service.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100))
                   for _ in range(2)]
        for name, (dataset, compression) in CASES.items():
            path = pathlib.Path(folder, name)
            tf.data.experimental.distributed_save(dataset, str(path), address, compression=compression)
            while not (path / "DONE").exists() and not (path / "ERROR").exists():
                time.sleep(0.1)
            found[name] = files(path)
        del workers, dispatcher
    print("{" + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items()) + "}")


main()
