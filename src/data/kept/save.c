/* Dataset.save: a whole dataset to files in a folder.
 *
 * Happy path: an iterator is run block by block, each element goes to its shard of a fresh run, and
 * at the end spec and metadata are written, the metadata last: a reader finds the old dataset or
 * the new one. Each run has a copy of its spec, so that leat reads the old run by the old spec also
 * where a process dies between the two; what TensorFlow reads then, by the folder's spec, fails
 * where the specs differ. With a checkpoint file the files so far are committed from time
 * to time and the iterator's state is written beside what was committed; a later call goes on
 * behind that. Failures: an element's error ends the call and removes the run, or with a checkpoint
 * leaves what the checkpoint speaks of; a process that dies leaves its run, which the next save to
 * the folder removes, unless its checkpoint is there. No locks: one caller. */
#include "base/hash.h"
#include "core/spec.h"
#include "data/kept/saved_reader.h"
#include "data/kept/saved_rows.h"
#include "data/run/iterator.h"
#include "file/atomic.h"
#include "file/tensor_proto.h"
#include <leat/data_ops.h>
#include <string.h>

/* CHECKSUM_SEED is the same in every version: so a newer checkpoint is told from a damaged one.
 * Version 1 has no numbers of elements. */
enum { CHECKPOINT_VERSION = 2, CHECKPOINT_COUNTED = 2, CHECKSUM_SEED = 1 };

static const char checkpoint_magic[] = "leat save";

struct saving {
    leat_dataset *dataset; /* borrowed */
    const char *path, *checkpoint;
    leat_compression compression;
    leati_program *shard; /* NULL: all in shard 0 */
    leati_scratch *scratch;
    leati_block shards;
    leat_iterator *iterator;
    leati_run_writer *writer;
    leati_saved_info info;
    int64_t interval, since; /* elements, and since the last checkpoint */
    bool counted;            /* the checkpoint that was read has numbers of elements */
    bool done;               /* an earlier call had come to its end but for the checkpoint */
};

/* ---- checkpoints ---- */

static leat_status write_checkpoint(struct saving *s, leat_error *err) {
    char *state = NULL;
    size_t size = 0;
    leati_writer out = {0};
    /* The files first: a state that is behind records which are not on the disk would lose them. */
    leat_status status = leati_saved_writer_commit(s->writer, err);
    if (status == LEAT_OK)
        status = leat_iterator_save(s->iterator, &state, &size, NULL, err);
    if (status == LEAT_OK) {
        leati_put_bytes(&out, checkpoint_magic, sizeof(checkpoint_magic));
        leati_put_uint(&out, CHECKPOINT_VERSION);
        leati_put_bytes(&out, s->path, strlen(s->path));
        leati_put_uint(&out, s->compression);
        leati_saved_put_run(&out, s->info.run);
        leati_put_int(&out, s->info.created_us);
        leati_put_int(&out, s->info.num_elements);
        leati_saved_writer_save(s->writer, &out);
        leati_put_bytes(&out, state, size);
        leati_put_fixed64(&out, leati_hash(out.data, out.size, CHECKSUM_SEED));
        status = out.failed ? leati_no_memory(err)
                            : leati_atomic_write_file(s->checkpoint, out.data, out.size, err);
    }
    leati_writer_fini(&out);
    leat_text_free(state);
    s->since = 0;
    return status;
}

static leat_status bad_checkpoint(const struct saving *s, const char *what, leat_error *err) {
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "save: %.200s: %s; remove it to save from the start", s->checkpoint, what);
}

/* What the file says it is, up to the run's name. */
static leat_status read_header(struct saving *s, leati_reader *in, leat_error *err) {
    const void *magic = NULL, *path = NULL;
    size_t magic_size = 0, path_size = 0;
    uint64_t version = 0, compression = 0;
    leat_status status = leati_get_bytes(in, &magic, &magic_size, err);
    if (status != LEAT_OK || magic_size != sizeof(checkpoint_magic) ||
        memcmp(magic, checkpoint_magic, magic_size) != 0)
        return bad_checkpoint(s, "not the checkpoint of a save", err);
    status = leati_get_uint(in, &version, err);
    if (status != LEAT_OK || version < 1 || version > CHECKPOINT_VERSION)
        return bad_checkpoint(s, "of another version of leat", err);
    s->counted = version >= CHECKPOINT_COUNTED;
    status = leati_get_bytes(in, &path, &path_size, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &compression, err);
    if (status == LEAT_OK &&
        (path_size != strlen(s->path) || memcmp(path, s->path, path_size) != 0 ||
         compression != (uint64_t)s->compression))
        /* Going on would put files of two kinds into one run, or a run into two folders. */
        return bad_checkpoint(s, "of a save to another path or with another compression", err);
    return status == LEAT_OK ? leati_saved_get_run(in, s->info.run, err) : status;
}

