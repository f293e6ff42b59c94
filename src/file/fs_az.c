/* az://container/blob: blobs of Azure Storage, and of Azurite.
 *
 * Happy path: see bucket.c; what is large goes up as blocks, whose list makes them a blob. Who asks
 * stands in AZURE_STORAGE_CONNECTION_STRING, or in the variables for account, key and SAS token.
 * Failures: those of requests (net.h) and accounts; blocks that nobody lists go after a week.
 * Blocks of two writers have different names, so that the blob is never a mixture. Locks: none. */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/minmax.h"
#include "file/bucket.h"
#include <stdio.h>
#include <string.h>

/* What Azurite and its predecessors have for everybody, by UseDevelopmentStorage=true. */
#define DEVELOPMENT_ACCOUNT "devstoreaccount1"
#define DEVELOPMENT_KEY                                                                            \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
#define DEVELOPMENT_ENDPOINT "http://127.0.0.1:10000/" DEVELOPMENT_ACCOUNT

/* ---- the account ---- */

/* What was said of it; owned. */
typedef struct az_account {
    char *name, *key, *sas, *endpoint, *protocol, *suffix, *development;
} az_account;

static void free_account(az_account *account) {
    char *const texts[] = {account->name,       account->key,      account->sas,
                           account->endpoint,   account->protocol, account->suffix,
                           account->development};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        leati_free(texts[i]);
}

/* "Name=value;Name=value". */
static leat_status read_connection(az_account *account, const char *text, leat_error *err) {
    const struct {
        const char *name;
        char **to;
    } known[] = {{"AccountName", &account->name},
                 {"AccountKey", &account->key},
                 {"SharedAccessSignature", &account->sas},
                 {"BlobEndpoint", &account->endpoint},
                 {"DefaultEndpointsProtocol", &account->protocol},
                 {"EndpointSuffix", &account->suffix},
                 {"UseDevelopmentStorage", &account->development}};
    while (*text != '\0') {
        size_t size = strcspn(text, ";"), name = LEATI_MIN(strcspn(text, "="), size);
        for (size_t i = 0; i < sizeof known / sizeof *known && name < size; i++) {
            if (strlen(known[i].name) != name || strncmp(known[i].name, text, name) != 0)
                continue;
            leati_free(*known[i].to);
            *known[i].to = leati_strndup(text + name + 1, size - name - 1);
            if (*known[i].to == NULL)
                return leati_no_memory(err);
        }
        text += size + (text[size] == ';');
    }
    return LEAT_OK;
}

static leat_status read_account(az_account *account, leat_error *err) {
    static const char *const connections[] = {"AZURE_STORAGE_CONNECTION_STRING", NULL};
    static const char *const names[] = {"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME",
                                        NULL};
    static const char *const keys[] = {"AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY", NULL};
    static const char *const tokens[] = {"AZURE_STORAGE_SAS_TOKEN", NULL};
    static const char *const endpoints[] = {"AZURE_STORAGE_SERVICE_ENDPOINT", NULL};
    const char *connection = leati_bucket_variable(connections);
    if (connection != NULL)
        LEATI_TRY(read_connection(account, connection, err));
    if (account->development != NULL && strcmp(account->development, "true") == 0) {
        LEATI_TRY(leati_bucket_set(&account->name, DEVELOPMENT_ACCOUNT, err));
        LEATI_TRY(leati_bucket_set(&account->key, DEVELOPMENT_KEY, err));
        LEATI_TRY(leati_bucket_set(&account->endpoint, DEVELOPMENT_ENDPOINT, err));
    }
    if (connection == NULL) {
        LEATI_TRY(leati_bucket_set(&account->name, leati_bucket_variable(names), err));
        LEATI_TRY(leati_bucket_set(&account->key, leati_bucket_variable(keys), err));
        LEATI_TRY(leati_bucket_set(&account->sas, leati_bucket_variable(tokens), err));
        LEATI_TRY(leati_bucket_set(&account->endpoint, leati_bucket_variable(endpoints), err));
    }
    if (account->name == NULL && (account->endpoint == NULL || account->key != NULL))
        return leati_refuse(err, VALUE,
                            "there is no account; set AZURE_STORAGE_ACCOUNT (and AZURE_STORAGE_KEY "
                            "or AZURE_STORAGE_SAS_TOKEN), or AZURE_STORAGE_CONNECTION_STRING");
    return LEAT_OK;
}

/* Fills the place; what it takes is no longer the account's. */
static leat_status take_account(leati_bucket_place *place, az_account *account, leat_error *err) {
    const char *sas = account->sas;
    if (account->endpoint == NULL) {
        leati_text url = {0};
        leati_text_addf(&url, "%s://%s.blob.%s",
                        account->protocol != NULL ? account->protocol : "https", account->name,
                        account->suffix != NULL ? account->suffix : "core.windows.net");
        account->endpoint = leati_text_take(&url);
        if (account->endpoint == NULL)
            return leati_no_memory(err);
    }
    LEATI_TRY(leati_bucket_check_endpoint(
        account->endpoint, "AZURE_STORAGE_SERVICE_ENDPOINT or the connection's BlobEndpoint", err));
    place->endpoint = account->endpoint;
    account->endpoint = NULL;
    place->signer.kind = LEATI_NET_AZURE;
    place->signer.key = account->name;
    account->name = NULL;
    /* A key can do all that a token can. */
    if (account->key != NULL) {
        place->signer.secret = account->key;
        account->key = NULL;
    } else if (sas != NULL) {
        return leati_bucket_set(&place->more, sas + (*sas == '?'), err);
    }
    return LEAT_OK;
}

