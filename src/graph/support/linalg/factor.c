/* Factors of dense matrices; see factor.h.
 *
 * LU and Cholesky are the textbook's loops with rows inside, QR is Householder's, eigenvalues come
 * from a tridiagonal form by QR steps with shifts, singular values from rotations of pairs of
 * columns (Jacobi's, one-sided), which finds small ones to full accuracy. No state, no locks. */
#include "graph/support/linalg/factor.h"

#include "base/stop.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The symbol of before glibc 2.35, so that a program runs with older ones. What changed is errno.
 */
#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver hypot, hypot@GLIBC_2.17");
#endif

enum {
    MAX_STEPS = 60,     /* of QR for a value, and of sweeps over all pairs; usual are 2 and 8 */
    SAFE_EXPONENT = 200 /* of values whose squares and their sums are far from both ends */
};

void leati_factor_transpose(const double *from, int64_t rows, int64_t columns, double *to) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            to[c * rows + r] = from[r * columns + c];
}

/* to[i] += factor * from[i]. */
static void add_row(double *to, const double *from, double factor, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        to[i] += factor * from[i];
}

static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void swap_rows(double *a, double *b, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

void leati_factor_product(const double *a, const double *b, int64_t m, int64_t k, int64_t n,
                          double *out) {
    memset(out, 0, (size_t)(m * n) * sizeof *out);
    int64_t done = 0;
    for (int64_t r = 0; r < m; r++)
        for (int64_t i = 0; i < k && !leati_stop_look_after(n, &done); i++)
            add_row(out + r * n, b + i * n, a[r * k + i], n);
}

/* ---- LU, triangles, Cholesky ---- */

int leati_factor_lu(double *a, int64_t n, int64_t *order) {
    int sign = 1;
    int64_t done = 0;
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t c = 0; c < n && done < LEATI_STOP_WORK; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; r++)
            /* The largest pivot keeps all factors at most 1, and rounding errors small. */
            if (fabs(a[r * n + c]) > fabs(a[pivot * n + c]))
                pivot = r;
        if (pivot != c) {
            int64_t kept = order[c];
            order[c] = order[pivot];
            order[pivot] = kept;
            swap_rows(a + c * n, a + pivot * n, n);
            sign = -sign;
        }
        double value = a[c * n + c];
        /* The largest is 0, so the whole column is; or it is NaN. */
        if (!(fabs(value) > 0))
            return 0;
        for (int64_t r = c + 1; r < n && !leati_stop_look_after(n - c, &done); r++) {
            double factor = a[r * n + c] /= value;
            add_row(a + r * n + c + 1, a + c * n + c + 1, -factor, n - c - 1);
        }
    }
    return sign;
}

void leati_factor_solve_triangle(const double *a, int64_t n, bool lower, bool transposed, bool unit,
                                 double *b, int64_t columns) {
    bool forward = lower != transposed;
    int64_t done = 0;
    for (int64_t i = 0; i < n && done < LEATI_STOP_WORK; i++) {
        int64_t row = forward ? i : n - 1 - i;
        double *x = b + row * columns;
        for (int64_t j = 0; j < i && !leati_stop_look_after(columns, &done); j++) {
            int64_t known = forward ? j : n - 1 - j;
            double factor = transposed ? a[known * n + row] : a[row * n + known];
            add_row(x, b + known * columns, -factor, columns);
        }
        for (int64_t c = 0; c < columns && !unit; c++)
            x[c] /= a[row * n + row];
    }
}

void leati_factor_solve_lu(const double *lu, int64_t n, const int64_t *order, bool transposed,
                           double *b, int64_t columns, double *scratch) {
    if (transposed) {
        leati_factor_solve_triangle(lu, n, false, true, false, b, columns);
        leati_factor_solve_triangle(lu, n, true, true, true, b, columns);
    }
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t i = 0; i < n; i++)
            scratch[i] = b[i * columns + c];
        for (int64_t i = 0; i < n; i++)
            if (transposed)
                b[order[i] * columns + c] = scratch[i];
            else
                b[i * columns + c] = scratch[order[i]];
    }
    if (!transposed) {
        leati_factor_solve_triangle(lu, n, true, false, true, b, columns);
        leati_factor_solve_triangle(lu, n, false, false, false, b, columns);
    }
}

