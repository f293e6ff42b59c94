/* What is known of integers while a graph is built: from the value back through the operations
 * that made it, as far as all of them have a `known` slot. Long ways end early, so that no graph
 * makes inference slow. No failures: what cannot be told is unknown. No locks. */
#include "graph/known.h"

#include "core/tensor.h"
#include "graph/node_args.h"
#include "graph/op.h"

enum {
    MOST_INPUTS = 2 * LEAT_MAX_RANK,
    MOST_DEPTH = 16,
    MOST_NODES = 256 /* that one question visits */
};

static bool is_integer(leat_dtype dtype) {
    return dtype >= LEAT_INT8 && dtype <= LEAT_UINT64;
}

static bool of_constant(const leat_tensor *tensor, leati_known *out) {
    int64_t count = leat_tensor_count(tensor);
    /* Longer lists are no shapes. */
    if (!is_integer(tensor->dtype) || tensor->rank > 1 || count > LEAT_MAX_RANK)
        return false;
    *out = (leati_known){.rank = tensor->rank, .count = (int32_t)count};
    for (int32_t i = 0; i < out->count; i++)
        out->values[i] = leati_tensor_int_at(tensor, i);
    return true;
}

static bool find(const leati_body *body, int32_t value, int depth, int *nodes, leati_known *out);

static bool of_node(const leati_body *body, const leati_node *node, int depth, int *nodes,
                    leati_known *out) {
    leati_known inputs[MOST_INPUTS];
    const leati_type *types[MOST_INPUTS];
    if (node->num_inputs > MOST_INPUTS)
        return false;
    for (int32_t i = 0; i < node->num_inputs; i++) {
        types[i] = &body->values[node->inputs[i]].type;
        /* Such an input does not spoil the rest: tf.shape knows its result from the type of any
         * input. */
        if (!is_integer(types[i]->dtype) || types[i]->shape.rank > 1 ||
            !find(body, node->inputs[i], depth + 1, nodes, &inputs[i]))
            inputs[i] = (leati_known){.rank = -1};
    }
    leati_known_call call = {
        .args = node->args, .types = types, .inputs = inputs, .num_inputs = node->num_inputs};
    return node->op->known(&call, out);
}

/* The scalar of which only the dtype is known. */
static bool unknown_scalar(const leati_type *type, leati_known *out) {
    *out = (leati_known){.rank = 0, .count = 1, .values = {LEATI_UNKNOWN_NUMBER}};
    return type->shape.rank == 0;
}

/* The vector of which only the length is known. */
static bool unknown_vector(const leati_type *type, leati_known *out) {
    if (type->shape.rank != 1 || type->shape.dims[0] < 0 || type->shape.dims[0] > LEAT_MAX_RANK)
        return false;
    *out = (leati_known){.rank = 1, .count = (int32_t)type->shape.dims[0]};
    for (int32_t i = 0; i < out->count; i++)
        out->values[i] = LEATI_UNKNOWN_NUMBER;
    return true;
}

static bool find(const leati_body *body, int32_t value, int depth, int *nodes, leati_known *out) {
    const leati_type *type = &body->values[value].type;
    int32_t made_by = body->values[value].node;
    if (!is_integer(type->dtype))
        return false;
    /* Depth bounds the recursion, the count bounds the work: a graph with shared values has far
     * more ways back than nodes. */
    if (made_by >= 0 && depth < MOST_DEPTH && ++*nodes < MOST_NODES) {
        const leati_node *node = &body->nodes[made_by];
        const leat_tensor *constant = leati_node_constant(node);
        if (constant != NULL)
            return of_constant(constant, out);
        /* Slots speak of output 0 alone. */
        if (node->op->known != NULL && node->first_output == value &&
            of_node(body, node, depth, nodes, out))
            return true;
    }
    return unknown_scalar(type, out) || unknown_vector(type, out);
}

static bool known_of(const leati_body *body, int32_t value, leati_known *out) {
    int nodes = 0;
    return find(body, value, 0, &nodes, out);
}

bool leati_op_infer_known(const leati_infer_call *call, int index, leati_known *out) {
    return call->body != NULL && known_of(call->body, call->ids[index], out);
}

/* ---- for slots ---- */

bool leati_known_same(const leati_known_call *call, leati_known *out) {
    *out = call->inputs[0];
    return out->rank >= 0;
}

bool leati_known_combined(const leati_known_call *call,
                          bool (*combine)(int64_t, int64_t, int64_t *), leati_known *out) {
    const leati_known *x = &call->inputs[0], *y = &call->inputs[1];
    /* Lists that do not broadcast are the kernel's to refuse. */
    if (x->rank < 0 || y->rank < 0 ||
        (x->rank == 1 && y->rank == 1 && x->count != y->count && x->count != 1 && y->count != 1))
        return false;
    bool long_x = x->count > y->count || (x->count == y->count && x->rank > y->rank);
    *out = long_x ? *x : *y;
    if (x->count == 0 || y->count == 0) { /* 1 broadcasts to no values */
        out->rank = 1;
        out->count = 0;
    }
    for (int32_t i = 0; i < out->count; i++) {
        int64_t a = x->values[x->count == 1 ? 0 : i], b = y->values[y->count == 1 ? 0 : i];
        /* A real INT64_MIN counts as unknown, too, which only knows less. */
        bool known = a != LEATI_UNKNOWN_NUMBER && b != LEATI_UNKNOWN_NUMBER;
        if (!known || !combine(a, b, &out->values[i]))
            out->values[i] = LEATI_UNKNOWN_NUMBER;
    }
    return true;
}
