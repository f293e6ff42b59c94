/* What object stores have in common: objects of buckets, read by ranges (remote.h), listed page by
 * page, and written as a whole. What tells one from another is its dialect (fs_s3.c, fs_gs.c,
 * fs_az.c). */
#ifndef LEATI_FILE_BUCKET_H
#define LEATI_FILE_BUCKET_H

#include "base/text.h"
#include "file/fs.h"
#include "file/remote.h"

/* A path "bucket/key", and by whom it is asked for. Texts are owned. {0} is empty. */
typedef struct leati_bucket_place {
    const struct leati_bucket_dialect *dialect;
    leati_net_signer signer; /* kind LEATI_NET_UNSIGNED: none */
    char *endpoint; /* "https://host:port", without a slash behind it; NULL: the usual one */
    char *more;     /* what every query ends with; NULL: nothing */
    char *path;     /* as the user gave it, with its scheme */
    char *bucket;
    char *key; /* "": the bucket itself */
} leati_bucket_place;

/* How objects are put together of parts that go up side by side. NULL slots: not needed. */
typedef struct leati_bucket_parts {
    size_t most;                      /* parts of one object */
    leati_net_method complete_method; /* by which the list of parts is sent */
    const char *begin_query;          /* of the POST that begins it; NULL: nothing begins it */
    const char *header;               /* of an object that goes up by one request; NULL: none */
    bool is_removed;                  /* a DELETE removes what was begun; else it expires */
    /* The query of part `number`, from 1 on, or of the whole (0). Owned; NULL without memory. */
    char *(*query)(const char *upload, size_t number);
    /* Appends what the list of parts has of one. */
    void (*list)(leati_text *out, const char *upload, size_t number, const char *version);
    const char *list_begin, *list_end;
} leati_bucket_parts;

typedef struct leati_bucket_dialect {
    const char *bucket_name;                     /* what the service calls it */
    const char *signed_rights, *unsigned_rights; /* what to look at where rights are missing */
    const leati_bucket_parts *parts;
    bool removes_silently; /* also what is not there */
    /* Fills all but `dialect`, `path`, `bucket` and `key`, which are there; failures are given the
     * path by who calls. */
    leat_status (*account)(leati_bucket_place *place, leat_error *err);
    /* The URL of the object, with "?query" where that is not NULL. Owned; NULL without memory. */
    char *(*url)(const leati_bucket_place *place, const char *query);
    /* The URL of the bytes; NULL: url's. */
    char *(*content_url)(const leati_bucket_place *place);
    /* The URL of a page of at most `most` names one level below a prefix; `next` NULL: the first.
     */
    char *(*list_url)(const leati_bucket_place *place, const char *prefix, int most,
                      const char *next);
    /* One page of a list: its entries are given to `function`, with the names behind `prefix`.
     * *next is where the following page begins (owned; NULL: it was the last), *count is raised by
     * the entries. DATA_LOSS for what is no such list. */
    leat_status (*read_list)(const char *text, size_t size, const char *prefix,
                             leati_list_function function, void *context, char **next,
                             int64_t *count, leat_error *err);
    /* What a GET of the object's URL says of it; NULL: a HEAD is asked, and its head says it. */
    leat_status (*read_stat)(const char *text, size_t size, leati_stat *out, leat_error *err);
    /* The token of a signer that may have been renewed; owned. NULL: there is nothing to renew. */
    leati_remote_renewal renew;
} leati_bucket_dialect;

LEAT_WARN_UNUSED leat_status leati_bucket_place_of(const leati_fs *fs, const char *rest,
                                                   leati_bucket_place *out, leat_error *err);
void leati_bucket_place_fini(leati_bucket_place *place);
/* An ask for the place, of which the method, the body and the URL are to be given. */
leati_net_ask leati_bucket_ask(const leati_bucket_place *place);

/* The slots of a file system that is an object store. */
leat_status leati_bucket_open(const leati_fs *fs, const char *path, leati_file **out,
                              leat_error *err);
leat_status leati_bucket_stat(const leati_fs *fs, const char *path, leati_stat *out,
                              leat_error *err);
leat_status leati_bucket_list(const leati_fs *fs, const char *path, leati_list_function function,
                              void *context, leat_error *err);
