/* What a worker says of itself: the call `status`, JSON for people and programs. No state; the
 * worker's lock and those of its tasks are taken one at a time. Failures: RESOURCE_EXHAUSTED. */
#include "base/alloc.h"
#include "base/error.h"
#include "service/worker/worker.h"
#include <string.h>

static void put_text(json_t *object, const char *key, const char *text) {
    (void)leati_json_put(object, key, leati_json_of_string(text, strlen(text)));
}

static void put_int(json_t *object, const char *key, int64_t value) {
    (void)leati_json_put(object, key, json_integer(value));
}

static leat_status add_task(json_t *list, leati_worker_task *task, leat_error *err) {
    struct leati_message_task_report report = {0};
    json_t *object = json_object();
    if (json_array_append_new(list, object) != 0)
        return leati_no_memory(err);
    LEATI_TRY(leati_worker_task_report(task, &report, err));
    leati_queue_gate_lock(task->gate);
    int64_t readers = task->num_readers, made = task->made;
    leati_queue_gate_unlock(task->gate);
    put_int(object, "task", report.task);
    put_int(object, "attempt", report.attempt);
    put_text(object, "dataset", task->about.dataset_id == NULL ? "" : task->about.dataset_id);
    put_text(object, "kind", task->runner->name);
    put_int(object, "readers", readers);
    put_int(object, "made", made);
    put_int(object, "elements", report.elements);
    put_int(object, "bytes", report.bytes);
    put_int(object, "ready_bytes", leati_worker_task_held(task));
    put_int(object, "element_ns", report.element_ns);
    (void)leati_json_put(object, "done", json_boolean(report.done));
    if (report.text != NULL)
        put_text(object, "failure", report.text);
    leati_messages_fini(&leati_message_task_report, &report);
    return LEAT_OK;
}

static void put_figures(const leati_worker_figures *figures, json_t *object) {
    put_int(object, "elements", figures->elements);
    put_int(object, "bytes", figures->bytes);
    put_int(object, "ready_bytes", figures->ready_bytes);
    put_int(object, "memory_used_bytes", figures->memory_used_bytes);
    put_int(object, "memory_budget_bytes", figures->memory_budget_bytes);
    (void)leati_json_put(object, "busy", json_real(figures->busy));
    (void)leati_json_put(object, "full", json_real(figures->full));
    if (figures->slowest[0] == '\0')
        return;
    json_t *slowest = json_object();
    put_text(slowest, "operator", figures->slowest);
    (void)leati_json_put(slowest, "share", json_real(figures->slowest_share));
    (void)leati_json_put(object, "slowest", slowest);
}

static leat_status put_all(leat_worker *worker, json_t *object, leat_error *err) {
    size_t count = 0;
    json_t *list = json_array();
    leati_worker_figures figures = {0};
    LEATI_TRY(leati_worker_figures_read(worker, &figures, err));
    put_figures(&figures, object);
    put_text(object, "kind", "worker");
    put_text(object, "uid", worker->uid);
    put_text(object, "address", worker->address);
    put_text(object, "version", leat_version());
    leati_queue_gate_lock(worker->gate);
    bool draining = worker->draining;
    leati_queue_gate_unlock(worker->gate);
    put_text(object, "state", draining ? "draining" : "ready");
    if (!leati_json_put(object, "tasks", list))
        return leati_no_memory(err);
    leati_worker_task **tasks = leati_worker_tasks_copy(worker, &count, err);
    leat_status status = tasks == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    for (size_t i = 0; i < count && status == LEAT_OK; i++)
        status = add_task(list, tasks[i], err);
    leati_worker_tasks_drop(tasks, count);
    return status;
}

leat_status leati_worker_status(leat_worker *worker, leati_text *out, leat_error *err) {
    json_t *object = json_object();
    leat_status status = object == NULL ? leati_no_memory(err) : put_all(worker, object, err);
    char *text = status == LEAT_OK ? leati_json_print(object, 0, false, err) : NULL;
    json_decref(object);
    LEATI_TRY(status);
    if (text == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_text_add(out, text, strlen(text));
    leati_free(text);
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}