static leat_status account_of(leati_bucket_place *place, leat_error *err) {
    az_account account = {0};
    leat_status status = read_account(&account, err);
    if (status == LEAT_OK)
        status = take_account(place, &account, err);
    free_account(&account);
    return status;
}

/* ---- URLs ---- */

/* ENDPOINT/CONTAINER[/KEY][?QUERY][&SAS] */
static char *url_of(const leati_bucket_place *place, const char *key, const char *query) {
    leati_text url = {0};
    leati_text_addf(&url, "%s/%s", place->endpoint, place->bucket);
    if (key != NULL) {
        leati_text_add(&url, "/", 1);
        leati_bucket_encode(&url, key, true);
    }
    if (query != NULL)
        leati_text_addf(&url, "?%s", query);
    if (place->more != NULL)
        leati_text_addf(&url, "%c%s", query != NULL ? '&' : '?', place->more);
    return leati_text_take(&url);
}

static char *url(const leati_bucket_place *place, const char *query) {
    return url_of(place, place->key, query);
}

static char *list_url(const leati_bucket_place *place, const char *prefix, int most,
                      const char *next) {
    leati_text query = {0};
    leati_text_addf(&query, "comp=list&delimiter=%%2F&maxresults=%d&prefix=", most);
    leati_bucket_encode(&query, prefix, false);
    leati_text_addf(&query, "&restype=container");
    if (next != NULL) {
        leati_text_addf(&query, "&marker=");
        leati_bucket_encode(&query, next, false);
    }
    char *found = query.failed ? NULL : url_of(place, NULL, query.data);
    leati_text_fini(&query);
    return found;
}

static leat_status read_list(const char *text, size_t size, const char *prefix,
                             leati_list_function function, void *context, char **next,
                             int64_t *count, leat_error *err) {
    static const char root[] = "<EnumerationResults";
    leati_bucket_listing l = {prefix, function, context, 0, false};
    *next = NULL;
    if (memmem(text, size, root, sizeof root - 1) == NULL)
        return leati_fail(err, LEAT_DATA_LOSS,
                          "the server's answer is no list of blobs; check the endpoint "
                          "(AZURE_STORAGE_SERVICE_ENDPOINT)");
    LEATI_TRY(leati_bucket_give_names(&l, text, size, "Blob", "Name", LEATI_PATH_FILE, err));
    LEATI_TRY(
        leati_bucket_give_names(&l, text, size, "BlobPrefix", "Name", LEATI_PATH_FOLDER, err));
    *count += l.count;
    *next = leati_bucket_element(text, size, "NextMarker");
    if (*next != NULL && **next == '\0') {
        leati_free(*next);
        *next = NULL;
    }
    return LEAT_OK;
}

/* ---- blocks ---- */

/* The block's name: base64, and as long as every other one of the blob. */
static void add_block_name(leati_text *out, const char *upload, size_t number) {
    char name[64], letters[100] = "";
    int n = snprintf(name, sizeof name, "%.16s%08zu", upload, number);
    leati_base64_encode(name, (size_t)n, letters);
    leati_text_addf(out, "%s", letters);
}

static char *block_query(const char *upload, size_t number) {
    leati_text query = {0};
    if (number == 0)
        return leati_strdup("comp=blocklist");
    leati_text_addf(&query, "blockid=");
    add_block_name(&query, upload, number);
    leati_text_addf(&query, "&comp=block");
    return leati_text_take(&query);
}

static void list_block(leati_text *out, const char *upload, size_t number, const char *version) {
    (void)version;
    leati_text_addf(out, "<Uncommitted>");
    add_block_name(out, upload, number);
    leati_text_addf(out, "</Uncommitted>");
}

static const leati_bucket_parts parts = {
    .most = 50000,
    .complete_method = LEATI_NET_PUT,
    .header = "x-ms-blob-type: BlockBlob",
    .query = block_query,
    .list = list_block,
    .list_begin = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>",
    .list_end = "</BlockList>",
};

static const leati_bucket_dialect dialect = {
    .bucket_name = "container",
    .signed_rights = "check the account and its key or token (AZURE_STORAGE_ACCOUNT, "
                     "AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN)",
    .unsigned_rights = "it may want a key or a token (AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN "
                       "or AZURE_STORAGE_CONNECTION_STRING)",
    .parts = &parts,
    .account = account_of,
    .url = url,
    .list_url = list_url,
    .read_list = read_list,
};

extern const leati_fs leati_fs_az;
const leati_fs leati_fs_az = {
    .scheme = "az",
    .doc = "Blobs of Azure Storage.",
    LEATI_BUCKET_SLOTS,
    LEATI_BUCKET_SINK_SLOTS,
    .dialect = &dialect,
};
