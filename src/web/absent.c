/* The web page of a build without libmicrohttpd: refused when it is opened. */
#include "base/error.h"
#include "web/server.h"

leati_web *leati_web_open(const leati_web_options *options, leat_error *err) {
    (void)options;
    (void)leati_fail(err, LEAT_UNIMPLEMENTED,
                     "this library was built without libmicrohttpd, so it serves no web page; "
                     "install libmicrohttpd-dev and build it again");
    return NULL;
}

/* Nobody has a server to ask. */
int leati_web_port(const leati_web *web) {
    (void)web;
    return 0;
}

const char *leati_web_url(const leati_web *web) {
    (void)web;
    return "";
}

void leati_web_close(leati_web *web) {
    (void)web;
}
