/* Reading a child: see input.h for the contract.
 *
 * Happy path: peek pulls a block when the last one is used up, consume moves on in it. What an
 * operator does not consume stays here, together with the child's state from before the block (the
 * snapshot), so that save needs no data: it writes the snapshot and the number of outcomes consumed
 * since, and restore lets the child advance by that number. A block can only be left over where
 * more was asked for than used, which operators do on pure inputs alone; so a snapshot is taken for
 * requests of more than one outcome to pure children. A leftover of an impure child is saved as
 * data (a replay would repeat its effects). */
#include "data/run/input.h"
#include "base/minmax.h"
#include "core/verify.h"
#include "data/run/own.h"
#include "data/values/values.h"
#include <string.h>

/* Verification mode: what each input remembers. */
struct leati_verify {
    uint64_t seed;
};

static leat_status open_verify(leati_input *input, leati_node_state *node, leat_error *err) {
    if (!node->iteration->verify)
        return LEAT_OK;
    input->verify = leati_alloc_zero(1, sizeof(*input->verify));
    if (input->verify == NULL)
        return leati_no_memory(err);
    input->verify->seed = node->iteration->verify_seed + (uint64_t)node->depth * 977;
    return LEAT_OK;
}

leat_status leati_input_open_dataset(leati_input *input, leati_node_state *node,
                                     const leat_dataset *dataset, leati_iteration *iteration,
                                     leat_error *err) {
    memset(input, 0, sizeof(*input));
    LEATI_TRY(open_verify(input, node, err));
    leat_error local = {0};
    input->child = leati_state_node_open(dataset, iteration, node, &local);
    if (input->child == NULL) {
        *err = local;
        leati_input_close(input);
        return local.code;
    }
    return LEAT_OK;
}

leat_status leati_input_open(leati_input *input, leati_node_state *node, int index,
                             leat_error *err) {
    return leati_input_open_dataset(input, node, node->dataset->inputs[index], node->iteration,
                                    err);
}

void leati_input_close(leati_input *input) {
    leati_state_node_close(input->child);
    leati_block_fini(&input->block);
    leati_writer_fini(&input->snapshot);
    leati_free(input->verify);
    memset(input, 0, sizeof(*input));
}

static void forget_block(leati_input *input) {
    leati_block_clear(&input->block);
    input->loaded = false;
    input->consumed = 0;
    input->snapshot.size = 0;
    input->snapshot.failed = false;
}

leat_status leati_input_reset(leati_input *input, leat_error *err) {
    forget_block(input);
    input->ended = false;
    return leati_state_node_reset(input->child, err);
}

bool leati_input_pure(const leati_input *input) {
    return input->child->dataset->pure;
}

bool leati_input_failed_at_end(const leati_input *input) {
    return input->loaded && input->tail == LEATI_ERROR && input->error.at_end &&
           input->consumed >= input->block.n;
}

/* Has the reader consumed an error that ends the child for it? */
static bool ended_by_error(const leati_input *input) {
    return input->ends_at_error && leati_input_failed_at_end(input) &&
           input->consumed > input->block.n;
}

static uint64_t next_random(struct leati_verify *verify) {
    /* Knuth's linear congruential generator (MMIX): any numbers do, so long as they come again. */
    verify->seed = verify->seed * 6364136223846793005u + 1442695040888963407u;
    return verify->seed >> 33;
}

/* Checks that whoever read the last block left it as it was, and makes the new one look different.
 */
static void verify_block(leati_input *input) {
    if (input->block.n == 0)
        return;
    leati_block other = {0};
    if (leati_verify_reencode(&input->block, next_random(input->verify), &other,
                              &(leat_error){0}) == LEAT_OK)
        leati_block_move(&other, &input->block);
    leati_block_fini(&other);
    input->checksum = leati_block_checksum(&input->block);
}

static leat_status check_block(const leati_input *input, leat_error *err) {
    if (input->verify == NULL || !input->loaded || input->block.n == 0 ||
        leati_block_checksum(&input->block) == input->checksum)
        return LEAT_OK;
    return leati_fail(err, LEAT_INTERNAL,
                      "a block of %s was changed by its reader; blocks are immutable",
                      input->child->name);
}

