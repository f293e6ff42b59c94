/* A page about a pipeline that ran: what `leat explain --html` writes. One file that loads and runs
 * nothing, with a drawing of the operators and the table. */
#ifndef LEATI_CLI_EXPLAIN_PAGE_H
#define LEATI_CLI_EXPLAIN_PAGE_H

#include <leat/base.h>

/* `table` and `metrics` are the texts of leat_iterator_explain and leat_iterator_metrics. The file
 * appears whole or not at all. */
LEAT_WARN_UNUSED leat_status leati_explain_page_write(const char *path, const char *table,
                                                      const char *metrics, leat_error *err);

#endif
