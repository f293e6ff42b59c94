/* A client for tests/cli: reads range(COUNT) from a service under DYNAMIC, and says on one line of
 * JSON what came. After PAUSE elements it prints "paused" and waits for a line on standard input.
 *
 *     service_reader SERVICE COUNT VISITATION PAUSE [STATE]
 *
 * With STATE the job has a name, and at the beginning and every SAVE_EVERY elements the account of
 * what came is written to that file, with the iterator's state where the level keeps one; a client
 * that finds the file goes on from there.
 *
 * READER_TRANSFER in the environment is the one protocol that elements may come by.
 *
 *     service_reader SERVICE COUNT saved PAUSE FOLDER
 *
 * The service saves the numbers to FOLDER, shuffled, and they are loaded while it does.
 *
 *     service_reader SERVICE COUNT rounds|cached PAUSE I/N
 *
 * Consumer I of N that read together, or trainer I of those that share a cache, takes COUNT of an
 * endless dataset, and the line of JSON has the list of them in place of what came. */
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 5003, MOST_PATH = 4096 };

typedef struct account {
    int64_t count, read, doubled;
    unsigned char *seen;
    const char *path; /* NULL: none */
    int saves;        /* the iterator, too */
} account;

static void pause_once(void) {
    char line[16];
    puts("paused");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        exit(3);
}

static void give_up(const char *what, const leat_error *err) {
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(5);
}

static void note(account *a, int64_t value) {
    if (value < 0 || value >= a->count)
        exit(4);
    a->doubled += a->seen[value]++ != 0;
    a->read++;
}

static void save(const account *a, leat_iterator *iterator) {
    char temporary[MOST_PATH], *state = NULL;
    size_t size = 0;
    leat_error err = {0};
    int64_t numbers[2] = {a->read, a->doubled};
    if (a->saves && leat_iterator_save(iterator, &state, &size, NULL, &err) != LEAT_OK)
        give_up("saving", &err);
    snprintf(temporary, sizeof temporary, "%s.new", a->path);
    FILE *file = fopen(temporary, "wb");
    if (file == NULL || fwrite(numbers, sizeof numbers, 1, file) != 1 ||
        fwrite(a->seen, (size_t)a->count, 1, file) != 1 ||
        fwrite(&size, sizeof size, 1, file) != 1 ||
        (size > 0 && fwrite(state, size, 1, file) != 1) || fclose(file) != 0 ||
        rename(temporary, a->path) != 0)
        exit(6);
    leat_text_free(state);
}

static void go_on(account *a, leat_iterator *iterator) {
    FILE *file = a->path == NULL ? NULL : fopen(a->path, "rb");
    int64_t numbers[2];
    size_t size = 0;
    leat_error err = {0};
    if (file == NULL) {
        if (a->path != NULL)
            save(a, iterator);
        return;
    }
    if (fread(numbers, sizeof numbers, 1, file) != 1 ||
        fread(a->seen, (size_t)a->count, 1, file) != 1 || fread(&size, sizeof size, 1, file) != 1)
        exit(7);
    a->read = numbers[0];
    a->doubled = numbers[1];
    char *state = malloc(size + 1);
    if (state == NULL || (size > 0 && fread(state, size, 1, file) != 1))
        exit(7);
    fclose(file);
    if (size > 0 && leat_iterator_restore(iterator, state, size, &err) != LEAT_OK)
        give_up("restoring", &err);
    free(state);
}

static leat_status read_all(account *a, leat_iterator *iterator, int64_t pause, leat_error *err) {
    leat_element element = {0};
    leat_status status = LEAT_OK;
    while ((status = leat_iterator_next(iterator, &element, err)) == LEAT_OK) {
        note(a, *(const int64_t *)element.tensors[0].data);
        if (a->path != NULL && a->read % SAVE_EVERY == 0)
            save(a, iterator);
        if (a->read == pause)
            pause_once();
    }
    leat_element_fini(&element);
    return status;
}

