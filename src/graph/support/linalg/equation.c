/* The equation of einsum; see equation.h. No failures but the text's and the shapes', no locks. */
#include "graph/support/linalg/equation.h"

#include <ctype.h>
#include <string.h>

/* ---- reading ---- */

static int label_of(char c) {
    return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? 26 + c - 'A' : -1;
}

/* Reads up to `end`; false where it is no list of labels. */
static bool read_subscript(const char **at, leati_equation_subscript *out) {
    out->count = 0;
    for (; **at != '\0' && **at != ',' && **at != '-'; (*at)++) {
        int label =
            **at == '.' && strncmp(*at, "...", 3) == 0 ? LEATI_EQUATION_ELLIPSIS : label_of(**at);
        if (isspace((unsigned char)**at)) /* blanks may stand anywhere */
            continue;
        if (label < 0 || out->count == 2 * LEAT_MAX_RANK)
            return false;
        for (int i = 0; i < out->count; i++)
            if (label == LEATI_EQUATION_ELLIPSIS && out->labels[i] == LEATI_EQUATION_ELLIPSIS)
                return false;
        out->labels[out->count++] = (int8_t)label;
        *at += label == LEATI_EQUATION_ELLIPSIS ? 2 : 0; /* the loop steps over the third point */
    }
    return true;
}

/* The result that a text without "->" means. */
static void implied_result(leati_equation *e) {
    int uses[LEATI_EQUATION_LABELS + 1] = {0};
    for (int i = 0; i < e->num_operands; i++)
        for (int k = 0; k < e->operands[i].count; k++)
            uses[e->operands[i].labels[k]]++;
    e->result.count = 0;
    if (uses[LEATI_EQUATION_ELLIPSIS] > 0)
        e->result.labels[e->result.count++] = LEATI_EQUATION_ELLIPSIS;
    for (int i = 0; i < 52 && e->result.count < 2 * LEAT_MAX_RANK; i++) {
        int label = i < 26 ? 26 + i : i - 26; /* upper case comes first */
        if (uses[label] == 1)
            e->result.labels[e->result.count++] = (int8_t)label;
    }
}

leat_status leati_equation_read(const char *text, int num_inputs, leati_equation *e,
                                leat_error *err) {
    const char *at = text;
    bool reads = true;
    e->num_operands = 0;
    do {
        at += e->num_operands > 0;
        reads = e->num_operands < LEATI_EQUATION_OPERANDS &&
                read_subscript(&at, &e->operands[e->num_operands]);
        e->num_operands += reads;
    } while (reads && *at == ',');
    if (reads && *at == '-') {
        reads = at[1] == '>';
        at += 2;
        reads = reads && read_subscript(&at, &e->result);
    } else if (reads) {
        implied_result(e);
    }
    if (!reads || *at != '\0')
        return leati_refuse(err, VALUE,
                            "the equation %.64s does not read as \"ij,jk->ik\" with at most %d "
                            "operands of letters and \"...\"",
                            text, LEATI_EQUATION_OPERANDS);
    for (int i = 0; i < e->result.count; i++)
        for (int k = 0; k < i; k++)
            if (e->result.labels[k] == e->result.labels[i])
                return leati_refuse(err, VALUE,
                                    "output subscripts contain a label appearing more than once: "
                                    "%.64s; use diag on the result",
                                    text);
    if (e->num_operands != num_inputs)
        return leati_refuse(err, STRUCTURE, "Expected %d inputs for equation %.64s but got: %d",
                            e->num_operands, text, num_inputs);
    return LEAT_OK;
}

/* ---- the labels of values ---- */

