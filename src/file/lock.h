/* Files that say that a process is at work beside them: held by a lock, which the system takes back
 * when the process ends, however it ends. */
#ifndef LEATI_FILE_LOCK_H
#define LEATI_FILE_LOCK_H

#include <leat/base.h>

/* A file that this process holds. One thread at a time; a process that was forked holds it, too. */
typedef struct leati_lock leati_lock;

/* Makes file `path`, or takes one whose process has ended. ALREADY_EXISTS where somebody holds it,
 * also in this process; UNIMPLEMENTED where the file system knows no locks; others as for any file.
 * Nothing waits. Owned: let it go with leati_lock_free. */
LEAT_WARN_UNUSED leat_status leati_lock_new(const char *path, leati_lock **out, leat_error *err);
/* The same for a file that is there: NOT_FOUND makes none. */
LEAT_WARN_UNUSED leat_status leati_lock_take(const char *path, leati_lock **out, leat_error *err);
/* Replaces what the file says. */
LEAT_WARN_UNUSED leat_status leati_lock_write(leati_lock *lock, const char *text, leat_error *err);
/* Lets the file go, for the next one to take. NULL is allowed. */
void leati_lock_free(leati_lock *lock);
/* Removes the file while it is held, and frees the lock. NULL is allowed. */
void leati_lock_remove(leati_lock *lock);

#endif
