/* gs://bucket/key: objects of Google Cloud Storage, and of emulators (STORAGE_EMULATOR_HOST).
 *
 * Happy path: see bucket.c; asked by the JSON API, with a token (gs_account.c) or as anybody.
 * Failures: those of requests (net.h) and tokens; lists that are none. Locks: none. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/json.h"
#include "file/gs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the account ---- */

/* "localhost:4443", "http://localhost:4443" or, of gcloud, "https://HOST/storage/v1/". */
static leat_status take_endpoint(leati_bucket_place *place, const char *given, const char *name,
                                 leat_error *err) {
    static const char tail[] = "/storage/v1";
    leati_text url = {0};
    leati_text_addf(&url, "%s%s", strstr(given, "://") != NULL ? "" : "http://", given);
    place->endpoint = leati_text_take(&url);
    if (place->endpoint == NULL)
        return leati_no_memory(err);
    LEATI_TRY(leati_bucket_check_endpoint(place->endpoint, name, err));
    size_t n = strlen(place->endpoint);
    if (n >= sizeof tail && strcmp(place->endpoint + n - (sizeof tail - 1), tail) == 0)
        place->endpoint[n - (sizeof tail - 1)] = '\0';
    return LEAT_OK;
}

static leat_status account_of(leati_bucket_place *place, leat_error *err) {
    static const char *const emulators[] = {"STORAGE_EMULATOR_HOST", NULL};
    static const char *const endpoints[] = {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", NULL};
    const char *emulator = leati_bucket_variable(emulators);
    const char *endpoint = leati_bucket_variable(endpoints);
    char *token = NULL;
    if (emulator != NULL)
        return take_endpoint(place, emulator, emulators[0], err);
    LEATI_TRY(take_endpoint(place, endpoint != NULL ? endpoint : "https://storage.googleapis.com",
                            endpoints[0], err));
    LEATI_TRY(leati_gs_token(&token, err));
    if (token != NULL)
        place->signer = (leati_net_signer){.kind = LEATI_NET_BEARER, .token = token};
    return LEAT_OK;
}

/* ---- URLs ---- */

char *leati_gs_url(const leati_bucket_place *place, bool uploads, const char *key,
                   const char *query) {
    leati_text url = {0};
    leati_text_addf(&url, "%s%s/storage/v1/b/%s/o", place->endpoint, uploads ? "/upload" : "",
                    place->bucket);
    if (key != NULL) {
        leati_text_add(&url, "/", 1);
        leati_bucket_encode(&url, key, false);
    }
    if (query != NULL)
        leati_text_addf(&url, "?%s", query);
    return leati_text_take(&url);
}

static char *url(const leati_bucket_place *place, const char *query) {
    return leati_gs_url(place, false, place->key, query);
}

static char *content_url(const leati_bucket_place *place) {
    return url(place, "alt=media");
}

static char *list_url(const leati_bucket_place *place, const char *prefix, int most,
                      const char *next) {
    leati_text query = {0};
    leati_text_addf(&query,
                    "delimiter=%%2F&fields=items%%2Fname%%2Cprefixes%%2CnextPageToken&"
                    "maxResults=%d&prefix=",
                    most);
    leati_bucket_encode(&query, prefix, false);
    if (next != NULL) {
        leati_text_addf(&query, "&pageToken=");
        leati_bucket_encode(&query, next, false);
    }
    char *found = query.failed ? NULL : leati_gs_url(place, false, NULL, query.data);
    leati_text_fini(&query);
    return found;
}

/* ---- answers ---- */

static json_t *read_object(const char *text, size_t size, leat_error *err) {
    json_t *said = leati_json_parse(text, size, &(leat_error){0});
    if (json_is_object(said))
        return said;
    json_decref(said);
    (void)leati_fail(err, LEAT_DATA_LOSS,
                     "the server's answer is none of Google Cloud Storage; check the endpoint "
                     "(STORAGE_EMULATOR_HOST)");
    return NULL;
}

static leat_status give_names(leati_bucket_listing *l, const json_t *names, const char *member,
                              leati_path_kind kind, leat_error *err) {
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *one = json_array_get(names, i);
        const char *text = json_string_value(member != NULL ? json_object_get(one, member) : one);
        if (text == NULL)
            return leati_fail(err, LEAT_DATA_LOSS, "the server's list has an entry without a name");
        char *key = leati_strdup(text);
        if (key == NULL)
            return leati_no_memory(err);
        leat_status status = leati_bucket_give_name(l, key, kind, err);
        leati_free(key);
        LEATI_TRY(status);
    }
    return LEAT_OK;
}

static leat_status read_list(const char *text, size_t size, const char *prefix,
                             leati_list_function function, void *context, char **next,
                             int64_t *count, leat_error *err) {
    leati_bucket_listing l = {prefix, function, context, 0, false};
    *next = NULL;
    json_t *said = read_object(text, size, err);
    if (said == NULL)
        return err->code;
    leat_status status =
        give_names(&l, json_object_get(said, "items"), "name", LEATI_PATH_FILE, err);
    if (status == LEAT_OK)
        status = give_names(&l, json_object_get(said, "prefixes"), NULL, LEATI_PATH_FOLDER, err);
    *count += l.count;
    if (status == LEAT_OK)
        status =
            leati_bucket_set(next, json_string_value(json_object_get(said, "nextPageToken")), err);
    json_decref(said);
    return status;
}

/* "2026-01-02T03:04:05.678Z" as seconds since 1970; -1: it is none. */
static int64_t seconds_of(const char *text) {
    struct tm t = {0};
    if (text == NULL || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &t.tm_year, &t.tm_mon, &t.tm_mday,
                               &t.tm_hour, &t.tm_min, &t.tm_sec) != 6)
        return -1;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    return (int64_t)timegm(&t);
}

static leat_status read_stat(const char *text, size_t size, leati_stat *out, leat_error *err) {
    json_t *said = read_object(text, size, err);
    if (said == NULL)
        return err->code;
    const char *bytes = json_string_value(json_object_get(said, "size"));
    out->size = bytes != NULL ? strtoll(bytes, NULL, 10) : -1;
    out->changed = seconds_of(json_string_value(json_object_get(said, "updated")));
    json_decref(said);
    return LEAT_OK;
}

static const leati_bucket_dialect dialect = {
    .bucket_name = "bucket",
    .signed_rights = "check the credentials (GOOGLE_APPLICATION_CREDENTIALS) and what they allow",
    .unsigned_rights = "it may want credentials (GOOGLE_APPLICATION_CREDENTIALS, or gcloud auth "
                       "application-default login)",
    .account = account_of,
    .url = url,
    .content_url = content_url,
    .list_url = list_url,
    .read_list = read_list,
    .read_stat = read_stat,
    .renew = leati_gs_token,
};

extern const leati_fs leati_fs_gs;
const leati_fs leati_fs_gs = {
    .scheme = "gs",
    .doc = "Objects of Google Cloud Storage.",
    LEATI_BUCKET_SLOTS,
    .create = leati_gs_create,
    .write = leati_gs_write,
    .settle = leati_gs_settle,
    .put = leati_gs_put,
    .close_sink = leati_gs_close_sink,
    .dialect = &dialect,
};
