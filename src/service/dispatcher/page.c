/* The dispatcher's page; see page.h.
 *
 * Nobody but the dispatcher's thread reads the core: once a second it writes the figures as texts,
 * which callbacks of the web server copy. A dispatcher that cannot write its state any more is not
 * ready. Failures: those of the web server at the start; a text that cannot be written stays the
 * one before. Locks: one of its own, a leaf. */
#include "service/dispatcher/page.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "web/server.h"
#include <pthread.h>
#include <string.h>

enum { EVERY_NS = 500 * 1000 * 1000 };

struct leati_page {
    leati_web *web;
    void (*drain)(void *context, const char *worker);
    void *context;
    int64_t next_ns; /* the dispatcher's thread */
    pthread_mutex_t lock;
    /* Under the lock. */
    leati_text state, metrics, broken;
};

/* ---- the web server's side ---- */

static void add(leati_page *page, const leati_text *from, leati_text *to) {
    pthread_mutex_lock(&page->lock);
    if (from->size > 0)
        leati_text_add(to, from->data, from->size);
    pthread_mutex_unlock(&page->lock);
}

static void give_state(void *context, leati_text *json) {
    leati_page *page = context;
    add(page, &page->state, json);
}

static void give_metrics(void *context, leati_text *prometheus) {
    leati_page *page = context;
    add(page, &page->metrics, prometheus);
}

static bool is_ready(void *context, leati_text *why_not) {
    leati_page *page = context;
    add(page, &page->broken, why_not);
    return why_not->size == 0;
}

static leat_status act(void *context, const char *action, const char *argument, leat_error *err) {
    leati_page *page = context;
    if (strcmp(action, "drain") != 0 || argument[0] == '\0')
        return leati_refuse(err, VALUE, "a dispatcher has the action drain, of a worker's address");
    page->drain(page->context, argument);
    return LEAT_OK;
}

/* ---- the dispatcher's side ---- */

leati_page *leati_page_open(const leati_page_options *options, leat_error *err) {
    leati_page *page = leati_alloc_zero(1, sizeof *page);
    if (page == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    page->drain = options->drain;
    page->context = options->context;
    pthread_mutex_init(&page->lock, NULL);
    /* Until the first figures are there. */
    leati_text_addf(&page->state, "{\"kind\":\"service\"}");
    leati_web_options web = {
        .host = options->host,
        .port = options->port,
        .token = options->security.token,
        .certificate = options->security.tls_cert,
        .key = options->security.tls_key,
        .source = {page, give_state, give_metrics, is_ready, act},
    };
    page->web = leati_web_open(&web, err);
    if (page->web == NULL) {
        leati_page_close(page);
        return NULL;
    }
    return page;
}

void leati_page_close(leati_page *page) {
    if (page == NULL)
        return;
    leati_web_close(page->web);
    leati_text_fini(&page->state);
    leati_text_fini(&page->metrics);
    leati_text_fini(&page->broken);
    pthread_mutex_destroy(&page->lock);
    leati_free(page);
}

int leati_page_port(const leati_page *page) {
    return leati_web_port(page->web);
}

/* `text` (given) becomes what is shown. */
static void show(leati_page *page, leati_text *shown, leati_text *text) {
    pthread_mutex_lock(&page->lock);
    leati_text old = *shown;
    *shown = *text;
    *text = old;
    pthread_mutex_unlock(&page->lock);
    leati_text_fini(text);
}

int64_t leati_page_write(leati_page *page, leati_core *core, int64_t now_ns) {
    if (now_ns < page->next_ns)
        return page->next_ns;
    leati_text state = {0}, metrics = {0}, broken = {0};
    leat_error err = {0};
    page->next_ns = now_ns + EVERY_NS;
    if (leati_core_state(core, &state, &err) == LEAT_OK)
        show(page, &page->state, &state);
    if (leati_core_metrics(core, &metrics, &err) == LEAT_OK)
        show(page, &page->metrics, &metrics);
    if (leati_core_broken(core, &err) != LEAT_OK)
        leati_text_addf(&broken, "%s", err.text);
    show(page, &page->broken, &broken);
    leati_text_fini(&state);
    leati_text_fini(&metrics);
    return page->next_ns;
}
