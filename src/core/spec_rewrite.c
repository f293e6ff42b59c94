/* New specs from old ones: same structure, other leaves. One recursive walk rebuilds the tree and
 * asks a rule for each leaf; depth is bounded by the constructors.
 *
 * Failures: whatever the rule says, and RESOURCE_EXHAUSTED. No locks. */
#include "core/spec.h"

#include "base/alloc.h"
#include "base/error.h"
#include <inttypes.h>
#include <string.h>

static leat_spec *rewrite(const leat_spec *spec, int component, leati_leaf_rule rule,
                          const void *context, leat_error *err) {
    leat_spec_kind kind = leat_spec_get_kind(spec);
    if (kind != LEAT_SPEC_TUPLE && kind != LEAT_SPEC_DICT)
        return rule(spec, component, context, err);
    int count = leat_spec_num_children(spec);
    leat_spec **children = leati_alloc_zero((size_t)count, sizeof *children);
    leat_spec *result = NULL;
    if (children == NULL) {
        leati_no_memory(err);
        goto done;
    }
    for (int i = 0; i < count; i++) {
        const leat_spec *child = leat_spec_child(spec, i);
        children[i] = rewrite(child, component, rule, context, err);
        if (children[i] == NULL) {
            while (i > 0)
                leat_spec_unref(children[--i]);
            goto done;
        }
        /* A ragged or sparse leaf is several components. */
        component += leat_spec_num_components(child);
    }
    result = leati_spec_composite(spec, children, err);
done:
    leati_free(children);
    return result;
}

leat_spec *leati_spec_rewrite(const leat_spec *spec, leati_leaf_rule rule, const void *context,
                              leat_error *err) {
    return rewrite(spec, 0, rule, context, err);
}

struct leaves {
    const leat_dtype *dtypes;
    const leat_shape *shapes;
};

static leat_spec *replace_leaf(const leat_spec *leaf, int component, const void *context,
                               leat_error *err) {
    const struct leaves *leaves = context;
    /* Their components' dtypes and shapes follow from the leaf and cannot be set one by one. */
    if (leat_spec_get_kind(leaf) != LEAT_SPEC_TENSOR)
        return leat_spec_ref(leaf);
    return leat_spec_tensor(leaves->dtypes[component], leaves->shapes[component], err);
}

leat_spec *leati_spec_like(const leat_spec *structure, const leat_dtype *dtypes,
                           const leat_shape *shapes, leat_error *err) {
    struct leaves leaves = {.dtypes = dtypes, .shapes = shapes};
    return rewrite(structure, 0, replace_leaf, &leaves, err);
}

static leat_spec *batch_leaf(const leat_spec *leaf, int component, const void *context,
                             leat_error *err) {
    leat_spec_kind kind = leat_spec_get_kind(leaf);
    if (kind == LEAT_SPEC_NONE)
        return leat_spec_ref(leaf);
    if (kind == LEAT_SPEC_DATASET || kind == LEAT_SPEC_OPTIONAL) {
        leati_refuse(err, STRUCTURE,
                     "component %d is a %s, which cannot be batched; flatten it first (flat_map)",
                     component, kind == LEAT_SPEC_DATASET ? "dataset" : "optional");
        return NULL;
    }
    leat_shape old = leat_spec_shape(leaf);
    leat_shape shape;
    leat_dtype dtype = leat_spec_dtype(leaf);
    if (leati_shape_prepend(&old, *(const int64_t *)context, &shape, err) != LEAT_OK) {
        leati_prefix(err, "component %d", component);
        return NULL;
    }
    int stacked = leati_spec_stacked(leaf) + 1;
    if (kind == LEAT_SPEC_SPARSE)
        return leati_spec_mark_stacked(leat_spec_sparse(dtype, shape, err), stacked);
    if (kind == LEAT_SPEC_RAGGED)
        return leati_spec_mark_stacked(leat_spec_ragged(dtype, shape,
                                                        leat_spec_ragged_rank(leaf) + 1,
                                                        leat_spec_row_splits_dtype(leaf), err),
                                       stacked);
    return leat_spec_tensor(dtype, shape, err);
}

leat_spec *leati_spec_batch(const leat_spec *spec, int64_t outer, leat_error *err) {
    return rewrite(spec, 0, batch_leaf, &outer, err);
}

