/* A step on a PJRT device: its stages compiled by the plug-in, and run one after the other.
 *
 * Happy path of a run: the arrays of arguments, constants and variables go into the program of each
 * stage, what it gives is kept for the stages behind it, and what the host does between them is
 * brought there and back. New arrays take the variables' places at the end, so a run that fails
 * leaves the variables as they were. Failures: the plug-in's, the host's operations'. No locks: one
 * run at a time. */
#include "exec/pjrt/stage.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "file/wire.h"
#include "graph/interpret.h"
#include <stdio.h>
#include <string.h>

static leati_pjrt_step *step_of(const leati_executable *executable) {
    return (leati_pjrt_step *)(void *)(uintptr_t)executable;
}

static void release_stage(const leati_pjrt_step *step, leati_pjrt_stage *stage) {
    if (stage->executable != NULL) {
        LEATI_PJRT_ARGS(LoadedExecutable_Destroy, destroy);
        destroy.a.executable = stage->executable;
        LEATI_PJRT_DROP(step->device->client, LoadedExecutable_Destroy, destroy);
    }
    leati_free(stage->inputs);
    leati_free(stage->outputs);
    leati_free(stage->in);
    leati_free(stage->out);
}

void leati_pjrt_release(leati_executable *executable) {
    leati_pjrt_step *step = step_of(executable);
    if (step == NULL)
        return;
    for (int32_t s = 0; step->stages != NULL && s < step->num_stages; s++)
        release_stage(step, &step->stages[s]);
    for (size_t h = 0; h < step->num_hosts; h++)
        leat_function_unref(step->hosts[h].function);
    for (int32_t c = 0; step->constants != NULL && c < step->simple.num_constants; c++)
        leat_buffer_unref(step->constants[c]);
    leati_free(step->stages);
    leati_free(step->hosts);
    leati_free(step->stage_of);
    leati_free(step->on_host);
    leati_free(step->constants);
    leati_free(step->variables);
    leati_free(step->pending);
    leati_free(step->kept);
    leati_simplify_fini(&step->simple);
    leati_free(step);
}

/* ---- compiling ---- */

enum { OPTIONS = 160 };

/* Entries of env_option_overrides that are false: what is rounded to a half stays so, and on a CPU
 * a NaN stays one. */
static const unsigned char rounding[] = "\x3a\x20\x0a\x1axla_allow_excess_precision\x12\x02\x10";
static const unsigned char of_cpu[] = "\x3a\x21\x0a\x1bxla_cpu_enable_fast_min_max\x12\x02\x10";

/* A field of bytes: its number, its size, and room for them at the returned place. */
static unsigned char *put_field(unsigned char *out, int field, size_t size) {
    out[0] = (unsigned char)(field << 3 | 2);
    out[1] = (unsigned char)size;
    return out + 2;
}

/* xla.CompileOptionsProto for one replica on one device: build options 3 with num_replicas 4,
 * num_partitions 5 and a device assignment 9 of one computation, whose list of devices is 3. */
static size_t compile_options(unsigned char out[OPTIONS], int device, bool cpu) {
    unsigned char id[10];
    size_t of_id = (size_t)(leati_wire_put_varint(id, (uint64_t)device) - id);
    unsigned char *build = put_field(out, 3, of_id + 14);
    memcpy(build, (unsigned char[]){0x20, 1, 0x28, 1}, 4);
    unsigned char *assignment = put_field(build + 4, 9, of_id + 8);
    memcpy(assignment, (unsigned char[]){0x08, 1, 0x10, 1}, 4);
    unsigned char *ids = put_field(put_field(assignment + 4, 3, of_id + 2), 1, of_id);
    memcpy(ids, id, of_id);
    size_t size = (size_t)(ids - out) + of_id;
    /* The 0 at the end of the text is the option's false. */
    memcpy(out + size, rounding, sizeof rounding);
    size += sizeof rounding;
    if (cpu)
        memcpy(out + size, of_cpu, sizeof of_cpu);
    return size + (cpu ? sizeof of_cpu : 0);
}

