/* Who asks an S3 service, and where it is; see s3.h.
 *
 * Happy path, in the order of boto3: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
 * AWS_SESSION_TOKEN; else those of the profile (AWS_PROFILE, or "default") in ~/.aws/credentials,
 * then ~/.aws/config, whose places AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE may name. Region
 * and endpoint come from the environment, then from the profile in either file. Failures: a file
 * that is there and cannot be read; a profile that is named and is in neither; credentials that
 * come from elsewhere. No error shows a secret. Locks: none; the files are read each time. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "file/s3.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILE_BYTES = 1 << 20 };

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

static leat_status set(char **to, const char *value, size_t size, leat_error *err) {
    if (*to != NULL)
        return LEAT_OK;
    *to = leati_strndup(value, size);
    return *to != NULL ? LEAT_OK : leati_no_memory(err);
}

static leat_status set_by(char **to, const char *name, leat_error *err) {
    const char *value = environment(name);
    return value == NULL ? LEAT_OK : set(to, value, strlen(value), err);
}

/* ---- the files ---- */

/* What a profile says. */
typedef struct profile {
    const char *name;
    bool is_default;
    bool is_config; /* whose sections are "profile NAME", but "default" */
    bool is_there;
    bool is_elsewhere; /* its credentials come from a program or another service */
    char *key, *secret, *token, *region, *endpoint;
} profile;

static void free_profile(profile *p) {
    leati_free(p->key);
    leati_free(p->secret);
    leati_free(p->token);
    leati_free(p->region);
    leati_free(p->endpoint);
}

/* [from, to) without spaces at both ends. */
static void strip(const char **from, const char **to) {
    while (*from < *to && strchr(" \t\r", **from) != NULL)
        (*from)++;
    while (*to > *from && strchr(" \t\r", (*to)[-1]) != NULL)
        (*to)--;
}

static bool same(const char *from, const char *to, const char *word) {
    return (size_t)(to - from) == strlen(word) && memcmp(from, word, strlen(word)) == 0;
}

/* Is "[...]" the profile's section? */
static bool is_section(const profile *p, const char *from, const char *to) {
    static const char word[] = "profile";
    const size_t n = sizeof word - 1;
    strip(&from, &to);
    bool has_word = p->is_config && (size_t)(to - from) > n && memcmp(from, word, n) == 0 &&
                    strchr(" \t", from[n]) != NULL;
    if (!has_word)
        return (!p->is_config || p->is_default) && same(from, to, p->name);
    from += n;
    strip(&from, &to);
    /* Names with spaces stand in quotes. */
    if (to - from > 1 && *from == '"' && to[-1] == '"') {
        from++;
        to--;
    }
    return same(from, to, p->name);
}

static leat_status take_setting(profile *p, const char *name, const char *name_end,
                                const char *value, const char *value_end, leat_error *err) {
    static const char *const others[] = {"role_arn", "credential_process", "sso_session",
                                         "sso_start_url", "web_identity_token_file"};
    const struct {
        const char *name;
        char **to;
    } known[] = {{"aws_access_key_id", &p->key},
                 {"aws_secret_access_key", &p->secret},
                 {"aws_session_token", &p->token},
                 {"region", &p->region},
                 {"endpoint_url", &p->endpoint}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        p->is_elsewhere = p->is_elsewhere || same(name, name_end, others[i]);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (value < value_end && same(name, name_end, known[i].name))
            return set(known[i].to, value, (size_t)(value_end - value), err);
    return LEAT_OK;
}

static leat_status read_lines(profile *p, const char *text, size_t size, leat_error *err) {
    const char *end = text + size;
    bool inside = false;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop != NULL ? stop : end;
        const char *from = line, *to = stop;
        /* A line that is moved in belongs to the setting above it. */
        bool is_nested = *line == ' ' || *line == '\t';
        strip(&from, &to);
        if (from < to && *from == '[') {
            const char *close = memchr(from, ']', (size_t)(to - from));
            inside = close != NULL && is_section(p, from + 1, close);
            p->is_there = p->is_there || inside;
        } else if (from < to && inside && !is_nested && *from != '#' && *from != ';') {
            const char *equals = memchr(from, '=', (size_t)(to - from));
            const char *name_end = equals != NULL ? equals : to;
            const char *value = equals != NULL ? equals + 1 : to;
            strip(&from, &name_end);
            strip(&value, &to);
            LEATI_TRY(take_setting(p, from, name_end, value, to, err));
        }
        line = stop + 1;
    }
    return LEAT_OK;
}

