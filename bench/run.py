#!/usr/bin/env python3
"""Measure leat against what the hardware allows: one line of JSON per case.

    run.py [--build BUILD] [--seconds 5] [--rounds 3] [--strict] [CASE...]       --list: the cases

Programs of leat and of the limit alternate, so noise hits both alike; each case prints the medians:
    {"case", "leat", "limit", "ratio", "floor", "ok", "unit", ...}
ratio is leat / limit, both measured in this run; floor is what the ratio must reach (null: nothing is asked yet). A case whose program
is not built prints {"case", "skipped"}. --strict: exit 1 where a ratio is below its floor or a case was skipped. README.md has the
contract of the programs.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import prepare

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
THREADS = "2"
CNN_BATCH = "64"


def jpeg(c):
    return {"limit": ["limit", "jpeg", c.pictures, THREADS, c.seconds, "full"],
            "leat": ["leat_jpeg_full", c.seconds, THREADS, c.pictures],
            "floor": lambda limit: 0.95, "corpus": c.kind}


def jpeg_rrc(quality):
    return lambda c: {"limit": ["limit", "jpeg", c.pictures, THREADS, c.seconds, "rrcscale"],
                      "leat": ["leat_jpeg_rrc", c.seconds, THREADS, c.pictures, quality],
                      "floor": lambda limit: 1.0, "corpus": c.kind}


def small_shuffle(c):
    return {"limit": ["limit", "gather", "1000000", "32", "256", c.seconds],
            "leat": ["leat_small_shuffle", c.seconds, "1"],
            "floor": lambda limit: min(0.25, 5e6 / limit)}


def chain(c):
    return {"limit": ["limit_chain", "8", c.seconds],
            "leat": ["leat_chain_8", c.seconds, "1"],
            "floor": lambda limit: 1 / 5e-9 / limit}


def tfrecord(threads):
    return lambda c: {"limit": ["limit", "records", c.records, threads, c.seconds],
                      "leat": ["leat_tfrecord", c.seconds, threads, c.records, "small"],
                      "floor": lambda limit: 0.4}


def tfrecord_large(c):
    return {"limit": ["limit", "records", c.large_records, "1", c.seconds],
            "leat": ["leat_tfrecord", c.seconds, "1", c.large_records, "large"],
            "floor": lambda limit: 0.7}


def tfrecord_gzip(c):
    return {"limit": ["limit", "gzip", c.packed_records, "1", c.seconds],
            "leat": ["leat_tfrecord", c.seconds, "1", c.packed_records, "small", "GZIP"],
            "floor": lambda limit: 0.8}


def parse_example(features, kind, floor=1.0):
    return lambda c: {"leat": ["leat_parse_example", c.seconds, features, kind], "floor": lambda limit: floor}


def picture_kernel(name):
    return lambda c: {"leat": ["leat_picture_kernels", c.seconds, name], "floor": lambda limit: 1 / 1.3}


def sort(operation, n, floor):
    return lambda c: {"leat": ["leat_sort", c.seconds, operation, n], "floor": lambda limit: floor}


def stream_memory(c):
    return {"leat": ["leat_stream_memory", c.seconds, THREADS, c.large_records],
            "floor": lambda limit: 0.65}


def cnn(side):
    return lambda c: {"limit": ["limit_cnn", side, CNN_BATCH, "1", c.seconds],
                      "leat": ["leat_cnn_step", c.seconds, "1", side, CNN_BATCH],
                      "floor": lambda limit: 1 / 1.3}


def train(kind, threads, side=None):
    """By the Python package, beside the sum of the best primitives of oneDNN."""
    def case(c):
        limit = ["limit_cnn", side, CNN_BATCH, threads, c.seconds] if side else ["limit_resnet50", "8", threads, c.seconds]
        return {"limit": limit, "leat": ["python_train.py", c.build, c.seconds, threads, kind], "floor": lambda limit: 1 / 1.15}
    return case


def pipeline_and_training(c):
    return {"leat": ["leat_pipeline_and_training", c.seconds, THREADS, c.pictures],
            "floor": lambda limit: 0.85, "corpus": c.kind}


def interleave(block, order, floor=None):
    return lambda c: {"leat": ["leat_interleave_16", c.seconds, THREADS, c.sixteen, str(block), order],
                      "floor": lambda limit: floor}


def origins(size, files):
    return lambda c: {"leat": ["leat_origins", c.seconds, "1", getattr(c, files), size],
                      "floor": lambda limit: 0.97}


def uneven_map(order):
    return lambda c: {"leat": ["leat_uneven_map", c.seconds, THREADS, order],
                      "floor": lambda limit: 0.8}


def autotune(kind, files=None):
    """A turn in the grid has to be longer than what is read ahead between turns: so more seconds."""
    return lambda c: {"leat": ["leat_autotune", str(6 * float(c.seconds)), THREADS, kind] + ([getattr(c, files)] if files else []),
                      "floor": lambda limit: 0.9}


def allreduce(kind, floor, limit=None):
    return lambda c: {"leat": ["leat_allreduce", c.seconds, kind], "floor": lambda rate: floor,
                      **({"limit": [limit, c.seconds]} if limit else {})}


def service_transport(kind, floor):
    return lambda c: {"leat": ["leat_service_transport", c.seconds, *kind.split()], "floor": lambda rate: floor}


def service_scale(kind, floor):
    return lambda c: {"leat": ["leat_service_scale", c.seconds, kind, os.path.join(c.build, "bin/leat")], "floor": lambda rate: floor}


def service(kind, floor):
    return lambda c: {"leat": ["leat_service", c.seconds, *kind.split()], "floor": lambda rate: floor}


def service_rounds(kind, floor):
    return lambda c: {"leat": ["leat_service_rounds", c.seconds, *kind.split()], "floor": lambda rate: floor}


def mirrored(part):
    return lambda c: {"leat": ["leat_mirrored", c.seconds, part], "floor": lambda limit: 1.0}


def overlap(kind):
    return lambda c: {"leat": ["leat_overlap", c.seconds, kind], "floor": lambda limit: 0.95}


def python_import(c):
    return {"leat": ["python_import.py", c.build, c.seconds], "floor": lambda limit: 1.0}


def python(part, floor=1.0):
    return lambda c: {"leat": ["python_speed.py", c.build, c.seconds, part], "floor": lambda limit: floor}


def formats(part, floor):
    """Files of other projects, beside their own readers."""
    return lambda c: {"leat": ["python_formats.py", c.build, c.seconds, part], "floor": lambda limit: floor}


def python_map(c):
    return {"limit": ["leat_chain_8", c.seconds, "1", "65536"], "leat": ["python_speed.py", c.build, c.seconds, "map"],
            "floor": lambda limit: 0.9}


def remote(kind):
    return lambda c: {"leat": ["python_remote.py", c.build, c.seconds, kind], "floor": lambda limit: 0.9}


CASES = {
    "jpeg_full": (jpeg, "files, decode, bilinear 224, flip, float, batch 64, on two threads"),
    "jpeg_rrc": (jpeg_rrc("exact"), "the same with a random resized crop, exact; the limit may scale the inverse DCT"),
    "jpeg_rrc_fast": (jpeg_rrc("fast"), "the same with the option picture_quality fast"),
    "picture_flip": (picture_kernel("flip"), "1024 x 1024 RGB mirrored, beside memcpy of as many bytes"),
    "picture_cast": (picture_kernel("cast"), "bytes to float32, beside memcpy of as many bytes"),
    "picture_normalise": (picture_kernel("normalise"), "float32 minus a number for each channel, beside memcpy of as many bytes"),
    "picture_resize": (picture_kernel("resize"), "1280 x 960 bytes blended to floats of 1024 x 1024, beside memcpy of as many bytes"),
    "sort_100": (sort("sort", "100", 2.0), "10,000 lines of 100 float32 in order, beside a bare radix sort of as many keys"),
    "sort_1m": (sort("sort", "1000000", 0.8), "the same, one line of a million"),
    "sort_30m": (sort("sort", "30000000", 0.8), "the same, one line of 30 million"),
    "argsort_1m": (sort("argsort", "1000000", 0.6), "the places of a million float32 in order, beside a bare radix sort of keys and places"),
    "argsort_30m": (sort("argsort", "30000000", 0.5), "the same of 30 million"),
    "small_shuffle": (small_shuffle, "1 M rows of 32 floats and a label: shuffle, x * 2 + 1, batch 256, on one thread"),
    "chain_8": (chain, "range, eight maps x + 1, batch 1024, on one thread; 5 ns an element and map"),
    "tfrecord_small": (tfrecord("1"), "read, check and parse 224-byte Examples, batch 1024, on one thread"),
    "tfrecord_small_2": (tfrecord(THREADS), "the same, two files at once on two threads"),
    "tfrecord_large": (tfrecord_large, "the same with 100 KB Examples, batch 32, on one thread"),
    "tfrecord_gzip": (tfrecord_gzip, "tfrecord_small from gzip'd files; the limit inflates, nothing more"),
    "parse_example_4": (parse_example("4", "dense"), "parse_example, 4 features of 8 floats; the limit is 40 ns a feature and the copy"),
    "parse_example_100": (parse_example("100", "dense"), "the same with 100 features"),
    "parse_sparse_4": (parse_example("4", "sparse"), "4 features of any number of integers"),
    "parse_sparse_100": (parse_example("100", "sparse"), "the same with 100 features"),
    "parse_bytes_100": (parse_example("100", "bytes"), "100 features of 64 bytes, which are not copied"),
    "stream_memory": (stream_memory, "2 GB of 100 KB records, shuffle(1000), batch 32: what share of the peak the buffers are"),
    "cnn_step": (cnn("8"), "the demo's CNN on 8 x 8, batch 64: forward, gradients, Adam, on one core"),
    "cnn_step_28": (cnn("28"), "the same on 28 x 28"),
    "train_cnn8": (train("cnn8", THREADS, "8"), "the step of cnn_step by the Python package, on two cores"),
    "train_cnn28": (train("cnn28", THREADS, "28"), "the same on 28 x 28"),
    "train_resnet50": (train("resnet50", THREADS), "ResNet-50, batch 8, 224 x 224: forward, gradients, Adam, by the Python package, on two cores"),
    "train_resnet50_1": (train("resnet50", "1"), "the same on one core, by the processor's time"),
    "interleave_16_1": (interleave(1, "order", 0.25), "16 record files in turns of 1, parsed, batch 1024, on two threads"),
    "interleave_16_16": (interleave(16, "order", 0.3), "the same in turns of 16"),
    "interleave_16_any": (interleave(16, "any", 0.35), "the same in any order"),
    "origins_small": (origins("small", "records"), "tfrecord_small knowing each row's file and byte, beside not knowing"),
    "origins_large": (origins("large", "large_records"), "the same with 100 KB Examples, batch 32"),
    "uneven_map": (uneven_map("order"), "parallel map, 1 element in 100 costs 100 times as much, on two threads"),
    "uneven_map_any": (uneven_map("any"), "the same in any order"),
    "autotune_pictures": (autotune("pictures", "pictures"), "AUTOTUNE everywhere beside the best of 12 settings: jpeg_full's map, batch 2, prefetch"),
    "autotune_records": (autotune("records", "records"), "the same: tfrecord_small with parallel reads, map, batch 1024, prefetch"),
    "autotune_uneven": (autotune("uneven"), "the same: uneven_map, batch 50, prefetch"),
    "allreduce": (allreduce("threads", 0.8), "sum of 100 MB between two replicas, beside memcpy by both of as many bytes"),
    "allreduce_shared": (allreduce("shared", 2.0), "the same between two processes by shared memory; the limit is by gloo"),
    "allreduce_gloo": (allreduce("gloo", 0.9, "limit_gloo"), "the same by gloo; the limit is a program of gloo alone"),
    "allreduce_tls": (allreduce("tls", 0.15), "the same over TLS; the limit is by gloo, in the clear"),
    "service_transport_large": (service_transport("large 4", 0.1),
                                "messages of 1 MiB of a data service between two processes over gRPC, on 4 connections, beside a pair of Unix sockets"),
    "service_transport_large_1": (service_transport("large 1", 0.08), "the same on one connection"),
    "service_transport_tcp": (service_transport("large 1 tcp", 0.9), "the same past gRPC by one socket of TCP, beside a bare pair of TCP"),
    "service_transport_shm": (service_transport("large 1 shm", 2.0), "the same by shared memory, beside a pair of Unix sockets"),
    "service_transport_small": (service_transport("small", 1.0), "the same of 100 bytes; the pair of sockets has a write for each"),
    "service_transport_calls": (service_transport("calls", 0.03), "calls of 100 bytes over gRPC, one after the other, beside a pair of sockets"),
    "service_small": (service("small", 1.0), "numbers one by one from a worker in another process; the limit is a million a second"),
    "service_batched": (service("batched", 0.5), "batches of 32 KiB from there, beside the same pipeline in the program"),
    "service_large": (service("large", 2.0), "elements of 1 MiB from there, by shared memory, beside a pair of Unix sockets"),
    "service_large_grpc": (service("large grpc", 0.08), "the same over gRPC"),
    "service_large_tcp": (service("large tcp", 0.9), "the same by TCP past gRPC, beside a bare pair of TCP"),
    "service_fresh": (service("fresh", 0.9), "batches of 1 MiB that the worker puts together, by shared memory, beside a pair of Unix sockets"),
    "service_rounds": (service_rounds("2 here", 0.7), "rounds of two consumers from two workers in the program, beside messages there and back by a pair of Unix sockets"),
    "service_rounds_grpc": (service_rounds("2 grpc", 0.1), "the same of workers in another process, over gRPC"),
    "service_splits": (service_scale("splits", 0.98), "epochs of 10^7 numbers under DYNAMIC by the processor's time, beside OFF"),
    "service_restart": (service_scale("restart", 1.0), "starts of a dispatcher that has given 10^6 splits; the limit is two a second"),
    "service_cold": (service_scale("cold", 1.0), "processes of a dispatcher and a worker, to the first element; the limit is five a second"),
    "service_workers": (service_scale("workers", 0.8), "eight workers that sleep, beside eight times one"),
    "service_join": (service_scale("join", 1.0), "ten workers join a running epoch, until all are at work; the limit is once a second"),
    "overlap": (overlap("gloo"), "a step of two processes by gloo with 14 MB of gradients, beside all of them in one pack"),
    "overlap_threads": (overlap("threads"), "the same of two replicas in one process"),
    "mirrored": (mirrored("input"), "what distributing over two replicas adds to reading a batch; the limit is 20 us"),
    "mirrored_step": (mirrored("step"), "the same with run and reduce, beside one replica"),
    "mirrored_sum": (mirrored("sum"), "the same with a sum over replicas in the step, for which they meet"),
    "python_import": (python_import, "import leat in Python where numpy is imported; the limit is 50 ms of processor time"),
    "python_batches": (python("batches"), "iterating over batches in Python; the limit is 5 us of processor time a batch"),
    "python_scalars": (python("scalars"), "as_numpy_iterator over numbers; the limit is 1 us of processor time a number"),
    "python_map": (python_map, "chain_8 in batches of 65,536 through Python, beside the same in C"),
    "python_add": (python("add"), "an eager sum of two tensors of ten numbers; the limit is numpy's time for it and 1 us"),
    "python_call": (python("call"), "a call of a traced function of nothing; the limit is 3 us of processor time"),
    "parquet": (formats("parquet", 0.8), "Parquet files in batches of 1,024 rows; the limit is pyarrow's scan"),
    "parquet_rows": (formats("parquet_rows", 0.8), "the same by rows that are batched"),
    "mds": (formats("mds", 1.5), "MDS shards; the limit is MosaicML's reader"),
    "webdataset": (formats("webdataset", 1.5), "bytes out of tar shards; the limit is WebDataset's reader"),
    "webdataset_pictures": (formats("pictures", 1.5), "PNG pictures out of tar shards, decoded; the limit is WebDataset's"),
    "remote_full": (remote("full"), "a file of nginx on the loopback, read over 8 connections; the limit is curl over as many"),
    "remote_slow": (remote("slow"), "the same where nginx gives each connection 32 MB/s"),
    "python_callback": (python("callback", 1 / 1.2), "a map called in Python, about 50 us of numpy, beside a bare loop"),
    "pipeline_and_training": (pipeline_and_training, "both together against the slower alone, or the cores they share"),
}


class Context:
    """Where the corpora are; they are made when a case first asks for them."""

    def __init__(self, build, seconds):
        self.build, self.seconds = build, str(seconds)
        self.data = os.path.abspath(prepare.default_folder(build))
        os.makedirs(self.data, exist_ok=True)

    def __getattr__(self, name):
        if name in ("pictures", "kind"):
            self.kind, files = prepare.pictures(self.build, self.data)
            self.pictures = prepare.write_list(self.data, "pictures", files)
        elif name == "records":
            self.records = prepare.write_list(self.data, "records", prepare.records(self.build, self.data))
        elif name == "large_records":
            self.large_records = prepare.write_list(self.data, "large", prepare.records(self.build, self.data, "large"))
        elif name == "packed_records":
            self.packed_records = prepare.write_list(self.data, "packed", prepare.packed_records(self.build, self.data))
        elif name == "sixteen":
            self.sixteen = prepare.write_list(self.data, "sixteen", prepare.records(self.build, self.data, "sixteen"))
        else:
            raise AttributeError(name)
        return self.__dict__[name]


def _python_of(name):
    """What others' files are read beside them by has an interpreter of its own."""
    return os.path.join(ROOT, ".venv-formats/bin/python" if name == "python_formats.py" else ".venv/bin/python")


