/* fft, rfft, irfft: discrete Fourier transforms of complex numbers along dimensions, of real
 * numbers along the last one, and back from that to real numbers (tf.signal.fft, tf.signal.rfft and
 * so on).
 *
 * A transform back is divided by its length. Of real numbers the first half is given, up to length
 * / 2; irfft takes what follows to be its mirror image. Both cut their input, or take 0 for what it
 * lacks, where a length is given. Computed in double, each line by itself, so the bits do not
 * depend on the threads that share them. They fail on other dtypes, on scalars, on dimensions that
 * are not there, and without kissfft. No state, no locks. */
#include "graph/support/math/fourier.h"
#include "base/alloc.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "core/complex.h"
#include "core/tensor.h"
#include "graph/support/array/moving.h"
#include "graph/support/math/fourier_two.h"
#include "run/apart.h"

#include <stdatomic.h>
#include <string.h>

struct fft_args {
    leati_ints axes;
    bool inverse;
};

static const leati_row fft_rows[] = {
    {.name = "axes",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct fft_args, axes),
     .doc = "The dimensions to transform, one after the other; negative ones count from the end."},
    {.name = "inverse",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct fft_args, inverse),
     .doc = "Transform back: turn the other way, and divide by the length."},
    {0},
};

struct rfft_args {
    int64_t length;
};

static const leati_row rfft_rows[] = {
    {.name = "length",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct rfft_args, length),
     .default_number = -1,
     .doc = "How many real numbers a line has; -1: as the input says."},
    {0},
};

/* ---- inference ---- */
static leat_status fft_infer(leati_infer_call *call, leat_error *err) {
    const struct fft_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    bool mask[LEAT_MAX_RANK] = {false};
    if (!leati_dtype_is_complex(call->inputs[0].dtype))
        return leati_refuse(err, DTYPE, "the input is %s; expected complex64 or complex128",
                            leat_dtype_name(call->inputs[0].dtype));
    if (in->rank >= 0)
        LEATI_TRY(leati_support_mark_axes(&args->axes, in->rank, mask, err));
    return leati_op_infer_same(call, err);
}

/* The last dimension of rfft and irfft, the input's being `in`; unknown where that is. */
static int64_t last_dim(int64_t length, int64_t in, bool back) {
    if (length < 0 && in == LEAT_UNKNOWN_DIM)
        return LEAT_UNKNOWN_DIM;
    if (back)
        return length >= 0 ? length : LEATI_MAX(2 * (in - 1), 0);
    return (length >= 0 ? length : in) / 2 + 1;
}

static leat_status real_infer(leati_infer_call *call, leat_dtype dtype, bool back,
                              leat_error *err) {
    const struct rfft_args *args = call->args;
    leat_shape shape = call->inputs[0].shape;
    if (shape.rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected a dimension to transform");
    if (args->length == 0 || args->length < -1)
        return leati_refuse(err, VALUE, "length is %lld; expected 1 or more, or -1",
                            (long long)args->length);
    if (shape.rank > 0)
        shape.dims[shape.rank - 1] = last_dim(args->length, shape.dims[shape.rank - 1], back);
    return leati_op_infer_output(call, dtype, &shape, NULL, err);
}

static leat_status rfft_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    bool wide = call->inputs[0].dtype == LEAT_FLOAT64;
    return real_infer(call, wide ? LEAT_COMPLEX128 : LEAT_COMPLEX64, false, err);
}

static leat_status irfft_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (!leati_dtype_is_complex(dtype))
        return leati_refuse(err, DTYPE, "the input is %s; expected complex64 or complex128",
                            leat_dtype_name(dtype));
    return real_infer(call, leati_dtype_part(dtype), true, err);
}

/* ---- lines ---- */
enum {
    LONG_LINE = 1 << 20,  /* from here on Ctrl-C is not to wait for one */
    BYTES_OF_NUMBER = 128 /* that could be moved while a number of a line is transformed */
};

/* What transforms lines of `n` numbers: a plan, one line that goes in and one that comes out. */
typedef struct fourier_line {
    leati_fourier *plan; /* NULL: not made, if `status` is LEAT_OK */
    int64_t n;
    bool inverse;
    leat_status status; /* of making the plan */
    leat_error error;
    double *out;
    double in[];
} fourier_line;

static void line_close(void *job) {
    fourier_line *line = job;
    if (line != NULL)
        leati_fourier_free(line->plan);
    leati_free(line);
}

