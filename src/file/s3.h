/* What the file system s3 knows of its service: who asks, where, and what lists say. */
#ifndef LEATI_FILE_S3_H
#define LEATI_FILE_S3_H

#include "file/bucket.h"

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

/* A dialect's slot (bucket.h): the account, and where its service is. */
leat_status leati_s3_account_of(leati_bucket_place *place, leat_error *err);
/* The URL of the key, or of the bucket, with "?query" where that is not NULL. The query is written
 * as it is signed: names in order, values encoded, each with its '='. Owned; NULL without memory.
 */
char *leati_s3_url(const leati_bucket_place *place, bool of_bucket, const char *query);
/* A dialect's slot (bucket.h). */
leat_status leati_s3_read_list(const char *text, size_t size, const char *prefix,
                               leati_list_function function, void *context, char **next,
                               int64_t *count, leat_error *err);

#endif
