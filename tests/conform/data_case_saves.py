"""The slow model of snapshot, an addition to data_case_model.py's tables, and the cases of load and snapshot.

What was saved comes back in the order of the shards' turns; the cases keep to one shard, or to elements without errors, whose order
does not depend on the number of processors.
"""
from data_case_model import OPERATORS, Error, Unknown, outcomes, run

SHARDS = {"zero": lambda *x: 0}


def run_snapshot(node):
    if node.arg("reader_func") is not None or node.arg("shard_func") not in (None, *SHARDS):
        raise Unknown("a function of snapshot")
    if node.cached is not None:
        yield from node.cached
        return
    kept, failed = [], False
    for outcome in run(node.inputs[0]):
        if isinstance(outcome, Error):
            failed = True
        else:
            kept.append(outcome)
        yield outcome
    if failed and node.arg("shard_func") is None:
        kept = None  # numbers have gaps: the order depends on the machine
    node.cached = kept


OPERATORS["snapshot"] = (run_snapshot, ["path", "compression", "shard_func", "reader_func"])


def add(case, node, rng, mapped, faulty, literal):
    """Adds the cases; the arguments are what make_data_cases.py builds plans with."""
    twice = (None, None)

    def saved(name, plan, limits=(None,), save=None, **args):
        kept = outcomes(plan, (None,))[0]
        before = [{"action": "save", "path": "$TMP/saved", "pipeline": plan, "args": save or {}}]
        keys = ["elements", "elements_epoch2", "elements_epoch3"][: len(limits)]
        expect = {k: kept if n is None else kept[:n] for k, n in zip(keys, limits)}
        case(name, node("load", path="$TMP/saved", **args), limits, before=before, expect=expect)

    texts = node("from_tensor_slices", tensors=literal("string", [3], ["a", "", "c" * 300]))
    saved("zero", rng(0), twice)
    saved("one", rng(4, 5), twice)
    saved("many", rng(30), twice)
    saved("broken_off", rng(9), (4, None))
    saved("gzip", rng(12), twice, {"compression": "GZIP"}, compression="GZIP")
    saved("zlib", mapped("iota_mod_4", rng(7)), save={"compression": "ZLIB"}, compression="ZLIB")
    saved("unknown_compression", rng(5), save={"compression": "LZO"}, compression="LZO")
    saved("texts", texts, twice)
    saved("shapes", mapped("iota_mod_4", rng(9)))
    saved("pairs", mapped("pair_with_square", rng(9)), save={"shard_func": None})
    saved("dict", mapped("to_dict", rng(5)))
    saved("batches", node("batch", rng(10), batch_size=4))
    saved("one_shard", rng(8), save={"shard_func": "zero"})
    saved("own_spec", rng(3), element_spec={"dtype": "int64", "shape": []})
    saved("shuffled", node("shuffle", rng(9), buffer_size=4, seed=3), twice)
    case("own_spec_of_other_type", node("load", path="$TMP/saved", element_spec={"dtype": "float32", "shape": []}),
         before=[{"action": "save", "path": "$TMP/saved", "pipeline": rng(2), "args": {}}],
         expect={"elements": [{"error": "INVALID_ARGUMENT"}] * 2})
    case("cut_off_save", node("load", path="$TMP/saved"),
         before=[{"action": "save", "path": "$TMP/saved", "pipeline": faulty(), "args": {}}],
         expect={"error": {"when": "build", "code": "INVALID_ARGUMENT", "python": "InvalidArgumentError"}})

    def snapshot(name, below, limits=twice, **args):
        case(name, node("snapshot", below, path="$TMP/snap", **args), limits, op="snapshot")

    snapshot("zero", rng(0))
    snapshot("one", rng(4, 5))
    snapshot("many", rng(25), (None, None, None))
    snapshot("broken_off", rng(9), (4, None, None))
    snapshot("broken_off_reading", rng(9), (None, 3, None))
    snapshot("child_error", faulty(), (None,))
    snapshot("child_error_one_shard", faulty(), shard_func="zero")
    snapshot("no_compression", rng(8), compression="")
    snapshot("gzip", rng(8), compression="GZIP")
    snapshot("unknown_compression", rng(8), compression="LZO")
    snapshot("texts", texts)
    snapshot("shapes", mapped("iota_mod_4", rng(9)))
    snapshot("pairs", mapped("pair_with_square", rng(9)))
    snapshot("dict", mapped("to_dict", rng(5)))
    snapshot("freezes_shuffle", node("shuffle", rng(12), buffer_size=5, seed=3), (None, None, None))
    case("repeated", node("repeat", node("snapshot", rng(4), path="$TMP/snap"), count=3), op="snapshot")
    case("read_ahead", node("prefetch", node("snapshot", rng(7), path="$TMP/snap"), buffer_size=3), op="snapshot")
    case("shuffled", node("shuffle", node("snapshot", rng(20), path="$TMP/snap"), buffer_size=6, seed=2), op="snapshot")
