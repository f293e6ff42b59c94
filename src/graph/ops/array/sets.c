/* set_operation, set_size, edit_distance: what the last dimension of sparse values holds, compared
 * (tf.sets.intersection and its kin, tf.sets.size, tf.edit_distance).
 *
 * A sparse value is three inputs: indices [n, rank], values [n] and a shape [rank]. All values of
 * one place of the dimensions before the last one are a group: a set, or a sequence. Values are
 * compared as numbers or as bytes; sets come out in rising order, groups in the order of their
 * places. Groups that come in order, as they do from most sources, are sorted one by one; the crew
 * shares reading them and their distances. They fail where shapes do not fit, where an index lies
 * outside of the shape, and without memory. No gradient, no locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/support/array/moving.h"
#include "graph/support/text/texts.h"
#include "run/crew.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef enum set_kind { SET_INTERSECTION, SET_UNION, SET_A_MINUS_B, SET_B_MINUS_A } set_kind;

struct sets_args {
    int64_t kind;
    bool normalize;
};

static const leati_row set_rows[] = {
    {.name = "kind",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct sets_args, kind),
     .minimum = SET_INTERSECTION,
     .maximum = SET_B_MINUS_A,
     .doc = "0: what both have; 1: what one has; 2: what the first alone has; 3: the second."},
    {0},
};
static const leati_row distance_rows[] = {
    {.name = "normalize",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct sets_args, normalize),
     .default_number = 1,
     .doc = "Divide by the length of the truth."},
    {0},
};

/* ---- inference ---- */
static leat_status want_sparse(const leati_infer_call *call, int first, int64_t *rank,
                               leat_error *err) {
    const leat_shape *indices = &call->inputs[first].shape, *shape = &call->inputs[first + 2].shape;
    LEATI_TRY(leati_support_want_dtype(call, first, LEAT_INT64, "indices", err));
    LEATI_TRY(leati_support_want_values(call, first + 1, err));
    LEATI_TRY(leati_support_want_dtype(call, first + 2, LEAT_INT64, "a shape", err));
    LEATI_TRY(leati_support_want_rank(call, first, 2, "indices", err));
    LEATI_TRY(leati_support_want_rank(call, first + 1, 1, "values", err));
    LEATI_TRY(leati_support_want_rank(call, first + 2, 1, "a shape", err));
    int64_t found[2] = {indices->rank == 2 ? indices->dims[1] : LEAT_UNKNOWN_DIM,
                        shape->rank == 1 ? shape->dims[0] : LEAT_UNKNOWN_DIM};
    for (int i = 0; i < 2; i++) {
        LEATI_TRY(leati_support_want_equal_dims(*rank, found[i], "the rank of both", err));
        *rank = *rank == LEAT_UNKNOWN_DIM ? found[i] : *rank;
    }
    if (*rank != LEAT_UNKNOWN_DIM && (*rank < 2 || *rank > LEAT_MAX_RANK))
        return leati_refuse(err, SHAPE, "a sparse value of rank %lld; expected 2 to %d",
                            (long long)*rank, LEAT_MAX_RANK);
    return LEAT_OK;
}

/* Sets have integers or strings. */
static leat_status want_members(const leati_infer_call *call, int index, leat_error *err) {
    leat_dtype dtype = call->inputs[index].dtype;
    if (leati_dtype_is_integer(dtype) || dtype == LEAT_STRING)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "values are %s; expected integers or strings",
                        leat_dtype_name(dtype));
}

