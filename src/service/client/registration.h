/* What a dispatcher is told of a dataset when it is registered. */
#ifndef LEATI_SERVICE_CLIENT_REGISTRATION_H
#define LEATI_SERVICE_CLIENT_REGISTRATION_H

#include "data/plan/dataset.h"
#include "service/wire/control.h"

/* Fills the message, all but id and compression; `control` has greeted. On failure it is empty, and
 * nothing is kept. INVALID_ARGUMENT where the plan cannot be sent. */
LEAT_WARN_UNUSED leat_status leati_registration_write(leati_control *control, leat_dataset *dataset,
                                                      struct leati_message_dataset *out,
                                                      leat_error *err);
/* The dispatcher did not take it: drops what this process keeps for it. */
void leati_registration_undo(const struct leati_message_dataset *said);

#endif
