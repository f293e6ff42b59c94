/* merge_sparse: values of one feature at the places that another one says (what tf.io.SparseFeature
 * is made of).
 *
 * Inputs are indices [n, rank], whose last column counts values within a record, the places [n]
 * that stand in its stead, the values [n], and their indices, which must be the same. The outputs
 * are indices and values in order, equal places as they came. Fails where a place is outside of 0
 * to size - 1 or the numbers of values differ. No gradient, no locks. */
#include "graph/support/text/texts.h"

#include <stdlib.h>
#include <string.h>

struct merge_sparse_args {
    int64_t size;
    bool already_sorted;
};

static const leati_row merge_sparse_rows[] = {
    {.name = "size",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct merge_sparse_args, size),
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "How many places there are."},
    {.name = "already_sorted",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct merge_sparse_args, already_sorted),
     .doc = "Leave the places as they came."},
    {0},
};

static leat_status merge_sparse_infer(leati_infer_call *call, leat_error *err) {
    leat_shape values = LEAT_SHAPE(LEAT_UNKNOWN_DIM),
               indices = LEAT_SHAPE(LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM);
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_INT64, "the indices", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_INT64, "the places", err));
    LEATI_TRY(leati_support_want_values(call, 2, err));
    LEATI_TRY(leati_support_want_dtype(call, 3, LEAT_INT64, "the indices", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 2, "the indices", err));
    LEATI_TRY(leati_support_want_rank(call, 3, 2, "the indices", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "the places", err));
    LEATI_TRY(leati_support_want_rank(call, 2, 1, "the values", err));
    if (call->inputs[0].shape.rank == 2)
        indices.dims[1] = call->inputs[0].shape.dims[1];
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &indices, NULL, err));
    return leati_op_infer_output(call, call->inputs[2].dtype, &values, NULL, err);
}

/* One value: its row's index, whose last number is not read, and its place. */
typedef struct entry {
    const int64_t *row;
    int64_t rank;
    int64_t place;
    int64_t from;
} entry;

static int compare_entries(const void *a, const void *b) {
    const entry *x = a, *y = b;
    for (int64_t d = 0; d + 1 < x->rank; d++)
        if (x->row[d] != y->row[d])
            return x->row[d] < y->row[d] ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    /* qsort is not stable; the order in which values came makes it so. */
    return x->from < y->from ? -1 : 1;
}

/* The number of places must be that of values, record by record: then both count alike. */
static leat_status check_lengths(const leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = call->inputs;
    if (in[0].rank != 2 || in[1].rank != 1 || in[2].rank != 1 || in[3].rank != 2 ||
        in[0].dims[1] < 1 || in[3].dims[1] != in[0].dims[1] || in[0].dims[0] != in[1].count ||
        in[3].dims[0] != in[2].count)
        return leati_refuse(
            err, SHAPE,
            "indices, places, values and indices of ranks %d, %d, %d and %d; expected "
            "[n, rank], [n], [n] and [n, rank]",
            (int)in[0].rank, (int)in[1].rank, (int)in[2].rank, (int)in[3].rank);
    if (in[2].count != in[1].count)
        return leati_refuse(err, SHAPE, "%lld values for the %lld places of a feature",
                            (long long)in[2].count, (long long)in[1].count);
    /* Both count the values of each record in the last column, so the indices are the
     * same bytes. */
    if (in[0].count > 0 &&
        memcmp(in[0].data, in[3].data, (size_t)in[0].count * sizeof(int64_t)) != 0)
        return leati_refuse(err, SHAPE,
                            "a record has another number of values than of places for them");
    return LEAT_OK;
}

static leat_status merge_sparse_kernel(leati_kernel_call *call, leat_error *err) {
    const struct merge_sparse_args *args = call->args;
    const leati_operand *in = call->inputs;
    LEATI_TRY(check_lengths(call, err));
    int64_t n = in[1].count, rank = in[0].dims[1];
    size_t bytes = (size_t)n * sizeof(entry), size = leat_dtype_size(in[2].dtype);
    entry *entries = leati_arena_alloc(call->arena, bytes);
    if (entries == NULL && n > 0)
        return leati_no_memory(err);
    for (int64_t i = 0; i < n; i++) {
        int64_t place = ((const int64_t *)(const void *)in[1].data)[i];
        if (place < 0 || place >= args->size)
            return leati_refuse(err, VALUE, "place %lld is out of bounds; expected 0 to %lld",
                                (long long)place, (long long)args->size - 1);
        const int64_t *row = (const int64_t *)(const void *)in[0].data + i * rank;
        /* Entries point at the input: what is sorted is small whatever the rank. */
        entries[i] = (entry){row, rank, place, i};
    }
    if (!args->already_sorted && n > 1)
        qsort(entries, (size_t)n, sizeof *entries, compare_entries);
    leat_shape indices = LEAT_SHAPE(n, rank), values = LEAT_SHAPE(n);
    LEATI_TRY(leati_support_output_like(call, 0, &indices, err));
    LEATI_TRY(leati_support_output_like(call, 1, &values, err));
    int64_t *index = (int64_t *)(void *)call->outputs[0].data;
    for (int64_t i = 0; i < n; i++, index += rank) {
        /* The place takes the last column, which only counted values. */
        memcpy(index, entries[i].row, (size_t)rank * sizeof *index);
        index[rank - 1] = entries[i].place;
        memcpy(call->outputs[1].data + (size_t)i * size,
               in[2].data + (size_t)entries[i].from * size, size);
    }
    return in[2].dtype == LEAT_STRING ? leati_op_kernel_hold(call, 1, 2, err) : LEAT_OK;
}

const leati_tensor_op leati_tensor_op_merge_sparse = {
    .name = "merge_sparse",
    .version = 1,
    .doc = "Values of one feature at the places that another one says (what tf.io.SparseFeature is "
           "made of).",
    .types = "int64 int64 T int64",
    .outputs = "indices values",
    .halves = LEATI_HALVES_OWN,
    .rows = merge_sparse_rows,
    .args_size = sizeof(struct merge_sparse_args),
    .min_inputs = 4,
    .max_inputs = 4,
    .infer = merge_sparse_infer,
    .kernel = merge_sparse_kernel,
};
