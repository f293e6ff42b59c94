"""Arrays of jax over the devices of one process and of two, beside jax's own account of what lies where."""

import os
import socket
import subprocess
import sys

# What each process runs: its number, how many there are, a port. It prints what its devices hold.
PROGRAM = """
import os, sys
import jax
import numpy as np
number, count, port = map(int, sys.argv[1:])
jax.config.update("jax_platforms", "cpu")
if count > 1:
    jax.distributed.initialize(f"127.0.0.1:{port}", count, number)
import leat as tf
from leat.jax import as_jax
sharding = jax.sharding.NamedSharding(jax.make_mesh((2 * count,), ("rows",)), jax.sharding.PartitionSpec("rows"))
rows = tf.data.Dataset.range(16).shard(count, number).map(lambda i: {"x": i * [1, 10], "y": i})
rows = rows.batch(4, drop_remainder=True)
for batch in as_jax(rows, sharding):
    held = {shard.index[0].start: shard.data[:, 1].tolist() for shard in batch["x"].addressable_shards}
    print(batch["x"].shape, batch["y"].shape, sorted(held.items()), float(jax.jit(lambda y: y.sum())(batch["y"])))
"""


def outputs(count):
    """The lines that each of so many processes prints."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    programs = [subprocess.Popen([sys.executable, "-c", PROGRAM, str(number), str(count), str(port)], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={
                                     **os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"})
                for number in range(count)]
    said = [program.communicate(timeout=120) for program in programs]
    assert [program.returncode for program in programs] == [0] * count, said
    return [[line for line in text.splitlines() if line.startswith("(")] for text, _ in said]


def test_devices_of_one_process():
    assert outputs(1) == [[f"(4, 2) (4,) [(0, [{b}, {b + 10}]), (2, [{b + 20}, {b + 30}])] {total}" for b, total in (
        (0, 6.0), (40, 22.0), (80, 38.0), (120, 54.0))]]


def test_devices_of_two_processes():
    """Process k has the numbers k, k + 2, ..., so that a batch of both is theirs one after the other."""
    first, second = outputs(2)
    assert first == ["(8, 2) (8,) [(0, [0, 20]), (2, [40, 60])] 28.0",
                     "(8, 2) (8,) [(0, [80, 100]), (2, [120, 140])] 92.0"]
    assert second == ["(8, 2) (8,) [(4, [10, 30]), (6, [50, 70])] 28.0",
                      "(8, 2) (8,) [(4, [90, 110]), (6, [130, 150])] 92.0"]
