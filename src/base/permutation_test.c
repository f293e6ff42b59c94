/* The permutation against tf.raw_ops.RandomIndexShuffle of TensorFlow 2.21. */
#include "support/cmocka.h"

#include "base/permutation.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Where 0, 1, max_index / 2 and max_index go. */
static const struct recorded {
    int rounds;
    uint32_t key[3];
    uint64_t max_index, places[4];
} recorded[] = {
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(1),
     {UINT64_C(0), UINT64_C(1), UINT64_C(0), UINT64_C(1)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(9),
     {UINT64_C(3), UINT64_C(2), UINT64_C(6), UINT64_C(5)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(65535),
     {UINT64_C(40461), UINT64_C(56977), UINT64_C(26445), UINT64_C(59890)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(65536),
     {UINT64_C(40461), UINT64_C(56977), UINT64_C(37797), UINT64_C(40461)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(65537),
     {UINT64_C(44801), UINT64_C(14669), UINT64_C(6657), UINT64_C(28796)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(262144),
     {UINT64_C(114232), UINT64_C(69487), UINT64_C(76985), UINT64_C(114232)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(1000000),
     {UINT64_C(128997), UINT64_C(9781), UINT64_C(968827), UINT64_C(986939)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(4294967295),
     {UINT64_C(1354670818), UINT64_C(1221388139), UINT64_C(4193237968), UINT64_C(2078783331)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(1099511627776),
     {UINT64_C(159097086711), UINT64_C(156983142254), UINT64_C(744009754719),
      UINT64_C(159097086711)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(9223372036854775813),
     {UINT64_C(707717148629394111), UINT64_C(707707862910084974), UINT64_C(5321655224571621013),
      UINT64_C(5931236150105781315)}},
    {4,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(18446744073709551615),
     {UINT64_C(707717148629394111), UINT64_C(707707862910084974), UINT64_C(7355356681403562571),
      UINT64_C(16578730865741853435)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(1),
     {UINT64_C(1), UINT64_C(0), UINT64_C(1), UINT64_C(0)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(9),
     {UINT64_C(1), UINT64_C(6), UINT64_C(3), UINT64_C(2)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(65535),
     {UINT64_C(35734), UINT64_C(60636), UINT64_C(34899), UINT64_C(47992)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(65536),
     {UINT64_C(35734), UINT64_C(60636), UINT64_C(35149), UINT64_C(35734)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(65537),
     {UINT64_C(21422), UINT64_C(45666), UINT64_C(36815), UINT64_C(31018)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(262144),
     {UINT64_C(164784), UINT64_C(213157), UINT64_C(98692), UINT64_C(164784)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(1000000),
     {UINT64_C(798697), UINT64_C(685064), UINT64_C(432831), UINT64_C(238938)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(4294967295),
     {UINT64_C(2167137196), UINT64_C(455068300), UINT64_C(2327190840), UINT64_C(93019389)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(1099511627776),
     {UINT64_C(81584200374), UINT64_C(678267811432), UINT64_C(95738155895), UINT64_C(81584200374)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(9223372036854775813),
     {UINT64_C(6004463764115907776), UINT64_C(9096507020178622840), UINT64_C(8107148592193768598),
      UINT64_C(7885899984068763419)}},
    {8,
     {4294967295u, 305419896u, 2596069104u},
     UINT64_C(18446744073709551615),
     {UINT64_C(6004463764115907776), UINT64_C(10634922706643532555), UINT64_C(17606765733846239411),
      UINT64_C(7321040753984791531)}},
    {8, {7u, 8u, 9u}, UINT64_C(9), {UINT64_C(6), UINT64_C(0), UINT64_C(1), UINT64_C(3)}},
    {8,
     {7u, 8u, 9u},
     UINT64_C(65535),
     {UINT64_C(40948), UINT64_C(50634), UINT64_C(62750), UINT64_C(58432)}},
    {8,
     {7u, 8u, 9u},
     UINT64_C(65536),
     {UINT64_C(40948), UINT64_C(50634), UINT64_C(48885), UINT64_C(40948)}},
    {8,
     {7u, 8u, 9u},
     UINT64_C(65537),
     {UINT64_C(32205), UINT64_C(48437), UINT64_C(35462), UINT64_C(22110)}},
    {8,
     {7u, 8u, 9u},
     UINT64_C(262144),
     {UINT64_C(87294), UINT64_C(48437), UINT64_C(127676), UINT64_C(87294)}},
    {8,
     {7u, 8u, 9u},
     UINT64_C(1000000),
     {UINT64_C(487862), UINT64_C(60131), UINT64_C(839650), UINT64_C(30352)}},
    {8,
     {7u, 8u, 9u},
     UINT64_C(4294967295),
     {UINT64_C(2630607385), UINT64_C(1069830825), UINT64_C(1392609238), UINT64_C(2367290894)}},
    {8,
     {7u, 8u, 9u},
     UINT64_C(1099511627776),
     {UINT64_C(178803148178), UINT64_C(225830547402), UINT64_C(551298591240),
      UINT64_C(178803148178)}},
    {8,
     {7u, 8u, 9u},
     UINT64_C(9223372036854775813),
     {UINT64_C(3467238375992695975), UINT64_C(2765992872365273942), UINT64_C(4665563226545649017),
      UINT64_C(4981324675442870314)}},
    {8,
     {7u, 8u, 9u},
     UINT64_C(18446744073709551615),
     {UINT64_C(3467238375992695975), UINT64_C(2765992872365273942), UINT64_C(15968843296336308514),
      UINT64_C(5870817922059709931)}},
};

/* TensorFlow sends the last index of these ranges where it sends 0: nothing comes to it. */
static bool is_lossy(uint64_t max_index) {
    return max_index == 65536 || max_index == 262144 || max_index == UINT64_C(1) << 40;
}

static void test_recorded(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(recorded); i++) {
        const struct recorded *r = &recorded[i];
        const uint64_t indices[] = {0, 1, r->max_index / 2, r->max_index};
        leati_permutation p = leati_permutation_new(r->key, r->max_index, r->rounds);
        for (int k = 0; k < 4; k++) {
            bool lost = k == 3 && is_lossy(r->max_index);
            if (lost)
                assert_int_equal(r->places[3], r->places[0]);
            assert_int_equal(leati_permutation_at(&p, indices[k]),
                             lost ? r->max_index : r->places[k]);
        }
    }
}

static void test_each_index_once(void **state) {
    (void)state;
    const uint64_t ranges[] = {0, 1, 2, 9, 1000, 65535, 65536, 65537, 262144};
    const uint32_t key[3] = {5, 77, 3000000000u};
    for (size_t i = 0; i < COUNT(ranges); i++) {
        leati_permutation p = leati_permutation_new(key, ranges[i], 8);
        bool *seen = calloc(ranges[i] + 1, sizeof *seen);
        for (uint64_t index = 0; index <= ranges[i]; index++) {
            uint64_t place = leati_permutation_at(&p, index);
            assert_in_range(place, 0, ranges[i]);
            assert_false(seen[place]);
            seen[place] = true;
        }
        free(seen);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_each_index_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
