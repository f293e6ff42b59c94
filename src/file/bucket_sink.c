/* Writing an object in parts that go up side by side: S3's, and Azure's blocks.
 *
 * Happy path: up to 16 MiB are gathered and put by one request. More goes up in parts, several at a
 * time, while the caller writes on; settling waits for the last of them, and the put has them made
 * one object. Parts get larger as there get more of them, since their number is limited. Nobody
 * sees anything of the object before the put, and then all of it.
 * Failures: those of requests. A sink that is closed before its put has its parts removed by a
 * request that nobody waits for; where that fails, too, the bucket's rule for incomplete uploads
 * has to. Azure drops blocks that nobody lists after a week. Locks: none, one owner. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "file/bucket.h"
#include <string.h>

enum { PART_BYTES = 16 << 20, PARTS_PER_SIZE = 1000, PARTS_TOGETHER = 4 };

typedef struct bucket_part {
    leati_net_request *request; /* NULL once `version` is known */
    char version[LEATI_NET_VERSION_BYTES];
} bucket_part;

typedef struct bucket_sink {
    leati_bucket_writing writing;
    char *upload; /* the number of the upload in parts; NULL: none was begun */
    bucket_part *parts;
    size_t num_parts, room;
    size_t done; /* parts before this one are at the service */
} bucket_sink;

/* ---- requests ---- */

static const leati_bucket_parts *parts_of(const bucket_sink *sink) {
    return sink->writing.place.dialect->parts;
}

/* Starts a request for the object; `body` is given. `query` NULL: none. */
static leat_status start(const bucket_sink *sink, leati_net_method method, const char *query,
                         void *body, size_t size, leati_net_request **out, leat_error *err) {
    char *url = sink->writing.place.dialect->url(&sink->writing.place, query);
    if (url == NULL) {
        leati_free(body);
        return leati_no_memory(err);
    }
    leati_net_ask ask = leati_bucket_ask(&sink->writing.place);
    ask.url = url;
    ask.body = body;
    ask.method = method;
    ask.body_size = size;
    ask.header = method == LEATI_NET_PUT && query == NULL ? parts_of(sink)->header : NULL;
    leat_status status = leati_net_start(&ask, out, err);
    leati_free(url);
    return status;
}

static char *query_of(const bucket_sink *sink, size_t number) {
    return parts_of(sink)->query(sink->upload, number);
}

/* Its own name, by which its parts are told from those of others who write the same object. */
static leat_status name_upload(bucket_sink *sink, leat_error *err) {
    uint64_t number = 0;
    leati_text name = {0};
    if (!leati_random_secret(&number, sizeof number))
        number = (uint64_t)leati_now_ns();
    leati_text_addf(&name, "%016llx", (unsigned long long)number);
    sink->upload = leati_text_take(&name);
    return sink->upload != NULL ? LEAT_OK : leati_no_memory(err);
}

static leat_status begin_upload(bucket_sink *sink, leat_error *err) {
    leati_net_request *request = NULL;
    const char *query = parts_of(sink)->begin_query;
    if (query == NULL)
        return name_upload(sink, err);
    LEATI_TRY(start(sink, LEATI_NET_POST, query, NULL, 0, &request, err));
    leat_status status = leati_net_wait(request, SIZE_MAX, err);
    if (status == LEAT_OK) {
        sink->upload = leati_bucket_element((const char *)leati_net_data(request),
                                            leati_net_size(request), "UploadId");
        if (sink->upload == NULL)
            status = leati_fail_in_file(err, LEAT_UNAVAILABLE, sink->writing.place.path, -1, false,
                                        "the server began no upload; check the endpoint");
    }
    leati_net_unref(request);
    return status;
}

/* Waits for the oldest part under way. */
static leat_status finish_part(bucket_sink *sink, leat_error *err) {
    bucket_part *part = &sink->parts[sink->done];
    LEATI_TRY(leati_net_wait(part->request, SIZE_MAX, err));
    memcpy(part->version, leati_net_answer_of(part->request)->version, sizeof part->version);
    leati_net_unref(part->request);
    part->request = NULL;
    sink->done++;
    return LEAT_OK;
}

static size_t part_size(const bucket_sink *sink) {
    return (size_t)PART_BYTES << (sink->num_parts / PARTS_PER_SIZE);
}

/* Sends what is gathered as the next part. */
static leat_status send_part(bucket_sink *sink, leat_error *err) {
    void *parts = sink->parts;
    if (sink->num_parts == parts_of(sink)->most)
        return leati_fail_in_file(err, LEAT_OUT_OF_RANGE, sink->writing.place.path, -1, false,
                                  "an object has at most %zu parts; write several",
                                  parts_of(sink)->most);
    if (sink->upload == NULL)
        LEATI_TRY(begin_upload(sink, err));
    while (sink->num_parts - sink->done >= PARTS_TOGETHER)
        LEATI_TRY(finish_part(sink, err));
    if (!leati_grow(&parts, &sink->room, sink->num_parts + 1, sizeof(bucket_part)))
        return leati_no_memory(err);
    sink->parts = parts;
    char *query = query_of(sink, sink->num_parts + 1);
    if (query == NULL)
        return leati_no_memory(err);
    bucket_part *part = &sink->parts[sink->num_parts];
    *part = (bucket_part){0};
    size_t size;
    uint8_t *data = leati_bucket_gathered(&sink->writing, &size);
    leat_status status = start(sink, LEATI_NET_PUT, query, data, size, &part->request, err);
    leati_free(query);
    if (status == LEAT_OK)
        sink->num_parts++;
    return status;
}

