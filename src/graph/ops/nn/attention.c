/* dot_product_attention: softmax(query key' scale + bias) value for each head, of [batch, queries,
 * heads, depth] and [batch, keys, heads, depth or width] (keras.ops.dot_product_attention). Keys
 * and values may have fewer heads, each of which serves as many heads of the queries in a row.
 * Behind query, key and value may stand a bias, of their dtype, and a mask of bool, true where a
 * key is seen; both are broadcast to [batch, heads, queries, keys]. Outputs: the result, and two
 * moments of each query for the gradient. dot_product_attention_grad: its gradient. Inputs: what
 * reaches the result, query, key, value, the result, the moments, and bias and mask. Outputs: the
 * gradients of query, key and value, and of a bias.
 *
 * Both work tile by tile (graph/support/nn/attention.h), so memory grows with queries and keys, not
 * with their product; the second derivative is that of the whole products. A query that sees no key
 * looks at all of them alike, as in Keras. Fails in
 * inference or in the kernel where shapes do not fit. No state, no locks. */
#include "graph/support/nn/attention.h"
#include "run/crew.h"
#include <stdatomic.h>
#include <string.h>

struct attention_args {
    double scale;
    bool is_causal;
};

static const leati_row attention_rows[] = {
    {.name = "scale",
     .type = LEATI_ROW_FLOAT,
     .offset = offsetof(struct attention_args, scale),
     .default_number = 1,
     .doc = "What products of queries and keys are multiplied by."},
    {.name = "is_causal",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct attention_args, is_causal),
     .doc = "Does a query see no key behind its own place?"},
    {0},
};

/* Where the inputs of both operations stand. */
typedef struct places {
    int query, key, value, rest; /* the last: of what may be left out */
    int bias, mask;              /* -1: left out */
} places;

/* Bias and mask are told apart by their dtypes. */
static leat_status find_places(bool backward, int num_inputs, const leat_dtype *dtypes, places *out,
                               leat_error *err) {
    int first = backward ? 1 : 0;
    *out = (places){first, first + 1, first + 2, backward ? 6 : 3, -1, -1};
    for (int i = out->rest; i < num_inputs; i++) {
        int *slot = dtypes[i] == LEAT_BOOL ? &out->mask : &out->bias;
        if (*slot >= 0)
            return leati_refuse(err, DTYPE,
                                "input %d is a second %s; expected one bias of %s and one mask of "
                                "bool at most",
                                i, dtypes[i] == LEAT_BOOL ? "mask" : "bias",
                                leat_dtype_name(dtypes[0]));
        *slot = i;
    }
    return LEAT_OK;
}

enum { MOST_INPUTS = 8 };

static leat_status places_of_types(bool backward, const leati_infer_call *call, places *out,
                                   leat_error *err) {
    leat_dtype dtypes[MOST_INPUTS];
    for (int i = 0; i < call->num_inputs; i++)
        dtypes[i] = call->inputs[i].dtype;
    return find_places(backward, call->num_inputs, dtypes, out, err);
}

/* ---- shapes ---- */

/* What the sizes of query, key and value say; unknown ones fit anything. */
typedef struct sizes {
    int64_t batch, queries, keys, heads, key_heads, depth, width;
} sizes;

static const leat_shape unknown_shape = {
    .rank = 4, .dims = {LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM}};

static int64_t either(int64_t a, int64_t b) {
    return a == LEAT_UNKNOWN_DIM ? b : a;
}

