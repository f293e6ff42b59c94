/* Finding chains of picture operations; see chain.h.
 *
 * A chain begins at a resize of single pictures whose result's shape is known. Backwards it takes
 * crops, elementwise operations and a decoding that nobody else reads; forwards all operations that
 * depend on it, as long as exactly one value leaves: elementwise ones whose other operands are one
 * number, or one for each channel, and ones that mirror pictures, or choose between mirrored forms
 * of the same one. Mirroring commutes with what is elementwise, so it is done while resizing; for
 * that each value has a base, which is the value before any mirroring, and a turn, which counts
 * what mirrors. Failure: no memory. No locks. */
#include "exec/chain.h"

#include "graph/computed.h"
#include "graph/ops/array/strided_slice.h"
#include "graph/support/picture/augment.h"
#include "graph/support/picture/pictures.h"
#include "graph/support/picture/resize.h"
#include <string.h>

/* What is known of a value that may belong to the chain. */
typedef struct link {
    leati_chain_operand place; /* -1: not of the chain */
    int32_t base, turn;
} link;

struct search {
    leati_simple *simple;
    int32_t *uses; /* of each value: by nodes and as outputs */
    link *links;   /* of each value */
    leati_chain *chain;
    int32_t *members; /* nodes behind resize, in order */
    int32_t num_members;
    int32_t *inputs; /* of the chain, values */
    int32_t num_inputs;
    int32_t turns;
    uint32_t front_flags; /* of the nodes in front of resize */
};

static const leati_simple_node *maker_of(const struct search *s, int32_t value) {
    int32_t node = s->simple->values[value].node;
    return node < 0 ? NULL : &s->simple->nodes[node];
}

static bool is_op(const leati_simple_node *node, const leati_tensor_op *op) {
    return node != NULL && node->source->op == op;
}

/* ---- in front of resize ---- */

static bool decodes(const leati_simple_node *node) {
    if (is_op(node, &leati_tensor_op_decode_jpeg) ||
        is_op(node, &leati_tensor_op_decode_and_crop_jpeg))
        return true;
    if (is_op(node, &leati_tensor_op_decode_png))
        return ((const struct leati_decode_png_args *)node->source->args)->dtype == LEAT_UINT8;
    if (!is_op(node, &leati_tensor_op_decode_image))
        return false;
    const struct leati_decode_image_args *args = node->source->args;
    return args->dtype == LEAT_UINT8 && !args->expand_animations;
}

static void add_input(struct search *s, int32_t value) {
    s->inputs[s->num_inputs++] = value;
}

static void add_inputs(struct search *s, const leati_simple_node *node, int32_t first) {
    for (int32_t i = first; node != NULL && i < node->num_inputs; i++)
        add_input(s, node->inputs[i]);
}

/* One number, or one for each channel. */
static bool is_small(const struct search *s, int32_t value) {
    const leati_simple_value *v = &s->simple->values[value];
    const leat_shape *shape = &v->type->shape;
    if (v->type->dtype == LEAT_STRING || v->type->dtype == LEAT_OBJECT || v->count < 1)
        return false;
    return v->count == 1 || (shape->rank <= 3 && v->count == s->chain->channels &&
                             shape->dims[shape->rank - 1] == v->count);
}

/* May the run compute all that the operation's arguments leave open, without memory of their own?
 */
static bool binds(const leati_tensor_op *op, const leati_strings *bound) {
    for (int32_t i = 0; i < bound->count; i++)
        for (const leati_row *row = op->rows; row->type != LEATI_ROW_END; row++)
            if (strlen(row->name) == bound->values[i].size &&
                memcmp(row->name, bound->values[i].data, bound->values[i].size) == 0 &&
                row->type != LEATI_ROW_INT && row->type != LEATI_ROW_INTS &&
                row->type != LEATI_ROW_FLOAT)
                return false;
    return true;
}