static leat_status compile_stage(leati_pjrt_step *step, int32_t stage,
                                 const leati_call_context *context, leat_error *err) {
    unsigned char options[OPTIONS];
    char *text = leati_pjrt_print_stage(step, stage, context, err);
    if (text == NULL)
        return err->code;
    leati_pjrt_client *client = step->device->client;
    leati_pjrt_program program = {.text = text, .text_size = strlen(text), .options = options};
    program.options_size =
        compile_options(options, step->device->id, strcmp(client->platform, "cpu") == 0);
    leat_status status =
        leati_pjrt_program_load(client, &program, &step->stages[stage].executable, err);
    step->stages[stage].bytes = program.text_size;
    leati_free(text);
    return status;
}

static leat_status compile(leati_pjrt_step *step, const leat_function *function,
                           const leati_call_context *context, leat_error *err) {
    LEATI_TRY(leati_simplify(function, &step->simple, err));
    LEATI_TRY(leati_simplify_check(&step->simple, err));
    LEATI_TRY(leati_pjrt_assign_stages(step, context, err));
    step->stages = leati_alloc_zero((size_t)step->num_stages, sizeof *step->stages);
    step->constants =
        leati_alloc_zero((size_t)step->simple.num_constants + 1, sizeof *step->constants);
    step->kept = leati_alloc_zero((size_t)step->simple.num_values + 1, sizeof *step->kept);
    if (step->stages == NULL || step->constants == NULL || step->kept == NULL)
        return leati_no_memory(err);
    for (int32_t s = 0; s < step->num_stages; s++)
        LEATI_TRY(compile_stage(step, s, context, err));
    step->pending = leati_alloc_zero(step->num_variables + 1, sizeof *step->pending);
    return step->pending == NULL ? leati_no_memory(err) : LEAT_OK;
}

leat_status leati_pjrt_compile(leati_device *device, const leat_function *function,
                               const leati_call_context *context, leati_executable **out,
                               leat_error *err) {
    leati_pjrt_step *step = leati_alloc_zero(1, sizeof *step);
    if (step == NULL)
        return leati_no_memory(err);
    step->base.device = device;
    step->device = (leati_pjrt_device *)(void *)device;
    step->replica = context->replica - context->first_replica;
    leat_status status = compile(step, function, context, err);
    if (status != LEAT_OK) {
        leati_pjrt_release(&step->base);
        return status;
    }
    *out = &step->base;
    return LEAT_OK;
}

/* ---- running ---- */

static leat_buffer *copy_of(const leati_pjrt_step *step, int32_t variable) {
    /* A variable that is not mirrored has one copy for all replicas. */
    const leat_variable *of = step->variables[variable];
    return of->copies[step->replica < of->num_copies ? step->replica : 0];
}

/* The array of a slot that a program reads, or the host. */
static leat_status array_at(const leati_pjrt_step *step, const leati_run_args *args,
                            leati_pjrt_slot slot, PJRT_Buffer **out, leat_error *err) {
    const leat_buffer *buffer = NULL;
    leati_pjrt_array *array = NULL;
    switch (slot.place) {
    case LEATI_PJRT_ARGUMENT: buffer = args->inputs[slot.index].owner; break;
    case LEATI_PJRT_CONSTANT: buffer = step->constants[slot.index]; break;
    case LEATI_PJRT_VARIABLE:
        *out = step->pending[slot.index];
        if (*out != NULL)
            return LEAT_OK;
        buffer = copy_of(step, slot.index);
        break;
    default: *out = step->kept[slot.index]; return LEAT_OK;
    }
    LEATI_TRY(leati_pjrt_array_of(step->device, buffer, &array, err));
    *out = array->buffer;
    return LEAT_OK;
}

