/* The walk of elementwise kernels over rows and broadcast dimensions; see elementwise.h.
 *
 * Rows are one more dimension in front of the others, with the operands' row strides. Dimensions of
 * one are dropped and neighbours merged where every operand allows it; the innermost one goes to
 * the lane, or the two innermost ones where few values are repeated. Failure modes: shapes that do
 * not broadcast where inference could not know it, and a lane that refuses a value. No allocation,
 * no locks. */
#include "graph/support/math/elementwise.h"
#include "base/minmax.h"
#include "base/stop.h"

#include <stdio.h>
#include <string.h>

enum { OPERANDS = 4, MAX_DIMS = LEAT_MAX_RANK + 1 }; /* the output is operand 0 */
enum { MOST_AT_ONCE = 1 << 18 };                     /* values: 5 ms of the slowest functions */

typedef struct walk_dim {
    int64_t size;
    int64_t step[OPERANDS];
} walk_dim;

typedef struct walk {
    int num_operands;
    int num_dims;
    walk_dim dims[MAX_DIMS];
} walk;

/* Appends a dimension inside the others, merged with the one before where strides allow it. */
static void walk_push(walk *w, const walk_dim *dim) {
    if (dim->size == 1)
        return;
    if (w->num_dims > 0) {
        walk_dim *outer = &w->dims[w->num_dims - 1];
        bool merges = true;
        for (int k = 0; k < w->num_operands; k++)
            /* One step outside must be as long as the whole dimension inside, for every operand. */
            merges = merges && outer->step[k] == dim->step[k] * dim->size;
        if (merges) {
            int64_t size = outer->size * dim->size;
            *outer = *dim;
            outer->size = size;
            return;
        }
    }
    w->dims[w->num_dims++] = *dim;
}

/* Byte strides of `operand` along the dimensions of `shape`, 0 where it is broadcast. */
static void operand_steps(const leati_operand *operand, const leat_shape *shape, int64_t *steps) {
    int64_t step = (int64_t)leat_dtype_size(operand->dtype);
    int32_t shift = shape->rank - operand->rank;
    for (int32_t d = 0; d < shift; d++)
        steps[d] = 0;
    for (int32_t d = operand->rank - 1; d >= 0; d--) {
        steps[d + shift] = operand->dims[d] == 1 ? 0 : step;
        step *= operand->dims[d];
    }
}

static void walk_init(walk *w, const leati_kernel_call *call, const leat_shape *shape) {
    int64_t steps[OPERANDS][LEAT_MAX_RANK];
    w->num_operands = call->num_inputs + 1;
    w->num_dims = 0;
    walk_dim rows = {.size = call->n};
    for (int k = 0; k < w->num_operands; k++) {
        const leati_operand *operand = k == 0 ? &call->outputs[0] : &call->inputs[k - 1];
        rows.step[k] = operand->row_stride;
        operand_steps(operand, shape, steps[k]);
    }
    walk_push(w, &rows);
    for (int32_t d = 0; d < shape->rank; d++) {
        walk_dim dim = {.size = shape->dims[d]};
        for (int k = 0; k < w->num_operands; k++)
            dim.step[k] = steps[k][d];
        walk_push(w, &dim);
    }
}

/* Runs the lane, a long one in parts, between which the work may be stopped. */
static void run_in_parts(leati_lane_function function, leati_lane *lane, int num_inputs) {
    int64_t all = lane->n, done = 0;
    while (all - done > MOST_AT_ONCE) {
        lane->n = MOST_AT_ONCE;
        function(lane);
        if (lane->failed >= 0 || leati_stop_look())
            break;
        done += MOST_AT_ONCE;
        lane->out += MOST_AT_ONCE * lane->out_step;
        for (int k = 0; k < num_inputs; k++)
            lane->in[k] += MOST_AT_ONCE * lane->in_step[k];
    }
    if (all - done <= MOST_AT_ONCE) {
        lane->n = all - done;
        function(lane);
    }
    if (lane->failed >= 0)
        lane->failed += done;
}

/* Runs the lane over the innermost dimension at the given offsets. */
static bool run_lane(const walk *w, const leati_kernel_call *call, leati_lane_function function,
                     const int64_t *offsets, int64_t *failed) {
    static const walk_dim one = {.size = 1};
    const walk_dim *inner = w->num_dims > 0 ? &w->dims[w->num_dims - 1] : &one;
    leati_lane lane = {.n = inner->size, .failed = -1};
    lane.out = call->outputs[0].data + offsets[0];
    lane.out_step = inner->step[0];
    for (int k = 1; k < w->num_operands; k++) {
        lane.in[k - 1] = call->inputs[k - 1].data + offsets[k];
        lane.in_step[k - 1] = inner->step[k];
    }
    run_in_parts(function, &lane, call->num_inputs);
    *failed = offsets[0] + lane.failed * inner->step[0];
    return lane.failed < 0;
}

