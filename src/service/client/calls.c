/* What programs ask of a service: registering datasets, reading them, its state (service.h).
 *
 * Happy path: a call greets the dispatcher, asks, and is done; only the datasets that are made keep
 * anything, and that when they are read. Failures: a dispatcher that cannot be reached is waited
 * for, an hour at most, as TensorFlow does; Ctrl-C ends the wait. No locks. */
#include "base/clock.h"
#include "base/minmax.h"
#include "base/options.h"
#include "base/random.h"
#include "core/spec.h"
#include "data/kept/saved_files.h"
#include "data/kept/saved_rows.h"
#include "file/fs.h"
#include "service/client/data_service.h"
#include "service/client/registration.h"
#include "service/wire/control.h"
#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 60 * 60 * 1000 };

/* A dispatcher to be asked by the calling thread, whose Ctrl-C ends the waits. */
typedef struct talk {
    leati_control control;
    leat_cancel *cancel;
    leati_stop_scope before;
} talk;

static leat_status talk_begin(talk *t, const char *service, const leat_service_security *security,
                              leat_error *err) {
    t->cancel = leati_cancel_new(NULL, err);
    if (t->cancel == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_control_open(service, security, t->cancel, &t->control, err);
    if (status != LEAT_OK)
        leati_cancel_unref(t->cancel);
    else
        t->before = leati_cancel_enter(t->cancel);
    return status;
}

static void talk_end(talk *t) {
    leati_stop_leave(t->before);
    leati_control_close(&t->control);
    leati_cancel_unref(t->cancel);
}

static leat_status check_text(const char *text, const char *what, leat_error *err) {
    return text != NULL && text[0] != '\0'
               ? LEAT_OK
               : leati_refuse(err, VALUE, "%s is empty; it must be given", what);
}

/* ---- registering ---- */

/* The words of a compression, by the number that the dispatcher keeps. */
static const char *const compressions[] = {NULL, "AUTO", "SNAPPY"};

static leat_status number_of(const char *compression, int64_t *out, leat_error *err) {
    for (size_t i = 0; i < sizeof compressions / sizeof compressions[0]; i++)
        if (compression == compressions[i] || (compression != NULL && compressions[i] != NULL &&
                                               strcmp(compression, compressions[i]) == 0)) {
            *out = (int64_t)i;
            return LEAT_OK;
        }
    return leati_refuse(err, VALUE, "compression is \"%.40s\"; expected AUTO, SNAPPY or none",
                        compression);
}

static leat_status ask_register(leati_control *control, leat_dataset *dataset, int64_t compression,
                                const char *dataset_id, char **out, leat_error *err) {
    struct leati_message_dataset said = {0};
    struct leati_message_dataset_id answer = {0};
    int64_t deadline = leati_clock_deadline_ns(PATIENCE_MS);
    LEATI_TRY(leati_control_greet(control, deadline, err));
    leat_status status = leati_registration_write(control, dataset, &said, err);
    said.compression = compression;
    if (status == LEAT_OK)
        status = leati_messages_set_text(&said.dataset_id, dataset_id, err);
    if (status == LEAT_OK)
        status = leati_control_ask(control, "register_dataset", &leati_message_dataset, &said,
                                   &leati_message_dataset_id, &answer, deadline, err);
    if (status == LEAT_OK) {
        *out = answer.dataset_id;
        answer.dataset_id = NULL;
    } else {
        leati_registration_undo(&said);
    }
    leati_messages_fini(&leati_message_dataset, &said);
    leati_messages_fini(&leati_message_dataset_id, &answer);
    return status;
}

char *leat_service_register(const char *service, leat_dataset *dataset, const char *compression,
                            const char *dataset_id, const leat_service_security *security,
                            leat_error *err) {
    LEATI_ERROR_DOOR(err);
    talk t;
    int64_t number = 0;
    char *id = NULL;
    if (dataset == NULL) {
        (void)leati_refuse(err, VALUE, "leat_service_register: dataset is NULL");
        return NULL;
    }
    if (number_of(compression, &number, err) != LEAT_OK ||
        (dataset_id != NULL && check_text(dataset_id, "dataset_id", err) != LEAT_OK) ||
        talk_begin(&t, service, security, err) != LEAT_OK)
        return NULL;
    leat_status status = ask_register(&t.control, dataset, number, dataset_id, &id, err);
    talk_end(&t);
    return status == LEAT_OK ? id : NULL;
}

/* ---- reading ---- */

static leat_status read_options(leat_service_options *own, const leat_service_options *given,
                                leat_error *err) {
    *own = (leat_service_options){LEAT_SERVICE_DEFAULTS};
    return LEATI_OPTIONS(leat_service_options, own, given, err);
}

/* Does the spec that the user gave fit that of the registered dataset? */
static leat_status check_spec(const leat_spec *given, const leat_spec *registered,
                              const char *dataset_id, leat_error *err) {
    char texts[2][128];
    leat_spec *both = leati_spec_join(registered, given, &(leat_error){0});
    leat_spec_unref(both);
    if (both != NULL)
        return LEAT_OK;
    leat_spec_print(registered, texts[0], sizeof texts[0]);
    leat_spec_print(given, texts[1], sizeof texts[1]);
    return leati_refuse(err, STRUCTURE, "dataset \"%.100s\" has elements %s; element_spec says %s",
                        dataset_id, texts[0], texts[1]);
}

static leat_dataset *make(const struct leati_message_dataset *known, const char *service,
                          const char *dataset_id, const leat_spec *spec,
                          const leat_service_options *options, leat_error *err) {
    json_t *json = leati_json_parse(known->spec, strlen(known->spec), err);
    leat_spec *registered = json == NULL ? NULL : leati_json_to_spec(json, err);
    json_decref(json);
    if (registered == NULL)
        return NULL;
    leat_dataset *dataset = NULL;
    int64_t last = sizeof compressions / sizeof compressions[0] - 1;
    const char *compression = compressions[LEATI_MIN(known->compression, last)];
    if (spec == NULL || check_spec(spec, registered, dataset_id, err) == LEAT_OK)
        dataset = leati_data_service_new(service, dataset_id, compression,
                                         spec == NULL ? registered : spec, known->cardinality,
                                         options, err);
    leat_spec_unref(registered);
    return dataset;
}

leat_dataset *leat_service_from_dataset_id(const char *service, const char *dataset_id,
                                           const leat_spec *spec,
                                           const leat_service_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_service_options own;
    talk t;
    if (read_options(&own, options, err) != LEAT_OK ||
        check_text(dataset_id, "dataset_id", err) != LEAT_OK ||
        talk_begin(&t, service, &own.security, err) != LEAT_OK)
        return NULL;
    struct leati_message_dataset_id said = {.dataset_id = (char *)(uintptr_t)dataset_id,
                                            .brief = true};
    struct leati_message_dataset known = {0};
    leat_status status = leati_control_ask(&t.control, "get_dataset", &leati_message_dataset_id,
                                           &said, &leati_message_dataset, &known,
                                           leati_clock_deadline_ns(PATIENCE_MS), err);
    talk_end(&t);
    leat_dataset *dataset =
        status == LEAT_OK ? make(&known, service, dataset_id, spec, &own, err) : NULL;
    leati_messages_fini(&leati_message_dataset, &known);
    return dataset;
}

leat_dataset *leat_service_distribute(leat_dataset *input, const char *service,
                                      const leat_service_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_service_options own;
    if (input == NULL)
        return NULL;
    leat_dataset *dataset = NULL;
    if (read_options(&own, options, err) == LEAT_OK) {
        char *id = leat_service_register(service, input, own.compression, NULL, &own.security, err);
        if (id != NULL)
            dataset = leati_data_service_new(service, id, own.compression, leat_dataset_spec(input),
                                             leat_dataset_cardinality(input), &own, err);
        leati_free(id);
    }
    leat_dataset_unref(input);
    return dataset;
}

/* ---- saving ---- */

/* The name of a compression of files, for "AUTO" that of this build's best. */
static leat_status file_compression(const char *given, const char **out, leat_error *err) {
    static const char *const known[] = {"AUTO", "SNAPPY", "GZIP"};
    leat_compression compression = LEAT_COMPRESSION_NONE;
    bool fits = given == NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0] && !fits; i++)
        fits = strcmp(given, known[i]) == 0;
    if (!fits)
        return leati_refuse(err, VALUE,
                            "compression is \"%.40s\"; expected AUTO, SNAPPY, GZIP or none", given);
    LEATI_TRY(leati_saved_compression("distributed_save", given, true, &compression, err));
    *out = compression == LEAT_COMPRESSION_NONE     ? NULL
           : compression == LEAT_COMPRESSION_SNAPPY ? "SNAPPY"
                                                    : "GZIP";
    return LEAT_OK;
}