bool leati_factor_cholesky(double *a, int64_t n) {
    int64_t done = 0;
    for (int64_t r = 0; r < n && done < LEATI_STOP_WORK; r++) {
        double *row = a + r * n;
        for (int64_t c = 0; c < r && !leati_stop_look_after(c, &done); c++)
            row[c] = (row[c] - dot(row, a + c * n, c)) / a[c * n + c];
        double left = row[r] - dot(row, row, r);
        /* A NaN fails this comparison, too. */
        if (!(left > 0) || isinf(left))
            return false;
        row[r] = sqrt(left);
        for (int64_t c = r + 1; c < n; c++)
            row[c] = 0;
    }
    return true;
}

/* ---- QR ---- */

/* The Householder vector of x[0], x[step], ...: it lies in v, whose first value is 1, and x becomes
 * (beta, 0, ...). Returns tau of the reflection 1 - tau v v^T; 0: x is so already. */
static double reflect(double *x, int64_t step, int64_t n, double *v) {
    double first = x[0], rest = 0;
    for (int64_t i = 1; i < n; i++)
        rest += x[i * step] * x[i * step];
    v[0] = 1;
    if (rest <= DBL_MIN) { /* nothing that could be divided by */
        for (int64_t i = 1; i < n; i++)
            x[i * step] = 0;
        return 0;
    }
    /* The sign opposite to `first` keeps first - beta from cancelling. */
    double beta = -copysign(sqrt(first * first + rest), first);
    for (int64_t i = 1; i < n; i++) {
        v[i] = x[i * step] / (first - beta);
        x[i * step] = 0;
    }
    x[0] = beta;
    return (beta - first) / beta;
}

/* Rows of a[rows, columns], `step` doubles apart, become (1 - tau v v^T) a. */
static void reflect_rows(double *a, int64_t step, int64_t rows, int64_t columns, const double *v,
                         double tau) {
    int64_t done = leati_stop_stopped() ? LEATI_STOP_WORK : 0;
    for (int64_t c = 0; c < columns && !leati_stop_look_after(8 * rows, &done); c++) {
        double sum = 0;
        for (int64_t r = 0; r < rows; r++)
            sum += v[r] * a[r * step + c];
        for (int64_t r = 0; r < rows; r++)
            a[r * step + c] -= tau * sum * v[r];
    }
}

/* Columns of a[rows, columns], rows `step` doubles apart, become a (1 - tau v v^T). */
static void reflect_columns(double *a, int64_t step, int64_t rows, int64_t columns, const double *v,
                            double tau) {
    int64_t done = leati_stop_stopped() ? LEATI_STOP_WORK : 0;
    for (int64_t r = 0; r < rows && !leati_stop_look_after(2 * columns, &done); r++)
        add_row(a + r * step, v, -tau * dot(a + r * step, v, columns), columns);
}

static void identity(double *a, int64_t n) {
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    for (int64_t i = 0; i < n; i++)
        a[i * n + i] = 1;
}

void leati_factor_qr(double *a, int64_t rows, int64_t columns, double *q, double *scratch) {
    identity(q, rows);
    for (int64_t c = 0; c < columns && c < rows && !leati_stop_stopped(); c++) {
        double tau = reflect(a + c * columns + c, columns, rows - c, scratch);
        if (tau == 0)
            continue;
        reflect_rows(a + c * columns + c + 1, columns, rows - c, columns - c - 1, scratch, tau);
        reflect_columns(q + c, rows, rows, rows - c, scratch, tau);
    }
}

/* ---- eigenvalues ---- */

