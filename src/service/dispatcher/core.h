/* What a dispatcher does, without threads, sockets and a clock of its own: requests come in with
 * the time, answers go out when what they say is durable. dispatcher/server.c runs it behind a
 * transport; tests run hundreds of workers against it on a virtual clock.
 *
 * Requests are collected by `ask` and handled together by `turn`, in one transaction of the
 * database (group commit), after which their answers are given. A heartbeat to which there is
 * nothing to say is kept, and answered when there is, or when its wait is over. One thread. */
#ifndef LEATI_SERVICE_DISPATCHER_CORE_H
#define LEATI_SERVICE_DISPATCHER_CORE_H

#include "base/text.h"
#include <leat/service.h>

typedef struct leati_core leati_core;

/* Where the answer of a request goes; exactly one of answer and fail is called, once. */
typedef struct leati_core_reply {
    void *context;
    void (*answer)(void *context, const char *bytes, size_t size);
    void (*fail)(void *context, const leat_error *why);
    bool (*abandoned)(const void *context); /* nobody waits any more */
} leati_core_reply;

/* Opens the state of `options` (work_dir where fault tolerant, else memory); the times in it are
 * milliseconds. `now_ns` is any monotonic clock. As leati_database_open. Owned. */
leati_core *leati_core_open(const leat_dispatcher_options *options, int64_t now_ns,
                            leat_error *err);
/* Fails the requests that are kept with UNAVAILABLE. */
void leati_core_close(leati_core *core);

/* Takes a request; `bytes` are copied. Without memory it fails at once. */
void leati_core_ask(leati_core *core, const char *method, const char *peer, const void *bytes,
                    size_t size, const leati_core_reply *reply);
/* Handles what came, what is due and who is overdue, commits, and answers. Returns when it wants to
 * be called again if nothing comes before. */
int64_t leati_core_turn(leati_core *core, int64_t now_ns);
/* Why nothing can be written any more (another dispatcher took over, a damaged database); LEAT_OK:
 * it can. */
leat_status leati_core_broken(const leati_core *core, leat_error *err);

/* Everything as JSON (web/state.md), and as metrics of Prometheus. Between turns. */
LEAT_WARN_UNUSED leat_status leati_core_state(leati_core *core, leati_text *json, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_core_metrics(leati_core *core, leati_text *text,
                                                leat_error *err);

#endif
