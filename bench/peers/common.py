"""What the benchmark cases share: where the corpora are, and a context for notes about a peer's output."""
import glob
import json
import os
import resource
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("LEAT_BUILD", "build")
DATA = os.environ.get("LEAT_BENCH_DATA", os.path.join(BUILD, "bench-data"))
THREADS = int(os.environ.get("LEAT_BENCH_THREADS", "2"))
BATCH = 64
SIDE = 224


class Missing(Exception):
    """The peer is not installed, or cannot run on this machine."""


class Context:
    def __init__(self, seconds):
        self.seconds = seconds
        self.notes = {}

    def note(self, **what):
        """Record something about the first batch (shape, mean), so that equal work can be checked."""
        for key, value in what.items():
            self.notes.setdefault(key, value)

    def look(self, array):
        if "shape" not in self.notes:
            import numpy
            array = numpy.asarray(array)
            self.note(shape=list(array.shape), dtype=str(array.dtype), mean=round(float(array.mean()), 4))


def photos():
    """Files and labels of the pictures, in a fixed order that mixes the classes."""
    files = sorted(glob.glob(os.path.join(DATA, "photos", "photos", "*", "*.jpg")) or
                   glob.glob(os.path.join(DATA, "pictures", "*", "*.jpg")), key=os.path.basename)
    if not files:
        raise Missing("no corpus: run bench/prepare.py")
    return files, [int(f.split(os.sep)[-2].split("_")[1]) for f in files]


def shards(kind):
    """Files of a record corpus: small or large."""
    files = sorted(glob.glob(os.path.join(DATA, kind, "*.tfrecord")))
    if not files:
        raise Missing("no corpus: run bench/prepare.py")
    return files


def file_list(name, files):
    path = os.path.join(DATA, name + ".list")
    with open(path, "w") as out:
        out.write("".join(f + "\n" for f in files))
    return path


def program(name, *args):
    """Run a program of bench/; the line of JSON that it prints last is a measurement of its own process."""
    binary = os.path.join(BUILD, "bench", name)
    if not os.path.exists(binary):
        raise Missing("bench/%s is not built" % name)
    done = subprocess.run([binary, *map(str, args)], check=True, capture_output=True, text=True)
    return {**json.loads(done.stdout.strip().split("\n")[-1]),
            "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)}


def limit(*args):
    """The bare work in C."""
    return program("limit", *args)


def tensorflow():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    try:
        import tensorflow as tf
    except ImportError as e:
        raise Missing(e)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    return tf


def tf_threads(tf, dataset, threads=THREADS):
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    return dataset.with_options(options)


def torch():
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    try:
        import torch as t
    except ImportError as e:
        raise Missing(e)
    t.set_num_threads(THREADS)
    return t


def need(name):
    import importlib
    try:
        return importlib.import_module(name)
    except (ImportError, OSError) as e:
        raise Missing(e)