/* ---- few values, over and over ---- */

enum { REPEATED_BYTES = 4096, SHORT = 64 };

/* Operands that repeat the same few values for each step of the dimension outside, as numbers for
 * each channel do, and others that go on behind them: then one call can serve many steps, if the
 * repeated values are written down as often. */
static bool repeats(const walk *w) {
    if (w->num_dims < 2)
        return false;
    const walk_dim *inner = &w->dims[w->num_dims - 1], *outer = &w->dims[w->num_dims - 2];
    /* Long lanes are fast as they are, and few steps do not pay for the copies. */
    if (inner->size > SHORT || outer->size < 4)
        return false;
    for (int k = 0; k < w->num_operands; k++) {
        bool goes_on = outer->step[k] == inner->step[k] * inner->size;
        if (!goes_on && (k == 0 || outer->step[k] != 0 || inner->step[k] == 0))
            return false;
    }
    return true;
}

/* How many steps of the outer dimension one call serves: what fits the smallest room. */
static int64_t steps_at_once(const walk *w) {
    const walk_dim *inner = &w->dims[w->num_dims - 1], *outer = &w->dims[w->num_dims - 2];
    int64_t most = outer->size;
    for (int k = 1; k < w->num_operands; k++) {
        /* At least 4: SHORT values of 16 bytes are a quarter of the room. */
        int64_t fit = inner->step[k] == 0 ? most : REPEATED_BYTES / (inner->step[k] * inner->size);
        if (outer->step[k] == 0 && fit < most)
            most = fit;
    }
    return most;
}

/* Runs the lane over the two innermost dimensions. */
static bool run_repeated(const walk *w, const leati_kernel_call *call, leati_lane_function function,
                         const int64_t *offsets, int64_t *failed) {
    const walk_dim *inner = &w->dims[w->num_dims - 1], *outer = &w->dims[w->num_dims - 2];
    _Alignas(64) char room[OPERANDS - 1][REPEATED_BYTES];
    int64_t most = steps_at_once(w);
    for (int k = 1; k < w->num_operands; k++) {
        size_t bytes = (size_t)(inner->step[k] * inner->size);
        for (int64_t s = 0; outer->step[k] == 0 && bytes > 0 && s < most; s++)
            memcpy(room[k - 1] + (size_t)s * bytes, call->inputs[k - 1].data + offsets[k], bytes);
    }
    for (int64_t at = 0; at < outer->size; at += most) {
        int64_t steps = LEATI_MIN(outer->size - at, most);
        leati_lane lane = {.n = steps * inner->size, .failed = -1};
        lane.out = call->outputs[0].data + offsets[0] + at * outer->step[0];
        lane.out_step = inner->step[0];
        for (int k = 1; k < w->num_operands; k++) {
            bool repeated = outer->step[k] == 0 && inner->step[k] != 0;
            lane.in[k - 1] = repeated ? room[k - 1]
                                      : call->inputs[k - 1].data + offsets[k] + at * outer->step[k];
            lane.in_step[k - 1] = inner->step[k];
        }
        function(&lane);
        *failed = offsets[0] + at * outer->step[0] + lane.failed * inner->step[0];
        if (lane.failed >= 0)
            return false;
    }
    return true;
}

/* Steps the counters of all dimensions but the `skipped` innermost; false after the last. */
static bool walk_step(const walk *w, int skipped, int64_t *counters, int64_t *offsets) {
    for (int d = w->num_dims - 1 - skipped; d >= 0; d--) {
        const walk_dim *dim = &w->dims[d];
        if (++counters[d] < dim->size) {
            for (int k = 0; k < w->num_operands; k++)
                offsets[k] += dim->step[k];
            return true;
        }
        /* Past its end a dimension goes back to the start, and the next outer one steps. */
        counters[d] = 0;
        for (int k = 0; k < w->num_operands; k++)
            offsets[k] -= dim->step[k] * (dim->size - 1);
    }
    return false;
}

static bool same_dims(const leati_operand *a, const leati_operand *b) {
    for (int32_t d = 0; d < a->rank && a->rank == b->rank; d++)
        if (a->dims[d] != b->dims[d])
            return false;
    return a->rank == b->rank;
}

