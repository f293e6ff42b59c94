/* A data service: workers make the elements, this program reads them. Alone it has a dispatcher and
 * two workers of its own; under `leat launch --service` those are processes, and the programs of
 * the job share one pass over the data:
 *
 *     leat launch --service 2 -n 2 -- service
 */
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, WORKERS = 2 };

/* Dispatcher and workers in this process. */
typedef struct servers {
    leat_dispatcher *dispatcher;
    leat_worker *workers[WORKERS];
} servers;

/* The address for clients, borrowed; NULL on failure. */
static const char *start(servers *s, leat_error *err) {
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS, .protocol = "local"};
    s->dispatcher = leat_dispatcher_new(&options, err);
    if (s->dispatcher == NULL || leat_dispatcher_start(s->dispatcher, err) != LEAT_OK)
        return NULL;
    const char *service = leat_dispatcher_target(s->dispatcher);
    for (int i = 0; i < WORKERS; i++) {
        leat_worker_options worker = {LEAT_WORKER_DEFAULTS, .dispatcher_address = service,
                                      .protocol = "local"};
        s->workers[i] = leat_worker_new(&worker, err);
        if (s->workers[i] == NULL || leat_worker_start(s->workers[i], err) != LEAT_OK)
            return NULL;
    }
    return service;
}

static void stop(servers *s) {
    for (int i = 0; i < WORKERS; i++)
        leat_worker_free(s->workers[i]);
    leat_dispatcher_free(s->dispatcher);
}

/* Everything before distribute runs on the workers; splits are dealt out, so each element comes
 * once, to whichever reader of the job takes it first. */
static leat_status read_all(const char *service, leat_error *err) {
    leat_service_options options = {LEAT_SERVICE_DEFAULTS, .processing_mode = LEAT_SERVICE_DYNAMIC,
                                    .job_name = "example"};
    int64_t count = 0, sum = 0;
    leat_dataset *dataset = leat_dataset_range(0, COUNT, 1, NULL, err);
    dataset = leat_service_distribute(dataset, service, &options, err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, err);
    leat_element element = {0};
    while (iterator != NULL && leat_iterator_next(iterator, &element, err) == LEAT_OK) {
        sum += *(const int64_t *)element.tensors[0].data;
        count++;
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    if (err->code != LEAT_OUT_OF_RANGE)
        return err->code;
    printf("read %lld elements, their sum is %lld\n", (long long)count, (long long)sum);
    return LEAT_OK;
}

int main(void) {
    leat_error err = {0};
    servers own = {0};
    char address[300];
    const char *given = getenv("LEAT_SERVICE_ADDRESS"), *service = NULL;
    if (given == NULL)
        service = start(&own, &err);
    else if (snprintf(address, sizeof address, "grpc://%s", given) < (int)sizeof address)
        service = address;
    leat_status status = service == NULL ? LEAT_INVALID_ARGUMENT : read_all(service, &err);
    stop(&own);
    if (status == LEAT_OK)
        return 0;
    fprintf(stderr, "%s: %s\n", leat_status_name(err.code), err.text);
    return 1;
}