/* a becomes the orthogonal q with q^T a q tridiagonal: its diagonal and, from off[0] on, what
 * stands beside it. `off` has n doubles. */
static void tridiagonal(double *a, int64_t n, double *diagonal, double *off) {
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = r + 1; c < n; c++)
            a[r * n + c] = a[c * n + r];
    /* Column c below the diagonal is reflected onto its first value; the vector stays there in its
     * place, with tau in `diagonal`, until all of them are multiplied to q. */
    for (int64_t c = 0; c + 2 < n; c++) {
        int64_t m = n - c - 1;
        double *part = a + (c + 1) * n + c + 1;
        double tau = reflect(a + (c + 1) * n + c, n, m, off);
        double beta = a[(c + 1) * n + c];
        if (tau != 0) {
            reflect_rows(part, n, m, m, off, tau);
            reflect_columns(part, n, m, m, off, tau);
        }
        for (int64_t i = 1; i < m; i++)
            a[(c + 1 + i) * n + c] = tau == 0 ? 0 : off[i];
        a[(c + 1) * n + c] = beta;
        a[c * n + c + 1] = tau; /* above the diagonal nothing is read any more */
    }
    for (int64_t i = 0; i < n; i++)
        diagonal[i] = a[i * n + i];
    int64_t done = 0;
    double last[2] = {n > 1 ? a[(n - 1) * n + n - 2] : 0, 0};
    for (int64_t c = n - 1; c >= 0; c--) { /* q = H(0) H(1) ..., from the last one on */
        int64_t m = n - c - 1;
        double tau = c + 2 < n ? a[c * n + c + 1] : 0,
               beta = c + 2 < n ? a[(c + 1) * n + c] : last[0];
        double *v = a + c; /* column c, below the diagonal */
        double *part = a + (c + 1) * n + c + 1;
        for (int64_t j = 0; j < m && tau != 0 && !leati_stop_look_after(8 * m, &done); j++) {
            double sum = part[j];
            for (int64_t i = 1; i < m; i++)
                sum += v[(c + 1 + i) * n] * part[i * n + j];
            part[j] -= tau * sum;
            for (int64_t i = 1; i < m; i++)
                part[i * n + j] -= tau * sum * v[(c + 1 + i) * n];
        }
        for (int64_t i = 0; i < n - c; i++)
            a[(c + i) * n + c] = a[c * n + c + i] = i == 0;
        off[c] = m > 0 ? beta : 0;
    }
}

/* The rotation of rows x and y of n values that takes (1, 0) to (c, s). */
static void rotate_rows(double *x, double *y, double c, double s, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double kept = x[i];
        x[i] = c * kept + s * y[i];
        y[i] = c * y[i] - s * kept;
    }
}

/* One implicit QR step on values first..last of a tridiagonal matrix, shifted by the eigenvalue of
 * its last two that is nearer to the last; rows of `vectors` turn with it. */
static void qr_step(double *diagonal, double *off, int64_t first, int64_t last, double *vectors,
                    int64_t n) {
    /* Wilkinson's shift: with it the last value beside the diagonal vanishes quickly. */
    double half = (diagonal[last - 1] - diagonal[last]) / 2, beside = off[last - 1];
    double away = half + copysign(hypot(half, beside), half);
    double x = diagonal[first] - (diagonal[last] - beside * (beside / away)), z = off[first];
    int64_t done = 0;
    for (int64_t k = first; k < last; k++) {
        double r = hypot(x, z), c = r == 0 ? 1 : x / r, s = r == 0 ? 0 : z / r;
        double high = diagonal[k], low = diagonal[k + 1], between = off[k];
        if (k > first)
            off[k - 1] = r;
        diagonal[k] = c * c * high + 2 * c * s * between + s * s * low;
        diagonal[k + 1] = s * s * high - 2 * c * s * between + c * c * low;
        off[k] = c * s * (low - high) + (c * c - s * s) * between;
        if (leati_stop_look_after(4 * n, &done))
            return;
        rotate_rows(vectors + k * n, vectors + (k + 1) * n, c, s, n);
        x = off[k];
        if (k + 1 < last) { /* what the rotation puts outside of the three diagonals */
            z = s * off[k + 1];
            off[k + 1] *= c;
        }
    }
}

