/* Random access: a tree of accessors beside the tree of states. An accessor stands for one operator
 * of a plan and answers by number: rows for a list of indices. It is opened once and answers any
 * number of times; inputs are opened when they are first asked.
 *
 * at(access, indices, n, out, err), n >= 1: LEAT_OK with out->n of 1 to n rows, those of the first
 * indices in the order of the list (whoever needs more asks again); or the failure of the first
 * index, with an empty block. A row that fails behind others is met by the next call, so functions
 * with effects are called for one row at a time. Indices are not checked by the framework: each
 * operator checks where TensorFlow's does, because its codes depend on the order.
 *
 * One thread uses a tree of accessors at a time; trees over the same plan are independent but for
 * the shared state of its nodes, which guards itself. */
#ifndef LEATI_DATA_ACCESS_ACCESS_H
#define LEATI_DATA_ACCESS_ACCESS_H

#include "data/run/state.h"

struct leati_access {
    /* The record that names, counts and keys random numbers; the run side of its operator is not
     * opened. */
    leati_node_state node;
    void *state;           /* op->access_size bytes */
    leati_access **inputs; /* one per input; NULL: not asked yet */
    int64_t *indices;      /* leati_access_indices */
    size_t capacity;
    leati_block spare;  /* verification mode: re-encoded rows */
    uint64_t calls;     /* so far */
    bool for_iteration; /* global_shuffle reads: what TensorFlow's at alone refuses is allowed */
};

/* Opens an accessor; `iteration` and `parent` (may be NULL) outlive it. Owned; NULL on failure. */
leati_access *leati_access_open(const leat_dataset *dataset, leati_iteration *iteration,
                                leati_node_state *parent, bool for_iteration, leat_error *err);
void leati_access_close(leati_access *access);

/* The slot's call, with counters and the error's place; UNIMPLEMENTED for operators without it. */
LEAT_WARN_UNUSED leat_status leati_access_get(leati_access *access, const int64_t *indices,
                                              int64_t n, leati_block *out, leat_error *err);
/* The same of input number `input`, for operators. */
LEAT_WARN_UNUSED leat_status leati_access_input(leati_access *access, int input,
                                                const int64_t *indices, int64_t n, leati_block *out,
                                                leat_error *err);

/* Room for n numbers, for operators that ask their input for other indices; valid until the next
 * call. */
int64_t *leati_access_indices(leati_access *access, int64_t n, leat_error *err);

/* How many of the first indices are elements of the operator. With none: FAILED_PRECONDITION where
 * the cardinality is infinite or unknown, OUT_OF_RANGE for the first index; then 0. */
int64_t leati_access_checked(const leati_access *access, const int64_t *indices, int64_t n,
                             leat_error *err);
/* The failure of an index outside of 0 .. count - 1. */
leat_status leati_access_outside(int64_t index, int64_t count, leat_error *err);

/* May global_shuffle stand over the plan? FAILED_PRECONDITION naming the operator that is in the
 * way. */
LEAT_WARN_UNUSED leat_status leati_access_check(const leat_dataset *dataset, leat_error *err);

#endif
