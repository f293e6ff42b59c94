/* Killing and going on: see killed.h.
 *
 * The child of a case tells its parent through a pipe that it reached a place and goes on at once,
 * so the signal finds it anywhere behind: between outcomes, while it saves, while it writes. The
 * progress file holds the outcomes so far and the state behind them and is replaced as a whole; so
 * whatever the place, the next process finds the two together. */
#include "killed.h"
#include "base/bytes.h"
#include "file/atomic.h"
#include "file/fs.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. */
static int place_pipe = -1;
static int stop_at; /* waits for its end at this place; 0: at none */

void killed_reached(void) {
    ssize_t n = 0;
    do
        n = write(place_pipe, "p", 1);
    while (n < 0 && errno == EINTR);
    while (stop_at == 1)
        pause();
    stop_at -= stop_at > 0;
}

/* Waits for that many bytes; false where the child ends before. */
static bool wait_for_places(int from, int places) {
    char byte = 0;
    for (int i = 0; places < 0 || i < places;) {
        ssize_t n = read(from, &byte, 1);
        if (n == 0)
            return false;
        i += n > 0;
    }
    return true;
}

int killed_run(killed_body body, void *context, int places, bool there) {
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        return -2;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        place_pipe = ends[1];
        stop_at = there ? places : 0;
        _exit(body(context));
    }
    close(ends[1]);
    if (child > 0 && wait_for_places(ends[0], places))
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    close(ends[0]);
    if (child < 0)
        return -2;
    return WIFEXITED(status)                                    ? WEXITSTATUS(status)
           : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? -1
                                                                : -2;
}

/* ---- one case ---- */

enum { DONE = 0, FAILED = 1, UNSAVABLE = 2, MOST_KILLS = 3 };

struct work {
    const json_t *json;
    char progress[600];
};

/* Reads the progress file: the outcomes so far (owned), and the state, a view of *buffer. */
static json_t *read_progress(const struct work *work, leat_buffer **buffer, const void **state,
                             size_t *size) {
    leat_error err = {0};
    const void *text = NULL;
    size_t length = 0;
    *size = 0;
    if (leati_file_read_all(work->progress, buffer, &err) != LEAT_OK)
        return json_array();
    leati_reader in = {.data = leat_buffer_data(*buffer), .size = leat_buffer_size(*buffer)};
    if (leati_get_bytes(&in, &text, &length, &err) != LEAT_OK ||
        leati_get_bytes(&in, state, size, &err) != LEAT_OK)
        return NULL;
    return leati_json_parse(text, length, &err);
}

static leat_status write_progress(const struct work *work, leat_iterator *iterator,
                                  const json_t *found, leat_error *err) {
    leati_writer out = {0};
    char *state = NULL, *text = leati_json_print(found, 0, false, err);
    size_t size = 0;
    leat_status status = leat_iterator_save(iterator, &state, &size, NULL, err);
    if (status == LEAT_OK) {
        leati_put_bytes(&out, text, strlen(text));
        leati_put_bytes(&out, state, size);
        status = leati_atomic_write_file(work->progress, out.data, out.size, err);
    }
    leat_text_free(state);
    leati_free(text);
    leati_writer_fini(&out);
    return status;
}

static int say(const char *what, const leat_error *err) {
    fprintf(stderr, "%s: %s: %s\n", what, leat_status_name(err->code), err->text);
    return FAILED;
}

static int run_case(void *context) {
    const struct work *work = context;
    const json_t *limit = json_array_get(json_object_get(work->json, "iterate"), 0);
    size_t most = json_is_integer(limit) ? (size_t)json_integer_value(limit) : 10000;
    golden_run run = {.modes = GOLDEN_PLAIN};
    golden_case c = {.run = &run, .file = "killed"};
    golden_pipeline pipeline;
    leat_error err = {0};
    leat_buffer *buffer = NULL;
    const void *state = NULL;
    size_t size = 0;
    json_t *found = read_progress(work, &buffer, &state, &size);
    if (found == NULL || golden_build(work->json, &pipeline, &err) != LEAT_OK)
        return say("building", &err);
    leat_iterator *iterator = leat_iterator_new(pipeline.dataset, NULL, &err);
    if (iterator == NULL)
        return say("opening", &err);
    if (size > 0 && leat_iterator_restore(iterator, state, size, &err) != LEAT_OK)
        return say("restoring", &err);
    killed_reached();
    while (json_array_size(found) < most) {
        size_t before = json_array_size(found);
        if (!golden_iterate(&c, iterator, 1, most, found))
            return FAILED;
        if (json_array_size(found) == before)
            break;
        killed_reached();
        leat_status status = write_progress(work, iterator, found, &err);
        if (status != LEAT_OK)
            return status == LEAT_FAILED_PRECONDITION ? UNSAVABLE : say("saving", &err);
        killed_reached();
    }
    leat_iterator_free(iterator);
    golden_pipeline_fini(&pipeline);
    return DONE;
}

static uint64_t draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

bool killed_case(golden_case *c, const json_t *json, uint64_t seed) {
    const json_t *expected = json_object_get(json_object_get(json, "expect"), "elements");
    char folder[512];
    struct work work = {0};
    if (!golden_folder_make(folder, sizeof folder)) {
        golden_fail(c, "cannot make a folder");
        return true;
    }
    json_t *whole = golden_with_folder(json, folder);
    work.json = whole;
    snprintf(work.progress, sizeof work.progress, "%s/progress", folder);
    int code = -1, outcomes = (int)json_array_size(expected);
    for (int kills = 0; code == -1; kills++) {
        int places = 1 + (int)(draw(&seed) % (uint64_t)(2 * outcomes + 1));
        code = killed_run(run_case, &work, kills < MOST_KILLS ? places : -1, false);
    }
    if (code != DONE && code != UNSAVABLE)
        golden_fail(c, "a process ended with %d", code);
    if (code == DONE) {
        leat_buffer *buffer = NULL;
        const void *state = NULL;
        size_t size = 0;
        json_t *found = read_progress(&work, &buffer, &state, &size);
        golden_compare(c, "outcome", expected, found, golden_bool(json, "unordered", false));
        json_decref(found);
        leat_buffer_unref(buffer);
    }
    json_decref(whole);
    golden_folder_remove(folder);
    return code != UNSAVABLE;
}