static leat_status read_sizes(const leat_shape *const given[3], sizes *out, leat_error *err) {
    static const char *const names[3] = {"query", "key", "value"};
    const leat_shape *shapes[3];
    for (int i = 0; i < 3; i++) {
        if (given[i]->rank >= 0 && given[i]->rank != 4)
            return leati_refuse(err, SHAPE,
                                "the %s has rank %d; expected 4: [batch, length, heads, depth]",
                                names[i], (int)given[i]->rank);
        shapes[i] = given[i]->rank < 0 ? &unknown_shape : given[i];
    }
    const int64_t *q = shapes[0]->dims, *k = shapes[1]->dims, *v = shapes[2]->dims;
    LEATI_TRY(leati_support_want_equal_dims(q[0], k[0], "the batches of query and key", err));
    LEATI_TRY(leati_support_want_equal_dims(k[0], v[0], "the batches of key and value", err));
    LEATI_TRY(leati_support_want_equal_dims(q[3], k[3], "the depths of query and key", err));
    LEATI_TRY(leati_support_want_equal_dims(k[1], v[1], "the lengths of key and value", err));
    LEATI_TRY(leati_support_want_equal_dims(k[2], v[2], "the heads of key and value", err));
    *out = (sizes){either(either(q[0], k[0]), v[0]),
                   q[1],
                   either(k[1], v[1]),
                   q[2],
                   either(k[2], v[2]),
                   either(q[3], k[3]),
                   v[3]};
    if (out->heads > 0 &&
        (out->key_heads == 0 || (out->key_heads > 0 && out->heads % out->key_heads != 0)))
        return leati_refuse(err, SHAPE,
                            "the query has %lld heads and key and value %lld; expected as many, or "
                            "a divisor",
                            (long long)out->heads, (long long)out->key_heads);
    return LEAT_OK;
}

/* Does a shape broadcast to [batch, heads, queries, keys]? */
static leat_status fits(const leat_shape *shape, const sizes *s, const char *what,
                        leat_error *err) {
    const int64_t all[4] = {s->batch, s->heads, s->queries, s->keys};
    bool good = shape->rank <= 4;
    for (int32_t i = 0; good && i < shape->rank; i++) {
        int64_t size = shape->dims[i], other = all[4 - shape->rank + i];
        good = size == 1 || size == other || size == LEAT_UNKNOWN_DIM || other == LEAT_UNKNOWN_DIM;
    }
    char text[128];
    return good ? LEAT_OK
                : leati_refuse(err, SHAPE,
                               "the %s has shape %s; expected one that is broadcast to [%lld, "
                               "%lld, %lld, %lld]: batch, heads, queries, keys",
                               what, leati_shape_text(shape, text), (long long)s->batch,
                               (long long)s->heads, (long long)s->queries, (long long)s->keys);
}

static leat_status infer_sizes(const leati_infer_call *call, const places *at, sizes *out,
                               leat_error *err) {
    const leat_shape *const shapes[3] = {&call->inputs[at->query].shape,
                                         &call->inputs[at->key].shape,
                                         &call->inputs[at->value].shape};
    LEATI_TRY(read_sizes(shapes, out, err));
    if (at->bias >= 0)
        LEATI_TRY(fits(&call->inputs[at->bias].shape, out, "bias", err));
    return at->mask >= 0 ? fits(&call->inputs[at->mask].shape, out, "mask", err) : LEAT_OK;
}

static leat_status want_dtypes(const leati_infer_call *call, const places *at, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the first input", err));
    for (int i = 1; i < call->num_inputs; i++)
        if (i != at->mask)
            LEATI_TRY(leati_support_want_dtype(call, i, call->inputs[0].dtype,
                                               i == at->bias ? "the bias" : "an input", err));
    return LEAT_OK;
}

static leat_shape result_shape(const sizes *s) {
    return (leat_shape){.rank = 4, .dims = {s->batch, s->queries, s->heads, s->width}};
}

static leat_shape moments_shape(const sizes *s) {
    return (leat_shape){.rank = 4, .dims = {s->batch, s->heads, s->queries, 2}};
}

static leat_status dot_product_attention_infer(leati_infer_call *call, leat_error *err) {
    places at;
    sizes s;
    LEATI_TRY(places_of_types(false, call, &at, err));
    LEATI_TRY(want_dtypes(call, &at, err));
    LEATI_TRY(infer_sizes(call, &at, &s, err));
    leat_shape result = result_shape(&s), moments = moments_shape(&s);
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &result, NULL, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &moments, NULL, err);
}

static leat_status want_made(const leat_shape *gradient, const leat_shape *result,
                             const leat_shape *moments, const sizes *s, leat_error *err) {
    leat_shape made = result_shape(s), of_queries = moments_shape(s);
    LEATI_TRY(leati_support_want_shape(gradient, &made, "the gradient", err));
    LEATI_TRY(leati_support_want_shape(result, &made, "the result", err));
    return leati_support_want_shape(moments, &of_queries, "the moments", err);
}

