/* Snapshots: datasets that the workers write to a folder (distributed_save): `save` and `commit`.
 *
 * Happy path: `save` makes the folder and a job of its own (DYNAMIC, at_least_once), each of whose
 * tasks is a stream of chunks; a worker commits chunk after chunk, which is a row here before the
 * file has its name, so that one attempt of a stream alone decides what belongs to it. When all
 * streams have come to their end, or one has failed, the snapshot ends, which a file says.
 * The database is written before the files that follow from it, behind the commit
 * (leati_dispatcher_snapshots_write), so whoever sees a file can rely on it.
 *
 * Failures: INVALID_ARGUMENT without a fault tolerant dispatcher or for a dataset without an end,
 * ALREADY_EXISTS where the folder is there; NOT_FOUND for a commit of an attempt that is over. A
 * file that cannot be written is tried again in each turn. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "core/json.h"
#include "data/kept/saved_files.h"
#include "data/kept/saved_rows.h"
#include "data/kept/snapshot_files.h"
#include "file/atomic.h"
#include "file/fs.h"
#include "service/dispatcher/parts.h"
#include <stdio.h>
#include <string.h>

/* Says which request makes the folder, until it has its metadata. */
static const char request_name[] = ".leat-request";

/* ---- save ---- */

static leat_status already(const char *path, const char *what, leat_error *err) {
    return leati_fail(err, LEAT_ALREADY_EXISTS,
                      "distributed_save: %.300s %s; save to another path, or remove it first", path,
                      what);
}

static leat_status find_spec(leati_core *core, const char *dataset, leat_spec **out,
                             leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query, "SELECT spec FROM datasets WHERE id = ?", "t",
                       dataset);
    json_t *json = NULL;
    leat_status status = LEAT_OK;
    if (leati_database_next(&query)) {
        const char *text = leati_database_text(&query, 0);
        json = leati_json_parse(text, strlen(text), err);
        *out = json == NULL ? NULL : leati_json_to_spec(json, err);
        json_decref(json);
        status = *out == NULL ? err->code : LEAT_OK;
    } else if (leati_database_end(&query, err) == LEAT_OK) {
        return leati_dispatcher_unknown_dataset(dataset, err);
    }
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

