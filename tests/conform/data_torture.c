/* Each n-th allocation failing, for every case of the dataset operators: building, opening,
 * iterating and closing either work as they do without a failure, or report RESOURCE_EXHAUSTED with
 * a text; nothing leaks, nothing crashes. */
#include "support/cmocka.h"

#include "base/hash.h"
#include "data/plan/op.h"
#include "data_torture.h"
#include "support/golden.h"
#include "support/torture.h"
#include <string.h>
#include <sys/stat.h>

struct body {
    const json_t *json;
    const char *folder; /* emptied after each run */
    bool known;         /* `outcomes` and `hash` are those of a run without failures */
    size_t outcomes;
    uint64_t hash;
};

static uint64_t hash_element(const leat_element *element, uint64_t hash) {
    for (int i = 0; i < element->num_tensors; i++) {
        const leat_tensor *tensor = &element->tensors[i];
        const leat_string *strings = tensor->data;
        hash = leati_hash(tensor->dims, (size_t)tensor->rank * sizeof(int64_t), hash);
        if (tensor->dtype == LEAT_OBJECT)
            continue; /* an address */
        if (tensor->dtype != LEAT_STRING) {
            hash = leati_hash(tensor->data, leat_tensor_bytes(tensor), hash);
            continue;
        }
        for (int64_t k = 0; k < leat_tensor_count(tensor); k++)
            hash = leati_hash(strings[k].data, strings[k].size, hash);
    }
    return hash;
}

/* Errors of the case's own count as outcomes; want of memory ends the run. */
static leat_status iterate(struct body *body, leat_iterator *iterator, leat_error *err) {
    leat_element element = {0};
    leat_status status = LEAT_OK;
    size_t outcomes = 0;
    uint64_t hash = 0;
    for (;;) {
        status = leat_iterator_next(iterator, &element, err);
        if (status == LEAT_RESOURCE_EXHAUSTED || status == LEAT_OUT_OF_RANGE)
            break;
        int64_t code = status;
        if (golden_bool(body->json, "unordered", false))
            hash += status == LEAT_OK ? hash_element(&element, 0) : (uint64_t)code;
        else
            hash = status == LEAT_OK ? hash_element(&element, hash)
                                     : leati_hash(&code, sizeof code, hash);
        if (++outcomes > 1000)
            break;
    }
    leat_element_fini(&element);
    if (status != LEAT_OUT_OF_RANGE)
        return status;
    if (body->known && (outcomes != body->outcomes || hash != body->hash))
        return leati_fail(err, LEAT_INTERNAL, "%zu outcomes without an error, expected %zu%s",
                          outcomes, body->outcomes,
                          outcomes == body->outcomes ? ", with other values" : "");
    body->outcomes = outcomes;
    body->hash = hash;
    return LEAT_OK;
}

static leat_status run(void *context, leat_error *err) {
    struct body *body = context;
    golden_pipeline pipeline;
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 2};
    leat_status status = golden_build(body->json, &pipeline, err);
    if (status == LEAT_OK) {
        leat_iterator *iterator = leat_iterator_new(pipeline.dataset, &options, err);
        status = iterator == NULL ? torture_code(err) : iterate(body, iterator, err);
        leat_iterator_free(iterator);
        golden_pipeline_fini(&pipeline);
    }
    leati_dataset_templates_trim();
    golden_folder_remove(body->folder);
    if (mkdir(body->folder, 0700) != 0)
        fail_msg("cannot make %s again", body->folder);
    return status;
}

void data_torture(const json_t *json, const char *folder) {
    struct body body = {.json = json, .folder = folder};
    leat_error err = {0};
    leati_dataset_templates_trim();
    torture_begin();
    if (run(&body, &err) != LEAT_OK)
        fail_msg("%s: %s", golden_text(json, "name"), err.text);
    body.known = true;
    torture_run_tolerant(run, &body);
    torture_end();
}
