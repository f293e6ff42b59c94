/* Attention by tiles: what dot_product_attention and its gradient compute of one head, without a
 * matrix of all queries by all keys. */
#ifndef LEATI_GRAPH_SUPPORT_NN_ATTENTION_H
#define LEATI_GRAPH_SUPPORT_NN_ATTENTION_H

#include "graph/support/support.h"

/* What is broadcast to [batch, heads, queries, keys]: how many values lie between neighbours. */
typedef struct leati_attention_extra {
    const void *data; /* NULL: there is none */
    int64_t steps[4];
} leati_attention_extra;

/* One call: tensors [batch, queries or keys, heads, depth], dense. float32 or float64. */
typedef struct leati_attention {
    leat_dtype dtype;
    int64_t batch, queries, keys;
    int64_t heads, key_heads; /* heads / key_heads queries' heads in a row share one of the keys' */
    int64_t depth, width;     /* of queries and keys; of values */
    double scale;
    bool causal;
    const void *query, *key, *value;
    leati_attention_extra bias, mask; /* mask: of bool */
    void *result;
    void *moments; /* [batch, heads, queries, 2]: the largest score, and the sum of exponentials */
    /* Of the gradient alone; `bias_gradient` may be NULL. All but query_gradient are zero before.
     */
    const void *gradient;
    void *query_gradient, *key_gradient, *value_gradient, *bias_gradient;
} leati_attention;

/* Bytes of scratch that either direction needs. */
size_t leati_attention_scratch(const leati_attention *a);
/* The result and the moments of one head of one row of the batch. */
void leati_attention_forward(const leati_attention *a, int64_t row, int64_t head, void *scratch);
/* The gradients of one head of the queries: query_gradient's part is written, the others grow. */
void leati_attention_backward(const leati_attention *a, int64_t row, int64_t head, void *scratch);

#endif
