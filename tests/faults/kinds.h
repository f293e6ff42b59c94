/* What the library saves, kind by kind, for tests of what a save leaves behind. */
#ifndef KINDS_H
#define KINDS_H

#include <leat/base.h>

/* One kind of save in a folder of its own. What is saved is one of two versions, 0 and 1. */
typedef struct kind {
    const char *name;
    /* Writes a version over whatever is there. */
    leat_status (*save)(const char *folder, int version, leat_error *err);
    /* Reads what is there: DATA_LOSS where that is neither of the two; a cache and a snapshot
     * compute what they do not have. */
    leat_status (*load)(const char *folder, int *version, leat_error *err);
    int files;   /* that a folder has after a save; 0: not always as many */
    bool is_new; /* it is saved once: nothing is there before */
} kind;

extern const kind kinds[];
extern const int num_kinds;

/* Temporary files in a folder and those below it, and all files. */
int kinds_count(const char *folder, int *temporary);

/* Removes a folder and all in it, if it is there, and makes it anew. */
void kinds_clear(const char *folder);

#endif
