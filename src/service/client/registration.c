/* Datasets as they are registered; see registration.h.
 *
 * Happy path: the plan and the spec as JSON, the cardinality. A plan that cannot be written is kept
 * in the process (wire/plans.h) where the dispatcher lives in it. Failures: INVALID_ARGUMENT names
 * the operator that cannot be sent. No locks. */
#include "service/client/registration.h"
#include "base/sha256.h"
#include "service/wire/plans.h"
#include <stdio.h>
#include <string.h>

static bool is_here(const leati_control *control) {
    const char *mine = leati_plans_process(), *its = control->version.process;
    return mine != NULL && its != NULL && strcmp(mine, its) == 0;
}

static leat_status write_spec(const leat_dataset *dataset, struct leati_message_dataset *out,
                              leat_error *err) {
    json_t *json = leati_json_of_spec(leat_dataset_spec(dataset), err);
    if (json == NULL)
        return err->code;
    out->spec = leati_json_print(json, 0, false, err);
    json_decref(json);
    return out->spec == NULL ? err->code : LEAT_OK;
}

/* Equal texts are equal datasets. What this process keeps is equal to nothing else. */
static leat_status identify(struct leati_message_dataset *out, leat_error *err) {
    leati_sha256 hash;
    uint8_t bytes[LEATI_SHA256_BYTES];
    char text[2 * LEATI_SHA256_BYTES + 1];
    leati_sha256_begin(&hash);
    leati_sha256_add(&hash, out->plan, strlen(out->plan));
    leati_sha256_end(&hash, bytes);
    for (int i = 0; i < LEATI_SHA256_BYTES; i++)
        (void)snprintf(text + (size_t)2 * (size_t)i, 3, "%02x", bytes[i]);
    return leati_messages_set_text(&out->identity, text, err);
}

leat_status leati_registration_write(leati_control *control, leat_dataset *dataset,
                                     struct leati_message_dataset *out, leat_error *err) {
    *out = (struct leati_message_dataset){.cardinality = leat_dataset_cardinality(dataset)};
    leat_status status = write_spec(dataset, out, err);
    if (status == LEAT_OK) {
        out->plan = leati_plans_write(dataset, is_here(control), err);
        status = out->plan == NULL ? err->code : identify(out, err);
    }
    if (status != LEAT_OK)
        leati_messages_fini(&leati_message_dataset, out);
    return status;
}

void leati_registration_undo(const struct leati_message_dataset *said) {
    if (said->plan != NULL)
        leati_plans_forget(said->plan);
}
