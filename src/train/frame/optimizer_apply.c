/* One application of an optimizer: gradients are summed over replicas, clipped, accumulated, each
 * variable is decayed and updated, averages are moved, the step is counted.
 *
 * All state is given, so that whoever keeps it (a leat_optimizer, a binding's own variables) gets
 * the same operations. Failures are the graph's, or RESOURCE_EXHAUSTED. No state, no locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/half.h"
#include "graph/support/nn/adam.h"
#include "graph/support/support.h"
#include "graph/variable.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"
#include "train/frame/slices.h"
#include <math.h>

/* What the steps of one application share. */
struct application {
    leati_application given;
    leat_value updates;   /* updates so far, int64 */
    leat_value is_update; /* bool: does this step update? Only where gradients accumulate */
    leat_value *before;   /* owned: values of variables and slots before it, to be restored */
    leat_value *slices;   /* owned: gradients that have slices, which count; else failed values */
    bool shares;          /* do replicas add gradients up? */
};

/* Sums the gradients over replicas, the last layer's first, since those are ready first; as few
 * exchanges as dtypes and the room of one operation allow. */
static void reduce_gradients(struct application *a) {
    for (int end = a->given.count; end > 0;) {
        leat_value packed[LEAT_MAX_OUTPUTS], sums[LEAT_MAX_OUTPUTS];
        leat_dtype dtype = leat_value_dtype(a->given.gradients[end - 1]);
        int count = 0;
        /* One exchange carries one dtype; gradients of another one begin the next. */
        while (count < end && count < LEAT_MAX_OUTPUTS &&
               leat_value_dtype(a->given.gradients[end - 1 - count]) == dtype) {
            packed[count] = a->given.gradients[end - 1 - count];
            count++;
        }
        leat_op_all_reduce(packed, count, LEAT_AGGREGATION_SUM, sums);
        for (int i = 0; i < count; i++)
            a->given.gradients[end - 1 - i] = sums[i];
        end -= count;
    }
}

static leat_value integer(const struct application *a, int64_t number) {
    return leati_support_number(a->given.graph, LEAT_INT64, (double)number);
}

static leat_value as_dtype(leat_value value, leat_dtype dtype) {
    /* No cast to the same dtype, which would be an operation in every step. */
    return leat_value_dtype(value) == dtype ? value : leat_op_cast(value, dtype);
}

static leat_value rate_of(const struct application *a, leat_dtype dtype) {
    return as_dtype(a->given.learning_rate, dtype);
}

/* What a step that only accumulates leaves as it was, number `index`: variables and their slots,
 * one after the other, what they share, and the others. NULL behind the last one. */
static leat_variable *kept_variable(const struct application *a, int index) {
    for (int i = 0; i < a->given.count; i++) {
        const leati_slots *slots = &a->given.slots[i];
        /* Index 0 is the variable, then its slots, without average and accumulator. */
        if (index <= slots->count)
            return index == 0 ? slots->variable : slots->own[index - 1];
        index -= slots->count + 1;
    }
    if (a->given.common != NULL && index-- == 0)
        return a->given.common;
    bool is_other = a->given.own != NULL && index < a->given.own->num_others;
    return is_other ? a->given.own->others[index] : NULL;
}

/* Adds the gradients up; on every n-th step they are replaced by their mean. */
static leat_status begin_accumulation(struct application *a, leat_error *err) {
    int64_t steps = a->given.args->gradient_accumulation_steps;
    int num_kept = 0;
    while (kept_variable(a, num_kept) != NULL)
        num_kept++;
    a->before = leati_alloc((size_t)num_kept, sizeof *a->before);
    if (a->before == NULL)
        return leati_no_memory(err);
    /* The counter counts calls; `updates` counts those of them that update. */
    leat_value step = leat_graph_read(a->given.graph, a->given.iterations);
    leat_value next = leat_op_add(step, integer(a, 1));
    /* The n-th call updates: the counter is raised at the end of an application. */
    a->is_update = leat_op_equal(leat_op_floormod(next, integer(a, steps)), integer(a, 0));
    a->updates = leat_op_floordiv(step, integer(a, steps));
    for (int i = 0; i < a->given.count; i++) {
        leat_variable *accumulator = a->given.slots[i].accumulator;
        leat_value gradient = a->given.gradients[i];
        leat_value total = leat_op_add(gradient, leat_graph_read(a->given.graph, accumulator));
        leat_value divisor =
            leati_support_number(a->given.graph, leat_value_dtype(gradient), (double)steps);
        /* Without an update any gradient will do, since end_accumulation puts all back. */
        a->given.gradients[i] =
            leat_op_select(a->is_update, leat_op_divide(total, divisor), gradient);
        leat_graph_assign(a->given.graph, accumulator,
                          leat_op_select(a->is_update, leat_op_zeros_like(total), total));
    }
    /* The values before this step, which decay and updates change. */
    for (int i = 0; i < num_kept; i++)
        a->before[i] = leat_graph_read(a->given.graph, kept_variable(a, i));
    return LEAT_OK;
}

