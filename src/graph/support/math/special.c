/* Special functions; see special.h. No state, no locks. */
#include "graph/support/math/special.h"

#include <math.h>

#define PI 3.14159265358979323846
#define ROOT_2 1.41421356237309504880

double leati_special_lgamma(double x) {
    int sign = 0;
    return lgamma_r(x, &sign); /* lgamma writes a global */
}

double leati_special_digamma(double x) {
    /* Bernoulli numbers B(2k) / 2k of the asymptotic series. */
    static const double terms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                   1.0 / 132, -691.0 / 32760, 1.0 / 12};
    double below = 0;
    if (isnan(x) || x == -INFINITY || (x <= 0 && x == floor(x)))
        return NAN;
    if (x < 0) { /* the reflection formula */
        below = -PI / tan(PI * (x - floor(x)));
        x = 1 - x;
    }
    for (; x < 10; x++)
        below -= 1 / x;
    double square = 1 / (x * x), power = square, sum = 0;
    for (int k = 0; k < 7; k++, power *= square)
        sum += terms[k] * power;
    return below + log(x) - 0.5 / x - sum;
}

/* The x > 0 with erfc(x) = tail, 0 < tail <= 1: Halley's steps from an approximation by
 * logarithms. */
static double erfc_inverse(double tail) {
    double log_tail = log(tail * (2 - tail)), a = 0.147; /* of 1 - y * y with y = 1 - tail */
    double middle = 2 / (PI * a) + log_tail / 2;
    double x = sqrt(sqrt(middle * middle - log_tail / a) - middle);
    for (int i = 0; i < 4 && x > 0; i++) {
        double error = erfc(x) - tail;
        double step = error / (2 / sqrt(PI) * exp(-x * x));
        x += step / (1 + x * step);
    }
    return x;
}

double leati_special_erfinv(double y) {
    if (isnan(y) || y < -1 || y > 1)
        return NAN;
    if (y == 1 || y == -1)
        return y * INFINITY;
    if (fabs(y) < 1e-8)
        return y * sqrt(PI) / 2;
    if (fabs(y) > 0.5)
        return copysign(erfc_inverse(1 - fabs(y)), y);
    double x = y * sqrt(PI) / 2;
    for (int i = 0; i < 6; i++) {
        double step = (erf(x) - y) / (2 / sqrt(PI) * exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}

double leati_special_ndtri(double p) {
    if (isnan(p) || p < 0 || p > 1)
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -INFINITY : INFINITY;
    return p < 0.25   ? -ROOT_2 * erfc_inverse(2 * p)
           : p > 0.75 ? ROOT_2 * erfc_inverse(2 * (1 - p))
                      : ROOT_2 * leati_special_erfinv(2 * p - 1);
}

/* The first terms are added up, the others by the Euler-Maclaurin formula. */
double leati_special_zeta(double x, double q) {
    /* Bernoulli's number 2 j over (2 j)!. */
    static const double factors[8] = {1.0 / 12,
                                      -1.0 / 720,
                                      1.0 / 30240,
                                      -1.0 / 1209600,
                                      1.0 / 47900160,
                                      -691.0 / 1307674368000.0,
                                      1.0 / 74724249600.0,
                                      -3617.0 / 10670622842880000.0};
    enum { LARGE = 14 };
    if (x == 1)
        return INFINITY;
    if (isnan(x) || isnan(q) || x < 1 || (q <= 0 && x != floor(x)))
        return NAN;
    if (q <= 0 && q == floor(q))
        return fmod(x, 2) == 0 ? INFINITY : NAN;
    double sum = 0;
    for (; q < LARGE; q++) {
        double term = pow(q, -x);
        sum += term;
        if (q > 1 && term < sum * 1e-18)
            return sum;
    }
    double power = pow(q, -x);
    sum += q * power / (x - 1) + power / 2;
    double rising = x, falling = power / q;
    for (int j = 0; j < 8; j++) {
        sum += factors[j] * rising * falling;
        rising *= (x + 2.0 * j + 1) * (x + 2.0 * j + 2);
        falling /= q * q;
    }
    return sum;
}

double leati_special_polygamma(double n, double x) {
    if (!(n >= 0) || n != floor(n))
        return NAN;
    if (n == 0)
        return leati_special_digamma(x);
    double size = exp(leati_special_lgamma(n + 1)) * leati_special_zeta(n + 1, x);
    return fmod(n, 2) == 0 ? -size : size;
}
