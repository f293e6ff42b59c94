/* Writing an object of Google Cloud Storage.
 *
 * Happy path: up to 16 MiB are gathered and sent by one request. More goes up in pieces, one after
 * the other, while the caller gathers the next; the last one says how large all of it is, and makes
 * it an object. Nobody sees anything before that, and then all of it.
 * Failures: those of requests. A server may keep less of a piece than it was sent; the rest is sent
 * again. An upload that is given up is ended by a request that nobody waits for; one whose process
 * dies ends by itself after a week, and costs nothing until then. Locks: none, one owner. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/gs.h"
#include <stdio.h>
#include <string.h>

enum { PIECE_BYTES = 16 << 20, MOST_STALLS = 5 };

typedef struct gs_sink {
    leati_bucket_writing writing;
    char *session;              /* the URL of the upload in pieces; NULL: none was begun */
    leati_net_request *request; /* of the piece that is under way; NULL: none */
    uint8_t *sent;              /* that piece, while it is under way */
    size_t sent_size;
    int64_t sent_from; /* where it begins in the object */
    int64_t begun;     /* bytes before what is gathered */
} gs_sink;

/* ---- requests ---- */

/* A POST to the service's door for uploads; `body` is given. */
static leat_status post(const gs_sink *sink, const char *kind, void *body, size_t size,
                        leati_net_request **out, leat_error *err) {
    leati_text query = {0};
    leati_text_addf(&query, "uploadType=%s&name=", kind);
    leati_bucket_encode(&query, sink->writing.place.key, false);
    char *url = query.failed ? NULL : leati_gs_url(&sink->writing.place, true, NULL, query.data);
    leati_text_fini(&query);
    if (url == NULL) {
        leati_free(body);
        return leati_no_memory(err);
    }
    leati_net_ask ask = leati_bucket_ask(&sink->writing.place);
    ask.url = url;
    ask.body = body;
    ask.body_size = size;
    ask.method = LEATI_NET_POST;
    leat_status status = leati_net_perform(&ask, out, err);
    leati_free(url);
    return status;
}

static leat_status begin_upload(gs_sink *sink, leat_error *err) {
    leati_net_request *request = NULL;
    LEATI_TRY(post(sink, "resumable", NULL, 0, &request, err));
    const char *session = leati_net_location(request);
    leat_status status =
        session != NULL
            ? leati_bucket_set(&sink->session, session, err)
            : leati_fail_in_file(err, LEAT_UNAVAILABLE, sink->writing.place.path, -1, false,
                                 "the server began no upload; check the endpoint "
                                 "(STORAGE_EMULATOR_HOST)");
    leati_net_unref(request);
    return status;
}

/* Starts to send what was not kept yet of the piece; `is_last`: behind it there is nothing. The
 * session's URL says by itself who sends. */
static leat_status start_piece(gs_sink *sink, bool is_last, leat_error *err) {
    char header[120];
    long long from = sink->sent_from, end = from + (long long)sink->sent_size;
    int n = sink->sent_size == 0
                ? snprintf(header, sizeof header, "Content-Range: bytes */")
                : snprintf(header, sizeof header, "Content-Range: bytes %lld-%lld/", from, end - 1);
    (void)(is_last ? snprintf(header + n, sizeof header - (size_t)n, "%lld", end)
                   : snprintf(header + n, sizeof header - (size_t)n, "*"));
    /* The piece stays here, since the server may not keep all of it. */
    uint8_t *body = sink->sent_size > 0 ? leati_alloc(sink->sent_size, 1) : NULL;
    if (sink->sent_size > 0 && body == NULL)
        return leati_no_memory(err);
    if (body != NULL)
        memcpy(body, sink->sent, sink->sent_size);
    leati_net_ask ask = leati_bucket_ask(&sink->writing.place);
    ask.signer = NULL;
    ask.url = sink->session;
    ask.method = LEATI_NET_PUT;
    ask.body = body;
    ask.body_size = sink->sent_size;
    ask.header = header;
    ask.is_step = true;
    return leati_net_start(&ask, &sink->request, err);
}

