/* A page about record files: what `leat inspect --html` writes. One file that loads and runs
 * nothing; all that comes from the records is escaped, and the page has a largest size. */
#ifndef LEATI_CLI_INSPECT_PAGE_H
#define LEATI_CLI_INSPECT_PAGE_H

#include <leat/file.h>

typedef struct leati_inspect_page leati_inspect_page;

/* Owned; NULL without memory. */
leati_inspect_page *leati_inspect_page_new(void);
void leati_inspect_page_free(leati_inspect_page *page); /* NULL is allowed */

/* A file begins, its records follow (those that are shown, `shown`, have rows of their own), and it
 * ends with its summary, or with what failed. */
void leati_inspect_page_begin(leati_inspect_page *page, const char *path);
void leati_inspect_page_record(leati_inspect_page *page, int64_t index, int64_t offset,
                               leat_string record, bool shown);
void leati_inspect_page_end(leati_inspect_page *page, const leat_record_summary *summary,
                            leat_compression compression);
void leati_inspect_page_fail(leati_inspect_page *page, const char *text);

/* Writes the page, which appears whole or not at all. RESOURCE_EXHAUSTED where memory was short at
 * any time. */
LEAT_WARN_UNUSED leat_status leati_inspect_page_write(leati_inspect_page *page, const char *path,
                                                      leat_error *err);

#endif
