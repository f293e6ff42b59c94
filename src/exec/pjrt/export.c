/* leat_function_to_stablehlo: a function as the text of one program, for any compiler.
 *
 * Happy path: the function is simplified and printed as a step of one stage is, but that its
 * arguments are those of the program in their order, used or not, and that constants and the
 * variables' values stand in the text. Failures: what devices do not have, random numbers without a
 * seed, writes to variables, shapes that are not known. No state, no locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "exec/pjrt/stage.h"
#include <leat/dist.h>
#include <string.h>

static leat_status check(const leati_pjrt_step *step, leat_error *err) {
    const leati_simple *simple = &step->simple;
    for (int32_t n = 0; n < simple->num_nodes; n++) {
        if (!step->on_host[n])
            continue;
        (void)leati_fail(err, LEAT_UNIMPLEMENTED,
                         "the host draws or computes it, which no text says; draw with a seed "
                         "(tf.random.stateless_uniform), or outside of the function");
        return leati_simplify_blame(simple, &simple->nodes[n], err);
    }
    return LEAT_OK;
}

static leat_status print(leati_pjrt_step *step, const leat_function *function, char **out,
                         leat_error *err) {
    const leati_call_context context = {.num_replicas = 1};
    LEATI_TRY(leati_simplify(function, &step->simple, err));
    LEATI_TRY(leati_simplify_check(&step->simple, err));
    LEATI_TRY(leati_pjrt_assign_stages(step, &context, err));
    LEATI_TRY(check(step, err));
    step->stages = leati_alloc_zero((size_t)step->num_stages, sizeof *step->stages);
    if (step->stages == NULL)
        return leati_no_memory(err);
    *out = leati_pjrt_print_stage(step, 0, &context, err);
    return *out != NULL ? LEAT_OK : err->code;
}

char *leat_function_to_stablehlo(const leat_function *function, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    char *text = NULL;
    if (function == NULL) {
        leati_refuse(err, VALUE, "leat_function_to_stablehlo: function is NULL");
        return NULL;
    }
    leati_pjrt_step *step = leati_alloc_zero(1, sizeof *step);
    if (step == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    step->is_text = true;
    leat_status status = print(step, function, &text, err);
    leati_pjrt_release(&step->base);
    return status == LEAT_OK ? text : NULL;
}
