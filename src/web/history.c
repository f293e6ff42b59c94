/* The ring of totals: see history.h. Names are kept apart from the numbers, as they do not change.
 */
#include "web/history.h"
#include "base/alloc.h"
#include "core/json.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static int find_name(leati_web_history *history, const char *name) {
    for (int i = 0; i < history->num_names; i++)
        if (strcmp(history->names[i], name) == 0)
            return i;
    if (history->num_names == LEATI_WEB_HISTORY_NAMES || strlen(name) >= LEATI_WEB_HISTORY_NAME)
        return -1;
    snprintf(history->names[history->num_names], LEATI_WEB_HISTORY_NAME, "%s", name);
    return history->num_names++;
}

void leati_web_history_add(leati_web_history *history, int64_t at_ms, const json_t *totals) {
    struct leati_web_history_point *point = &history->points[history->next];
    history->next = (history->next + 1) % LEATI_WEB_MOST_HISTORY;
    history->count += history->count < LEATI_WEB_MOST_HISTORY;
    point->at_ms = at_ms;
    for (int i = 0; i < LEATI_WEB_HISTORY_NAMES; i++)
        point->values[i] = NAN;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)totals, name, value) {
        int index = json_is_number(value) ? find_name(history, name) : -1;
        if (index >= 0)
            point->values[index] = json_number_value(value);
    }
}

static void add_name(leati_text *out, const char *name) {
    json_t *text = json_string(name);
    char *printed = text != NULL ? leati_json_print(text, 0, false, &(leat_error){0}) : NULL;
    json_decref(text);
    if (printed != NULL)
        leati_text_addf(out, "%s", printed);
    else
        out->failed = true;
    leati_free(printed);
}

void leati_web_history_write(const leati_web_history *history, int interval_ms, leati_text *out) {
    leati_text_addf(out, "{\"interval_ms\":%d,\"names\":[", interval_ms);
    for (int i = 0; i < history->num_names; i++) {
        leati_text_addf(out, i == 0 ? "" : ",");
        add_name(out, history->names[i]);
    }
    leati_text_addf(out, "],\"points\":[");
    int first = history->next - history->count + LEATI_WEB_MOST_HISTORY;
    for (int i = 0; i < history->count; i++) {
        const struct leati_web_history_point *point =
            &history->points[(first + i) % LEATI_WEB_MOST_HISTORY];
        leati_text_addf(out, "%s[%lld", i == 0 ? "" : ",", (long long)point->at_ms);
        for (int k = 0; k < history->num_names; k++)
            if (isfinite(point->values[k]))
                leati_text_addf(out, ",%.9g", point->values[k]);
            else
                leati_text_addf(out, ",null");
        leati_text_addf(out, "]");
    }
    leati_text_addf(out, "]}");
}