static leat_status draw_request(char out[33], leat_error *err) {
    uint8_t random[16];
    if (!leati_random_secret(random, sizeof random))
        return leati_fail(err, LEAT_UNAVAILABLE, "the system gives no random bytes");
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", random[i]);
    return LEAT_OK;
}

static leat_status save(leati_control *control, leat_dataset *dataset, const char *path,
                        const char *compression, const char *request, leat_error *err) {
    struct leati_message_save said = {.request = (char *)(uintptr_t)request,
                                      .compression = (char *)(uintptr_t)compression};
    /* Dispatcher and workers have other working folders. */
    said.path = leati_fs_whole(path);
    if (said.path == NULL)
        return leati_no_memory(err);
    leat_status status = ask_register(control, dataset, 0, NULL, &said.dataset_id, err);
    if (status == LEAT_OK)
        status = leati_control_ask(control, "save", &leati_message_save, &said, NULL, NULL,
                                   leati_clock_deadline_ns(PATIENCE_MS), err);
    leati_free(said.dataset_id);
    leati_free(said.path);
    return status;
}

leat_status leat_service_save(const char *service, leat_dataset *dataset, const char *path,
                              const char *compression, const leat_service_security *security,
                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    char request[33];
    talk t;
    if (dataset == NULL)
        return leati_refuse(err, VALUE, "leat_service_save: dataset is NULL");
    LEATI_TRY(check_text(path, "path", err));
    LEATI_TRY(leati_saved_check("distributed_save", leat_dataset_spec(dataset), err));
    LEATI_TRY(file_compression(compression, &compression, err));
    LEATI_TRY(draw_request(request, err));
    LEATI_TRY(talk_begin(&t, service, security, err));
    leat_status status = save(&t.control, dataset, path, compression, request, err);
    talk_end(&t);
    return status;
}

