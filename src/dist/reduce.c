/* strategy.reduce: one host value from one value per replica.
 *
 * The replicas of this process are added up, then the sums of all workers. Without an axis the
 * values are added in replica order and, for MEAN, divided by the number of replicas. With an axis
 * every value is first summed along it, and MEAN divides by the number of all rows, so that uneven
 * and empty replicas count right. The mean of integers is float64, of those below 32 bits float32,
 * as in TensorFlow. Sums are made in double or in wrapping int64 and then converted. Failures:
 * shapes that differ, also between workers, which names one; a worker without memory for the
 * exchange, which ends the job. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "core/half.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "dist/strategy.h"
#include "dist/values.h"
#include <string.h>

/* Values of floats; of a complex number both parts are summed. */
static bool is_floating(leat_dtype dtype) {
    return leati_dtype_is_float(dtype) || leati_dtype_is_complex(dtype);
}

static int64_t parts_of(leat_dtype dtype) {
    return leati_dtype_is_complex(dtype) ? 2 : 1;
}

static double load_float(const leat_tensor *tensor, int64_t i) {
    switch (leati_dtype_part(tensor->dtype)) {
    case LEAT_FLOAT16: return leati_float_of_half(((const uint16_t *)tensor->data)[i]);
    case LEAT_BFLOAT16: return leati_float_of_bfloat16(((const uint16_t *)tensor->data)[i]);
    case LEAT_FLOAT32: return ((const float *)tensor->data)[i];
    default: return ((const double *)tensor->data)[i];
    }
}

static uint64_t load_int(const leat_tensor *tensor, int64_t i) {
    switch (tensor->dtype) {
    /* Extended by sign: as uint64 the sums wrap, and their low bytes are right for signed dtypes,
     * too. */
    case LEAT_INT8: return (uint64_t)((const int8_t *)tensor->data)[i];
    case LEAT_INT16: return (uint64_t)((const int16_t *)tensor->data)[i];
    case LEAT_INT32: return (uint64_t)((const int32_t *)tensor->data)[i];
    case LEAT_UINT8: return ((const uint8_t *)tensor->data)[i];
    case LEAT_UINT16: return ((const uint16_t *)tensor->data)[i];
    case LEAT_UINT32: return ((const uint32_t *)tensor->data)[i];
    default: return ((const uint64_t *)tensor->data)[i];
    }
}

static void store_float(leat_tensor *tensor, int64_t i, double value) {
    switch (leati_dtype_part(tensor->dtype)) {
    case LEAT_FLOAT16: ((uint16_t *)tensor->data)[i] = leati_half_of_float((float)value); break;
    case LEAT_BFLOAT16:
        ((uint16_t *)tensor->data)[i] = leati_bfloat16_of_float((float)value);
        break;
    case LEAT_FLOAT32: ((float *)tensor->data)[i] = (float)value; break;
    default: ((double *)tensor->data)[i] = value; break;
    }
}

static void store_int(leat_tensor *tensor, int64_t i, uint64_t value) {
    switch (leat_dtype_size(tensor->dtype)) {
    case 1: ((uint8_t *)tensor->data)[i] = (uint8_t)value; break;
    case 2: ((uint16_t *)tensor->data)[i] = (uint16_t)value; break;
    case 4: ((uint32_t *)tensor->data)[i] = (uint32_t)value; break;
    default: ((uint64_t *)tensor->data)[i] = value; break;
    }
}

/* Adds the value, summed along its axis, to the accumulators. */
static void accumulate(const leat_tensor *tensor, const leati_folded *f, double *floats,
                       uint64_t *ints) {
    int64_t inner = f->inner * parts_of(tensor->dtype);
    for (int64_t o = 0; o < f->outer; o++) {
        for (int64_t a = 0; a < f->along; a++) {
            for (int64_t i = 0; i < inner; i++) {
                int64_t from = (o * f->along + a) * inner + i, to = o * inner + i;
                if (floats != NULL)
                    floats[to] += load_float(tensor, from);
                else
                    ints[to] += load_int(tensor, from);
            }
        }
    }
}

/* One component of a value: what is summed, and in which memory. */
typedef struct part {
    leati_folded shape; /* of replica 0 */
    leat_dtype dtype;
    bool floating;
    size_t count;  /* of the result's numbers, or parts of complex ones */
    int64_t along; /* rows along the axis, of all replicas */
    size_t at;     /* of its sums in `floats` or `ints` of the reduction */
} part;

typedef struct reduction {
    leat_strategy *strategy;
    const leat_per_replica *value;
    int axis, num_parts;
    part *parts;
    size_t num_floats, num_ints;
    double *floats;
    uint64_t *ints; /* then `along` of each part */
} reduction;

