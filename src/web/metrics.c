/* Prometheus' text format: what is escaped where, and how numbers are written. */
#include "web/metrics.h"
#include <math.h>
#include <string.h>

/* HELP has two characters that are escaped, a label's value three. */
static void add_escaped(leati_text *text, const char *value, bool quoted) {
    size_t from = 0, at = 0;
    for (; value[at] != '\0'; at++) {
        const char *escaped = value[at] == '\\'            ? "\\\\"
                              : value[at] == '\n'          ? "\\n"
                              : value[at] == '"' && quoted ? "\\\""
                                                           : NULL;
        if (escaped != NULL) {
            leati_text_add(text, value + from, at - from);
            leati_text_add(text, escaped, 2);
            from = at + 1;
        }
    }
    leati_text_add(text, value + from, at - from);
}

void leati_web_metrics_head(leati_text *text, const char *name, const char *type,
                            const char *help) {
    leati_text_addf(text, "# HELP %s ", name);
    add_escaped(text, help, false);
    leati_text_addf(text, "\n# TYPE %s %s\n", name, type);
}

static void add_sample(leati_text *text, const char *name, const leati_web_label *labels,
                       int count) {
    leati_text_addf(text, "%s", name);
    for (int i = 0; i < count; i++) {
        leati_text_addf(text, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
        add_escaped(text, labels[i].value, true);
        leati_text_add(text, "\"", 1);
    }
    leati_text_addf(text, count > 0 ? "} " : " ");
}

void leati_web_metrics_integer(leati_text *text, const char *name, const leati_web_label *labels,
                               int count, int64_t value) {
    add_sample(text, name, labels, count);
    leati_text_addf(text, "%lld\n", (long long)value);
}

void leati_web_metrics_number(leati_text *text, const char *name, const leati_web_label *labels,
                              int count, double value) {
    add_sample(text, name, labels, count);
    if (isnan(value))
        leati_text_addf(text, "NaN\n");
    else if (isinf(value))
        leati_text_addf(text, "%sInf\n", value < 0 ? "-" : "+");
    else
        leati_text_addf(text, "%.17g\n", value);
}

void leati_web_metrics_single(leati_text *text, const char *name, const char *type,
                              const char *help, double value) {
    leati_web_metrics_head(text, name, type, help);
    leati_web_metrics_number(text, name, NULL, 0, value);
}
