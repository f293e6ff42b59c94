"""What MirroredStrategy adds to a step: two logical CPU devices, in-memory batches, a step that only sums its batch; and the
all-reduce of 100 MB between two processes.

plain-*: one device, the same dataset without the strategy. *-input: only iterating, no step. *-step: iterate and call one
tf.function per batch. mirrored-loop: the whole loop of 100 steps inside one tf.function, TensorFlow's fastest form.
"""
import json
import os
import socket
import subprocess
import sys

import numpy

from common import tensorflow, torch

GLOBAL_BATCH, COLUMNS = 64, 32


def dataset(tf):
    x = numpy.random.default_rng(1).random((65536, COLUMNS), numpy.float32)
    y = numpy.arange(65536, dtype=numpy.int32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(GLOBAL_BATCH, drop_remainder=True).prefetch(2)


def plain(context, step):
    tf = tensorflow()

    @tf.function
    def run(batch):
        return tf.reduce_sum(batch[0])

    for batch in dataset(tf):
        if step:
            run(batch)
        context.look(batch[0])
        yield 1


def mirrored(context, style):
    tf = tensorflow()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    distributed = strategy.experimental_distribute_dataset(dataset(tf))
    context.note(replicas=strategy.num_replicas_in_sync)

    def replica_step(batch):
        return tf.reduce_sum(batch[0])

    def one(batch):
        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica_step, args=(batch,)), axis=None)

    if style == "loop":
        @tf.function
        def loop(iterator):
            total = 0.0
            for _ in tf.range(100):
                total += one(next(iterator))
            return total

        iterator = iter(distributed)
        while True:
            loop(iterator)
            yield 100
    run = tf.function(one)
    for batch in distributed:
        if style == "step":
            run(batch)
        context.look(strategy.experimental_local_results(batch)[0][0] if "shape" not in context.notes else 0)
        yield 1


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def gloo(context):
    """Rank 1 is another process that follows rank 0 until it is killed."""
    t = torch()
    port = os.environ.get("LEAT_BENCH_PORT") or str(free_port())
    rank = int(os.environ.get("LEAT_BENCH_RANK", "0"))
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    other = None
    if rank == 0:
        code = "import sys; sys.path.insert(0, %r)\nfrom cases.distribute import gloo\nfrom common import Context\n" \
               "for _ in gloo(Context(1)): pass" % os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
        other = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL,
                                 env=dict(os.environ, LEAT_BENCH_PORT=port, LEAT_BENCH_RANK="1"))
    t.set_num_threads(1)
    t.distributed.init_process_group("gloo", init_method="tcp://127.0.0.1:" + port, rank=rank, world_size=2)
    data = t.ones(25 * 1000 * 1000)
    try:
        while True:
            data.fill_(1.0)
            t.distributed.all_reduce(data)
            context.note(text="sum %.0f" % data[7])
            yield 1
    finally:
        if other:
            other.kill()


def tf_allreduce(context):
    """MultiWorkerMirroredStrategy's ring over gRPC."""
    tf = tensorflow()
    rank = int(os.environ.get("LEAT_BENCH_RANK", "0"))
    if rank == 0:
        os.environ["LEAT_BENCH_PORTS"] = "%d %d" % (free_port(), free_port())
    ports = os.environ["LEAT_BENCH_PORTS"].split()
    other = None
    if rank == 0:
        code = "import sys; sys.path.insert(0, %r)\nfrom cases.distribute import tf_allreduce\nfrom common import Context\n" \
               "for _ in tf_allreduce(Context(1)): pass" % os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
        other = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL,
                                 env=dict(os.environ, LEAT_BENCH_RANK="1"))
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["127.0.0.1:" + p for p in ports]},
                                          "task": {"type": "worker", "index": rank}})
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    data = tf.ones([25 * 1000 * 1000])

    @tf.function
    def step():
        return strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("sum", data))

    try:
        while True:
            context.note(text="sum %.0f" % step()[7])
            yield 1
    finally:
        if other:
            other.kill()


CASES = {
    "mirrored": {"unit": "steps/s", "doc": "2 logical CPUs, global batch 64 x 32 floats, trivial step", "peers": {
        "tf-plain-input": lambda c: plain(c, False), "tf-plain-step": lambda c: plain(c, True),
        "tf-mirrored-input": lambda c: mirrored(c, "input"), "tf-mirrored-step": lambda c: mirrored(c, "step"),
        "tf-mirrored-loop": lambda c: mirrored(c, "loop")}},
    "allreduce": {"unit": "reductions/s", "doc": "sum of 100 MB of float32 between two processes", "peers": {
        "torch-gloo": gloo, "tf-multiworker": tf_allreduce}},
}