/* ---- the slots ---- */

static void free_sink(bucket_sink *sink) {
    for (size_t i = 0; i < sink->num_parts; i++)
        leati_net_unref(sink->parts[i].request);
    leati_free(sink->parts);
    leati_free(sink->upload);
    leati_bucket_writing_free(&sink->writing);
}

leat_status leati_bucket_create(const leati_fs *fs, const char *path, bool exclusive,
                                leati_file_sink **out, leat_error *err) {
    bucket_sink *sink = leati_bucket_writing_new(fs, path, exclusive, sizeof *sink, err);
    *out = sink == NULL ? NULL : &sink->writing.base;
    return sink == NULL ? err->code : LEAT_OK;
}

leat_status leati_bucket_write(leati_file_sink *base, const void *data, size_t size,
                               leat_error *err) {
    bucket_sink *sink = (bucket_sink *)base;
    while (size > 0) {
        if (sink->writing.size == part_size(sink))
            LEATI_TRY(send_part(sink, err));
        LEATI_TRY(leati_bucket_gather(&sink->writing, part_size(sink), &data, &size, err));
    }
    return LEAT_OK;
}

leat_status leati_bucket_settle(leati_file_sink *base, leat_error *err) {
    bucket_sink *sink = (bucket_sink *)base;
    if (sink->upload != NULL && sink->writing.size > 0)
        LEATI_TRY(send_part(sink, err));
    while (sink->done < sink->num_parts)
        LEATI_TRY(finish_part(sink, err));
    return LEAT_OK;
}

/* The list of the parts, which makes them one object. */
static leat_status start_completion(bucket_sink *sink, leati_net_request **out, leat_error *err) {
    leati_text body = {0};
    char *query = query_of(sink, 0);
    leati_text_addf(&body, "%s", parts_of(sink)->list_begin);
    for (size_t i = 0; i < sink->num_parts; i++)
        parts_of(sink)->list(&body, sink->upload, i + 1, sink->parts[i].version);
    leati_text_addf(&body, "%s", parts_of(sink)->list_end);
    size_t size = body.size;
    char *text = leati_text_take(&body);
    if (query == NULL || text == NULL) {
        leati_free(query);
        leati_free(text);
        return leati_no_memory(err);
    }
    leat_status status = start(sink, parts_of(sink)->complete_method, query, text, size, out, err);
    leati_free(query);
    return status;
}

/* A service that takes long to join the parts answers 200 before it knows whether it can. */
static leat_status check_completion(const bucket_sink *sink, const leati_net_request *request,
                                    leat_error *err) {
    const char *text = (const char *)leati_net_data(request);
    size_t size = leati_net_size(request);
    char *code = size > 0 && memmem(text, size, "<Error>", 7) != NULL
                     ? leati_bucket_element(text, size, "Code")
                     : NULL;
    if (code == NULL)
        return LEAT_OK;
    leat_status status = leati_fail_in_file(
        err, LEAT_UNAVAILABLE, sink->writing.place.path, -1, false,
        "the server could not join the parts of the upload (%.60s); write it again", code);
    leati_free(code);
    return status;
}

leat_status leati_bucket_put(leati_file_sink *base, const char *to, leat_error *err) {
    bucket_sink *sink = (bucket_sink *)base;
    leati_net_request *request = NULL;
    (void)to;
    if (sink->upload != NULL) {
        LEATI_TRY(start_completion(sink, &request, err));
    } else {
        size_t size;
        uint8_t *data = leati_bucket_gathered(&sink->writing, &size);
        LEATI_TRY(start(sink, LEATI_NET_PUT, NULL, data, size, &request, err));
    }
    leat_status status = leati_net_wait(request, SIZE_MAX, err);
    if (status == LEAT_OK && sink->upload != NULL)
        status = check_completion(sink, request, err);
    leati_net_unref(request);
    sink->writing.is_put = status == LEAT_OK;
    return status;
}

leat_status leati_bucket_close_sink(leati_file_sink *base, leat_error *err) {
    bucket_sink *sink = (bucket_sink *)base;
    (void)err;
    if (sink->upload != NULL && !sink->writing.is_put && parts_of(sink)->is_removed) {
        leati_net_request *request = NULL;
        char *query = query_of(sink, 0);
        for (size_t i = 0; i < sink->num_parts; i++) {
            leati_net_unref(sink->parts[i].request);
            sink->parts[i].request = NULL;
        }
        if (query != NULL &&
            start(sink, LEATI_NET_DELETE, query, NULL, 0, &request, &(leat_error){0}) == LEAT_OK)
            leati_net_leave(request);
        leati_free(query);
    }
    free_sink(sink);
    return LEAT_OK;
}
