/* Numbers as text says them. */
#ifndef LEATI_CORE_NUMBER_H
#define LEATI_CORE_NUMBER_H

#include <leat/core.h>
#include <locale.h>

/* Writes the number that `text` says to `out`, a value of `dtype` (int32, int64, uint32,
 * uint64, float32 or float64). White space around it is allowed; a decimal point is a point in
 * every locale; a float beyond its range is infinite or 0. False where the text is no number or
 * leaves an integer's range. Thread-safe. */
bool leati_number_parse(leat_string text, leat_dtype dtype, void *out);

/* The locale "C", for snprintf and strtod; 0 where there is none. Never freed. Thread-safe. */
locale_t leati_number_c_locale(void);

#endif
