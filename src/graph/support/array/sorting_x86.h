/* Keys in order by AVX-512 (sorting.c has what runs everywhere, and the oracle of this). */
#ifndef LEATI_GRAPH_SUPPORT_ARRAY_SORTING_X86_H
#define LEATI_GRAPH_SUPPORT_ARRAY_SORTING_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* May the functions below be called on this processor? */
bool leati_sorting_x86_runs(void);

/* Puts n keys in order, in place; false: it gave up, and they are in some other order. */
bool leati_sorting_x86_sort_32(uint32_t *keys, size_t n);
bool leati_sorting_x86_sort_64(uint64_t *keys, size_t n);

#endif
