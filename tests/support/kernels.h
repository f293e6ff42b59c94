/* Help for tests of kernels: one operation run on every instruction set and number of threads,
 * which must give the same bits. Include it after "support/graph.h". */
#ifndef TEST_KERNELS_H
#define TEST_KERNELS_H

#include "base/isa.h"
#include "core/half.h"
#include "run/crew.h"

static uint64_t kernels_state = 9;

TEST_UNUSED static uint32_t kernels_bits(void) {
    kernels_state = kernels_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(kernels_state >> 32);
}

/* From -8 to 8. */
TEST_UNUSED static double kernels_draw(void) {
    return (double)(int32_t)kernels_bits() / 268435456;
}

/* Any bytes: integers of all sizes, NaNs and infinities. */
TEST_UNUSED static void kernels_fill_bytes(leat_tensor *tensor) {
    int64_t bytes = leat_tensor_count(tensor) * (int64_t)leat_dtype_size(tensor->dtype);
    for (int64_t i = 0; i < bytes; i++)
        ((unsigned char *)tensor->data)[i] = (unsigned char)kernels_bits();
}

typedef struct kernels_case {
    const char *operation, *attributes;
    int num_inputs;
} kernels_case;

TEST_UNUSED static int kernels_trace(void *context, leat_graph *graph, leat_value *outputs,
                                     int capacity) {
    const kernels_case *of = context;
    leat_value inputs[4];
    for (int i = 0; i < of->num_inputs; i++)
        inputs[i] = leat_graph_argument(graph, i);
    return leat_graph_call(graph, of->operation, of->attributes, inputs, of->num_inputs, outputs,
                           capacity);
}

static bool kernels_nan(const leat_tensor *tensor, int64_t i) {
    switch (tensor->dtype) {
    case LEAT_FLOAT16: return isnan(leati_float_of_half(((const uint16_t *)tensor->data)[i]));
    case LEAT_BFLOAT16: return isnan(leati_float_of_bfloat16(((const uint16_t *)tensor->data)[i]));
    default: return test_is_wide(tensor->dtype) && isnan(test_value(tensor, i));
    }
}

/* NaNs need not have one sign: which operand an instruction keeps is the compiler's choice. */
TEST_UNUSED static void kernels_compare(const char *name, const leat_tensor *a,
                                        const leat_tensor *b) {
    int64_t count = leat_tensor_count(a), size = (int64_t)leat_dtype_size(a->dtype);
    for (int64_t i = 0; i < count; i++) {
        const char *x = (const char *)a->data + i * size, *y = (const char *)b->data + i * size;
        if (memcmp(x, y, (size_t)size) == 0 || (kernels_nan(a, i) && kernels_nan(b, i)))
            continue;
        fail_msg("%s of %s: value %lld of %lld differs", name, leat_dtype_name(a->dtype),
                 (long long)i, (long long)count);
    }
}

/* The outputs; each run's are the same. At most four, of which `out` has room for all. */
TEST_UNUSED static void kernels_run_everywhere(kernels_case *of, const leat_tensor *inputs,
                                               leat_tensor *out) {
    leat_error err = {0};
    leat_dtype dtypes[4];
    leat_shape shapes[4];
    for (int i = 0; i < of->num_inputs; i++) {
        dtypes[i] = inputs[i].dtype;
        shapes[i] = leat_tensor_shape(&inputs[i]);
    }
    leat_spec *spec = test_spec(of->num_inputs, dtypes, shapes);
    leat_function *function = LEAT_TRACE(kernels_trace, of, spec, &err);
    leat_spec_unref(spec);
    if (function == NULL)
        fail_msg("%s: %s", of->operation, err.text);
    int num_outputs = function->num_outputs;
    for (int isa = LEATI_ISA_PLAIN; isa < LEATI_NUM_ISAS; isa++)
        for (int threads = 1; threads <= 4; threads += 3) {
            leat_tensor found[4];
            bool first = isa == LEATI_ISA_PLAIN && threads == 1;
            leati_isa_allow((leati_isa)isa);
            int before = leati_crew_enter(threads);
            leat_status status = leati_interpret(function, inputs, NULL, first ? out : found, &err);
            leati_crew_leave(before);
            if (status != LEAT_OK)
                fail_msg("%s: %s", of->operation, err.text);
            for (int i = 0; !first && i < num_outputs; i++) {
                kernels_compare(of->operation, &out[i], &found[i]);
                leat_tensor_unref(&found[i]);
            }
        }
    leati_isa_allow(LEATI_ISA_AVX512);
    leat_function_unref(function);
}

#endif
