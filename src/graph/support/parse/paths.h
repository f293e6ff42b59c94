/* Names of files among strings of a kernel. */
#ifndef LEATI_GRAPH_SUPPORT_PARSE_PATHS_H
#define LEATI_GRAPH_SUPPORT_PARSE_PATHS_H

#include "graph/support/text/texts.h"

/* The name as a text that ends in a zero byte, in the call's arena. INVALID_ARGUMENT for one that
 * is too long or has a zero byte within. */
LEAT_WARN_UNUSED leat_status leati_path_text(leati_kernel_call *call, leat_string name, char **out,
                                             leat_error *err);

#endif
