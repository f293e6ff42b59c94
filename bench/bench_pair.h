/* A connected pair of sockets, what two processes can at best move between them. */
#ifndef LEAT_BENCH_PAIR_H
#define LEAT_BENCH_PAIR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of TCP over the loopback, or of Unix sockets; false: there is none. */
static inline bool bench_pair(bool tcp, int links[2]) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    if (!tcp)
        return socketpair(AF_UNIX, SOCK_STREAM, 0, links) == 0;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&at, size) != 0 || listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr *)&at, &size) != 0)
        return false;
    links[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(links[0], (struct sockaddr *)&at, size) != 0)
        return false;
    links[1] = accept(listening, NULL, NULL);
    close(listening);
    return links[1] >= 0;
}

#endif
