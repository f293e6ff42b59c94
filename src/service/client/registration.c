/* Datasets as they are registered; see registration.h.
 *
 * Happy path: the plan and the spec as JSON, the cardinality. A plan that cannot be written is kept
 * in the process (wire/plans.h) where the dispatcher lives in it. Failures: INVALID_ARGUMENT names
 * the operator that cannot be sent; FAILED_PRECONDITION where the dataset forbids to lose a state
 * that it has. No locks. */
#include "service/client/registration.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/sha256.h"
#include "data/plan/options.h"
#include "data/shares/shares.h"
#include "data/shares/splits.h"
#include "graph/op.h"
#include "service/wire/plans.h"
#include <inttypes.h>
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

/* Equal texts are equal datasets. What this process keeps is equal to nothing else. The second half
 * leaves out seeds that were drawn, as whoever shares a job has not drawn the same. */
static leat_status identify(const leat_dataset *dataset, struct leati_message_dataset *out,
                            leat_error *err) {
    leati_sha256 hash;
    uint8_t bytes[LEATI_SHA256_BYTES];
    char text[2 * LEATI_SHA256_BYTES + 18];
    uint64_t job = 0;
    leati_sha256_begin(&hash);
    leati_sha256_add(&hash, out->plan, strlen(out->plan));
    leati_sha256_end(&hash, bytes);
    for (int i = 0; i < LEATI_SHA256_BYTES; i++)
        (void)snprintf(text + (size_t)2 * (size_t)i, 3, "%02x", bytes[i]);
    if (leati_shares_sendable(dataset, &(leat_error){0}) == LEAT_OK) {
        LEATI_TRY(leati_shares_identity(dataset, false, &job, err));
        (void)snprintf(text + (size_t)2 * LEATI_SHA256_BYTES, 18, " %016" PRIx64, job);
    }
    return leati_messages_set_text(&out->identity, text, err);
}

static leat_status put_sources(const leati_splits_source *sources, int count,
                               struct leati_message_dataset *out, leat_error *err) {
    out->providers.values = leati_alloc((size_t)count, sizeof(int64_t));
    out->in_step.values = leati_alloc((size_t)count, sizeof(int64_t));
    if (out->providers.values == NULL || out->in_step.values == NULL)
        return leati_no_memory(err);
    out->providers.count = out->in_step.count = count;
    for (int i = 0; i < count; i++) {
        out->providers.values[i] = sources[i].splits;
        out->in_step.values[i] = sources[i].in_step;
    }
    return LEAT_OK;
}

/* What DYNAMIC has to hand out, or why it cannot. */
static leat_status find_sources(const leat_dataset *dataset, struct leati_message_dataset *out,
                                leat_error *err) {
    leat_error local = {0};
    leat_dataset *plan = leati_splits_plan(dataset, &local);
    if (plan == NULL && local.code == LEAT_RESOURCE_EXHAUSTED)
        return leati_error_pass(err, &local);
    /* The other modes do without. */
    if (plan == NULL) {
        if (local.code != LEAT_UNIMPLEMENTED)
            leati_error_wrap(&local, LEAT_UNIMPLEMENTED, "over splits (processing mode DYNAMIC)");
        return leati_messages_set_text(&out->unsplittable, local.text, err);
    }
    leati_splits_source *sources = NULL;
    int count = 0;
    leat_status status = leati_splits_sources(plan, &sources, &count, err);
    if (status == LEAT_OK)
        status = put_sources(sources, count, out, err);
    leati_free(sources);
    leat_dataset_unref(plan);
    return status;
}

static leat_status say_why_not_deterministic(const leat_dataset *dataset,
                                             struct leati_message_dataset *out, leat_error *err) {
    char why[400] = "";
    out->deterministic = leati_shares_deterministic(dataset, why, sizeof why);
    return out->deterministic ? LEAT_OK : leati_messages_set_text(&out->why_not, why, err);
}

static leat_status check_outside_state(const leat_dataset *dataset, leat_error *err) {
    const leat_dataset *stateful =
        leati_dataset_with_functions(dataset, LEATI_IMPURE | LEATI_STATEFUL | LEATI_RANDOM);
    if (stateful == NULL ||
        leati_plan_number(dataset, "experimental_external_state_policy") != LEATI_STATE_FAIL)
        return LEAT_OK;
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "Serialization error while trying to register a dataset: the function of %s "
                      "has effects or a random state outside of the pipeline, which "
                      "experimental_external_state_policy FAIL forbids; use WARN or IGNORE if "
                      "workers may have states of their own",
                      stateful->op->name);
}

leat_status leati_registration_write(leati_control *control, leat_dataset *dataset,
                                     struct leati_message_dataset *out, leat_error *err) {
    *out = (struct leati_message_dataset){.cardinality = leat_dataset_cardinality(dataset)};
    leat_status status = check_outside_state(dataset, err);
    if (status == LEAT_OK)
        status = write_spec(dataset, out, err);
    if (status == LEAT_OK)
        status = find_sources(dataset, out, err);
    if (status == LEAT_OK)
        status = say_why_not_deterministic(dataset, out, err);
    if (status == LEAT_OK) {
        out->plan = leati_plans_write(dataset, is_here(control), err);
        status = out->plan == NULL ? err->code : identify(dataset, out, err);
    }
    if (status != LEAT_OK)
        leati_messages_fini(&leati_message_dataset, out);
    return status;
}

void leati_registration_undo(const struct leati_message_dataset *said) {
    if (said->plan != NULL)
        leati_plans_forget(said->plan);
}