static bool needs_snapshot(const leati_input *input, int64_t want) {
    switch (input->snapshots) {
    case LEATI_SNAPSHOTS_AHEAD: return want > 1 && leati_input_pure(input);
    case LEATI_SNAPSHOTS_ALWAYS:
        return leati_own_replays(input->child->iteration->own, input->child->dataset);
    default: return false;
    }
}

/* A snapshot that is larger than its rows are worth is paid for by rows that are asked for one at a
 * time, which need none: else a child that holds much is written at every block. */
static void weigh_snapshot(leati_input *input) {
    enum { BYTES_OF_ROW = 64, BYTES_OF_BLOCK = 4096 };
    if (input->snapshots == LEATI_SNAPSHOTS_AHEAD && input->verify == NULL &&
        input->snapshot.size > BYTES_OF_BLOCK + BYTES_OF_ROW * (size_t)input->block.n)
        input->num_single = (int64_t)(input->snapshot.size / BYTES_OF_ROW);
}

/* Pulls the next block. On a failure of the framework itself the result is an ERROR tail of an
 * empty block. */
static void load(leati_input *input, int64_t want, const leati_destination *destinations) {
    input->error.code = LEAT_OK;
    leat_status status = check_block(input, &input->error);
    forget_block(input);
    if (input->num_single > 0 && want > 1) {
        input->num_single--;
        want = 1;
    }
    if (status == LEAT_OK && needs_snapshot(input, want)) {
        input->cost = (leati_save_cost){0};
        status = leati_state_node_save(input->child, &input->snapshot, &input->cost, &input->error);
        if (status == LEAT_FAILED_PRECONDITION || status == LEAT_UNIMPLEMENTED) {
            input->snapshot.size = 0; /* of what cannot be saved; reading goes on */
            status = LEAT_OK;
        }
    }
    input->loaded = true;
    if (status != LEAT_OK) {
        input->tail = LEATI_ERROR;
        return;
    }
    if (input->verify != NULL && want > 1) {
        /* Fewer than asked for, and destinations not always: both are legal, and easily
         * forgotten. */
        want = 1 + (int64_t)(next_random(input->verify) % (uint64_t)want);
        destinations = next_random(input->verify) % 2 == 0 ? destinations : NULL;
    }
    input->error.code = LEAT_OK;
    input->block.destinations = destinations;
    /* Who offers destinations has memory for all rows, so nothing bounds their bytes. */
    input->block.byte_target = destinations == NULL ? LEATI_BYTE_TARGET : 0;
    input->tail = leati_state_node_pull(input->child, want, &input->block, &input->error);
    input->block.destinations = NULL;
    weigh_snapshot(input);
    if (input->verify != NULL)
        verify_block(input);
}

leati_tail leati_input_peek(leati_input *input, int64_t want, const leati_destination *destinations,
                            int64_t *available, leat_error *err) {
    *available = 0;
    for (;;) {
        if (ended_by_error(input)) {
            input->ended = true;
            forget_block(input);
        }
        if (input->ended)
            return LEATI_END;
        if (input->loaded) {
            int64_t left = input->block.n - input->consumed;
            if (left > 0) {
                *available = left;
                return LEATI_MORE;
            }
            if (input->tail == LEATI_END) {
                input->ended = true;
                forget_block(input);
                return LEATI_END;
            }
            if (input->tail == LEATI_ERROR && left == 0) {
                *err = input->error;
                err->at_end = err->at_end && !input->ends_at_error;
                return LEATI_ERROR;
            }
        }
        load(input, want, destinations);
    }
}

int64_t leati_input_begin(const leati_input *input) {
    return input->consumed;
}

void leati_input_consume(leati_input *input, int64_t n) {
    input->consumed += n;
}