static leat_status dot_product_attention_grad_infer(leati_infer_call *call, leat_error *err) {
    places at;
    sizes s;
    LEATI_TRY(places_of_types(true, call, &at, err));
    LEATI_TRY(want_dtypes(call, &at, err));
    LEATI_TRY(infer_sizes(call, &at, &s, err));
    LEATI_TRY(
        want_made(&call->inputs[0].shape, &call->inputs[4].shape, &call->inputs[5].shape, &s, err));
    for (int i = 1; i < 4; i++)
        LEATI_TRY(
            leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[i].shape, NULL, err));
    return at.bias < 0 ? LEAT_OK
                       : leati_op_infer_output(call, call->inputs[0].dtype,
                                               &call->inputs[at.bias].shape, NULL, err);
}

/* ---- kernels ---- */

static leati_attention_extra extra_of(const leati_operand *operand) {
    leati_attention_extra extra = {0};
    /* From the last dimension on; those that are not there, and sizes of 1, are repeated. */
    int64_t step = 1;
    for (int32_t i = operand->rank; i-- > 0; step *= operand->dims[i])
        extra.steps[4 - operand->rank + i] = operand->dims[i] == 1 ? 0 : step;
    return extra;
}

/* What is the same for all rows of a call. */
static leat_status prepare(const leati_kernel_call *call, bool backward, places *at,
                           leati_attention *out, leat_error *err) {
    const struct attention_args *args = call->args;
    leat_dtype dtypes[MOST_INPUTS];
    leat_shape shapes[MOST_INPUTS];
    sizes s;
    for (int i = 0; i < call->num_inputs; i++) {
        dtypes[i] = call->inputs[i].dtype;
        shapes[i] = leati_support_operand_shape(&call->inputs[i]);
    }
    LEATI_TRY(find_places(backward, call->num_inputs, dtypes, at, err));
    LEATI_TRY(read_sizes(
        (const leat_shape *const[]){&shapes[at->query], &shapes[at->key], &shapes[at->value]}, &s,
        err));
    *out = (leati_attention){.dtype = dtypes[0],
                             .batch = s.batch,
                             .queries = s.queries,
                             .keys = s.keys,
                             .heads = s.heads,
                             .key_heads = s.key_heads,
                             .depth = s.depth,
                             .width = s.width,
                             .scale = args->scale,
                             .causal = args->is_causal};
    if (at->bias >= 0) {
        LEATI_TRY(fits(&shapes[at->bias], &s, "bias", err));
        out->bias = extra_of(&call->inputs[at->bias]);
    }
    if (at->mask >= 0) {
        LEATI_TRY(fits(&shapes[at->mask], &s, "mask", err));
        out->mask = extra_of(&call->inputs[at->mask]);
    }
    return backward ? want_made(&shapes[0], &shapes[4], &shapes[5], &s, err) : LEAT_OK;
}

static void set_inputs(const leati_kernel_call *call, const places *at, int64_t row,
                       leati_attention *a) {
    a->query = leati_support_row_of(&call->inputs[at->query], row);
    a->key = leati_support_row_of(&call->inputs[at->key], row);
    a->value = leati_support_row_of(&call->inputs[at->value], row);
    if (at->bias >= 0)
        a->bias.data = leati_support_row_of(&call->inputs[at->bias], row);
    if (at->mask >= 0)
        a->mask.data = leati_support_row_of(&call->inputs[at->mask], row);
}

typedef void direction(const leati_attention *a, int64_t row, int64_t head, void *scratch);

typedef struct over_heads {
    const leati_attention *a;
    direction *run;
    atomic_bool failed; /* no memory */
} over_heads;

/* The heads of queries that share one of the keys, whose gradients grow. */
static void run_heads(void *data, int64_t piece) {
    over_heads *over = data;
    const leati_attention *a = over->a;
    int64_t together = a->heads / a->key_heads, first = piece % a->key_heads * together;
    void *scratch = leati_alloc(1, leati_attention_scratch(a));
    for (int64_t j = first; scratch != NULL && j < first + together; j++)
        over->run(a, piece / a->key_heads, j, scratch);
    if (scratch == NULL)
        atomic_store(&over->failed, true);
    leati_free(scratch);
}