/* The operation that cuts a part out of single pictures, with all channels; NULL: none. */
static const leati_tensor_op *cutter(const struct search *s, const leati_simple_node *node) {
    const leat_shape *in = &s->simple->values[node->inputs[0]].type->shape;
    const leat_shape *out = &s->simple->values[node->first_output].type->shape;
    const leati_tensor_op *op = node->source->op;
    const void *args = node->source->args;
    if (op == &leati_tensor_op_computed) {
        op = leati_computed_op(args);
        if (!binds(op, leati_computed_bound(args)))
            return NULL;
        args = leati_computed_args_of(args);
    }
    bool whole_pixels = in->rank == 3 && out->rank == 3 && in->dims[2] == s->chain->channels &&
                        out->dims[2] == s->chain->channels;
    if (op->window == NULL || !whole_pixels)
        return NULL;
    /* A slice with steps, backwards, or with other dimensions is no window. */
    return op == &leati_tensor_op_strided_slice && !leati_strided_cuts(args) ? NULL : op;
}

/* Which input of an elementwise operation is the picture; -1: the others are not small, or it does
 * something else. */
static int32_t converted(const struct search *s, const leati_simple_node *node) {
    const leati_simple_value *out = &s->simple->values[node->first_output];
    int32_t picture = -1;
    if (node->flags != LEATI_ELEMENTWISE || node->num_outputs != 1 ||
        out->type->dtype == LEAT_STRING || out->type->shape.rank != 3)
        return -1;
    for (int32_t i = 0; i < node->num_inputs; i++) {
        const leat_shape *shape = &s->simple->values[node->inputs[i]].type->shape;
        if (is_small(s, node->inputs[i]))
            continue;
        if (picture >= 0 || !leati_shape_equal(shape, &out->type->shape))
            return -1;
        picture = i;
    }
    return picture;
}

/* Is the node a step between the picture and resize? */
static bool is_front(const struct search *s, const leati_simple_node *node,
                     leati_chain_front *step) {
    if (node == NULL || node->num_inputs < 1 || node->chain != NULL)
        return false;
    *step = (leati_chain_front){.source = node->source,
                                .cuts = cutter(s, node),
                                .dtype = s->simple->values[node->first_output].type->dtype};
    if (step->cuts == NULL)
        step->picture = converted(s, node);
    return step->picture >= 0;
}

/* Walks back from resize over `count` steps in `nodes`, the last one first; *base is what stands in
 * front of them. */
static int32_t walk_back(const struct search *s, const leati_simple_node *resize, int32_t *nodes,
                         int32_t *base) {
    leati_chain_front step;
    int32_t count = 0, value = resize->inputs[0];
    if (resize->source->op->window != NULL)
        nodes[count++] = (int32_t)(resize - s->simple->nodes);
    while (s->uses[value] == 1 && is_front(s, maker_of(s, value), &step)) {
        const leati_simple_node *node = maker_of(s, value);
        nodes[count++] = s->simple->values[value].node;
        value = node->inputs[step.picture];
    }
    *base = value;
    return count;
}

/* Lists the steps in order, with their other inputs. */
static void fill_front(struct search *s, const int32_t *nodes, int32_t count) {
    leati_chain *chain = s->chain;
    for (int32_t k = 0; k < count; k++) {
        const leati_simple_node *node = &s->simple->nodes[nodes[count - 1 - k]];
        leati_chain_front *step = &chain->front[k];
        (void)is_front(s, node, step);
        if (node->source == chain->resize)
            step->cuts = node->source->op;
        step->first = s->num_inputs;
        chain->converts = chain->converts || step->cuts == NULL;
        s->front_flags |= node->flags;
        for (int32_t i = 0; i < node->num_inputs; i++)
            if (i != step->picture)
                add_input(s, node->inputs[i]);
    }
    chain->num_front = count;
}

static bool is_plain(const leati_type *type) {
    return type->dtype == LEAT_UINT8 || type->dtype == LEAT_FLOAT32;
}

