/* Replicas without a strategy, for tests of rooms that only trace: variables with a copy per
 * replica in host memory, and a function run on one thread per replica by the interpreter, with the
 * collective of threads between them.
 *
 * Header only; include it after "support/cmocka.h". Whatever goes wrong fails the test.
 */
#ifndef TEST_REPLICAS_H
#define TEST_REPLICAS_H

#include "coll/threads.h"
#include "core/buffer.h"
#include "graph/interpret.h"
#include "graph/variable.h"

#include <pthread.h>
#include <string.h>

#define REPLICAS_UNUSED __attribute__((unused))
#define REPLICAS_MOST 4

static int replicas_copies;

static leat_status replicas_place(void *context, leat_variable *variable,
                                  const leat_tensor *initial, leat_error *err) {
    size_t count = (size_t) * (int *)context, size = leat_tensor_bytes(initial);
    variable->copies = leati_alloc_zero(count, sizeof(leat_buffer *));
    variable->places = leati_alloc_zero(count, sizeof *variable->places);
    if (variable->copies == NULL || variable->places == NULL)
        return leati_no_memory(err);
    variable->num_copies = (int)count;
    for (size_t i = 0; i < count; i++) {
        variable->copies[i] = leat_buffer_new(size, err);
        if (variable->copies[i] == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        memcpy(variable->copies[i]->data, initial->data, size);
    }
    return LEAT_OK;
}

/* From now on this thread's variables have `count` copies. Returns what replicas_exit restores. */
REPLICAS_UNUSED static const leati_variable_creator *replicas_enter(int count) {
    static const leati_variable_creator creator = {.place = replicas_place,
                                                   .context = &replicas_copies};
    replicas_copies = count;
    return leati_variable_set_creator(&creator);
}

REPLICAS_UNUSED static void replicas_exit(const leati_variable_creator *outer) {
    leati_variable_set_creator(outer);
}

struct replicas_job {
    leat_function *function;
    const leat_tensor *inputs;
    leat_tensor *outputs;
    leati_call_context context;
    leat_status status;
    leat_error error;
};

static void *replicas_main(void *argument) {
    struct replicas_job *job = argument;
    job->status =
        leati_interpret(job->function, job->inputs, &job->context, job->outputs, &job->error);
    if (job->status != LEAT_OK && job->context.collective != NULL)
        job->context.collective->ops->abort(job->context.collective, &job->error);
    return NULL;
}

/* The function of a tracer for tensors of these dtypes and shapes. Owned. */
REPLICAS_UNUSED static leat_function *replicas_trace(leat_tracer tracer, void *context,
                                                     const leat_tensor *inputs, int num_inputs) {
    leat_error err = {0};
    leat_spec *children[8];
    for (int i = 0; i < num_inputs; i++)
        children[i] = leat_spec_tensor(inputs[i].dtype, leat_tensor_shape(&inputs[i]), &err);
    leat_spec *spec = leat_spec_tuple(children, num_inputs, &err);
    leat_function *function = LEAT_TRACE(tracer, context, spec, &err);
    leat_spec_unref(spec);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

/* Traces for each replica and runs them all at the same time. `inputs[r]` has `num_inputs` tensors;
 * `outputs` (may be NULL) gets the first result of each replica, owned. */
REPLICAS_UNUSED static void replicas_run(int count, leat_tracer tracer, void *context,
                                         leat_tensor *const *inputs, int num_inputs,
                                         leat_tensor *outputs) {
    struct replicas_job jobs[REPLICAS_MOST];
    leat_tensor results[REPLICAS_MOST][8];
    pthread_t threads[REPLICAS_MOST];
    leat_error err = {0};
    leati_collective *collective =
        count > 1 ? leati_threads_collective_new(count, 20000, &err) : NULL;
    for (int r = 0; r < count; r++) {
        jobs[r] = (struct replicas_job){
            .function = replicas_trace(tracer, context, inputs[r], num_inputs),
            .inputs = inputs[r],
            .outputs = results[r],
            .context = {.replica = r, .num_replicas = count, .collective = collective}};
        assert_int_equal(pthread_create(&threads[r], NULL, replicas_main, &jobs[r]), 0);
    }
    for (int r = 0; r < count; r++)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    for (int r = 0; r < count; r++) {
        if (jobs[r].status != LEAT_OK)
            fail_msg("replica %d: %s", r, jobs[r].error.text);
        for (int i = 0; i < jobs[r].function->num_outputs; i++)
            if (i == 0 && outputs != NULL)
                outputs[r] = results[r][i];
            else
                leat_tensor_unref(&results[r][i]);
        leat_function_unref(jobs[r].function);
    }
    if (collective != NULL)
        collective->ops->close(collective);
}

#endif
