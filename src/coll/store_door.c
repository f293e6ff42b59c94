/* The store's door: see store_door.h.
 *
 * Failures: where no descriptor is free, the listening sockets would stay readable and a thread
 * that polls them would spin; so one descriptor is kept to take and close a connection with, and
 * then the door is shut for a moment. The same moment bounds what a flood of connections costs: as
 * many as the job has ranks, and some, are taken in it, and the kernel keeps the others waiting. */
#include "coll/store_door.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOMENT_NS INT64_C(100000000)

static int open_spare(void) {
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

leat_status leati_store_door_open(leati_store_door *door, const char *address, const char *where,
                                  int64_t deadline_ns, int most, leat_error *err) {
    *door = (leati_store_door){.most = most, .spare = -1};
    door->count = leati_wire_listen(address, where, deadline_ns, door->sockets, err);
    if (door->count == 0)
        return err->code;
    door->spare = open_spare();
    /* Without it nobody could be told that there is none for him. */
    if (door->spare < 0 && leati_wire_lacks_descriptors("rank 0 listening", err)) {
        leati_store_door_close(door);
        return LEAT_RESOURCE_EXHAUSTED;
    }
    return LEAT_OK;
}

bool leati_store_door_takes(const leati_store_door *door, int64_t now) {
    return now >= door->shut_ns;
}

/* Without a free descriptor the system does not look whether anybody is there. */
static bool somebody_waits(int listening) {
    struct pollfd polled = {.fd = listening, .events = POLLIN};
    return poll(&polled, 1, 0) > 0;
}

int leati_store_door_accept(leati_store_door *door, int64_t now) {
    if (now - door->since_ns >= MOMENT_NS) {
        door->since_ns = now;
        door->taken = 0;
    }
    if (door->taken >= door->most)
        door->shut_ns = door->since_ns + MOMENT_NS;
    for (int i = 0; i < door->count && leati_store_door_takes(door, now); i++) {
        int connection = accept4(door->sockets[i], NULL, NULL, SOCK_CLOEXEC);
        if (connection >= 0) {
            door->taken++;
            return connection;
        }
        bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        if (full && somebody_waits(door->sockets[i]))
            return LEATI_STORE_DOOR_FULL;
    }
    return LEATI_STORE_DOOR_NOBODY;
}

void leati_store_door_refuse(leati_store_door *door, int64_t now,
                             void (*tell)(void *context, int connection), void *context) {
    door->shut_ns = now + MOMENT_NS;
    if (door->spare >= 0) {
        close(door->spare);
        for (int i = 0, taken = -1; i < door->count && taken < 0; i++) {
            taken = accept4(door->sockets[i], NULL, NULL, SOCK_CLOEXEC);
            if (taken >= 0) {
                if (tell != NULL)
                    tell(context, taken);
                close(taken);
            }
        }
    }
    /* Another thread may have taken the descriptor; then it is tried again next time. */
    door->spare = open_spare();
}

void leati_store_door_close(leati_store_door *door) {
    for (int i = 0; i < door->count; i++)
        close(door->sockets[i]);
    if (door->count > 0 && door->spare >= 0)
        close(door->spare);
    door->count = 0;
}
