/* Values of all replicas along an axis (graph/support/replica/gathering.h).
 *
 * How many values each replica has is an argument, because a step's shapes are known before it
 * runs. Failures: arguments that do not fit the values, which are checked before anything is
 * exchanged. No state, no locks. */
#include "graph/support/replica/gathering.h"
#include "base/minmax.h"
#include "coll/coll.h"
#include <string.h>

const leati_row leati_gathering_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct leati_gathering_args, axis),
     .doc = "The dimension to put values together along; negative counts from the end."},
    {.name = "sizes",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_gathering_args, sizes),
     .doc = "How many values along the axis each replica has, in the order of the replicas."},
    {0},
};

static leat_status add_sizes(const leati_ints *sizes, int64_t *total, leat_error *err) {
    *total = 0;
    for (int32_t r = 0; r < sizes->count; r++)
        if (sizes->values[r] < 0 || __builtin_add_overflow(*total, sizes->values[r], total))
            return leati_refuse(
                err, VALUE,
                "replica %d has %lld values along the axis; expected 0 and more, and "
                "a sum below 2^63",
                (int)r, (long long)sizes->values[r]);
    return sizes->count > 0
               ? LEAT_OK
               : leati_refuse(err, VALUE, "the list of sizes is empty; expected one per replica");
}

/* Is there a replica that has so many? */
static bool has_size(const leati_ints *sizes, int64_t size) {
    for (int32_t r = 0; r < sizes->count; r++)
        if (sizes->values[r] == size)
            return true;
    return false;
}

leat_status leati_gathering_shape(const struct leati_gathering_args *args, const leat_shape *part,
                                  leat_shape *whole, leat_error *err) {
    int32_t axis = 0;
    int64_t total = 0;
    LEATI_TRY(add_sizes(&args->sizes, &total, err));
    *whole = *part;
    if (part->rank == LEAT_UNKNOWN_RANK)
        return LEAT_OK;
    if (part->rank == 0)
        return leati_refuse(err, SHAPE,
                            "scalars are not gathered along an axis; add a dimension first");
    LEATI_TRY(leati_support_normal_axis(args->axis, part->rank, &axis, err));
    /* Which replica this is shows in the run: here it must be one of them. */
    if (part->dims[axis] != LEAT_UNKNOWN_DIM && !has_size(&args->sizes, part->dims[axis]))
        return leati_refuse(err, SHAPE, "dimension %d is %lld, which is the size of no replica",
                            (int)axis, (long long)part->dims[axis]);
    whole->dims[axis] = total;
    return LEAT_OK;
}

leat_status leati_gathering_init(const leati_kernel_call *call, const leati_operand *part,
                                 leati_gathering *out, leat_error *err) {
    const struct leati_gathering_args *args = call->args;
    const leati_collective *collective = call->context == NULL ? NULL : call->context->collective;
    int replica = call->context == NULL ? 0 : call->context->replica;
    int replicas = collective == NULL ? 1 : collective->num_ranks;
    int64_t most = 0;
    *out = (leati_gathering){.sizes = &args->sizes, .outer = 1, .inner = 1};
    LEATI_TRY(add_sizes(&args->sizes, &out->total, err));
    LEATI_TRY(leati_support_normal_axis(args->axis, part->rank, &out->axis, err));
    /* Before anything indexes sizes by a replica. */
    if (args->sizes.count != replicas)
        return leati_refuse(err, SHAPE, "%d sizes for %d replicas", (int)args->sizes.count,
                            replicas);
    if (args->sizes.values[replica] != part->dims[out->axis])
        return leati_refuse(err, SHAPE,
                            "replica %d has %lld values along axis %d; the sizes say %lld", replica,
                            (long long)part->dims[out->axis], (int)out->axis,
                            (long long)args->sizes.values[replica]);
    for (int32_t d = 0; d < part->rank; d++)
        if (d < out->axis)
            out->outer *= part->dims[d];
        else if (d > out->axis)
            out->inner *= part->dims[d];
    for (int r = 0; r < replicas; r++)
        most = LEATI_MAX(args->sizes.values[r], most);
    /* 16 bytes a value and a block for each replica: the bytes of all blocks fit an int64. */
    if (__builtin_mul_overflow(most, out->outer * out->inner, &out->block_count) ||
        out->block_count > INT64_MAX / 16 / replicas)
        return leati_fail(err, LEAT_OUT_OF_RANGE, "the gathered values are too many");
    return LEAT_OK;
}

void leati_gathering_copy(const leati_gathering *gathering, size_t size, char *whole, char *blocks,
                          bool into_blocks) {
    size_t step = (size_t)(gathering->total * gathering->inner) * size;
    size_t block = (size_t)gathering->block_count * size;
    for (int32_t r = 0; r < gathering->sizes->count; r++) {
        size_t bytes = (size_t)(gathering->sizes->values[r] * gathering->inner) * size;
        for (int64_t o = 0; o < gathering->outer && bytes > 0; o++) {
            /* Within each outer index replicas take turns; a block has one's parts side by side. */
            char *all = whole + (size_t)o * step, *one = blocks + (size_t)o * bytes;
            memcpy(into_blocks ? one : all, into_blocks ? all : one, bytes);
        }
        whole += bytes;
        blocks += block;
    }
}