static leat_status execute(const leati_pjrt_step *step, leati_pjrt_stage *stage, leat_error *err) {
    PJRT_ExecuteOptions options = {.struct_size = sizeof options};
    PJRT_Buffer *const *inputs = stage->in;
    PJRT_Buffer **outputs = stage->out;
    PJRT_Event *done = NULL;
    LEATI_PJRT_ARGS(LoadedExecutable_Execute, args);
    args.a.executable = stage->executable;
    args.a.options = &options;
    args.a.argument_lists = &inputs;
    args.a.num_devices = 1;
    args.a.num_args = stage->num_inputs;
    args.a.output_lists = &outputs;
    args.a.device_complete_events = &done;
    leat_status status =
        LEATI_PJRT_CALL(step->device->client, LoadedExecutable_Execute, args, "run the step", err);
    if (status == LEAT_OK)
        status = leati_pjrt_wait(step->device->client, done, "run the step", err);
    return status == LEAT_OK ? LEAT_OK : leati_pjrt_blame_memory(step, err);
}

/* Puts what a program gave where it goes. */
static leat_status take_outputs(leati_pjrt_step *step, leati_pjrt_stage *stage,
                                leati_run_args *args, leat_error *err) {
    for (size_t i = 0; i < stage->num_outputs; i++) {
        leati_pjrt_slot slot = stage->outputs[i];
        PJRT_Buffer *array = stage->out[i];
        stage->out[i] = NULL;
        if (slot.place == LEATI_PJRT_VALUE) {
            step->kept[slot.index] = array;
        } else if (slot.place == LEATI_PJRT_VARIABLE) {
            leati_pjrt_destroy(step->device->client, step->pending[slot.index]);
            step->pending[slot.index] = array;
        } else {
            const leati_type *type = step->simple.values[step->simple.outputs[slot.index]].type;
            leat_buffer *buffer = NULL;
            LEATI_TRY(
                leati_pjrt_adopt(step->device, array, type->dtype, &type->shape, &buffer, err));
            args->outputs[slot.index] =
                leat_tensor_view(type->dtype, type->shape, leat_buffer_data(buffer));
            args->outputs[slot.index].owner = buffer;
        }
    }
    return LEAT_OK;
}

static leat_status run_stage(leati_pjrt_step *step, leati_pjrt_stage *stage, leati_run_args *args,
                             leat_error *err) {
    for (size_t i = 0; i < stage->num_inputs; i++)
        LEATI_TRY(array_at(step, args, stage->inputs[i], &stage->in[i], err));
    LEATI_TRY(execute(step, stage, err));
    return take_outputs(step, stage, args, err);
}

/* ---- what the host does ---- */

/* Value v on the host. Owned. */
static leat_status bring(const leati_pjrt_step *step, const leati_run_args *args, int32_t v,
                         leat_tensor *out, leat_error *err) {
    const leati_simple_value *value = &step->simple.values[v];
    if (value->constant >= 0) {
        *out = leat_tensor_ref(&step->simple.constants[value->constant]);
        return LEAT_OK;
    }
    leati_pjrt_place place = value->node < 0 ? LEATI_PJRT_ARGUMENT : LEATI_PJRT_VALUE;
    leati_pjrt_array array = {
        .device = step->device, .dtype = value->type->dtype, .shape = value->type->shape};
    LEATI_TRY(array_at(step, args, (leati_pjrt_slot){place, v}, &array.buffer, err));
    LEATI_TRY(leat_tensor_new(array.dtype, array.shape, out, err));
    leat_status status =
        leati_pjrt_read(step->device, &array, out->data, leat_tensor_bytes(out), err);
    if (status != LEAT_OK)
        leat_tensor_unref(out);
    return status;
}

/* The host's tensor becomes value v of the device. */
static leat_status send(leati_pjrt_step *step, int32_t v, const leat_tensor *tensor,
                        leat_error *err) {
    leati_pjrt_array array = {
        .device = step->device, .dtype = tensor->dtype, .shape = leat_tensor_shape(tensor)};
    LEATI_TRY(leati_pjrt_write(step->device, &array, tensor->data, err));
    step->kept[v] = array.buffer;
    return LEAT_OK;
}

