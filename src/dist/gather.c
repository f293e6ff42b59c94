/* strategy.gather: the values of all replicas behind one another along an axis.
 *
 * The replicas of this process are put together, then what the workers have: sizes along the axis
 * first, then the values, filled up to the longest. Failures: shapes that differ elsewhere, also
 * between workers, which names one; a worker that could not put its own together says so to the
 * others, and one without memory for the exchange ends the job. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/text.h"
#include "core/spec.h"
#include "dist/strategy.h"
#include "dist/values.h"
#include <stdio.h>
#include <string.h>

/* A piece of a result: (outer, along, inner) values that lie one behind the other. */
typedef struct piece {
    const char *data;
    int64_t along;
} piece;

/* Puts pieces together along their axis. */
static leat_status join(const leati_folded *f, leat_dtype dtype, const piece *pieces, int count,
                        leat_tensor *out, leat_error *err) {
    leat_shape shape = f->rest;
    int64_t along = 0;
    for (int i = 0; i < count; i++)
        if (__builtin_add_overflow(along, pieces[i].along, &along))
            return leati_fail(err, LEAT_OUT_OF_RANGE, "a gathered value has too many rows");
    /* Puts the axis back between the dimensions of `rest`, which has it taken out. */
    memmove(shape.dims + f->axis + 1, shape.dims + f->axis,
            (size_t)(shape.rank - f->axis) * sizeof(*shape.dims));
    shape.dims[f->axis] = along;
    shape.rank++;
    leat_status status = leat_tensor_new(dtype, shape, out, err);
    size_t inner = (size_t)f->inner * leat_dtype_size(dtype);
    char *to = status == LEAT_OK ? out->data : NULL;
    /* For each index before the axis, the blocks of all pieces one behind the other. */
    for (int64_t o = 0; to != NULL && o < f->outer; o++) {
        for (int i = 0; i < count; i++) {
            size_t bytes = (size_t)pieces[i].along * inner;
            if (bytes > 0)
                memcpy(to, pieces[i].data + (size_t)o * bytes, bytes);
            to += bytes;
        }
    }
    return status;
}

/* One component of this process's replicas. */
static leat_status join_local(const leat_per_replica *value, int component, int axis,
                              leati_folded *shape, leat_tensor *out, leat_error *err) {
    const leat_tensor *first = &value->elements[0].tensors[component];
    if (first->dtype == LEAT_STRING || first->dtype == LEAT_OBJECT) {
        return leati_refuse(err, DTYPE,
                            "a value of dtype %s cannot be gathered; expected numbers or bools",
                            leat_dtype_name(first->dtype));
    }
    if (axis == LEAT_NO_AXIS || first->rank == 0) {
        return leati_refuse(
            err, SHAPE,
            "gather puts values of rank 1 and more together along an axis; the value "
            "has rank %d",
            first->rank);
    }
    piece *pieces = leati_alloc_zero((size_t)value->num_replicas, sizeof(*pieces));
    leat_status status =
        pieces == NULL ? leati_no_memory(err) : leati_values_fold(first, axis, shape, err);
    for (int r = 0; r < value->num_replicas && status == LEAT_OK; r++) {
        const leat_tensor *tensor = &value->elements[r].tensors[component];
        leati_folded f = {0};
        status = leati_values_fold(tensor, axis, &f, err);
        if (status == LEAT_OK &&
            (tensor->dtype != first->dtype || !leati_shape_equal(&f.rest, &shape->rest))) {
            char a[128], b[128];
            leat_shape one = leat_tensor_shape(first), other = leat_tensor_shape(tensor);
            status =
                leati_refuse(err, SHAPE,
                             "replicas 0 and %d have values of shapes %s and %s; to gather along "
                             "axis %d all other dimensions must be equal",
                             r, leati_shape_text(&one, a), leati_shape_text(&other, b), axis);
        }
        if (status == LEAT_OK)
            pieces[r] = (piece){.data = tensor->data, .along = f.along};
    }
    if (status == LEAT_OK)
        status = join(shape, first->dtype, pieces, value->num_replicas, out, err);
    leati_free(pieces);
    return status;
}

