/* The gradient of while as a node of its own. */
#ifndef LEATI_GRAPH_OPS_CONTROL_WHILE_GRADIENT_H
#define LEATI_GRAPH_OPS_CONTROL_WHILE_GRADIENT_H

#include "graph/op.h"

/* The slot `gradient` of the operation while. */
LEAT_WARN_UNUSED leat_status leati_while_differentiate(leati_gradient_call *call, leat_error *err);

#endif
