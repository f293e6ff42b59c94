/* The life of a server's process: see service.h.
 *
 * Happy path: the main thread starts the server and waits in `join`; a thread waits for signals.
 * The first signal lets another thread end the server, whereupon `join` returns; the thread of
 * signals goes on listening, so that a second signal, or the time that ending may take, ends the
 * process at once. A file of the process's number is held by a lock while the process lives; the
 * lock, not the number, says that it does. Locks: `lock` of the life, never held during a call of
 * the server. */
#include "cli/say.h"
#include "cli/service.h"
#include "file/lock.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What stopping may take beyond what a server was given for its end. */
enum { SLACK_S = 15, MS_PER_S = 1000 };

enum phase { STARTING, SERVING, ENDING, ENDED };

struct life {
    const leati_service_server *server;
    sigset_t signals;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum phase phase;   /* under the lock */
    int ended_by;       /* the first signal; 0: none. Under the lock */
    leat_status status; /* of `end`. Under the lock */
};

static bool is_interrupt(int number) {
    return number == SIGINT;
}

static void set_phase(struct life *life, enum phase phase) {
    pthread_mutex_lock(&life->lock);
    life->phase = phase;
    pthread_cond_broadcast(&life->changed);
    pthread_mutex_unlock(&life->lock);
}

// ---- signals ----

static void *end_server(void *context) {
    struct life *life = context;
    const leati_service_server *server = life->server;
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (is_interrupt(life->ended_by))
        server->stop(server->server);
    else
        status = server->end(server->server, server->end_ms, &err);
    if (status != LEAT_OK)
        leati_say_error("%s: %s", server->command, err.text);
    life->status = status;
    set_phase(life, ENDED);
    return NULL;
}

/* Waits for one of the signals; 0: `seconds` are over. */
static int wait_for_signal(const struct life *life, int64_t seconds) {
    int number = -1;
    /* Interrupted by a stop it waits anew, which is bounded by the number of stops. */
    do {
        number = sigtimedwait(&life->signals, NULL, &(struct timespec){.tv_sec = seconds});
    } while (number < 0 && errno == EINTR);
    return number < 0 ? 0 : number;
}

_Noreturn static void leave_at_once(int code) {
    (void)fflush(stdout);
    /* Not exit, whose handlers would wait for threads that serve. */
    _exit(code);
}

/* False where nothing is left to end. */
static bool begin_ending(struct life *life, int number) {
    pthread_t thread;
    pthread_mutex_lock(&life->lock);
    enum phase phase = life->phase;
    if (phase == SERVING) {
        life->phase = ENDING;
        life->ended_by = number;
    }
    pthread_mutex_unlock(&life->lock);
    if (phase == STARTING)
        /* Nobody knows it yet, and what it has on disk bears a kill. */
        leave_at_once(is_interrupt(number) ? LEATI_EXIT_INTERRUPTED : LEATI_EXIT_OK);
    if (phase != SERVING)
        return false;
    if (pthread_create(&thread, NULL, end_server, life) != 0)
        leave_at_once(LEATI_EXIT_FAILURE);
    (void)pthread_detach(thread);
    return true;
}

static void *listen_to_signals(void *context) {
    struct life *life = context;
    int number = 0;
    while (sigwait(&life->signals, &number) != 0 || !begin_ending(life, number)) {
        /* It ends by itself, which is what SIGTERM asks for. */
        if (is_interrupt(number))
            leave_at_once(LEATI_EXIT_INTERRUPTED);
    }
    number = wait_for_signal(life, life->server->end_ms / MS_PER_S + SLACK_S);
    leati_say_error(number != 0 ? "%s: ended at once"
                                : "%s: it has not stopped in time and is ended",
                    life->server->command);
    leave_at_once(number != 0 ? LEATI_EXIT_INTERRUPTED : LEATI_EXIT_FAILURE);
}

// ---- the file of the process's number ----