/* A dense result with a value for each group. */
static leat_status infer_groups(leati_infer_call *call, leat_dtype dtype, int64_t rank,
                                leat_error *err) {
    leat_shape shape = {.rank = rank < 2 ? LEAT_UNKNOWN_RANK : (int32_t)rank - 1};
    for (int32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = LEAT_UNKNOWN_DIM;
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

static leat_status set_operation_infer(leati_infer_call *call, leat_error *err) {
    int64_t rank = LEAT_UNKNOWN_DIM;
    LEATI_TRY(want_sparse(call, 0, &rank, err));
    LEATI_TRY(want_sparse(call, 3, &rank, err));
    LEATI_TRY(want_members(call, 1, err));
    leat_dtype dtype = call->inputs[1].dtype;
    if (call->inputs[4].dtype != dtype)
        return leati_refuse(err, DTYPE, "values are %s and %s; expected one dtype",
                            leat_dtype_name(dtype), leat_dtype_name(call->inputs[4].dtype));
    leat_shape indices = LEAT_SHAPE(LEAT_UNKNOWN_DIM, rank), values = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    leat_shape shape = LEAT_SHAPE(rank);
    LEATI_TRY(leati_op_infer_output(call, LEAT_INT64, &indices, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, dtype, &values, NULL, err));
    return leati_op_infer_output(call, LEAT_INT64, &shape, NULL, err);
}

static leat_status set_size_infer(leati_infer_call *call, leat_error *err) {
    int64_t rank = LEAT_UNKNOWN_DIM;
    LEATI_TRY(want_sparse(call, 0, &rank, err));
    LEATI_TRY(want_members(call, 1, err));
    return infer_groups(call, LEAT_INT32, rank, err);
}

static leat_status edit_distance_infer(leati_infer_call *call, leat_error *err) {
    int64_t rank = LEAT_UNKNOWN_DIM;
    LEATI_TRY(want_sparse(call, 0, &rank, err));
    LEATI_TRY(want_sparse(call, 3, &rank, err));
    if (call->inputs[1].dtype != call->inputs[4].dtype)
        return leati_refuse(err, DTYPE, "values are %s and %s; expected one dtype",
                            leat_dtype_name(call->inputs[1].dtype),
                            leat_dtype_name(call->inputs[4].dtype));
    return infer_groups(call, LEAT_FLOAT32, rank, err);
}

/* ---- groups ---- */
typedef struct element {
    int64_t group, from;     /* from: its place among the values */
    int64_t number, second;  /* as whom it is compared, of numbers; second: the imaginary part */
    const leat_string *text; /* of strings; else NULL */
} element;

typedef struct elements {
    element *all;
    int64_t count;
} elements;

static int compare_values(const element *a, const element *b) {
    if (a->text == NULL)
        return a->number != b->number ? (a->number < b->number ? -1 : 1)
                                      : (a->second > b->second) - (a->second < b->second);
    size_t shorter = LEATI_MIN(a->text->size, b->text->size);
    int order = shorter > 0 ? memcmp(a->text->data, b->text->data, shorter) : 0;
    if (order != 0 || a->text->size == b->text->size)
        return order;
    return a->text->size < b->text->size ? -1 : 1;
}

static int by_value(const void *a, const void *b) {
    const element *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return compare_values(x, y);
}

static int by_place(const void *a, const void *b) {
    const element *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->from < y->from ? -1 : 1;
}

static void sort_run(element *run, int64_t n) {
    if (n > 32) {
        qsort(run, (size_t)n, sizeof *run, by_value);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        element one = run[i];
        int64_t k = i;
        for (; k > 0 && compare_values(&one, &run[k - 1]) < 0; k--)
            run[k] = run[k - 1];
        run[k] = one;
    }
}

/* Where the group that begins at `begin` ends. */
static int64_t end_of(const elements *e, int64_t begin) {
    int64_t end = begin;
    while (end < e->count && e->all[end].group == e->all[begin].group)
        end++;
    return end;
}

/* The bits of a float, zeros of either sign alike and each NaN a number of its own. */
static int64_t bits_of(const leat_tensor *all, int64_t i) {
    double value = leati_tensor_float_at(all, i);
    int64_t bits = 0;
    if (isnan(value))
        return INT64_MIN + i;
    if (value != 0)
        memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void number_of(const leati_operand *values, int64_t i, element *out) {
    leat_tensor all = {.dtype = values->dtype, .data = values->data};
    if (leati_dtype_is_complex(values->dtype)) {
        all.dtype = leati_dtype_part(values->dtype);
        out->number = bits_of(&all, 2 * i);
        out->second = bits_of(&all, 2 * i + 1);
    } else {
        out->number = leati_graph_dtype_is_floating(values->dtype) ? bits_of(&all, i)
                                                                   : leati_tensor_int_at(&all, i);
    }
}

/* What a sparse value is to fit: the dimensions in front of the last one. */
static leat_status check_sparse(const leati_kernel_call *call, int first, leat_error *err) {
    const leati_operand *in = call->inputs + first;
    if (in[0].rank == 2 && in[1].rank == 1 && in[2].rank == 1 && in[0].dims[1] == in[2].count &&
        in[0].dims[0] == in[1].count && in[2].count >= 2 && in[2].count <= LEAT_MAX_RANK)
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "indices of rank %d, %lld values and a shape of %lld dimensions; expected "
                        "[n, rank], [n] and [rank], of at least 2",
                        (int)in[0].rank, (long long)in[1].count, (long long)in[2].count);
}

static leat_status group_of(const int64_t *index, const leat_shape *groups, int64_t *out,
                            leat_error *err) {
    int64_t group = 0;
    for (int32_t d = 0; d < groups->rank; d++) {
        if (index[d] < 0 || index[d] >= groups->dims[d])
            return leati_refuse(err, VALUE,
                                "index %lld of dimension %d is out of bounds; expected "
                                "0 to %lld",
                                (long long)index[d], (int)d, (long long)groups->dims[d] - 1);
        if (__builtin_mul_overflow(group, groups->dims[d], &group) ||
            __builtin_add_overflow(group, index[d], &group))
            return leati_refuse(err, SHAPE, "there are more groups than an int64 counts");
    }
    *out = group;
    return LEAT_OK;
}

/* A pass over the values of a sparse value. */
typedef struct reading {
    const leati_operand *in;
    const leat_shape *groups;
    element *all;
    atomic_bool failed, falls; /* an index fits no group; groups do not come in order */
} reading;

static leat_status read_element(const reading *r, int64_t i, element *out, leat_error *err) {
    *out = (element){.from = i};
    if (r->in[1].dtype == LEAT_STRING)
        out->text = (const leat_string *)(const void *)r->in[1].data + i;
    else
        number_of(&r->in[1], i, out);
    return group_of((const int64_t *)(const void *)r->in[0].data + i * r->in[0].dims[1], r->groups,
                    &out->group, err);
}

static void read_steps(void *data, int64_t begin, int64_t end) {
    reading *r = data;
    leat_error err = {0};
    element before = {.group = INT64_MIN};
    bool failed = begin > 0 && read_element(r, begin - 1, &before, &err) != LEAT_OK, falls = false;
    for (int64_t i = begin; i < end && !failed; i++) {
        failed = read_element(r, i, &r->all[i], &err) != LEAT_OK;
        falls |= r->all[i].group < before.group;
        before.group = r->all[i].group;
    }
    if (failed)
        atomic_store(&r->failed, true);
    if (falls)
        atomic_store(&r->falls, true);
}

/* The elements of the sparse value whose inputs begin at `first`, group by group: by value, or as
 * they came. */
static leat_status find_elements(leati_kernel_call *call, int first, const leat_shape *groups,
                                 bool sorted, elements *out, leat_error *err) {
    enum { BYTES = 128 }; /* that could be moved while an element is read */
    reading r = {.in = call->inputs + first, .groups = groups};
    out->count = r.in[1].count;
    out->all = leati_arena_alloc(call->arena, (size_t)LEATI_MAX(out->count, 1) * sizeof(element));
    if (out->all == NULL)
        return leati_no_memory(err);
    r.all = out->all;
    leati_moving_share(out->count, BYTES, read_steps, &r);
    /* The first that fails is found again, for the text. */
    for (int64_t i = 0; atomic_load(&r.failed) && i < out->count; i++)
        LEATI_TRY(read_element(&r, i, &out->all[i], err));
    bool ordered = !atomic_load(&r.falls);
    if (!ordered)
        qsort(out->all, (size_t)out->count, sizeof(element), sorted ? by_value : by_place);
    for (int64_t i = 0; ordered && sorted && i < out->count;) {
        int64_t end = end_of(out, i);
        sort_run(out->all + i, end - i);
        i = end;
    }
    return LEAT_OK;
}

/* The dimensions of the groups of a sparse value. */
static leat_shape groups_of(const leati_operand *shape) {
    leat_shape groups = {.rank = (int32_t)shape->count - 1};
    for (int32_t d = 0; d < groups.rank; d++)
        groups.dims[d] = ((const int64_t *)(const void *)shape->data)[d];
    return groups;
}

/* ---- sets ---- */
/* Takes the next different value of a group; false: there is none. */
static bool next_value(const elements *e, int64_t *at, int64_t end, const element **out) {
    if (*at >= end)
        return false;
    *out = &e->all[*at];
    while (*at < end && compare_values(*out, &e->all[*at]) == 0)
        ++*at;
    return true;
}

/* Merges a group of both sides; `out` gets what stays; how many. */
static int64_t merge(const elements *a, int64_t a_at, int64_t a_end, const elements *b,
                     int64_t b_at, int64_t b_end, set_kind kind, const element **out) {
    int64_t count = 0;
    const element *x = NULL, *y = NULL;
    bool has_x = next_value(a, &a_at, a_end, &x), has_y = next_value(b, &b_at, b_end, &y);
    while (has_x || has_y) {
        int order = !has_y ? -1 : !has_x ? 1 : compare_values(x, y);
        bool stays = order == 0  ? kind == SET_INTERSECTION || kind == SET_UNION
                     : order < 0 ? kind == SET_UNION || kind == SET_A_MINUS_B
                                 : kind == SET_UNION || kind == SET_B_MINUS_A;
        if (stays)
            out[count++] = order <= 0 ? x : y;
        if (order <= 0)
            has_x = next_value(a, &a_at, a_end, &x);
        if (order >= 0)
            has_y = next_value(b, &b_at, b_end, &y);
    }
    return count;
}

/* What a set operation found: elements, and in which group and at which place of it each is. */
typedef struct found {
    const element **all;
    int64_t *groups, *places, count, longest;
} found;

static leat_status merge_groups(leati_kernel_call *call, const elements *a, const elements *b,
                                set_kind kind, found *out, leat_error *err) {
    size_t most = (size_t)LEATI_MAX(a->count + b->count, 1);
    out->all = leati_arena_alloc(call->arena, most * sizeof *out->all);
    out->groups = leati_arena_alloc(call->arena, 2 * most * sizeof *out->groups);
    if (out->all == NULL || out->groups == NULL)
        return leati_no_memory(err);
    out->places = out->groups + most;
    for (int64_t i = 0, k = 0; i < a->count || k < b->count;) {
        int64_t group = i < a->count ? a->all[i].group : INT64_MAX;
        group = LEATI_MIN(group, k < b->count ? b->all[k].group : INT64_MAX);
        int64_t a_end = i < a->count && a->all[i].group == group ? end_of(a, i) : i;
        int64_t b_end = k < b->count && b->all[k].group == group ? end_of(b, k) : k;
        int64_t n = merge(a, i, a_end, b, k, b_end, kind, out->all + out->count);
        for (int64_t at = 0; at < n; at++) {
            out->groups[out->count + at] = group;
            out->places[out->count + at] = at;
        }
        out->count += n;
        out->longest = LEATI_MAX(out->longest, n);
        i = a_end;
        k = b_end;
    }
    return LEAT_OK;
}

static leat_status write_sets(leati_kernel_call *call, const found *f, const leat_shape *groups,
                              const elements *a, leat_error *err) {
    int64_t rank = groups->rank + 1;
    leat_shape indices = LEAT_SHAPE(f->count, rank), values = LEAT_SHAPE(f->count);
    leat_shape shape = LEAT_SHAPE(rank);
    LEATI_TRY(leati_support_output_like(call, 0, &indices, err));
    LEATI_TRY(leati_support_output_like(call, 1, &values, err));
    LEATI_TRY(leati_support_output_like(call, 2, &shape, err));
    size_t size = leat_dtype_size(call->outputs[1].dtype);
    int64_t *index = (int64_t *)(void *)call->outputs[0].data;
    int64_t *dims = (int64_t *)(void *)call->outputs[2].data;
    for (int64_t i = 0; i < f->count; i++, index += rank) {
        int64_t group = f->groups[i];
        for (int32_t d = groups->rank - 1; d >= 0; d--) {
            index[d] = group % groups->dims[d];
            group /= groups->dims[d];
        }
        index[rank - 1] = f->places[i];
        bool first = f->all[i] >= a->all && f->all[i] < a->all + a->count;
        memcpy(call->outputs[1].data + (size_t)i * size,
               call->inputs[first ? 1 : 4].data + (size_t)f->all[i]->from * size, size);
    }
    memcpy(dims, groups->dims, (size_t)groups->rank * sizeof *dims);
    dims[groups->rank] = f->longest;
    if (call->outputs[1].dtype != LEAT_STRING)
        return LEAT_OK;
    LEATI_TRY(leati_op_kernel_hold(call, 1, 1, err));
    return leati_op_kernel_hold(call, 1, 4, err);
}

static leat_status set_operation_kernel(leati_kernel_call *call, leat_error *err) {
    const struct sets_args *args = call->args;
    LEATI_TRY(check_sparse(call, 0, err));
    LEATI_TRY(check_sparse(call, 3, err));
    leat_shape groups = groups_of(&call->inputs[2]), others = groups_of(&call->inputs[5]);
    LEATI_TRY(
        leati_support_want_shape(&others, &groups, "Mismatched group shapes: the second", err));
    elements a = {0}, b = {0};
    found f = {0};
    LEATI_TRY(find_elements(call, 0, &groups, true, &a, err));
    LEATI_TRY(find_elements(call, 3, &groups, true, &b, err));
    LEATI_TRY(merge_groups(call, &a, &b, (set_kind)args->kind, &f, err));
    return write_sets(call, &f, &groups, &a, err);
}

static leat_status set_size_kernel(leati_kernel_call *call, leat_error *err) {
    LEATI_TRY(check_sparse(call, 0, err));
    leat_shape groups = groups_of(&call->inputs[2]);
    elements e = {0};
    LEATI_TRY(find_elements(call, 0, &groups, true, &e, err));
    LEATI_TRY(leati_support_output_like(call, 0, &groups, err));
    int32_t *to = (int32_t *)(void *)call->outputs[0].data;
    if (call->outputs[0].count > 0)
        memset(to, 0, (size_t)call->outputs[0].count * sizeof *to);
    for (int64_t i = 0; i < e.count;) {
        int64_t group = e.all[i].group, end = end_of(&e, i);
        const element *one = NULL;
        while (next_value(&e, &i, end, &one))
            to[group]++;
    }
    return LEAT_OK;
}

/* ---- distances ---- */
/* Levenshtein's distance of two sequences; `line` has room for one more number than b is long. */
static int64_t distance(const element *a, int64_t a_count, const element *b, int64_t b_count,
                        int64_t *line) {
    for (int64_t k = 0; k <= b_count; k++)
        line[k] = k;
    int64_t done = 0;
    for (int64_t i = 0; i < a_count && !leati_stop_look_after(4 * b_count, &done); i++) {
        int64_t corner = line[0]++;
        for (int64_t k = 0; k < b_count; k++) {
            int64_t best = corner + (compare_values(&a[i], &b[k]) != 0);
            best = LEATI_MIN(best, LEATI_MIN(line[k], line[k + 1]) + 1);
            corner = line[k + 1];
            line[k + 1] = best;
        }
    }
    return line[b_count];
}

/* The first element whose group is `group` or a later one. */
static int64_t element_from(const elements *e, int64_t group) {
    int64_t low = 0, high = e->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (e->all[middle].group < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Both sides' sequences. A step is a block of groups. */
typedef struct distances {
    elements a, b;
    int64_t groups, at_once, longest; /* longest: sequence of b */
    bool normalize;
    float *to;
    atomic_bool failed; /* no memory */
} distances;

static void distance_step(distances *d, int64_t first, int64_t *line) {
    const elements *a = &d->a, *b = &d->b;
    int64_t end = LEATI_MIN(first + d->at_once, d->groups);
    int64_t i = element_from(a, first), a_last = element_from(a, end);
    int64_t k = element_from(b, first), b_last = element_from(b, end);
    memset(d->to + first, 0, (size_t)(end - first) * sizeof *d->to);
    while (i < a_last || k < b_last) {
        int64_t group = i < a_last ? a->all[i].group : INT64_MAX;
        group = LEATI_MIN(group, k < b_last ? b->all[k].group : INT64_MAX);
        int64_t a_end = i < a_last && a->all[i].group == group ? end_of(a, i) : i;
        int64_t b_end = k < b_last && b->all[k].group == group ? end_of(b, k) : k;
        float steps = (float)distance(a->all + i, a_end - i, b->all + k, b_end - k, line);
        if (d->normalize) /* without a truth it is infinitely far */
            steps = b_end > k ? steps / (float)(b_end - k) : INFINITY;
        d->to[group] = steps;
        i = a_end;
        k = b_end;
    }
}

static void distance_steps(void *data, int64_t begin, int64_t end) {
    distances *d = data;
    int64_t *line = leati_crew_scratch((size_t)(d->longest + 1) * sizeof *line);
    if (line == NULL)
        atomic_store(&d->failed, true);
    for (int64_t step = begin; step < end && line != NULL; step++)
        distance_step(d, step * d->at_once, line);
}

static int64_t longest_of(const elements *e) {
    int64_t longest = 0;
    for (int64_t i = 0, end = 0; i < e->count; i = end) {
        end = end_of(e, i);
        longest = LEATI_MAX(longest, end - i);
    }
    return longest;
}

static leat_status edit_distance_kernel(leati_kernel_call *call, leat_error *err) {
    const struct sets_args *args = call->args;
    LEATI_TRY(check_sparse(call, 0, err));
    LEATI_TRY(check_sparse(call, 3, err));
    if (call->inputs[2].count != call->inputs[5].count)
        return leati_refuse(err, SHAPE,
                            "truth_shape and hypothesis_shape should have the same "
                            "rank, but got %lld and %lld",
                            (long long)call->inputs[5].count, (long long)call->inputs[2].count);
    leat_shape groups = groups_of(&call->inputs[2]), others = groups_of(&call->inputs[5]);
    for (int32_t d = 0; d < groups.rank; d++)
        groups.dims[d] = LEATI_MAX(groups.dims[d], others.dims[d]);
    distances d = {.normalize = args->normalize, .at_once = 64};
    LEATI_TRY(find_elements(call, 0, &groups, false, &d.a, err));
    LEATI_TRY(find_elements(call, 3, &groups, false, &d.b, err));
    LEATI_TRY(leati_support_output_like(call, 0, &groups, err));
    d.groups = call->outputs[0].count;
    d.to = (float *)(void *)call->outputs[0].data;
    d.longest = longest_of(&d.b);
    /* About what a step compares; sequences of one length are the most. */
    double each = (double)d.a.count / (double)LEATI_MAX(d.groups, 1) * (double)d.longest;
    int64_t bytes = (int64_t)LEATI_MIN(each * 32 + 64, 1e9) * d.at_once;
    leati_moving_share((d.groups + d.at_once - 1) / d.at_once, bytes, distance_steps, &d);
    return atomic_load(&d.failed) ? leati_no_memory(err) : LEAT_OK;
}

const leati_tensor_op leati_tensor_op_set_operation = {
    .name = "set_operation",
    .version = 1,
    .doc = "What two sparse values have in common in each set, or what they have together or apart "
           "(tf.raw_ops.SparseToSparseSetOperation).",
    .types = "int64 T int64 int64 T int64",
    .outputs = "result_indices result_values result_shape",
    .halves = LEATI_HALVES_NONE,
    .rows = set_rows,
    .args_size = sizeof(struct sets_args),
    .min_inputs = 6,
    .max_inputs = 6,
    .infer = set_operation_infer,
    .kernel = set_operation_kernel,
};

const leati_tensor_op leati_tensor_op_set_size = {
    .name = "set_size",
    .version = 1,
    .doc = "How many different values each set of a sparse value has (tf.raw_ops.SetSize).",
    .types = "int64 T int64",
    .outputs = "size",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = set_size_infer,
    .kernel = set_size_kernel,
};

const leati_tensor_op leati_tensor_op_edit_distance = {
    .name = "edit_distance",
    .version = 1,
    .doc = "Levenshtein's distance between the sequences of two sparse values "
           "(tf.raw_ops.EditDistance).",
    .types = "int64 T int64 int64 T int64",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = distance_rows,
    .args_size = sizeof(struct sets_args),
    .min_inputs = 6,
    .max_inputs = 6,
    .infer = edit_distance_infer,
    .kernel = edit_distance_kernel,
};
