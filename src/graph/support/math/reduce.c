/* The engine of reductions; see reduce.h.
 *
 * The dimensions of a row, reduced and kept ones alternating after neighbours of a kind are merged,
 * are walked recursively down to the two innermost, which are one call of a loop. A row of many
 * values is cut along one dimension into pieces, by the row's shape alone; where a piece has only
 * some of the values of its results, accumulators of all pieces are merged in order. Small rows are
 * pieces several together. Accumulators that do not fit a piece's own come from the call's arena.
 * Fails without memory and on dtypes that inference refuses. No locks: the crew shares the pieces.
 */
#include "graph/support/math/reduce.h"

#include "base/minmax.h"
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/kernel_host.h"
#include "graph/support/math/reduce_lines.h"
#include "run/crew.h"
#include <string.h>

leat_status leati_reduce_mask(const leati_ints *axes, int32_t rank, bool *mask, leat_error *err) {
    for (int32_t d = 0; d < rank; d++)
        /* No list means all dimensions, an empty list none. */
        mask[d] = axes->values == NULL;
    return leati_support_mark_axes(axes, rank, mask, err);
}

leat_shape leati_reduce_shape(const leat_shape *in, const bool *mask, bool keepdims) {
    leat_shape out = {.rank = 0};
    for (int32_t d = 0; d < in->rank; d++)
        if (!mask[d] || keepdims)
            out.dims[out.rank++] = mask[d] ? 1 : in->dims[d];
    return out;
}

