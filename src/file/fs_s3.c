/* s3://bucket/key: objects of Amazon S3, and of what speaks as it does (MinIO, Ceph, R2, ...).
 *
 * Happy path: read by ranges (remote.c), listed page by page (ListObjectsV2), written by s3_sink.c,
 * all of it signed by libcurl. A folder is a key with a slash behind it that others begin with: it
 * is there as long as something is in it, so making one does nothing.
 * Failures: those of requests (net.h) and accounts. What an object store cannot do, it has no slot
 * for: other names, appending, locks. Locks: none. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "file/remote.h"
#include "file/s3.h"
#include <string.h>

enum { MOST_LIST_BYTES = 64 << 20 };

/* ---- requests ---- */

/* Asks for the key, or for the bucket with a query. *out owned; may be NULL where nobody asks. */
static leat_status perform(const leati_s3_place *place, leati_net_method method, const char *query,
                           leati_net_request **out, leat_error *err) {
    leati_net_request *request = NULL;
    char *url = leati_s3_url(place, query != NULL, query);
    if (url == NULL)
        return leati_no_memory(err);
    leati_net_ask ask = {LEATI_NET_ASK, .path = place->path, .url = url};
    ask.method = method;
    ask.signer = leati_s3_signer(place);
    ask.most = MOST_LIST_BYTES;
    leat_status status = leati_net_perform(&ask, &request, err);
    leati_free(url);
    if (status == LEAT_OK && out != NULL)
        *out = request;
    else
        leati_net_unref(request);
    return status;
}

/* The names one level below `prefix`, at most `most` a page; all pages where `all`. */
static leat_status list_prefix(const leati_s3_place *place, const char *prefix, int most, bool all,
                               leati_list_function function, void *context, int64_t *count,
                               leat_error *err) {
    char *next = NULL;
    leat_status status = LEAT_OK;
    do {
        leati_net_request *page = NULL;
        leati_text query = {0};
        if (next != NULL) {
            leati_text_addf(&query, "continuation-token=");
            leati_s3_encode(&query, next, false);
            leati_text_addf(&query, "&");
        }
        leati_free(next);
        next = NULL;
        leati_text_addf(&query,
                        "delimiter=%%2F&encoding-type=url&list-type=2&max-keys=%d&prefix=", most);
        leati_s3_encode(&query, prefix, false);
        status = query.failed ? leati_no_memory(err)
                              : perform(place, LEATI_NET_GET, query.data, &page, err);
        leati_text_fini(&query);
        if (status == LEAT_OK)
            status = leati_s3_read_list((const char *)leati_net_data(page), leati_net_size(page),
                                        prefix, function, context, &next, count, err);
        leati_net_unref(page);
    } while (status == LEAT_OK && all && next != NULL);
    leati_free(next);
    return status;
}

/* "" for the bucket, else the key with one slash behind it. Owned; NULL without memory. */
static char *prefix_of(const leati_s3_place *place) {
    size_t n = strlen(place->key);
    leati_text text = {0};
    while (n > 0 && place->key[n - 1] == '/')
        n--;
    leati_text_addf(&text, "%.*s%s", (int)n, place->key, n > 0 ? "/" : "");
    return leati_text_take(&text);
}

static leat_status not_found(const leati_s3_place *place, leat_error *err) {
    return leati_fail_in_file(err, LEAT_NOT_FOUND, place->path, -1, false,
                              "there is neither an object of this name nor one below it; check the "
                              "name");
}

/* ---- the slots ---- */

static leat_status open_place(const leati_fs *fs, const leati_s3_place *place, leati_file **out,
                              leat_error *err) {
    if (place->key[0] == '\0')
        return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, place->path, -1, false,
                                  "cannot read it: it is a bucket; name an object in it");
    char *url = leati_s3_url(place, false, NULL);
    if (url == NULL)
        return leati_no_memory(err);
    leati_remote_place remote = {place->path, url, leati_s3_signer(place)};
    leat_status status = leati_remote_open(fs, &remote, out, err);
    leati_free(url);
    return status;
}

static leat_status s3_open(const leati_fs *fs, const char *path, leati_file **out,
                           leat_error *err) {
    leati_s3_place place = {0};
    LEATI_TRY(leati_s3_place_of(fs, path, &place, err));
    leat_status status = open_place(fs, &place, out, err);
    leati_s3_place_fini(&place);
    return status;
}