/* Calls a direction for each head of each row of the batch. */
static leat_status run_over_heads(const leati_attention *a, direction *run, leat_error *err) {
    over_heads over = {.a = a, .run = run};
    atomic_init(&over.failed, false);
    double scores = (double)(a->batch * a->heads) * (double)a->queries * (double)a->keys;
    /* What flows to a bias may come from all heads. */
    leati_crew_share(a->bias_gradient != NULL ? 0
                                              : scores * (double)(a->depth + a->width + 16) / 10,
                     a->batch * a->key_heads, run_heads, &over);
    return atomic_load(&over.failed) ? leati_no_memory(err) : LEAT_OK;
}

static leat_status dot_product_attention_kernel(leati_kernel_call *call, leat_error *err) {
    places at;
    leati_attention a;
    LEATI_TRY(prepare(call, false, &at, &a, err));
    sizes s = {a.batch, a.queries, a.keys, a.heads, a.key_heads, a.depth, a.width};
    leat_shape result = result_shape(&s), moments = moments_shape(&s);
    LEATI_TRY(leati_support_output_like(call, 0, &result, err));
    LEATI_TRY(leati_support_output_like(call, 1, &moments, err));
    for (int64_t row = 0; row < call->n; row++) {
        set_inputs(call, &at, row, &a);
        a.result = leati_support_row_of(&call->outputs[0], row);
        a.moments = leati_support_row_of(&call->outputs[1], row);
        LEATI_TRY(run_over_heads(&a, leati_attention_forward, err));
    }
    return LEAT_OK;
}

static leat_status dot_product_attention_grad_kernel(leati_kernel_call *call, leat_error *err) {
    places at;
    leati_attention a;
    LEATI_TRY(prepare(call, true, &at, &a, err));
    const int of[4] = {at.query, at.key, at.value, at.bias};
    for (int i = 0; i < call->num_outputs; i++) {
        leat_shape shape = leati_support_operand_shape(&call->inputs[of[i]]);
        LEATI_TRY(leati_support_output_like(call, i, &shape, err));
    }
    for (int64_t row = 0; row < call->n; row++) {
        char *to[4] = {NULL};
        for (int i = 0; i < call->num_outputs; i++) {
            to[i] = leati_support_row_of(&call->outputs[i], row);
            if (to[i] != NULL)
                memset(to[i], 0, (size_t)call->outputs[i].count * leat_dtype_size(a.dtype));
        }
        set_inputs(call, &at, row, &a);
        a.gradient = leati_support_row_of(&call->inputs[0], row);
        a.result = leati_support_row_of(&call->inputs[4], row);
        a.moments = leati_support_row_of(&call->inputs[5], row);
        a.query_gradient = to[0];
        a.key_gradient = to[1];
        a.value_gradient = to[2];
        a.bias_gradient = to[3];
        LEATI_TRY(run_over_heads(&a, leati_attention_backward, err));
    }
    return LEAT_OK;
}

/* ---- gradients ---- */

static leat_status dot_product_attention_gradient(leati_gradient_call *call, leat_error *err) {
    if (call->output_gradients[1].id >= 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "the moments have no gradient");
    leat_value inputs[MOST_INPUTS] = {call->output_gradients[0], call->inputs[0],
                                      call->inputs[1],           call->inputs[2],
                                      call->outputs[0],          call->outputs[1]};
    for (int i = 3; i < call->num_inputs; i++)
        inputs[3 + i] = call->inputs[i];
    leat_value first = leati_graph_node(call->graph, &leati_tensor_op_dot_product_attention_grad,
                                        call->args, inputs, call->num_inputs + 3);
    /* The graph keeps the error of a node that could not be added, and refuses to be finished. */
    if (leati_support_value_failed(first))
        return LEAT_OK;
    for (int i = 0; i < call->num_inputs; i++) {
        bool bias = i >= 3 && leat_value_dtype(call->inputs[i]) != LEAT_BOOL;
        if (i < 3 || bias)
            /* Outputs of a node are values in a row; the bias's is the fourth. */
            call->input_gradients[i] =
                (leat_value){.graph = call->graph, .id = first.id + (i < 3 ? i : 3)};
    }
    return LEAT_OK;
}

static leat_value heads_first(leat_value x) {
    return leat_op_transpose(x, (const int64_t[]){0, 2, 1, 3}, 4);
}

