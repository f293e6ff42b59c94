/* The inside of a plan, shared by the two parsers of tf.train.Example. */
#ifndef LEATI_FILE_EXAMPLE_PLAN_H
#define LEATI_FILE_EXAMPLE_PLAN_H

#include "file/example.h"
#include "file/wire.h"

/* A name of the plan, sorted by length and then bytes. */
typedef struct leati_plan_name {
    const char *text;
    size_t size;
    uint64_t head, mask; /* its first eight bytes, and which of them are there */
    int index;           /* of its request */
} leati_plan_name;

struct leati_example_plan {
    int count;
    bool dense; /* every request has a fixed length, and there are few enough */
    bool lent;  /* all memory is an arena's */
    leati_feature_request *requests; /* names are owned */
    leati_plan_name *by_index;
    leati_plan_name *sorted;
};

/* `limit`: up to where bytes behind the text may be read. */
static inline bool leati_example_plan_is_name(const leati_plan_name *name, leati_wire text,
                                              const uint8_t *limit) {
    uint64_t head;
    if (name->size != (size_t)(text.end - text.at))
        return false;
    if (limit - text.at < 8)
        return memcmp(name->text, text.at, name->size) == 0;
    memcpy(&head, text.at, sizeof head);
    return (head & name->mask) == name->head &&
           (name->size <= 8 || memcmp(name->text + 8, text.at + 8, name->size - 8) == 0);
}

/* The request of that name, or -1, looked up and remembered as entry `entry` of `order`. */
int leati_example_plan_look_up(const leati_example_plan *plan, leati_wire text, int entry,
                               leati_example_order *order);

/* The same; the remembered one is tried first. `order` may be NULL. */
static inline int leati_example_plan_find(const leati_example_plan *plan, leati_wire text,
                                          const uint8_t *limit, int entry,
                                          leati_example_order *order) {
    int known = order != NULL && entry < LEATI_REMEMBERED_FEATURES ? order->request[entry] : 0;
    if (known > 0 && known <= plan->count &&
        leati_example_plan_is_name(&plan->by_index[known - 1], text, limit))
        return known - 1;
    return leati_example_plan_look_up(plan, text, entry, order);
}

#endif
