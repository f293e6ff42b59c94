/* Fourier transforms of all lengths; see fourier.h.
 *
 * Happy path: powers of 2 have transforms of their own (fourier_two.c), other lengths whose prime
 * factors are small go to kissfft's template as they are. A large prime factor would take it a time
 * of its square; such a length is a convolution of a power of 2 instead
 * (Bluestein's algorithm): jk = (j^2 + k^2 - (k - j)^2) / 2 makes the sum one over k - j.
 * Failures: RESOURCE_EXHAUSTED. The last plans of a thread are its own: no locks. */
#include <kissfft/kissfft.hh>
#include <memory>
#include <new>
#include <stdexcept>

extern "C" {
#include "graph/support/math/fourier.h"
#include "graph/support/math/fourier_two.h"
}

typedef std::complex<double> number;
typedef kissfft<double> transform;

namespace {
const size_t LARGE_FACTOR = 100; /* from here on Bluestein's way is the shorter one */
const size_t KEPT = 4, KEPT_SIZE = 1 << 16;

size_t largest_factor(size_t n) {
    size_t largest = 1;
    for (size_t p = 2; p * p <= n; p++)
        for (; n % p == 0; n /= p)
            largest = p;
    return n > 1 ? n : largest;
}

/* e^(sign pi i square / n), of a number whose square is taken modulo 2 n, so that it stays exact.
 */
number turn(size_t k, size_t n, double sign) {
    unsigned __int128 square = (unsigned __int128)k * k % (2 * n);
    double angle = sign * 3.14159265358979323846 * (double)(uint64_t)square / (double)n;
    return number(std::cos(angle), std::sin(angle));
}
} /* namespace */

struct leati_fourier {
    size_t n;
    bool inverse;
    std::unique_ptr<transform> forward;
    /* Of n, or of a convolution. The memory is not the program's allocator's, which may be another
     * when a kept plan goes. */
    std::unique_ptr<double[]> memory;
    leati_fourier_two *two = nullptr;
    std::vector<number> turns, kernel, from, to; /* empty where n needs no convolution */

    leati_fourier(size_t length, bool is_inverse) : n(length), inverse(is_inverse) {
        bool whole = leati_fourier_two_fits((int64_t)n);
        if (!whole && largest_factor(n) < LARGE_FACTOR) {
            forward.reset(new transform(n, inverse));
            return;
        }
        size_t size = 1;
        while (size < (whole ? n : 2 * n - 1))
            size *= 2;
        memory.reset(new double[leati_fourier_two_size((int64_t)size) / sizeof(double) + 1]);
        two = leati_fourier_two_init(memory.get(), (int64_t)size);
        if (whole)
            return;
        from.resize(size);
        to.resize(size);
        kernel.resize(size);
        for (size_t k = 0; k < n; k++) {
            turns.push_back(turn(k, n, inverse ? 1 : -1));
            from[k] = from[(size - k) % size] = std::conj(turns[k]);
        }
        convolve(from, kernel, false);
        for (number &value : kernel)
            value /= (double)size;
    }

    void convolve(std::vector<number> &a, std::vector<number> &b, bool back) {
        double *in = reinterpret_cast<double *>(a.data());
        const leati_fourier_ends ends = {in, b.data(), 1, false, false, 1};
        if (!leati_fourier_two_run(two, &ends, in, back))
            throw std::bad_alloc();
    }

    bool run(double *given, double *result) {
        if (two != nullptr && kernel.empty()) {
            const leati_fourier_ends ends = {given, result, 1, false, false, 1};
            return leati_fourier_two_run(two, &ends, given, inverse);
        }
        /* std::complex is two numbers that lie side by side. */
        const number *in = reinterpret_cast<const number *>(given);
        number *out = reinterpret_cast<number *>(result);
        if (forward) {
            forward->transform(in, out);
            return true;
        }
        for (size_t k = 0; k < from.size(); k++)
            from[k] = k < n ? in[k] * turns[k] : 0;
        convolve(from, to, false);
        for (size_t k = 0; k < from.size(); k++)
            to[k] *= kernel[k];
        convolve(to, from, true);
        for (size_t k = 0; k < n; k++)
            out[k] = from[k] * turns[k];
        return true;
    }
};

namespace {
/* The plans that the thread has given back last, the newest first. */
thread_local std::unique_ptr<leati_fourier> kept[KEPT];
} /* namespace */

leati_fourier *leati_fourier_new(int64_t n, bool inverse, leat_error *err) {
    for (std::unique_ptr<leati_fourier> &plan : kept)
        if (plan && plan->n == (size_t)n && plan->inverse == inverse)
            return plan.release();
    try {
        return new leati_fourier((size_t)n, inverse);
    } catch (const std::bad_alloc &) {
        leati_no_memory(err);
    } catch (const std::length_error &) {
        leati_no_memory(err);
    }
    return nullptr;
}

bool leati_fourier_run(leati_fourier *plan, double *in, double *out) {
    try {
        return plan->run(in, out);
    } catch (const std::bad_alloc &) {
        return false;
    }
}

bool leati_fourier_between(leati_fourier *plan, const leati_fourier_ends *ends, bool beside,
                           double *room) {
    return beside ? leati_fourier_two_beside(plan->two, ends, plan->inverse)
                  : leati_fourier_two_run(plan->two, ends, room, plan->inverse);
}

void leati_fourier_free(leati_fourier *plan) {
    bool large = plan != nullptr && plan->n > KEPT_SIZE;
    /* Of a long power of 2 little is kept. */
    if (plan == nullptr || (large && !leati_fourier_two_fits((int64_t)plan->n))) {
        delete plan;
        return;
    }
    for (size_t i = KEPT - 1; i > 0; i--)
        kept[i] = std::move(kept[i - 1]);
    kept[0].reset(plan);
}
