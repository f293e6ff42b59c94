/* range: start, start + step, ... below stop (tf.data.Dataset.range).
 *
 * A source without children: a block is computed from its first index, so position and advance are
 * arithmetic. Values are computed in int64 with wrapping and then cast to output_type. */
#include "base/minmax.h"
#include "core/half.h"
#include "core/pools.h"
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>
#include <string.h>

struct range_args {
    int64_t start, stop, step;
    leat_dtype output_type;
};

static const leati_row range_rows[] = {
    {.name = "start",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct range_args, start),
     .doc = "The first value."},
    {.name = "stop",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct range_args, stop),
     .doc = "The values stay below it (above it for a negative step)."},
    {.name = "step",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct range_args, step),
     .default_number = 1,
     .doc = "The difference of two values; not 0."},
    {.name = "output_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct range_args, output_type),
     .default_number = LEAT_INT64,
     .doc = "The dtype of the elements."},
    {0},
};

/* Writes n values from `first` on as `type`, in steps of `step`; arithmetic wraps in int64 and the
 * result is cast. */
#define FILL(type, convert)                                                                        \
    for (int64_t i = 0; i < n; i++) {                                                              \
        int64_t value = (int64_t)((uint64_t)first + (uint64_t)i * (uint64_t)step);                 \
        *(type *)(data + i * stride) = (type)convert(value);                                       \
    }                                                                                              \
    return true

static bool fill_values(leat_dtype dtype, int64_t first, int64_t step, int64_t n, char *data,
                        int64_t stride) {
    switch (dtype) {
    case LEAT_INT8: FILL(int8_t, );
    case LEAT_INT16: FILL(int16_t, );
    case LEAT_INT32: FILL(int32_t, );
    case LEAT_INT64: FILL(int64_t, );
    case LEAT_UINT8: FILL(uint8_t, );
    case LEAT_UINT16: FILL(uint16_t, );
    case LEAT_UINT32: FILL(uint32_t, );
    case LEAT_UINT64: FILL(uint64_t, );
    case LEAT_FLOAT16: FILL(uint16_t, leati_half_of_float);
    case LEAT_BFLOAT16: FILL(uint16_t, leati_bfloat16_of_float);
    case LEAT_FLOAT32: FILL(float, );
    case LEAT_FLOAT64: FILL(double, );
    default: return false;
    }
}