static leat_status look_at(reduction *r, int component, leat_error *err) {
    const leat_tensor *first = &r->value->elements[0].tensors[component];
    part *p = &r->parts[component];
    if (!leati_dtype_is_number(first->dtype)) {
        return leati_refuse(err, DTYPE, "a value of dtype %s cannot be reduced; expected numbers",
                            leat_dtype_name(first->dtype));
    }
    LEATI_TRY(leati_values_fold(first, r->axis, &p->shape, err));
    p->dtype = first->dtype;
    p->count = (size_t)(p->shape.outer * p->shape.inner * parts_of(first->dtype));
    p->floating = is_floating(first->dtype);
    /* Sums of all components lie in two arrays, so that two exchanges serve them all. */
    size_t *used = p->floating ? &r->num_floats : &r->num_ints;
    p->at = *used;
    *used += p->count;
    return LEAT_OK;
}

/* Adds up the replicas of this process. */
static leat_status add_up(reduction *r, int component, leat_error *err) {
    part *p = &r->parts[component];
    for (int i = 0; i < r->value->num_replicas; i++) {
        const leat_tensor *tensor = &r->value->elements[i].tensors[component];
        leati_folded f = {0};
        LEATI_TRY(leati_values_fold(tensor, r->axis, &f, err));
        if (tensor->dtype != p->dtype || !leati_shape_equal(&f.rest, &p->shape.rest)) {
            char a[128], b[128];
            return leati_refuse(
                err, SHAPE,
                "replicas 0 and %d have values of shapes %s and %s to add; expected equal ones", i,
                leati_shape_text(&p->shape.rest, a), leati_shape_text(&f.rest, b));
        }
        accumulate(tensor, &f, p->floating ? r->floats + p->at : NULL,
                   p->floating ? NULL : r->ints + p->at);
        p->along += f.along;
    }
    return LEAT_OK;
}

static leat_status add_local(reduction *r, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int c = 0; c < r->num_parts && status == LEAT_OK; c++)
        status = look_at(r, c, err);
    if (status != LEAT_OK)
        return status;
    r->floats = leati_alloc_zero(r->num_floats, sizeof(*r->floats));
    r->ints = leati_alloc_zero(r->num_ints + (size_t)r->num_parts, sizeof(*r->ints));
    if (r->floats == NULL || r->ints == NULL)
        return leati_no_memory(err);
    for (int c = 0; c < r->num_parts && status == LEAT_OK; c++) {
        status = add_up(r, c, err);
        r->ints[r->num_ints + (size_t)c] = (uint64_t)r->parts[c].along;
    }
    return status;
}

/* What this worker reduces, in words. */
static void describe(const reduction *r, leat_status local, leati_text *text) {
    leati_text_addf(text, "reduce%s", local == LEAT_OK ? " of" : ", which failed");
    for (int c = 0; c < r->num_parts && local == LEAT_OK; c++) {
        char shape[128];
        leati_text_addf(text, " %s %s", leat_dtype_name(r->parts[c].dtype),
                        leati_shape_text(&r->parts[c].shape.rest, shape));
    }
}

/* Few numbers travel with a hash of what they are, in one exchange. */
enum { FEW = 32 };

static bool are_few(const reduction *r) {
    return r->num_floats + r->num_ints + (size_t)r->num_parts < FEW;
}

static void pack_few(const reduction *r, uint64_t *out) {
    memcpy(out, r->floats, r->num_floats * sizeof(*out));
    memcpy(out + r->num_floats, r->ints, (r->num_ints + (size_t)r->num_parts) * sizeof(*out));
}

/* In the order of the workers, so that all have the same sums. */
static void add_few(reduction *r, const uint64_t *all, int count) {
    for (int w = 0; w < count; w++) {
        const uint64_t *one = all + (size_t)w * FEW + 1;
        for (size_t i = 0; i < r->num_floats; i++) {
            double value;
            memcpy(&value, &one[i], sizeof value);
            r->floats[i] = w == 0 ? value : r->floats[i] + value;
        }
        for (size_t i = 0; i < r->num_ints + (size_t)r->num_parts; i++) {
            uint64_t value = one[r->num_floats + i];
            r->ints[i] = w == 0 ? value : r->ints[i] + value;
        }
    }
}

/* Adds many numbers up over the workers. */
static leat_status add_many(reduction *r, leat_error *err) {
    leati_collective *c = leati_workers_collective(r->strategy->workers);
    int worker = leati_workers_number(r->strategy->workers);
    leat_status status = LEAT_OK;
    if (r->num_floats > 0) {
        status = c->ops->all_reduce(c, worker, r->floats, (int64_t)r->num_floats, LEAT_FLOAT64,
                                    LEATI_REDUCTION_SUM, err);
    }
    if (status == LEAT_OK) {
        status = c->ops->all_reduce(c, worker, r->ints, (int64_t)r->num_ints + r->num_parts,
                                    LEAT_UINT64, LEATI_REDUCTION_SUM, err);
    }
    return status;
}

