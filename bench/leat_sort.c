/* sort or argsort (OPERATION) of lines of N random float32, as many as make a million values or one
 * line, on one thread. The limit is the bare work: three passes of 11 bits over as many keys of 32
 * bits (64 for argsort: key and place) that lie in memory already. Both take turns, by the
 * processor's time; medians. */
#include "leat_bench.h"

enum { DIGIT = 11, BUCKETS = 1 << DIGIT, DIGITS = 3, MOST_TURNS = 1 << 16, VALUES = 1000000 };

struct keys {
    int64_t lines, n;
    uint64_t *from, *a, *b; /* of argsort */
    uint32_t *from32, *a32, *b32;
};

static uint32_t draw(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* One line by its bits from SHIFT on; three passes end in b. */
#define RADIX(NAME, KEY, SHIFT)                                                                    \
    static void NAME(const KEY *from, KEY *a, KEY *b, int64_t n) {                                 \
        static uint32_t next[DIGITS][BUCKETS];                                                     \
        memset(next, 0, sizeof next);                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int d = 0; d < DIGITS; d++)                                                       \
                next[d][(from[i] >> ((SHIFT) + d * DIGIT)) % BUCKETS]++;                           \
        for (int d = 0; d < DIGITS; d++) {                                                         \
            uint32_t before = 0;                                                                   \
            for (int i = 0; i < BUCKETS; i++) {                                                    \
                uint32_t count = next[d][i];                                                       \
                next[d][i] = before;                                                               \
                before += count;                                                                   \
            }                                                                                      \
            const KEY *in = d == 0 ? from : d == 1 ? b : a;                                        \
            KEY *out = d == 1 ? a : b;                                                             \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[next[d][(in[i] >> ((SHIFT) + d * DIGIT)) % BUCKETS]++] = in[i];                \
        }                                                                                          \
    }
RADIX(radix_32, uint32_t, 0)
RADIX(radix_64, uint64_t, 32)

static void bare(const struct keys *keys, bool places) {
    for (int64_t i = 0; i < keys->lines; i++) {
        int64_t at = i * keys->n;
        if (places)
            radix_64(keys->from + at, keys->a, keys->b, keys->n);
        else
            radix_32(keys->from32 + at, keys->a32, keys->b32, keys->n);
    }
    bench_touch(keys->b);
    bench_touch(keys->b32);
}

static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value x = leat_graph_argument(graph, 0);
    (void)capacity;
    outputs[0] = *(const bool *)context ? leat_op_argsort(x, -1, "ASCENDING", true)
                                        : leat_op_sort(x, -1, "ASCENDING");
    return 1;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static void fill(struct keys *keys, leat_tensor *x) {
    size_t count = (size_t)(keys->lines * keys->n);
    leat_error err = {0};
    bench_check(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(keys->lines, keys->n), x, &err) == LEAT_OK,
                "values", &err);
    keys->from = bench_alloc(count * sizeof *keys->from);
    keys->from32 = bench_alloc(count * sizeof *keys->from32);
    keys->a = bench_alloc((size_t)keys->n * sizeof *keys->a);
    keys->b = bench_alloc((size_t)keys->n * sizeof *keys->b);
    keys->a32 = (uint32_t *)keys->a;
    keys->b32 = (uint32_t *)keys->b;
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++) {
        keys->from32[i] = draw(&state);
        keys->from[i] = (uint64_t)keys->from32[i] << 32 | i % (size_t)keys->n;
        ((float *)x->data)[i] = (float)(int32_t)draw(&state) / 65536;
    }
}

int main(int argc, char **argv) {
    bool places = argc == 4 && strcmp(argv[2], "argsort") == 0;
    int64_t n = argc == 4 ? atoll(argv[3]) : 0;
    if (n < 1 || n > UINT32_MAX || (!places && strcmp(argv[2], "sort") != 0)) {
        fprintf(stderr, "usage: leat_sort SECONDS sort|argsort N\n");
        return 2;
    }
    struct keys keys = {.lines = n < VALUES ? VALUES / n : 1, .n = n};
    leat_error err = {0};
    leat_tensor x = {0}, out = {0};
    fill(&keys, &x);
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(keys.lines, n), &err);
    leat_function *function = LEAT_TRACE(trace, &places, spec, &err);
    bench_check(function != NULL, "sort", &err);
    static double own[MOST_TURNS], limit[MOST_TURNS];
    double start = bench_now(), spent = 0, count = (double)(keys.lines * n);
    int turns = 0;
    while (turns < 3 || (bench_now() - start < atof(argv[1]) && turns < MOST_TURNS)) {
        double before = bench_cpu();
        bench_check(leat_function_call(function, &x, 1, &out, 1, &err) == LEAT_OK, "sort", &err);
        double middle = bench_cpu();
        bare(&keys, places);
        leat_tensor_unref(&out);
        own[turns] = middle - before;
        limit[turns++] = bench_cpu() - middle;
        spent += middle - before;
    }
    double turn = median(own, turns);
    bench_result result = {.unit = "values/CPU s",
                           .units = count * spent / turn,
                           .seconds = spent,
                           .cpu_seconds = spent,
                           .limit = count / median(limit, turns)};
    bench_print(&result);
    leat_tensor_unref(&x);
    leat_function_unref(function);
    leat_spec_unref(spec);
    free(keys.from);
    free(keys.from32);
    free(keys.a);
    free(keys.b);
    return 0;
}
