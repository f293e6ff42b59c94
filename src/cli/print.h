/* How values look on a screen: bytes of records, elements of datasets. */
#ifndef LEATI_CLI_PRINT_H
#define LEATI_CLI_PRINT_H

#include <leat/core.h>

/* Up to `limit` bytes in quotes, printable ASCII as it is, the rest as \xNN, "..." where more
 * follows. */
void leati_print_bytes(const char *data, size_t size, size_t limit);

/* An element as text and a newline. RESOURCE_EXHAUSTED without memory. */
LEAT_WARN_UNUSED leat_status leati_print_element(const leat_element *element, leat_error *err);

/* The whole of a file ("-": standard input) as terminated text, at most `limit` bytes. Owned
 * (leati_free); NULL on failure. */
char *leati_print_read_text(const char *path, size_t limit, leat_error *err);

#endif
