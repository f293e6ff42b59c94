/* The operator over a source whose splits are handed out (data/shares/splits.h). Plans that are
 * read and written do not have it. */
#ifndef LEATI_SOURCE_SPLIT_SOURCE_H
#define LEATI_SOURCE_SPLIT_SOURCE_H

#include "data/plan/dataset.h"

struct leati_split_source_args {
    int64_t provider; /* the source's number */
    int64_t splits;   /* in one repetition; -1: endless */
    bool whole;       /* the one split is all of the input; else each of its elements is one */
    bool in_step;     /* leati_splits_source.in_step */
};

extern const leati_dataset_op leati_op_split_source;

/* Is there one in the plan that has splits? An epoch of it that gives nothing then says that other
 * workers had it all, not that the next one is as empty. */
bool leati_split_source_below(const leat_dataset *dataset);

#endif