/* One component of all workers: `tensor`, this worker's part, becomes the whole. */
static leat_status join_workers(leati_workers *workers, const leati_folded *shape,
                                leat_tensor *tensor, leat_error *err) {
    leati_collective *c = leati_workers_collective(workers);
    int worker = leati_workers_number(workers), count = leati_workers_count(workers);
    int64_t mine = tensor->dims[shape->axis], longest = 0;
    int64_t *along = leati_alloc((size_t)count, sizeof(*along));
    piece *pieces = leati_alloc((size_t)count, sizeof(*pieces));
    char *sent = NULL, *all = NULL;
    leat_tensor whole = {0};
    leat_status status = along == NULL || pieces == NULL
                             ? leati_no_memory(err)
                             : c->ops->all_gather(c, worker, &mine, 1, LEAT_INT64, along, err);
    for (int w = 0; w < count && status == LEAT_OK; w++)
        longest = LEATI_MAX(along[w], longest);
    size_t bytes = (size_t)(shape->outer * shape->inner) * leat_dtype_size(tensor->dtype);
    if (status == LEAT_OK && (__builtin_mul_overflow(bytes, (size_t)longest, &bytes) ||
                              bytes > SIZE_MAX / 2 / (size_t)count))
        status = leati_fail(err, LEAT_OUT_OF_RANGE, "a gathered value has too many rows");
    if (status == LEAT_OK) {
        sent = leati_alloc_zero(bytes, 1);
        all = leati_alloc(bytes, (size_t)count);
        status = sent == NULL || all == NULL ? leati_no_memory(err) : LEAT_OK;
    }
    if (status == LEAT_OK && bytes > 0) {
        size_t own = leat_tensor_bytes(tensor);
        if (own > 0)
            memcpy(sent, tensor->data, own);
        /* As bytes, so that every dtype can be gathered, and all of the length of the longest. */
        status = c->ops->all_gather(c, worker, sent, (int64_t)bytes, LEAT_UINT8, all, err);
    }
    for (int w = 0; w < count && status == LEAT_OK; w++)
        pieces[w] = (piece){.data = all + (size_t)w * bytes, .along = along[w]};
    if (status == LEAT_OK)
        status = join(shape, tensor->dtype, pieces, count, &whole, err);
    if (status == LEAT_OK) {
        leat_tensor_unref(tensor);
        *tensor = whole;
    }
    leati_free(sent);
    leati_free(all);
    leati_free(along);
    leati_free(pieces);
    return status;
}

/* Do all workers gather the same? */
static leat_status compare(leati_workers *workers, const leati_folded *shapes,
                           const leat_tensor *tensors, int count, leat_status local,
                           leat_error *err) {
    leati_text text = {0};
    leati_text_addf(&text, "gather%s", local == LEAT_OK ? " of" : ", which failed");
    for (int c = 0; c < count && local == LEAT_OK; c++) {
        char shape[128];
        leati_text_addf(&text, " %s %s along %d", leat_dtype_name(tensors[c].dtype),
                        leati_shape_text(&shapes[c].rest, shape), shapes[c].axis);
    }
    if (text.failed && local == LEAT_OK)
        local = leati_no_memory(err);
    leat_error other = {0};
    /* Also by a worker that failed, whose text then differs: the others end here and do not
     * wait. */
    leat_status status =
        leati_workers_same(workers, text.failed ? "gather, without memory" : text.data, &other);
    status = leati_workers_end(workers, "gather", status, &other);
    leati_text_fini(&text);
    /* This worker's own failure is the cause and goes before what the comparison says. */
    if (local != LEAT_OK)
        return local;
    if (status != LEAT_OK)
        *err = other;
    return status;
}

leat_status leat_strategy_gather(leat_strategy *strategy, const leat_per_replica *value, int axis,
                                 leat_element *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status =
        leati_values_check_per_replica("leat_strategy_gather", strategy, value, out, err);
    if (status != LEAT_OK)
        return status;
    int count = value->elements[0].num_tensors;
    leat_tensor *tensors = leati_alloc_zero((size_t)count, sizeof(*tensors));
    leati_folded *shapes = leati_alloc_zero((size_t)count, sizeof(*shapes));
    if (tensors == NULL || shapes == NULL)
        status = leati_no_memory(err);
    for (int c = 0; c < count && status == LEAT_OK; c++)
        status = join_local(value, c, axis, &shapes[c], &tensors[c], err);
    if (strategy->workers != NULL) {
        status = compare(strategy->workers, shapes, tensors, count, status, err);
        for (int c = 0; c < count && status == LEAT_OK; c++) {
            leat_error local = {0};
            status = join_workers(strategy->workers, &shapes[c], &tensors[c], &local);
            status = leati_workers_end(strategy->workers, "gather", status, &local);
            if (status != LEAT_OK)
                *err = local;
        }
    }
    if (status == LEAT_OK)
        status = leati_values_give_like(value->elements[0].spec, tensors, count, out, err);
    for (int c = 0; c < count && tensors != NULL; c++)
        leat_tensor_unref(&tensors[c]);
    leati_free(tensors);
    leati_free(shapes);
    return status;
}
