/* What the file system s3 knows of its service: who asks, where, and what lists say. */
#ifndef LEATI_FILE_S3_H
#define LEATI_FILE_S3_H

#include "base/text.h"
#include "file/fs.h"
#include "file/net.h"

/* An account, as boto3 finds it: the environment, then the profile in the files of ~/.aws. {0} has
 * none of it. Texts are owned. */
typedef struct leati_s3_account {
    char *region;   /* never NULL after reading */
    char *endpoint; /* "https://host:port"; NULL: Amazon's */
    char *key, *secret, *token;
} leati_s3_account;

/* Reads it anew, so that what a program sets or somebody writes counts. Without a key requests are
 * not signed, which is enough for what is public. NOT_FOUND for a profile that was named and is not
 * there; UNIMPLEMENTED for one whose credentials a program or another service would give. */
LEAT_WARN_UNUSED leat_status leati_s3_account_read(leati_s3_account *out, leat_error *err);
void leati_s3_account_fini(leati_s3_account *account);

/* A path "bucket/key", and by whom it is asked for. */
typedef struct leati_s3_place {
    leati_s3_account account;
    leati_net_signer signer; /* borrows of the account */
    char *path;              /* s3://bucket/key */
    char *bucket;
    char *key; /* "": the bucket itself */
} leati_s3_place;

LEAT_WARN_UNUSED leat_status leati_s3_place_of(const leati_fs *fs, const char *rest,
                                               leati_s3_place *out, leat_error *err);
void leati_s3_place_fini(leati_s3_place *place);
/* NULL: not signed. */
const leati_net_signer *leati_s3_signer(const leati_s3_place *place);
/* The URL of the key, or of the bucket, with "?query" where that is not NULL. The query is written
 * as it is signed: names in order, values encoded, each with its '='. Owned; NULL without memory.
 */
char *leati_s3_url(const leati_s3_place *place, bool of_bucket, const char *query);
/* Appends `text` with what may not stand in a URL as %XX, '/' too unless `keeps_slash`. */
void leati_s3_encode(leati_text *out, const char *text, bool keeps_slash);

/* One page of a list: its entries are given to `function`, with the names behind `prefix`. *next is
 * where the following page begins (owned; NULL: it was the last), *count is raised by the entries.
 * DATA_LOSS for what is no such list. */
LEAT_WARN_UNUSED leat_status leati_s3_read_list(const char *text, size_t size, const char *prefix,
                                                leati_list_function function, void *context,
                                                char **next, int64_t *count, leat_error *err);
/* The text of the first element `name` in XML, without its entities. Owned; NULL: there is none, or
 * no memory. */
char *leati_s3_element(const char *text, size_t size, const char *name);

/* The slots for writing. */
leat_status leati_s3_create(const leati_fs *fs, const char *path, bool exclusive,
                            leati_file_sink **out, leat_error *err);
leat_status leati_s3_write(leati_file_sink *sink, const void *data, size_t size, leat_error *err);
leat_status leati_s3_settle(leati_file_sink *sink, leat_error *err);
leat_status leati_s3_put(leati_file_sink *sink, const char *to, leat_error *err);
leat_status leati_s3_close_sink(leati_file_sink *sink, leat_error *err);

#endif
