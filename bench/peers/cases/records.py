"""TFRecord reading with checksums, and parsing of tf.train.Example.

The small corpus has 1 M records of 224 bytes (id, label, 16 floats, 100 bytes); the large one 2,000 of 100 KB. All four
features are parsed and delivered in batches (1024 small, 32 large). The PyPI package tfrecord does not check checksums.
"""
from common import THREADS, file_list, limit, need, shards, tensorflow, tf_threads

SMALL, LARGE = 1024, 32


def tf_features(tf, kind):
    if kind == "small":
        return {"id": tf.io.FixedLenFeature([], tf.int64), "label": tf.io.FixedLenFeature([], tf.int64),
                "x": tf.io.FixedLenFeature([16], tf.float32), "data": tf.io.FixedLenFeature([], tf.string)}
    return {"data": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def tf_parse(context, kind, batched, parallel=THREADS, tf=None):
    tf = tf or tensorflow()
    size = SMALL if kind == "small" else LARGE
    features = tf_features(tf, kind)
    ds = tf.data.TFRecordDataset(shards(kind), num_parallel_reads=parallel).repeat()
    if batched:
        ds = ds.batch(size).map(lambda r: tf.io.parse_example(r, features), num_parallel_calls=parallel)
    else:
        ds = ds.map(lambda r: tf.io.parse_single_example(r, features), num_parallel_calls=parallel).batch(size)
    for batch in tf_threads(tf, ds.prefetch(2)):
        context.look(batch.get("x", batch["label"]))
        yield size


def tf_read(context, kind):
    """Only reading and batching, no parsing."""
    tf = tensorflow()
    size = SMALL if kind == "small" else LARGE
    ds = tf.data.TFRecordDataset(shards(kind), num_parallel_reads=THREADS).repeat().batch(size).prefetch(2)
    for _ in tf_threads(tf, ds):
        yield size


def tfrecord_package(context, kind):
    need("tfrecord")
    from tfrecord.reader import tfrecord_loader
    description = {"small": {"id": "int", "label": "int", "x": "float", "data": "byte"},
                   "large": {"data": "byte", "label": "int"}}[kind]
    while True:
        for shard in shards(kind):
            for n, e in enumerate(tfrecord_loader(shard, None, description)):
                if n % LARGE == LARGE - 1:
                    context.look(e.get("x", e["label"]))
                    yield LARGE


def grain_read(context, kind):
    """Grain reads TFRecord but has no parser: raw bytes only, which is less work than the others do."""
    g = need("grain")
    from grain.experimental import TFRecordIterDataset
    size = SMALL if kind == "small" else LARGE
    while True:
        for shard in shards(kind):
            for n, _ in enumerate(TFRecordIterDataset(shard)):
                if n % size == size - 1:
                    yield size
    return g


def dali(context, kind):
    need("nvidia.dali")
    from nvidia.dali import fn, pipeline_def, tfrecord as tfr

    from cases.jpeg import write_index
    paths = shards(kind)
    for path in paths:
        write_index(path, path + ".idx")
    size = SMALL if kind == "small" else LARGE
    features = {"label": tfr.FixedLenFeature([1], tfr.int64, -1), "data": tfr.FixedLenFeature((), tfr.string, "")}
    if kind == "small":
        features["id"] = tfr.FixedLenFeature([1], tfr.int64, -1)
        features["x"] = tfr.FixedLenFeature([16], tfr.float32, 0.0)

    @pipeline_def(batch_size=size, num_threads=THREADS, device_id=None)
    def pipe():
        e = fn.readers.tfrecord(path=paths, index_path=[p + ".idx" for p in paths], features=features)
        return tuple(e[name] for name in sorted(features))

    p = pipe()
    p.build()
    while True:
        out = p.run()
        if "shape" not in context.notes:
            context.look(out[-1].as_array() if kind == "small" else out[1].as_array())
        yield size


def c_loop(kind):
    return lambda context: limit("records", file_list(kind, shards(kind)), THREADS, context.seconds)


def tf_stream(context, tf=None):
    """2 GB through shuffle(1000), batch 32, prefetch: what counts is peak_rss_mb."""
    tf = tf or tensorflow()
    features = tf_features(tf, "large")
    ds = tf.data.TFRecordDataset(shards("large") * 10).shuffle(1000)
    ds = ds.map(lambda r: tf.io.parse_single_example(r, features), num_parallel_calls=THREADS).batch(LARGE).prefetch(2)
    while True:
        for _ in tf_threads(tf, ds):
            yield LARGE


CASES = {
    "tfrecord_small": {"unit": "records/s", "doc": "read, check, parse 224-byte Examples, batch 1024", "peers": {
        "tensorflow-batched": lambda c: tf_parse(c, "small", True),
        "tensorflow-single": lambda c: tf_parse(c, "small", False),
        "tensorflow-read-only": lambda c: tf_read(c, "small"),
        "tfrecord-package": lambda c: tfrecord_package(c, "small"), "grain-read-only": lambda c: grain_read(c, "small"),
        "dali-cpu": lambda c: dali(c, "small"), "limit": c_loop("small")}},
    "tfrecord_large": {"unit": "records/s", "doc": "the same with 100 KB records, batch 32", "peers": {
        "tensorflow-batched": lambda c: tf_parse(c, "large", True),
        "tensorflow-single": lambda c: tf_parse(c, "large", False),
        "tensorflow-read-only": lambda c: tf_read(c, "large"),
        "tfrecord-package": lambda c: tfrecord_package(c, "large"), "grain-read-only": lambda c: grain_read(c, "large"),
        "dali-cpu": lambda c: dali(c, "large"), "limit": c_loop("large")}},
    "stream_memory": {"unit": "records/s", "doc": "2 GB of 100 KB records, shuffle(1000), batch 32: peak memory", "peers": {
        "tensorflow": tf_stream}},
}
