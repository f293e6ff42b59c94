"""leat among the peers. Its Python package does not exist yet: the C programs of bench/ stand in, each a process of its own."""
import resource
import time

from common import THREADS, file_list, photos, program, shards


def chain_8(context):
    """The program counts each of the eight maps."""
    result = program("leat_chain_8", context.seconds, THREADS)
    return {**result, "rate": result["rate"] / 8, "unit": "elements/s"}


def stream_memory(context):
    """What counts is the peak; 2,000 records ten times over."""
    start = time.perf_counter()
    result = program("leat_stream_memory", context.seconds, THREADS, file_list("large", shards("large")))
    elapsed, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"rate": round(20000 / elapsed, 1), "elapsed_s": round(elapsed, 2), "cpu_s": round(used.ru_utime + used.ru_stime, 2),
            "peak_rss_mb": round(result["peak_mb"]), "beyond_mb": result["beyond_mb"]}


CASES = {
    "jpeg_full": {"leat": lambda c: program("leat_jpeg_full", c.seconds, THREADS, file_list("photos", photos()[0]))},
    "small_shuffle": {"leat": lambda c: program("leat_small_shuffle", c.seconds, "1")},
    "chain_8": {"leat": chain_8},
    "tfrecord_small": {
        "leat": lambda c: program("leat_tfrecord", c.seconds, THREADS, file_list("small", shards("small")), "small")},
    "tfrecord_large": {
        "leat": lambda c: program("leat_tfrecord", c.seconds, THREADS, file_list("large", shards("large")), "large")},
    "stream_memory": {"leat": stream_memory},
}