/* ---- looking after a service ---- */

char *leat_service_status(const char *service, int64_t timeout_ms,
                          const leat_service_security *security, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    talk t;
    leat_buffer *answer = NULL;
    int64_t deadline = leati_clock_deadline_ns(timeout_ms);
    if (talk_begin(&t, service, security, err) != LEAT_OK)
        return NULL;
    leat_status status = leati_control_greet(&t.control, deadline, err);
    if (status == LEAT_OK)
        status = t.control.transport->call(t.control.channel, "status", "{}", 2, deadline, t.cancel,
                                           &answer, err);
    talk_end(&t);
    if (status != LEAT_OK)
        return NULL;
    char *text = leati_strndup(leat_buffer_data(answer), leat_buffer_size(answer));
    leat_buffer_unref(answer);
    if (text == NULL)
        (void)leati_no_memory(err);
    return text;
}

leat_status leat_service_drain(const char *service, const char *worker, int64_t timeout_ms,
                               const leat_service_security *security, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    talk t;
    struct leati_message_drain said = {.worker = (char *)(uintptr_t)worker};
    int64_t deadline = leati_clock_deadline_ns(timeout_ms);
    LEATI_TRY(talk_begin(&t, service, security, err));
    leat_status status = leati_control_greet(&t.control, deadline, err);
    if (status == LEAT_OK)
        status = leati_control_call(&t.control, "drain", &leati_message_drain, &said, NULL, NULL,
                                    deadline, err);
    talk_end(&t);
    return status;
}
