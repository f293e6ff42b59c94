/* What the file system gs knows of Google Cloud Storage: who asks, and how objects are written. */
#ifndef LEATI_FILE_GS_H
#define LEATI_FILE_GS_H

#include "file/bucket.h"

/* The token by which requests are made, as Google's libraries find it, or NULL where there is
 * nobody, which is enough for what is public: CLOUDSDK_AUTH_ACCESS_TOKEN, the file that
 * GOOGLE_APPLICATION_CREDENTIALS names, that of gcloud's login, and on Google's machines what they
 * say. It is kept until shortly before it ends. Owned. Blocks for a request or a few; holds no lock
 * then. */
LEAT_WARN_UNUSED leat_status leati_gs_token(char **out, leat_error *err);

/* The signature of `text` by RSA with SHA-256 (RS256) as base64 of web addresses. `key` is PEM.
 * Owned. UNIMPLEMENTED in a build without OpenSSL. */
LEAT_WARN_UNUSED leat_status leati_gs_rs256(const char *key, const char *text, char **out,
                                            leat_error *err);

/* "ENDPOINT[/upload]/storage/v1/b/BUCKET/o" and, unless `key` is NULL, "/KEY", with "?query" where
 * that is not NULL. Owned; NULL without memory. */
char *leati_gs_url(const leati_bucket_place *place, bool uploads, const char *key,
                   const char *query);

/* The slots for writing (gs_sink.c). */
leat_status leati_gs_create(const leati_fs *fs, const char *path, bool exclusive,
                            leati_file_sink **out, leat_error *err);
leat_status leati_gs_write(leati_file_sink *sink, const void *data, size_t size, leat_error *err);
leat_status leati_gs_settle(leati_file_sink *sink, leat_error *err);
leat_status leati_gs_put(leati_file_sink *sink, const char *to, leat_error *err);
leat_status leati_gs_close_sink(leati_file_sink *sink, leat_error *err);

#endif
