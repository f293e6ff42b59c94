/* Assertions of the library's own bookkeeping, which cost too much for every build: only those with
 * sanitizers and Debug builds have them (cmake/flags.cmake). Data and arguments never make one
 * false. What is asserted has no side effects. */
#ifndef LEATI_BASE_DEBUG_H
#define LEATI_BASE_DEBUG_H

#include <assert.h>

#ifdef LEATI_DEBUG
#define LEATI_ASSERT(condition) assert(condition)
#else
#define LEATI_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif
