/* The store's door: see store_door.h.
 *
 * Failures: where no descriptor is free, the listening sockets would stay readable and a thread
 * that polls them would spin; so one descriptor is kept to take and close a connection with, and
 * then the door is shut for a moment. The same moment bounds what a flood of connections costs: as
 * many as the job has ranks, and some, are taken in it, and the kernel keeps the others waiting.
 * Where a stranger costs more than that, as a handshake does, its address pays. What strangers cost
 * else, many bytes one by one, too, is paid by all of them: they wait, in the kernel. */
#include "coll/store_door.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/minmax.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOMENT_NS INT64_C(100000000)
#define LONGEST_BLAME_NS INT64_C(10000000000)
/* What may be owed before anybody waits, and for how long anybody does at most. */
#define LENT_NS INT64_C(20000000)
#define LENT_EACH_NS INT64_C(50000)
#define LONGEST_WAIT_NS INT64_C(10000000000)

/* The cost as it is known is that of handshakes alone: there is as much around them. Sending
 * somebody away takes time, too: so many in a moment. */
enum { TIMES_THE_COST = 250, MOST_SENT_AWAY = 16 };

// ---- who came from where ----

/* Of an address, or of the network that one customer has (/64); 0 for what has none. */
static uint64_t origin_of(const struct sockaddr_storage *at) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)at;
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)at;
    const void *bytes = NULL;
    size_t size = 4;
    if (at->ss_family == AF_INET) {
        bytes = &four->sin_addr;
    } else if (at->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
        bytes = (const uint8_t *)&six->sin6_addr + 12;
    } else if (at->ss_family == AF_INET6) {
        bytes = &six->sin6_addr;
        size = 8;
    }
    return bytes == NULL ? 0 : leati_hash(bytes, size, size) | 1;
}

static leati_store_blame *find_blame(leati_store_door *door, uint64_t origin) {
    for (size_t i = 0; i < LEATI_STORE_DOOR_BLAMED; i++)
        if (door->blamed[i].origin == origin)
            return &door->blamed[i];
    return NULL;
}

void leati_store_door_blame(leati_store_door *door, int connection, int64_t cost_ns, int64_t now) {
    struct sockaddr_storage from = {0};
    socklen_t size = sizeof from;
    if (getpeername(connection, (struct sockaddr *)&from, &size) != 0)
        return;
    uint64_t origin = origin_of(&from);
    leati_store_blame *at = origin == 0 ? NULL : find_blame(door, origin);
    if (origin == 0 || cost_ns <= 0)
        return;
    /* Without a free place the one that has paid longest ago, or pays soonest, makes room. */
    for (size_t i = 0, found = at != NULL; i < LEATI_STORE_DOOR_BLAMED && !found; i++)
        if (at == NULL || door->blamed[i].until_ns < at->until_ns)
            at = &door->blamed[i];
    int64_t begin = at->origin == origin ? LEATI_MAX(at->until_ns, now) : now;
    at->origin = origin;
    at->until_ns = LEATI_MIN(begin + TIMES_THE_COST * cost_ns, now + LONGEST_BLAME_NS);
}

void leati_store_door_charge(leati_store_door *door, int64_t cost_ns, int64_t now) {
    int64_t lent_ns = LENT_NS + LENT_EACH_NS * door->most;
    int64_t begin = LEATI_MAX(door->paid_ns, now - TIMES_THE_COST * lent_ns);
    door->paid_ns = LEATI_MIN(begin + TIMES_THE_COST * cost_ns, now + LONGEST_WAIT_NS);
}

int64_t leati_store_door_owes(const leati_store_door *door, int64_t now) {
    return LEATI_MAX(door->paid_ns - now, 0);
}

// ---- the door ----

static int open_spare(void) {
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

leat_status leati_store_door_guard(leati_store_door *door, const char *what, leat_error *err) {
    door->spare = open_spare();
    /* Without it nobody could be told that there is none for him. */
    if (door->spare < 0 && leati_wire_lacks_descriptors(what, err)) {
        leati_store_door_close(door);
        return LEAT_RESOURCE_EXHAUSTED;
    }
    return LEAT_OK;
}

leat_status leati_store_door_open(leati_store_door *door, const char *address, const char *where,
                                  int64_t deadline_ns, int most, leat_error *err) {
    *door = (leati_store_door){.most = most, .spare = -1};
    door->count = leati_wire_listen(address, where, deadline_ns, door->sockets, err);
    return door->count == 0 ? err->code : leati_store_door_guard(door, "rank 0 listening", err);
}

bool leati_store_door_takes(const leati_store_door *door, int64_t now) {
    return now >= door->shut_ns && leati_store_door_owes(door, now) == 0;
}

/* Without a free descriptor the system does not look whether anybody is there. */
static bool somebody_waits(int listening) {
    struct pollfd polled = {.fd = listening, .events = POLLIN};
    return poll(&polled, 1, 0) > 0;
}

int leati_store_door_accept(leati_store_door *door, int64_t now) {
    if (now - door->since_ns >= MOMENT_NS) {
        door->since_ns = now;
        door->taken = door->sent_away = 0;
    }
    if (door->taken >= door->most)
        door->shut_ns = door->since_ns + MOMENT_NS;
    for (int i = 0; i < door->count && leati_store_door_takes(door, now);) {
        struct sockaddr_storage from = {0};
        socklen_t size = sizeof from;
        if (door->reserve > 0 && somebody_waits(door->sockets[i]) &&
            !leati_wire_has_descriptors(door->reserve))
            return LEATI_STORE_DOOR_FULL;
        int connection = accept4(door->sockets[i], (struct sockaddr *)&from, &size, SOCK_CLOEXEC);
        if (connection < 0) {
            bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
            if (full && somebody_waits(door->sockets[i]))
                return LEATI_STORE_DOOR_FULL;
            i++;
            continue;
        }
        door->taken++;
        uint64_t origin = origin_of(&from);
        const leati_store_blame *blame = origin == 0 ? NULL : find_blame(door, origin);
        if (blame == NULL || blame->until_ns <= now)
            return connection;
        close(connection);
        if (door->taken >= door->most || ++door->sent_away >= MOST_SENT_AWAY)
            door->shut_ns = door->since_ns + MOMENT_NS;
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
