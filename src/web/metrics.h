/* Writing figures in Prometheus' text exposition format 0.0.4: families one after the other, each a
 * head and then its samples. For owners of figures (leati_web_source.metrics). A lack of memory
 * shows in the text, as ever. */
#ifndef LEATI_WEB_METRICS_H
#define LEATI_WEB_METRICS_H

#include "base/text.h"

/* A label: `name` is [a-zA-Z_][a-zA-Z0-9_]*, `value` any UTF-8. */
typedef struct leati_web_label {
    const char *name, *value;
} leati_web_label;

/* The lines HELP and TYPE of a family: `type` is "counter" or "gauge"; `help` one sentence. The
 * name of a counter ends in _total, one that has a unit says it: _seconds, _bytes. */
void leati_web_metrics_head(leati_text *text, const char *name, const char *type, const char *help);

/* A sample with `count` labels: an integer, or a number (NaN and infinities as the format has
 * them). */
void leati_web_metrics_integer(leati_text *text, const char *name, const leati_web_label *labels,
                               int count, int64_t value);
void leati_web_metrics_number(leati_text *text, const char *name, const leati_web_label *labels,
                              int count, double value);

/* Head and the one sample of a family without labels. */
void leati_web_metrics_single(leati_text *text, const char *name, const char *type,
                              const char *help, double value);

#endif
