/* Saving and restoring iterators.
 *
 * Happy path: save writes what the state begins with (magic, version, fingerprints), the seed
 * generators and caches of the plan, and the tree from the sink down. Restore checks a state as far
 * as it can without opening anything; then it closes the tree, gives the iterator states of its own
 * for what nodes share, and opens the tree in the state.
 *
 * Failures: a state that is damaged, of another plan or of a newer version is refused, and nothing
 * has changed. Where a state fails half way (files that are gone, no memory) the iterator goes back
 * to where it stood, by a state that was taken before; without one, because that could not be
 * saved, or where that fails too, it is broken until another state is restored. One thread uses an
 * iterator at a time. */
#include "base/hash.h"
#include "base/log.h"
#include "data/plan/options.h"
#include "data/run/iterator_parts.h"
#include <string.h>

leat_status leati_iterator_check_whole(const leat_iterator *iterator, leat_error *err) {
    return iterator->broken
               ? leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "restoring this iterator failed; restore another state, or make a "
                            "new one")
               : LEAT_OK;
}

static const char magic[4] = {'L', 'E', 'A', 'T'};
/* CHECKSUM_SEED is the same in every version: so a newer state is told from a damaged one. */
/* Version 1 does not tell what the nodes' caches hold, version 2 not where iterators that alternate
 * have drawn their seeds. */
enum { STATE_VERSION = 3, CHECKSUM_SEED = 1 };

static leat_status check_outside_state(const leat_iterator *iterator, leat_error *err) {
    static int logged;
    if (iterator->state_policy != LEATI_STATE_FAIL && iterator->state_policy != LEATI_STATE_WARN)
        return LEAT_OK;
    const leat_dataset *stateful =
        leati_dataset_with_functions(iterator->dataset, LEATI_IMPURE | LEATI_STATEFUL);
    if (stateful == NULL)
        return LEAT_OK;
    if (iterator->state_policy == LEATI_STATE_WARN) {
        leati_log_once(&logged, LEAT_LOG_WARNING,
                       "saving an iterator: what the function of %s keeps outside of the pipeline "
                       "is not part of the state",
                       stateful->op->name);
        return LEAT_OK;
    }
    return leati_fail(
        err, LEAT_FAILED_PRECONDITION,
        "saving an iterator: the function of %s has effects or a random state outside "
        "of the pipeline, which experimental_external_state_policy FAIL forbids; use "
        "WARN or IGNORE if that state may be lost",
        stateful->op->name);
}

static leat_status write_state(leat_iterator *iterator, leati_save_cost *cost, leati_writer *out,
                               leat_error *err) {
    leati_put_bytes(out, magic, sizeof(magic));
    leati_put_uint(out, STATE_VERSION);
    leati_put_fixed64(out, leat_dataset_fingerprint(iterator->dataset));
    /* The state is that of the plan as it runs: other rewrites have other operators. */
    leati_put_fixed64(out, leat_dataset_fingerprint(iterator->rewritten));
    leati_put_int(out, iterator->taken);
    leat_status status = leati_state_generators_save(iterator->rewritten, iterator->own, out, err);
    leati_writer tree = {0};
    if (status == LEAT_OK)
        status = leati_input_save(&iterator->input, &tree, cost, err);
    /* The tree is written first, because what it refers to may be completed ahead of the consumer
     * meanwhile; it is read last. */
    if (status == LEAT_OK)
        status = leati_own_save(iterator->own, out, cost, err);
    leati_put_raw(out, tree.data, tree.size);
    status = status == LEAT_OK && tree.failed ? leati_no_memory(err) : status;
    leati_writer_fini(&tree);
    leati_put_fixed64(out, leati_hash(out->data, out->size, CHECKSUM_SEED));
    if (status == LEAT_OK && out->failed)
        status = leati_no_memory(err);
    return status;
}