leati_tail leati_input_take(leati_input *input, int64_t want, leati_block *out, leat_error *err) {
    int64_t available = 0;
    leati_tail tail = leati_input_peek(input, want, out->destinations, &available, err);
    if (available == 0) {
        if (tail == LEATI_ERROR)
            leati_input_consume(input, 1);
        leati_block_clear(out);
        return tail;
    }
    int64_t n = LEATI_MIN(available, want);
    if (input->consumed == 0 && n == input->block.n && input->verify == NULL) {
        /* The whole block: hand it over as it is. Its snapshot stays valid, since all of it counts
         * as consumed. */
        leati_block_move(&input->block, out);
        input->block.n = n;
    } else if (leati_block_slice(&input->block, input->consumed, n, out, err) != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    leati_input_consume(input, n);
    /* An error is one outcome more: where no more are wanted it waits for the next call. */
    bool follows = input->tail == LEATI_END || (input->tail == LEATI_ERROR && n < want);
    if (input->consumed == input->block.n && follows) {
        tail = leati_input_peek(input, 1, NULL, &available, err);
        if (tail == LEATI_ERROR)
            leati_input_consume(input, 1);
        return tail;
    }
    return LEATI_MORE;
}

leati_tail leati_input_advance(leati_input *input, int64_t n, int64_t *passed, leat_error *err) {
    *passed = 0;
    if (input->loaded && !input->ended) {
        int64_t outcomes = input->block.n + (input->tail == LEATI_ERROR);
        int64_t left = outcomes - input->consumed;
        int64_t take = LEATI_MIN(left, n);
        input->consumed += take;
        *passed = take;
        /* The end is no outcome: it is reached with the last one before it. */
        if ((input->consumed == outcomes && input->tail == LEATI_END) || ended_by_error(input))
            input->ended = true;
    }
    if (input->ended) {
        forget_block(input);
        return LEATI_END;
    }
    if (*passed == n)
        return LEATI_MORE;
    forget_block(input);
    int64_t more = 0;
    leat_error local = {0};
    leati_tail tail = leati_state_node_advance(input->child, n - *passed, &more, &local);
    *passed += more;
    input->ended = tail == LEATI_END || (input->ends_at_error && local.at_end);
    if (tail == LEATI_ERROR) {
        *err = local;
        err->at_end = err->at_end && !input->ends_at_error;
    }
    return tail;
}

bool leati_input_skips(const leati_input *input) {
    return input->child->dataset->op->skip != NULL;
}

leati_tail leati_input_skip(leati_input *input, int64_t n, int64_t *skipped, leat_error *err) {
    *skipped = 0;
    while (*skipped < n) {
        if (ended_by_error(input)) {
            input->ended = true;
            forget_block(input);
        }
        /* What peek has read comes first; behind it the child can skip. */
        bool leftover =
            input->loaded &&
            (input->consumed < input->block.n ||
             (input->tail != LEATI_MORE && !input->ended && input->consumed == input->block.n));
        if (!leftover && !input->ended && leati_input_skips(input)) {
            forget_block(input);
            int64_t more = 0;
            leati_tail tail = leati_state_node_skip(input->child, n - *skipped, &more, err);
            *skipped += more;
            input->ended = tail == LEATI_END;
            if (tail == LEATI_ERROR && input->ends_at_error && err->at_end) {
                input->ended = true;
                err->at_end = false;
            }
            return tail;
        }
        int64_t available = 0;
        leati_tail tail = leati_input_peek(input, n - *skipped, NULL, &available, err);
        if (available == 0) {
            leati_input_consume(input, tail == LEATI_ERROR);
            return tail;
        }
        int64_t take = LEATI_MIN(available, n - *skipped);
        leati_input_consume(input, take);
        *skipped += take;
    }
    return LEATI_MORE;
}

/* How the state is written: the child as it is now, a snapshot and a count, or the leftover itself.
 */
enum { SAVED_ENDED = 0, SAVED_NOW, SAVED_REPLAY, SAVED_DATA };

/* Datasets among the values may be of a kind that is no data. */
static bool holds_objects(const leati_block *block) {
    for (int c = 0; c < block->num_columns; c++)
        if (block->columns[c].dtype == LEAT_OBJECT)
            return true;
    return false;
}

leat_status leati_input_save(leati_input *input, leati_writer *out, leati_save_cost *cost,
                             leat_error *err) {
    /* An ended child is saved too: it may hold what the next epoch needs, such as the state of a
     * seed generator. */
    int64_t outcomes = input->block.n + (input->tail == LEATI_ERROR);
    bool leftover = input->loaded && (input->consumed < outcomes || input->tail == LEATI_END);
    if (input->ended || ended_by_error(input) ||
        (leftover && input->consumed == outcomes && input->tail == LEATI_END)) {
        leati_put_uint(out, SAVED_ENDED);
        return leati_state_node_save(input->child, out, cost, err);
    }
    if (!leftover) {
        leati_put_uint(out, SAVED_NOW);
        return leati_state_node_save(input->child, out, cost, err);
    }
    if (input->snapshot.size > 0 &&
        (cost->mode != LEAT_SAVE_DATA || holds_objects(&input->block))) {
        leati_put_uint(out, SAVED_REPLAY);
        leati_put_bytes(out, input->snapshot.data, input->snapshot.size);
        leati_put_int(out, input->consumed);
        cost->replay_elements += input->consumed;
        leati_op_save_cost_add(cost, &input->cost);
        return out->failed ? leati_no_memory(err) : LEAT_OK;
    }
    leati_put_uint(out, SAVED_DATA);
    cost->data_elements += input->block.n > input->consumed ? input->block.n - input->consumed : 0;
    leat_status status = leati_values_put_block(
        out, &input->block, input->consumed,
        input->block.n > input->consumed ? input->block.n - input->consumed : 0, err);
    if (status != LEAT_OK)
        return leati_prefix(err, "%s", input->child->name);
    /* The child is saved as it stands, behind what is left over. */
    leati_put_uint(out, (uint64_t)input->tail);
    if (input->tail == LEATI_ERROR)
        leati_values_put_error(out, &input->error);
    return leati_state_node_save(input->child, out, cost, err);
}

leat_status leati_input_came_again(const char *name, int64_t wanted, int64_t passed,
                                   leati_tail tail, const leat_error *last, leat_error *err) {
    if (tail == LEATI_ERROR && !leati_state_recurs(last))
        return leati_error_pass(err, last);
    if (passed != wanted)
        return leati_fail(err, LEAT_DATA_LOSS,
                          "%s: the saved state is %lld outcomes after a point from which only %lld "
                          "came again; restore with the same input files",
                          name, (long long)wanted, (long long)passed);
    return LEAT_OK;
}

static leat_status restore_replay(leati_input *input, leati_reader *in, leat_error *err) {
    const void *data = NULL;
    leati_reader snapshot = {0};
    int64_t consumed = 0, passed = 0;
    leat_status status = leati_get_bytes(in, &data, &snapshot.size, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &consumed, err);
    if (status == LEAT_OK && consumed < 0) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved input %lld outcomes after a point",
                            input->child->name, (long long)consumed);
    }
    if (status != LEAT_OK)
        return status;
    snapshot.data = data;
    status = leati_state_node_restore(input->child, &snapshot, err);
    if (status != LEAT_OK)
        return status;
    leat_error local = {0};
    leati_tail tail = leati_input_advance(input, consumed, &passed, &local);
    return leati_input_came_again(input->child->name, consumed, passed, tail, &local, err);
}