static bool take_pid_file(const leati_service_server *server, leati_lock **out) {
    char text[32];
    leat_error err = {0};
    *out = NULL;
    if (server->pid_file == NULL)
        return true;
    (void)snprintf(text, sizeof text, "%ld\n", (long)getpid());
    leat_status status = leati_lock_new(server->pid_file, out, &err);
    if (status == LEAT_ALREADY_EXISTS)
        leati_say_error("%s: a process that runs holds %s; end it by leat service stop, or name "
                        "another file",
                        server->command, server->pid_file);
    if (status == LEAT_OK)
        status = leati_lock_write(*out, text, &err);
    if (status != LEAT_OK && status != LEAT_ALREADY_EXISTS)
        leati_say_error("%s: --pid-file: %s", server->command, err.text);
    if (status != LEAT_OK) {
        leati_lock_remove(*out);
        *out = NULL;
    }
    return status == LEAT_OK;
}

// ---- serving ----

/* What follows from how it ended, once nobody else works on the server any more. */
static leati_exit wait_for_end(struct life *life, leat_status status, const leat_error *err) {
    pthread_mutex_lock(&life->lock);
    while (life->phase == ENDING)
        pthread_cond_wait(&life->changed, &life->lock);
    int number = life->ended_by;
    leat_status ended = life->status;
    life->phase = ENDED;
    pthread_mutex_unlock(&life->lock);
    if (is_interrupt(number))
        return LEATI_EXIT_INTERRUPTED;
    if (number != 0)
        status = ended; /* whatever join made of the stop */
    else if (status != LEAT_OK)
        leati_say_error("%s: %s", life->server->command, err->text);
    return status == LEAT_OK ? LEATI_EXIT_OK : LEATI_EXIT_FAILURE;
}

/* True where it has left without a signal, and is to be stopped here. */
static bool claim_ending(struct life *life) {
    pthread_mutex_lock(&life->lock);
    bool mine = life->phase == SERVING;
    life->phase = mine ? ENDED : life->phase;
    pthread_mutex_unlock(&life->lock);
    return mine;
}

static leati_exit live(struct life *life) {
    const leati_service_server *server = life->server;
    leat_error err = {0};
    leat_status status = server->start(server->server, &err);
    if (status != LEAT_OK) {
        leati_say_error("%s: %s", server->command, err.text);
        return LEATI_EXIT_FAILURE;
    }
    set_phase(life, SERVING);
    server->started(server->context);
    (void)fflush(stdout);
    status = server->join(server->server, &err);
    if (status == LEAT_OK && claim_ending(life))
        status = server->end(server->server, server->end_ms, &err);
    return wait_for_end(life, status, &err);
}

leati_exit leati_service_serve(const leati_service_server *server) {
    /* Static: the thread of signals may outlast this call by a moment. */
    static struct life life;
    static pthread_t listener;
    leati_lock *held = NULL;
    life = (struct life){.server = server};
    pthread_mutex_init(&life.lock, NULL);
    pthread_cond_init(&life.changed, NULL);
    /* A reader of standard output that has gone, and a limit on files, are errors of what writes.
     */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&life.signals);
    sigaddset(&life.signals, SIGINT);
    sigaddset(&life.signals, SIGTERM);
    sigaddset(&life.signals, SIGHUP);
    /* Before the server's threads, which inherit it: the signals are for one thread. */
    if (pthread_sigmask(SIG_BLOCK, &life.signals, NULL) != 0 ||
        pthread_create(&listener, NULL, listen_to_signals, &life) != 0) {
        leati_say_error("%s: no thread can be started: out of memory or processes",
                        server->command);
        return LEATI_EXIT_FAILURE;
    }
    (void)pthread_detach(listener);
    if (!take_pid_file(server, &held))
        return LEATI_EXIT_FAILURE;
    leati_exit code = live(&life);
    leati_lock_remove(held);
    return code;
}
