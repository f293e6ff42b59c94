#!/usr/bin/env python3
"""Files of other projects beside their own readers: python_formats.py BUILD SECONDS parquet|parquet_rows|mds|webdataset|pictures.

Processor time of all threads; each takes turns, and the fastest counts. The interpreter is that of `make test-formats`, which has these projects.

parquet       batches of 1,024 rows of numbers, vectors and texts; the limit is pyarrow's scan of the same files
parquet_rows  the same by rows that are batched
mds           texts, numbers and vectors out of MDS shards; the limit is MosaicML's reader of the same samples
webdataset    bytes of samples out of tar shards; the limit is WebDataset's
pictures      PNG pictures and classes, decoded; the limit is WebDataset's with Pillow
"""
import io
import json
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(sys.argv[1], "python"), os.path.join(ROOT, "python", "formats")]
import numpy as np  # noqa: E402

import leat as tf  # noqa: E402

D = tf.data.Dataset


def fastest(functions, seconds):
    """Units per second of the processor's time of each function, which returns how many units it did: the best of turns."""
    best = [0.0] * len(functions)
    end, turns = time.monotonic() + seconds, 0
    while time.monotonic() < end or turns < 3:
        turns += 1
        for number, function in enumerate(functions):
            start = time.process_time()
            units = function()
            best[number] = max(best[number], units / (time.process_time() - start))
    return best


def parquet(folder, by_rows=False):
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet
    rng, count = np.random.default_rng(1), 200_000
    for number in range(4):
        vectors = pyarrow.FixedSizeListArray.from_arrays(rng.normal(size=16 * count).astype(np.float32), 16)
        pyarrow.parquet.write_table(pyarrow.table({
            "id": np.arange(count), "x": rng.normal(size=count), "label": rng.integers(0, 1000, count).astype(np.int32),
            "text": [f"a text with the number {i}" for i in range(count)], "vector": vectors}),
            os.path.join(folder, f"{number}.parquet"), row_group_size=50_000)

    def ours():
        dataset = tf.data.from_parquet(folder, batch_size=None if by_rows else 1024)
        dataset = dataset.batch(1024) if by_rows else dataset
        return sum(batch["id"].shape[0] for batch in dataset)

    def theirs():
        return sum(batch.num_rows for batch in pyarrow.dataset.dataset(folder).to_batches(batch_size=1024))
    return ours, theirs, "rows/CPU s"


def mds(folder):
    from mosaic import MDSWriter, reader_from_json
    place, count = os.path.join(folder, "mds"), 20_000
    columns = {"id": "int", "text": "str", "tokens": "ndarray:uint16:256"}
    with MDSWriter(columns=columns, out=place, size_limit=1 << 22) as writer:
        for i in range(count):
            writer.write({"id": i, "text": f"a text with the number {i}", "tokens": np.full(256, i % 1000, np.uint16)})
    with open(os.path.join(place, "index.json")) as file:
        readers = [reader_from_json(place, None, shard) for shard in json.load(file)["shards"]]

    def ours():
        return sum(1 for _ in tf.data.from_mds(place))

    def theirs():
        return sum(1 for reader in readers for i in range(reader.samples) if reader.get_item(i))
    return ours, theirs, "samples/CPU s"


def webdataset(folder, decode=None):
    import PIL.Image
    import webdataset as real
    count, rng = 600 if decode else 20_000, np.random.default_rng(1)
    out = io.BytesIO()
    PIL.Image.fromarray(rng.integers(0, 255, (224, 224, 3), np.uint8)).save(out, "PNG")
    data = out.getvalue() if decode else bytes(2000)
    with real.ShardWriter(os.path.join(folder, "a-%06d.tar"), maxcount=count // 4, verbose=0) as writer:
        for i in range(count):
            writer.write({"__key__": f"{i:08d}", "png": data, "cls": i % 10})
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))

    def ours():
        return sum(1 for _ in tf.data.from_webdataset(paths, decode=decode))

    def theirs():
        dataset = real.WebDataset(paths, shardshuffle=False)
        return sum(1 for _ in (dataset.decode(decode) if decode else dataset))
    return ours, theirs, "samples/CPU s"


def main(seconds, name):
    cases = {"parquet": parquet, "parquet_rows": lambda folder: parquet(folder, True), "mds": mds,
             "webdataset": webdataset, "pictures": lambda folder: webdataset(folder, "rgb8")}
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs, unit = cases[name](folder)
        rate, limit = fastest([ours, theirs], seconds)
    print(json.dumps({"rate": rate, "limit": limit, "unit": unit}))


if __name__ == "__main__":
    main(float(sys.argv[2]), sys.argv[3])
