/* A client for tests/cli: reads range(COUNT) from a service under DYNAMIC, and says on one line of
 * JSON what came. After PAUSE elements it prints "paused" and waits for a line on standard input.
 *
 *     service_reader SERVICE COUNT VISITATION PAUSE */
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>

static void pause_once(void) {
    char line[16];
    puts("paused");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        exit(3);
}

int main(int argc, char **arguments) {
    if (argc != 5)
        return 2;
    int64_t count = atoll(arguments[2]), pause = atoll(arguments[4]), read = 0, doubled = 0,
            missing = 0;
    leat_error err = {0};
    leat_service_options options = {
        LEAT_SERVICE_DEFAULTS,
        .processing_mode = LEAT_SERVICE_DYNAMIC,
        .visitation = (leat_service_visitation)atoi(arguments[3]),
    };
    leat_dataset *dataset = leat_dataset_range(0, count, 1, NULL, &err);
    dataset = leat_service_distribute(dataset, arguments[1], &options, &err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    leat_element element = {0};
    unsigned char *seen = calloc((size_t)count, 1);
    if (seen == NULL)
        return 2;
    while (iterator != NULL && leat_iterator_next(iterator, &element, &err) == LEAT_OK) {
        int64_t value = *(const int64_t *)element.tensors[0].data;
        if (value < 0 || value >= count)
            return 4;
        doubled += seen[value]++ != 0;
        if (++read == pause)
            pause_once();
    }
    for (int64_t i = 0; i < count; i++)
        missing += seen[i] == 0;
    printf("{\"read\": %lld, \"doubled\": %lld, \"missing\": %lld, \"code\": \"%s\"}\n",
           (long long)read, (long long)doubled, (long long)missing, leat_status_name(err.code));
    if (err.code != LEAT_OUT_OF_RANGE)
        fprintf(stderr, "%s\n", err.text);
    free(seen);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return err.code != LEAT_OUT_OF_RANGE;
}
