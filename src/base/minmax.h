/* The smaller and the larger of two numbers; an argument may be evaluated twice. The second is the
 * result where neither is smaller, a NaN among them. */
#ifndef LEATI_BASE_MINMAX_H
#define LEATI_BASE_MINMAX_H

#define LEATI_MIN(a, b) ((a) < (b) ? (a) : (b))
#define LEATI_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
