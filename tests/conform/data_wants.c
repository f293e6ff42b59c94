/* The operator `wants`: see data_wants.h. A pass-through over pure inputs asks for more or less
 * than it was asked for; over others it asks for no more. What it was handed and does not hand on
 * stays in its input, as in every operator. */
#include "data_wants.h"
#include "data/access/access.h"
#include "data/run/input.h"
#include <string.h>

struct wants_args {
    int64_t seed;
};

static const leati_row wants_rows[] = {
    {.name = "seed",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct wants_args, seed),
     .doc = "Of the sizes."},
    {0},
};

struct wants_state {
    leati_input input;
    uint64_t random;
};

static int64_t pick(struct wants_state *s, int64_t most) {
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return 1 + (int64_t)((s->random >> 33) % (uint64_t)most);
}

static leat_status wants_open(leati_node_state *node, void *state, leat_error *err) {
    struct wants_state *s = state;
    s->random = (uint64_t)((const struct wants_args *)node->dataset->args)->seed;
    leat_status status = leati_input_open(&s->input, node, 0, err);
    s->input.snapshots = LEATI_SNAPSHOTS_ALWAYS;
    return status;
}

static leati_tail wants_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    (void)node;
    struct wants_state *s = state;
    int64_t available = 0, asked = leati_input_pure(&s->input) ? pick(s, 9) : pick(s, want);
    leati_block_clear(out);
    leati_tail tail = leati_input_peek(&s->input, asked, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(&s->input, tail == LEATI_ERROR);
        return tail;
    }
    int64_t most = available < want ? available : want, n = pick(s, most);
    if (leati_block_slice(&s->input.block, leati_input_begin(&s->input), n, out, err) != LEAT_OK)
        return LEATI_ERROR;
    leati_input_consume(&s->input, n);
    return LEATI_MORE;
}

/* Answers some of the first indices. */
static leat_status wants_at(leati_access *access, const int64_t *indices, int64_t n,
                            leati_block *out, leat_error *err) {
    const struct wants_args *args = access->node.dataset->args;
    uint64_t random = ((uint64_t)args->seed + access->calls) * 6364136223846793005u;
    int64_t some = 1 + (int64_t)((random >> 33) % (uint64_t)n);
    return leati_access_input(access, 0, indices, some, out, err);
}

static const leati_dataset_op wants_op = {
    .name = "wants",
    .version = 1,
    .doc = "Random numbers of elements.",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .args_size = sizeof(struct wants_args),
    .rows = wants_rows,
    .state_size = sizeof(struct wants_state),
    .open = wants_open,
    .pull = wants_pull,
    .at = wants_at,
};

leat_dataset *wants_between(leat_dataset *dataset, uint64_t seed, leat_error *err) {
    leat_dataset *inputs[16] = {0}, *inner = dataset;
    struct wants_args args = {.seed = (int64_t)seed};
    int count = dataset->num_inputs;
    /* batch over map and repeat over shuffle mean something else with an operator in between. */
    if (count > 0 && count <= 16 && (dataset->op->flags & LEATI_OP_OWN_INPUTS) == 0) {
        for (int i = 0; i < count; i++) {
            leat_dataset *input = leat_dataset_ref(dataset->inputs[i]);
            bool fused =
                (strcmp(dataset->op->name, "batch") == 0 && strcmp(input->op->name, "map") == 0) ||
                (strcmp(dataset->op->name, "repeat") == 0 &&
                 strcmp(input->op->name, "shuffle") == 0);
            inputs[i] = fused ? input : wants_between(input, seed * 31 + (uint64_t)i + 1, err);
        }
        inner = leati_dataset_with(dataset, NULL, inputs, err);
        leat_dataset_unref(dataset);
    }
    return leati_dataset_new(&wants_op, &args, &inner, 1, err);
}
