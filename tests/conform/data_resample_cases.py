"""The cases of rejection_resample; make_data_cases.py writes them out."""

# Recorded from TensorFlow 2.21: classes are x mod 3, and the iterators of a shuffle draw seeds in the order in which they are made.
SHUFFLED = [
    [6, 4, 9, 1, 0, 0, 12, 15, 9, 18, 3, 24, 12, 13, 10, 15, 19, 14, 17, 2, 6, 7, 21, 18, 3, 27, 21, 8, 11],
    [0, 8, 6, 9, 11, 3, 15, 9, 4, 24, 21, 18, 5, 2, 15, 1, 27, 7, 13, 19, 17, 18, 12, 20, 0],
]
ESTIMATED = [
    [8, 4, 3, 2, 6, 4, 5, 0, 9, 9, 12, 13, 0, 12, 1, 15, 18, 11, 20, 16, 10, 18, 15, 7, 17, 14, 25, 28, 3, 6, 24, 21],
    [8, 2, 3, 0, 11, 0, 7, 9, 6, 6, 21, 12, 14, 3, 17, 10, 15, 19, 1, 15, 5, 9, 27, 20, 24, 16, 23, 18, 25, 24, 18],
]
REPEATED = [0, 0, 3, 1, 2, 6, 9, 12, 3, 15, 18, 0, 0, 1, 1, 2, 3, 4, 6, 3, 9, 12, 15, 4, 5, 6, 7, 18, 8, 9, 10, 11, 12]
REPEATED_KEPT = [0, 3, 4, 6, 9, 12, 15, 18, 0, 1, 3, 4, 6, 9, 12, 13, 15, 18, 19]


def add(case, node, rng, mapped, faulty, literal):
    twice = (None, None)

    def shares(*numbers):
        return literal("float32", [len(numbers)], list(numbers))

    def resample(below, target, *initial, by="mod_2_int32", seed=7):
        args = {"initial_dist": shares(*initial)} if initial else {}
        return node("rejection_resample", below, class_func=by, target_dist=shares(*target), seed=seed, **args)

    def rows(numbers):
        return [{"tuple": [literal("int64", [], [x % 3]), literal("int64", [], [x])]} for x in numbers]

    case("zero", resample(rng(0), (0.8, 0.2), 0.5, 0.5))
    case("zero_estimated", resample(rng(0), (0.8, 0.2)))
    case("one", resample(rng(5, 6), (0.5, 0.5), 0.5, 0.5))
    case("many", resample(rng(40), (0.8, 0.2), 0.5, 0.5), twice)
    case("many_estimated", resample(rng(50), (0.8, 0.2)), twice)
    case("one_class", resample(rng(30), (1.0, 0.0), 0.5, 0.5), twice)
    case("as_it_is", resample(rng(12), (0.25, 0.75), 0.25, 0.75))
    case("three_classes", resample(rng(40), (0.5, 0.3, 0.2), 0.2, 0.4, 0.4, by="mod_3", seed=42))
    case("three_classes_estimated", resample(rng(70), (0.5, 0.3, 0.2), by="mod_3", seed=42))
    case("other_shares", resample(rng(20), (0.1, 0.9), 0.9, 0.1, seed=3))
    case("child_error", resample(mapped("fail_on_mod_4_is_3", rng(24)), (0.8, 0.2), 0.5, 0.5))
    case("child_error_kept", resample(mapped("fail_on_mod_4_is_3", rng(24)), (0.0, 1.0), 0.5, 0.5))
    case("child_error_estimated", resample(mapped("fail_on_3", rng(70)), (0.8, 0.2)))
    case("own_error", resample(rng(9), (0.2, 0.1, 0.1, 0.2, 0.2, 0.2), *[0.15] * 6, by="fail_on_3"))
    case("own_error_estimated", resample(rng(40), (0.2, 0.1, 0.1, 0.2, 0.2, 0.2), by="fail_on_3"))
    case("class_outside", resample(rng(30), (0.8, 0.2), 0.5, 0.5, by="mod_3"))
    case("class_outside_estimated", resample(rng(30), (0.8, 0.2), by="mod_3"))
    case("pairs", resample(node("zip", rng(12), rng(20, 40)), (0.8, 0.2), 0.5, 0.5, by="mod_2_of_first"))

    shuffled = node("shuffle", rng(30), buffer_size=10, seed=3)
    wanted, had = (0.5, 0.3, 0.2), (0.2, 0.4, 0.4)
    case("of_shuffle", resample(shuffled, wanted, *had, by="mod_3"), twice,
         expect=dict(zip(("elements", "elements_epoch2"), map(rows, SHUFFLED))))
    case("of_shuffle_estimated", resample(shuffled, wanted, by="mod_3"), twice,
         expect=dict(zip(("elements", "elements_epoch2"), map(rows, ESTIMATED))))
    case("repeated", node("repeat", resample(rng(20), wanted, *had, by="mod_3"), count=2), op="rejection_resample",
         expect={"elements": rows(REPEATED)})
    case("repeated_kept", node("repeat", resample(rng(20), (0.6, 0.4, 0.0), *had, by="mod_3"), count=2), op="rejection_resample",
         expect={"elements": rows(REPEATED_KEPT)})