/* Walks back from resize; *found: what is in front of it can be its picture. */
static leat_status find_front(struct search *s, const leati_simple_node *resize, bool *found,
                              leat_error *err) {
    int32_t value = -1, *nodes = s->members; /* not in use yet */
    const leati_type *last = s->simple->values[resize->inputs[0]].type;
    int32_t count = walk_back(s, resize, nodes, &value);
    const leati_simple_node *decode = maker_of(s, value);
    if (decode != NULL && (!decodes(decode) || s->uses[value] != 1))
        decode = NULL;
    const leati_type *picture = s->simple->values[value].type;
    *found = is_plain(last) &&
             (decode != NULL || (picture->shape.rank == 3 && picture->dtype > LEAT_BOOL &&
                                 picture->dtype <= LEAT_FLOAT64));
    if (!*found)
        return LEAT_OK;
    s->chain->front = leati_alloc_zero((size_t)count, sizeof *s->chain->front);
    if (s->chain->front == NULL && count > 0)
        return leati_no_memory(err);
    s->chain->decode = decode == NULL ? NULL : decode->source;
    add_input(s, decode == NULL ? value : decode->inputs[0]);
    add_inputs(s, decode, 1);
    fill_front(s, nodes, count);
    return LEAT_OK;
}

/* What the node resizes by; false: it does not, or not into pictures of a known size. */
static bool resizes(const leati_simple_node *node, leati_resize_method *method, bool *antialias) {
    const char *name = NULL;
    if (is_op(node, &leati_tensor_op_resize)) {
        const struct leati_resize_args *args = node->source->args;
        name = args->method;
        *antialias = args->antialias;
        if (args->preserve_aspect_ratio)
            return false;
    } else if (is_op(node, &leati_tensor_op_random_resized_crop) ||
               is_op(node, &leati_tensor_op_stateless_random_resized_crop)) {
        const struct leati_augment_args *args = node->source->args;
        name = args->method;
        *antialias = args->antialias;
    } else {
        return false;
    }
    return leati_resize_method_of(name, method, &(leat_error){0}) == LEAT_OK &&
           *method != LEATI_RESIZE_NEAREST;
}

static bool begins(const struct search *s, const leati_simple_node *node, leati_chain *chain) {
    if (node->chain != NULL || !resizes(node, &chain->method, &chain->antialias))
        return false;
    const leati_simple_value *out = &s->simple->values[node->first_output];
    return out->count > 0 && out->type->shape.rank == 3 && out->type->shape.dims[0] <= INT32_MAX &&
           out->type->shape.dims[1] <= INT32_MAX && out->type->shape.dims[2] <= INT32_MAX;
}

/* ---- behind it ---- */

/* Is every value of the result computed at its own place? */
static bool joins_elementwise(const struct search *s, const leati_simple_node *node, link *out) {
    const leati_simple_value *result = &s->simple->values[node->first_output];
    const leat_shape *whole = &s->simple->values[s->chain->node.first_output].type->shape;
    if (node->flags != LEATI_ELEMENTWISE || node->num_outputs != 1 ||
        result->type->dtype == LEAT_STRING || !leati_shape_equal(&result->type->shape, whole))
        return false;
    int32_t turn = -1;
    for (int32_t i = 0; i < node->num_inputs; i++) {
        const link *in = &s->links[node->inputs[i]];
        if (in->place < 0 && !is_small(s, node->inputs[i]))
            return false;
        if (in->place >= 0 && turn >= 0 && in->turn != turn)
            return false;
        turn = in->place >= 0 ? in->turn : turn;
    }
    *out = (link){.base = node->first_output, .turn = turn};
    return turn >= 0;
}

static bool mirrors(const leati_simple_node *node) {
    return node->source->op->trait == LEATI_TRAIT_MIRROR &&
           !(node->flags & (LEATI_STATEFUL | LEATI_IMPURE));
}

static bool joins_mirroring(struct search *s, const leati_simple_node *node, link *out) {
    bool choice = is_op(node, &leati_tensor_op_select);
    int32_t first = choice ? 1 : 0, last = choice ? 2 : 0;
    if ((!choice && !mirrors(node)) || node->num_outputs != 1 ||
        node->num_inputs > LEATI_CHAIN_OPERANDS)
        return false;
    for (int32_t i = 0; i < node->num_inputs; i++) {
        const link *in = &s->links[node->inputs[i]];
        bool picture = i >= first && i <= last;
        if (picture != (in->place >= 0) ||
            (choice && !picture && s->simple->values[node->inputs[i]].count != 1))
            return false;
        if (picture && in->base != s->links[node->inputs[first]].base)
            return false;
        if (!picture && s->simple->values[node->inputs[i]].count < 0)
            return false;
    }
    *out = (link){.base = s->links[node->inputs[first]].base, .turn = ++s->turns};
    return true;
}