/* Keys or values for each head of the queries. */
static leat_value for_heads(leat_value x, leat_value query) {
    int64_t few = leat_value_shape(x).dims[1], many = leat_value_shape(query).dims[1];
    if (few == many)
        return x;
    if (few < 1 || many < 1)
        return leati_support_build_error(x.graph, LEAT_REASON_SHAPE,
                                         "the second derivative of an attention needs known heads");
    return leat_op_repeat(x, leati_support_number(x.graph, LEAT_INT64, (double)many / (double)few),
                          1);
}

/* The weights where keys are seen; elsewhere a number next to which others vanish. */
static leat_value where_seen(leat_value seen, leat_value logits) {
    leat_dtype dtype = leat_value_dtype(logits);
    leat_value least =
        leati_support_number(logits.graph, dtype, dtype == LEAT_FLOAT16 ? -6e4 : -1e9);
    return leat_op_select(seen, logits, leat_op_broadcast_like(least, logits));
}

/* The result, composed of operations whose gradients have gradients. */
static leat_value composed(const struct attention_args *args, const leat_value *inputs,
                           const places *at) {
    leat_value query = heads_first(inputs[at->query]);
    leat_value key = heads_first(inputs[at->key]), value = heads_first(inputs[at->value]);
    if (leati_support_value_failed(query) || leati_support_value_failed(key) ||
        leati_support_value_failed(value))
        return query;
    leat_value logits =
        leati_support_times(leat_op_matmul(query, for_heads(key, query), false, true), args->scale);
    if (at->bias >= 0)
        logits = leat_op_add(logits, inputs[at->bias]);
    if (at->mask >= 0)
        logits = where_seen(inputs[at->mask], logits);
    if (args->is_causal)
        logits = where_seen(
            leat_op_cast(leat_op_band_part(leat_op_ones_like(logits), -1, 0), LEAT_BOOL), logits);
    return heads_first(
        leat_op_matmul(leat_op_softmax(logits), for_heads(value, query), false, false));
}

static leat_status dot_product_attention_grad_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value sources[MOST_INPUTS], results[4];
    leat_dtype dtypes[MOST_INPUTS];
    places at;
    for (int i = 0; i < call->num_inputs; i++)
        dtypes[i] = leat_value_dtype(call->inputs[i]);
    LEATI_TRY(find_places(true, call->num_inputs, dtypes, &at, err));
    leati_support_gradient_sources(call, sources);
    leat_value target = leat_op_reduce_sum(
        leat_op_multiply(composed(call->args, sources, &at), sources[0]), NULL, 0, false);
    const leat_value of[4] = {sources[at.query], sources[at.key], sources[at.value],
                              sources[at.bias < 0 ? at.query : at.bias]};
    leat_value_gradients(target, of, call->num_outputs, results);
    LEATI_TRY(leati_support_gradient_through(call, sources, results, err));
    /* The result and the moments follow from the others. */
    call->input_gradients[4] = call->input_gradients[5] = (leat_value){.id = -1};
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_dot_product_attention = {
    .name = "dot_product_attention",
    .version = 1,
    .doc = "softmax(query key' scale + bias) value for each head, tile by tile, and the moments of "
           "its softmax (keras.ops.dot_product_attention).",
    .types = "T T T Tfirst Tsecond",
    .outputs = "output moments",
    .halves = LEATI_HALVES_FLOAT,
    .large = true,
    .rows = attention_rows,
    .args_size = sizeof(struct attention_args),
    .min_inputs = 3,
    .max_inputs = 5,
    .infer = dot_product_attention_infer,
    .kernel = dot_product_attention_kernel,
    .gradient = dot_product_attention_gradient,
};

const leati_tensor_op leati_tensor_op_dot_product_attention_grad = {
    .name = "dot_product_attention_grad",
    .version = 1,
    .doc = "The gradients of dot_product_attention for query, key, value and bias, tile by tile "
           "(the gradient of keras.ops.dot_product_attention).",
    .types = "T T T T T T Tfirst Tsecond",
    .outputs = "*gradients",
    .halves = LEATI_HALVES_FLOAT,
    .rows = attention_rows,
    .args_size = sizeof(struct attention_args),
    .min_inputs = 6,
    .max_inputs = 8,
    .infer = dot_product_attention_grad_infer,
    .kernel = dot_product_attention_grad_kernel,
    .gradient = dot_product_attention_grad_gradient,
};
