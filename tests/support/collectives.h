/* What every collective must do, called by each rank at the same time: values against an
 * independent model, all dtypes' ways, in place and not, the same bits on all ranks. After
 * cmocka.h. */
#ifndef LEATI_TESTS_COLLECTIVES_H
#define LEATI_TESTS_COLLECTIVES_H

#include "coll/coll.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLLECTIVE_LARGE = 300001 }; /* values: several pieces everywhere, and no round number */

static inline float collective_float_of(int rank, int64_t i) {
    return (float)((rank + 1) * 0.37 + (double)(i % 1000) * 1.25);
}

/* Sums of floats in any order stay within this of the sum in double. */
static inline void collective_check_float(float found, double expected) {
    if (fabs(found - expected) > 1e-5 * (1 + fabs(expected)))
        fail_msg("expected %.9g, found %.9g", expected, (double)found);
}

static inline void collective_reduce_floats(leati_collective *c, int rank, int64_t count) {
    leat_error err = {0};
    float *values = malloc((size_t)(count > 0 ? count : 1) * sizeof *values);
    for (int reduction = LEATI_REDUCTION_SUM; reduction <= LEATI_REDUCTION_MAX; reduction++) {
        for (int64_t i = 0; i < count; i++)
            values[i] = collective_float_of(rank, i);
        assert_int_equal(c->ops->all_reduce(c, rank, values, count, LEAT_FLOAT32,
                                            (leati_reduction)reduction, &err),
                         LEAT_OK);
        for (int64_t i = 0; i < count; i++) {
            double sum = 0;
            for (int r = 0; r < c->num_ranks; r++)
                sum += collective_float_of(r, i);
            collective_check_float(values[i], reduction == LEATI_REDUCTION_SUM ? sum
                                              : reduction == LEATI_REDUCTION_MEAN
                                                  ? sum / c->num_ranks
                                                  : collective_float_of(c->num_ranks - 1, i));
        }
    }
    free(values);
}

static inline void collective_reduce_integers(leati_collective *c, int rank) {
    leat_error err = {0};
    int64_t values[2] = {rank - 5, INT64_MAX - rank};
    assert_int_equal(c->ops->all_reduce(c, rank, values, 1, LEAT_INT64, LEATI_REDUCTION_MAX, &err),
                     LEAT_OK);
    assert_int_equal(values[0], c->num_ranks - 6);
    int8_t bytes[3] = {100, -100, (int8_t)rank};
    assert_int_equal(c->ops->all_reduce(c, rank, bytes, 3, LEAT_INT8, LEATI_REDUCTION_SUM, &err),
                     LEAT_OK);
    assert_int_equal(bytes[0], (int8_t)(100 * c->num_ranks));
    assert_int_equal(bytes[2], c->num_ranks * (c->num_ranks - 1) / 2);
    /* 1.5 in halves; the mean of equal values is the value. */
    uint16_t halves[2] = {0x3e00, 0x3e00};
    assert_int_equal(
        c->ops->all_reduce(c, rank, halves, 2, LEAT_FLOAT16, LEATI_REDUCTION_MEAN, &err), LEAT_OK);
    assert_int_equal(halves[0], 0x3e00);
    assert_int_equal(c->ops->all_reduce(c, rank, bytes, 3, LEAT_INT8, LEATI_REDUCTION_MEAN, &err),
                     LEAT_INVALID_ARGUMENT);
}

