/* Random numbers against TensorFlow 2.21, Random123 and CPython 3.11. */
#include "support/cmocka.h"

#include "base/random.h"

#include <leat/base.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect_words(leati_words words, const uint32_t *expected, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_int_equal(leati_words_next(&words), expected[i]);
}

/* Known answers published with Random123 for philox4x32 with ten rounds. */
static void philox_rounds(void **state) {
    (void)state;
    leati_philox zero = {0};
    const uint32_t of_zero[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    uint32_t block[4];
    leati_philox_next(&zero, block);
    assert_memory_equal(block, of_zero, sizeof block);
    leati_philox ones = {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
                         {UINT32_MAX, UINT32_MAX}};
    const uint32_t of_ones[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    leati_philox_next(&ones, block);
    assert_memory_equal(block, of_ones, sizeof block);
    const uint32_t none[4] = {0};
    assert_memory_equal(ones.counter, none, sizeof none); /* the carry went through all words */
    leati_philox pi = {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}};
    const uint32_t of_pi[] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    leati_philox_next(&pi, block);
    assert_memory_equal(block, of_pi, sizeof block);
}

static void philox_skips(void **state) {
    (void)state;
    leati_philox philox = {{UINT32_MAX - 1, 5, UINT32_MAX, 8}, {0, 0}};
    const uint32_t carried[] = {1, 6, UINT32_MAX, 8};
    leati_philox_skip(&philox, 3);
    assert_memory_equal(philox.counter, carried, sizeof carried);
    const uint32_t far[] = {0, 6, 0, 9};
    leati_philox_skip(&philox, UINT64_MAX);
    assert_memory_equal(philox.counter, far, sizeof far);
}

static void words_skip_like_drawing(void **state) {
    (void)state;
    for (uint64_t first = 0; first < 9; first++) {
        for (uint64_t count = 0; count < 20; count++) {
            leati_words drawn = leati_words_new(3, 4);
            leati_words skipped = drawn;
            for (uint64_t i = 0; i < first + count; i++)
                leati_words_next(&drawn);
            leati_words_skip(&skipped, first);
            leati_words_skip(&skipped, count);
            uint32_t taken[9];
            leati_words together = skipped;
            leati_words_take(&together, taken, 9);
            for (int i = 0; i < 9; i++) {
                uint32_t word = leati_words_next(&drawn);
                assert_int_equal(leati_words_next(&skipped), word);
                assert_int_equal(taken[i], word);
            }
            assert_int_equal(leati_words_next(&together), leati_words_next(&drawn));
        }
    }
}

static void resolve(bool given, int64_t value, int64_t seed, int64_t seed2) {
    int64_t first = -1;
    int64_t second = -1;
    leati_random_resolve_seed((leati_seed_argument){given, value}, &first, &second);
    assert_true(first == seed);
    assert_true(second == seed2);
}

static leati_words stream(bool given, int64_t value) {
    int64_t first;
    int64_t second;
    leati_random_resolve_seed((leati_seed_argument){given, value}, &first, &second);
    return leati_words_new((uint64_t)first, (uint64_t)second);
}

static void seeds_without_global(void **state) {
    (void)state;
    leat_seed_clear();
    resolve(false, 99, 0, 0);
    resolve(true, 0, 87654321, 0);
    resolve(true, 42, 87654321, 42);
    resolve(true, INT64_C(2147483647), 87654321, 0);
    resolve(true, -1, 87654321, INT64_C(2147483646));
}

static void seeds_with_global(void **state) {
    (void)state;
    leat_seed_set(0);
    resolve(true, 0, 0, INT64_C(2147483647));
    resolve(true, 5, 0, 5);
    resolve(false, 0, 0, 1654615998); /* random.Random(0).randint(0, 2**31 - 1) */
    resolve(false, 0, 0, 1806341205);
    resolve(true, 7, 0, 7); /* draws nothing */
    resolve(false, 0, 0, 173879092);
    leat_seed_set(-7);
    resolve(false, 0, INT64_C(2147483640), 1390851128);
    leat_seed_set(INT64_MIN); /* 2**63 mod (2**31 - 1) is 2 */
    resolve(true, 1, INT64_C(2147483645), 1);
    leat_seed_set(INT64_C(2147483647));
    resolve(true, INT64_C(4294967294), 0, INT64_C(2147483647));
    leat_seed_clear();
    resolve(false, 0, 0, 0);
}

/* Dataset.random of TensorFlow 2.21 under the seeds named. */
static void words_are_tensorflows(void **state) {
    (void)state;
    leat_seed_clear();
    const uint32_t seed_0[] = {361556241,  1459367533, 3832325198, 1250307605,
                               2508600833, 2749596746, 2322339719, 3744817846};
    const uint32_t seed_42[] = {2985944072, 4132877644, 929418493,  249609589,
                                146598941,  4149265688, 1024970628, 881762723};
    const uint32_t seed_4[] = {3128586565, 2023892699, 452966358};
    expect_words(stream(true, 0), seed_0, COUNT(seed_0));
    expect_words(stream(true, 42), seed_42, COUNT(seed_42));
    expect_words(stream(true, 4), seed_4, COUNT(seed_4));
    const uint32_t global_1_seed_7[] = {149215281, 1356441251, 3790847162, 383212194};
    const uint32_t global_1[] = {362095362, 2708693949, 877708227, 741842741};
    leat_seed_set(1);
    expect_words(stream(true, 7), global_1_seed_7, 4);
    expect_words(stream(false, 0), global_1, 4);
    const uint32_t global_1234[] = {2881805945, 1546562515, 1489662683, 3391043013};
    leat_seed_set(1234);
    expect_words(stream(false, 0), global_1234, 4);
    const uint32_t zeros[] = {92440422, 3674269378, 538463675, 207846770};
    leat_seed_set(0);
    expect_words(stream(true, 0), zeros, 4);
    const uint32_t large[] = {4086004980, 4019157482, 2709456053, 1381537768};
    leat_seed_set(INT64_C(1099511627777));
    expect_words(stream(true, 3), large, 4);
    leat_seed_clear();
}

/* tf.random.stateless_uniform of TensorFlow 2.21, full range of uint32. */
static void stateless_words(void **state) {
    (void)state;
    static const struct {
        int64_t seed[2];
        uint32_t words[9];
    } cases[] = {
        {{0, 0},
         {3885695630, 2698665609, 1306945658, 2883758418, 556907846, 1542416368, 3420943024,
          2199467356, 4159485159}},
        {{1, 2},
         {1105988140, 1738052849, 3959391294, 370444179, 10670227, 4048756165, 1066250331,
          587749182, 1614298283}},
        {{-1, -1},
         {2909357325, 775850763, 378710848, 3635288547, 1858482171, 3387811076, 3586046450,
          2039420747, 1780688315}},
        {{2147483647, -2147483648},
         {100911306, 1810945611, 1166822098, 1252998700, 2995219559, 2843571253, 3244374290,
          359675661, 3545528685}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        leati_philox philox = leati_philox_stateless(cases[i].seed[0], cases[i].seed[1]);
        uint32_t words[12];
        for (int block = 0; block < 3; block++)
            leati_philox_next(&philox, words + 4 * block);
        assert_memory_equal(words, cases[i].words, sizeof cases[i].words);
    }
}

/* tf.random.stateless_uniform and stateless_normal of TensorFlow 2.21, seed (42, 7). */
static void conversions(void **state) {
    (void)state;
    const float uniform[] = {0.61238885f, 0.9290638f,  0.8335557f,  0.6969204f,
                             0.87986624f, 0.48982084f, 0.44786274f, 0.4367938f};
    const double wide[] = {0.8991112912615087, 0.6684463502781846, 0.038930266145283055,
                           0.5829019666403417};
    const float normal[] = {-0.42693046f, 0.89359164f,  -0.5701664f, -0.1975343f,
                            0.032336365f, -0.50490105f, 0.49023938f, -1.1688466f};
    leati_philox philox = leati_philox_stateless(42, 7);
    uint32_t words[8];
    leati_philox_next(&philox, words);
    leati_philox_next(&philox, words + 4);
    for (int i = 0; i < 8; i++)
        assert_true(leati_uniform_float(words[i]) == uniform[i]);
    for (int i = 0; i < 4; i++)
        assert_true(leati_uniform_double(words[2 * i], words[2 * i + 1]) == wide[i]);
    for (int i = 0; i < 8; i += 2) {
        float pair[2];
        leati_normal_pair(words[i], words[i + 1], pair);
        assert_true(fabsf(pair[0] - normal[i]) <= 1e-7f); /* sin and log differ by library */
        assert_true(fabsf(pair[1] - normal[i + 1]) <= 1e-7f);
    }
    float finite[2];
    leati_normal_pair(0, 0, finite);
    assert_true(isfinite(finite[0]) && isfinite(finite[1]));
    assert_true(leati_uniform_float(UINT32_MAX) < 1.0f);
    assert_true(leati_uniform_double(UINT32_MAX, UINT32_MAX) < 1.0);
}

/* [random.Random(seed).randint(0, 2**31 - 1) for _ in range(4)] in CPython 3.11. */
static void twister_is_cpythons(void **state) {
    (void)state;
    static const struct {
        uint64_t seed;
        uint64_t draws[4];
    } cases[] = {
        {0, {1654615998, 1806341205, 173879092, 1112038970}},
        {1, {577090037, 271041745, 1095513148, 506456969}},
        {42, {478163327, 107420369, 1181241943, 1051802512}},
        {1234, {1892932127, 501869158, 32175636, 389311301}},
        {UINT64_C(4294967296), {485306839, 1508871100, 1794561286, 71624475}},
        {UINT64_MAX, {93740670, 1068495656, 1452108352, 910393425}},
    };
    leati_mt19937 mt;
    for (size_t i = 0; i < COUNT(cases); i++) {
        leati_mt19937_seed(&mt, cases[i].seed);
        for (int draw = 0; draw < 4; draw++)
            assert_int_equal(leati_mt19937_randint(&mt, INT32_MAX), cases[i].draws[draw]);
    }
    leati_mt19937_seed(&mt, 0);
    assert_int_equal(leati_mt19937_next(&mt), 3626764237); /* random.Random(0).getrandbits(32) */
    leati_mt19937_seed(&mt, 5);
    uint64_t draw = 0;
    for (int i = 1; i <= 2000; i++) {
        draw = leati_mt19937_randint(&mt, INT32_MAX);
        if (i == 700)
            assert_int_equal(draw, 854620613);
    }
    assert_int_equal(draw, 9404187);
}

/* From one random.Random(7): eight of randint(0, 9), three of (0, 2**40), three of (0, 2**64 - 1).
 */
static void twister_takes_any_range(void **state) {
    (void)state;
    const uint64_t digits[] = {5, 2, 6, 0, 1, 8, 1, 5};
    const uint64_t wide[] = {127057107037, 82526500300, 953851880282};
    const uint64_t full[] = {UINT64_C(1288605153985647771), UINT64_C(10165027665383847897),
                             UINT64_C(17477362246067780643)};
    leati_mt19937 mt;
    leati_mt19937_seed(&mt, 7);
    for (size_t i = 0; i < COUNT(digits); i++)
        assert_true(leati_mt19937_randint(&mt, 9) == digits[i]);
    for (size_t i = 0; i < COUNT(wide); i++)
        assert_true(leati_mt19937_randint(&mt, UINT64_C(1) << 40) == wide[i]);
    for (size_t i = 0; i < COUNT(full); i++)
        assert_true(leati_mt19937_randint(&mt, UINT64_MAX) == full[i]);
}

static void fresh_seeds_differ(void **state) {
    (void)state;
    int64_t pairs[2][2] = {{0, 0}, {0, 0}};
    leati_random_fresh_seed_if_zero(&pairs[0][0], &pairs[0][1]);
    leati_random_fresh_seed_if_zero(&pairs[1][0], &pairs[1][1]);
    assert_memory_not_equal(pairs[0], pairs[1], sizeof pairs[0]);
    int64_t kept[2] = {0, 5};
    leati_random_fresh_seed_if_zero(&kept[0], &kept[1]);
    assert_true(leati_random_is_fresh(pairs[0][0], pairs[0][1]));
    assert_false(leati_random_is_fresh(INT32_MAX, 0));
    assert_false(leati_random_is_fresh(0, INT32_MAX));
    assert_true(kept[0] == 0 && kept[1] == 5);
}

#define DRAWS 100
#define THREADS 4

static void *draw_seeds(void *context) {
    int64_t *drawn = context;
    for (int i = 0; i < DRAWS; i++) {
        int64_t seed;
        leati_random_resolve_seed((leati_seed_argument){0}, &seed, &drawn[i]);
    }
    return NULL;
}

/* However threads interleave, together they take the first draws of the stream, each once. */
static void draws_are_shared(void **state) {
    (void)state;
    static int64_t drawn[THREADS * DRAWS];
    pthread_t threads[THREADS];
    leat_seed_set(11);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw_seeds, drawn + i * DRAWS), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    leat_seed_clear();
    leati_mt19937 mt;
    leati_mt19937_seed(&mt, 11);
    for (int i = 0; i < THREADS * DRAWS; i++) {
        int64_t expected = (int64_t)leati_mt19937_randint(&mt, INT32_MAX) % INT32_MAX;
        int found = 0;
        for (int at = 0; at < THREADS * DRAWS; at++)
            found += drawn[at] == expected;
        assert_int_equal(found, 1);
    }
}

/* CPython: random.seed(n); random.randint(1, 10**9), which draws of operators do not disturb. */
static void layer_seeds_are_cpythons(void **state) {
    (void)state;
    int64_t seed, seed2;
    leat_seed_set(7);
    assert_int_equal(leati_random_layer_seed(), 347712783);
    leati_random_resolve_seed((leati_seed_argument){0}, &seed, &seed2);
    assert_int_equal(leati_random_layer_seed(), 161973070);
    leat_seed_set(2024);
    assert_int_equal(leati_random_layer_seed(), 504756066);
    assert_int_equal(leati_random_layer_seed(), 195105372);
    leat_seed_clear();
    int64_t fresh = leati_random_layer_seed();
    assert_in_range(fresh, 1, 1000000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_rounds),
        cmocka_unit_test(philox_skips),
        cmocka_unit_test(words_skip_like_drawing),
        cmocka_unit_test(seeds_without_global),
        cmocka_unit_test(seeds_with_global),
        cmocka_unit_test(words_are_tensorflows),
        cmocka_unit_test(stateless_words),
        cmocka_unit_test(conversions),
        cmocka_unit_test(twister_is_cpythons),
        cmocka_unit_test(twister_takes_any_range),
        cmocka_unit_test(layer_seeds_are_cpythons),
        cmocka_unit_test(fresh_seeds_differ),
        cmocka_unit_test(draws_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
