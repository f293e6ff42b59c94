/* The slots that object stores have in common; see bucket.h.
 *
 * Happy path: read by ranges (remote.c), listed page by page, written by bucket_sink.c or by a
 * dialect's own. A folder is a key with a slash behind it that others begin with: it is there as
 * long as something is in it, so making one does nothing.
 * Failures: those of requests (net.h) and accounts. What an object store cannot do, it has no slot
 * for: other names, appending, locks. Locks: none. */
#include "file/bucket.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <string.h>

enum { MOST_LIST_BYTES = 64 << 20, NAMES_A_PAGE = 1000 };

/* ---- places ---- */

static leat_status check_bucket(const leati_fs *fs, const leati_bucket_place *place,
                                leat_error *err) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.$";
    const char *bucket = place->bucket, *name = fs->dialect->bucket_name;
    size_t n = strlen(bucket);
    if (n >= 3 && n <= 255 && strspn(bucket, letters) == n && bucket[0] != '.')
        return LEAT_OK;
    return leati_refuse(err, VALUE, "%.400s: \"%.80s\" cannot be a %s; expected %s://%s/KEY",
                        place->path, bucket, name, fs->scheme, name);
}

leat_status leati_bucket_place_of(const leati_fs *fs, const char *rest, leati_bucket_place *out,
                                  leat_error *err) {
    leati_bucket_place place = {.dialect = fs->dialect};
    size_t n = strcspn(rest, "/");
    place.path = leati_remote_path(fs, rest);
    place.bucket = leati_strndup(rest, n);
    place.key = leati_strdup(rest + n + (rest[n] == '/'));
    leat_status status = place.path == NULL || place.bucket == NULL || place.key == NULL
                             ? leati_no_memory(err)
                             : check_bucket(fs, &place, err);
    if (status == LEAT_OK) {
        status = place.dialect->account(&place, err);
        if (status != LEAT_OK)
            (void)leati_prefix(err, "%.400s", place.path);
    }
    if (status != LEAT_OK)
        leati_bucket_place_fini(&place);
    else
        *out = place;
    return status;
}

void leati_bucket_place_fini(leati_bucket_place *place) {
    leati_net_signer_fini(&place->signer);
    leati_free(place->endpoint);
    leati_free(place->more);
    leati_free(place->path);
    leati_free(place->bucket);
    leati_free(place->key);
    *place = (leati_bucket_place){0};
}

static const leati_net_signer *signer_of(const leati_bucket_place *place) {
    return place->signer.kind != LEATI_NET_UNSIGNED ? &place->signer : NULL;
}

static const char *rights_of(const leati_bucket_place *place) {
    bool is_signed = place->signer.secret != NULL || place->signer.token != NULL;
    return is_signed || place->more != NULL ? place->dialect->signed_rights
                                            : place->dialect->unsigned_rights;
}

leati_net_ask leati_bucket_ask(const leati_bucket_place *place) {
    leati_net_ask ask = {LEATI_NET_ASK, .path = place->path, .signer = signer_of(place)};
    ask.rights = rights_of(place);
    return ask;
}

/* ---- requests ---- */

