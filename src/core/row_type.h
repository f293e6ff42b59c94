/* What a type of argument rows is: one entry of leati_row_types (core/row_types.c). Whoever walks
 * rows asks the entry and not the type, so a new type is one entry with its functions.
 *
 * A slot that is NULL does what its comment says. Failures are the walkers'. No state, no locks. */
#ifndef LEATI_CORE_ROW_TYPE_H
#define LEATI_CORE_ROW_TYPE_H

#include "core/json.h"
#include <stdalign.h>
#include <stddef.h>

/* What a slot is called for. */
typedef struct leati_row_call {
    const leati_row *row;
    const leati_json_functions *functions; /* may be NULL */
    leat_error *err;
} leati_row_call;

typedef struct leati_row_class {
    const char *name;                   /* in messages and listings */
    const char *blank;                  /* JSON of some value of the type; NULL: there is none */
    size_t size;                        /* of the member */
    const struct leati_row_class *item; /* of a list: what its values are */
    bool always;     /* there is no absent value: null is refused without LEATI_NONE */
    bool needed;     /* of a required row: an absent value is refused */
    bool structured; /* a JSON object is no tensor literal */
    /* The default, borrowed. NULL: zero. */
    void (*set)(const leati_row *row, void *at);
    bool (*is_default)(const leati_row *row,
                       const void *at); /* NULL: of equal bytes, or both absent */
    bool (*is_absent)(const void *at);  /* NULL: never */
    void (*set_none)(void *at);         /* of the null of JSON. NULL: the default stays */
    /* Deep copy into zeroed memory. NULL: the bytes. */
    leat_status (*copy)(const leati_row_call *call, const void *from, void *to);
    void (*fini)(void *at); /* NULL: nothing is owned */
    /* Of a value that is not absent. Owned; NULL with the error written. */
    json_t *(*write)(const leati_row_call *call, const void *at);
    /* Of what is not null, over the default. */
    leat_status (*read)(const leati_row_call *call, const json_t *json, void *at);
    /* Which tensors can be bound; NULL: none. */
    bool (*takes)(leat_dtype dtype);
    int most_rank;
    /* Value `i` of a tensor of such a dtype and rank, into zeroed memory. */
    leat_status (*bind)(const leati_row_call *call, const leat_tensor *value, int64_t i, void *at);
    uint64_t (*hash)(const void *at, uint64_t seed);
} leati_row_class;

extern const leati_row_class leati_row_types[LEATI_ROW_OBJECT + 1];

/* Memory for one member of any type. */
enum { LEATI_ROW_MOST_BYTES = 256 };
typedef struct leati_row_memory {
    alignas(max_align_t) char bytes[LEATI_ROW_MOST_BYTES];
} leati_row_memory;

/* ---- one member ---- */
bool leati_row_is_absent(const leati_row *row, const void *at);
bool leati_row_is_default(const leati_row *row, const void *at);
/* Releases and zeroes it. */
void leati_row_fini(const leati_row *row, void *at);

/* ---- lists: what leati_ints, leati_floats and leati_strings have in common ---- */
typedef struct leati_row_list {
    void *values;
    int32_t count;
} leati_row_list;

leati_row_list leati_row_list_of(const void *at);
void leati_row_list_set(void *at, leati_row_list list);
void leati_row_list_fini(const leati_row_class *item, leati_row_list *list);

/* ---- refusals: INVALID_ARGUMENT ---- */
leat_status leati_row_fail_bind(const leati_row *row, const leat_tensor *value, leat_error *err);

#endif
