/* What the with_options nodes of a plan say. They may stand anywhere in it; of two values for one
 * field that of the node closer to the end counts. */
#ifndef LEATI_DATA_PLAN_OPTIONS_H
#define LEATI_DATA_PLAN_OPTIONS_H

#include "data/plan/dataset.h"
#include "graph/op.h"

/* A number that is not set. */
enum { LEATI_OPTION_NOT_SET = -1000000 };

/* tf.data.experimental.ExternalStatePolicy. */
typedef enum leati_state_policy {
    LEATI_STATE_WARN = 0,
    LEATI_STATE_IGNORE,
    LEATI_STATE_FAIL
} leati_state_policy;

/* Whether a field of with_options, of that row, was given. */
bool leati_options_field_is_set(const leati_row *row, const void *field);

/* A flag: 1, 0, or -1 where no node sets it. */
int leati_plan_option(const leat_dataset *plan, const char *name);
/* A number; LEATI_OPTION_NOT_SET where no node sets it. */
int64_t leati_plan_number(const leat_dataset *plan, const char *name);
/* A text (borrowed from the plan); NULL where no node sets it. */
const char *leati_plan_text(const leat_dataset *plan, const char *name);
/* The leati_picture_quality of that name; -1: none has it. */
int leati_options_picture_quality(const char *name);
/* The plan's. */
leati_picture_quality leati_plan_quality(const leat_dataset *plan);

#endif