/* `url` is given, NULL without memory. *out owned; may be NULL where nobody asks. */
static leat_status perform(const leati_bucket_place *place, leati_net_method method, char *url,
                           leati_net_request **out, leat_error *err) {
    leati_net_request *request = NULL;
    if (url == NULL)
        return leati_no_memory(err);
    leati_net_ask ask = leati_bucket_ask(place);
    ask.url = url;
    ask.method = method;
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
static leat_status list_prefix(const leati_bucket_place *place, const char *prefix, int most,
                               bool all, leati_list_function function, void *context,
                               int64_t *count, leat_error *err) {
    char *next = NULL;
    leat_status status = LEAT_OK;
    do {
        leati_net_request *page = NULL;
        char *url = place->dialect->list_url(place, prefix, most, next);
        leati_free(next);
        next = NULL;
        status = perform(place, LEATI_NET_GET, url, &page, err);
        if (status == LEAT_OK)
            status =
                place->dialect->read_list((const char *)leati_net_data(page), leati_net_size(page),
                                          prefix, function, context, &next, count, err);
        leati_net_unref(page);
    } while (status == LEAT_OK && all && next != NULL);
    leati_free(next);
    return status;
}

/* "" for the bucket, else the key with one slash behind it. Owned; NULL without memory. */
static char *prefix_of(const leati_bucket_place *place) {
    size_t n = strlen(place->key);
    leati_text text = {0};
    while (n > 0 && place->key[n - 1] == '/')
        n--;
    leati_text_addf(&text, "%.*s%s", (int)n, place->key, n > 0 ? "/" : "");
    return leati_text_take(&text);
}

static leat_status not_found(const leati_bucket_place *place, leat_error *err) {
    return leati_fail_in_file(err, LEAT_NOT_FOUND, place->path, -1, false,
                              "there is neither an object of this name nor one below it; check the "
                              "name");
}

static leat_status is_bucket(const leati_bucket_place *place, const char *verb, leat_error *err) {
    return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, place->path, -1, false,
                              "cannot %s it: it is a %s; name an object in it", verb,
                              place->dialect->bucket_name);
}

/* ---- reading ---- */

static leat_status open_place(const leati_fs *fs, const leati_bucket_place *place, leati_file **out,
                              leat_error *err) {
    const leati_bucket_dialect *dialect = place->dialect;
    if (place->key[0] == '\0')
        return is_bucket(place, "read", err);
    char *url =
        dialect->content_url != NULL ? dialect->content_url(place) : dialect->url(place, NULL);
    if (url == NULL)
        return leati_no_memory(err);
    leati_remote_place remote = {place->path, url, signer_of(place), rights_of(place),
                                 place->signer.token != NULL ? dialect->renew : NULL};
    leat_status status = leati_remote_open(fs, &remote, out, err);
    leati_free(url);
    return status;
}

