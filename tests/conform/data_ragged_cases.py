"""The cases of ragged and sparse values, in data_case_ragged.py; make_data_cases.py writes them out."""


def add(case, node, rng, mapped, faulty, literal):
    twice = (None, None)

    def ragged(values, *splits):
        return {"ragged": {"values": values, "row_splits": list(splits)}}

    def sparse(indices, values, shape, dtype="int64"):
        flat = [n for i in indices for n in i]
        parts = {"indices": literal("int64", [len(indices), len(shape)], flat), "values": literal(dtype, [len(values)], values)}
        return {"sparse": dict(parts, dense_shape=shape)}

    def ints(*numbers):
        return literal("int64", [len(numbers)], list(numbers))

    values = {
        "ragged": ragged(ints(1, 2, 3, 4, 5, 6), [0, 2, 2, 3, 6]),
        "ragged_2": ragged(ints(1, 2, 3, 4, 5, 6), [0, 2, 2, 5], [0, 1, 1, 3, 3, 6]),
        "ragged_3": ragged(literal("string", [3], ["a", "", "ccc"]), [0, 1, 3], [0, 2, 2, 3], [0, 1, 1, 3]),
        "ragged_inner": ragged(literal("float32", [4, 2], [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.25]), [0, 1, 1, 4]),
        "ragged_texts": ragged(literal("string", [4], ["a", "", "ccc", "dd"]), [0, 3, 3, 4]),
        "ragged_empty": ragged(ints(), [0, 0, 0, 0]),
        "sparse": sparse([[0, 1], [0, 3], [2, 0]], [5, 6, 7], [4, 5]),
        "sparse_3": sparse([[0, 1, 0], [0, 3, 1], [2, 0, 2]], [5, 6, 7], [3, 5, 4]),
        "sparse_texts": sparse([[1, 0], [1, 2], [2, 1]], ["x", "", "zzz"], [3, 3], "string"),
        "sparse_empty": sparse([], [], [3, 2]),
    }
    mixed = {"dict": {"n": ints(1, 2, 3, 4), "r": values["ragged"], "s": values["sparse"]}}
    values["mixed"] = mixed

    def slices(name):
        return node("from_tensor_slices", tensors=values[name])

    for name in values:
        case("of_" + name, node("from_tensors", tensors=values[name]))
        case("of_" + name, slices(name), twice)
        case("of_" + name, node("unbatch", node("from_tensors", tensors=values[name])), twice)
        case("back_to_" + name, node("unbatch", node("batch", slices(name), batch_size=2)))
        for size in (1, 2, 9):
            case("of_%s_%d" % (name, size), node("batch", slices(name), batch_size=size))
        case("of_%s_drop" % name, node("batch", slices(name), batch_size=2, drop_remainder=True))
        case("of_whole_%s" % name, node("batch", node("repeat", node("from_tensors", tensors=values[name]), count=3), batch_size=2))
        case("of_" + name, node("rebatch", node("batch", slices(name), batch_size=3), batch_size=2))
        case("of_whole_%s" % name, node("rebatch", node("from_tensors", tensors=values[name]), batch_size=[3, 1]))
        case("of_" + name, node("legacy_rebatch", node("batch", slices(name), batch_size=3), num_replicas=2))
        case("of_" + name, node("shuffle", slices(name), buffer_size=2, seed=3), twice)
        case("of_" + name, node("repeat", node("cache", slices(name)), count=2), op="cache")
        case("of_" + name, node("prefetch", node("batch", slices(name), batch_size=2), buffer_size=2))
        case("of_" + name, node("map", slices(name), map_func="identity", num_parallel_calls=2) if name != "mixed" else slices(name))
        case("of_" + name, node("enumerate", slices(name)))
        case("of_" + name, node("zip", slices(name), slices("ragged")))
    for name in ("ragged_2", "ragged_inner", "sparse_3"):
        case("twice_" + name, node("unbatch", node("unbatch", node("from_tensors", tensors=values[name]))))
        case("nested_" + name, node("batch", node("batch", slices(name), batch_size=3), batch_size=2))
        for size in (2, 3):
            unequal = node("batch", slices(name), batch_size=size)
            case("of_unequal_%s_%d" % (name, size), node("batch", unequal, batch_size=2))
            case("of_unequal_%s_%d" % (name, size), node("batch", node("rebatch", unequal, batch_size=[2, 1]), batch_size=2), op="rebatch")
            case("of_mapped_%s_%d" % (name, size), node("batch", node("map", unequal, map_func="identity"), batch_size=2))
            case("thrice_%s_%d" % (name, size), node("batch", node("batch", unequal, batch_size=1), batch_size=2))
    for name in ("ragged", "ragged_2", "ragged_inner", "ragged_empty", "sparse", "sparse_3", "mixed"):
        case("without_rows_%s" % name, node("rebatch", node("batch", slices(name), batch_size=3), batch_size=[2, 0, 1]), twice)
        case("of_pieces_%s" % name, node("batch", node("legacy_rebatch", node("batch", slices(name), batch_size=3), num_replicas=2), batch_size=2),
             op="legacy_rebatch")
    numbers = node("unbatch", slices("ragged"))
    pairs = node("unbatch", node("unbatch", slices("ragged_inner")))
    for name, below in (("numbers", numbers), ("pairs", node("unbatch", slices("ragged_inner"))), ("numbers_of_pairs", pairs)):
        once = node("batch", below, batch_size=2)
        case("below_splits_" + name, once, twice)
        case("below_splits_twice_" + name, node("batch", once, batch_size=2))
        case("below_splits_rebatched_" + name, node("rebatch", once, batch_size=[3, 0]))
        case("below_splits_rebatched_twice_" + name, node("batch", node("rebatch", once, batch_size=1), batch_size=2))
        case("below_splits_mapped_" + name, node("batch", node("map", once, map_func="identity"), batch_size=2))
    case("rows_of_a_row", node("unbatch", slices("ragged")))
    case("rows_of_rows", node("batch", node("unbatch", slices("ragged")), batch_size=4))
    case("of_a_sparse_vector", node("unbatch", node("from_tensors", tensors=sparse([[1]], [5], [3]))))
    for name, indices in (("order", [[2, 0], [0, 1]]), ("row", [[0, 3], [0, 1]]), ("twice", [[0, 3], [0, 3]]), ("bounds", [[0, 9]])):
        bad = node("from_tensors", tensors=sparse(indices, [5] * len(indices), [4, 5]))
        good = node("from_tensors", tensors=values["sparse"])
        case("sparse_out_of_" + name, node("unbatch", node("concatenate", bad, good)))
        case("sparse_out_of_" + name, node("batch", node("concatenate", bad, good), batch_size=2))
    whole = node("from_tensors", tensors=values["sparse"])
    case("sparse_of_other_sizes", node("batch", node("concatenate", whole, node("from_tensors", tensors=sparse([[1, 1]], [9], [2, 9]))),
                                       batch_size=2))
    case("sparse_of_other_sizes", node("rebatch", node("concatenate", whole, node("from_tensors", tensors=sparse([[1, 1]], [9], [2, 9]))),
                                       batch_size=5))
    case("sparse_of_other_ranks", node("batch", node("concatenate", whole, node("from_tensors", tensors=values["sparse_3"])), batch_size=2))
    wide = ragged(literal("float32", [2, 3], [1.0] * 6), [0, 2])
    case("ragged_of_other_sizes", node("batch", node("concatenate", node("from_tensors", tensors=values["ragged_inner"]),
                                                     node("from_tensors", tensors=wide)), batch_size=2))
    case("unequal_leaves", node("unbatch", node("from_tensors", tensors={"tuple": [values["ragged"], ints(1, 2, 3)]})))

    for op, args in (("ragged_batch", {}), ("sparse_batch", {"row_shape": [-1]})):
        for size in (1, 3, 20):
            args = dict(args, batch_size=size)
            case("size_%d" % size, node(op, mapped("iota_mod_4", rng(10)), **args), twice)
            case("child_error_size_%d" % size, node(op, mapped("iota", faulty(7)), **args))
            case("texts_size_%d" % size, node(op, mapped("iota_string", rng(4)), **args))
            case("known_size_%d" % size, node(op, mapped("vec3", rng(4)), **args))
            case("of_shuffle_size_%d" % size, node(op, node("shuffle", mapped("iota_mod_4", rng(9)), buffer_size=4, seed=2), **args), twice)
        args["batch_size"] = 3
        case("zero", node(op, mapped("iota", rng(0)), **args))
        case("one", node(op, mapped("iota", rng(3, 4)), **args))
        case("unbatched", node("unbatch", node(op, mapped("iota", rng(5)), **args)), op=op)
    for function in ("fill_rows", "fill_cols"):
        case(function, node("ragged_batch", mapped(function, rng(7)), batch_size=3, drop_remainder=True))
        for shape in ([-1, -1], [5, -1], [9, 7]):
            case("%s_%d_%d" % (function, *shape), node("sparse_batch", mapped(function, rng(6)), batch_size=2, row_shape=shape))
    for function in ("iota", "fill_rows", "fill_cols"):
        case("int32_" + function, node("ragged_batch", mapped(function, rng(7)), batch_size=3, row_splits_dtype="int32"), twice)
        case("int32_" + function, node("dense_to_ragged", mapped(function, faulty(6)), row_splits_dtype="int32"))
    case("numbers", node("ragged_batch", rng(7), batch_size=3))
    case("numbers", node("sparse_batch", rng(7), batch_size=3, row_shape=[]))
    case("pairs", node("ragged_batch", mapped("iota_pair", rng(7)), batch_size=3))
    case("too_large", node("sparse_batch", mapped("iota", rng(7)), batch_size=2, row_shape=[3]))
    case("other_rank", node("sparse_batch", mapped("iota", rng(7)), batch_size=2, row_shape=[3, 3]))
    case("fixed", node("sparse_batch", mapped("iota", rng(7)), batch_size=2, row_shape=[8]))

    for function in ("iota", "fill_rows", "fill_cols", "iota_pair", "vec3"):
        case(function, node("dense_to_ragged", mapped(function, rng(6))), twice)
    case("zero", node("dense_to_ragged", mapped("iota", rng(0))))
    case("one", node("dense_to_ragged", mapped("fill_cols", rng(2, 3))))
    case("child_error", node("dense_to_ragged", mapped("iota", faulty(6))))
    case("of_shuffle", node("dense_to_ragged", node("shuffle", mapped("fill_cols", rng(6)), buffer_size=3, seed=5)), twice)