leat_status leat_iterator_save_with(leat_iterator *iterator,
                                    const leat_iterator_save_options *options, char **data,
                                    size_t *size, leat_iterator_save_report *report,
                                    leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_iterator_save_options o = {LEAT_ITERATOR_SAVE_DEFAULTS};
    if (iterator == NULL || data == NULL || size == NULL)
        return leati_refuse(err, VALUE, "leat_iterator_save: an argument is NULL");
    LEATI_TRY(LEATI_OPTIONS(leat_iterator_save_options, &o, options, err));
    if ((unsigned)o.mode > LEAT_SAVE_DATA || o.replay_limit < LEAT_UNLIMITED) {
        return leati_refuse(err, VALUE,
                            "leat_iterator_save: mode is %d and replay_limit %lld; expected a "
                            "leat_iterator_save_mode and 0 or more, or LEAT_UNLIMITED (-1)",
                            (int)o.mode, (long long)o.replay_limit);
    }
    LEATI_TRY(leati_iterator_check_whole(iterator, err));
    if (check_outside_state(iterator, err) != LEAT_OK)
        return LEAT_FAILED_PRECONDITION;
    leati_writer out = {0};
    leati_save_cost cost = {.mode = o.mode, .lasting = true};
    leat_status status = write_state(iterator, &cost, &out, err);
    /* What restoring costs is known once the state is written. */
    if (status == LEAT_OK && o.mode == LEAT_SAVE_AUTO && o.replay_limit >= 0 &&
        cost.replay_elements > o.replay_limit) {
        cost = (leati_save_cost){.mode = LEAT_SAVE_DATA, .lasting = true};
        out.size = 0;
        status = write_state(iterator, &cost, &out, err);
    }
    if (status == LEAT_OK && o.mode == LEAT_SAVE_POSITIONS && cost.data_elements > 0) {
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "leat_iterator_save: %lld elements that operators keep cannot be "
                            "computed again, so positions alone do not do; save with "
                            "LEAT_SAVE_AUTO, or declare the callbacks pure",
                            (long long)cost.data_elements);
    }
    if (status != LEAT_OK) {
        leati_writer_fini(&out);
        return status;
    }
    *data = (char *)out.data;
    *size = out.size;
    if (report != NULL) {
        *report = (leat_iterator_save_report){.bytes = out.size,
                                              .replay_elements = cost.replay_elements,
                                              .data_elements = cost.data_elements};
    }
    return LEAT_OK;
}

leat_status leat_iterator_save(leat_iterator *iterator, char **data, size_t *size,
                               leat_iterator_save_report *report, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leat_iterator_save_with(iterator, NULL, data, size, report, err);
}

static leat_status read_header(const leat_iterator *iterator, leati_reader *in, uint64_t *out,
                               int64_t *taken, leat_error *err) {
    const void *found = NULL;
    size_t size = 0;
    uint64_t version = 0, fingerprint = 0, rewritten = 0;
    leat_status status = leati_get_bytes(in, &found, &size, err);
    if (status != LEAT_OK || size != sizeof(magic) || memcmp(found, magic, size) != 0) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "not the state of an iterator: expected it to begin with LEAT");
    }
    status = leati_get_uint(in, &version, err);
    if (status == LEAT_OK && (version < 1 || version > STATE_VERSION)) {
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "a state of version %llu; this library reads versions 1 to %d",
                            (unsigned long long)version, STATE_VERSION);
    }
    *out = version;
    if (status == LEAT_OK)
        status = leati_get_fixed64(in, &fingerprint, err);
    uint64_t own = leat_dataset_fingerprint(iterator->dataset);
    if (status == LEAT_OK && fingerprint != own) {
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "the state belongs to another plan (fingerprint %016llx, this dataset "
                            "has %016llx); build the "
                            "dataset with the same operators and arguments",
                            (unsigned long long)fingerprint, (unsigned long long)own);
    }
    if (status == LEAT_OK)
        status = leati_get_fixed64(in, &rewritten, err);
    if (status == LEAT_OK && rewritten != leat_dataset_fingerprint(iterator->rewritten)) {
        status = leati_fail(
            err, LEAT_FAILED_PRECONDITION,
            "the state was saved by an iterator with other rewrites; restore it with the same "
            "rewrites option");
    }
    return status == LEAT_OK ? leati_get_int(in, taken, err) : status;
}