/* Puts back what a step that only accumulates has changed. */
static void end_accumulation(const struct application *a) {
    leat_variable *variable;
    for (int i = 0; (variable = kept_variable(a, i)) != NULL; i++) {
        leat_value now = leat_graph_read(a->given.graph, variable);
        /* The update was computed in any case; a step that only accumulates takes it back here. */
        leat_graph_assign_copy(a->given.graph, variable,
                               leat_op_select(a->is_update, now, a->before[i]));
    }
}

static void decay(const struct application *a, int index) {
    const leati_slots *slots = &a->given.slots[index];
    leat_variable *variable = slots->variable;
    double share = a->given.kind->decay == NULL ? a->given.args->weight_decay
                                                : a->given.kind->decay(a->given.args, slots->count);
    /* NaN and 0 mean no decay. */
    if (!(share > 0) || (a->given.keeps != NULL && a->given.keeps[index]))
        return;
    leat_value value = leat_graph_read(a->given.graph, variable);
    /* Decay is a part of the rate, apart from the gradient (Loshchilov and Hutter's decoupled
     * decay). */
    leat_value part = leat_op_multiply(leati_support_times(value, share),
                                       rate_of(a, leat_variable_dtype(variable)));
    leat_graph_assign_copy(a->given.graph, variable, leat_op_subtract(value, part));
}

static leat_status update(const struct application *a, int index, leat_error *err) {
    const leati_slots *slots = &a->given.slots[index];
    leat_value gradient = a->given.gradients[index];
    const leat_own_updates *own = a->given.own;
    if (own != NULL && own->update != NULL)
        /* A failure is the graph's already. */
        return leati_support_value_failed(gradient)
                   ? LEAT_OK
                   : own->update(own->data, index, gradient, a->given.learning_rate, err);
    leat_variable *variable = slots->variable;
    const leati_update one = {.graph = a->given.graph,
                              .args = a->given.args,
                              .variable = variable,
                              .slots = slots->own,
                              .num_slots = slots->count,
                              .common = a->given.common,
                              .gradient = gradient,
                              .slices = a->slices[index],
                              .shares = a->shares,
                              .learning_rate = rate_of(a, leat_variable_dtype(variable)),
                              .step = leat_op_add(a->updates, integer(a, 1))};
    /* Once per application, before the first variable; with `alone` what variables share stays. */
    if (index == 0 && a->given.kind->begin != NULL && !a->given.alone)
        a->given.kind->begin(&one);
    a->given.kind->update(&one);
    return LEAT_OK;
}

static leat_status update_all(const struct application *a, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int i = 0; i < a->given.count && status == LEAT_OK; i++)
        status = update(a, i, err);
    return status;
}

/* average = momentum * average + (1 - momentum) * variable; the first one is the variable. */
static void average(const struct application *a, const leati_slots *slots) {
    leat_variable *kept = slots->average, *variable = slots->variable;
    leat_dtype dtype = leat_variable_dtype(variable);
    leat_value later = leat_op_cast(leat_op_not_equal(a->updates, integer(a, 0)), dtype);
    /* At update 0 momentum times 0 makes the average the variable itself. */
    leat_value momentum = leati_support_times(later, a->given.args->ema_momentum);
    leat_value rest = leat_op_subtract(leati_support_number(a->given.graph, dtype, 1), momentum);
    leat_value value = leat_graph_read(a->given.graph, variable);
    leat_value mean = leat_op_add(leat_op_multiply(momentum, leat_graph_read(a->given.graph, kept)),
                                  leat_op_multiply(rest, value));
    leat_graph_assign(a->given.graph, kept, mean);
    /* No operations are added where averages never replace variables. */
    if (a->given.args->ema_overwrite_frequency == 0)
        return;
    leat_value next = leat_op_add(a->updates, integer(a, 1));
    leat_value place = leat_op_floormod(next, integer(a, a->given.args->ema_overwrite_frequency));
    leat_value due = leat_op_equal(place, integer(a, 0));
    /* Assigned also where it is not due, then with its own value. */
    leat_graph_assign_copy(a->given.graph, variable, leat_op_select(due, mean, value));
}

/* ---- slices ---- */

/* The sum of what becomes of each slice, on all replicas. */
static leat_value sum_of_slices(leat_value gradient, bool shares, leati_slices_map each) {
    leat_value sum = leati_slices_sum(gradient, each, NULL);
    if (shares)
        leat_op_all_reduce(&sum, 1, LEAT_AGGREGATION_SUM, &sum);
    return sum;
}