static inline void collective_gather_and_broadcast(leati_collective *c, int rank, int64_t count) {
    leat_error err = {0};
    int32_t *mine = malloc((size_t)count * sizeof *mine);
    int32_t *all = malloc((size_t)(count * c->num_ranks) * sizeof *all);
    for (int64_t i = 0; i < count; i++)
        mine[i] = (int32_t)(rank * 1000003 + i);
    assert_int_equal(c->ops->all_gather(c, rank, mine, count, LEAT_INT32, all, &err), LEAT_OK);
    for (int r = 0; r < c->num_ranks; r++)
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(all[r * count + i], r * 1000003 + i);
    for (int root = 0; root < c->num_ranks; root++) {
        for (int64_t i = 0; i < count; i++)
            mine[i] = (int32_t)(rank * 1000003 + i);
        assert_int_equal(c->ops->broadcast(c, rank, root, mine, count, LEAT_INT32, &err), LEAT_OK);
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(mine[i], root * 1000003 + i);
    }
    assert_int_equal(c->ops->broadcast(c, rank, c->num_ranks, mine, 1, LEAT_INT32, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(c->ops->barrier(c, rank, &err), LEAT_OK);
    free(mine);
    free(all);
}

/* Block r of the sum; integers, so that any order of additions gives the same. */
static inline void collective_scatter(leati_collective *c, int rank, int64_t count, bool in_place) {
    leat_error err = {0};
    int64_t all = count * c->num_ranks;
    int32_t *data = malloc((size_t)(all > 0 ? all : 1) * sizeof *data);
    int32_t *out = in_place ? data + rank * count : malloc((size_t)(count + 1) * sizeof *out);
    for (int reduction = LEATI_REDUCTION_SUM; reduction <= LEATI_REDUCTION_MAX; reduction += 2) {
        for (int64_t i = 0; i < all; i++)
            data[i] = (int32_t)(rank * 7 + i % 1009);
        assert_int_equal(c->ops->reduce_scatter(c, rank, data, count, LEAT_INT32,
                                                (leati_reduction)reduction, out, &err),
                         LEAT_OK);
        int n = c->num_ranks;
        for (int64_t i = 0; i < count; i++) {
            int32_t value = (int32_t)((rank * count + i) % 1009);
            assert_int_equal(out[i], reduction == LEATI_REDUCTION_SUM
                                         ? n * value + 7 * n * (n - 1) / 2
                                         : value + 7 * (n - 1));
        }
    }
    /* The mean of equal values is the value. */
    for (int64_t i = 0; i < all; i++)
        ((float *)(void *)data)[i] = (float)(i % 1009);
    assert_int_equal(
        c->ops->reduce_scatter(c, rank, data, count, LEAT_FLOAT32, LEATI_REDUCTION_MEAN, out, &err),
        LEAT_OK);
    for (int64_t i = 0; i < count; i++)
        collective_check_float(((float *)(void *)out)[i], (double)((rank * count + i) % 1009));
    assert_int_equal(
        c->ops->reduce_scatter(c, rank, data, count, LEAT_INT32, LEATI_REDUCTION_MEAN, out, &err),
        LEAT_INVALID_ARGUMENT);
    free(data);
    if (!in_place)
        free(out);
}

/* All ranks hold the same bits, whatever the order of additions was. */
static inline void collective_compare_bits(leati_collective *c, int rank, int64_t count) {
    leat_error err = {0};
    size_t bytes = (size_t)count * sizeof(float);
    float *values = malloc(bytes), *all = malloc(bytes * (size_t)c->num_ranks);
    for (int64_t i = 0; i < count; i++)
        values[i] = 1.0f / (float)(1 + (i * 31 + rank * 17) % 1013);
    assert_int_equal(
        c->ops->all_reduce(c, rank, values, count, LEAT_FLOAT32, LEATI_REDUCTION_SUM, &err),
        LEAT_OK);
    assert_int_equal(c->ops->all_gather(c, rank, values, count, LEAT_FLOAT32, all, &err), LEAT_OK);
    for (int r = 0; r < c->num_ranks; r++)
        assert_memory_equal(all + r * count, values, bytes);
    free(values);
    free(all);
}

/* Values of many magnitudes and both signs: each order of additions rounds to other bits. */
static inline float collective_rough_float(int rank, int64_t i) {
    uint64_t mixed = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)rank * 0xd1b54a32d192ed03u;
    mixed = (mixed ^ mixed >> 32) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 29;
    float size = ldexpf(1.0f + (float)(mixed & 0x7fffff) / 8388608.0f, (int)(mixed >> 40 & 15) - 8);
    return mixed >> 60 & 1 ? -size : size;
}

/* The model: ranks add in their order, `per_process` of them first where processes have several,
 * whose sums then add in the order of processes. */
static inline float collective_sum_in_order(int num_ranks, int per_process, int64_t i) {
    float total = 0;
    for (int first = 0; first < num_ranks; first += per_process) {
        float sum = collective_rough_float(first, i);
        for (int r = first + 1; r < first + per_process; r++)
            sum += collective_rough_float(r, i);
        total = first == 0 ? sum : total + sum;
    }
    return total;
}

static inline void collective_keep_order(leati_collective *c, int rank, int per_process,
                                         int64_t count) {
    leat_error err = {0};
    int n = c->num_ranks, others = 0;
    float *values = malloc((size_t)count * sizeof *values);
    float *blocks = malloc((size_t)(count * n) * sizeof *blocks);
    float *block = malloc((size_t)count * sizeof *block);
    for (int64_t i = 0; i < count * n; i++)
        blocks[i] = collective_rough_float(rank, i);
    for (int reduction = LEATI_REDUCTION_SUM; reduction <= LEATI_REDUCTION_MEAN; reduction++) {
        float divisor = reduction == LEATI_REDUCTION_MEAN ? (float)n : 1;
        memcpy(values, blocks, (size_t)count * sizeof *values);
        assert_int_equal(c->ops->all_reduce(c, rank, values, count, LEAT_FLOAT32,
                                            (leati_reduction)reduction, &err),
                         LEAT_OK);
        assert_int_equal(c->ops->reduce_scatter(c, rank, blocks, count, LEAT_FLOAT32,
                                                (leati_reduction)reduction, block, &err),
                         LEAT_OK);
        for (int64_t i = 0; i < count; i++) {
            float sum = collective_sum_in_order(n, per_process, i) / divisor;
            float of_block = collective_sum_in_order(n, per_process, rank * count + i) / divisor;
            /* The other way round, to see that the values tell orders apart. */
            float backwards = collective_rough_float(n - 1, i);
            for (int r = n - 2; r >= 0; r--)
                backwards += collective_rough_float(r, i);
            others += backwards / divisor != sum;
            assert_memory_equal(&values[i], &sum, sizeof sum);
            assert_memory_equal(&block[i], &of_block, sizeof of_block);
        }
    }
    assert_true(n == 2 || count < 100 || others > 0);
    free(values);
    free(blocks);
    free(block);
}

/* All of the above, small and large; processes have `per_process` ranks each. */
static inline void collective_cases(leati_collective *c, int rank, int per_process) {
    for (int64_t count = 0; count <= 2000; count = count * 5 + 1)
        collective_reduce_floats(c, rank, count);
    collective_reduce_floats(c, rank, COLLECTIVE_LARGE);
    collective_reduce_integers(c, rank);
    collective_gather_and_broadcast(c, rank, 3);
    collective_gather_and_broadcast(c, rank, COLLECTIVE_LARGE);
    for (int64_t count = 0; count <= COLLECTIVE_LARGE; count = count * 91 + 1) {
        collective_scatter(c, rank, count, false);
        collective_scatter(c, rank, count, true);
    }
    collective_keep_order(c, rank, per_process, 7);
    collective_keep_order(c, rank, per_process, 1000);
    collective_keep_order(c, rank, per_process, COLLECTIVE_LARGE);
    collective_compare_bits(c, rank, 1000);
    collective_compare_bits(c, rank, COLLECTIVE_LARGE);
}

#endif