static fourier_line *line_open(int64_t n, bool inverse, leat_error *err) {
    size_t bytes = 0;
    fourier_line *line = NULL;
    if (leati_mul_size((size_t)n, 4 * sizeof(double), &bytes) && bytes < SIZE_MAX - sizeof *line)
        line = leati_alloc(sizeof *line + bytes, 1);
    if (line == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    *line = (fourier_line){.n = n, .inverse = inverse, .out = line->in + 2 * n};
    return line;
}

static bool line_has_plan(fourier_line *line) {
    if (line->plan == NULL)
        line->plan = leati_fourier_new(line->n, line->inverse, &line->error);
    line->status = line->plan == NULL ? line->error.code : LEAT_OK;
    return line->plan != NULL;
}

/* The first time it makes the plan, which for a long line takes as long as the transform. */
static void line_transform(void *job) {
    fourier_line *line = job;
    if (line_has_plan(line) && !leati_fourier_run(line->plan, line->in, line->out))
        line->status = leati_no_memory(&line->error);
}

/* From line->in to line->out. Where it is stopped the line is gone, and *line NULL. */
static leat_status line_run(fourier_line **line, leat_error *err) {
    /* Those of powers of two look themselves. */
    if ((*line)->n < LONG_LINE || leati_fourier_two_fits((*line)->n)) {
        line_transform(*line);
    } else if (!leati_apart_run(line_transform, line_close, *line)) {
        *line = NULL;
        return leati_stop_check(err);
    }
    return (*line)->status == LEAT_OK ? LEAT_OK : leati_error_pass(err, &(*line)->error);
}

/* Of a length that is a power of two: from where its numbers lie to where they shall. */
static leat_status line_between(fourier_line *line, const leati_fourier_ends *ends, bool beside,
                                leat_error *err) {
    if (line_has_plan(line) && !leati_fourier_between(line->plan, ends, beside, line->in))
        line->status = leati_no_memory(&line->error);
    return line->status == LEAT_OK ? LEAT_OK : leati_error_pass(err, &line->error);
}

/* Numbers of a dtype, `step` of them apart, as doubles, and back: `parts` of each, `n` numbers. */
#define PARTS(NAME, TYPE)                                                                          \
    static void read_##NAME(const char *from, int64_t n, int64_t step, int parts, double *to) {    \
        const TYPE *at = (const TYPE *)(const void *)from;                                         \
        for (int64_t i = 0; i < n; i++, at += step * parts)                                        \
            for (int p = 0; p < parts; p++)                                                        \
                to[i * parts + p] = (double)at[p];                                                 \
    }                                                                                              \
    static void write_##NAME(const double *from, int64_t n, int64_t step, int parts, double scale, \
                             char *to) {                                                           \
        TYPE *at = (TYPE *)(void *)to;                                                             \
        for (int64_t i = 0; i < n; i++, at += step * parts)                                        \
            for (int p = 0; p < parts; p++)                                                        \
                at[p] = (TYPE)(from[i * parts + p] * scale);                                       \
    }
PARTS(float32, float)
PARTS(float64, double)

/* Both look now and then whether to stop, and leave out the rest. */
static void read_parts(leat_dtype dtype, const char *from, int64_t n, int64_t step, double *to) {
    int parts = leati_dtype_is_complex(dtype) ? 2 : 1;
    size_t apart = (size_t)step * leat_dtype_size(dtype);
    for (int64_t i = 0; i < n && (i == 0 || !leati_stop_look()); i += LEATI_STOP_WORK)
        (leati_dtype_part(dtype) == LEAT_FLOAT32 ? read_float32 : read_float64)(
            from + (size_t)i * apart, LEATI_MIN(n - i, LEATI_STOP_WORK), step, parts,
            to + i * parts);
}

static void write_parts(leat_dtype dtype, const double *from, int64_t n, int64_t step, double scale,
                        char *to) {
    int parts = leati_dtype_is_complex(dtype) ? 2 : 1;
    size_t apart = (size_t)step * leat_dtype_size(dtype);
    for (int64_t i = 0; i < n && (i == 0 || !leati_stop_look()); i += LEATI_STOP_WORK)
        (leati_dtype_part(dtype) == LEAT_FLOAT32 ? write_float32 : write_float64)(
            from + i * parts, LEATI_MIN(n - i, LEATI_STOP_WORK), step, parts, scale,
            to + (size_t)i * apart);
}