static leat_status pass_over(void *context, const char *name, leati_path_kind kind,
                             leat_error *err) {
    (void)context;
    (void)name;
    (void)kind;
    (void)err;
    return LEAT_OK;
}

static leat_status stat_folder(const leati_s3_place *place, leati_stat *out, leat_error *err) {
    int64_t count = 0;
    char *prefix = prefix_of(place);
    if (prefix == NULL)
        return leati_no_memory(err);
    leat_status status = list_prefix(place, prefix, 1, false, pass_over, NULL, &count, err);
    /* A bucket is there also where nothing is in it. */
    if (status == LEAT_OK && count == 0 && prefix[0] != '\0')
        status = not_found(place, err);
    if (status == LEAT_OK)
        *out = (leati_stat){.kind = LEATI_PATH_FOLDER, .size = -1, .changed = -1};
    leati_free(prefix);
    return status;
}

static leat_status stat_place(const leati_s3_place *place, leati_stat *out, leat_error *err) {
    leati_net_request *request = NULL;
    leat_error local = {0};
    size_t n = strlen(place->key);
    if (n == 0 || place->key[n - 1] == '/')
        return stat_folder(place, out, err);
    leat_status status = perform(place, LEATI_NET_HEAD, NULL, &request, &local);
    if (status == LEAT_NOT_FOUND)
        return stat_folder(place, out, err);
    if (status != LEAT_OK)
        return leati_error_pass(err, &local);
    const leati_net_answer *answer = leati_net_answer_of(request);
    *out = (leati_stat){.kind = LEATI_PATH_FILE, .size = answer->whole, .changed = answer->changed};
    leati_net_unref(request);
    return LEAT_OK;
}

static leat_status s3_stat(const leati_fs *fs, const char *path, leati_stat *out, leat_error *err) {
    leati_s3_place place = {0};
    LEATI_TRY(leati_s3_place_of(fs, path, &place, err));
    leat_status status = stat_place(&place, out, err);
    leati_s3_place_fini(&place);
    return status;
}

static leat_status s3_list(const leati_fs *fs, const char *path, leati_list_function function,
                           void *context, leat_error *err) {
    leati_s3_place place = {0};
    int64_t count = 0;
    LEATI_TRY(leati_s3_place_of(fs, path, &place, err));
    char *prefix = prefix_of(&place);
    leat_status status =
        prefix == NULL ? leati_no_memory(err)
                       : list_prefix(&place, prefix, 1000, true, function, context, &count, err);
    if (status == LEAT_OK && count == 0 && prefix[0] != '\0')
        status = not_found(&place, err);
    leati_free(prefix);
    leati_s3_place_fini(&place);
    return status;
}

static leat_status remove_place(const leati_s3_place *place, leat_error *err) {
    leati_net_request *request = NULL;
    if (place->key[0] == '\0')
        return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, place->path, -1, false,
                                  "cannot remove it: it is a bucket; name an object in it");
    /* The service says of an object that is not there that it was removed. */
    LEATI_TRY(perform(place, LEATI_NET_HEAD, NULL, &request, err));
    leati_net_unref(request);
    return perform(place, LEATI_NET_DELETE, NULL, NULL, err);
}

static leat_status s3_remove(const leati_fs *fs, const char *path, leat_error *err) {
    leati_s3_place place = {0};
    LEATI_TRY(leati_s3_place_of(fs, path, &place, err));
    leat_status status = remove_place(&place, err);
    leati_s3_place_fini(&place);
    return status;
}

static leat_status s3_mkdir(const leati_fs *fs, const char *path, leat_error *err) {
    (void)fs;
    (void)path;
    (void)err;
    return LEAT_OK;
}

extern const leati_fs leati_fs_s3;
const leati_fs leati_fs_s3 = {
    .scheme = "s3",
    .doc = "Objects of S3 and of services that speak as it does.",
    .open = s3_open,
    .use = leati_remote_use,
    .read_at = leati_remote_read_at,
    .close = leati_remote_close,
    .stat = s3_stat,
    .list = s3_list,
    .create = leati_s3_create,
    .write = leati_s3_write,
    .settle = leati_s3_settle,
    .put = leati_s3_put,
    .close_sink = leati_s3_close_sink,
    .remove = s3_remove,
    .mkdir = s3_mkdir,
};
