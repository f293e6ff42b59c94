/* Rewrites run once when an iterator is created. One is one file in data/rewrites/ and one line in
 * data/rewrites.def, in the order of application. A rewrite made for speed keeps elements and
 * errors as they were. */
#ifndef LEATI_DATA_REWRITE_H
#define LEATI_DATA_REWRITE_H

#include "data/dataset.h"

typedef struct leati_rewrite_rule {
    const char *name; /* TensorFlow's name of the rewrite where it has one */
    const char *doc;
    /* Given a node whose inputs are already rewritten (borrowed): a replacement (owned), or NULL
     * without an error for "leave it". */
    leat_dataset *(*apply)(leat_dataset *node, leat_error *err);
} leati_rewrite_rule;

/* The rewritten plan (owned; the argument is borrowed), NULL on failure. */
leat_dataset *leati_rewrite(leat_dataset *dataset, leat_error *err);

#endif
