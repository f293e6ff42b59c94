/* Serves the web page with a state that somebody else says, for tests of the page in a browser:
 *
 *     web_serve PORT INTERVAL_MS [TOKEN]
 *
 * Each line of standard input is the state from then on. On standard output: the address of the
 * page, and a line `act ACTION ARGUMENT` for each action; one that begins with `no` is refused.
 * Ends with standard input. */
#include "base/error.h"
#include "web/server.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *state; /* under the lock */

static void write_state(void *context, leati_text *json) {
    (void)context;
    pthread_mutex_lock(&lock);
    leati_text_addf(json, "%s", state);
    pthread_mutex_unlock(&lock);
}

static leat_status act(void *context, const char *action, const char *argument, leat_error *err) {
    (void)context;
    if (strncmp(argument, "no", 2) == 0)
        return leati_fail(err, LEAT_FAILED_PRECONDITION, "<b>%s</b> is not to be had", argument);
    printf("act %s %s\n", action, argument);
    return LEAT_OK;
}

/* The next line replaces the state; false at the end. */
static bool read_state(void) {
    char *line = NULL;
    size_t room = 0;
    if (getline(&line, &room, stdin) <= 0) {
        free(line);
        return false;
    }
    pthread_mutex_lock(&lock);
    free(state);
    state = line;
    pthread_mutex_unlock(&lock);
    return true;
}

int main(int count, char **arguments) {
    leat_error err = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count < 3 || !read_state()) {
        fprintf(stderr,
                "usage: web_serve PORT INTERVAL_MS [TOKEN], and states on standard input\n");
        return 2;
    }
    const leati_web_options options = {.port = atoi(arguments[1]),
                                       .interval_ms = atoi(arguments[2]),
                                       .token = count > 3 ? arguments[3] : NULL,
                                       .source = {.state = write_state, .act = act}};
    leati_web *web = leati_web_open(&options, &err);
    if (web == NULL) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%s\n", leati_web_url(web));
    while (read_state())
        continue;
    leati_web_close(web);
    free(state);
    return 0;
}
