/* What all workers of a job must have alike: lists of things that are compared by their hashes, at
 * the price of one exchange where nothing differs. */
#ifndef LEATI_DIST_AGREEMENT_H
#define LEATI_DIST_AGREEMENT_H

#include "base/text.h"
#include "dist/strategy.h"

/* A list under way. {0} with `wanted` LEATI_NO_ITEM keeps the hashes; else the words of item
 * `wanted` alone are kept. */
#define LEATI_NO_ITEM SIZE_MAX
typedef struct leati_agreement_list {
    uint64_t *hashes; /* owned */
    size_t count, capacity, wanted;
    leati_text what, value; /* of item `wanted`: `shuffle "rows": seed`, `4` */
    bool failed;            /* no memory */
} leati_agreement_list;

/* Adds a thing. True: its words are wanted, and the caller adds them to `what` and `value`. */
bool leati_agreement_add(leati_agreement_list *list, uint64_t hash);
/* Adds a number or a text. */
void leati_agreement_add_int(leati_agreement_list *list, const char *what, int64_t value);
void leati_agreement_add_text(leati_agreement_list *list, const char *what, const char *value);

/* Adds all things, the same in each call: the second time words are wanted. */
typedef void (*leati_agreement_writer)(const void *context, leati_agreement_list *list);

/* Together: do all workers write the same list? FAILED_PRECONDITION names the first thing that a
 * worker has otherwise than worker 0, both workers, both values, and `way`, a way out. `name` is
 * that of what is compared ("the distributed dataset"). One exchange where nothing differs. */
LEAT_WARN_UNUSED leat_status leati_agreement_compare(const leat_strategy *strategy,
                                                     const char *name, leati_agreement_writer write,
                                                     const void *context, const char *way,
                                                     leat_error *err);

#endif
