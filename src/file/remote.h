/* Files that a server holds, read by ranges: several requests are under way ahead of who reads from
 * start to end, and what was read last is kept for who reads here and there. What
 * web servers and object stores have in common. */
#ifndef LEATI_FILE_REMOTE_H
#define LEATI_FILE_REMOTE_H

#include "file/fs.h"
#include "file/net.h"

/* The token that a signer has now (leati_net_signer); owned. Any thread. */
typedef leat_status (*leati_remote_renewal)(char **out, leat_error *err);

/* Borrowed for the call. */
typedef struct leati_remote_place {
    const char *path; /* as the user gave it, with its scheme */
    const char *url;
    const leati_net_signer *signer; /* NULL: none */
    const char *rights;             /* leati_net_ask's; NULL: the usual ones */
    leati_remote_renewal renew;     /* NULL: the signer stays as it is */
} leati_remote_place;

/* Opens a file and asks for its first bytes. The file is `seekable`, its size known. */
LEAT_WARN_UNUSED leat_status leati_remote_open(const leati_fs *fs, const leati_remote_place *place,
                                               leati_file **out, leat_error *err);
/* The slots of a file system for such a file. Any number of threads may read at a time. */
leat_status leati_remote_read_at(leati_file *file, int64_t offset, void *data, size_t size,
                                 size_t *got, leat_error *err);
void leati_remote_close(leati_file *file);
leat_status leati_remote_use(const leati_fs *fs, const char *path, leati_file_user use,
                             void *context, leat_error *err);

/* SCHEME://REST. Owned; NULL without memory. */
char *leati_remote_path(const leati_fs *fs, const char *rest);

#endif