static leat_spec *made_leaf(const leat_spec *leaf, int component, const void *context,
                            leat_error *err) {
    (void)component;
    (void)context;
    leat_shape shape = leat_spec_shape(leaf);
    if (leati_spec_stacked(leaf) == 0)
        return leat_spec_ref(leaf);
    if (leat_spec_get_kind(leaf) == LEAT_SPEC_SPARSE)
        return leat_spec_sparse(leat_spec_dtype(leaf), shape, err);
    return leat_spec_ragged(leat_spec_dtype(leaf), shape, leat_spec_ragged_rank(leaf),
                            leat_spec_row_splits_dtype(leaf), err);
}

bool leati_spec_is_stacked(const leat_spec *spec) {
    for (int i = 0; i < leat_spec_num_children(spec); i++)
        if (leati_spec_is_stacked(leat_spec_child(spec, i)))
            return true;
    return leati_spec_stacked(spec) > 0;
}

leat_spec *leati_spec_made(const leat_spec *spec, leat_error *err) {
    return !leati_spec_is_stacked(spec) ? leat_spec_ref(spec)
                                        : rewrite(spec, 0, made_leaf, NULL, err);
}

static leat_spec *unbatch_leaf(const leat_spec *leaf, int component, const void *context,
                               leat_error *err) {
    (void)context;
    leat_spec_kind kind = leat_spec_get_kind(leaf);
    if (kind == LEAT_SPEC_NONE)
        return leat_spec_ref(leaf);
    leat_shape shape = leat_spec_shape(leaf);
    bool box = kind == LEAT_SPEC_DATASET || kind == LEAT_SPEC_OPTIONAL;
    if (box || shape.rank == 0) {
        leati_fail_for(err, LEAT_INVALID_ARGUMENT, box ? LEAT_REASON_STRUCTURE : LEAT_REASON_SHAPE,
                       "component %d is a %s: expected at least one dimension to cut into elements",
                       component, box ? "dataset" : "scalar");
        return NULL;
    }
    if (shape.rank > 0) {
        shape.rank--;
        memmove(shape.dims, shape.dims + 1, (size_t)shape.rank * sizeof shape.dims[0]);
    }
    if (kind == LEAT_SPEC_SPARSE)
        return leat_spec_sparse(leat_spec_dtype(leaf), shape, err);
    int ragged_rank = leat_spec_ragged_rank(leaf);
    if (kind == LEAT_SPEC_RAGGED)
        return leat_spec_ragged(leat_spec_dtype(leaf), shape, ragged_rank - 1,
                                leat_spec_row_splits_dtype(leaf), err);
    return leat_spec_tensor(leat_spec_dtype(leaf), shape, err);
}

leat_spec *leati_spec_unbatch(const leat_spec *spec, leat_error *err) {
    return rewrite(spec, 0, unbatch_leaf, NULL, err);
}

/* What gives a leaf its new first dimension. */
struct resizing {
    int64_t (*resize)(const leat_shape *shape, const void *context);
    const void *context;
};

static leat_spec *resize_leaf(const leat_spec *leaf, int component, const void *context,
                              leat_error *err) {
    const struct resizing *resizing = context;
    leat_shape shape = leat_spec_shape(leaf);
    int64_t outer = resizing->resize(&shape, resizing->context);
    leat_spec *row = unbatch_leaf(leaf, component, NULL, err);
    leat_spec *batch = row != NULL ? batch_leaf(row, component, &outer, err) : NULL;
    /* NULL where the rule above failed, which has written the error. */
    leat_spec_unref(row);
    return batch;
}

leat_spec *leati_spec_resize(const leat_spec *spec,
                             int64_t (*resize)(const leat_shape *shape, const void *context),
                             const void *context, leat_error *err) {
    struct resizing resizing = {.resize = resize, .context = context};
    return rewrite(spec, 0, resize_leaf, &resizing, err);
}

static void fail_join(const leat_spec *a, const leat_spec *b, leat_error *err) {
    char left[160];
    char right[160];
    leat_spec_print(a, left, sizeof left);
    leat_spec_print(b, right, sizeof right);
    leati_refuse(err, STRUCTURE,
                 "elements of %s and of %s have no common spec: structure, keys and dtypes must be "
                 "the same",
                 left, right);
}