/* Gives each dimension of `shape` its label. */
static leat_status spread_labels(const leati_equation_subscript *s, const leat_shape *shape,
                                 leati_equation_view *out, leat_error *err) {
    char text[128];
    bool has_rest = false;
    for (int i = 0; i < s->count; i++)
        has_rest = has_rest || s->labels[i] == LEATI_EQUATION_ELLIPSIS;
    int rest = shape->rank - (s->count - has_rest);
    out->rank = 0;
    if (rest < 0 || (rest > 0 && !has_rest))
        return leati_refuse(
            err, SHAPE,
            "an operand of shape %s does not have the %d dimensions that the equation "
            "names",
            leati_shape_text(shape, text), s->count - has_rest);
    for (int i = 0; i < s->count; i++) {
        if (s->labels[i] != LEATI_EQUATION_ELLIPSIS)
            out->labels[out->rank++] = s->labels[i];
        for (int k = 0; k < rest && s->labels[i] == LEATI_EQUATION_ELLIPSIS; k++)
            /* Counted from the last, so that ellipses of different lengths broadcast. */
            out->labels[out->rank++] = (int8_t)(LEATI_EQUATION_LAST - (rest - 1 - k));
    }
    for (int32_t d = 0; d < shape->rank; d++)
        out->dims[d] = shape->dims[d];
    return LEAT_OK;
}

/* Joins a leati_equation_view's dimensions into those of all labels; -2: not seen yet. */
static leat_status join_dims(const leati_equation_view *v, int64_t *dims, leat_error *err) {
    for (int d = 0; d < v->rank; d++) {
        int64_t *dim = &dims[v->labels[d]], found = v->dims[d];
        bool loose = v->labels[d] >= 52; /* dimensions of an ellipsis broadcast */
        if (*dim == -2 || *dim == found || *dim == LEAT_UNKNOWN_DIM) {
            if (*dim != LEAT_UNKNOWN_DIM || found != LEAT_UNKNOWN_DIM)
                /* A 1 that broadcasts says nothing about a size that is not known. */
                *dim = *dim == LEAT_UNKNOWN_DIM && loose && found == 1 ? *dim : found;
        } else if (loose && *dim == 1) {
            *dim = found;
        } else if (found != LEAT_UNKNOWN_DIM && !(loose && found == 1)) {
            return leati_refuse(err, SHAPE,
                                "Expected dimension %lld where operands share a label but got "
                                "dimension %lld",
                                (long long)*dim, (long long)found);
        }
    }
    return LEAT_OK;
}

/* Views of all operands (of known ranks), the sizes of all labels, and the result's labels. */
leat_status leati_equation_lay_out(const leati_equation *e, const leat_shape *shapes,
                                   leati_equation_view *views, int64_t *dims,
                                   leati_equation_view *result, leat_error *err) {
    int rest = 0;
    for (int i = 0; i < LEATI_EQUATION_LABELS; i++)
        dims[i] = -2;
    for (int i = 0; i < e->num_operands; i++) {
        LEATI_TRY(spread_labels(&e->operands[i], &shapes[i], &views[i], err));
        LEATI_TRY(join_dims(&views[i], dims, err));
    }
    while (rest < LEAT_MAX_RANK && dims[LEATI_EQUATION_LAST - rest] != -2)
        rest++;
    int labels[2 * LEAT_MAX_RANK + LEAT_MAX_RANK], count = 0;
    for (int i = 0; i < e->result.count; i++) {
        if (e->result.labels[i] != LEATI_EQUATION_ELLIPSIS)
            labels[count++] = e->result.labels[i];
        for (int k = 0; k < rest && e->result.labels[i] == LEATI_EQUATION_ELLIPSIS; k++)
            labels[count++] = LEATI_EQUATION_LAST - (rest - 1 - k);
    }
    if (count > LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would be %d; expected at most %d", count,
                            LEAT_MAX_RANK);
    result->rank = count;
    for (int i = 0; i < count; i++) {
        if (dims[labels[i]] == -2)
            return leati_refuse(err, VALUE, "the result has a label that no operand has");
        result->labels[i] = (int8_t)labels[i];
        result->dims[i] = dims[labels[i]];
    }

    return LEAT_OK;
}
