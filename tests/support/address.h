/* Addresses for tests that open sockets; after cmocka.h. */
#ifndef LEATI_TESTS_ADDRESS_H
#define LEATI_TESTS_ADDRESS_H

#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* An address of this host that was free a moment ago. */
static inline void free_address(char *out, size_t size) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int probe = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(probe, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(probe, (struct sockaddr *)&at, &length), 0);
    close(probe);
    snprintf(out, size, "127.0.0.1:%d", ntohs(at.sin_port));
}

#endif