static void turn_in_place(double *a, int64_t n) {
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = r + 1; c < n; c++) {
            double kept = a[r * n + c];
            a[r * n + c] = a[c * n + r];
            a[c * n + r] = kept;
        }
}

bool leati_factor_eigen(double *a, int64_t n, double *values, double *scratch) {
    tridiagonal(a, n, values, scratch);
    if (leati_stop_stopped())
        return false;
    turn_in_place(a, n); /* vectors are rows now */
    for (int64_t last = n - 1; last >= 0; last--) {
        for (int steps = 0;; steps++) {
            int64_t first = last;
            /* A value beside the diagonal that adds nothing to its neighbours cuts the matrix in
             * two. */
            while (first > 0 && fabs(scratch[first - 1]) >
                                    DBL_EPSILON * (fabs(values[first - 1]) + fabs(values[first])))
                first--;
            if (first == last)
                break;
            if (steps == MAX_STEPS || leati_stop_stopped())
                return false;
            qr_step(values, scratch, first, last, a, n);
        }
        /* A NaN beside the diagonal is not greater than anything either, and is found here. */
        if (!isfinite(values[last]))
            return false;
    }
    for (int64_t i = 0; i < n; i++) { /* in ascending order */
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            if (values[j] < values[least])
                least = j;
        if (least != i) {
            swap_rows(values + i, values + least, 1);
            swap_rows(a + i * n, a + least * n, n);
        }
    }
    turn_in_place(a, n);
    return true;
}

/* ---- singular values ---- */

/* Makes lines i and j of lines[., length] orthogonal by a rotation, which turns those of v[., n],
 * too; false: they were. */
static bool rotate_pair(double *lines, int64_t length, double *v, int64_t n, int64_t i, int64_t j) {
    double *x = lines + i * length, *y = lines + j * length;
    double xx = dot(x, x, length), yy = dot(y, y, length), xy = dot(x, y, length);
    /* Orthogonal up to the rounding errors of the sums. */
    if (fabs(xy) <= DBL_EPSILON * (double)length * sqrt(xx) * sqrt(yy) || fabs(xy) < DBL_MIN)
        return false;
    /* The smaller of two angles that make the sum of products 0: the tangent is the root next to 0
     * of t^2 + 2 zeta t = 1. */
    double zeta = (yy - xx) / (2 * xy);
    double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta)), c = 1 / hypot(1, t), s = c * t;
    if (t == 0)
        return false;
    rotate_rows(x, y, c, -s, length);
    rotate_rows(v + i * n, v + j * n, c, -s, n);
    return true;
}

/* leati_factor_svd of values whose squares can be summed. */
static bool svd_of_scaled(double *a, int64_t rows, int64_t columns, double *values, double *u,
                          double *v, double *scratch) {
    double *lines = scratch, *vector = scratch + rows * rows; /* the columns of a */
    leati_factor_transpose(a, rows, columns, lines);
    identity(v, columns);
    bool moved = true;
    int64_t done = 0;
    for (int sweep = 0; moved; sweep++) {
        moved = false;
        for (int64_t i = 0; i + 1 < columns; i++)
            for (int64_t j = i + 1; j < columns && !leati_stop_look_after(4 * rows, &done); j++)
                if (rotate_pair(lines, rows, v, columns, i, j))
                    moved = true;
        if (sweep == MAX_STEPS || leati_stop_stopped())
            return false;
    }
    for (int64_t i = 0; i < columns; i++) {
        values[i] = sqrt(dot(lines + i * rows, lines + i * rows, rows));
        if (!isfinite(values[i]))
            return false;
    }
    for (int64_t i = 0; i < columns; i++) { /* in descending order */
        int64_t most = i;
        for (int64_t j = i + 1; j < columns; j++)
            if (values[j] > values[most])
                most = j;
        if (most != i) {
            swap_rows(values + i, values + most, 1);
            swap_rows(lines + i * rows, lines + most * rows, rows);
            swap_rows(v + i * columns, v + most * columns, columns);
        }
    }
    turn_in_place(v, columns);
    /* Lines over their lengths are columns of u; what is missing of it, and those without length,
     * are orthogonal to these: the Q of their QR. */
    int64_t known = 0;
    while (known < columns && values[known] > DBL_MIN)
        known++;
    leati_factor_transpose(lines, columns, rows, a);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < known; c++)
            lines[r * known + c] = a[r * columns + c] / values[c];
    leati_factor_qr(lines, rows, known, u, vector);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < known; c++)
            u[r * rows + c] = a[r * columns + c] / values[c];
    return true;
}