leat_status leati_bucket_remove(const leati_fs *fs, const char *path, leat_error *err);
leat_status leati_bucket_mkdir(const leati_fs *fs, const char *path, leat_error *err);
/* Those for writing in parts (bucket_sink.c). */
leat_status leati_bucket_create(const leati_fs *fs, const char *path, bool exclusive,
                                leati_file_sink **out, leat_error *err);
leat_status leati_bucket_write(leati_file_sink *sink, const void *data, size_t size,
                               leat_error *err);
leat_status leati_bucket_settle(leati_file_sink *sink, leat_error *err);
leat_status leati_bucket_put(leati_file_sink *sink, const char *to, leat_error *err);
leat_status leati_bucket_close_sink(leati_file_sink *sink, leat_error *err);
#define LEATI_BUCKET_SLOTS                                                                         \
    .open = leati_bucket_open, .use = leati_remote_use, .read_at = leati_remote_read_at,           \
    .close = leati_remote_close, .stat = leati_bucket_stat, .list = leati_bucket_list,             \
    .remove = leati_bucket_remove, .mkdir = leati_bucket_mkdir
#define LEATI_BUCKET_SINK_SLOTS                                                                    \
    .create = leati_bucket_create, .write = leati_bucket_write, .settle = leati_bucket_settle,     \
    .put = leati_bucket_put, .close_sink = leati_bucket_close_sink

/* What sinks of objects begin with, whatever requests they write by. */
typedef struct leati_bucket_writing {
    leati_file_sink base;
    leati_bucket_place place;
    uint8_t *data; /* what is gathered: no request has it yet */
    size_t size, capacity;
    bool is_put;
} leati_bucket_writing;

/* A sink of `bytes`, zeros but for its beginning, which is that. NULL: what cannot be an object is
 * refused. */
void *leati_bucket_writing_new(const leati_fs *fs, const char *path, bool exclusive, size_t bytes,
                               leat_error *err);
/* Takes from [*data, *data + *size) what fits until `most` bytes are gathered, and moves both. */
LEAT_WARN_UNUSED leat_status leati_bucket_gather(leati_bucket_writing *w, size_t most,
                                                 const void **data, size_t *size, leat_error *err);
/* What is gathered, which is the caller's from now on. */
uint8_t *leati_bucket_gathered(leati_bucket_writing *w, size_t *size);
/* Frees all of it, and itself. */
void leati_bucket_writing_free(leati_bucket_writing *w);

/* ---- texts (bucket_text.c) ---- */

/* Appends `text` with what may not stand in a URL as %XX, '/' too unless `keeps_slash`. */
void leati_bucket_encode(leati_text *out, const char *text, bool keeps_slash);
/* Takes %XX, and '+' for a space, out of a text in place. */
void leati_bucket_decode(char *text);
/* "http://" or "https://", a host and nothing that would be a part of a query, else
 * INVALID_ARGUMENT, which names `what`; slashes at the end are cut off. */
LEAT_WARN_UNUSED leat_status leati_bucket_check_endpoint(char *url, const char *what,
                                                         leat_error *err);
/* The first variable of the environment that says something; `names` ends with NULL. NULL: none. */
const char *leati_bucket_variable(const char *const *names);
/* Sets *to to a copy of the value, unless it is set; `value` NULL: nothing. */
LEAT_WARN_UNUSED leat_status leati_bucket_set(char **to, const char *value, leat_error *err);
/* The content of the first element `name` in [*from, to), which is moved behind it. */
bool leati_bucket_next_element(const char **from, const char *to, const char *name,
                               const char **content, size_t *size);
/* The text of the first element `name` in XML, without its entities. Owned; NULL: there is none, or
 * no memory. */
char *leati_bucket_element(const char *text, size_t size, const char *name);

/* A listing under way. */
typedef struct leati_bucket_listing {
    const char *prefix;
    leati_list_function function;
    void *context;
    int64_t count;
    bool is_encoded; /* keys come as URLs have them */
} leati_bucket_listing;

/* Gives out one key, which is changed. What is no name of one level is passed over. */
LEAT_WARN_UNUSED leat_status leati_bucket_give_name(leati_bucket_listing *listing, char *key,
                                                    leati_path_kind kind, leat_error *err);
/* Gives out the names `inner` in all elements `outer`. */
LEAT_WARN_UNUSED leat_status leati_bucket_give_names(leati_bucket_listing *listing,
                                                     const char *text, size_t size,
                                                     const char *outer, const char *inner,
                                                     leati_path_kind kind, leat_error *err);

#endif
