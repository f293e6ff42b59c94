/* What random operations share; see random.h. No state of its own; drawing seeds takes the lock of
 * base's global stream. */
#include "graph/support/random/random.h"

#include "base/hash.h"
#include "base/minmax.h"
#include "graph/draws.h"
#include "run/crew.h"

#include <string.h>

leat_status leati_random_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_random_args *args = call->args;
    if (!leati_graph_dtype_is_floating(args->dtype))
        return leati_refuse(err, DTYPE,
                            "dtype is %s; expected float16, bfloat16, float32 or float64",
                            leat_dtype_name(args->dtype));
    return leati_support_infer_said(call, args->dtype, &args->shape, err);
}

/* What calls of an operation that is computed at once share a stream by; 0: nothing. */
static uint64_t shared_by(const leati_tensor_op *op, const struct leati_random_args *args) {
    const int64_t parts[3] = {args->dtype, args->graph_seed, args->op_seed};
    /* Drawn seeds belong to one node: nobody shares its stream. */
    bool drawn = args->unseeded || !args->seed.given;
    return drawn ? 0 : leati_hash(parts, sizeof parts, leati_hash(op->name, strlen(op->name), 5));
}

leat_status leati_random_stream(const leati_kernel_call *call, const leati_tensor_op *op,
                                int64_t row, uint64_t blocks, leati_philox *out, leat_error *err) {
    const struct leati_random_args *args = call->args;
    const leati_call_context *context = call->context;
    int64_t pair[2] = {args->graph_seed, args->op_seed};
    if (pair[0] == 0 && pair[1] == 0) { /* built from JSON, where no builder resolved the seed */
        pair[0] = 87654321;
        pair[1] = args->seed.given ? args->seed.value : call->number;
    }
    /* A drawn pair is fixed when the graph is built: the run's pair makes each run draw anew. */
    if (args->unseeded) {
        pair[0] ^= context->seed;
        pair[1] ^= context->seed2;
    }
    /* With nothing mixed in, the numbers are TensorFlow's. */
    uint64_t mixed = context->draws != NULL ? 0 : context->scope;
    if (context->replica > 0)
        mixed = leati_hash(&context->replica, sizeof context->replica, mixed);
    if (mixed != 0) {
        /* Two hashes, so that both numbers of the pair change, each in its own way. */
        pair[0] ^= (int64_t)leati_hash(&mixed, sizeof mixed, 1);
        pair[1] ^= (int64_t)leati_hash(&mixed, sizeof mixed, 2);
    }
    *out = leati_philox_new((uint64_t)pair[0], (uint64_t)pair[1]);
    /* The ordinal tells a pipeline's calls apart, the step those of training. */
    uint64_t begin = ((uint64_t)(context->ordinal + row) + (uint64_t)context->step) * blocks;
    if (context->draws != NULL)
        LEATI_TRY(
            leati_draws_begin(context, call->number, shared_by(op, args), blocks, &begin, err));
    leati_philox_skip(out, begin);
    return LEAT_OK;
}

/* ---- parts ---- */
enum { PART = 1 << 13 }; /* values: 30 us to 1 ms */

typedef struct draw {
    leati_distribution distribution;
    leat_dtype dtype;
    leati_philox stream;
    double scale, offset;
    int64_t low;
    uint64_t width;
    int64_t count;
    char *to;
} draw;

static void draw_part(void *data, int64_t piece) {
    const draw *d = data;
    int64_t begin = piece * PART;
    leati_draw(d->distribution, d->dtype,
               leati_draw_part(d->distribution, d->dtype, d->stream, begin), d->scale, d->offset,
               LEATI_MIN(d->count - begin, PART),
               d->to + (size_t)begin * leat_dtype_size(d->dtype));
}

void leati_random_draw(leati_distribution distribution, leat_dtype dtype, leati_philox stream,
                       double scale, double offset, int64_t count, char *to) {
    draw d = {.distribution = distribution,
              .dtype = dtype,
              .stream = stream,
              .scale = scale,
              .offset = offset,
              .count = count,
              .to = to};
    double ns = distribution == LEATI_UNIFORM ? 1 : 30;
    if (count > 0)
        leati_crew_share((double)count * ns, (count + PART - 1) / PART, draw_part, &d);
}

static void draw_integers_part(void *data, int64_t piece) {
    const draw *d = data;
    int64_t begin = piece * PART, size = (int64_t)leat_dtype_size(d->dtype);
    leati_philox stream = d->stream;
    leati_philox_skip(&stream, (uint64_t)(size == 4 ? begin / 4 : begin / 2));
    leati_draw_integers(d->dtype, stream, d->low, d->width, LEATI_MIN(d->count - begin, PART),
                        d->to + begin * size);
}

void leati_random_draw_integers(leat_dtype dtype, leati_philox stream, int64_t low, uint64_t width,
                                int64_t count, char *to) {
    draw d = {
        .dtype = dtype, .stream = stream, .low = low, .width = width, .count = count, .to = to};
    if (count > 0)
        leati_crew_share((double)count * 3, (count + PART - 1) / PART, draw_integers_part, &d);
}

leat_status leati_random_floats(leati_kernel_call *call, const leati_tensor_op *op,
                                leati_distribution distribution, leat_error *err) {
    const struct leati_random_args *args = call->args;
    LEATI_TRY(leati_support_output_like(call, 0, &args->shape, err));
    const leati_operand *out = &call->outputs[0];
    double scale = leati_random_scale(distribution, args->dtype, args->low, args->high);
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        LEATI_TRY(leati_random_stream(call, op, row, (uint64_t)out->count * LEATI_BLOCKS_PER_VALUE,
                                      &stream, err));
        leati_random_draw(distribution, args->dtype, stream, scale, args->low, out->count,
                          leati_support_row_of(out, row));
    }
    return LEAT_OK;
}

double leati_random_scale(leati_distribution distribution, leat_dtype dtype, double low,
                          double high) {
    if (distribution != LEATI_UNIFORM)
        return high;
    /* The ends of the range become numbers of the dtype before they are subtracted. */
    return leati_draw_rounded(dtype, high) - leati_draw_rounded(dtype, low);
}

/* How many random nodes without a seed the graph has: TensorFlow's op seed under a global one. */
static int64_t count_seedless(const leat_graph *graph) {
    int64_t count = 0;
    for (size_t i = 0; i < graph->body.num_nodes; i++) {
        const leati_node *node = &graph->body.nodes[i];
        if (node->op->complete == leati_random_complete)
            count += !((const struct leati_random_args *)node->args)->seed.given;
    }
    return count;
}

/* The pair of seeds of a node that is about to be added. */
static void resolve_seeds(const leat_graph *graph, struct leati_random_args *args) {
    leati_seed_argument seed = args->seed;
    bool eager = graph->hook != NULL;
    if (!seed.given && !eager && leati_random_global_seed_is_set())
        seed = (leati_seed_argument){.given = true, .value = count_seedless(graph)};
    leati_random_resolve_seed(seed, &args->graph_seed, &args->op_seed);
    if (args->graph_seed == 0 && args->op_seed == 0) {
        args->unseeded = true;
        leati_random_fresh_seed_if_zero(&args->graph_seed, &args->op_seed);
    }
}

leat_status leati_random_complete(leat_graph *graph, void *node_args, leat_error *err) {
    struct leati_random_args *args = node_args;
    (void)err;
    if (graph != NULL && args->graph_seed == 0 && args->op_seed == 0)
        resolve_seeds(graph, args);
    return LEAT_OK;
}