/* May the node be a step? Several random numbers for a select of one picture's values, say, are no
 * mirroring; then it is an elementwise step, or none. */
static bool joins(struct search *s, const leati_simple_node *node, link *out) {
    bool reads = false;
    for (int32_t i = 0; i < node->num_inputs; i++)
        reads = reads || s->links[node->inputs[i]].place >= 0;
    if (!reads || node->num_inputs > LEATI_CHAIN_OPERANDS)
        return false;
    return joins_elementwise(s, node, out) || joins_mirroring(s, node, out);
}

/* How many of the values made by resize and the first `count` members are read elsewhere; the last
 * such value. */
static int32_t exits(const struct search *s, int32_t count, int32_t *exit) {
    int32_t found = 0;
    for (int32_t k = -1; k < count; k++) {
        int32_t value =
            k < 0 ? s->chain->node.first_output : s->simple->nodes[s->members[k]].first_output;
        int32_t inside = 0;
        for (int32_t m = 0; m < count; m++) {
            const leati_simple_node *node = &s->simple->nodes[s->members[m]];
            for (int32_t i = 0; i < node->num_inputs; i++)
                inside += node->inputs[i] == value;
        }
        if (s->uses[value] > inside) {
            *exit = value;
            found++;
        }
    }
    return found;
}

/* Gathers the steps: as many as leave one value, which the last of them makes. */
static void find_steps(struct search *s, int32_t resize) {
    int32_t exit = -1, kept = 0;
    for (int32_t n = resize + 1; n < s->simple->num_nodes; n++) {
        const leati_simple_node *node = &s->simple->nodes[n];
        link made;
        if (!joins(s, node, &made))
            continue;
        made.place = s->num_members + 1;
        s->links[node->first_output] = made;
        s->members[s->num_members++] = n;
        if (exits(s, s->num_members, &exit) == 1 && exit == node->first_output)
            kept = s->num_members;
    }
    s->num_members = kept;
}

/* ---- making it ---- */

static int32_t input_index(struct search *s, int32_t value) {
    for (int32_t i = 0; i < s->num_inputs; i++)
        if (s->inputs[i] == value)
            return i;
    add_input(s, value);
    return s->num_inputs - 1;
}

static void fill_step(struct search *s, const leati_simple_node *node, leati_chain_step *step) {
    link unused;
    step->source = node->source;
    step->dtype = s->simple->values[node->first_output].type->dtype;
    step->elementwise = joins_elementwise(s, node, &unused);
    step->num_inputs = node->num_inputs;
    s->chain->mirrors = s->chain->mirrors || !step->elementwise;
    for (int32_t i = 0; i < node->num_inputs; i++) {
        int32_t place = s->links[node->inputs[i]].place;
        step->inputs[i] = place >= 0 ? place : ~input_index(s, node->inputs[i]);
    }
}

/* Room for the steps and for all inputs that there can be. */
static leat_status reserve(struct search *s, leat_error *err) {
    leati_chain *chain = s->chain;
    size_t steps = (size_t)s->num_members;
    size_t inputs = (size_t)s->num_inputs + LEATI_CHAIN_OPERANDS * steps;
    chain->steps = leati_alloc_zero(steps, sizeof *chain->steps);
    chain->inputs = leati_alloc_zero(inputs, sizeof *chain->inputs);
    if (chain->steps == NULL || chain->inputs == NULL)
        return leati_no_memory(err);
    memcpy(chain->inputs, s->inputs, (size_t)s->num_inputs * sizeof *chain->inputs);
    s->inputs = chain->inputs;
    return LEAT_OK;
}

