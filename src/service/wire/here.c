/* What of this process keeps it from reaching a dispatcher, see control.h. Cannot be waited for, so
 * it is a failure and no reason to ask again.
 *
 * gRPC starts threads when it is first used, and goes on without those that the system refuses: its
 * calls are then never answered. A socket of datagrams finds out whether there is a way to an
 * address without sending anything. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "run/thread.h"
#include "service/transport/ends.h"
#include "service/wire/control.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONGEST_HOST = 256 };

static void do_nothing(void *context) {
    (void)context;
}

static leat_status check_threads(leat_error *err) {
    leati_thread thread;
    LEATI_TRY(leati_thread_start(&thread, "leat-probe", do_nothing, NULL, err));
    pthread_join(thread.handle, NULL);
    return LEAT_OK;
}

/* Is there no way to the address? */
static bool is_cut_off(int family, const void *address, socklen_t size) {
    int probe = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool cut = probe >= 0 && connect(probe, address, size) != 0 &&
               (errno == ENETUNREACH || errno == EADDRNOTAVAIL || errno == ENETDOWN);
    if (probe >= 0)
        close(probe);
    return cut;
}

/* Of a host that is this one: another one's network may come. */
static leat_status check_loopback(const char *host, int port, leat_error *err) {
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    bool is_four = inet_pton(AF_INET, numeric, &four.sin_addr) == 1 &&
                   (ntohl(four.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
    bool is_six =
        inet_pton(AF_INET6, numeric, &six.sin6_addr) == 1 && IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
    if (!(is_four && is_cut_off(AF_INET, &four, sizeof four)) &&
        !(is_six && is_cut_off(AF_INET6, &six, sizeof six)))
        return LEAT_OK;
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "this process's network has no loopback, where %s is; bring it up (ip link "
                      "set lo up), or give an address that this network reaches",
                      host);
}

leat_status leati_control_check_here(const leati_control *control, leat_error *err) {
    char *protocol = NULL, *address = NULL, host[LONGEST_HOST];
    int port = 0;
    LEATI_TRY(check_threads(err));
    LEATI_TRY(leati_control_address(control->service, &protocol, &address, err));
    leat_status status = LEAT_OK;
    if (strcmp(protocol, "local") != 0 &&
        leati_transport_parse_address(address, host, sizeof host, &port, &(leat_error){0}) ==
            LEAT_OK)
        status = check_loopback(host, port, err);
    leati_free(protocol);
    leati_free(address);
    return status;
}
