/* A process whose memory is limited: compiling a step is refused, where oneDNN would end it. */
#include "support/cmocka.h"

#include "exec/cpu/dnnl.h"

#include <leat/ops.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int trace(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] =
        leat_op_matmul(leat_graph_argument(graph, 0), leat_graph_argument(graph, 0), false, false);
    return 1;
}

/* Bytes of memory that the process has mapped. */
static rlim_t mapped(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        pages = 0;
    if (file != NULL)
        (void)fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* What compiling gives with so many bytes more than are mapped, the library `loaded` before. */
static leat_status compile_with(size_t more, bool loaded) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(64, 64), &err);
    leat_function *function = LEAT_TRACE(trace, NULL, spec, &err);
    leati_device *device = leati_device_cpu_new(0, 1, -1, &err);
    leati_call_context context = {.num_replicas = 1};
    leati_executable *step = NULL;
    struct rlimit limit;
    bool here = false;
    if (function == NULL || device == NULL || getrlimit(RLIMIT_AS, &limit) != 0 ||
        (loaded && (leati_dnnl_here(&here, &err) != LEAT_OK || !here)))
        return LEAT_UNKNOWN;
    limit.rlim_cur = mapped() + more;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return LEAT_UNKNOWN;
    return device->ops->compile(device, function, &context, &step, &err);
}

static int status_of_child(size_t more, bool loaded) {
    pid_t child = fork();
    if (child == 0)
        _exit((int)compile_with(more, loaded));
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_limited_memory(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* sanitizers map memory of their own */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    skip();
#endif
#endif
#ifndef LEATI_HAVE_DNNL
    skip();
#endif
    assert_int_equal(status_of_child((size_t)8 << 20, true), LEAT_RESOURCE_EXHAUSTED);
    /* No room for the library is no reason to do without it: results would have other bits. */
    assert_int_equal(status_of_child((size_t)8 << 20, false), LEAT_RESOURCE_EXHAUSTED);
    assert_int_equal(status_of_child((size_t)1 << 30, true), LEAT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limited_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
