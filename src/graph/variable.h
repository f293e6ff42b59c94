/* The inside of variables. */
#ifndef LEATI_GRAPH_VARIABLE_H
#define LEATI_GRAPH_VARIABLE_H

#include "core/object.h"
#include <leat/graph.h>

/* How a variable reads and writes a copy that lives on a device; set by dist when it places the
 * variable. */
typedef struct leati_variable_place {
    void *device;
    leat_status (*download)(void *device, const leat_buffer *from, void *to, size_t size,
                            leat_error *err);
    leat_status (*upload)(void *device, const void *from, leat_buffer *to, size_t size,
                          leat_error *err);
    leat_status (*alloc)(void *device, leat_dtype dtype, const leat_shape *shape, leat_buffer **out,
                         leat_error *err);
} leati_variable_place;

/* How copies in several processes become one value. */
typedef enum leati_variable_combination {
    LEATI_VARIABLE_SUM = 0, /* of one value per process */
    LEATI_VARIABLE_FIRST    /* that of the first process */
} leati_variable_combination;

struct leat_variable {
    leat_object object;
    char *name;
    leat_dtype dtype;
    leat_shape shape; /* that of all its values: dimensions may be unknown */
    bool trainable, sync_on_read;
    bool is_replaced; /* strings, and unknown dimensions: one copy, which is never written */
    leat_shape now;   /* of a replaced one: that of its value; lock: variable.c */
    leat_aggregation aggregation;
    int num_copies;               /* in this process */
    leat_buffer **copies;         /* one per replica; device NULL: host; replaced: variable.c */
    leati_variable_place *places; /* one per copy; device NULL: host memory */
    leat_object *owner;           /* what keeps the places' devices; a reference, may be NULL */
    int num_elsewhere;            /* copies in other processes */
    /* With copies elsewhere: makes one value on the host of all processes' `data`; all call it. */
    leat_status (*combine_elsewhere)(leat_object *owner, leati_variable_combination how, void *data,
                                     int64_t count, leat_dtype dtype, leat_error *err);
};

/* True if the object is a leat_variable. */
bool leati_variable_is_object(const leat_object *object);

/* One copy as a new host tensor; CANCELLED where the thread is asked to stop. Owned. */
LEAT_WARN_UNUSED leat_status leati_variable_download(const leat_variable *variable, int copy,
                                                     leat_tensor *out, leat_error *err);

/* Of a variable that is replaced: a copy of `value`, which fits its shape, takes the place of what
 * it holds; and what it holds now, a tensor that nobody writes (owned). From any thread. */
LEAT_WARN_UNUSED leat_status leati_variable_replace(leat_variable *variable,
                                                    const leat_tensor *value, leat_error *err);
leat_tensor leati_variable_share(const leat_variable *variable);

/* Does a value of this shape fit? */
bool leati_variable_takes(const leat_variable *variable, const leat_shape *shape);

/* While set (per thread), leat_variable_new calls it instead of making one host copy, but for those
 * that are replaced: a strategy's scope. */
typedef struct leati_variable_creator {
    leat_status (*place)(void *context, leat_variable *variable, const leat_tensor *initial,
                         leat_error *err);
    void *context;
} leati_variable_creator;
/* Returns the previous creator of this thread; NULL: none. */
const leati_variable_creator *leati_variable_set_creator(const leati_variable_creator *creator);

#endif