/* The joined leaf of two leaves of one kind; NULL with or without the error set. */
static leat_spec *join_leaf(const leat_spec *a, const leat_spec *b, leat_error *err) {
    leat_shape left = leat_spec_shape(a);
    leat_shape right = leat_spec_shape(b);
    leat_shape shape = leati_shape_join(&left, &right);
    leat_dtype dtype = leat_spec_dtype(a);
    int stacked = leati_spec_stacked(a);
    stacked = stacked == leati_spec_stacked(b) ? stacked : 0; /* nothing is known */
    switch (leat_spec_get_kind(a)) {
    case LEAT_SPEC_NONE: return leat_spec_ref(a);
    case LEAT_SPEC_SPARSE:
        return leati_spec_mark_stacked(leat_spec_sparse(dtype, shape, err), stacked);
    case LEAT_SPEC_RAGGED:
        return leati_spec_mark_stacked(leat_spec_ragged(dtype, shape, leat_spec_ragged_rank(a),
                                                        leat_spec_row_splits_dtype(a), err),
                                       stacked);
    case LEAT_SPEC_DATASET:
        /* A NULL element passes the inner failure on. */
        return leat_spec_dataset(leati_spec_join(leat_spec_element(a), leat_spec_element(b), err),
                                 err);
    case LEAT_SPEC_OPTIONAL:
        return leat_spec_optional(leati_spec_join(leat_spec_element(a), leat_spec_element(b), err),
                                  err);
    default: return leat_spec_tensor(dtype, shape, err);
    }
}

static bool joinable(const leat_spec *a, const leat_spec *b) {
    if (leat_spec_get_kind(a) != leat_spec_get_kind(b) ||
        leat_spec_dtype(a) != leat_spec_dtype(b) ||
        leat_spec_ragged_rank(a) != leat_spec_ragged_rank(b) ||
        leat_spec_row_splits_dtype(a) != leat_spec_row_splits_dtype(b) ||
        leat_spec_num_children(a) != leat_spec_num_children(b))
        return false;
    for (int i = 0; i < leat_spec_num_children(a); i++) {
        const char *left = leat_spec_key(a, i);
        const char *right = leat_spec_key(b, i);
        /* Keys are sorted, so equal ones stand at equal places. */
        if (left != NULL && right != NULL && strcmp(left, right) != 0)
            return false;
    }
    return true;
}

leat_spec *leati_spec_join(const leat_spec *a, const leat_spec *b, leat_error *err) {
    if (!joinable(a, b)) {
        fail_join(a, b, err);
        return NULL;
    }
    leat_spec_kind kind = leat_spec_get_kind(a);
    if (kind != LEAT_SPEC_TUPLE && kind != LEAT_SPEC_DICT)
        return join_leaf(a, b, err);
    int count = leat_spec_num_children(a);
    leat_spec **children = leati_alloc_zero((size_t)count, sizeof *children);
    leat_spec *result = NULL;
    if (children == NULL) {
        leati_no_memory(err);
        goto done;
    }
    for (int i = 0; i < count; i++) {
        children[i] = leati_spec_join(leat_spec_child(a, i), leat_spec_child(b, i), err);
        if (children[i] == NULL) {
            while (i > 0)
                leat_spec_unref(children[--i]);
            goto done;
        }
    }
    result = leati_spec_composite(a, children, err);
done:
    leati_free(children);
    return result;
}

leat_status leati_spec_check_tensor(const leat_spec *spec, int index, const leat_tensor *tensor,
                                    leat_error *err) {
    leat_dtype dtype = leat_spec_component_dtype(spec, index);
    leat_shape expected = leat_spec_component_shape(spec, index);
    leat_shape found = leat_tensor_shape(tensor);
    /* An index beyond the components has no dtype. */
    if (dtype != LEAT_INVALID && tensor->dtype == dtype &&
        leati_shape_compatible(&expected, &found))
        return LEAT_OK;
    char want[128];
    char have[128];
    return leati_refuse(err, SHAPE, "component %d: expected %s%s, found %s%s", index,
                        leat_dtype_name(dtype), leati_shape_text(&expected, want),
                        leat_dtype_name(tensor->dtype), leati_shape_text(&found, have));
}
