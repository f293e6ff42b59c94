/* The pipelines of a program (web/state.md) as tables of text. */
#ifndef LEATI_CLI_PROGRAM_TABLE_H
#define LEATI_CLI_PROGRAM_TABLE_H

#include "base/text.h"
#include <jansson.h>

/* Appends what the page at `url` says in `state`, each pipeline with a line for each operator.
 * Rates and shares are of the time since `before`, an earlier state of the same page; without it
 * (NULL), and of a pipeline that began since, of the time since the pipeline began. A lack of
 * memory shows in `out`. */
void leati_program_table_write(const char *url, const json_t *state, const json_t *before,
                               leati_text *out);

#endif
