/* URLs and lists of S3; see s3.h.
 *
 * Happy path: Amazon's buckets have hosts of their own, another service's are the first folder
 * below its endpoint. Failures: endpoints that are no URL, lists that are none. Locks: none. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/s3.h"
#include <string.h>

leat_status leati_s3_account_of(leati_bucket_place *place, leat_error *err) {
    leati_s3_account account = {0};
    LEATI_TRY(leati_s3_account_read(&account, err));
    leat_status status = leati_bucket_check_endpoint(account.endpoint, "AWS_ENDPOINT_URL_S3", err);
    if (status != LEAT_OK) {
        leati_s3_account_fini(&account);
        return status;
    }
    place->endpoint = account.endpoint;
    place->signer = (leati_net_signer){account.key != NULL ? LEATI_NET_AMAZON : LEATI_NET_UNSIGNED,
                                       account.region, account.key, account.secret, account.token};
    return LEAT_OK;
}

char *leati_s3_url(const leati_bucket_place *place, bool of_bucket, const char *query) {
    const char *region = place->signer.region;
    leati_text url = {0};
    /* A certificate for *.s3.REGION is for no name with further dots. */
    bool has_host = place->endpoint == NULL && strpbrk(place->bucket, "._") == NULL;
    const char *end = strncmp(region, "cn-", 3) == 0 ? ".cn" : "";
    if (place->endpoint != NULL)
        leati_text_addf(&url, "%s/%s", place->endpoint, place->bucket);
    else if (has_host)
        leati_text_addf(&url, "https://%s.s3.%s.amazonaws.com%s", place->bucket, region, end);
    else
        leati_text_addf(&url, "https://s3.%s.amazonaws.com%s/%s", region, end, place->bucket);
    if (!of_bucket || has_host)
        leati_text_add(&url, "/", 1);
    if (!of_bucket)
        leati_bucket_encode(&url, place->key, true);
    if (query != NULL)
        leati_text_addf(&url, "?%s", query);
    return leati_text_take(&url);
}

leat_status leati_s3_read_list(const char *text, size_t size, const char *prefix,
                               leati_list_function function, void *context, char **next,
                               int64_t *count, leat_error *err) {
    static const char root[] = "<ListBucketResult";
    leati_bucket_listing l = {prefix, function, context, 0, true};
    *next = NULL;
    if (memmem(text, size, root, sizeof root - 1) == NULL)
        return leati_fail(err, LEAT_DATA_LOSS,
                          "the server's answer is no list of S3; check the endpoint "
                          "(AWS_ENDPOINT_URL_S3)");
    LEATI_TRY(leati_bucket_give_names(&l, text, size, "Contents", "Key", LEATI_PATH_FILE, err));
    LEATI_TRY(leati_bucket_give_names(&l, text, size, "CommonPrefixes", "Prefix", LEATI_PATH_FOLDER,
                                      err));
    *count += l.count;
    char *truncated = leati_bucket_element(text, size, "IsTruncated");
    bool goes_on = truncated != NULL && strcmp(truncated, "true") == 0;
    leati_free(truncated);
    if (!goes_on)
        return LEAT_OK;
    *next = leati_bucket_element(text, size, "NextContinuationToken");
    return *next != NULL ? LEAT_OK
                         : leati_fail(err, LEAT_DATA_LOSS,
                                      "the server's list goes on, and does not say where");
}
