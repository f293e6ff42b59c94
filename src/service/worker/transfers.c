/* By which protocols a worker gives elements, besides the one that it is spoken to by.
 *
 * Happy path: a worker that other processes reach offers shared memory to those of its host, and
 * "tcp" where data_transfer_protocol asks for it. Failures: where the system has no memory to share
 * it is left out, which a log line says, unless it was asked for by name; then, and for "tcp", the
 * start fails. No locks: before the first heartbeat, and after the last. */
#include "base/error.h"
#include "base/log.h"
#include "service/worker/worker.h"
#include <stdio.h>
#include <string.h>

enum { LONGEST_HOST = 256 };

/* The host of "host:port" or "[host]:port". */
static void host_of(const char *address, char out[LONGEST_HOST]) {
    const char *colon = strrchr(address, ':');
    size_t size = colon != NULL ? (size_t)(colon - address) : strlen(address);
    if (size >= 2 && address[0] == '[' && address[size - 1] == ']') {
        address++;
        size -= 2;
    }
    (void)snprintf(out, LONGEST_HOST, "%.*s", (int)size, address);
}

static leat_status add(leat_worker *worker, const char *name, leat_error *err) {
    const leat_worker_options *o = &worker->options;
    char host[LONGEST_HOST], address[300];
    leati_transport_listen_options where = {
        .security = {o->security.token, o->security.tls_cert, o->security.tls_key,
                     o->security.tls_ca},
    };
    where.host = leati_control_host(o->host, &where.security);
    const leati_transport_handler handler = {.context = worker, .open = leati_worker_stream_open};
    leati_worker_transfer *transfer = &worker->transfers[worker->num_transfers];
    int port = 0;
    transfer->transport = leati_transport_find(name, err);
    if (transfer->transport == NULL)
        return err->code;
    transfer->server = transfer->transport->listen(&where, &handler, &port, err);
    if (transfer->server == NULL)
        return err->code;
    host_of(worker->address, host);
    transfer->transport->address(transfer->server, host, address, sizeof address);
    (void)snprintf(transfer->text, sizeof transfer->text, "%s %s", name, address);
    worker->num_transfers++;
    return LEAT_OK;
}

leat_status leati_worker_transfers_open(leat_worker *worker, leat_error *err) {
    const char *asked = worker->options.data_transfer_protocol;
    bool own = asked != NULL && strcmp(asked, worker->options.protocol) == 0;
    bool inside = strcmp(worker->options.protocol, "local") == 0;
    if (asked != NULL && !own) {
        const leati_transport *found = leati_transport_find(asked, err);
        if (found == NULL)
            return err->code;
        if (found->address == NULL)
            return leati_refuse(err, VALUE,
                                "a worker of protocol %s does not give elements by %s; expected "
                                "shm, tcp or %s",
                                worker->options.protocol, asked, worker->options.protocol);
    }
    leat_error none = {0};
    bool shm = asked != NULL && strcmp(asked, "shm") == 0;
    if (shm || (!own && !inside)) {
        leat_status status = add(worker, "shm", &none);
        if (status != LEAT_OK && shm)
            return leati_error_pass(err, &none);
        if (status != LEAT_OK)
            LEATI_TELL(SERVICE, INFO, "worker %s shares no memory: %s", worker->address, none.text);
    }
    return asked == NULL || own || shm ? LEAT_OK : add(worker, asked, err);
}

void leati_worker_transfers_close(leat_worker *worker, int64_t deadline_ns) {
    for (int i = 0; i < worker->num_transfers; i++)
        worker->transfers[i].transport->close(worker->transfers[i].server, deadline_ns);
    worker->num_transfers = 0;
}
