/* Requests over HTTP (file/net.h) in a build without libcurl: there are none. */
#include "base/alloc.h"
#include "base/error.h"
#include "file/net.h"

leat_status leati_net_start(const leati_net_ask *ask, leati_net_request **out, leat_error *err) {
    (void)out;
    leati_free(ask->body);
    return leati_fail_in_file(err, LEAT_UNIMPLEMENTED, ask->path, -1, false,
                              "this build of leat has no libcurl; install libcurl4-openssl-dev, "
                              "and build again");
}

leat_status leati_net_perform(const leati_net_ask *ask, leati_net_request **out, leat_error *err) {
    return leati_net_start(ask, out, err);
}

leati_net_request *leati_net_ref(leati_net_request *request) {
    return request;
}

void leati_net_unref(leati_net_request *request) {
    (void)request;
}

void leati_net_leave(leati_net_request *request) {
    (void)request;
}

leat_status leati_net_wait(leati_net_request *request, size_t need, leat_error *err) {
    (void)request;
    (void)need;
    return leati_fail(err, LEAT_UNIMPLEMENTED, "this build of leat has no libcurl");
}

const uint8_t *leati_net_data(const leati_net_request *request) {
    (void)request;
    return NULL;
}

size_t leati_net_size(const leati_net_request *request) {
    (void)request;
    return 0;
}

const leati_net_answer *leati_net_answer_of(const leati_net_request *request) {
    static const leati_net_answer none = {.whole = -1, .changed = -1};
    (void)request;
    return &none;
}

const char *leati_net_location(const leati_net_request *request) {
    (void)request;
    return NULL;
}

bool leati_net_is_lost(const leati_net_request *request) {
    (void)request;
    return true;
}