leat_status leati_reduce_infer_as(leati_infer_call *call, leat_dtype dtype, leat_error *err) {
    const struct leati_reduce_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    if (call->unknown != 0) { /* the axes */
        shape.rank = args->keepdims ? in->rank : LEAT_UNKNOWN_RANK;
        for (int32_t d = 0; d < shape.rank; d++)
            shape.dims[d] = LEAT_UNKNOWN_DIM;
    } else if (in->rank >= 0) {
        bool mask[LEAT_MAX_RANK];
        LEATI_TRY(leati_reduce_mask(&args->axis, in->rank, mask, err));
        shape = leati_reduce_shape(in, mask, args->keepdims);
    } else if (args->axis.values == NULL && !args->keepdims) {
        /* Even of an unknown rank, all dimensions become a scalar. */
        shape = LEAT_SCALAR;
    }
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

/* ---- the walk ---- */
enum { PIECE = 1 << 16, WIDE = 256 }; /* values */
enum { ROOM = 1 << 15 };              /* bytes */
#define NS_PER_BYTE 0.06

typedef struct reduce_dim {
    int64_t size, step; /* bytes of the input */
    int64_t acc_step;   /* accumulators; 0: reduced */
} reduce_dim;

typedef struct reduce_plan {
    const leati_reduce_loops *loops;
    const leati_operand *in, *out;
    int num_dims;
    reduce_dim dims[LEAT_MAX_RANK];
    int64_t among;       /* values of each result, where a mean is asked for; else 1 */
    int cut;             /* the dimension that is cut; num_dims: none */
    int64_t part, parts; /* steps of a part of it, and how many there are; of whole rows likewise */
    bool joins;          /* pieces share results: reduced dimensions outside are cut, too */
    int64_t results;     /* most of a piece */
    char *room;          /* where pieces share results: that many accumulators for each */
    int64_t row;         /* whose pieces run */
} reduce_plan;

/* Dimensions of 1 are left out; neighbours that are both reduced or both kept become one. */
static void plan_dims(reduce_plan *plan, const bool *mask) {
    const leati_operand *in = plan->in;
    int64_t step = (int64_t)leat_dtype_size(in->dtype), acc_step = 1;
    reduce_dim found[LEAT_MAX_RANK];
    int count = 0;
    for (int32_t d = in->rank - 1; d >= 0; d--) {
        reduce_dim *inner = count > 0 ? &found[count - 1] : NULL;
        if (in->dims[d] == 1)
            continue;
        if (inner != NULL && (inner->acc_step == 0) == mask[d])
            inner->size *= in->dims[d];
        else
            /* Kept dimensions lie in the accumulators as in the result. */
            found[count++] = (reduce_dim){in->dims[d], step, mask[d] ? 0 : acc_step};
        step *= in->dims[d];
        acc_step *= mask[d] ? 1 : in->dims[d];
    }
    plan->num_dims = count;
    for (int d = 0; d < count; d++)
        plan->dims[d] = found[count - 1 - d];
}

/* Lines of a few values side by side are added as longer ones, which are merged at the end. */
static void add_short(const reduce_plan *plan, leati_reduce_lines lines) {
    _Alignas(64) char room[WIDE * sizeof(uint64_t)];
    size_t size = plan->loops->size;
    char *to = lines.to;
    int64_t together = WIDE / lines.n, n = together * lines.n;
    leati_reduce_lines wide = {room, lines.from, n, lines.count / together, n, 1, 0, 0};
    plan->loops->start(room, n);
    plan->loops->add(&wide);
    for (int64_t k = 0; k < together; k++)
        plan->loops->merge(to, room + (size_t)(k * lines.n) * size, lines.n);
    lines.from += wide.count * n * plan->dims[plan->num_dims - 1].step;
    lines.count -= wide.count * together;
    plan->loops->add(&lines);
}

/* As many blocks of lines as there are, some at a time. */
static void walk_blocks(const reduce_plan *plan, bool folds, const leati_reduce_lines *all,
                        int64_t *done) {
    size_t from_size = (size_t)leat_dtype_size(plan->in->dtype), size = plan->loops->size;
    int64_t most = LEATI_MAX(LEATI_STOP_WORK / (all->n * all->count), 1);
    for (int64_t b = 0; b < all->blocks; b += most) {
        leati_reduce_lines some = *all;
        some.from += (size_t)(b * all->block_step) * from_size;
        some.to = (char *)all->to + (size_t)(b * all->block_to) * size;
        some.blocks = LEATI_MIN(all->blocks - b, most);
        if (folds)
            plan->loops->fold(&some);
        else if (some.blocks == 1 && all->n <= WIDE / 4 && all->n == all->step &&
                 all->count >= 8 * WIDE / all->n)
            add_short(plan, some);
        else
            plan->loops->add(&some);
        if (leati_stop_look_after(some.blocks * some.count * some.n, done))
            return;
    }
}

/* The three innermost dimensions, or those that there are. Very long lines, and many of them that
 * one block adds, are taken in parts. */
static void walk_lines(const reduce_plan *plan, const int64_t *sizes, char *to, const char *from,
                       int64_t *done) {
    int last = plan->num_dims - 1;
    const reduce_dim *dims = plan->dims;
    int64_t value = (int64_t)leat_dtype_size(plan->in->dtype);
    bool folds = last < 0 || dims[last].acc_step == 0;
    leati_reduce_lines lines = {to, from, 1, 1, 1, 1, 0, 0};
    if (last >= 0)
        lines.n = lines.step = sizes[last];
    if (last >= 1) {
        lines.count = sizes[last - 1];
        lines.step = dims[last - 1].step / value;
    }
    if (last >= 2) {
        lines.blocks = sizes[last - 2];
        lines.block_step = dims[last - 2].step / value;
        lines.block_to = dims[last - 2].acc_step;
    }
    int64_t most = LEATI_MAX(LEATI_STOP_WORK / lines.n, 1), count = lines.count;
    if (lines.blocks > 1 || count <= most) {
        walk_blocks(plan, folds, &lines, done);
        return;
    }
    for (int64_t k = 0; k < count && *done < LEATI_STOP_WORK; k += most) {
        lines.from = from + (size_t)(k * lines.step * value);
        lines.to = to + (folds ? (size_t)k * plan->loops->size : 0);
        lines.count = LEATI_MIN(count - k, most);
        walk_blocks(plan, folds, &lines, done);
    }
}

/* Dimensions `d` and those inside, of the given sizes. At most LEAT_MAX_RANK deep. */
static void walk(const reduce_plan *plan, const int64_t *sizes, int d, char *to, const char *from,
                 int64_t *done) {
    const reduce_dim *dim = &plan->dims[d];
    if (d + 3 >= plan->num_dims) {
        walk_lines(plan, sizes, to, from, done);
        return;
    }
    for (int64_t i = 0; i < sizes[d] && *done < LEATI_STOP_WORK; i++)
        walk(plan, sizes, d + 1, to + (size_t)(i * dim->acc_step) * plan->loops->size,
             from + i * dim->step, done);
}

/* ---- pieces ---- */
/* Where one piece of a row begins, and what it has. */
typedef struct reduce_piece {
    int64_t sizes[LEAT_MAX_RANK];
    int64_t from;        /* bytes */
    int64_t to, results; /* accumulators */
} reduce_piece;

static reduce_piece piece_of(const reduce_plan *plan, int64_t index) {
    reduce_piece piece = {.results = 1};
    const reduce_dim *dims = plan->dims;
    int64_t outside = index / plan->parts, begin = index % plan->parts * plan->part;
    for (int d = plan->num_dims - 1; d >= 0; d--) {
        int64_t at = 0;
        piece.sizes[d] = dims[d].size;
        if (d == plan->cut) {
            at = begin;
            piece.sizes[d] = LEATI_MIN(dims[d].size - begin, plan->part);
        } else if (d < plan->cut && (plan->joins || dims[d].acc_step != 0)) {
            at = outside % dims[d].size;
            outside /= dims[d].size;
            piece.sizes[d] = 1;
        }
        piece.from += at * dims[d].step;
        piece.to += at * dims[d].acc_step;
        piece.results *= dims[d].acc_step != 0 ? piece.sizes[d] : 1;
    }
    return piece;
}

static void run_piece(void *data, int64_t index) {
    const reduce_plan *plan = data;
    const leati_operand *out = plan->out;
    reduce_piece piece = piece_of(plan, index);
    _Alignas(64) char own[ROOM];
    char *acc =
        plan->joins ? plan->room + (size_t)(index * plan->results) * plan->loops->size : own;
    int64_t done = 0;
    plan->loops->start(acc, piece.results);
    walk(plan, piece.sizes, 0, acc, leati_support_row_of(plan->in, plan->row) + piece.from, &done);
    if (!plan->joins)
        plan->loops->finish(leati_support_row_of(out, plan->row) +
                                (size_t)piece.to * leat_dtype_size(out->dtype),
                            acc, piece.results, plan->among);
}

/* Some whole rows. */
static void run_rows(void *data, int64_t index) {
    const reduce_plan *plan = data;
    const leati_operand *out = plan->out;
    int64_t sizes[LEAT_MAX_RANK], done = 0;
    _Alignas(64) char acc[ROOM];
    for (int d = 0; d < plan->num_dims; d++)
        sizes[d] = plan->dims[d].size;
    int64_t end = LEATI_MIN((index + 1) * plan->part, plan->row);
    for (int64_t row = index * plan->part; row < end && done < LEATI_STOP_WORK; row++) {
        plan->loops->start(acc, out->count);
        walk(plan, sizes, 0, acc, leati_support_row_of(plan->in, row), &done);
        plan->loops->finish(leati_support_row_of(out, row), acc, out->count, plan->among);
    }
}

/* The part of the cut dimension whose results fit a piece's own room. */
static void set_part(reduce_plan *plan, int64_t part, int64_t inside) {
    int64_t most = ROOM / (int64_t)plan->loops->size / inside, size = plan->dims[plan->cut].size;
    if (plan->dims[plan->cut].acc_step != 0 && !plan->joins)
        part = LEATI_MIN(part, most);
    plan->part = LEATI_MIN(LEATI_MAX(part, 1), size);
    plan->parts = (size + plan->part - 1) / plan->part;
    plan->results = inside * (plan->dims[plan->cut].acc_step != 0 ? plan->part : 1);
}

/* Cuts a kept dimension: those outside that are kept are cut, too, reduced ones are not. */
static void cut_kept(reduce_plan *plan) {
    enum { FEW = 512 };
    int64_t inside = 1, work = plan->in->count;
    plan->joins = false;
    plan->cut = -1;
    for (int d = plan->num_dims - 1; d >= 0; d--) {
        if (plan->dims[d].acc_step == 0)
            continue;
        if (plan->cut >= 0 && inside * plan->dims[plan->cut].size > FEW)
            break;
        inside *= plan->cut >= 0 ? plan->dims[plan->cut].size : 1;
        plan->cut = d;
    }
    for (int d = 0; d <= plan->cut; d++)
        work /= plan->dims[d].acc_step != 0 ? plan->dims[d].size : 1;
    /* Neighbours in memory are read together. */
    int64_t least = plan->cut == plan->num_dims - 1 ? FEW : 1;
    set_part(plan, LEATI_MAX(PIECE / work, least), inside);
}

/* How rows are cut: by their shape alone, so that results do not depend on what runs beside. */
static void plan_cut(reduce_plan *plan) {
    int64_t inside = 1, results = 1, count = plan->in->count;
    bool fits = plan->out->count <= ROOM / (int64_t)plan->loops->size;
    plan->cut = plan->num_dims;
    if (count <= PIECE && fits) {
        plan->part = PIECE / LEATI_MAX(count, 1);
        return;
    }
    for (plan->cut--; plan->cut > 0 && inside * plan->dims[plan->cut].size <= PIECE; plan->cut--) {
        inside *= plan->dims[plan->cut].size;
        results *= plan->dims[plan->cut].acc_step != 0 ? plan->dims[plan->cut].size : 1;
    }
    for (int d = 0; d <= plan->cut; d++)
        plan->joins = plan->joins || plan->dims[d].acc_step == 0;
    set_part(plan, PIECE / inside, results);
    bool roomy = plan->results * (int64_t)plan->loops->size <= ROOM;
    /* Merging is little work only where each result has many values. */
    if (plan->joins ? plan->part * inside < 16 * plan->results : !roomy)
        cut_kept(plan);
}

/* ---- whole rows and rows in pieces ---- */
static leat_status reduce_cut(reduce_plan *plan, leati_kernel_call *call, leat_error *err) {
    const leati_operand *out = plan->out;
    int64_t pieces = plan->parts;
    size_t size = plan->loops->size, slots = 0, bytes = 0;
    for (int d = 0; d < plan->cut; d++)
        pieces *= plan->joins || plan->dims[d].acc_step != 0 ? plan->dims[d].size : 1;
    /* The accumulators of all results stand behind those of the pieces. */
    if (!leati_mul_size((size_t)(pieces * plan->results), size, &slots) ||
        !leati_mul_size((size_t)out->count, size, &bytes))
        return leati_no_memory(err);
    if (plan->joins) {
        plan->room = leati_arena_alloc(call->arena, slots + bytes);
        if (plan->room == NULL)
            return leati_no_memory(err);
    }
    double ns = (double)plan->in->count * (double)leat_dtype_size(plan->in->dtype) * NS_PER_BYTE;
    for (plan->row = 0; plan->row < call->n && !leati_stop_stopped(); plan->row++) {
        leati_crew_share(ns, pieces, run_piece, plan);
        if (!plan->joins)
            continue;
        char *all = plan->room + slots;
        plan->loops->start(all, out->count);
        for (int64_t k = 0; k < pieces; k++) {
            reduce_piece piece = piece_of(plan, k);
            plan->loops->merge(all + (size_t)piece.to * size,
                               plan->room + (size_t)(k * plan->results) * size, piece.results);
        }
        plan->loops->finish(leati_support_row_of(out, plan->row), all, out->count, plan->among);
    }
    return LEAT_OK;
}

/* Of no values, results are what accumulators begin with. */
static void reduce_nothing(const reduce_plan *plan, int64_t rows) {
    _Alignas(64) char acc[ROOM];
    int64_t most = ROOM / (int64_t)plan->loops->size;
    size_t size = leat_dtype_size(plan->out->dtype);
    plan->loops->start(acc, LEATI_MIN(plan->out->count, most));
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < plan->out->count; i += most)
            plan->loops->finish(leati_support_row_of(plan->out, row) + (size_t)i * size, acc,
                                LEATI_MIN(plan->out->count - i, most), plan->among);
}

