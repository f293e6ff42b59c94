/* The vectorised functions of float64 against those of C in long double: their error in units of
 * the last place over numbers of every size, and what becomes of NaN, infinities and zeros. */
#include "support/cmocka.h"

#include "graph/support/math/functions_special.h"

#if __LDBL_MANT_DIG__ > 60

enum { AT_ONCE = 4096, TIMES = 60 };

static long double exact_sigmoid(long double x) {
    return 1 / (1 + expl(-x));
}

static long double exact_softplus(long double x) {
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

#define FUNCTION(NAME)                                                                             \
    static void run_##NAME(const double *in, double *out) {                                        \
        for (int i = 0; i < AT_ONCE; i++)                                                          \
            out[i] = leati_math_wide_##NAME(in[i]);                                                \
    }
FUNCTION(exp)
FUNCTION(expm1)
FUNCTION(log)
FUNCTION(log1p)
FUNCTION(tanh)
FUNCTION(sigmoid)
FUNCTION(softplus)
FUNCTION(erf)
FUNCTION(atan)
FUNCTION(sin)
FUNCTION(cos)

static const struct {
    const char *name;
    void (*run)(const double *in, double *out);
    long double (*exact)(long double x);
    double most_ulp; /* what functions_wide.h promises */
    double from, to; /* where it is promised */
} all[] = {
    {"exp", run_exp, expl, 1.1, -INFINITY, INFINITY},
    {"expm1", run_expm1, expm1l, 2.0, -INFINITY, INFINITY},
    {"log", run_log, logl, 1.0, -INFINITY, INFINITY},
    {"log1p", run_log1p, log1pl, 1.5, -INFINITY, INFINITY},
    {"tanh", run_tanh, tanhl, 3.0, -INFINITY, INFINITY},
    {"sigmoid", run_sigmoid, exact_sigmoid, 2.5, -709, INFINITY},
    {"softplus", run_softplus, exact_softplus, 2.0, -INFINITY, INFINITY},
    {"erf", run_erf, erfl, 1.0, -INFINITY, INFINITY},
    {"atan", run_atan, atanl, 0.9, -INFINITY, INFINITY},
    {"sin", run_sin, sinl, 2.0, -LEATI_MATH_WIDE_CIRCULAR_MOST, LEATI_MATH_WIDE_CIRCULAR_MOST},
    {"cos", run_cos, cosl, 2.0, -LEATI_MATH_WIDE_CIRCULAR_MOST, LEATI_MATH_WIDE_CIRCULAR_MOST},
};

static double error_of(double found, long double exact) {
    double nearest = (double)exact;
    if (isnan(nearest) || isinf(nearest) || nearest == 0)
        return (isnan(nearest) ? isnan(found) : found == nearest) ? 0 : (double)INFINITY;
    if (isnan(found))
        return (double)INFINITY;
    int exponent;
    (void)frexpl(exact, &exponent);
    exponent = exponent < -1021 ? -1021 : exponent;
    return (double)(fabsl((long double)found - exact) / ldexpl(1, exponent - 53));
}

/* Numbers of every size, and each second time of those that are neither huge nor tiny. */
static void draw(double *in, int time) {
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, 1.7e308, 1, -1};
    static uint64_t state = 9;
    for (int i = 0; i < AT_ONCE; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t bits = state ^ state >> 29;
        if (time % 2 == 1)
            bits = (bits & UINT64_C(0x800fffffffffffff)) | (990 + (bits >> 52) % 45) << 52;
        in[i] = leati_math_wide_of_bits(bits);
    }
    for (size_t i = 0; time == 0 && i < sizeof special / sizeof *special; i++)
        in[i] = special[i];
}

static void test_functions(void **state) {
    (void)state;
    static double in[AT_ONCE], out[AT_ONCE];
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        double worst = 0, at = 0;
        for (int time = 0; time < TIMES; time++) {
            draw(in, time);
            all[k].run(in, out);
            for (int i = 0; i < AT_ONCE; i++) {
                bool outside = in[i] < all[k].from || in[i] > all[k].to;
                double error = outside ? 0 : error_of(out[i], all[k].exact((long double)in[i]));
                at = error > worst ? in[i] : at;
                worst = error > worst ? error : worst;
            }
        }
        print_message("%-9s %.3f ULP at %a\n", all[k].name, worst, at);
        if (worst > all[k].most_ulp)
            fail_msg("%s: %g ULP at %a; at most %g are promised", all[k].name, worst, at,
                     all[k].most_ulp);
    }
}

/* Points of every size, and on the axes. */
static void test_atan2(void **state) {
    (void)state;
    static double up[AT_ONCE], right[AT_ONCE], out[AT_ONCE];
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, 1.7e308, 1, -1};
    const int kinds = sizeof special / sizeof *special;
    double worst = 0;
    for (int time = 0; time < TIMES; time++) {
        draw(up, time);
        draw(right, time);
        for (int i = 0; time == 0 && i < kinds * kinds; i++) {
            up[i] = special[i / kinds];
            right[i] = special[i % kinds];
        }
        for (int i = 0; i < AT_ONCE; i++)
            out[i] = leati_math_wide_atan2(up[i], right[i]);
        for (int i = 0; i < AT_ONCE; i++) {
            long double exact = atan2l((long double)up[i], (long double)right[i]);
            bool tiny = fabsl(exact) < 0x1p-1022L;
            double error = tiny ? fabs(out[i] - (double)exact) / 5e-324 : error_of(out[i], exact);
            worst = error > worst ? error : worst;
            if (error > (tiny || fabs(up[i]) < 0x1p-1022 ? 1.5 : 0.8) ||
                !signbit(out[i]) != !signbit(exact))
                fail_msg("atan2(%a, %a): %a, %g ULP", up[i], right[i], out[i], error);
        }
    }
    print_message("atan2     %.3f ULP\n", worst);
}

#else

static void test_functions(void **state) {
    (void)state;
    skip(); /* long double has no more digits */
}

static void test_atan2(void **state) {
    test_functions(state);
}

#endif

/* Of mpmath, which has 30 digits. */
static void test_zeta(void **state) {
    (void)state;
    static const double known[][3] = {
        {2, 1, 1.6449340668482264},
        {1.5, 0.25, 10.213055360466601},
        {1.0009765625, 3, 1023.0776251057533},
        {12, 0.5, 4096.0077244357965},
        {40, 7.5, 1.0011090498720574e-35},
        {9000, 1, 1},
        {3, 1e6, 5.0000050000025e-13},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double found = leati_math_zeta(known[i][0], known[i][1]);
        assert_true(leati_math_zeta_has(known[i][0], known[i][1]));
        if (fabs(found - known[i][2]) > 0x1p-28 * known[i][2])
            fail_msg("zeta(%g, %g): %.17g", known[i][0], known[i][1], found);
    }
    assert_true(!leati_math_zeta_has(1, 2) && !leati_math_zeta_has(2, 0));
    assert_true(!leati_math_zeta_has((double)NAN, 2) && !leati_math_zeta_has(2, (double)INFINITY));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions),
                                       cmocka_unit_test(test_atan2), cmocka_unit_test(test_zeta)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
