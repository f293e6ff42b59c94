/* Chains of picture operations that run as one: decode; crops and elementwise operations; resize;
 * mirror, and elementwise operations behind it. A band of rows at a time goes through all of them
 * while it is in the cache, and the last operation writes it where the result stays, so each byte
 * of it is written once. Results are bit for bit those of the operations one after the other. */
#ifndef LEATI_EXEC_CHAIN_H
#define LEATI_EXEC_CHAIN_H

#include "base/text.h"
#include "exec/simplify.h"
#include "image/resize.h"

/* Where a step's operand comes from: the resized picture (0) or the result of step k (k + 1); or,
 * below 0, ~index of an input of the chain. */
typedef int32_t leati_chain_operand;

enum { LEATI_CHAIN_OPERANDS = 4 };

/* An operation behind resize. */
typedef struct leati_chain_step {
    const leati_node *source;
    bool elementwise; /* else it mirrors pictures, or chooses between mirrored ones */
    int32_t num_inputs;
    leati_chain_operand inputs[LEATI_CHAIN_OPERANDS];
    leat_dtype dtype; /* of the result */
} leati_chain_step;

/* The first operand of a step that is a picture. */
static inline leati_chain_operand leati_chain_picture(const leati_chain_step *step) {
    int32_t i = 0;
    while (step->inputs[i] < 0)
        i++;
    return step->inputs[i];
}

/* An operation between the picture and its resizing. */
typedef struct leati_chain_front {
    const leati_node *source;
    const leati_tensor_op *cuts; /* cuts a part out of the picture; NULL: elementwise */
    int32_t picture;             /* which of its inputs is the picture */
    int32_t first;               /* the chain's input that is the first of the others */
    leat_dtype dtype;            /* of the result */
} leati_chain_front;

/* Immutable. Input 0 is the contents or the picture; then follow those of decode and front. */
typedef struct leati_chain {
    const leati_node *decode; /* NULL: input 0 is the picture itself */
    leati_chain_front *front; /* in order; random_resized_crop is the last one and `resize`, too */
    int32_t num_front;
    bool converts; /* one of them is elementwise */
    const leati_node *resize;
    leati_resize_method method;
    bool antialias;
    int32_t height, width, channels; /* of the result */
    leati_chain_step *steps;
    int32_t num_steps;
    bool mirrors;    /* a step is not elementwise */
    int32_t writer;  /* what writes the result: 0 resize, k + 1 step k */
    int32_t *inputs; /* values of the function */
    int32_t num_inputs;
    leati_simple_node node; /* what stands for the chain: inputs, the last step's output */
} leati_chain;

typedef struct leati_chains {
    leati_chain *items;
    int32_t count;
} leati_chains;

/* Finds the chains of a function and lets one node stand for each: leati_simple_node.chain, which
 * points into *out. On failure *out is to be freed, too. */
LEAT_WARN_UNUSED leat_status leati_chains_find(leati_simple *simple, leati_chains *out,
                                               leat_error *err);
void leati_chains_fini(leati_chains *chains);
/* "decode_jpeg, resize, select, multiply". */
void leati_chain_describe(const leati_chain *chain, leati_text *text);

/* A kernel: runs the chain for the rows of `call`, whose output has its memory. `arena` is for what
 * operations take inside. */
LEAT_WARN_UNUSED leat_status leati_chain_run(const leati_chain *chain, leati_kernel_call *call,
                                             leati_arena *arena, leat_error *err);

#endif
