/* The words of a descriptor's `types` (graph/op.h). */
#ifndef LEATI_GRAPH_INPUT_TYPE_H
#define LEATI_GRAPH_INPUT_TYPE_H

#include <leat/core.h>
#include <stdbool.h>
#include <stddef.h>

/* One word; its texts are borrowed from the descriptor. */
typedef struct leati_input_type {
    const char *name; /* a dtype's or a shared one; of size 0: any */
    size_t size;
    leat_dtype dtype;    /* where the name is a dtype's; else LEAT_INVALID */
    leat_dtype fallback; /* of what has none of its own; LEAT_INVALID: not said */
    bool list, rows;     /* it stands for any number of inputs; a tensor's rows may be those */
    const char *more;    /* the names of other dtypes that are cast, joined by commas; NULL: none */
    size_t more_size;
} leati_input_type;

/* Takes the next word off `types` (NULL: there is none); false at its end. */
bool leati_input_type_next(const char **types, leati_input_type *out);
/* What `dtype` is cast to before the operation sees it; `dtype` where it stays. */
leat_dtype leati_input_type_cast(const leati_input_type *type, leat_dtype dtype);

#endif
