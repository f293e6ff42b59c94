/* The idle resize plans of the process: tables and working rows that are made once, not per
 * picture. */
#ifndef LEATI_GRAPH_OPS_RESIZE_H
#define LEATI_GRAPH_OPS_RESIZE_H

/* Frees them: before a change of the allocator, and in tests that count memory. Thread-safe. */
void leati_resize_plans_trim(void);

#endif
