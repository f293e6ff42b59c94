"""The cases of the operators in data_case_groups.py; make_data_cases.py writes them out."""


def add(case, node, rng, mapped, faulty, literal):
    twice = (None, None)
    zero = literal("int64", [], [0])

    def listed(*elements):
        return node("from_list", elements=list(elements))

    numbers = [literal("int64", [], [n]) for n in range(12)]
    case("one", listed(numbers[5]), twice)
    case("many", listed(*numbers), twice)
    case("none_left", node("skip", listed(*numbers[:3]), count=3), op="from_list")
    case("shapes", listed(literal("int64", [1], [4]), literal("int64", [0], []), literal("int64", [2], [5, 6])))
    case("texts", listed(*[literal("string", [], [t]) for t in ("a", "", "ccc")]))
    case("tuples", listed(*[{"tuple": [n, literal("float32", [2], [0.5, 1.5])]} for n in numbers[:4]]))
    case("dicts", listed(*[{"dict": {"b": n, "a": n}} for n in numbers[:3]]))

    case("zero", node("take_while", rng(0), predicate="is_even"))
    case("one", node("take_while", rng(4), predicate="is_even"))
    case("none", node("take_while", rng(1, 5), predicate="is_even"))
    case("many", node("take_while", rng(30), predicate="less_than_5"), twice)
    case("all", node("take_while", rng(12), predicate="always_true"))
    case("child_error", node("take_while", faulty(9), predicate="less_than_5"))
    case("own_error", node("take_while", rng(9), predicate="small_fail_on_3"))
    case("pairs", node("take_while", mapped("pair_with_square", rng(9)), predicate="first_is_even"))
    case("of_shuffle", node("take_while", node("shuffle", rng(9), buffer_size=4, seed=2), predicate="not_multiple_of_3"))

    case("zero", node("ignore_errors", rng(0)))
    case("one", node("ignore_errors", rng(1)))
    case("many", node("ignore_errors", rng(20)), twice)
    case("child_error", node("concatenate", node("ignore_errors", faulty(9)), faulty()), op="ignore_errors")
    case("only_errors", node("ignore_errors", mapped("fail_always", rng(5))))
    case("every_other", node("ignore_errors", mapped("fail_on_odd", rng(12))), twice)
    case("of_batches", node("ignore_errors", node("batch", faulty(12), batch_size=2)))
    for of in (4, 8):
        claim = node("assert_cardinality", rng(6), expected_cardinality=of)
        case("of_claim_of_%d" % of, node("ignore_errors", claim), twice)
        case("of_claim_of_%d" % of, node("quarantine", node("batch", claim, batch_size=4)), twice, op="quarantine")
        case("of_map_of_claim_of_%d" % of, node("ignore_errors", mapped("fail_on_3", claim, num_parallel_calls=2)), twice)
    for name, args in (("", {}), ("_two", {"max_errors": 2}), ("_none", {"max_errors": 0}), ("_half", {"max_fraction": 0.5}), ("_some", {"max_fraction": 0.4})):
        case("zero" + name, node("quarantine", rng(0), **args))
        case("one" + name, node("quarantine", rng(1), **args))
        case("many" + name, node("quarantine", rng(20), **args), twice)
        case("child_error" + name, node("quarantine", faulty(9), **args), twice)
        case("only_errors" + name, node("quarantine", mapped("fail_always", rng(5)), **args))
        case("every_other" + name, node("quarantine", mapped("fail_on_odd", rng(12)), **args), twice)
        case("repeated" + name, node("repeat", node("quarantine", mapped("fail_on_mod_4_is_3", rng(9)), **args), count=3), op="quarantine")
        case("of_parallel_map" + name, node("quarantine", mapped("fail_on_mod_4_is_3", rng(14), num_parallel_calls=3), **args))
    case("hundred", node("quarantine", mapped("fail_on_odd", rng(120)), max_fraction=0.45))
    case("of_parallel_map", node("ignore_errors", mapped("fail_on_mod_4_is_3", rng(14), num_parallel_calls=3)))

    case("zero", node("unique", rng(0)))
    case("one", node("unique", rng(1)))
    case("one_of_many", node("unique", mapped("zero", rng(20))))
    case("many", node("unique", rng(20)), twice)
    case("thirds", node("unique", mapped("mod_3", rng(20))), twice)
    case("negative", node("unique", node("concatenate", mapped("minus_mod_3", rng(8)), mapped("mod_3", rng(8)))))
    case("child_error", node("unique", mapped("fail_on_3", mapped("half", rng(12)))))
    case("texts", node("unique", mapped("to_string", mapped("half", rng(9)))))
    case("vectors", node("unique", mapped("iota_mod_4", rng(11))))
    case("repeated", node("repeat", node("unique", mapped("half", rng(6))), count=2), op="unique")

    def scan(function, below, state=zero):
        return node("scan", below, initial_state=state, scan_func=function)

    case("zero", scan("running_sum", rng(0)))
    case("one", scan("running_sum", rng(3, 4)))
    case("many", scan("running_sum", rng(30)), twice)
    for function in ("running_count", "running_max", "previous", "pair_output"):
        case(function, scan(function, rng(9)))
    case("child_error", scan("running_sum", faulty(7)))
    case("own_error", scan("running_sum_fail_on_3", rng(7)))
    case("pair_of_states", scan("pair_state", rng(9), {"tuple": [zero, literal("int64", [], [1])]}))
    case("growing_state", scan("growing", rng(6), literal("int64", [0], [])))
    case("repeated", node("repeat", scan("running_sum", rng(4)), count=2), op="scan")
    case("of_shuffle", scan("previous", node("shuffle", rng(9), buffer_size=4, seed=2)), twice)

    def window(below, size, **args):
        return node("window", below, size=size, **args)

    case("zero", window(rng(0), 3))
    case("one", window(rng(3), 3))
    case("many", window(rng(11), 2), twice)
    for size, shift, stride in ((1, 3, 1), (3, 1, 1), (3, 2, 2), (2, 5, 3), (20, 1, 1)):
        for drop in (False, True):
            name = "size_%d_shift_%d_stride_%d%s" % (size, shift, stride, "_drop" if drop else "")
            args = {"shift": shift, "stride": stride, "drop_remainder": drop}
            case(name, window(rng(9), size, **args))
            case("child_error_" + name, window(faulty(9), size, **args))
    case("pairs", window(mapped("pair_with_square", rng(5)), 2))
    case("dicts", window(mapped("to_dict", rng(5)), 2, shift=1))
    case("texts", window(mapped("to_string", rng(8, 12)), 3, shift=1))
    case("shapes", window(mapped("iota_mod_4", rng(7)), 3))
    case("flat", node("flat_map", window(rng(10), 4, shift=2), map_func="batch_3"), op="window")
    for drop in (False, True):
        claim = node("assert_cardinality", rng(5), expected_cardinality=9)
        case("of_claim" + "_drop" * drop, node("flat_map", window(claim, 3, drop_remainder=drop), map_func="batch_3"), op="window")
    case("flat_error", node("flat_map", window(faulty(9), 3, shift=1), map_func="batch_3"), op="window")
    case("of_shuffle", node("flat_map", window(node("shuffle", rng(9), buffer_size=4, seed=2), 3), map_func="same_dataset"),
         twice, op="window")

    def grouped(below, key="mod_3", reduce="window_batch_all", **size):
        return node("group_by_window", below, key_func=key, reduce_func=reduce, **(size or {"window_size": 3}))

    case("zero", grouped(rng(0)))
    case("one", grouped(rng(3), key="zero"))
    case("many", grouped(rng(20)), twice)
    for size in (1, 2, 50):
        case("size_%d" % size, grouped(rng(11), window_size=size))
        case("child_error_size_%d" % size, grouped(faulty(9), key="minus_mod_3", window_size=size))
    for reduce in ("window_batch_3", "window_same", "window_first", "window_empty"):
        case(reduce, grouped(rng(14), reduce=reduce, window_size=4))
    for function in ("key_plus_1", "key_times_2_plus_2", "key_minus_1"):
        case(function, grouped(rng(12), window_size_func=function))
    case("own_error", grouped(rng(9), key="fail_on_3", window_size=1))
    case("size_0", grouped(rng(4), window_size=0))
    case("reduce_error", grouped(rng(1, 12), reduce="window_batch_key", window_size=2), (10,))
    case("reduce_error_at_the_end", grouped(rng(7), key="minus_mod_3", reduce="window_batch_key", window_size=9), (5,))
    case("of_shuffle", grouped(node("shuffle", rng(12), buffer_size=4, seed=2)), twice)

    def reduced(below, key="mod_3", reducer="reducer_sum"):
        return node("group_by_reducer", below, key_func=key, reducer=reducer)

    case("zero", reduced(rng(0)))
    case("one", reduced(rng(9), key="zero"))
    case("many", reduced(rng(20), key="half"), twice)
    case("downwards", reduced(rng(20), key="negate"))
    case("counts", reduced(rng(20), key="minus_mod_3", reducer="reducer_key_and_count"))
    case("child_error", reduced(faulty(9)))
    case("own_error", reduced(rng(9), key="fail_on_mod_4_is_3"))
    case("of_shuffle", reduced(node("shuffle", rng(12), buffer_size=4, seed=2)), twice)
    case("every_function_fails", reduced(rng(14), reducer="reducer_fails"))
    case("result_fails", reduced(rng(9), key="half", reducer="reducer_fails"), twice)
    case("growing_states", reduced(rng(14), reducer="reducer_append"), twice)
    case("growing_states_child_error", reduced(faulty(9), key="mod_2", reducer="reducer_append"))
    case("many_keys", reduced(mapped("square", rng(70)), key="minus_mod_3"))
    case("repeated", node("repeat", reduced(rng(5)), count=2), op="group_by_reducer")

    lengths = [3, 0, 7, 2, 2, 5, 9, 1, 3, 4, 6, 6, 0, 8]
    vectors = mapped("iota", node("from_tensor_slices", tensors=literal("int64", [len(lengths)], lengths)))

    def bucketed(below, boundaries=(3, 6), sizes=(2, 3, 2), length="vec_size_int32", **args):
        return node("bucket_by_sequence_length", below, element_length_func=length, bucket_boundaries=list(boundaries),
                    bucket_batch_sizes=list(sizes), **args)

    case("zero", bucketed(mapped("iota", rng(0))))
    case("one", bucketed(mapped("iota", rng(4, 5))))
    case("many", bucketed(vectors), twice)
    case("drop_remainder", bucketed(vectors, drop_remainder=True))
    case("one_bucket", bucketed(vectors, (), (4,), length="size_of"))
    case("downwards", bucketed(vectors, (6, 3), (2, 2, 2)))
    case("padding_value", bucketed(vectors, padding_values=literal("int64", [], [-1])))
    case("to_boundary", bucketed(vectors, (2, 5, 12), (2, 3, 2, 1), pad_to_bucket_boundary=True), twice)
    case("beyond_the_boundary", bucketed(vectors, pad_to_bucket_boundary=True), (9,))
    case("no_padding", bucketed(vectors, no_padding=True))
    case("batch_size_0", bucketed(vectors, sizes=(2, 0, 3)))
    case("child_error", bucketed(faulty(9), length="to_int32", no_padding=True))
    case("own_error", bucketed(rng(9), length="fail_on_3", no_padding=True))
    case("lengths_in_no_bucket", bucketed(mapped("negate", rng(2**31 - 3, 2**31 + 4)), (), (2,), length="identity", no_padding=True))
    case("float_lengths", bucketed(rng(2**31 - 7, 2**31 + 2), (2**31 - 5,), (2, 3), length="to_float64", no_padding=True))
    case("repeated", node("repeat", bucketed(vectors), count=2), op="bucket_by_sequence_length")
    case("of_shuffle", bucketed(node("shuffle", vectors, buffer_size=4, seed=2)), twice)

    number, vectors = {"dtype": "int64", "shape": []}, {"dtype": "int64", "shape": [-1]}

    def generated(name, signature, **args):
        return node("from_generator", generator="gen_" + name, output_signature=signature, **args)

    for pure in ("", ".pure"):
        case("zero" + pure, generated("empty" + pure, number), twice)
        case("one" + pure, generated("one" + pure, number), twice)
        case("many" + pure, generated("count_5" + pure, number), twice)
        case("converted" + pure, generated("count_5" + pure, {"dtype": "float32", "shape": None}))
        case("structure" + pure, generated("pairs" + pure, {"tuple": [{"dtype": "uint8", "shape": []}, {"dtype": "string", "shape": []}]}))
        case("shapes" + pure, generated("ragged_vectors" + pure, vectors), twice)
        case("args" + pure, generated("count_to" + pure, number, args={"tuple": [literal("int64", [], [40])]}), twice)
        for name in ("fail_after_2", "fail_unknown", "fail_not_implemented"):
            case(name + pure, generated(name + pure, number), twice)
        case("other_type" + pure, generated("wrong_type" + pure, number), twice)
        case("other_shape" + pure, generated("wrong_shape" + pure, {"dtype": "int64", "shape": [2]}), twice)
        case("other_structure" + pure, generated("pairs" + pure, number))
        case("broken_off" + pure, generated("count_5" + pure, number), (2, None))
        case("repeated" + pure, node("repeat", node("take", generated("count_5" + pure, number), count=3), count=2), op="from_generator")
        case("in_batches" + pure, node("batch", generated("wrong_type" + pure, number), batch_size=2), op="from_generator")
    case("behind_prefetch", node("prefetch", generated("count_5.pure", number), buffer_size=3), twice, op="from_generator")
    case("behind_shuffle", node("shuffle", generated("count_to.pure", number, args={"tuple": [literal("int64", [], [12])]}),
                                buffer_size=4, seed=2), twice, op="from_generator")
    case("one_in_turns", node("zip", generated("count_5", number), generated("count_5", number)), op="from_generator")
