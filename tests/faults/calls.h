/* The system's calls on files, connections and shared memory, for tests: one of them fails, is
 * interrupted, moves fewer bytes than asked, or, of those on files, finds its process killed.
 *
 * calls.c defines the functions themselves (open, write, rename, ...), which pass on to the kernel;
 * a program that holds it calls them, the library is as it always is and pays nothing. As a library
 * of its own, faults_preload.so, it comes in front of the C library's in programs that are there
 * already: bin/leat, Python. There it counts only what concerns files below LEAT_FAULTS_FOLDER, and
 * kills in front of call LEAT_FAULTS_KILL_AT, by LEAT_FAULTS_SIGNAL if that is set; from call
 * LEAT_FAULTS_FULL_AT on the disk is full; from call LEAT_FAULTS_JUMP_AT
 * on the time of day is wrong by LEAT_FAULTS_JUMP seconds. The number of calls is added to the file
 * LEAT_FAULTS_COUNT when the program ends.
 *
 *     calls_arm(CALL_WRITE, 3, ENOSPC);      the third write from now on fails
 *     ... what is tested ...
 *     bool came = calls_disarm() >= 3;       that many writes there were
 *
 * Counts are exact with any number of threads; which call is the n-th is then up to the scheduler.
 */
#ifndef CALLS_H
#define CALLS_H

typedef enum call_kind {
    CALL_OPEN,
    CALL_CLOSE,
    CALL_FSTAT,
    CALL_LSTAT,
    CALL_STAT,
    CALL_READ,
    CALL_PREAD,
    CALL_WRITE,
    CALL_FSYNC,
    CALL_RENAME,
    CALL_UNLINK,
    CALL_REMOVE,
    CALL_MKDIR,
    CALL_OPENDIR,
    CALL_READDIR,
    CALL_FLOCK,
    CALL_FCNTL,
    CALL_REALPATH,
    CALL_SOCKET,
    CALL_BIND,
    CALL_LISTEN,
    CALL_CONNECT,
    CALL_ACCEPT,
    CALL_SENDMSG,
    CALL_RECV,
    CALL_POLL,
    CALL_PIPE,
    CALL_SOCKETPAIR,
    CALL_MEMFD,
    CALL_SHM_OPEN,
    CALL_FALLOCATE,
    CALL_GETADDRINFO, /* fails with EAI_AGAIN in place of the number */
    CALL_SEND,
    CALL_EVENTFD,
    CALL_MMAP, /* of a file that is shared */
    CALL_SETSOCKOPT,
    CALL_GETSOCKOPT,
    CALL_GETSOCKNAME,
    CALL_GETPEERNAME,
    NUM_CALLS
} call_kind;

/* In place of a number of errno: the call finds the end, or moves one byte. */
enum { CALLS_END = -1, CALLS_SHORT = -2 };
/* In place of a count: every call of the kind. */
enum { CALLS_ALWAYS = -1 };

const char *call_name(call_kind kind);

/* The at-th call of a kind from now on fails with a number of errno, or as above. */
void calls_arm(call_kind kind, int at, int number);

/* All calls pass again; how many of the armed kind there were. */
int calls_disarm(void);

/* A host's name that leads to an address from now on, both borrowed; NULL: none does. */
void calls_name_host(const char *name, const char *address);

/* Descriptors opened and not closed since the last arming. */
int calls_open(void);

/* Kills the process in front of its n-th call that may change files, from now on; 0: never. */
void calls_kill_at(long n);

/* Such calls since calls_kill_at. */
long calls_count(void);

#endif