/* Sums and means of complex numbers: of their parts, along one more dimension that is kept. */
static leat_status reduce_parts(leati_kernel_call *call, const bool *mask, leati_reduce_kind kind,
                                leat_error *err) {
    leati_kernel_call of_parts = *call;
    leati_operand operands[2] = {call->inputs[0], call->outputs[0]};
    bool wider[LEAT_MAX_RANK] = {false};
    for (int32_t d = 0; d < operands[0].rank; d++)
        wider[d] = mask[d];
    for (int k = 0; k < 2; k++) {
        leati_operand *one = &operands[k];
        one->dtype = one->dtype == LEAT_COMPLEX64 ? LEAT_FLOAT32 : LEAT_FLOAT64;
        one->dims[one->rank++] = 2;
        one->count *= 2;
    }
    of_parts.inputs = &operands[0];
    of_parts.outputs = &operands[1];
    return leati_reduce(&of_parts, wider, kind, err);
}

leat_status leati_reduce(leati_kernel_call *call, const bool *mask, leati_reduce_kind kind,
                         leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    /* The sum of one value is that value: -0.0 stays. */
    if ((kind == LEATI_REDUCE_SUM || kind == LEATI_REDUCE_MEAN) && in->count == out->count) {
        for (int64_t row = 0; row < call->n; row++)
            memcpy(leati_support_row_of(out, row), leati_support_row_of(in, row),
                   leati_kernel_operand_row_bytes(in));
        return LEAT_OK;
    }
    if (leati_dtype_is_complex(in->dtype))
        return kind == LEATI_REDUCE_PROD || in->rank == LEAT_MAX_RANK
                   ? leati_reduce_complex(call, mask, kind, err)
                   : reduce_parts(call, mask, kind, err);
    reduce_plan plan = {
        .loops = leati_reduce_loops_of(kind, in->dtype), .in = in, .out = out, .among = 1};
    for (int32_t d = 0; kind == LEATI_REDUCE_MEAN && d < in->rank; d++)
        plan.among *= mask[d] ? in->dims[d] : 1;
    if (out->count == 0)
        return LEAT_OK;
    if (in->count == 0) {
        reduce_nothing(&plan, call->n);
        return LEAT_OK;
    }
    plan_dims(&plan, mask);
    plan_cut(&plan);
    if (plan.cut < plan.num_dims)
        return reduce_cut(&plan, call, err);
    double ns = (double)(call->n * in->count) * (double)leat_dtype_size(in->dtype) * NS_PER_BYTE;
    plan.row = call->n;
    leati_crew_share(ns, (call->n + plan.part - 1) / plan.part, run_rows, &plan);
    return LEAT_OK;
}