/* Tells the others what this worker reduces (`text`), and its numbers where they are few. */
static leat_status exchange(reduction *r, leat_status local, const char *text, leat_error *err) {
    leati_workers *workers = r->strategy->workers;
    leati_collective *c = leati_workers_collective(workers);
    int count = leati_workers_count(workers);
    /* A hash of the words tells as well whether all reduce the same, and is one number. */
    uint64_t mine[FEW] = {leati_hash(text, strlen(text), 0)};
    uint64_t *all = leati_alloc((size_t)count, sizeof mine);
    if (all == NULL)
        return leati_no_memory(err);
    if (local == LEAT_OK && are_few(r))
        pack_few(r, mine + 1);
    leat_status status =
        c->ops->all_gather(c, leati_workers_number(workers), mine, FEW, LEAT_UINT64, all, err);
    bool same = true;
    for (int w = 1; w < count && status == LEAT_OK; w++)
        same = same && all[(size_t)w * FEW] == all[0];
    if (status == LEAT_OK && !same) {
        /* All have seen it, so all come here, where it is put in words. */
        status = leati_workers_same(workers, text, err);
        if (status == LEAT_OK) {
            status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                                "workers reduce values of different shapes");
        }
    } else if (status == LEAT_OK && local == LEAT_OK && are_few(r)) {
        add_few(r, all, count);
    } else if (status == LEAT_OK && local == LEAT_OK) {
        status = add_many(r, err);
    }
    leati_free(all);
    return status;
}

/* Adds up the workers. One that could not add up its own says so to the others. */
static leat_status add_workers(reduction *r, leat_status local, leat_error *err) {
    leati_text text = {0};
    leat_error other = {0};
    describe(r, local, &text);
    if (text.failed && local == LEAT_OK)
        local = leati_no_memory(err);
    leat_status status =
        exchange(r, local, text.failed ? "reduce, without memory" : text.data, &other);
    status = leati_workers_end(r->strategy->workers, "reduce", status, &other);
    leati_text_fini(&text);
    if (local != LEAT_OK)
        return local;
    if (status != LEAT_OK)
        *err = other;
    return status;
}

static leat_status write_result(const reduction *r, int component, leat_reduce_op op,
                                leat_tensor *out, leat_error *err) {
    const part *p = &r->parts[component];
    bool mean = op == LEAT_REDUCE_MEAN;
    leat_dtype quotient = leat_dtype_size(p->dtype) < 4 ? LEAT_FLOAT32 : LEAT_FLOAT64;
    leat_dtype dtype = mean && !p->floating ? quotient : p->dtype;
    leat_status status = leat_tensor_new(dtype, p->shape.rest, out, err);
    double divisor = r->axis == LEAT_NO_AXIS ? r->strategy->num_replicas
                                             : (double)r->ints[r->num_ints + (size_t)component];
    for (size_t i = 0; i < p->count && status == LEAT_OK; i++) {
        if (!mean && !p->floating) {
            store_int(out, (int64_t)i, r->ints[p->at + i]);
            continue;
        }
        uint64_t whole = p->floating ? 0 : r->ints[p->at + i];
        double sum = p->floating               ? r->floats[p->at + i]
                     : p->dtype == LEAT_UINT64 ? (double)whole
                                               : (double)(int64_t)whole;
        store_float(out, (int64_t)i, mean ? sum / divisor : sum);
    }
    return status;
}

static leat_status check(const leat_strategy *strategy, leat_reduce_op op,
                         const leat_per_replica *value, const leat_element *out, leat_error *err) {
    leat_status status =
        leati_values_check_per_replica("leat_strategy_reduce", strategy, value, out, err);
    if (status == LEAT_OK && op != LEAT_REDUCE_SUM && op != LEAT_REDUCE_MEAN) {
        status = leati_refuse(
            err, VALUE, "reduction %d; expected LEAT_REDUCE_SUM or LEAT_REDUCE_MEAN", (int)op);
    }
    return status;
}

leat_status leat_strategy_reduce(leat_strategy *strategy, leat_reduce_op op,
                                 const leat_per_replica *value, int axis, leat_element *out,
                                 leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = check(strategy, op, value, out, err);
    if (status != LEAT_OK)
        return status;
    reduction r = {.strategy = strategy,
                   .value = value,
                   .axis = axis,
                   .num_parts = value->elements[0].num_tensors};
    size_t n = (size_t)r.num_parts;
    leat_tensor *tensors = leati_alloc_zero(n, sizeof(*tensors));
    r.parts = leati_alloc_zero(n, sizeof(*r.parts));
    status = tensors == NULL || r.parts == NULL ? leati_no_memory(err) : add_local(&r, err);
    if (strategy->workers != NULL)
        status = add_workers(&r, status, err);
    for (int c = 0; c < r.num_parts && status == LEAT_OK; c++)
        status = write_result(&r, c, op, &tensors[c], err);
    if (status == LEAT_OK)
        status = leati_values_give_like(value->elements[0].spec, tensors, r.num_parts, out, err);
    for (int c = 0; c < r.num_parts && tensors != NULL; c++)
        leat_tensor_unref(&tensors[c]);
    leati_free(tensors);
    leati_free(r.parts);
    leati_free(r.floats);
    leati_free(r.ints);
    return status;
}
