/* Who asks Google Cloud Storage; see gs.h.
 *
 * Happy path: a service account signs a claim with its key, a login shows its refresh token, a
 * machine of Google's asks its own server; each gets a token for an hour, which is kept for the
 * process until five minutes before that. Failures: files that cannot be read or say something
 * else, servers that give none. No error shows a secret.
 * Locks: the token's; nobody asks a server with it held. */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "core/json.h"
#include "file/gs.h"
#include <pthread.h>
#include <string.h>
#include <time.h>

#define SCOPE "https://www.googleapis.com/auth/devstorage.read_write"
#define TOKEN_URI "https://oauth2.googleapis.com/token"
enum { MOST_FILE_BYTES = 1 << 20, LIFE_S = 3600, SPARE_S = 300 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(gs_tokens, &lock);
static char *kept_token;   /* lock; NULL: none */
static char *kept_source;  /* lock; whose it is */
static int64_t kept_until; /* lock; of leati_now_ns */

/* ---- requests for tokens ---- */

/* {"access_token": "...", "expires_in": 3599} */
static leat_status read_token(const leati_net_request *request, char **token, int64_t *seconds,
                              leat_error *err) {
    json_t *said = leati_json_parse((const char *)leati_net_data(request), leati_net_size(request),
                                    &(leat_error){0});
    const char *text = json_string_value(json_object_get(said, "access_token"));
    const json_t *life = json_object_get(said, "expires_in");
    *seconds = json_is_integer(life) ? json_integer_value(life) : LIFE_S;
    *token = text != NULL ? leati_strdup(text) : NULL;
    leat_status status =
        text == NULL     ? leati_fail(err, LEAT_UNAVAILABLE,
                                      "the server of tokens gave an answer without access_token; check "
                                          "the credentials (GOOGLE_APPLICATION_CREDENTIALS)")
        : *token == NULL ? leati_no_memory(err)
                         : LEAT_OK;
    json_decref(said);
    return status;
}

/* `body` is given, NULL: a GET. */
static leat_status ask_for_token(const char *url, char *body, char **token, int64_t *seconds,
                                 leat_error *err) {
    leati_net_request *request = NULL;
    leati_net_ask ask = {LEATI_NET_ASK, .path = url, .url = url, .body = body};
    ask.rights = "check the credentials (GOOGLE_APPLICATION_CREDENTIALS), or log in again (gcloud "
                 "auth application-default login)";
    ask.method = body != NULL ? LEATI_NET_POST : LEATI_NET_GET;
    ask.header = body != NULL ? NULL : "Metadata-Flavor: Google";
    ask.content_type = "application/x-www-form-urlencoded";
    ask.body_size = body != NULL ? strlen(body) : 0;
    LEATI_TRY(leati_net_perform(&ask, &request, err));
    leat_status status = read_token(request, token, seconds, err);
    leati_net_unref(request);
    return status;
}

/* ---- files of credentials ---- */

/* A member of the file; NULL where `usual` is, and INVALID_ARGUMENT where that is NULL, too. */
static leat_status member(const json_t *file, const char *name, const char *usual, const char **out,
                          leat_error *err) {
    *out = json_string_value(json_object_get(file, name));
    *out = *out != NULL ? *out : usual;
    return *out != NULL
               ? LEAT_OK
               : leati_refuse(err, VALUE,
                              "the file of credentials has no \"%s\"; download it again", name);
}

/* Appends the JSON as base64. */
static void add_letters(leati_text *out, json_t *json) {
    char *text = json_dumps(json, JSON_COMPACT);
    size_t size = text != NULL ? strlen(text) : 0;
    char *letters = leati_alloc_zero(leati_base64_letters(size) + 1, 1);
    out->failed = out->failed || text == NULL || letters == NULL;
    if (!out->failed) {
        leati_base64_encode(text, size, letters);
        leati_text_addf(out, "%s", letters);
    }
    leati_free(letters);
    free(text);
}

/* What the account claims (RFC 7523), signed. */
static leat_status claim(const json_t *file, const char *uri, char **out, leat_error *err) {
    const char *mail = NULL, *key = NULL;
    char *signature = NULL;
    leati_text text = {0};
    LEATI_TRY(member(file, "client_email", NULL, &mail, err));
    LEATI_TRY(member(file, "private_key", NULL, &key, err));
    json_int_t now = (json_int_t)time(NULL);
    json_t *head = json_pack("{s:s, s:s}", "alg", "RS256", "typ", "JWT");
    json_t *body = json_pack("{s:s, s:s, s:s, s:I, s:I}", "iss", mail, "scope", SCOPE, "aud", uri,
                             "iat", now, "exp", now + LIFE_S);
    add_letters(&text, head);
    leati_text_addf(&text, ".");
    add_letters(&text, body);
    json_decref(head);
    json_decref(body);
    leat_status status =
        text.failed ? leati_no_memory(err) : leati_gs_rs256(key, text.data, &signature, err);
    if (status == LEAT_OK) {
        leati_text_addf(&text, ".%s", signature);
        leati_free(signature);
        *out = leati_text_take(&text);
        status = *out != NULL ? LEAT_OK : leati_no_memory(err);
    }
    leati_text_fini(&text);
    return status;
}

static leat_status ask_as_account(const json_t *file, char **token, int64_t *seconds,
                                  leat_error *err) {
    const char *uri = NULL;
    char *claimed = NULL;
    leati_text body = {0};
    LEATI_TRY(member(file, "token_uri", TOKEN_URI, &uri, err));
    LEATI_TRY(claim(file, uri, &claimed, err));
    leati_text_addf(&body,
                    "grant_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Agrant-type%%3Ajwt-bearer&"
                    "assertion=%s",
                    claimed);
    leati_free(claimed);
    char *text = leati_text_take(&body);
    return text != NULL ? ask_for_token(uri, text, token, seconds, err) : leati_no_memory(err);
}

static leat_status ask_as_login(const json_t *file, char **token, int64_t *seconds,
                                leat_error *err) {
    static const char *const names[] = {"client_id", "client_secret", "refresh_token"};
    const char *uri = NULL, *value = NULL;
    leati_text body = {0};
    leat_status status = member(file, "token_uri", TOKEN_URI, &uri, err);
    leati_text_addf(&body, "grant_type=refresh_token");
    for (size_t i = 0; i < sizeof names / sizeof *names && status == LEAT_OK; i++) {
        status = member(file, names[i], NULL, &value, err);
        leati_text_addf(&body, "&%s=", names[i]);
        if (status == LEAT_OK)
            leati_bucket_encode(&body, value, false);
    }
    char *text = leati_text_take(&body);
    if (status == LEAT_OK && text != NULL)
        return ask_for_token(uri, text, token, seconds, err);
    leati_free(text);
    return status != LEAT_OK ? status : leati_no_memory(err);
}

static leat_status ask_by_file(const char *path, char **token, int64_t *seconds, leat_error *err) {
    leat_buffer *whole = NULL;
    leati_stat found;
    const char *type = NULL;
    if (leati_fs_is_remote(path))
        return leati_refuse(err, VALUE,
                            "GOOGLE_APPLICATION_CREDENTIALS names %.200s; expected a file of this "
                            "machine",
                            path);
    LEATI_TRY(leati_fs_stat(path, &found, err));
    if (found.size > MOST_FILE_BYTES)
        return leati_fail_in_file(err, LEAT_INVALID_ARGUMENT, path, -1, false,
                                  "more than 1 MiB; expected credentials");
    LEATI_TRY(leati_file_read_all(path, &whole, err));
    json_t *file = leati_json_parse(leat_buffer_data(whole), leat_buffer_size(whole), err);
    leat_buffer_unref(whole);
    if (file == NULL)
        return err->code;
    leat_status status = member(file, "type", NULL, &type, err);
    if (status == LEAT_OK && strcmp(type, "service_account") == 0)
        status = ask_as_account(file, token, seconds, err);
    else if (status == LEAT_OK && strcmp(type, "authorized_user") == 0)
        status = ask_as_login(file, token, seconds, err);
    else if (status == LEAT_OK)
        status =
            leati_fail(err, LEAT_UNIMPLEMENTED,
                       "credentials of the type \"%.40s\", which leat does not ask for tokens; "
                       "set CLOUDSDK_AUTH_ACCESS_TOKEN (gcloud auth print-access-token)",
                       type);
    json_decref(file);
    return status;
}

/* ---- where they are ---- */

/* The file of a login with gcloud, if there is one. Owned. */
static char *login_path(void) {
    static const char *const folders[] = {"CLOUDSDK_CONFIG", NULL}, *const homes[] = {"HOME", NULL};
    const char *folder = leati_bucket_variable(folders), *home = leati_bucket_variable(homes);
    leati_text path = {0};
    leati_stat found;
    leati_text_addf(&path, "%s%s/application_default_credentials.json",
                    folder != NULL ? folder : (home != NULL ? home : ""),
                    folder != NULL ? "" : "/.config/gcloud");
    char *name = leati_text_take(&path);
    if (name != NULL && leati_fs_stat(name, &found, &(leat_error){0}) == LEAT_OK)
        return name;
    leati_free(name);
    return NULL;
}

/* Is this a machine of Google's, as its firmware says? */
static bool is_at_google(void) {
    leat_buffer *whole = NULL;
    if (leati_file_read_all("/sys/class/dmi/id/product_name", &whole, &(leat_error){0}) != LEAT_OK)
        return false;
    bool is = leat_buffer_size(whole) >= 6 && memcmp(leat_buffer_data(whole), "Google", 6) == 0;
    leat_buffer_unref(whole);
    return is;
}

/* The URL at which a machine of Google's says its token. Owned; NULL: it is none. */
static char *machine_url(void) {
    static const char *const names[] = {"GCE_METADATA_HOST", NULL};
    const char *host = leati_bucket_variable(names);
    leati_text url = {0};
    if (host == NULL && !is_at_google())
        return NULL;
    leati_text_addf(&url, "http://%s/computeMetadata/v1/instance/service-accounts/default/token",
                    host != NULL ? host : "metadata.google.internal");
    return leati_text_take(&url);
}

/* The kept token of a source, if it lasts. Owned. */
static char *take_kept(const char *source) {
    pthread_mutex_lock(&lock);
    bool is = kept_token != NULL && strcmp(kept_source, source) == 0 && leati_now_ns() < kept_until;
    char *token = is ? leati_strdup(kept_token) : NULL;
    pthread_mutex_unlock(&lock);
    return token;
}

static void keep(const char *source, const char *token, int64_t seconds) {
    char *own = leati_strdup(token), *whose = leati_strdup(source), *old[2];
    pthread_mutex_lock(&lock);
    old[0] = kept_token;
    old[1] = kept_source;
    /* Without memory it is asked for again. */
    kept_token = own != NULL && whose != NULL ? own : NULL;
    kept_source = own != NULL && whose != NULL ? whose : NULL;
    kept_until = leati_now_ns() + (seconds - SPARE_S) * 1000000000;
    bool is_kept = kept_token != NULL;
    pthread_mutex_unlock(&lock);
    leati_free(old[0]);
    leati_free(old[1]);
    if (!is_kept) {
        leati_free(own);
        leati_free(whose);
    }
}

static leat_status token_of(const char *source, bool is_file, char **out, leat_error *err) {
    int64_t seconds = 0;
    *out = take_kept(source);
    if (*out != NULL)
        return LEAT_OK;
    LEATI_TRY(is_file ? ask_by_file(source, out, &seconds, err)
                      : ask_for_token(source, NULL, out, &seconds, err));
    keep(source, *out, seconds);
    return LEAT_OK;
}

leat_status leati_gs_token(char **out, leat_error *err) {
    static const char *const tokens[] = {"CLOUDSDK_AUTH_ACCESS_TOKEN", NULL};
    static const char *const files[] = {"GOOGLE_APPLICATION_CREDENTIALS", NULL};
    const char *token = leati_bucket_variable(tokens), *file = leati_bucket_variable(files);
    *out = NULL;
    if (token != NULL)
        return leati_bucket_set(out, token, err);
    if (file != NULL)
        return token_of(file, true, out, err);
    char *source = login_path();
    bool is_file = source != NULL;
    if (source == NULL)
        source = machine_url();
    leat_status status = source != NULL ? token_of(source, is_file, out, err) : LEAT_OK;
    leati_free(source);
    return status;
}