/* What the service saves to `folder`, which it begins now. */
static leat_dataset *saved(leat_dataset *numbers, const char *service, const char *folder,
                           leat_error *err) {
    leat_dataset *shuffled = leat_dataset_shuffle(numbers, 1000, NULL, err);
    leat_status status = shuffled == NULL
                             ? err->code
                             : leat_service_save(service, shuffled, folder, "AUTO", NULL, err);
    leat_dataset_unref(shuffled);
    return status == LEAT_OK ? leat_dataset_load(folder, NULL, err) : NULL;
}

/* Says what one of several readers was given. */
static int read_shared(const char *service, int64_t count, bool rounds, int64_t pause,
                       const char *place) {
    leat_error err = {0};
    leat_element element = {0};
    const char *slash = strchr(place, '/');
    int64_t index = atoll(place), of = slash == NULL ? 1 : atoll(slash + 1), read = 0;
    leat_service_options options = {
        LEAT_SERVICE_DEFAULTS,
        .job_name = "shared",
        .data_transfer_protocol = getenv("READER_TRANSFER"),
    };
    if (rounds) {
        options.consumer_index = index;
        options.num_consumers = of;
    } else {
        options.trainer_id = place;
    }
    leat_dataset *numbers = leat_dataset_range(0, INT64_MAX, 1, NULL, &err);
    leat_dataset *dataset =
        leat_service_distribute(leat_dataset_repeat(numbers, -1, &err), service, &options, &err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    int64_t *values = calloc((size_t)count, sizeof *values);
    while (values != NULL && iterator != NULL && read < count &&
           leat_iterator_next(iterator, &element, &err) == LEAT_OK) {
        values[read] = *(const int64_t *)element.tensors[0].data;
        if (++read == pause)
            pause_once();
    }
    printf("{\"code\": \"%s\", \"values\": [", leat_status_name(err.code));
    for (int64_t i = 0; i < read; i++)
        printf("%s%lld", i > 0 ? ", " : "", (long long)values[i]);
    puts("]}");
    free(values);
    if (err.code != LEAT_OK)
        fprintf(stderr, "%s\n", err.text);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return err.code != LEAT_OK;
}

int main(int argc, char **arguments) {
    if (argc < 5 || argc > 6)
        return 2;
    if (strcmp(arguments[3], "rounds") == 0 || strcmp(arguments[3], "cached") == 0)
        return argc == 6 ? read_shared(arguments[1], atoll(arguments[2]), arguments[3][0] == 'r',
                                       atoll(arguments[4]), arguments[5])
                         : 2;
    bool saves = strcmp(arguments[3], "saved") == 0 && argc == 6;
    account a = {.count = atoll(arguments[2]), .path = argc > 5 && !saves ? arguments[5] : NULL};
    leat_error err = {0};
    leat_service_options options = {
        LEAT_SERVICE_DEFAULTS,
        .processing_mode = LEAT_SERVICE_DYNAMIC,
        .visitation = (leat_service_visitation)atoi(arguments[3]),
        .job_name = a.path != NULL ? "reader" : NULL,
        .data_transfer_protocol = getenv("READER_TRANSFER"),
    };
    a.saves = options.visitation != LEAT_SERVICE_AT_MOST_ONCE;
    leat_dataset *dataset = leat_dataset_range(0, a.count, 1, NULL, &err);
    dataset = saves ? saved(dataset, arguments[1], arguments[5], &err)
                    : leat_service_distribute(dataset, arguments[1], &options, &err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    a.seen = calloc((size_t)a.count, 1);
    if (a.seen == NULL)
        return 2;
    if (iterator != NULL) {
        go_on(&a, iterator);
        (void)!read_all(&a, iterator, atoll(arguments[4]), &err);
    }
    int64_t missing = 0;
    for (int64_t i = 0; i < a.count; i++)
        missing += a.seen[i] == 0;
    printf("{\"read\": %lld, \"doubled\": %lld, \"missing\": %lld, \"code\": \"%s\"}\n",
           (long long)a.read, (long long)a.doubled, (long long)missing, leat_status_name(err.code));
    if (err.code != LEAT_OUT_OF_RANGE)
        fprintf(stderr, "%s\n", err.text);
    free(a.seen);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return err.code != LEAT_OUT_OF_RANGE;
}
