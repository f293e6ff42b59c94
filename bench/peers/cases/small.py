"""Small elements held in memory, where the cost is the framework's own.

small_shuffle: 1 M rows of 32 float32 and an int32 label, shuffle, x * 2 + 1, batch 256. TensorFlow and mlx-data shuffle
through a buffer of 100,000; the others permute indices. chain_1/4/8: that many `x + 1` maps over a range of integers, in
batches of 1024 where the peer can batch; the difference divided by the number of maps is the cost of one operator.
"""
import numpy

from common import THREADS, Missing, limit, need, tensorflow, tf_threads, torch

ROWS, COLUMNS, BATCH, BUFFER = 1000000, 32, 256, 100000


def table(rows=ROWS):
    rng = numpy.random.default_rng(1)
    return rng.random((rows, COLUMNS), numpy.float32), numpy.arange(rows, dtype=numpy.int32) % 1000


def tf_small(context, style, tf=None):
    tf = tf or tensorflow()
    x, y = table()
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(BUFFER, seed=1).repeat()
    change = lambda a, b: (a * 2 + 1, b)                                    # noqa: E731
    if style == "batch-first":
        ds = ds.batch(BATCH).map(change)
    else:
        ds = ds.map(change, num_parallel_calls=THREADS if style == "parallel" else None).batch(BATCH)
    for a, b in tf_threads(tf, ds.prefetch(2)):
        context.look(a)
        yield BATCH


class Rows:
    def __init__(self):
        self.x, self.y = table()

    def __len__(self):
        return ROWS

    def __getitem__(self, i):
        return self.x[i] * 2 + 1, self.y[i]


def torch_small(context, workers, batched=False):
    t = torch()
    t.set_num_threads(1)                       # on such small tensors OpenMP only costs, and costs much on a busy machine
    data = Rows()
    data.x, data.y = t.from_numpy(data.x), t.from_numpy(data.y)
    if batched:
        sampler = t.utils.data.BatchSampler(t.utils.data.RandomSampler(data), BATCH, False)
        loader = t.utils.data.DataLoader(data, batch_size=None, sampler=sampler, num_workers=workers)
    else:
        loader = t.utils.data.DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=workers)
    while True:
        for a, b in loader:
            context.look(a)
            yield len(b)


def grain_small(context, threads):
    g = need("grain")
    x, y = table()
    ds = g.MapDataset.range(ROWS).shuffle(seed=1).repeat().map(lambda i: (x[i] * 2 + 1, y[i])).batch(BATCH)
    for a, b in ds.to_iter_dataset(g.ReadOptions(num_threads=threads, prefetch_buffer_size=4 if threads else 0)):
        context.look(a)
        yield BATCH


def mlx_small(context, threads):
    dx = need("mlx.data")
    x, y = table(200000)                                       # a dict for each row: a million would take minutes
    ds = dx.buffer_from_vector([{"x": a, "y": b} for a, b in zip(x, y)]).to_stream().repeat(10000).shuffle(BUFFER)
    ds = ds.batch(BATCH).key_transform("x", lambda a: a * 2 + 1)
    if threads:
        ds = ds.prefetch(4, threads)
    for sample in ds:
        context.look(sample["x"])
        yield BATCH


def numpy_small(context):
    x, y = table()
    rng = numpy.random.default_rng(2)
    while True:
        order = rng.permutation(ROWS)
        for i in range(0, ROWS - BATCH + 1, BATCH):
            pick = order[i:i + BATCH]
            a, b = x[pick] * 2 + 1, y[pick]
            context.look(a)
            yield len(b)


# ---- chains of trivial maps ----

def tf_chain(context, n, parallel=None, tf=None):
    tf = tf or tensorflow()
    ds = tf.data.Dataset.range(1 << 60)
    for _ in range(n):
        ds = ds.map(lambda v: v + 1, num_parallel_calls=parallel)
    for batch in tf_threads(tf, ds.batch(1024)):
        context.look(batch)
        yield 1024


def grain_chain(context, n):
    g = need("grain")
    ds = g.MapDataset.range(1 << 60)
    for _ in range(n):
        ds = ds.map(lambda v: v + 1)
    for batch in ds.batch(1024).to_iter_dataset(g.ReadOptions(num_threads=0, prefetch_buffer_size=0)):
        context.look(batch)
        yield 1024


def mlx_chain(context, n):
    dx = need("mlx.data")
    ds = dx.buffer_from_vector([{"v": i} for i in range(100000)]).to_stream().repeat(1000000)
    for _ in range(n):
        ds = ds.key_transform("v", lambda v: v + 1)
    for sample in ds.batch(1024):
        context.look(sample["v"])
        yield 1024


def nodes_chain(context, n):
    torch()
    need("torchdata.nodes")
    from torchdata.nodes import Batcher, IterableWrapper, Loader, Mapper
    node = IterableWrapper(range(1 << 60))
    for _ in range(n):
        node = Mapper(node, lambda v: v + 1)
    for batch in Loader(Batcher(node, 1024)):
        context.look(batch)
        yield len(batch)


def python_chain(context, n):
    values = iter(range(1 << 60))
    for _ in range(n):
        values = map(lambda v: v + 1, values)
    while True:
        batch = [next(values) for _ in range(1024)]
        context.look(batch)
        yield 1024


def chain(n):
    return {"unit": "elements/s", "doc": "range, %d times x + 1, batch 1024" % n, "peers": {
        "tensorflow": lambda c: tf_chain(c, n), "tensorflow-parallel": lambda c: tf_chain(c, n, THREADS),
        "grain": lambda c: grain_chain(c, n), "mlx-data": lambda c: mlx_chain(c, n),
        "torchdata-nodes": lambda c: nodes_chain(c, n), "python-map": lambda c: python_chain(c, n)}}


CASES = {
    "small_shuffle": {"unit": "elements/s", "doc": "1 M x 32 floats: shuffle, x*2+1, batch 256, prefetch", "peers": {
        "tensorflow": lambda c: tf_small(c, "plain"), "tensorflow-parallel": lambda c: tf_small(c, "parallel"),
        "tensorflow-batch-first": lambda c: tf_small(c, "batch-first"),
        "torch-0": lambda c: torch_small(c, 0), "torch-2": lambda c: torch_small(c, 2),
        "torch-batch-sampler": lambda c: torch_small(c, 0, True),
        "grain-0": lambda c: grain_small(c, 0), "grain-2": lambda c: grain_small(c, THREADS),
        "mlx-data-0": lambda c: mlx_small(c, 0), "mlx-data-2": lambda c: mlx_small(c, THREADS),
        "numpy-loop": numpy_small, "limit": lambda c: limit("gather", ROWS, COLUMNS, BATCH, c.seconds)}},
    "chain_1": chain(1), "chain_4": chain(4), "chain_8": chain(8),
}
__all__ = ["CASES", "Missing"]