/* ---- fft ---- */
/* One line of one dimension, whose numbers lie `step` apart, or with `beside` so many. */
static leat_status transform_line(fourier_line **line, leat_dtype dtype, int64_t step, bool beside,
                                  const char *from, char *at, leat_error *err) {
    int64_t n = (*line)->n;
    if (leati_fourier_two_fits(n)) {
        bool single = dtype == LEAT_COMPLEX64;
        double scale = (*line)->inverse ? 1.0 / (double)n : 1;
        return line_between(*line, &(leati_fourier_ends){from, at, step, single, single, scale},
                            beside, err);
    }
    read_parts(dtype, from, n, step, (*line)->in);
    LEATI_TRY(line_run(line, err));
    write_parts(dtype, (*line)->out, n, step, (*line)->inverse ? 1.0 / (double)n : 1, at);
    return LEAT_OK;
}

/* Lines that the crew shares; a long one looks for itself, on the caller's thread. */
typedef struct lines_work {
    leati_kernel_call *call;
    const leati_operand *from; /* of fft: the input, or what is transformed in place */
    int64_t n, inner, count;   /* numbers of a line, their distance; lines of a row */
    int64_t beside;            /* lines that are transformed at once; they lie side by side */
    bool inverse;
    struct real_lines *real; /* of rfft and irfft; NULL: of fft */
    atomic_int status;       /* the first that failed */
    leat_error error;
} lines_work;

static void note(lines_work *w, leat_status status, const leat_error *err) {
    int none = LEAT_OK;
    if (status != LEAT_OK && atomic_compare_exchange_strong(&w->status, &none, (int)status))
        w->error = *err;
}

static leat_status share_lines(lines_work *w, leati_moving_steps *run, leat_error *err) {
    int64_t each = LEATI_MAX(w->beside, 1), all = w->call->n * w->count / each;
    if (w->n < LONG_LINE)
        leati_moving_share(all, w->n * each * BYTES_OF_NUMBER, run, w);
    else
        run(w, 0, all);
    return atomic_load(&w->status) == LEAT_OK ? LEAT_OK : leati_error_pass(err, &w->error);
}

/* Of one dimension. */
static void fft_steps(void *data, int64_t begin, int64_t end) {
    lines_work *w = data;
    const leati_operand *out = &w->call->outputs[0];
    size_t size = leat_dtype_size(out->dtype);
    int64_t done = 0;
    leat_error err = {0};
    fourier_line *line = line_open(w->n, w->inverse, &err);
    leat_status status = line == NULL ? err.code : LEAT_OK;
    for (int64_t k = begin; k < end && status == LEAT_OK; k++) {
        int64_t row = k * w->beside / w->count, i = k * w->beside % w->count;
        size_t first = (size_t)(i / w->inner * w->n * w->inner + i % w->inner) * size;
        if (leati_stop_look_after(8 * w->n * w->beside, &done))
            break;
        status = transform_line(&line, out->dtype, w->inner, w->beside > 1,
                                leati_support_row_of(w->from, row) + first,
                                leati_support_row_of(out, row) + first, &err);
    }
    note(w, status, &err);
    line_close(line);
}

/* Transforms one dimension of all rows. */
static leat_status transform_axis(leati_kernel_call *call, const leati_operand *from, int32_t axis,
                                  bool inverse, leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    lines_work w = {.call = call,
                    .from = from,
                    .n = out->dims[axis],
                    .inner = 1,
                    .inverse = inverse,
                    .beside = 1};
    for (int32_t d = axis + 1; d < out->rank; d++)
        w.inner *= out->dims[d];
    w.count = out->count / w.n;
    if (w.inner % LEATI_FOURIER_BESIDE == 0 && leati_fourier_two_fits(w.n) &&
        w.n <= LEATI_FOURIER_SHORT)
        w.beside = LEATI_FOURIER_BESIDE;
    return share_lines(&w, fft_steps, err);
}