def program(build, name):
    """The command of a program; one in Python runs with the interpreter of the tests where there is one."""
    if not name.endswith(".py"):
        return [os.path.join(build, "bench", name)]
    python = _python_of(name)
    return [python if os.path.exists(python) else sys.executable, os.path.join(ROOT, "bench", name)]


def missing(build, name):
    """Why a program cannot run; None: it can."""
    if name.endswith(".py") and not os.path.exists(os.path.join(build, "python/leat/_native.abi3.so")):
        return "the Python package is not built"
    if name == "python_formats.py" and not os.path.exists(_python_of(name)):
        return "there is no .venv-formats; sh tools/venv.sh formats makes it"
    return None if os.path.exists(program(build, name)[-1]) else "bench/%s is not built" % name


def measure(build, command):
    """The JSON that a program prints last."""
    done = subprocess.run([*program(build, command[0]), *command[1:]], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("%s: exit status %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()[-300:]))
    return json.loads(done.stdout.strip().split("\n")[-1])


def run_case(name, context, rounds):
    case = CASES[name][0](context)
    programs = [case[side][0] for side in ("limit", "leat") if side in case]
    reasons = [reason for reason in (missing(context.build, p) for p in programs) if reason]
    if reasons:
        return {"case": name, "skipped": reasons[0]}
    results = {"limit": [], "leat": []}
    for _ in range(rounds):
        for side in ("limit", "leat"):
            if side in case:
                results[side].append(measure(context.build, case[side]))
    if "limit" not in case:                     # leat's program measured its own limit
        results["limit"] = [{"rate": r["limit"]} for r in results["leat"]]
    middle = {side: statistics.median(r["rate"] for r in found) for side, found in results.items()}
    ratio = middle["leat"] / middle["limit"]
    floor = case["floor"](middle["limit"]) if "floor" in case else None
    line = {"case": name, "leat": middle["leat"], "limit": middle["limit"], "ratio": round(ratio, 4),
            "floor": floor and round(floor, 4), "ok": floor is None or ratio >= floor, "unit": results["leat"][0]["unit"],
            "rounds": rounds}
    for key in ("mean", "bytes_per_s", "memcpy_bytes_per_s"):
        for side in ("limit", "leat"):
            if key in results[side][0] and (key == "mean" or side == "limit"):
                line[key + ("_" + side if key == "mean" else "")] = results[side][0][key]
    if "corpus" in case:
        line["corpus"] = case["corpus"]
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    args = parser.parse_args()
    if args.list:
        print("\n".join("%-22s %s" % (name, doc) for name, (_, doc) in CASES.items()))
        return
    unknown = [name for name in args.cases if name not in CASES]
    if unknown:
        sys.exit("run: no case %s; --list shows them" % unknown[0])
    context = Context(args.build, args.seconds)
    good = True
    for name in args.cases or CASES:
        line = run_case(name, context, args.rounds)
        good = good and line.get("ok", False)
        print(json.dumps(line), flush=True)
    sys.exit(1 if args.strict and not good else 0)


if __name__ == "__main__":
    main()