static leat_status run_host(leati_pjrt_step *step, const leati_pjrt_host *host,
                            leati_run_args *args, leat_error *err) {
    const leati_simple_node *node = host->node;
    size_t count = (size_t)(node->num_inputs + node->num_outputs);
    leat_tensor *tensors = leati_alloc_zero(count + 1, sizeof *tensors);
    leat_tensor *outputs = tensors + node->num_inputs;
    if (tensors == NULL)
        return leati_no_memory(err);
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < node->num_inputs && status == LEAT_OK; i++)
        status = bring(step, args, node->inputs[i], &tensors[i], err);
    if (status == LEAT_OK)
        status = leati_interpret(host->function, tensors, args->context, outputs, err);
    for (int32_t o = 0; o < node->num_outputs && status == LEAT_OK; o++)
        status = send(step, node->first_output + o, &outputs[o], err);
    for (size_t i = 0; i < count; i++)
        leat_tensor_unref(&tensors[i]);
    leati_free(tensors);
    return status;
}

static leat_status run_hosts(leati_pjrt_step *step, int32_t stage, leati_run_args *args,
                             leat_error *err) {
    for (size_t h = 0; h < step->num_hosts; h++)
        if (step->hosts[h].stage == stage)
            LEATI_TRY(run_host(step, &step->hosts[h], args, err));
    return LEAT_OK;
}

/* ---- a run ---- */

static leat_status run_all(leati_pjrt_step *step, leati_run_args *args, leat_error *err) {
    LEATI_TRY(run_hosts(step, -1, args, err));
    for (int32_t s = 0; s < step->num_stages; s++) {
        LEATI_TRY(run_stage(step, &step->stages[s], args, err));
        LEATI_TRY(run_hosts(step, s, args, err));
    }
    return LEAT_OK;
}

/* What the run wrote takes the place of what the variables had. */
static leat_status commit(leati_pjrt_step *step, leat_error *err) {
    leati_pjrt_array *array = NULL;
    /* All are looked at before the first is changed. */
    for (size_t i = 0; i < step->num_variables; i++)
        LEATI_TRY(leati_pjrt_array_of(step->device, copy_of(step, (int32_t)i), &array, err));
    for (size_t i = 0; i < step->num_variables; i++) {
        if (step->pending[i] == NULL ||
            leati_pjrt_array_of(step->device, copy_of(step, (int32_t)i), &array, err) != LEAT_OK)
            continue;
        leati_pjrt_destroy(step->device->client, array->buffer);
        array->buffer = step->pending[i];
        step->pending[i] = NULL;
    }
    return LEAT_OK;
}

/* Drops what a run kept, and after a failure what nobody took. */
static void drop_kept(leati_pjrt_step *step) {
    const leati_pjrt_client *client = step->device->client;
    for (int32_t v = 0; v < step->simple.num_values; v++) {
        leati_pjrt_destroy(client, step->kept[v]);
        step->kept[v] = NULL;
    }
    for (size_t i = 0; i < step->num_variables; i++) {
        leati_pjrt_destroy(client, step->pending[i]);
        step->pending[i] = NULL;
    }
    for (int32_t s = 0; s < step->num_stages; s++)
        for (size_t i = 0; i < step->stages[s].num_outputs; i++) {
            leati_pjrt_destroy(client, step->stages[s].out[i]);
            step->stages[s].out[i] = NULL;
        }
}

leat_status leati_pjrt_run(leati_executable *executable, leati_run_args *args, leat_error *err) {
    leati_pjrt_step *step = step_of(executable);
    for (int i = 0; i < args->num_outputs; i++)
        args->outputs[i] = (leat_tensor){0};
    leat_status status = run_all(step, args, err);
    if (status == LEAT_OK)
        status = commit(step, err);
    drop_kept(step);
    for (int i = 0; status != LEAT_OK && i < args->num_outputs; i++)
        leat_tensor_unref(&args->outputs[i]);
    return status;
}

size_t leati_pjrt_explain(const leati_executable *executable, char *text, size_t size) {
    const leati_pjrt_step *step = step_of(executable);
    size_t bytes = 0;
    for (int32_t s = 0; s < step->num_stages; s++)
        bytes += step->stages[s].bytes;
    int wanted =
        snprintf(text, size, "program: %zu bytes of StableHLO in %d stages, %s, %s\n", bytes,
                 step->num_stages, step->device->base.name, step->device->client->version);
    return wanted < 0 ? 0 : (size_t)wanted;
}
