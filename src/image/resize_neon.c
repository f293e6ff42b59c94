/* The inner loops of resizing for processors with NEON (64-bit ARM).
 *
 * They compute exactly what the plain loops of resize.c do, operation by operation, without fused
 * multiply-add, so their results agree in every bit. Blending takes a pixel of three channels at a
 * time and reads four bytes of it, so pixels that touch the last one of a row are left to plain
 * code. Cannot fail; no locks. */
#include "image/resize.h"

#if defined(__ARM_NEON) && defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>

/* Four bytes as floats. */
static inline float32x4_t load_pixel(const uint8_t *from) {
    uint32_t bytes;
    memcpy(&bytes, from, sizeof bytes);
    uint16x8_t wide = vmovl_u8(vcreate_u8(bytes));
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(wide)));
}

static inline float32x4_t mix(float32x4_t a, float32x4_t b, float32x4_t lerp) {
    return vaddq_f32(a, vmulq_f32(vsubq_f32(b, a), lerp));
}

static inline void blend_pixels(const leati_resize_axis *x, const uint8_t *in, float *out,
                                int32_t i, int32_t end) {
    for (; i < end; i++) {
        for (size_t c = 0; c < 3; c++) {
            float a = in[(size_t)x->lower[i] + c], b = in[(size_t)x->upper[i] + c];
            out[3 * (size_t)i + c] = a + (b - a) * x->lerp[i];
        }
    }
}

static void neon_blend(const leati_resize_plan *plan, const uint8_t *in, float *out) {
    const leati_resize_axis *x = &plan->x;
    /* Outputs before `inside` touch the last pixel too, where the plan is mirrored. */
    blend_pixels(x, in, out, 0, x->inside);
    /* Each store writes a fourth float, which the next pixel overwrites. */
    for (int32_t i = x->inside; i < x->interior; i++)
        vst1q_f32(out + 3 * (size_t)i, mix(load_pixel(in + x->lower[i]),
                                           load_pixel(in + x->upper[i]), vdupq_n_f32(x->lerp[i])));
    blend_pixels(x, in, out, x->interior, x->out);
}

static void neon_rows(const float *a, const float *b, float lerp, float *out, size_t count) {
    const float32x4_t factor = vdupq_n_f32(lerp);
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1q_f32(out + i, mix(vld1q_f32(a + i), vld1q_f32(b + i), factor));
    for (; i < count; i++)
        out[i] = a[i] + (b[i] - a[i]) * lerp;
}

static void neon_add_u8(float *sum, const uint8_t *in, float weight, size_t count) {
    const float32x4_t factor = vdupq_n_f32(weight);
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1q_f32(sum + i, vaddq_f32(vld1q_f32(sum + i), vmulq_f32(load_pixel(in + i), factor)));
    for (; i < count; i++)
        sum[i] += (float)in[i] * weight;
}

static void neon_add_f32(float *sum, const float *in, float weight, size_t count) {
    const float32x4_t factor = vdupq_n_f32(weight);
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1q_f32(sum + i, vaddq_f32(vld1q_f32(sum + i), vmulq_f32(vld1q_f32(in + i), factor)));
    for (; i < count; i++)
        sum[i] += in[i] * weight;
}

/* The fourth lane carries nothing; the next pixel overwrites it. */
static void neon_sum_x3(const leati_resize_axis *x, const float *in, float *out) {
    for (int32_t i = 0; i < x->out; i++, out += 3) {
        const float *weights = x->weights + (size_t)i * (size_t)x->span;
        const float *source = in + (size_t)x->lower[i] * 3;
        float32x4_t sum = vdupq_n_f32(0);
        for (int32_t k = 0; k < x->count[i]; k++, source += 3)
            sum = vaddq_f32(sum, vmulq_f32(vld1q_f32(source), vdupq_n_f32(weights[k])));
        /* The last pixel by three floats: what follows the row may be another's. */
        if (i + 1 < x->out) {
            vst1q_f32(out, sum);
        } else {
            vst1_f32(out, vget_low_f32(sum));
            out[2] = vgetq_lane_f32(sum, 2);
        }
    }
}

static bool neon_runs(void) {
    return true;
}

static bool neon_takes(const leati_resize_plan *plan) {
    return plan->channels == 3;
}

static const leati_resize_kernels neon = {.name = "neon",
                                          .runs_here = neon_runs,
                                          .takes = neon_takes,
                                          .blend = neon_blend,
                                          .rows = neon_rows,
                                          .add_u8 = neon_add_u8,
                                          .add_f32 = neon_add_f32,
                                          .sum_x3 = neon_sum_x3};

const leati_resize_kernels *const leati_resize_fast[] = {&neon, NULL};

#elif defined(__ARM_NEON)

const leati_resize_kernels *const leati_resize_fast[] = {NULL};

#endif