/* Is the state whole, and of this plan? Then `in` stands behind what it begins with. */
static leat_status check_state(const leat_iterator *iterator, const char *data, size_t size,
                               leati_reader *in, uint64_t *version, int64_t *taken,
                               leat_error *err) {
    uint64_t checksum = 0;
    if (size < sizeof(checksum)) {
        return leati_fail(err, LEAT_DATA_LOSS, "a state of %zu bytes; expected at least %zu", size,
                          sizeof(checksum));
    }
    leati_reader tail = {.data = (const uint8_t *)data + size - sizeof(checksum),
                         .size = sizeof(checksum)};
    LEATI_TRY(leati_get_fixed64(&tail, &checksum, err));
    if (checksum != leati_hash(data, size - sizeof(checksum), CHECKSUM_SEED)) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "the state is damaged: its checksum does not fit its %zu bytes", size);
    }
    *in = (leati_reader){.data = (const uint8_t *)data, .size = size - sizeof(checksum)};
    return read_header(iterator, in, version, taken, err);
}

/* Opens the tree, which is closed, in the state. */
static leat_status open_state(leat_iterator *iterator, const char *data, size_t size,
                              leat_error *err) {
    leati_reader in = {0};
    uint64_t version = 0;
    int64_t taken = 0;
    LEATI_TRY(check_state(iterator, data, size, &in, &version, &taken, err));
    /* What nodes share first, because operators may draw while they are opened and restored. */
    LEATI_TRY(leati_own_begin(iterator->own, err));
    leati_reader generators = in;
    LEATI_TRY(leati_state_generators_restore(iterator->rewritten, iterator->own, &in, err));
    if (version > 1) {
        iterator->iteration.cancel = leati_cancel_new(iterator->cancel, err);
        if (iterator->iteration.cancel == NULL)
            return err->code;
        LEATI_TRY(leati_own_restore(iterator->own, &iterator->top, version > 2, &in, err));
        leati_iterator_close_tree(iterator);
    }
    iterator->iteration.restored = true;
    LEATI_TRY(leati_iterator_open_tree(iterator, err));
    /* Opening has drawn once more what was drawn before the state was taken. */
    LEATI_TRY(leati_state_generators_restore(iterator->rewritten, iterator->own, &generators, err));
    LEATI_TRY(leati_input_restore(&iterator->input, &in, err));
    leati_own_settle(iterator->own);
    iterator->taken = taken;
    return LEAT_OK;
}

leat_status leat_iterator_restore(leat_iterator *iterator, const char *data, size_t size,
                                  leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (iterator == NULL || data == NULL)
        return leati_refuse(err, VALUE, "leat_iterator_restore: an argument is NULL");
    leati_reader in = {0};
    uint64_t version = 0;
    int64_t taken = 0;
    /* What is refused here has changed nothing. */
    LEATI_TRY(check_state(iterator, data, size, &in, &version, &taken, err));
    leati_writer present = {0};
    leati_save_cost cost = {.lasting = true};
    /* The way back, in case the state cannot be read to its end. */
    bool way_back =
        !iterator->broken && write_state(iterator, &cost, &present, &(leat_error){0}) == LEAT_OK;
    /* The tree is closed before another one is opened: they would write the same files, and call
     * the same functions. */
    leati_iterator_close_tree(iterator);
    leat_error local = {0};
    leat_status status = open_state(iterator, data, size, &local);
    iterator->broken = status != LEAT_OK;
    if (status != LEAT_OK && leati_cancel_fired(iterator->cancel)) {
        /* Elements that do not come again say that, whyever they do not come. */
        leati_fail(&local, LEAT_CANCELLED, "the iterator was cancelled while restoring");
    } else if (status != LEAT_OK && way_back) {
        leati_iterator_close_tree(iterator);
        iterator->broken = open_state(iterator, (const char *)present.data, present.size,
                                      &(leat_error){0}) != LEAT_OK;
    }
    leati_writer_fini(&present);
    return status == LEAT_OK ? LEAT_OK : leati_error_pass(err, &local);
}