static leat_status restore_data(leati_input *input, leati_reader *in, leat_error *err) {
    uint64_t tail = 0;
    leat_status status =
        leati_values_get_block(in, input->child->dataset->spec, &input->block, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &tail, err);
    if (status == LEAT_OK && tail > LEATI_ERROR) {
        status = leati_fail(err, LEAT_DATA_LOSS, "%s: a saved tail of %llu; expected 0 to 2",
                            input->child->name, (unsigned long long)tail);
    }
    if (status == LEAT_OK && tail == LEATI_ERROR)
        status = leati_values_get_error(in, &input->error, err);
    if (status != LEAT_OK)
        return status;
    input->tail = (leati_tail)tail;
    input->loaded = true;
    input->consumed = 0;
    if (input->verify != NULL && input->block.n > 0)
        input->checksum = leati_block_checksum(&input->block);
    return leati_state_node_restore(input->child, in, err);
}

leat_status leati_input_restore(leati_input *input, leati_reader *in, leat_error *err) {
    uint64_t how = 0;
    LEATI_TRY(leati_get_uint(in, &how, err));
    forget_block(input);
    input->ended = how == SAVED_ENDED;
    switch (how) {
    case SAVED_ENDED:
    case SAVED_NOW: return leati_state_node_restore(input->child, in, err);
    case SAVED_REPLAY: return restore_replay(input, in, err);
    case SAVED_DATA: return restore_data(input, in, err);
    default:
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved input of kind %llu; expected 0 to 3",
                          input->child->name, (unsigned long long)how);
    }
}