/* Waits for the piece that is under way, and sends again what was not kept of it. */
static leat_status finish_piece(gs_sink *sink, bool is_last, leat_error *err) {
    int stalls = 0;
    while (sink->request != NULL) {
        LEATI_TRY(leati_net_wait(sink->request, SIZE_MAX, err));
        const leati_net_answer *answer = leati_net_answer_of(sink->request);
        bool is_whole = answer->status != 308;
        int64_t kept = answer->kept - sink->sent_from;
        leati_net_unref(sink->request);
        sink->request = NULL;
        if (is_whole && !is_last)
            return leati_fail_in_file(err, LEAT_DATA_LOSS, sink->writing.place.path, -1, false,
                                      "the server ended the upload before its end; write it again");
        if (is_whole || (!is_last && kept == (int64_t)sink->sent_size))
            break;
        stalls = kept > 0 ? 0 : stalls + 1;
        if (kept < 0 || kept > (int64_t)sink->sent_size || stalls > MOST_STALLS)
            return leati_fail_in_file(err, LEAT_DATA_LOSS, sink->writing.place.path, -1, false,
                                      "the server has %lld bytes of the upload, and was sent those "
                                      "from %lld to %lld; write it again",
                                      (long long)(kept + sink->sent_from),
                                      (long long)sink->sent_from,
                                      (long long)(sink->sent_from + (int64_t)sink->sent_size));
        memmove(sink->sent, sink->sent + kept, sink->sent_size - (size_t)kept);
        sink->sent_from += kept;
        sink->sent_size -= (size_t)kept;
        LEATI_TRY(start_piece(sink, is_last, err));
    }
    leati_free(sink->sent);
    sink->sent = NULL;
    sink->sent_size = 0;
    return LEAT_OK;
}

/* Sends what is gathered. */
static leat_status send_piece(gs_sink *sink, bool is_last, leat_error *err) {
    if (sink->session == NULL)
        LEATI_TRY(begin_upload(sink, err));
    LEATI_TRY(finish_piece(sink, false, err));
    sink->sent = leati_bucket_gathered(&sink->writing, &sink->sent_size);
    sink->sent_from = sink->begun;
    sink->begun += (int64_t)sink->sent_size;
    return start_piece(sink, is_last, err);
}

/* ---- the slots ---- */

leat_status leati_gs_create(const leati_fs *fs, const char *path, bool exclusive,
                            leati_file_sink **out, leat_error *err) {
    gs_sink *sink = leati_bucket_writing_new(fs, path, exclusive, sizeof *sink, err);
    *out = sink == NULL ? NULL : &sink->writing.base;
    return sink == NULL ? err->code : LEAT_OK;
}

leat_status leati_gs_write(leati_file_sink *base, const void *data, size_t size, leat_error *err) {
    gs_sink *sink = (gs_sink *)base;
    while (size > 0) {
        if (sink->writing.size == PIECE_BYTES)
            LEATI_TRY(send_piece(sink, false, err));
        LEATI_TRY(leati_bucket_gather(&sink->writing, PIECE_BYTES, &data, &size, err));
    }
    return LEAT_OK;
}

/* The last piece waits for the put, since it makes the object. */
leat_status leati_gs_settle(leati_file_sink *base, leat_error *err) {
    return finish_piece((gs_sink *)base, false, err);
}

leat_status leati_gs_put(leati_file_sink *base, const char *to, leat_error *err) {
    gs_sink *sink = (gs_sink *)base;
    leati_net_request *request = NULL;
    (void)to;
    if (sink->session != NULL) {
        LEATI_TRY(send_piece(sink, true, err));
        LEATI_TRY(finish_piece(sink, true, err));
    } else {
        size_t size;
        uint8_t *data = leati_bucket_gathered(&sink->writing, &size);
        LEATI_TRY(post(sink, "media", data, size, &request, err));
        leati_net_unref(request);
    }
    sink->writing.is_put = true;
    return LEAT_OK;
}

/* Ends an upload that was given up. */
static void end_upload(const gs_sink *sink) {
    leati_net_request *request = NULL;
    leati_net_ask ask = leati_bucket_ask(&sink->writing.place);
    ask.signer = NULL;
    ask.url = sink->session;
    ask.method = LEATI_NET_DELETE;
    ask.is_step = true;
    if (leati_net_start(&ask, &request, &(leat_error){0}) == LEAT_OK)
        leati_net_leave(request);
}

leat_status leati_gs_close_sink(leati_file_sink *base, leat_error *err) {
    gs_sink *sink = (gs_sink *)base;
    (void)err;
    leati_net_unref(sink->request);
    if (sink->session != NULL && !sink->writing.is_put)
        end_upload(sink);
    leati_free(sink->session);
    leati_free(sink->sent);
    leati_bucket_writing_free(&sink->writing);
    return LEAT_OK;
}