/* The exponent that a matrix is divided by so that squares of its values neither overflow nor
 * vanish; 0 where they do not, so that no bit changes. */
static int scale_of(const double *a, int64_t n) {
    double most = 0;
    int exponent = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(a[i]));
    if (most == 0 || !isfinite(most))
        return 0;
    (void)frexp(most, &exponent);
    return abs(exponent) > SAFE_EXPONENT ? exponent : 0;
}

bool leati_factor_svd(double *a, int64_t rows, int64_t columns, double *values, double *u,
                      double *v, double *scratch) {
    int exponent = scale_of(a, rows * columns);
    for (int64_t i = 0; exponent != 0 && i < rows * columns; i++)
        a[i] = ldexp(a[i], -exponent);
    bool found = svd_of_scaled(a, rows, columns, values, u, v, scratch);
    for (int64_t i = 0; found && exponent != 0 && i < columns; i++)
        values[i] = ldexp(values[i], exponent);
    return found;
}

/* ---- square roots ---- */

/* The inverse of a in `out`, by factors in `lu`; false: a is singular. */
static bool invert(const double *a, int64_t n, double *lu, double *out, double *line,
                   int64_t *order) {
    memcpy(lu, a, (size_t)(n * n) * sizeof *a);
    if (leati_factor_lu(lu, n, order) == 0)
        return false;
    identity(out, n);
    leati_factor_solve_lu(lu, n, order, false, out, n, line);
    return true;
}

/* a becomes the mean of both; how much that changes its largest value, and what that is. */
static double take_mean(double *a, const double *other, int64_t n, double *most) {
    double change = 0;
    *most = 0;
    for (int64_t i = 0; i < n * n; i++) {
        double mean = (a[i] + other[i]) / 2, moved = fabs(mean - a[i]);
        change = moved > change || moved != moved ? moved : change;
        *most = fabs(mean) > *most ? fabs(mean) : *most;
        a[i] = mean;
    }
    return change;
}

bool leati_factor_square_root(double *a, int64_t n, double *scratch, int64_t *order) {
    /* Denman's and Beavers' steps: a goes to the root, b to its inverse. */
    double *b = scratch, *lu = b + n * n, *kept = lu + n * n, *line = kept + n * n;
    double change = INFINITY, most = 0, ignored;
    identity(b, n);
    for (int step = 0; step < MAX_STEPS && change > 2 * DBL_EPSILON * most; step++) {
        if (leati_stop_stopped() || !invert(b, n, lu, kept, line, order))
            return false;
        memcpy(lu, a, (size_t)(n * n) * sizeof *a);
        change = take_mean(a, kept, n, &most);
        /* The inverse of what a was; its factors take the place of what b was. */
        memcpy(kept, lu, (size_t)(n * n) * sizeof *a);
        if (change != change || !invert(kept, n, lu, kept, line, order))
            return false;
        (void)take_mean(b, kept, n, &ignored);
    }
    return change <= 1e-9 * most;
}
