/* Opening, saving, resetting and closing an operator's state, with the defaults of slots that a
 * descriptor leaves out (data/plan/op.h). */
#ifndef LEATI_DATA_RUN_SLOTS_H
#define LEATI_DATA_RUN_SLOTS_H

#include "data/run/state.h"

LEAT_WARN_UNUSED leat_status leati_slots_open(leati_node_state *node, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_slots_save(leati_node_state *node, leati_writer *out,
                                              leati_save_cost *cost, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_slots_restore(leati_node_state *node, leati_reader *in,
                                                 leat_error *err);
LEAT_WARN_UNUSED leat_status leati_slots_reset(leati_node_state *node, leat_error *err);
void leati_slots_close(leati_node_state *node);

#endif