static leat_status make_chain(struct search *s, int32_t resize, leat_error *err) {
    leati_chain *chain = s->chain;
    const leati_simple_node *first = &s->simple->nodes[resize];
    LEATI_TRY(reserve(s, err));
    uint32_t flags = first->flags | s->front_flags;
    const leati_simple_node *last = first;
    for (int32_t k = 0; k < s->num_members; k++) {
        last = &s->simple->nodes[s->members[k]];
        fill_step(s, last, &chain->steps[k]);
        flags |= last->flags;
    }
    chain->num_steps = chain->writer = s->num_members;
    while (chain->writer > 0 && !chain->steps[chain->writer - 1].elementwise)
        chain->writer = leati_chain_picture(&chain->steps[chain->writer - 1]);
    chain->num_inputs = s->num_inputs;
    chain->node = *last;
    chain->node.flags = (flags & ~(uint32_t)LEATI_ELEMENTWISE) | LEATI_COSTLY;
    chain->node.inputs = chain->inputs;
    chain->node.num_inputs = chain->num_inputs;
    chain->node.chain = chain;
    return LEAT_OK;
}

/* The place of a node in the function's list, by its source. */
static int32_t place_of(const leati_simple *simple, const leati_node *source) {
    int32_t at = 0;
    while (simple->nodes[at].source != source)
        at++;
    return at;
}

static void remove_node(leati_simple *simple, const leati_node *source) {
    simple->nodes[place_of(simple, source)].num_outputs = -1;
}

/* Takes the chain's nodes out of the function and puts its node in the place of the last one. */
static void replace(struct search *s, int32_t resize) {
    leati_simple *simple = s->simple;
    const leati_chain *chain = s->chain;
    int32_t last = s->num_members > 0 ? s->members[s->num_members - 1] : resize;
    simple->nodes[last] = chain->node;
    if (chain->decode != NULL)
        remove_node(simple, chain->decode);
    for (int32_t k = 0; k < chain->num_front; k++)
        if (chain->front[k].source != chain->resize)
            remove_node(simple, chain->front[k].source);
    if (s->num_members > 0)
        remove_node(simple, chain->resize);
    for (int32_t k = 0; k + 1 < s->num_members; k++)
        simple->nodes[s->members[k]].num_outputs = -1;
    for (int32_t v = 0; v < simple->num_values; v++)
        simple->values[v].node = -1;
    int32_t kept = 0;
    for (int32_t n = 0; n < simple->num_nodes; n++) {
        if (simple->nodes[n].num_outputs < 0)
            continue;
        simple->nodes[kept] = simple->nodes[n];
        for (int32_t i = 0; i < simple->nodes[kept].num_outputs; i++)
            simple->values[simple->nodes[kept].first_output + i].node = kept;
        kept++;
    }
    simple->num_nodes = kept;
}

/* Looks at the resize at `node`; *found says whether a chain was made. */
static leat_status try_chain(struct search *s, int32_t node, bool *found, leat_error *err) {
    const leati_simple_node *resize = &s->simple->nodes[node];
    const leat_shape *shape = &s->simple->values[resize->first_output].type->shape;
    s->num_members = s->num_inputs = s->turns = 0;
    s->front_flags = 0;
    s->chain->resize = resize->source;
    s->chain->height = (int32_t)shape->dims[0];
    s->chain->width = (int32_t)shape->dims[1];
    s->chain->channels = (int32_t)shape->dims[2];
    s->chain->node.first_output = resize->first_output;
    leat_status status = find_front(s, resize, found, err);
    if (status != LEAT_OK || !*found)
        return status;
    *found = false;
    for (int32_t v = 0; v < s->simple->num_values; v++)
        s->links[v].place = -1;
    s->links[resize->first_output] = (link){.place = 0, .base = resize->first_output};
    find_steps(s, node);
    if (s->chain->decode == NULL && s->num_members == 0 &&
        (s->chain->num_front == 0 || s->chain->front[0].source == s->chain->resize)) {
        leati_free(s->chain->front);
        return LEAT_OK;
    }
    status = make_chain(s, node, err);
    *found = status == LEAT_OK;
    if (*found)
        replace(s, node);
    return status;
}

