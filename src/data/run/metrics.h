/* An iterator's counters in the text format of Prometheus. */
#ifndef LEATI_DATA_RUN_METRICS_H
#define LEATI_DATA_RUN_METRICS_H

#include "base/text.h"
#include "data/run/state.h"

/* One family of samples per counter, one sample per operator, labelled with the pipeline's name
 * (dataset_name of its options; ""), the operator with its label, and the operator's place in the
 * tree ("0" the consumer's end, "0.1" the second input of that). `top` stands above the root. Owned
 * text (leat_text_free). */
char *leati_metrics(const leati_iteration *iteration, const leati_node_state *top,
                    const char *pipeline, leat_error *err);

/* An iterator, as leati_metrics takes it; `id` -1: it has no label of its number. */
typedef struct leati_metrics_pipeline {
    const leati_iteration *iteration;
    const leati_node_state *top;
    const char *name;
    int64_t id;
} leati_metrics_pipeline;

/* The same families of several iterators, told apart by the label `iterator`. */
void leati_metrics_write(const leati_metrics_pipeline *pipelines, int count, leati_text *out);

#endif
