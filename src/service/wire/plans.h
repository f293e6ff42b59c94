/* Plans as messages carry them: JSON, or, where the plan cannot leave its process, the name under
 * which that process keeps the dataset itself. */
#ifndef LEATI_SERVICE_WIRE_PLANS_H
#define LEATI_SERVICE_WIRE_PLANS_H

#include <leat/data.h>

/* The random name of this process, in which its dispatchers answer `version`. Static; NULL where
 * the system gives no random numbers. */
const char *leati_plans_process(void);

/* The plan's text, owned (leati_free). A plan that cannot be written is kept in this process where
 * `here`: whoever asks lives here. Else INVALID_ARGUMENT, with the operator that cannot be sent and
 * a way out. Thread-safe. */
char *leati_plans_write(leat_dataset *dataset, bool here, leat_error *err);

/* The dataset of such a text; owned. Of JSON each call makes new nodes; what is kept here is one
 * dataset for all. FAILED_PRECONDITION: it is kept in another process. Thread-safe. */
leat_dataset *leati_plans_read(const char *plan, leat_error *err);

/* Drops what is kept under the text's name, if anything is. Thread-safe. */
void leati_plans_forget(const char *plan);

#endif