/* The step of an operand in a loop over all rows and values of `out` at once; -1 if it needs more
 * loops. */
static int64_t flat_step(const leati_operand *operand, const leati_operand *out, int64_t n) {
    int64_t size = (int64_t)leat_dtype_size(operand->dtype), count = operand->count;
    if (count == 1 && out->count == 1)
        return operand->row_stride;
    if (count == 1)
        return n == 1 || operand->row_stride == 0 ? 0 : -1;
    if (count == out->count && (n == 1 || operand->row_stride == count * size) &&
        same_dims(operand, out))
        return size;
    return -1;
}

/* One call of the lane for everything: operands without broadcast dimensions, rows one behind the
 * other, or constants. False if they lie otherwise; then nothing was done. */
static bool run_flat(const leati_kernel_call *call, leati_lane_function function, int64_t *failed) {
    const leati_operand *out = &call->outputs[0];
    leati_lane lane = {.n = call->n * out->count, .failed = -1, .out = out->data};
    lane.out_step = flat_step(out, out, call->n);
    if (out->data == NULL || lane.out_step < 0)
        return false;
    for (int k = 0; k < call->num_inputs; k++) {
        lane.in[k] = call->inputs[k].data;
        lane.in_step[k] = flat_step(&call->inputs[k], out, call->n);
        if (lane.in_step[k] < 0)
            return false;
    }
    run_in_parts(function, &lane, call->num_inputs);
    /* Values of all rows are counted through: the row is what a division gives. */
    *failed = lane.failed < 0 ? -1 : lane.failed / (out->count > 0 ? out->count : 1);
    return true;
}

/* How many values one step of the walk computes. */
static int64_t work_of_lane(const walk *w, bool repeated) {
    int64_t inner = w->num_dims > 0 ? w->dims[w->num_dims - 1].size : 1;
    return repeated ? inner * w->dims[w->num_dims - 2].size : inner;
}

static leat_status refuse(leati_kernel_call *call, int64_t row, const char *refusal,
                          leat_error *err) {
    call->failed_row = row;
    return leati_refuse(err, VALUE, "%s", refusal);
}

leat_status leati_elementwise(leati_kernel_call *call, leati_lane_function function,
                              const char *refusal, leat_error *err) {
    int64_t failed = -1;
    if (run_flat(call, function, &failed))
        return failed < 0 ? LEAT_OK : refuse(call, failed, refusal, err);
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    for (int k = 1; k < call->num_inputs; k++) {
        leat_shape other = leati_support_operand_shape(&call->inputs[k]), joined;
        LEATI_TRY(leati_op_infer_broadcast_shape(&shape, &other, &joined, err));
        shape = joined;
    }
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Without values some operands have no memory. */
    if (call->n == 0 || leati_shape_count(&shape) == 0)
        return LEAT_OK;
    walk w;
    walk_init(&w, call, &shape);
    int64_t counters[MAX_DIMS] = {0}, offsets[OPERANDS] = {0};
    bool repeated = repeats(&w);
    int64_t done = 0;
    do {
        if (leati_stop_look_after(work_of_lane(&w, repeated), &done))
            break;
        if (repeated ? !run_repeated(&w, call, function, offsets, &failed)
                     : !run_lane(&w, call, function, offsets, &failed)) {
            /* `failed` is a place in bytes of the output, whose rows are `stride` apart. */
            int64_t stride = call->outputs[0].row_stride;
            return refuse(call, call->n > 1 && stride > 0 ? failed / stride : 0, refusal, err);
        }
    } while (walk_step(&w, repeated ? 2 : 1, counters, offsets));
    return LEAT_OK;
}

leat_status leati_elementwise_by_dtype(leati_kernel_call *call, const leati_lane_function *lanes,
                                       int index, const char *refusal, leat_error *err) {
    return leati_elementwise(call, lanes[call->inputs[index].dtype], refusal, err);
}

leat_status leati_elementwise_check(const leati_infer_call *call, int index,
                                    const leati_lane_function *lanes, leat_error *err) {
    leat_dtype dtype = call->inputs[index].dtype;
    if (dtype < LEAT_NUM_DTYPES && lanes[dtype] != NULL)
        return LEAT_OK;
    char text[200] = "";
    size_t used = 0;
    for (int d = 1; d < LEAT_NUM_DTYPES && used < sizeof text; d++)
        if (lanes[d] != NULL)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "",
                                     leat_dtype_name((leat_dtype)d));
    return leati_refuse(err, DTYPE, "input %d is %s; expected one of %s (cast it)", index,
                        leat_dtype_name(dtype), text);
}
