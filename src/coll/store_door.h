/* Where connections to the store's server come in: the listening sockets, and how fast they are
 * taken. The server's thread alone calls. */
#ifndef LEATI_COLL_STORE_DOOR_H
#define LEATI_COLL_STORE_DOOR_H

#include "coll/wire.h"

enum {
    LEATI_STORE_DOOR_NOBODY = -1, /* nobody waits, or the door is shut for a moment */
    LEATI_STORE_DOOR_FULL = -2,   /* somebody waits, and no file descriptor is free for him */
    LEATI_STORE_DOOR_BLAMED = 64  /* addresses that are remembered at once */
};

/* An address from which strangers came who cost something. */
typedef struct leati_store_blame {
    uint64_t origin;  /* 0: unused */
    int64_t until_ns; /* nobody from there is served before */
} leati_store_blame;

/* {0} is closed; every socket in it is owned. */
typedef struct leati_store_door {
    int sockets[LEATI_WIRE_LISTENING];
    int count;
    int spare;   /* given up to refuse somebody where no other descriptor is free; -1: none */
    int most;    /* taken in a tenth of a second */
    int reserve; /* descriptors that others of the process need: with fewer free ones it is full */
    int taken;   /* of these, since `since_ns` */
    int sent_away; /* the same, of who is blamed */
    int64_t since_ns;
    int64_t shut_ns; /* until then nobody is taken */
    int64_t paid_ns; /* until then strangers wait for what they have cost */
    leati_store_blame blamed[LEATI_STORE_DOOR_BLAMED];
} leati_store_door;

/* Listens as leati_wire_listen does. */
LEAT_WARN_UNUSED leat_status leati_store_door_open(leati_store_door *door, const char *address,
                                                   const char *where, int64_t deadline_ns, int most,
                                                   leat_error *err);
/* Puts the spare descriptor by; for a door whose sockets the caller has opened. `what` it is that
 * has none is for the failure. */
LEAT_WARN_UNUSED leat_status leati_store_door_guard(leati_store_door *door, const char *what,
                                                    leat_error *err);
/* Is it worth polling the sockets? */
bool leati_store_door_takes(const leati_store_door *door, int64_t now);
/* A connection (owned by the caller), or why there is none. */
int leati_store_door_accept(leati_store_door *door, int64_t now);
/* After LEATI_STORE_DOOR_FULL: closes the connection of whoever has waited longest, and shuts the
 * door for a tenth of a second. `tell` (NULL: nobody) has the connection before, borrowed. */
void leati_store_door_refuse(leati_store_door *door, int64_t now,
                             void (*tell)(void *context, int connection), void *context);
/* The other end of a connection, a stranger's, took this much of the processor's time: until 250
 * times as much has passed, connections from its address are closed at once, so that they take one
 * per cent of a core at most. */
void leati_store_door_blame(leati_store_door *door, int connection, int64_t cost_ns, int64_t now);
/* Strangers took this much of the processor's time, beside what is blamed: until 250 times
 * as much has passed, nobody is taken, and the caller hears no stranger, for ten seconds at most.
 * Twenty milliseconds, and 50 microseconds for each that may come in a moment, are lent to them, so
 * that the ranks of a job that come at once do not wait. A negative cost is given back: of one that
 * is a member now. */
void leati_store_door_charge(leati_store_door *door, int64_t cost_ns, int64_t now);
/* Nanoseconds that strangers wait from now on for what they have cost; 0: they are heard. */
int64_t leati_store_door_owes(const leati_store_door *door, int64_t now);
void leati_store_door_close(leati_store_door *door);

#endif
