/* s3://bucket/key: objects of Amazon S3, and of what speaks as it does (MinIO, Ceph, R2, ...).
 *
 * Happy path: see bucket.c; lists are those of ListObjectsV2, and requests are signed by libcurl.
 * Failures: those of requests (net.h) and accounts. Locks: none. */
#include "base/alloc.h"
#include "file/s3.h"

static char *url(const leati_bucket_place *place, const char *query) {
    return leati_s3_url(place, false, query);
}

static char *list_url(const leati_bucket_place *place, const char *prefix, int most,
                      const char *next) {
    leati_text query = {0};
    if (next != NULL) {
        leati_text_addf(&query, "continuation-token=");
        leati_bucket_encode(&query, next, false);
        leati_text_addf(&query, "&");
    }
    leati_text_addf(&query,
                    "delimiter=%%2F&encoding-type=url&list-type=2&max-keys=%d&prefix=", most);
    leati_bucket_encode(&query, prefix, false);
    char *found = query.failed ? NULL : leati_s3_url(place, true, query.data);
    leati_text_fini(&query);
    return found;
}

/* "partNumber=3&uploadId=..." or "uploadId=..." */
static char *part_query(const char *upload, size_t number) {
    leati_text query = {0};
    if (number > 0)
        leati_text_addf(&query, "partNumber=%zu&", number);
    leati_text_addf(&query, "uploadId=");
    leati_bucket_encode(&query, upload, false);
    return leati_text_take(&query);
}

static void list_part(leati_text *out, const char *upload, size_t number, const char *version) {
    (void)upload;
    leati_text_addf(out, "<Part><PartNumber>%zu</PartNumber><ETag>%s</ETag></Part>", number,
                    version);
}

static const leati_bucket_parts parts = {
    .most = 10000,
    .complete_method = LEATI_NET_POST,
    .begin_query = "uploads=",
    .is_removed = true,
    .query = part_query,
    .list = list_part,
    .list_begin = "<CompleteMultipartUpload>",
    .list_end = "</CompleteMultipartUpload>",
};

static const leati_bucket_dialect dialect = {
    .bucket_name = "bucket",
    .signed_rights = "check the credentials (AWS_ACCESS_KEY_ID, AWS_PROFILE) and what they allow",
    .unsigned_rights = "it may want credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                       "AWS_PROFILE)",
    .parts = &parts,
    .removes_silently = true,
    .account = leati_s3_account_of,
    .url = url,
    .list_url = list_url,
    .read_list = leati_s3_read_list,
};

extern const leati_fs leati_fs_s3;
const leati_fs leati_fs_s3 = {
    .scheme = "s3",
    .doc = "Objects of S3 and of services that speak as it does.",
    LEATI_BUCKET_SLOTS,
    LEATI_BUCKET_SINK_SLOTS,
    .dialect = &dialect,
};