/* Notes which gradients have slices, whatever becomes of the gradients, and clips these by value.
 */
static leat_status find_slices(struct application *a, leat_error *err) {
    const struct leati_optimizer_args *args = a->given.args;
    a->slices = leati_alloc((size_t)a->given.count, sizeof *a->slices);
    if (a->slices == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < a->given.count; i++) {
        leat_value *gradient = &a->given.gradients[i];
        /* Where gradients accumulate, rows are added up before anything else. */
        bool counts = !args->exact_slices && args->gradient_accumulation_steps <= 1 &&
                      leati_slices_are_in(*gradient);
        if (counts && args->clipvalue > 0)
            *gradient = leati_slices_sum(*gradient, leati_slices_clip, &args->clipvalue);
        a->slices[i] = counts ? *gradient : leati_loss_failed_value(*gradient);
    }
    return LEAT_OK;
}

/* Clips, by norms of slices where they count. Of all gradients together rows are added up then. */
static leat_status clip(struct application *a, leat_error *err) {
    const struct leati_optimizer_args *args = a->given.args;
    bool measures = args->clipnorm > 0 || args->global_clipnorm > 0;
    leat_value *squares = leati_alloc((size_t)a->given.count, sizeof *squares);
    if (squares == NULL)
        return leati_no_memory(err);
    for (int i = 0; i < a->given.count; i++) {
        leat_value slices = a->slices[i];
        squares[i] = slices;
        if (!measures || slices.id < 0)
            continue;
        squares[i] = sum_of_slices(slices, a->shares, leati_slices_square);
        a->slices[i] = args->clipnorm > 0
                           ? leati_optimizer_clip_slices(slices, squares[i], args->clipnorm)
                           : leati_loss_failed_value(slices);
    }
    leati_optimizer_clip_gradients(args, a->given.gradients, squares, a->given.count);
    leati_free(squares);
    return LEAT_OK;
}

/* The updates without all that goes before and behind them. */
static leat_status apply_alone(struct application *a, leat_error *err) {
    int64_t steps = a->given.args->gradient_accumulation_steps;
    leat_value step = leat_graph_read(a->given.graph, a->given.iterations);
    a->updates = steps > 1 ? leat_op_floordiv(step, integer(a, steps)) : step;
    LEATI_TRY(find_slices(a, err));
    return update_all(a, err);
}

static leat_status apply(struct application *a, leat_error *err) {
    bool accumulates = a->given.args->gradient_accumulation_steps > 1;
    leat_status status = LEAT_OK;
    /* All variables of an optimizer have as many copies: the first one speaks for them. */
    const leat_variable *first = a->given.slots[0].variable;
    a->shares = first->num_copies + first->num_elsewhere > 1;
    LEATI_TRY(find_slices(a, err));
    if (a->shares)
        reduce_gradients(a);
    if (accumulates)
        status = begin_accumulation(a, err);
    else
        a->updates = leat_graph_read(a->given.graph, a->given.iterations);
    if (status != LEAT_OK)
        return status;
    /* Behind the sum and the accumulation: what is clipped is the gradient of the whole batch. */
    LEATI_TRY(clip(a, err));
    for (int i = 0; i < a->given.count; i++)
        /* Decay goes first: the update reads the variable that has been decayed. */
        decay(a, i);
    status = update_all(a, err);
    /* Before the averages, which take in what the step has really left. */
    if (accumulates && status == LEAT_OK)
        end_accumulation(a);
    if (status != LEAT_OK)
        return status;
    int num_variables = a->given.count + (a->given.own == NULL ? 0 : a->given.own->num_idle);
    /* Idle variables have no gradient, yet their averages move, as in Keras. */
    for (int i = 0; i < num_variables && a->given.args->use_ema; i++)
        average(a, &a->given.slots[i]);
    leat_graph_assign_add(a->given.graph, a->given.iterations, integer(a, 1));
    return LEAT_OK;
}

/* ---- for updates ---- */

leat_value leati_optimizer_square(const leati_update *update) {
    return update->slices.id < 0
               ? leat_op_square(update->gradient)
               : sum_of_slices(update->slices, update->shares, leati_slices_square);
}

static leat_value one_minus(leat_value value) {
    return leat_op_subtract(leati_support_number(value.graph, leat_value_dtype(value), 1), value);
}