leat_status leati_bucket_open(const leati_fs *fs, const char *path, leati_file **out,
                              leat_error *err) {
    leati_bucket_place place = {0};
    LEATI_TRY(leati_bucket_place_of(fs, path, &place, err));
    leat_status status = open_place(fs, &place, out, err);
    leati_bucket_place_fini(&place);
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

static leat_status stat_folder(const leati_bucket_place *place, leati_stat *out, leat_error *err) {
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

/* What the service says of an object by itself. */
static leat_status stat_object(const leati_bucket_place *place, leati_stat *out, leat_error *err) {
    const leati_bucket_dialect *dialect = place->dialect;
    leati_net_request *request = NULL;
    LEATI_TRY(perform(place, dialect->read_stat != NULL ? LEATI_NET_GET : LEATI_NET_HEAD,
                      dialect->url(place, NULL), &request, err));
    const leati_net_answer *answer = leati_net_answer_of(request);
    leat_status status = LEAT_OK;
    *out = (leati_stat){.kind = LEATI_PATH_FILE, .size = answer->whole, .changed = answer->changed};
    if (dialect->read_stat != NULL)
        status = dialect->read_stat((const char *)leati_net_data(request), leati_net_size(request),
                                    out, err);
    leati_net_unref(request);
    return status;
}

static leat_status stat_place(const leati_bucket_place *place, leati_stat *out, leat_error *err) {
    leat_error local = {0};
    size_t n = strlen(place->key);
    if (n == 0 || place->key[n - 1] == '/')
        return stat_folder(place, out, err);
    leat_status status = stat_object(place, out, &local);
    if (status == LEAT_NOT_FOUND)
        return stat_folder(place, out, err);
    return status == LEAT_OK ? LEAT_OK : leati_error_pass(err, &local);
}

leat_status leati_bucket_stat(const leati_fs *fs, const char *path, leati_stat *out,
                              leat_error *err) {
    leati_bucket_place place = {0};
    LEATI_TRY(leati_bucket_place_of(fs, path, &place, err));
    leat_status status = stat_place(&place, out, err);
    leati_bucket_place_fini(&place);
    return status;
}

leat_status leati_bucket_list(const leati_fs *fs, const char *path, leati_list_function function,
                              void *context, leat_error *err) {
    leati_bucket_place place = {0};
    int64_t count = 0;
    LEATI_TRY(leati_bucket_place_of(fs, path, &place, err));
    char *prefix = prefix_of(&place);
    leat_status status = prefix == NULL ? leati_no_memory(err)
                                        : list_prefix(&place, prefix, NAMES_A_PAGE, true, function,
                                                      context, &count, err);
    if (status == LEAT_OK && count == 0 && prefix[0] != '\0')
        status = not_found(&place, err);
    leati_free(prefix);
    leati_bucket_place_fini(&place);
    return status;
}

/* ---- changing ---- */

static leat_status remove_place(const leati_bucket_place *place, leat_error *err) {
    leati_stat found;
    if (place->key[0] == '\0')
        return is_bucket(place, "remove", err);
    if (place->dialect->removes_silently)
        LEATI_TRY(stat_object(place, &found, err));
    return perform(place, LEATI_NET_DELETE, place->dialect->url(place, NULL), NULL, err);
}

leat_status leati_bucket_remove(const leati_fs *fs, const char *path, leat_error *err) {
    leati_bucket_place place = {0};
    LEATI_TRY(leati_bucket_place_of(fs, path, &place, err));
    leat_status status = remove_place(&place, err);
    leati_bucket_place_fini(&place);
    return status;
}

leat_status leati_bucket_mkdir(const leati_fs *fs, const char *path, leat_error *err) {
    (void)fs;
    (void)path;
    (void)err;
    return LEAT_OK;
}

static leat_status place_to_write(const leati_fs *fs, const char *path, bool exclusive,
                                  leati_bucket_place *out, leat_error *err) {
    if (exclusive)
        return leati_fs_refuse(err, fs, path, "made where there is none by one writer alone",
                               "name a file of a folder");
    LEATI_TRY(leati_bucket_place_of(fs, path, out, err));
    size_t n = strlen(out->key);
    if (n > 0 && out->key[n - 1] != '/')
        return LEAT_OK;
    (void)leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, out->path, -1, false,
                             "cannot write it: it is a folder; name an object in it");
    leati_bucket_place_fini(out);
    return err->code;
}

void *leati_bucket_writing_new(const leati_fs *fs, const char *path, bool exclusive, size_t bytes,
                               leat_error *err) {
    leati_bucket_writing *w = leati_alloc_zero(1, bytes);
    if (w == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    if (place_to_write(fs, path, exclusive, &w->place, err) != LEAT_OK) {
        leati_free(w);
        return NULL;
    }
    w->base = (leati_file_sink){fs, w->place.path};
    return w;
}

leat_status leati_bucket_gather(leati_bucket_writing *w, size_t most, const void **data,
                                size_t *size, leat_error *err) {
    size_t taken = LEATI_MIN(*size, most - w->size);
    void *memory = w->data;
    if (!leati_grow(&memory, &w->capacity, w->size + taken, 1))
        return leati_no_memory(err);
    w->data = memory;
    memcpy(w->data + w->size, *data, taken);
    w->size += taken;
    *data = (const char *)*data + taken;
    *size -= taken;
    return LEAT_OK;
}

uint8_t *leati_bucket_gathered(leati_bucket_writing *w, size_t *size) {
    uint8_t *data = w->data;
    *size = w->size;
    w->data = NULL;
    w->size = w->capacity = 0;
    return data;
}

void leati_bucket_writing_free(leati_bucket_writing *w) {
    leati_free(w->data);
    leati_bucket_place_fini(&w->place);
    leati_free(w);
}