/* Goes on where a checkpoint says, unless that save was finished. */
static leat_status resume(struct saving *s, leati_reader *in, leat_error *err) {
    leati_saved_info now;
    bool found = false;
    const void *state = NULL;
    size_t size = 0;
    leat_status status = read_header(s, in, err);
    if (status == LEAT_OK)
        status = leati_saved_info_read(s->path, &now, &found, err);
    if (status == LEAT_OK && found && now.finalized && strcmp(now.run, s->info.run) == 0) {
        s->done = true;
        return LEAT_OK;
    }
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->info.created_us, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->info.num_elements, err);
    if (status == LEAT_OK)
        status = leati_saved_writer_open(s->path, s->info.run, s->compression, s->checkpoint,
                                         &s->writer, err);
    if (status == LEAT_OK)
        status = leati_saved_writer_restore(s->writer, in, s->counted, false, err);
    if (status == LEAT_OK)
        status = leati_get_bytes(in, &state, &size, err);
    return status == LEAT_OK ? leat_iterator_restore(s->iterator, state, size, err) : status;
}

/* Reads the checkpoint, if there is one. */
static leat_status look_for_checkpoint(struct saving *s, leat_error *err) {
    leat_buffer *buffer = NULL;
    leat_error local = {0};
    uint64_t hash = 0;
    if (s->checkpoint == NULL)
        return LEAT_OK;
    leat_status status = leati_file_read_all(s->checkpoint, &buffer, &local);
    if (status != LEAT_OK)
        return status == LEAT_NOT_FOUND ? LEAT_OK : leati_error_pass(err, &local);
    leati_reader in = {.data = leat_buffer_data(buffer), .size = leat_buffer_size(buffer)};
    if (in.size < sizeof(hash)) {
        status = bad_checkpoint(s, "not the checkpoint of a save", err);
    } else {
        /* The last bytes are the hash of all before them. */
        in.at = in.size - sizeof(hash);
        status = leati_get_fixed64(&in, &hash, err);
        in = (leati_reader){.data = in.data, .size = in.size - sizeof(hash)};
    }
    if (status == LEAT_OK && hash != leati_hash(in.data, in.size, CHECKSUM_SEED))
        status = bad_checkpoint(s, "a damaged checkpoint", err);
    status = status == LEAT_OK ? resume(s, &in, err) : status;
    leat_buffer_unref(buffer);
    return status;
}

/* ---- the run ---- */

static leat_status prepare(struct saving *s, const leat_dataset_save_options *options,
                           leat_error *err) {
    const leat_spec *spec = leat_dataset_spec(s->dataset);
    leat_status status = leati_saved_check("save", spec, err);
    if (status == LEAT_OK)
        status = leati_saved_compression("save", options->compression, false, &s->compression, err);
    if (status == LEAT_OK) {
        status =
            leati_saved_check_shard("save", (const leat_object *)options->shard_func, spec, err);
    }
    if (status == LEAT_OK && options->checkpoint_interval < 1) {
        status = leati_refuse(err, VALUE, "save: checkpoint_interval is %lld; expected at least 1",
                              (long long)options->checkpoint_interval);
    }
    if (status == LEAT_OK && options->shard_func != NULL) {
        s->shard = leati_program_new(options->shard_func, err);
        s->scratch = s->shard == NULL ? NULL : leati_program_scratch_new(s->shard, err);
        status = s->scratch == NULL ? err->code : LEAT_OK;
    }
    if (status == LEAT_OK) {
        s->iterator = leat_iterator_new(s->dataset, NULL, err);
        status = s->iterator == NULL ? err->code : LEAT_OK;
    }
    return status;
}

/* Writes up to n rows of the iterator's block; *n gets how many. */
static leat_status write_rows(struct saving *s, int64_t *n, leat_error *err) {
    int64_t begin = 0;
    const leati_block *block = leati_iterator_block(s->iterator, &begin);
    leat_status status = LEAT_OK;
    if (s->checkpoint != NULL && *n > s->interval - s->since)
        /* A checkpoint may fall into the middle of a block; what is left of it comes at the next
         * peek. */
        *n = s->interval - s->since;
    if (s->shard != NULL) {
        status = leati_saved_shards(NULL, s->shard, s->scratch, block, begin, *n,
                                    s->info.num_elements, &s->shards, err);
        /* Fewer where the function fails at a later row: those before it are written first. */
        *n = s->shards.n;
    }
    for (int64_t i = 0; i < *n && status == LEAT_OK; i++) {
        int64_t shard =
            s->shard == NULL ? 0 : *(const int64_t *)leati_column_row(&s->shards.columns[0], i);
        status = leati_saved_writer_add(s->writer, shard, NULL, leat_dataset_spec(s->dataset),
                                        block, begin + i, err);
    }
    return status;
}

static leat_status write_all(struct saving *s, leat_error *err) {
    for (;;) {
        int64_t available = 0;
        leati_tail tail = leati_iterator_peek(s->iterator, &available, err);
        if (available == 0)
            return tail == LEATI_END ? LEAT_OK : err->code;
        leat_status status = write_rows(s, &available, err);
        if (status == LEAT_OK) {
            leati_iterator_consume(s->iterator, available);
            s->info.num_elements += available;
            s->since += available;
        }
        if (status == LEAT_OK && s->checkpoint != NULL && s->since >= s->interval)
            status = write_checkpoint(s, err);
        if (status != LEAT_OK)
            return status;
    }
}

