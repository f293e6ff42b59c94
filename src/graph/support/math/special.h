/* Special functions that the C library does not have. Thread-safe; no failure modes. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_SPECIAL_H
#define LEATI_GRAPH_SUPPORT_MATH_SPECIAL_H

/* The logarithm of |gamma(x)|. */
double leati_special_lgamma(double x);
/* Its derivative; NaN at 0, -1, -2, ... */
double leati_special_digamma(double x);
/* The sum of (q + k)^-x over k = 0, 1, ... (Hurwitz' zeta function); NaN for x < 1, and where terms
 * are no numbers. */
double leati_special_zeta(double x, double q);
/* Derivative n of digamma; NaN unless n is an integer of at least 0. */
double leati_special_polygamma(double n, double x);
/* The x with erf(x) = y; infinite at 1 and -1, NaN beyond. */
double leati_special_erfinv(double y);
/* The x below which the standard normal distribution has share p; infinite at 0 and 1. */
double leati_special_ndtri(double p);

#endif