/* `out` becomes a column of n values, written into the offered destination if it fits. */
static leat_status fill_block(leati_pools *pools, leat_dtype dtype, int64_t first, int64_t step,
                              int64_t n, leati_block *out, leat_error *err) {
    const leati_destination *destination = out->destinations;
    LEATI_TRY(leati_block_prepare(out, 1, err));
    leat_shape scalar = LEAT_SCALAR;
    if (destination != NULL && destination->dtype == dtype && destination->shape.rank == 0) {
        fill_values(dtype, first, step, n, destination->data, destination->stride);
        leati_column_strided(&out->columns[0], dtype, &scalar, destination->data,
                             destination->stride, leat_buffer_ref(destination->owner));
    } else {
        size_t size = leat_dtype_size(dtype);
        leat_buffer *buffer = leati_pools_take(pools, (size_t)n * size, err);
        if (buffer == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        fill_values(dtype, first, step, n, leat_buffer_data(buffer), (int64_t)size);
        leati_column_strided(&out->columns[0], dtype, &scalar, leat_buffer_data(buffer),
                             (int64_t)size, buffer);
    }
    out->n = n;
    return LEAT_OK;
}

struct range_state {
    int64_t next;  /* index of the next element */
    int64_t count; /* of all elements */
    leati_pools pools;
};

struct range_access {
    leati_pools pools;
};

static leat_status range_check(leat_dataset *dataset, leat_error *err) {
    const struct range_args *args = dataset->args;
    if (args->step == 0)
        return leati_refuse(err, VALUE, "range: step is 0; expected any other number");
    /* Writes nothing: whether there is a way to write the dtype is the question. */
    if (!fill_values(args->output_type, 0, 1, 0, NULL, 0)) {
        return leati_refuse(err, DTYPE, "range: output_type is %s; expected a numeric dtype",
                            leat_dtype_name(args->output_type));
    }
    return LEAT_OK;
}

static leat_spec *range_spec(const leat_dataset *dataset, leat_error *err) {
    const struct range_args *args = dataset->args;
    return leat_spec_tensor(args->output_type, LEAT_SCALAR, err);
}

/* 1 + (|stop - start| - 1) / |step|, in unsigned arithmetic that cannot overflow; 0 where the signs
 * do not fit. */
static uint64_t count_of(const struct range_args *args) {
    if (args->step > 0 ? args->start >= args->stop : args->start <= args->stop)
        return 0;
    uint64_t distance = args->step > 0 ? (uint64_t)args->stop - (uint64_t)args->start
                                       : (uint64_t)args->start - (uint64_t)args->stop;
    /* By unsigned arithmetic, in which INT64_MIN has a magnitude, too. */
    uint64_t step = args->step > 0 ? (uint64_t)args->step : 0 - (uint64_t)args->step;
    return 1 + (distance - 1) / step;
}

static int64_t range_cardinality(const leat_dataset *dataset) {
    const struct range_args *args = dataset->args;
    uint64_t count = count_of(args);
    /* TensorFlow takes a range up to the largest int64 for endless: enumerate uses it so. */
    if (args->stop == INT64_MAX && args->step > 0 && count > 0)
        return LEAT_INFINITE_CARDINALITY;
    return count > INT64_MAX ? LEAT_UNKNOWN_CARDINALITY : (int64_t)count;
}

static void range_start(leati_node_state *node, void *state) {
    uint64_t count = count_of(node->dataset->args);
    /* What int64 cannot count nobody reads to the end. */
    ((struct range_state *)state)->count = count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static leati_tail range_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    struct range_state *s = state;
    const struct range_args *args = node->dataset->args;
    int64_t n = LEATI_MIN(s->count - s->next, want);
    if (n == 0) {
        leati_block_clear(out);
        return LEATI_END;
    }
    size_t size = leat_dtype_size(args->output_type);
    int64_t most = out->byte_target == 0 ? n : (int64_t)(out->byte_target / size);
    n = LEATI_MIN(n, most);
    int64_t first = (int64_t)((uint64_t)args->start + (uint64_t)s->next * (uint64_t)args->step);
    if (fill_block(&s->pools, args->output_type, first, args->step, n, out, err) != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    s->next += n;
    return s->next == s->count ? LEATI_END : LEATI_MORE;
}

static leati_tail range_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                leat_error *err) {
    (void)node;
    (void)err;
    struct range_state *s = state;
    *passed = s->count - s->next < n ? s->count - s->next : n;
    s->next += *passed;
    return s->next == s->count ? LEATI_END : LEATI_MORE;
}

static leat_status range_restored(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct range_state *s = state;
    return s->next >= 0 && s->next <= s->count
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS,
                            "range: a saved position of %lld; expected 0 to %lld",
                            (long long)s->next, (long long)s->count);
}

static void range_close(leati_node_state *node, void *state) {
    (void)node;
    leati_pools_close(&((struct range_state *)state)->pools);
}

/* The values of the indices one by one; with one index the block is as a pull makes it. */
static leat_status range_at(leati_access *access, const int64_t *indices, int64_t n,
                            leati_block *out, leat_error *err) {
    const struct range_args *args = access->node.dataset->args;
    struct range_access *a = access->state;
    n = leati_access_checked(access, indices, n, err);
    if (n == 0)
        return err->code;
    /* Makes the column; its values follow. */
    leat_status status = fill_block(&a->pools, args->output_type, 0, 0, n, out, err);
    for (int64_t i = 0; i < n && status == LEAT_OK; i++) {
        int64_t value =
            (int64_t)((uint64_t)args->start + (uint64_t)indices[i] * (uint64_t)args->step);
        leati_column *column = &out->columns[0];
        fill_values(args->output_type, value, 0, 1, column->data + i * column->stride,
                    column->stride);
    }
    return status;
}

static void range_access_close(leati_access *access) {
    leati_pools_close(&((struct range_access *)access->state)->pools);
}

const leati_dataset_op leati_op_range = {
    .name = "range",
    .version = 1,
    .doc = "The numbers start, start + step, ... below stop. Saved as one position; restoring "
           "costs nothing.",
    .names = "Dataset.range",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_ROWS,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct range_args),
    .rows = range_rows,
    .check = range_check,
    .spec = range_spec,
    .cardinality = range_cardinality,
    .state_size = sizeof(struct range_state),
    .saved = {LEATI_SAVED(struct range_state, next)},
    .start = range_start,
    .restored = range_restored,
    .pull = range_pull,
    .advance = range_advance,
    .close = range_close,
    .access_size = sizeof(struct range_access),
    .at = range_at,
    .access_close = range_access_close,
};

leat_dataset *leat_dataset_range(int64_t start, int64_t stop, int64_t step,
                                 const leat_dataset_range_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_range_options o = {LEAT_DATASET_RANGE_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_range_options, &o, options, err) != LEAT_OK)
        return NULL;
    struct range_args args = {
        .start = start, .stop = stop, .step = step, .output_type = o.output_type};
    return leati_dataset_new(&leati_op_range, &args, NULL, 0, err);
}
