/* http:// and https://: files of web servers, which can be read and nothing else.
 *
 * Happy path: see remote.c. A stat is a HEAD request, or one for the first byte where the server
 * knows none. Failures: those of requests (net.h); passwords in a URL are refused, since they would
 * stand in errors, logs and saved states. A server has no lists of files. Locks: none. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "file/remote.h"
#include <string.h>

/* The URL as servers take it: what may not stand in one is written as %XX. */
static char *url_of(const char *path) {
    leati_text url = {0};
    for (const char *at = path; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte <= ' ' || byte >= 0x7f || strchr("\"<>\\^`{|}", byte) != NULL)
            leati_text_addf(&url, "%%%02X", byte);
        else
            leati_text_add(&url, at, 1);
    }
    return leati_text_take(&url);
}

static leat_status place_of(const leati_fs *fs, const char *rest, leati_remote_place *out,
                            leat_error *err) {
    size_t host = strcspn(rest, "/?#");
    const char *at = memchr(rest, '@', host);
    if (host == 0)
        return leati_refuse(err, VALUE,
                            "%s://%.80s: there is no host in it; expected %s://HOST/PATH",
                            fs->scheme, rest, fs->scheme);
    if (at != NULL)
        return leati_refuse(err, VALUE,
                            "%s://...%.80s: a name or password in a URL would stand in errors and "
                            "saved states; put them into ~/.netrc",
                            fs->scheme, at);
    char *path = leati_remote_path(fs, rest);
    char *url = path != NULL ? url_of(path) : NULL;
    if (url == NULL) {
        leati_free(path);
        return leati_no_memory(err);
    }
    *out = (leati_remote_place){.path = path, .url = url};
    return LEAT_OK;
}

static void free_place(const leati_remote_place *place) {
    leati_free((char *)(uintptr_t)place->path);
    leati_free((char *)(uintptr_t)place->url);
}

static leat_status http_open(const leati_fs *fs, const char *path, leati_file **out,
                             leat_error *err) {
    leati_remote_place place = {0};
    LEATI_TRY(place_of(fs, path, &place, err));
    leat_status status = leati_remote_open(fs, &place, out, err);
    free_place(&place);
    return status;
}

/* Servers that have no HEAD are asked for the file itself. */
static leat_status stat_by_open(const leati_fs *fs, const leati_remote_place *place,
                                leati_stat *out, leat_error *err) {
    leati_file *file = NULL;
    LEATI_TRY(leati_remote_open(fs, place, &file, err));
    *out = (leati_stat){.kind = LEATI_PATH_FILE, .size = file->size, .changed = -1};
    leati_remote_close(file);
    return LEAT_OK;
}

static leat_status http_stat(const leati_fs *fs, const char *path, leati_stat *out,
                             leat_error *err) {
    leati_remote_place place = {0};
    leati_net_request *request = NULL;
    leat_error local = {0};
    LEATI_TRY(place_of(fs, path, &place, err));
    leati_net_ask ask = {LEATI_NET_ASK, .path = place.path, .url = place.url};
    ask.method = LEATI_NET_HEAD;
    leat_status status = leati_net_perform(&ask, &request, &local);
    int64_t whole = status == LEAT_OK ? leati_net_answer_of(request)->whole : -1;
    if (status == LEAT_OK && whole >= 0)
        *out = (leati_stat){.kind = LEATI_PATH_FILE,
                            .size = whole,
                            .changed = leati_net_answer_of(request)->changed};
    else if (status == LEAT_OK || status == LEAT_INVALID_ARGUMENT || status == LEAT_UNIMPLEMENTED)
        status = stat_by_open(fs, &place, out, err);
    else
        (void)leati_error_pass(err, &local);
    leati_net_unref(request);
    free_place(&place);
    return status;
}

#define HTTP(NAME)                                                                                 \
    const leati_fs leati_fs_##NAME = {                                                             \
        .scheme = #NAME,                                                                           \
        .doc = "Files of web servers, to be read.",                                                \
        .open = http_open,                                                                         \
        .use = leati_remote_use,                                                                   \
        .read_at = leati_remote_read_at,                                                           \
        .close = leati_remote_close,                                                               \
        .stat = http_stat,                                                                         \
    }

extern const leati_fs leati_fs_http, leati_fs_https;
HTTP(http);
HTTP(https);
