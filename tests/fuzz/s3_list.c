/* Lists of object stores, by every dialect: any bytes give names without a slash or a zero byte,
 * below the prefix, or DATA_LOSS. */
#include "file/bucket.h"
#include "fuzz.h"
#include <string.h>

static leat_status take(void *context, const char *name, leati_path_kind kind, leat_error *err) {
    int *count = context;
    (void)kind;
    (void)err;
    (*count)++;
    if (*name == '\0' || strchr(name, '/') != NULL)
        fuzz_broken("the name \"%s\"", name);
    return LEAT_OK;
}

static void run_dialect(const leati_fs *fs, const uint8_t *data, size_t size) {
    static const char *const prefixes[] = {"", "a/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        char *next = NULL;
        int names = 0;
        int64_t count = 0;
        leat_error err = {0};
        leat_status status = fs->dialect->read_list((const char *)data, size, prefixes[i], take,
                                                    &names, &next, &count, &err);
        fuzz_check_error("read_list", status, &err);
        if (status == LEAT_OK && names > count)
            fuzz_broken("%d names of %lld", names, (long long)count);
        leat_text_free(next);
    }
}

static void run(const uint8_t *data, size_t size) {
    static const char *const paths[] = {"s3://bucket", "gs://bucket", "az://container"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const leati_fs *fs = NULL;
        const char *rest = NULL;
        if (leati_fs_of(paths[i], &fs, &rest, &(leat_error){0}) == LEAT_OK)
            run_dialect(fs, data, size);
    }
}

static void seeds(void) {
    static const char *const texts[] = {
        ("<ListBucketResult><Contents><Key>a/b%20c</Key></Contents><CommonPrefixes><Prefix>a/d/"
         "</Prefix></CommonPrefixes><IsTruncated>true</IsTruncated><NextContinuationToken>1&amp;2"
         "</NextContinuationToken></ListBucketResult>"),
        "<ListBucketResult xmlns=\"x\"><Contents><Key>&#x41;&#66;&lt;+%2F%</Key></Contents>",
        "{\"items\": [{\"name\": \"a/b c\"}], \"prefixes\": [\"a/d/\"], \"nextPageToken\": \"1\"}",
        ("<EnumerationResults><Blobs><Blob><Name>a/&amp;b</Name></Blob><BlobPrefix><Name>a/d/</"
         "Name>"
         "</BlobPrefix></Blobs><NextMarker>2</NextMarker></EnumerationResults>"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_seed(texts[i], strlen(texts[i]));
}

const fuzz_target fuzz_s3_list = {
    .name = "s3_list",
    .doc = "lists of object stores",
    .run = run,
    .most = 600,
    .seeds = seeds,
};
