"""The slow model of shuffling by index: an addition to data_case_model.py's tables, and the cases of global_shuffle.

`data_case_access.py FOLDER` compares the model with the cases recorded from TensorFlow in FOLDER/tfdata.
"""
import itertools
import math
import sys

import data_case_model as model
from data_case_model import OPERATORS, Unknown, next_pair, run, unread


def index_shuffle(index, key, max_index, rounds):
    """TensorFlow's cipher walk; the index that its block cannot hold stays where it is (TensorFlow loses it)."""
    bits = math.ceil(math.log2(max_index)) if max_index > 0 else 0
    width = max(16, bits + bits % 2) // 2
    mask = 2**width - 1
    if max_index == 0 or index >> 2 * width:
        return index

    def left(x, by):
        return (x << by | x >> width - by) & mask

    keys = [k & mask for k in key]
    for i in range(rounds - 3):
        bit = 0x7369F885192C0EF5 >> i & 1
        keys.append(0xFFFFFFFC & mask ^ bit ^ keys[i] ^ left(keys[-1], width - 3) ^ left(keys[-1], width - 4))
    while True:
        high, low = index >> width, index & mask
        for i in range(0, rounds, 2):
            high ^= left(low, 1) & left(low, 8) ^ left(low, 2) ^ keys[i]
            low ^= left(high, 1) & left(high, 8) ^ left(high, 2) ^ keys[i + 1]
        index = high << width | low
        if index <= max_index:
            return index


def run_global_shuffle(node):
    """Right where the input's outcomes stand at the places of its elements, errors included."""
    key = next_pair(node)
    key += next_pair(node)[:1]
    elements = list(itertools.islice(run(unread(node.inputs[0])), 10000))
    if node.inputs[0].op == "enumerate" or not 0 < len(elements) < 10000:
        raise Unknown("what TensorFlow refuses or never ends")
    for i in range(len(elements)):
        yield elements[index_shuffle(i, [k & 0xFFFFFFFF for k in key], len(elements) - 1, 8)]


OPERATORS["global_shuffle"] = (run_global_shuffle, ["seed", "reshuffle_each_iteration"])


def add(case, node, rng, mapped, faulty, literal):
    twice = (None, None)

    def shuffled(name, below, limits=(None,), seed=3, **args):
        case(name, node("global_shuffle", below, seed=seed, **args), limits)

    shuffled("none_asked", rng(5), (0, None))
    shuffled("one", rng(1), twice)
    shuffled("two", rng(2), twice)
    shuffled("many", rng(20), (None, 7, None), seed=11)
    shuffled("same_order", rng(9), twice, reshuffle_each_iteration=False)
    shuffled("child_error", faulty(9), twice, seed=5)
    shuffled("texts", mapped("to_string", rng(95, 105)), seed=8)
    shuffled("shapes", mapped("iota_mod_4", rng(9)))
    shuffled("pairs", mapped("pair_with_square", rng(5)))
    shuffled("parallel_map", mapped("square", rng(12), num_parallel_calls=2), twice)
    shuffled("batches", node("batch", rng(14), batch_size=3, drop_remainder=True), twice)
    shuffled("slices", node("from_tensor_slices", tensors=literal("float32", [5, 2], [i / 4 for i in range(10)])))
    shuffled("list", node("from_list", elements=[literal("int64", [], [i]) for i in (4, 5, 6)]))
    shuffled("cached", node("cache", rng(6)), (None, None, None))
    shuffled("repeated", node("repeat", rng(4), count=3), twice)
    shuffled("prefetched", node("prefetch", rng(6), buffer_size=2))
    shuffled("claimed", node("assert_cardinality", rng(6), expected_cardinality=6))
    shuffled("joined", node("zip", rng(7), mapped("square", rng(9))))
    shuffled("chained", node("concatenate", rng(4), node("skip", rng(9), count=3)), twice)
    shuffled("part", node("shard", node("take", rng(20), count=15), num_shards=2, index=1))
    below = node("global_shuffle", rng(7), seed=2)
    case("repeat_after", node("repeat", below, count=3), twice, op="global_shuffle")
    case("batch_after", node("batch", mapped("square", below), batch_size=3), twice, op="global_shuffle")
    case("prefetch_after", node("prefetch", below, buffer_size=2), op="global_shuffle")
    case("concatenate_after", node("concatenate", below, node("global_shuffle", rng(3), seed=5)), op="global_shuffle")


if __name__ == "__main__":
    sys.exit(model.compare(sys.argv[1]))