/* Reads the file that the variable names, or else ~/NAME; one that is not there says nothing. */
static leat_status read_profile(profile *p, const char *variable, const char *name,
                                leat_error *err) {
    const char *given = environment(variable), *home = environment("HOME");
    leat_buffer *whole = NULL;
    leat_error local = {0};
    leati_stat found;
    leati_text path = {0};
    if (given != NULL && given[0] == '~' && given[1] == '/' && home != NULL)
        leati_text_addf(&path, "%s%s", home, given + 1);
    else if (given != NULL)
        leati_text_addf(&path, "%s", given);
    else
        leati_text_addf(&path, "%s/%s", home != NULL ? home : "", name);
    leat_status status = path.failed ? leati_no_memory(&local) : LEAT_OK;
    if (status == LEAT_OK && leati_fs_is_remote(path.data))
        status = leati_refuse(&local, VALUE, "%s names %.200s; expected a file of this machine",
                              variable, path.data);
    if (status == LEAT_OK)
        status = leati_fs_stat(path.data, &found, &local);
    if (status == LEAT_OK && found.size > MOST_FILE_BYTES)
        status = leati_fail_in_file(&local, LEAT_INVALID_ARGUMENT, path.data, -1, false,
                                    "more than 1 MiB; expected profiles");
    if (status == LEAT_OK)
        status = leati_file_read_all(path.data, &whole, &local);
    if (status == LEAT_OK)
        status = read_lines(p, leat_buffer_data(whole), leat_buffer_size(whole), &local);
    leat_buffer_unref(whole);
    leati_text_fini(&path);
    return status == LEAT_OK || status == LEAT_NOT_FOUND ? LEAT_OK : leati_error_pass(err, &local);
}

/* ---- the account ---- */

static leat_status take_credentials(leati_s3_account *account, const profile *p, leat_error *err) {
    if (account->key != NULL || p->key == NULL)
        return LEAT_OK;
    if (p->secret == NULL)
        return leati_refuse(err, VALUE,
                            "the profile \"%s\" has aws_access_key_id and no "
                            "aws_secret_access_key; give both",
                            p->name);
    LEATI_TRY(set(&account->key, p->key, strlen(p->key), err));
    LEATI_TRY(set(&account->secret, p->secret, strlen(p->secret), err));
    return p->token == NULL ? LEAT_OK : set(&account->token, p->token, strlen(p->token), err);
}

static leat_status take_profile(leati_s3_account *account, const profile *p, leat_error *err) {
    LEATI_TRY(take_credentials(account, p, err));
    if (p->region != NULL)
        LEATI_TRY(set(&account->region, p->region, strlen(p->region), err));
    return p->endpoint == NULL ? LEAT_OK
                               : set(&account->endpoint, p->endpoint, strlen(p->endpoint), err);
}

static leat_status take_environment(leati_s3_account *account, leat_error *err) {
    const char *key = environment("AWS_ACCESS_KEY_ID");
    if ((key != NULL) != (environment("AWS_SECRET_ACCESS_KEY") != NULL))
        return leati_refuse(err, VALUE,
                            "one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set; set both, "
                            "or neither");
    if (key != NULL) {
        LEATI_TRY(set_by(&account->key, "AWS_ACCESS_KEY_ID", err));
        LEATI_TRY(set_by(&account->secret, "AWS_SECRET_ACCESS_KEY", err));
        LEATI_TRY(set_by(&account->token, "AWS_SESSION_TOKEN", err));
        LEATI_TRY(set_by(&account->token, "AWS_SECURITY_TOKEN", err));
    }
    LEATI_TRY(set_by(&account->region, "AWS_REGION", err));
    LEATI_TRY(set_by(&account->region, "AWS_DEFAULT_REGION", err));
    LEATI_TRY(set_by(&account->endpoint, "AWS_ENDPOINT_URL_S3", err));
    return set_by(&account->endpoint, "AWS_ENDPOINT_URL", err);
}

static leat_status take_files(leati_s3_account *account, leat_error *err) {
    const char *named = environment("AWS_PROFILE");
    named = named != NULL ? named : environment("AWS_DEFAULT_PROFILE");
    profile credentials = {.name = named != NULL ? named : "default"};
    credentials.is_default = named == NULL || strcmp(named, "default") == 0;
    profile config = credentials;
    config.is_config = true;
    leat_status status =
        read_profile(&credentials, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", err);
    if (status == LEAT_OK)
        status = read_profile(&config, "AWS_CONFIG_FILE", ".aws/config", err);
    if (status == LEAT_OK && named != NULL && !credentials.is_there && !config.is_there)
        status = leati_fail(err, LEAT_NOT_FOUND,
                            "the profile \"%.100s\" (AWS_PROFILE) is neither in ~/.aws/credentials "
                            "nor in ~/.aws/config; write it there",
                            named);
    if (status == LEAT_OK)
        status = take_profile(account, &credentials, err);
    if (status == LEAT_OK)
        status = take_profile(account, &config, err);
    if (status == LEAT_OK && account->key == NULL &&
        (credentials.is_elsewhere || config.is_elsewhere))
        status = leati_fail(err, LEAT_UNIMPLEMENTED,
                            "the credentials of the profile \"%.100s\" come from a role, a login "
                            "or a program, which leat does not ask; put them into the environment "
                            "(aws configure export-credentials --format env)",
                            credentials.name);
    free_profile(&credentials);
    free_profile(&config);
    return status;
}

leat_status leati_s3_account_read(leati_s3_account *out, leat_error *err) {
    leati_s3_account account = {0};
    leat_status status = take_environment(&account, err);
    if (status == LEAT_OK)
        status = take_files(&account, err);
    if (status == LEAT_OK)
        status = set(&account.region, "us-east-1", strlen("us-east-1"), err);
    if (status != LEAT_OK)
        leati_s3_account_fini(&account);
    else
        *out = account;
    return status;
}

void leati_s3_account_fini(leati_s3_account *account) {
    leati_free(account->region);
    leati_free(account->endpoint);
    leati_free(account->key);
    leati_free(account->secret);
    leati_free(account->token);
    *account = (leati_s3_account){0};
}