static void count_uses(struct search *s) {
    for (int32_t n = 0; n < s->simple->num_nodes; n++)
        for (int32_t i = 0; i < s->simple->nodes[n].num_inputs; i++)
            s->uses[s->simple->nodes[n].inputs[i]]++;
    for (int32_t i = 0; i < s->simple->num_outputs; i++)
        s->uses[s->simple->outputs[i]]++;
}

static leat_status find_all(struct search *s, leati_chains *out, leat_error *err) {
    int32_t *scratch = s->inputs;
    for (int32_t n = 0; n < s->simple->num_nodes; n++) {
        bool found = true;
        leati_chain chain = {0};
        if (!begins(s, &s->simple->nodes[n], &chain))
            continue;
        s->chain = &out->items[out->count];
        *s->chain = chain;
        s->inputs = scratch;
        const leati_node *source = s->simple->nodes[n].source;
        leat_status status = try_chain(s, n, &found, err);
        /* What a failed attempt has made belongs to *out, too. */
        out->count += found || status != LEAT_OK;
        if (status != LEAT_OK)
            return status;
        if (found)
            n = place_of(s->simple, out->items[out->count - 1].node.source);
        else
            n = place_of(s->simple, source);
    }
    s->inputs = scratch;
    return LEAT_OK;
}

leat_status leati_chains_find(leati_simple *simple, leati_chains *out, leat_error *err) {
    struct search s = {.simple = simple};
    size_t nodes = 0, inputs = 0, values = (size_t)simple->num_values;
    leati_resize_method method;
    bool antialias;
    for (int32_t n = 0; n < simple->num_nodes; n++) {
        nodes += resizes(&simple->nodes[n], &method, &antialias);
        inputs += (size_t)simple->nodes[n].num_inputs;
    }
    if (nodes == 0 || (simple->flags & (LEATI_STATEFUL | LEATI_IMPURE)))
        return LEAT_OK;
    out->items = leati_alloc_zero(nodes, sizeof *out->items);
    s.uses = leati_alloc_zero(values, sizeof *s.uses);
    s.links = leati_alloc_zero(values, sizeof *s.links);
    s.members = leati_alloc((size_t)simple->num_nodes, sizeof *s.members);
    s.inputs = leati_alloc(inputs, sizeof *s.inputs);
    int32_t *scratch = s.inputs;
    leat_status status = LEAT_OK;
    if (out->items == NULL || s.uses == NULL || s.links == NULL || s.members == NULL ||
        s.inputs == NULL)
        status = leati_no_memory(err);
    if (status == LEAT_OK) {
        count_uses(&s);
        status = find_all(&s, out, err);
    }
    leati_free(s.uses);
    leati_free(s.links);
    leati_free(s.members);
    leati_free(scratch);
    return status;
}

void leati_chains_fini(leati_chains *chains) {
    for (int32_t i = 0; i < chains->count; i++) {
        leati_free(chains->items[i].front);
        leati_free(chains->items[i].steps);
        leati_free(chains->items[i].inputs);
    }
    leati_free(chains->items);
    *chains = (leati_chains){0};
}

static void describe(const leati_node *node, const char *glue, leati_text *text) {
    const leati_tensor_op *op = node->op;
    if (op == &leati_tensor_op_computed)
        op = leati_computed_op(node->args);
    leati_text_addf(text, "%s%s", glue, op->name);
}

void leati_chain_describe(const leati_chain *chain, leati_text *text) {
    const char *glue = "";
    if (chain->decode != NULL) {
        describe(chain->decode, glue, text);
        glue = ", ";
    }
    for (int32_t k = 0; k < chain->num_front; k++) {
        describe(chain->front[k].source, glue, text);
        glue = ", ";
    }
    if (chain->num_front == 0 || chain->front[chain->num_front - 1].source != chain->resize)
        describe(chain->resize, glue, text);
    for (int32_t k = 0; k < chain->num_steps; k++)
        describe(chain->steps[k].source, ", ", text);
}
