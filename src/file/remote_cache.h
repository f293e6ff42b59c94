/* A folder of this machine that keeps what was read of remote files (LEAT_CACHE_DIR), for whoever
 * reads them again, in this process or another. */
#ifndef LEATI_FILE_REMOTE_CACHE_H
#define LEATI_FILE_REMOTE_CACHE_H

#include <leat/core.h>

/* Of the first block of a file, and of what is asked for first. */
enum { LEATI_REMOTE_FIRST_BYTES = 1 << 20 };

/* One remote file's part of it. Any number of threads may call at a time. */
typedef struct leati_remote_cache leati_remote_cache;

/* `source` names the file among all others. *out NULL: there is no folder (LEAT_CACHE_DIR says
 * none). INVALID_ARGUMENT where LEAT_CACHE_BYTES is no number of bytes; what else fails keeps
 * nothing, since files can be read without. Owned. */
LEAT_WARN_UNUSED leat_status leati_remote_cache_new(const char *source, leati_remote_cache **out,
                                                    leat_error *err);
void leati_remote_cache_free(leati_remote_cache *cache); /* NULL is allowed */

/* Was something of the file kept, of whatever version? Then it is worth to ask for the version
 * before the bytes. */
bool leati_remote_cache_is_known(const leati_remote_cache *cache);
/* Says which version is read from now on; before, nothing is found or kept. */
void leati_remote_cache_identify(leati_remote_cache *cache, const char *version, int64_t size);

/* The block with the byte at `offset` of a file of `whole` bytes: what is kept is kept by these. */
void leati_remote_cache_block(int64_t offset, int64_t whole, int64_t *from, int64_t *size);
/* Is a block there, as far as its name says? */
bool leati_remote_cache_has(const leati_remote_cache *cache, int64_t from);
/* The bytes of a block; NULL: it is not there, or was damaged and is removed. Owned. */
leat_buffer *leati_remote_cache_get(leati_remote_cache *cache, int64_t from, int64_t size);
/* Keeps a block. Where the folder gets larger than it may be, what was used longest ago goes. */
void leati_remote_cache_put(leati_remote_cache *cache, int64_t from, const void *data,
                            int64_t size);
/* Counts bytes that were asked of a server though there is a folder. */
void leati_remote_cache_missed(int64_t bytes);

/* Bytes of this process that came from the folder, and that came from servers beside it. */
void leati_remote_cache_counts(int64_t *kept, int64_t *asked);
/* "remote cache: 75.0% of 1,048,576 bytes from DIR"; false: nothing was read with one. `text` has
 * `size` bytes. */
bool leati_remote_cache_describe(char *text, size_t size);

#endif