static leat_status check_dataset(leati_core *core, const char *dataset, leat_error *err) {
    leati_query query;
    leati_database_ask(core->database, &query,
                       "SELECT cardinality, unsplittable FROM datasets WHERE id = ?", "t", dataset);
    leat_status status = LEAT_OK;
    if (leati_database_next(&query)) {
        const char *why_not = leati_database_text(&query, 1);
        if (leati_database_int(&query, 0) == LEAT_INFINITE_CARDINALITY)
            status = leati_refuse(err, VALUE,
                                  "distributed_save: a dataset without an end cannot be saved; "
                                  "take() a number of its elements");
        else if (why_not[0] != '\0')
            status = leati_fail(err, LEAT_UNIMPLEMENTED, "distributed_save: %s", why_not);
    }
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

static leat_status check_path(leati_core *core, const char *path, leat_error *err) {
    int64_t found = 0;
    LEATI_TRY(leati_database_number(core->database, 0, &found, err,
                                    "SELECT 1 FROM snapshots WHERE path = ? AND state < 3", "t",
                                    path));
    return found == 0 ? LEAT_OK : already(path, "is being written", err);
}

/* Is the folder that is there one that an earlier try of this request has made? */
static bool is_ours(const char *request_path, const char *request) {
    leat_buffer *buffer = NULL;
    bool ours = leati_file_read_all(request_path, &buffer, &(leat_error){0}) == LEAT_OK &&
                leat_buffer_size(buffer) == strlen(request) &&
                memcmp(leat_buffer_data(buffer), request, strlen(request)) == 0;
    leat_buffer_unref(buffer);
    return ours;
}

static leat_status make_folder(const struct leati_message_save *said, const leat_spec *spec,
                               leat_error *err) {
    leati_stat stat;
    leat_error local = {0};
    char *request_path = leati_saved_path(said->path, request_name, err);
    if (request_path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_fs_stat(said->path, &stat, &local);
    if (status == LEAT_OK && !is_ours(request_path, said->request))
        status = already(said->path, "is there already", err);
    else if (status != LEAT_OK && status != LEAT_NOT_FOUND)
        status = leati_error_pass(err, &local);
    else
        status = leati_fs_mkdirs(said->path, err);
    if (status == LEAT_OK)
        status = leati_atomic_write_file(request_path, said->request, strlen(said->request), err);
    leati_free(request_path);
    return status == LEAT_OK ? leati_snapshot_prepare(said->path, spec, err) : status;
}

static leat_status insert(leati_core *core, const struct leati_message_save *said,
                          leat_error *err) {
    int64_t job = 0, iteration = 0;
    char name[64];
    LEATI_TRY(leati_dispatcher_new_id(core, &job, err));
    LEATI_TRY(leati_dispatcher_new_id(core, &iteration, err));
    (void)snprintf(name, sizeof name, "distributed_save %lld", (long long)iteration);
    LEATI_TRY(leati_database_run(core->database, err,
                                 "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, 1)", "ittii",
                                 job, name, said->dataset_id, (int64_t)LEAT_SERVICE_DYNAMIC,
                                 (int64_t)LEAT_SERVICE_AT_LEAST_ONCE));
    LEATI_TRY(leati_database_run(core->database, err,
                                 "INSERT INTO iterations VALUES (?, ?, 0, 0, 0, 0, NULL)", "ii",
                                 iteration, job));
    LEATI_TRY(leati_database_run(
        core->database, err,
        "INSERT INTO snapshots VALUES (NULL, ?, ?, ?, ?, ?, 0, 0, NULL, 0, 0, 0)", "tttti",
        said->request, said->path, said->dataset_id,
        said->compression == NULL ? "" : said->compression, iteration));
    core->writes = core->changed = true;
    LEATI_TELL(SERVICE, INFO, "a snapshot is written to %s", said->path);
    return leati_dispatcher_assign(core, iteration, err);
}

static leat_status save(leati_core *core, const struct leati_message_save *said, leat_error *err) {
    int64_t found = 0;
    leat_spec *spec = NULL;
    if (said->request == NULL || said->dataset_id == NULL || said->path == NULL)
        return leati_refuse(err, VALUE, "save: request, dataset_id or path is missing");
    LEATI_TRY(leati_database_number(core->database, 0, &found, err,
                                    "SELECT 1 FROM snapshots WHERE request = ?", "t",
                                    said->request));
    if (found != 0)
        return LEAT_OK;
    if (!core->options.fault_tolerant_mode)
        return leati_refuse(err, VALUE,
                            "distributed_save needs a dispatcher that is fault tolerant; start it "
                            "with fault_tolerant_mode and a work_dir");
    LEATI_TRY(find_spec(core, said->dataset_id, &spec, err));
    leat_status status = leati_saved_check("distributed_save", spec, err);
    if (status == LEAT_OK)
        status = check_dataset(core, said->dataset_id, err);
    if (status == LEAT_OK)
        status = check_path(core, said->path, err);
    if (status == LEAT_OK)
        status = make_folder(said, spec, err);
    leat_spec_unref(spec);
    return status == LEAT_OK ? insert(core, said, err) : status;
}

leat_status leati_dispatcher_ask_save(leati_core *core, leati_core_asked *asked, leat_error *err) {
    struct leati_message_save said;
    LEATI_TRY(leati_messages_read(&leati_message_save, asked->bytes, asked->size, &said, err));
    leat_status status = save(core, &said, err);
    leati_messages_fini(&leati_message_save, &said);
    leati_text_add(&asked->out, "{}", 2);
    return status;
}

/* ---- streams ---- */

leat_status leati_dispatcher_snapshot_grows(leati_core *core, int64_t iteration, bool *grows,
                                            leat_error *err) {
    int64_t ended = 0;
    LEATI_TRY(leati_database_number(core->database, 0, &ended, err,
                                    "SELECT 1 FROM tasks WHERE iteration = ? AND state = 1", "i",
                                    iteration));
    *grows = ended == 0;
    return LEAT_OK;
}

leat_status leati_dispatcher_snapshot_stream(leati_core *core, int64_t task,
                                             const leati_core_iteration *of, leat_error *err) {
    LEATI_TRY(leati_database_run(
        core->database, err,
        "UPDATE tasks SET snapshot = (SELECT path FROM snapshots WHERE id = ?), stream ="
        " (SELECT streams FROM snapshots WHERE id = ?) WHERE id = ?",
        "iii", of->snapshot, of->snapshot, task));
    LEATI_TRY(leati_database_run(core->database, err,
                                 "UPDATE snapshots SET streams = streams + 1 WHERE id = ?", "i",
                                 of->snapshot));
    return leati_database_run(core->database, err, "INSERT INTO streams VALUES (?, 0, 0, 0, 0)",
                              "i", task);
}

leat_status leati_dispatcher_snapshot_tell(leati_core *core, struct leati_message_task *task,
                                           leat_error *err) {
    leati_query query;
    leat_status status = LEAT_OK;
    leati_database_ask(core->database, &query,
                       "SELECT t.snapshot, t.stream, s.compression, w.chunks, w.last_elements,"
                       " w.last_attempt FROM tasks t JOIN snapshots s ON s.iteration = t.iteration"
                       " JOIN streams w ON w.task = t.id WHERE t.id = ?",
                       "i", task->task);
    if (leati_database_next(&query)) {
        task->stream = leati_database_int(&query, 1);
        task->chunks = leati_database_int(&query, 3);
        task->chunk_elements = leati_database_int(&query, 4);
        task->chunk_attempt = leati_database_int(&query, 5);
        status = leati_messages_set_text(&task->snapshot, leati_database_text(&query, 0), err);
        if (status == LEAT_OK)
            status =
                leati_messages_set_text(&task->compression, leati_database_text(&query, 2), err);
    }
    leat_status ended = leati_database_end(&query, status == LEAT_OK ? err : &(leat_error){0});
    return status == LEAT_OK ? ended : status;
}

/* ---- commit ---- */

struct stream {
    bool at_work;
    int64_t chunks, attempt, elements; /* the last two of the last chunk */
};

static leat_status find_stream(leati_core *core, const struct leati_message_commit *said,
                               struct stream *out, leat_error *err) {
    leati_query query;
    *out = (struct stream){0};
    leati_database_ask(core->database, &query,
                       "SELECT w.chunks, w.last_attempt, w.last_elements FROM tasks t"
                       " JOIN iterations i ON i.id = t.iteration JOIN streams w ON w.task = t.id"
                       " WHERE t.id = ? AND t.attempt = ? AND t.state = 0 AND i.state = 0",
                       "ii", said->task, said->attempt);
    if (leati_database_next(&query))
        *out = (struct stream){.at_work = true,
                               .chunks = leati_database_int(&query, 0),
                               .attempt = leati_database_int(&query, 1),
                               .elements = leati_database_int(&query, 2)};
    return leati_database_end(&query, err);
}

static leat_status commit(leati_core *core, const struct leati_message_commit *said,
                          struct leati_message_committed *out, leat_error *err) {
    struct stream stream;
    LEATI_TRY(find_stream(core, said, &stream, err));
    if (!stream.at_work)
        return leati_fail(err, LEAT_NOT_FOUND, "task %lld, attempt %lld, is not at work any more",
                          (long long)said->task, (long long)said->attempt);
    out->chunks = said->chunk + 1;
    /* The answer was lost. */
    if (said->chunk == stream.chunks - 1 && stream.attempt == said->attempt &&
        stream.elements == said->elements)
        return LEAT_OK;
    if (said->chunk != stream.chunks)
        return leati_fail(err, LEAT_INTERNAL,
                          "task %lld commits chunk %lld, and its stream has %lld",
                          (long long)said->task, (long long)said->chunk, (long long)stream.chunks);
    return leati_database_run(core->database, err,
                              "UPDATE streams SET chunks = chunks + 1, elements = elements + ?,"
                              " last_attempt = ?, last_elements = ? WHERE task = ?",
                              "iiii", said->elements, said->attempt, said->elements, said->task);
}

leat_status leati_dispatcher_ask_commit(leati_core *core, leati_core_asked *asked,
                                        leat_error *err) {
    struct leati_message_commit said;
    struct leati_message_committed answer = {0};
    LEATI_TRY(leati_messages_read(&leati_message_commit, asked->bytes, asked->size, &said, err));
    leat_status status = commit(core, &said, &answer, err);
    if (status == LEAT_OK)
        status = leati_messages_write(&leati_message_committed, &answer, &asked->out, err);
    leati_messages_fini(&leati_message_commit, &said);
    return status;
}

/* ---- the end ---- */

leat_status leati_dispatcher_snapshot_end(leati_core *core, int64_t iteration,
                                          const leat_error *why, leat_error *err) {
    core->writes = core->changed = core->assigns = true;
    LEATI_TRY(leati_database_run(
        core->database, err,
        "UPDATE snapshots SET state = 2, code = ?, why = ?, chunks = (SELECT "
        "coalesce(sum(w.chunks),"
        " 0) FROM streams w JOIN tasks t ON t.id = w.task WHERE t.iteration = ?), elements ="
        " (SELECT coalesce(sum(w.elements), 0) FROM streams w JOIN tasks t ON t.id = w.task"
        " WHERE t.iteration = ?) WHERE iteration = ? AND state < 2",
        "itiii", (int64_t)(why == NULL ? LEAT_OK : why->code), why == NULL ? NULL : why->text,
        iteration, iteration, iteration));
    LEATI_TRY(leati_database_run(
        core->database, err,
        "UPDATE jobs SET open = 0 WHERE id = (SELECT job FROM iterations WHERE id = ?)", "i",
        iteration));
    LEATI_TRY(leati_database_run(core->database, err,
                                 "UPDATE iterations SET state = 2 WHERE id = ?", "i", iteration));
    return leati_dispatcher_iteration_drop(core, iteration, err);
}

/* ---- files that follow from the database ---- */

struct pending {
    int64_t id, state, code;
    char *path, *compression, *why, *dataset;
};

static void pending_fini(struct pending *p) {
    leati_free(p->path);
    leati_free(p->compression);
    leati_free(p->why);
    leati_free(p->dataset);
}

/* The next one behind number `after`; id 0: there is none. */
static leat_status find_pending(leati_core *core, int64_t after, struct pending *out,
                                leat_error *err) {
    leati_query query;
    *out = (struct pending){0};
    leati_database_ask(core->database, &query,
                       "SELECT id, state, code, path, compression, why, dataset FROM snapshots"
                       " WHERE state IN (0, 2) AND id > ? ORDER BY id LIMIT 1",
                       "i", after);
    if (leati_database_next(&query)) {
        char **const texts[] = {&out->path, &out->compression, &out->why, &out->dataset};
        out->id = leati_database_int(&query, 0);
        out->state = leati_database_int(&query, 1);
        out->code = leati_database_int(&query, 2);
        for (int i = 0; i < 4; i++) {
            *texts[i] = leati_strdup(leati_database_text(&query, 3 + i));
            out->id = *texts[i] == NULL ? 0 : out->id;
        }
    }
    return leati_database_end(&query, err);
}

static leat_status write_files(leati_core *core, const struct pending *p, leat_error *err) {
    leat_spec *spec = NULL;
    leat_error why = {0};
    LEATI_TRY(find_spec(core, p->dataset, &spec, err));
    leat_status status = leati_snapshot_info_write(p->path, spec, p->compression, err);
    leat_spec_unref(spec);
    LEATI_TRY(status);
    char *request = leati_saved_path(p->path, request_name, err);
    if (request == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* It is gone where the metadata were written before. */
    (void)!leati_fs_remove(request, &(leat_error){0});
    leati_free(request);
    if (p->state == LEATI_SAVE_NEW)
        return LEAT_OK;
    if (p->code == LEAT_OK)
        return leati_snapshot_done_write(p->path, err);
    (void)leati_fail(&why, (leat_status)p->code, "%s", p->why);
    return leati_snapshot_error_write(p->path, &why, err);
}

static leat_status write_one(leati_core *core, const struct pending *p, leat_error *err) {
    LEATI_TRY(write_files(core, p, err));
    LEATI_TRY(leati_database_begin(core->database, err));
    leat_status status = leati_database_run(
        core->database, err, "UPDATE snapshots SET state = state + 1 WHERE id = ? AND state = ?",
        "ii", p->id, p->state);
    if (status != LEAT_OK) {
        leati_database_undo(core->database);
        return status;
    }
    LEATI_TRY(leati_database_commit(core->database, err));
    if (p->state == LEATI_SAVE_ENDING)
        LEATI_TELL(SERVICE, INFO, "the snapshot %s %s%s", p->path,
                   p->code == LEAT_OK ? "is complete" : "has failed: ", p->why);
    return LEAT_OK;
}

void leati_dispatcher_snapshots_write(leati_core *core) {
    int64_t after = 0;
    bool again = core->writes, failed = false;
    while (again) {
        struct pending p;
        leat_error err = {0};
        leat_status status = find_pending(core, after, &p, &err);
        again = status == LEAT_OK && p.id != 0;
        if (again)
            status = write_one(core, &p, &err);
        if (status != LEAT_OK) {
            failed = true;
            leati_log_once(
                &core->writes_logged, LEAT_LOG_WARNING,
                "dispatcher: the files of snapshot %s cannot be written: %s; it is tried "
                "again",
                p.path == NULL ? "" : p.path, err.text);
        }
        after = p.id;
        pending_fini(&p);
    }
    core->writes = failed;
}