static leat_status fft_kernel(leati_kernel_call *call, leat_error *err) {
    const struct fft_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *from = in;
    leat_shape shape = leati_support_operand_shape(in);
    bool mask[LEAT_MAX_RANK] = {false};
    LEATI_TRY(leati_support_mark_axes(&args->axes, in->rank, mask, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t bytes = (size_t)in->count * leat_dtype_size(in->dtype);
    for (int32_t d = in->rank - 1; d >= 0 && bytes > 0; d--)
        if (mask[d]) {
            LEATI_TRY(transform_axis(call, from, d, args->inverse, err));
            from = &call->outputs[0];
        }
    for (int64_t row = 0; row < call->n && bytes > 0 && from == in; row++)
        leati_stop_copy(leati_support_row_of(&call->outputs[0], row), leati_support_row_of(in, row),
                        bytes);
    return LEAT_OK;
}

/* ---- rfft, irfft ---- */
/* A line of an even number of reals is half as many complex numbers; `turns` are the e^(sign 2 pi i
 * k / length) that part what even and odd places gave. NULL: an odd number. */
typedef struct real_lines {
    leati_complex128 *turns;
    int64_t length;
    bool back;
} real_lines;

typedef struct real_line {
    const real_lines *of;
    fourier_line *line;
    leati_complex128 *part; /* the first length / 2 + 1 complex numbers */
} real_line;

static leat_status real_lines_init(real_lines *real, leati_kernel_call *call, int64_t length,
                                   bool back, leat_error *err) {
    const double pi = 3.14159265358979323846;
    *real = (real_lines){.length = length, .back = back};
    if (length % 2 != 0)
        return LEAT_OK;
    real->turns = leati_arena_alloc(call->arena, (size_t)length / 2 * sizeof *real->turns);
    if (real->turns == NULL)
        return leati_no_memory(err);
    for (int64_t k = 0; k < length / 2 && !leati_stop_look_at(k); k++) {
        double angle = (back ? 2 : -2) * pi * (double)k / (double)length;
        real->turns[k] = leati_complex128_of(cos(angle), sin(angle));
    }
    return LEAT_OK;
}

static leat_status real_line_open(real_line *real, const real_lines *of, leat_error *err) {
    *real = (real_line){.of = of};
    real->part = leati_alloc((size_t)of->length / 2 + 1, sizeof *real->part);
    if (real->part == NULL)
        return leati_no_memory(err);
    real->line = line_open(of->turns != NULL ? of->length / 2 : of->length, of->back, err);
    return real->line == NULL ? err->code : LEAT_OK;
}

static void real_line_close(real_line *real) {
    line_close(real->line);
    leati_free(real->part);
}

/* The product, without a look at infinities that the language has for it. */
static inline leati_complex128 product(leati_complex128 a, leati_complex128 b) {
    return leati_complex128_of(creal(a) * creal(b) - cimag(a) * cimag(b),
                               creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* From line->in, `length` reals, to part; or from `pairs`, floats that lie side by side. */
static leat_status run_real(real_line *real, const void *pairs, leat_error *err) {
    leati_complex128 *in = (leati_complex128 *)real->line->in;
    int64_t n = real->line->n, half = real->of->length / 2;
    if (real->of->turns == NULL)
        for (int64_t j = n - 1; j >= 0; j--) /* from the end: the reals lie where the pairs will */
            in[j] = real->line->in[j];
    if (pairs != NULL) {
        const leati_fourier_ends ends = {pairs, real->line->out, 1, true, false, 1};
        LEATI_TRY(line_between(real->line, &ends, false, err));
    } else {
        LEATI_TRY(line_run(&real->line, err));
    }
    const leati_complex128 *out = (const leati_complex128 *)real->line->out;
    if (real->of->turns == NULL) {
        leati_stop_copy(real->part, out, (size_t)(half + 1) * sizeof *out);
        return LEAT_OK;
    }
    for (int64_t k = 0; k <= half && !leati_stop_look_at(k); k++) {
        leati_complex128 a = out[k % n], b = conj(out[(n - k) % n]);
        leati_complex128 even = leati_complex128_of(creal(a + b) / 2, cimag(a + b) / 2);
        leati_complex128 odd = leati_complex128_of(cimag(a - b) / 2, -creal(a - b) / 2);
        real->part[k] = k < n ? even + product(real->of->turns[k], odd) : even - odd;
    }
    return LEAT_OK;
}

/* From part to line->out, `length` times the reals. */
static leat_status run_back(real_line *real, leat_error *err) {
    const leati_complex128 *from = real->part;
    leati_complex128 *in = (leati_complex128 *)real->line->in;
    int64_t n = real->line->n, half = real->of->length / 2;
    if (real->of->turns == NULL) {
        in[0] = creal(from[0]);
        for (int64_t k = 1; k <= half && !leati_stop_look_at(k); k++) {
            in[k] = from[k];
            in[n - k] = conj(from[k]);
        }
        LEATI_TRY(line_run(&real->line, err));
        for (int64_t j = 0; j < n && !leati_stop_look_at(j); j++)
            real->line->out[j] = real->line->out[2 * j];
        return LEAT_OK;
    }
    for (int64_t k = 0; k < n && !leati_stop_look_at(k); k++) {
        leati_complex128 a = from[k], b = conj(from[n - k]);
        if (k == 0) { /* both ends are real, whatever is given */
            a = creal(a);
            b = creal(b);
        }
        leati_complex128 odd = product(real->of->turns[k], a - b);
        in[k] = a + b + leati_complex128_of(-cimag(odd), creal(odd));
    }
    return line_run(&real->line, err);
}

/* Line i of the last dimension of a row. */
static leat_status run_line(leati_kernel_call *call, real_line *real, int64_t row, int64_t i,
                            leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    bool back = real->of->back;
    int64_t from = in->dims[in->rank - 1], to = out->dims[out->rank - 1];
    int64_t length = real->of->length, wanted = back ? length / 2 + 1 : length;
    int64_t found = LEATI_MIN(from, wanted);
    double *numbers = back ? (double *)real->part : real->line->in;
    size_t each = back ? 2 : 1;
    const char *at =
        leati_support_row_of(in, row) + (size_t)(i * from) * leat_dtype_size(in->dtype);
    bool direct = in->dtype == LEAT_FLOAT32 && found == wanted && real->of->turns != NULL &&
                  leati_fourier_two_fits(real->line->n);
    if (found > 0 && !direct)
        read_parts(in->dtype, at, found, 1, numbers);
    if (!direct)
        memset(numbers + (size_t)found * each, 0, (size_t)(wanted - found) * each * sizeof(double));
    LEATI_TRY(back ? run_back(real, err) : run_real(real, direct ? at : NULL, err));
    write_parts(out->dtype, back ? real->line->out : (const double *)real->part, to, 1,
                back ? 1.0 / (double)length : 1,
                leati_support_row_of(out, row) + (size_t)(i * to) * leat_dtype_size(out->dtype));
    return LEAT_OK;
}

static void real_steps(void *data, int64_t begin, int64_t end) {
    lines_work *w = data;
    leat_error err = {0};
    real_line real;
    leat_status status = real_line_open(&real, w->real, &err);
    for (int64_t k = begin, done = 0;
         k < end && status == LEAT_OK && !leati_stop_look_after(8 * w->n, &done); k++)
        status = run_line(w->call, &real, k / w->count, k % w->count, &err);
    note(w, status, &err);
    real_line_close(&real);
}

static leat_status real_kernel(leati_kernel_call *call, bool back, leat_error *err) {
    const struct rfft_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    if (shape.rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; expected a dimension to transform");
    int64_t in = shape.dims[shape.rank - 1];
    int64_t out = last_dim(args->length, in, back);
    int64_t length = back ? out : args->length >= 0 ? args->length : in;
    if (length < 1)
        return leati_refuse(err, SHAPE,
                            "lines of %lld real numbers; expected a dimension of 1 or more, or a "
                            "length",
                            (long long)length);
    shape.dims[shape.rank - 1] = out;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (call->outputs[0].count == 0)
        return LEAT_OK;
    real_lines real;
    LEATI_TRY(real_lines_init(&real, call, length, back, err));
    lines_work w = {
        .call = call, .n = length, .count = call->outputs[0].count / out, .real = &real};
    return share_lines(&w, real_steps, err);
}

static leat_status rfft_kernel(leati_kernel_call *call, leat_error *err) {
    return real_kernel(call, false, err);
}

static leat_status irfft_kernel(leati_kernel_call *call, leat_error *err) {
    return real_kernel(call, true, err);
}

/* ---- gradients ---- */
/* The gradient of a transform is the other one, but for the division by the lengths. */
static leat_status fft_gradient(leati_gradient_call *call, leat_error *err) {
    const struct fft_args *args = call->args;
    leat_value x = call->inputs[0], g = call->output_gradients[0];
    leat_shape shape = leat_value_shape(x);
    double lengths = 1;
    for (int32_t i = 0; i < args->axes.count; i++) {
        int64_t axis = args->axes.values[i];
        int64_t dim =
            shape.rank < 0 ? LEAT_UNKNOWN_DIM : shape.dims[axis < 0 ? axis + shape.rank : axis];
        if (dim == LEAT_UNKNOWN_DIM)
            return leati_fail(err, LEAT_UNIMPLEMENTED,
                              "no gradient along a dimension of unknown size; set it with "
                              "ensure_shape");
        lengths *= (double)dim;
    }
    leat_value turned = leat_op_fft(g, args->axes.values, args->axes.count, !args->inverse);
    call->input_gradients[0] = leati_support_times(turned, args->inverse ? 1 / lengths : lengths);
    return LEAT_OK;
}

/* The line of a transform has twice what both halves of the whole one share: a factor for each of
 * the length / 2 + 1 numbers, `ends` for the first and, of an even length, the last. */
static leat_status weights(leat_graph *graph, leat_dtype dtype, int64_t length, double ends,
                           double others, leat_value *out, leat_error *err) {
    leat_tensor tensor;
    int64_t count = length / 2 + 1;
    LEATI_TRY(leat_tensor_new(dtype, LEAT_SHAPE(count), &tensor, err));
    for (int64_t k = 0; k < count; k++)
        (void)leati_support_store_number(dtype, k == 0 || 2 * k == length ? ends : others,
                                         (char *)tensor.data + (size_t)k * leat_dtype_size(dtype));
    *out = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return LEAT_OK;
}

/* `value`, whose last dimension is `from`, cut or filled up with zeros to `to`. */
static leat_value resized(leat_value value, int64_t from, int64_t to) {
    int32_t rank = leat_value_shape(value).rank;
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK], paddings[2 * LEAT_MAX_RANK] = {0};
    if (to == from)
        return value;
    for (int32_t d = 0; d < rank; d++)
        size[d] = d == rank - 1 ? LEATI_MIN(from, to) : -1;
    paddings[2 * rank - 1] = to - from;
    if (to < from)
        return leat_op_slice(value, begin, rank, size, rank);
    return leat_op_pad(value, paddings, rank);
}

static leat_status real_gradient(leati_gradient_call *call, bool back, leat_error *err) {
    const struct rfft_args *args = call->args;
    leat_value x = call->inputs[0], g = call->output_gradients[0], factors;
    leat_shape shape = leat_value_shape(x), given = leat_value_shape(g);
    int64_t in = shape.rank > 0 ? shape.dims[shape.rank - 1] : LEAT_UNKNOWN_DIM;
    int64_t out = given.rank > 0 ? given.dims[given.rank - 1] : LEAT_UNKNOWN_DIM;
    if (in == LEAT_UNKNOWN_DIM || out == LEAT_UNKNOWN_DIM)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "no gradient along a dimension of unknown size; set it with "
                          "ensure_shape");
    int64_t length = back ? out : args->length >= 0 ? args->length : in;
    double n = (double)length;
    leat_dtype dtype = leat_value_dtype(back ? x : g);
    LEATI_TRY(
        weights(call->graph, dtype, length, back ? 1 / n : n, back ? 2 / n : n / 2, &factors, err));
    leat_value turned = back ? leat_op_multiply(leat_op_rfft(g, length), factors)
                             : leat_op_irfft(leat_op_multiply(g, factors), length);
    call->input_gradients[0] = resized(turned, back ? length / 2 + 1 : length, in);
    return LEAT_OK;
}

static leat_status rfft_gradient(leati_gradient_call *call, leat_error *err) {
    return real_gradient(call, false, err);
}

static leat_status irfft_gradient(leati_gradient_call *call, leat_error *err) {
    return real_gradient(call, true, err);
}

#define FOURIER_OP(OP, ROWS, ARGS, ...)                                                            \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "input",                                                                         \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_NONE,                                                               \
        .large = true,                                                                             \
        .rows = ROWS,                                                                              \
        .args_size = sizeof(struct ARGS),                                                          \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        .gradient = OP##_gradient,                                                                 \
        __VA_ARGS__,                                                                               \
    };
FOURIER_OP(fft, fft_rows, fft_args,
           .doc = "The Fourier transform of complex numbers along dimensions (tf.signal.fftnd).")
FOURIER_OP(irfft, rfft_rows, rfft_args,
           .doc =
               "The real numbers whose Fourier transform begins with lines of the last dimension "
               "(tf.signal.irfft).")
FOURIER_OP(rfft, rfft_rows, rfft_args,
           .doc =
               "The first half of the Fourier transform of real numbers along the last dimension "
               "(tf.signal.rfft).")
