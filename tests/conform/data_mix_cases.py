"""The cases of the operators in data_case_mixes.py; make_data_cases.py writes them out."""


def add(case, node, rng, mapped, faulty, literal):
    twice = (None, None)

    for name, args in (("", {}), ("_parallel", {"num_parallel_calls": 2})):
        for cycle, block in ((2, 1), (3, 2), (9, 3)):
            suffix = "_%d_%d%s" % (cycle, block, name)
            args = dict(args, cycle_length=cycle, block_length=block)
            case("zero" + suffix, node("interleave", rng(0), map_func="range_of", **args))
            case("one" + suffix, node("interleave", rng(1, 2), map_func="range_of", **args))
            case("many" + suffix, node("interleave", rng(7), map_func="range_of", **args), twice)
            case("empty_inside" + suffix, node("interleave", rng(6), map_func="empty_if_odd", **args))
            case("child_error" + suffix, node("interleave", faulty(), map_func="repeat_3", **args))
            case("own_error" + suffix, node("interleave", rng(7), map_func="range_fail_on_3", **args))
            case("error_inside" + suffix, node("interleave", rng(5), map_func="range_map_fail_on_3", **args))
        args = dict(args, cycle_length=2)
        case("nothing_inside" + name, node("interleave", rng(6), map_func="empty_of", **args))
        case("shuffled_inside" + name, node("interleave", rng(2, 6), map_func="shuffled_range", **args), twice)
        case("of_shuffle" + name, node("interleave", node("shuffle", rng(6), buffer_size=3, seed=2), map_func="repeat_3", **args), twice)
        case("slices" + name, node("interleave", mapped("vec3", rng(4)), map_func="slices_of", **args))
    case("any_order", node("interleave", rng(7), map_func="range_of", cycle_length=2, num_parallel_calls=2, deterministic=False), unordered=True)

    for cycle, block in ((1, 1), (2, 1), (4, 3)):
        suffix, args = "_%d_%d" % (cycle, block), {"cycle_length": cycle, "block_length": block}
        case("zero" + suffix, node("parallel_interleave", rng(0), map_func="range_of", **args))
        case("one" + suffix, node("parallel_interleave", rng(1, 2), map_func="range_of", **args))
        case("many" + suffix, node("parallel_interleave", rng(7), map_func="range_of", **args), twice)
        case("child_error" + suffix, node("parallel_interleave", faulty(), map_func="repeat_3", **args))
        case("own_error" + suffix, node("parallel_interleave", rng(7), map_func="range_fail_on_3", **args))
        case("error_inside" + suffix, node("parallel_interleave", rng(5), map_func="range_map_fail_on_3", **args))
    args = {"sloppy": True, "buffer_output_elements": 1, "prefetch_input_elements": 0, "num_parallel_calls": 2}
    case("all_arguments", node("parallel_interleave", rng(6), map_func="repeat_3", cycle_length=3, **args), unordered=True)

    def first(name, count, source, limits=(None,)):
        case(name, node("take", source, count=count), limits, op=source["op"])

    for count, name in ((0, "zero"), (1, "one"), (30, "many")):
        first(name, count, node("random", seed=7), twice)
        first(name + "_rerandomized", count, node("random", seed=7, rerandomize_each_iteration=True), (None, None, None))
        first(name, count, node("counter"), twice)
    rerandomized = node("take", node("random", seed=3, rerandomize_each_iteration=True), count=3)
    case("repeated", node("repeat", rerandomized, count=3), twice, op="random")
    case("skipped", node("take", node("skip", node("random", seed=3), count=13), count=4), op="random")
    first("steps", 9, node("counter", start=-7, step=3))
    first("wraps", 9, node("counter", start=120, step=3, dtype="int8"))
    first("rounds", 20, node("counter", start=0.5, step=0.0999755859375, dtype="float32"), twice)

    def numbers(*values):
        return node("from_tensor_slices", tensors=literal("int64", [len(values)], list(values)))

    turns = node("repeat", rng(3), count=7)
    parts = [rng(4), rng(10, 16), mapped("square", rng(20, 23))]
    for stop in (False, True):
        args = {"stop_on_empty_dataset": stop}
        suffix = "_stop" if stop else ""
        case("zero" + suffix, node("choose_from_datasets", rng(3), rng(4), choice_dataset=rng(0), **args))
        case("one" + suffix, node("choose_from_datasets", rng(3), rng(4), choice_dataset=rng(1, 2), **args))
        case("many" + suffix, node("choose_from_datasets", *parts, choice_dataset=turns, **args), twice)
        case("child_error" + suffix, node("choose_from_datasets", faulty(), rng(10, 15), choice_dataset=node("repeat", rng(2), count=8), **args))
        case("choice_error" + suffix, node("choose_from_datasets", *parts, rng(30, 33), rng(40, 44), choice_dataset=faulty(), **args))
        case("out_of_range" + suffix, node("choose_from_datasets", *parts, choice_dataset=numbers(0, 3, 1, -1, 2, 2), **args))
        choice = node("shuffle", turns, buffer_size=4, seed=3)
        case("shuffled_choice" + suffix, node("choose_from_datasets", *parts, choice_dataset=choice, **args), twice)
        shuffled = [node("shuffle", rng(6), buffer_size=3, seed=1), node("shuffle", rng(10, 15), buffer_size=3, seed=2)]
        case("of_shuffle" + suffix, node("choose_from_datasets", *shuffled, choice_dataset=node("repeat", rng(2), count=7), **args), twice)

        def sample(name, *inputs, limits=(None,), **more):
            case(name + suffix, node("sample_from_datasets", *inputs, **dict(more, **args)), limits)

        sample("zero", rng(0), rng(0), seed=5)
        sample("one", rng(0), rng(1), seed=6, weights=[0.0, 1.0])
        sample("one_left", rng(3), rng(10, 14), seed=6, weights=[1.0, 0.0], limits=twice)
        sample("many", *parts, seed=5, limits=twice)
        sample("rerandomized", *parts, seed=5, rerandomize_each_iteration=True, limits=(None, None, None))
        sample("weights", *parts, seed=9, weights=[0.125, 0.5, 0.375], limits=twice)
        sample("doubles", *parts, seed=9, weights=literal("float64", [3], [2.0, 1.0, 5.0]))
        sample("no_weight", *parts, seed=9, weights=[0.0, 0.0, 0.0])
        sample("child_error", faulty(), rng(10, 15), seed=4)
        changing = literal("float64", [12, 2], [0.5, 0.5, 0.0, 1.0, 0.75, 0.25] * 4)
        sample("weights_from_a_dataset", rng(20), rng(30, 50), seed=4, weights=node("from_tensor_slices", tensors=changing), limits=twice)
        sample("of_shuffle", *shuffled, seed=8, limits=twice)