/* Adam's formula from elementary operations. */
static void compose_adam(const leati_update *update, leat_value learning_rate,
                         const leati_optimizer_moments *moments) {
    leat_graph *graph = update->graph;
    leat_dtype dtype = leat_variable_dtype(update->variable);
    /* Both corrections in one factor, sqrt(1 - beta_2^t) / (1 - beta_1^t), as in Adam's paper,
     * section 2. */
    leat_value power_1 = leati_optimizer_power_of_step(update, moments->beta_1);
    leat_value power_2 = leati_optimizer_power_of_step(update, moments->beta_2);
    leat_value root = leat_op_sqrt(one_minus(power_2));
    leat_value alpha = leat_op_divide(leat_op_multiply(learning_rate, root), one_minus(power_1));
    leat_value m = leati_optimizer_slot_toward(update, 0, update->gradient, moments->beta_1);
    leat_value v =
        leati_optimizer_slot_toward(update, 1, leati_optimizer_square(update), moments->beta_2);
    if (moments->amsgrad) {
        /* The largest of the plain moments, not of the corrected ones, as Keras takes it. */
        v = leat_op_maximum(leat_graph_read(graph, update->slots[2]), v);
        leat_graph_assign(graph, update->slots[2], v);
    }
    leat_value divisor =
        leat_op_add(leat_op_sqrt(v), leati_support_number(graph, dtype, moments->epsilon));
    leat_value change = leat_op_divide(leat_op_multiply(m, alpha), divisor);
    leat_graph_assign(graph, update->variable,
                      leat_op_subtract(leat_graph_read(graph, update->variable), change));
}

void leati_optimizer_step_adam(const leati_update *update, leat_value learning_rate,
                               const leati_optimizer_moments *moments) {
    leat_dtype dtype = leat_variable_dtype(update->variable);
    if (moments->amsgrad || dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16) {
        /* The one operation keeps no third slot, and halves are rounded after each step. */
        compose_adam(update, learning_rate, moments);
        return;
    }
    leat_variable *const variables[] = {update->variable, update->slots[0], update->slots[1]};
    /* The operation squares a plain gradient itself. */
    leat_value squares = update->slices.id < 0 ? update->slices : leati_optimizer_square(update);
    leati_adam_build(variables,
                     (leat_value[]){update->gradient, learning_rate, update->step, squares},
                     moments->beta_1, moments->beta_2, moments->epsilon);
}

leat_value leati_optimizer_magnitude(const leati_update *update) {
    return update->slices.id < 0
               ? leat_op_abs(update->gradient)
               : sum_of_slices(update->slices, update->shares, leati_slices_magnitude);
}

leat_value leati_optimizer_slot_mean(const leati_update *update, int slot, leat_value value,
                                     double keep) {
    leat_value old = leat_graph_read(update->graph, update->slots[slot]);
    leat_value mean =
        leat_op_add(leati_support_times(old, keep), leati_support_times(value, 1 - keep));
    leat_graph_assign(update->graph, update->slots[slot], mean);
    return mean;
}

leat_value leati_optimizer_slot_toward(const leati_update *update, int slot, leat_value value,
                                       double keep) {
    leat_value old = leat_graph_read(update->graph, update->slots[slot]);
    leat_value moved =
        leat_op_add(old, leati_support_times(leat_op_subtract(value, old), 1 - keep));
    leat_graph_assign(update->graph, update->slots[slot], moved);
    return moved;
}

double leati_optimizer_rounded(const leati_update *update, double number) {
    switch (leat_variable_dtype(update->variable)) {
    case LEAT_FLOAT32: return (double)(float)number;
    case LEAT_FLOAT16: return (double)leati_float_of_half(leati_half_of_float((float)number));
    case LEAT_BFLOAT16:
        return (double)leati_float_of_bfloat16(leati_bfloat16_of_float((float)number));
    default: return number;
    }
}

/* The logarithm is of float64, so the power is exact to the last bit or so. */
leat_value leati_optimizer_power_of_step(const leati_update *update, double base) {
    leat_dtype dtype = leat_variable_dtype(update->variable);
    /* log(0) is -inf, and 0 to any step from 1 on is 0. */
    if (base == 0)
        return leati_support_number(update->graph, dtype, 0);
    /* Keras holds beta in the variable's dtype, and high powers show that rounding. */
    double rounded = leati_optimizer_rounded(update, base);
    leat_value step = leat_op_cast(update->step, LEAT_FLOAT64);
    return leat_op_cast(leat_op_exp(leati_support_times(step, log(rounded))), dtype);
}

void leati_optimizer_step_back(const leati_update *update, leat_value change) {
    leat_value value = leat_graph_read(update->graph, update->variable);
    leat_graph_assign_copy(update->graph, update->variable, leat_op_subtract(value, change));
}

leat_status leati_optimizer_apply(const leati_application *application, leat_error *err) {
    struct application a = {.given = *application};
    leat_status status = application->alone ? apply_alone(&a, err) : apply(&a, err);
    leati_free(a.before);
    leati_free(a.slices);
    return status;
}