/* ---- the folder ---- */

/* Gives the run that the folder holds, of leat 0.1.0 or TensorFlow, a copy of the folder's spec,
 * which is about to become `spec`. */
static leat_status keep_spec(const struct saving *s, const char *path, const leati_writer *spec,
                             leat_error *err) {
    leati_saved_info old;
    bool found = false;
    leat_buffer *buffer = NULL;
    leat_error local = {0};
    leati_stat stat;
    leat_status status = leati_saved_info_read(s->path, &old, &found, &local);
    /* Metadata that cannot be read are of nothing that could be kept. */
    if (status != LEAT_OK || !found || !old.finalized ||
        leati_file_read_all(path, &buffer, &local) != LEAT_OK)
        return LEAT_OK;
    bool same = leat_buffer_size(buffer) == spec->size &&
                memcmp(leat_buffer_data(buffer), spec->data, spec->size) == 0;
    char *run = same ? NULL : leati_saved_path(s->path, old.run, err);
    char *copy = run == NULL ? NULL : leati_saved_path(run, LEATI_SAVED_SPEC, err);
    status = same || copy != NULL ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
    if (copy != NULL && leati_fs_stat(run, &stat, &local) == LEAT_OK &&
        leati_fs_stat(copy, &stat, &local) == LEAT_NOT_FOUND) {
        status =
            leati_atomic_write_part(copy, leat_buffer_data(buffer), leat_buffer_size(buffer), err);
    }
    leat_buffer_unref(buffer);
    leati_free(copy);
    leati_free(run);
    return status;
}

/* Writes the spec into the run, then into the folder. */
static leat_status write_spec(const struct saving *s, leat_error *err) {
    leati_writer spec = {0};
    char *path = leati_saved_path(s->path, LEATI_SAVED_SPEC, err);
    char *run = path == NULL ? NULL : leati_saved_path(s->path, s->info.run, err);
    char *own = run == NULL ? NULL : leati_saved_path(run, LEATI_SAVED_SPEC, err);
    leat_status status =
        own == NULL ? LEAT_RESOURCE_EXHAUSTED
                    : leati_tensor_proto_put_spec(&spec, leat_dataset_spec(s->dataset), err);
    if (status == LEAT_OK)
        status = leati_atomic_write_part(own, spec.data, spec.size, err);
    if (status == LEAT_OK)
        status = keep_spec(s, path, &spec, err);
    if (status == LEAT_OK)
        status = leati_atomic_write_part(path, spec.data, spec.size, err);
    leati_writer_fini(&spec);
    leati_free(own);
    leati_free(run);
    leati_free(path);
    return status;
}

static leat_status finish(struct saving *s, leat_error *err) {
    LEATI_TRY(leati_saved_writer_finish(s->writer, err));
    LEATI_TRY(write_spec(s, err));
    return leati_saved_writer_publish(s->writer, s->path, &s->info, leat_dataset_spec(s->dataset),
                                      err);
}

static leat_status run(struct saving *s, leat_error *err) {
    s->info = leati_saved_info_new();
    leat_status status = look_for_checkpoint(s, err);
    if (status == LEAT_OK && !s->done && s->writer == NULL)
        status = leati_saved_writer_open(s->path, s->info.run, s->compression, s->checkpoint,
                                         &s->writer, err);
    if (status == LEAT_OK && !s->done)
        status = write_all(s, err);
    if (status == LEAT_OK && !s->done)
        status = finish(s, err);
    if (status == LEAT_OK && s->checkpoint != NULL) {
        leat_error local = {0};
        leat_status removed = leati_fs_remove(s->checkpoint, &local);
        status = removed == LEAT_OK || removed == LEAT_NOT_FOUND
                     ? LEAT_OK
                     : leati_fail(err, removed, "save: %s", local.text);
    } else if (status != LEAT_OK && s->checkpoint == NULL) {
        leati_saved_writer_discard(s->writer);
        s->writer = NULL;
    }
    return status;
}

leat_status leat_dataset_save(leat_dataset *dataset, const char *path,
                              const leat_dataset_save_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_save_options o = {LEAT_DATASET_SAVE_DEFAULTS};
    leat_error fresh = {0};
    if (dataset == NULL || path == NULL) {
        return err->code != LEAT_OK ? err->code
                                    : leati_refuse(err, VALUE, "save: %s is NULL",
                                                   dataset == NULL ? "dataset" : "path");
    }
    LEATI_TRY(LEATI_OPTIONS(leat_dataset_save_options, &o, options, err));
    struct saving s = {.dataset = dataset,
                       .path = path,
                       .checkpoint = o.checkpoint,
                       .interval = o.checkpoint_interval};
    leat_status status = prepare(&s, &o, &fresh);
    if (status == LEAT_OK)
        status = run(&s, &fresh);
    leati_saved_writer_close(s.writer);
    leat_iterator_free(s.iterator);
    leati_block_fini(&s.shards);
    leati_program_scratch_free(s.scratch);
    leati_program_free(s.shard);
    if (status != LEAT_OK)
        *err = fresh;
    return status;
}
