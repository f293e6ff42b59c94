/* Which programs of this user have pages: a file of each, named by its process number, in a folder
 * that nobody else reads. The program holds its file by a lock, so one that nobody holds is left
 * over from a program that ended, and is removed by the next one that looks. */
#ifndef LEATI_DATA_RUN_SEEN_H
#define LEATI_DATA_RUN_SEEN_H

#include "base/text.h"

typedef struct leati_lock leati_lock;

/* Writes the addresses of this process's pages, one a line, to its file, which `*held` is after the
 * first call (NULL before). "" removes it. Not from two threads at a time. In a child of fork let
 * go of the parent's with leati_lock_free. FAILED_PRECONDITION where the folder is not this user's
 * alone; others as for any file. */
LEAT_WARN_UNUSED leat_status leati_seen_write(leati_lock **held, const char *urls, leat_error *err);

/* Appends the lines of the program `pid`. NOT_FOUND: no such process; PERMISSION_DENIED: another
 * user's; FAILED_PRECONDITION: it shows nothing, or the folder is not this user's alone. */
LEAT_WARN_UNUSED leat_status leati_seen_read(int pid, leati_text *urls, leat_error *err);

#endif
