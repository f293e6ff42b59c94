/* Where leat deviates from TensorFlow on purpose: a list of (file, pattern of case names, class,
 * reason, answer). The answer's members stand in place of the recorded ones, and the case is judged
 * by them, so that a deviation is tested like anything else. A listed answer that is the recorded
 * one is a failure: the list holds no more than it must. */
#include "golden.h"
#include <fnmatch.h>
#include <string.h>

void golden_read_deviations(golden_run *run, const char *path) {
    json_t *root = golden_read_json(run, path);
    const json_t *list = json_object_get(root, "recorded");
    json_t *copy = NULL;
    if (root != NULL && !json_is_array(list))
        golden_broken(run, "%s: no list \"recorded\"", path);
    copy = list == NULL ? NULL : json_incref((json_t *)list);
    json_decref(root);
    run->deviations = copy;
}

json_t *golden_deviate(golden_case *c, const json_t *json) {
    json_t *own = json_deep_copy(json);
    json_t *expect = json_object_get(own, "expect"), *entry = NULL;
    size_t i = 0;
    json_array_foreach(c->run->deviations, i, entry) {
        if (strcmp(golden_text(entry, "file"), c->file) != 0 ||
            fnmatch(golden_text(entry, "case"), c->name, 0) != 0)
            continue;
        if (c->deviates)
            golden_fail(c, "two lines of the list of deviations speak of this case");
        c->deviates = true;
        json_object_update(expect, json_object_get(entry, "expect"));
        if (json_equal(expect, json_object_get(json, "expect")))
            golden_fail(c, "TensorFlow's answer is this one; take it out of the list of "
                           "deviations");
    }
    return own;
}
