/* custom_gradient: values whose gradient another function says (tf.custom_gradient).
 *
 * Inputs are the results, then the sources that gradients flow to, then what `reverse` takes beside
 * the gradients of the results. Outputs are the results, views of the first inputs. The gradient is
 * `reverse`, inlined: of a gradient for each result (zeros where none arrives) and what it takes
 * beside, it makes one for each source. Nothing flows through the results themselves. So it holds
 * in branches and loops, in saved functions and in gradients of gradients. Flags are those of
 * `reverse`. No locks. */
#include "graph/support/control/branch.h"
#include "graph/support/support.h"
#include <leat/ops.h>
#include <string.h>

struct custom_gradient_args {
    leat_object *reverse;
    int64_t num_results, num_sources;
};

static const leati_row custom_gradient_rows[] = {
    {.name = "reverse",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct custom_gradient_args, reverse),
     .doc = "The function from gradients of the results, and what it takes beside, to those of the "
            "sources."},
    {.name = "num_results",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct custom_gradient_args, num_results),
     .minimum = 1,
     .maximum = LEAT_MAX_OUTPUTS,
     .doc = "How many of the first inputs are results."},
    {.name = "num_sources",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct custom_gradient_args, num_sources),
     .maximum = LEAT_MAX_OUTPUTS,
     .doc = "How many of the inputs behind these are sources."},
    {0},
};

/* ---- inference ---- */

/* What `reverse` takes: types like the results, then those of the inputs behind the sources. */
static leat_function *reverse_for(leati_infer_call *call, leat_error *err) {
    const struct custom_gradient_args *args = call->args;
    int results = (int)args->num_results, skipped = (int)args->num_sources;
    leati_type *types = leati_alloc((size_t)call->num_inputs + 1, sizeof *types);
    if (types == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    for (int i = 0; i < results; i++)
        types[i] = call->inputs[i];
    for (int i = results + skipped; i < call->num_inputs; i++)
        types[i - skipped] = call->inputs[i];
    leat_function *found =
        leati_branch_specialise("reverse", args->reverse, types, call->num_inputs - skipped, err);
    leati_free(types);
    return found;
}

static leat_status check_results(const leati_infer_call *call, const leat_function *reverse,
                                 leat_error *err) {
    const struct custom_gradient_args *args = call->args;
    if (reverse->num_outputs != args->num_sources)
        return leati_refuse(err, STRUCTURE, "reverse makes %d gradients of %d sources",
                            (int)reverse->num_outputs, (int)args->num_sources);
    for (int32_t i = 0; i < reverse->num_outputs; i++) {
        leat_dtype made = reverse->body.values[reverse->outputs[i]].type.dtype;
        leat_dtype wanted = call->inputs[args->num_results + i].dtype;
        if (made != wanted)
            return leati_refuse(err, DTYPE, "reverse makes %s of source %d, which is %s; cast it",
                                leat_dtype_name(made), (int)i, leat_dtype_name(wanted));
    }
    return LEAT_OK;
}

static leat_status custom_gradient_infer(leati_infer_call *call, leat_error *err) {
    const struct custom_gradient_args *args = call->args;
    if (args->num_results + args->num_sources > call->num_inputs)
        return leati_refuse(err, VALUE, "%d inputs are not %lld results and %lld sources",
                            call->num_inputs, (long long)args->num_results,
                            (long long)args->num_sources);
    leat_function *reverse = reverse_for(call, err);
    if (reverse == NULL)
        return LEAT_INVALID_ARGUMENT;
    leat_status status = check_results(call, reverse, err);
    leat_function_unref(reverse);
    for (int i = 0; status == LEAT_OK && i < args->num_results; i++)
        status = leati_op_infer_output(call, call->inputs[i].dtype, &call->inputs[i].shape,
                                       call->inputs[i].element, err);
    return status;
}

/* ---- kernel ---- */

static leat_status custom_gradient_kernel(leati_kernel_call *call, leat_error *err) {
    for (int i = 0; i < call->num_outputs; i++) {
        const leati_operand *in = &call->inputs[i];
        LEATI_TRY(leati_op_kernel_view(call, i, in->rank, in->dims, in->data, in->row_stride,
                                       in->owner, err));
    }
    return LEAT_OK;
}

/* ---- gradient ---- */

static leat_status custom_gradient_gradient(leati_gradient_call *call, leat_error *err) {
    const struct custom_gradient_args *args = call->args;
    int results = (int)args->num_results, sources = (int)args->num_sources, count = 0;
    leat_value *values = leati_alloc((size_t)call->num_inputs + 1, sizeof *values);
    leat_value *made = leati_alloc((size_t)sources + 1, sizeof *made);
    leat_status status = values != NULL && made != NULL ? LEAT_OK : leati_no_memory(err);
    if (status == LEAT_OK) {
        for (int i = 0; i < results; i++) {
            leat_value gradient = call->output_gradients[i];
            values[count++] = gradient.id < 0 ? leat_op_zeros_like(call->outputs[i]) : gradient;
        }
        for (int i = results + sources; i < call->num_inputs; i++)
            values[count++] = call->inputs[i];
        /* Where it cannot be inlined the graph keeps the error. */
        if (leati_graph_inline(call->graph, leati_branch(args->reverse), values, made))
            memcpy(call->input_gradients + results, made, (size_t)sources * sizeof *made);
    }
    leati_free(values);
    leati_free(made);
    return status;
}

const leati_tensor_op leati_tensor_op_custom_gradient = {
    .name = "custom_gradient",
    .version = 1,
    .doc = "Values whose gradient is what another function makes (tf.custom_gradient).",
    .types = "*",
    .outputs = "*outputs",
    .halves = LEATI_HALVES_OWN,
    .rows = custom_gradient_rows,
    .args_size = sizeof(struct custom_gradient_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = custom_gradient_infer,
    .kernel = custom_gradient_kernel,
    .gradient = custom_gradient_gradient,
};
