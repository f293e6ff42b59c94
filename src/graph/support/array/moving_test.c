/* Moves between layouts against a model that moves value by value: values of all sizes, in any
 * order of dimensions, turned round, repeated and with gaps, on each instruction set and one and
 * four threads; nothing beside the places named is written. */
#include "support/cmocka.h"

#include "base/isa.h"
#include "graph/support/array/moving.h"
#include "run/crew.h"

#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 5;

static int64_t draw(int64_t below) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

/* One value after the other. */
static void model(char *to, const char *from, const leati_moving_dim *dims, int32_t rank,
                  size_t size) {
    if (rank == 0) {
        memcpy(to, from, size);
        return;
    }
    for (int64_t i = 0; i < dims->size; i++)
        model(to + i * dims->to, from + i * dims->from, dims + 1, rank - 1, size);
}

/* How far from its first value a layout of these steps reaches, back and forth. */
static void reach(const leati_moving_dim *dims, int32_t rank, int64_t *back, int64_t *forth) {
    *back = *forth = 0;
    for (int32_t d = 0; d < rank; d++) {
        int64_t way = dims[d].from * (dims[d].size - 1);
        *(way < 0 ? back : forth) += way < 0 ? -way : way;
    }
}

static void check(const leati_moving_dim *dims, int32_t rank, size_t size) {
    int64_t back = 0, forth = 0, end = (int64_t)size;
    for (int32_t d = 0; d < rank; d++) {
        if (dims[d].size == 0)
            return;
        end += dims[d].to * (dims[d].size - 1);
    }
    reach(dims, rank, &back, &forth);
    size_t length = (size_t)(back + forth) + size;
    char *from = malloc(length), *wanted = malloc((size_t)end), *found = malloc((size_t)end);
    assert_true(from != NULL && wanted != NULL && found != NULL);
    for (size_t i = 0; i < length; i++)
        from[i] = (char)(i * 2654435761U >> 11);
    memset(wanted, 0x55, (size_t)end);
    model(wanted, from + back, dims, rank, size);
    for (int isa = LEATI_ISA_PLAIN; isa < LEATI_NUM_ISAS; isa++)
        for (int threads = 1; threads <= (end > 1000000 ? 4 : 1); threads += 3) {
            memset(found, 0x55, (size_t)end);
            leati_isa_allow((leati_isa)isa);
            int before = leati_crew_enter(threads);
            leati_moving_copy(found, from + back, dims, rank, size);
            leati_crew_leave(before);
            leati_isa_allow(LEATI_ISA_AVX512);
            assert_memory_equal(found, wanted, (size_t)end);
        }
    free(from);
    free(wanted);
    free(found);
}

/* Dimensions of the sizes given, dense where they go to, read in another order, and some of them
 * turned round, repeated or with every second value left out. */
static void check_sizes(const int64_t *sizes, int32_t rank, size_t size, int gap) {
    leati_moving_dim dims[LEAT_MAX_RANK];
    int32_t order[LEAT_MAX_RANK];
    int64_t to = (int64_t)size, from = (int64_t)size;
    for (int32_t d = rank - 1; d >= 0; d--) {
        dims[d] = (leati_moving_dim){.size = sizes[d], .to = to};
        to *= sizes[d] + (gap && d == rank - 1);
        order[d] = d;
    }
    for (int32_t d = rank - 1; d > 0; d--) {
        int32_t k = (int32_t)draw(d + 1), kept = order[d];
        order[d] = order[k];
        order[k] = kept;
    }
    for (int32_t i = rank - 1; i >= 0; i--) {
        leati_moving_dim *dim = &dims[order[i]];
        int64_t kind = draw(10);
        dim->from = kind == 0 ? 0 : kind == 1 ? -from : kind == 2 ? 2 * from : from;
        from *= kind == 0 ? 1 : kind == 2 ? 2 * dim->size : dim->size;
    }
    check(dims, rank, size);
}

static void test_layouts(void **state) {
    (void)state;
    static const size_t values[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 40, 64};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        for (int round = 0; round < 60; round++) {
            int64_t sizes[LEAT_MAX_RANK];
            int32_t rank = (int32_t)draw(6);
            for (int32_t d = 0; d < rank; d++)
                sizes[d] = draw(4) == 0 && rank < 4 ? draw(90) : draw(7);
            check_sizes(sizes, rank, values[k], round % 5 == 0);
        }
}

static void test_long(void **state) {
    (void)state;
    static const size_t values[] = {1, 2, 4, 8, 16, 3};
    static const int64_t sizes[][3] = {{1000003, 1, 1}, {1, 1021, 1003}, {1100, 3, 307},
                                       {2, 700, 701},   {65, 127, 129},  {200000, 2, 3}};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int round = 0; round < 2; round++)
                check_sizes(sizes[i], 3, values[k], round == 1);
}

static void count_steps(void *data, int64_t begin, int64_t end) {
    int *counts = data;
    for (int64_t i = begin; i < end; i++)
        counts[i]++;
}

static void test_steps(void **state) {
    (void)state;
    static int counts[100000];
    int before = leati_crew_enter(4);
    leati_moving_share(100000, 1000, count_steps, counts);
    leati_moving_share(99999, 0, count_steps, counts);
    leati_moving_share(0, 8, count_steps, counts);
    leati_crew_leave(before);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(counts[i], i < 99999 ? 2 : 1);
}

static void test_fill(void **state) {
    (void)state;
    static const char value[16] = "0123456789abcdef";
    for (size_t size = 1; size <= 16; size *= 2)
        for (int64_t count = 0; count < 70; count++) {
            char room[70 * 16 + 1];
            memset(room, '-', sizeof room);
            leati_moving_fill(room, count, value, size);
            for (int64_t i = 0; i < count; i++)
                assert_memory_equal(room + (size_t)i * size, value, size);
            assert_int_equal(room[(size_t)count * size], '-');
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
