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
    case("any_order", node("interleave", rng(7), map_func="range_of", cycle_length=2, num_parallel_calls=2, deterministic=False))
