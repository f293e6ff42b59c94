/* Specs: immutable, reference-counted trees that describe the structure of an element.
 *
 * A node is one block of memory: the node, its children, its keys, and a table of the components
 * below it, so that reading component i costs no walk. Constructors take their children as given
 * and release them on failure, so calls nest; a NULL child passes the earlier error on. Dict keys
 * are sorted by bytes, as Python sorts them.
 *
 * Failures: INVALID_ARGUMENT (dtype, shape, double keys, nesting beyond LEATI_MAX_DEPTH),
 * RESOURCE_EXHAUSTED. No locks; counts are atomic. */
#include "core/spec.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* More components than any program has; it keeps every size computed below far from overflow. */
#define MAX_COMPONENTS (1 << 20)

struct component {
    leat_dtype dtype;
    leat_shape shape;
    const leat_spec *element; /* of a dataset or optional leaf; borrowed from the tree */
};

struct leat_spec {
    atomic_long refs;
    leat_spec_kind kind;
    leat_dtype dtype;
    leat_shape shape;
    int ragged_rank;
    leat_dtype row_splits_dtype;
    int stacked; /* see leati_spec_stacked */
    int depth;   /* 1 for a leaf */
    int64_t tag; /* the caller's word for a tuple or dict */
    int num_children;
    int num_components;
    leat_spec **children; /* one for dataset and optional: the element */
    char **keys;          /* NULL outside dicts */
    struct component *components;
};

/* A zeroed node with room for what is counted; its pointers point behind it. */
static leat_spec *node_new(leat_spec_kind kind, int num_children, int num_components,
                           size_t key_bytes, leat_error *err) {
    size_t children = (size_t)num_children * sizeof(leat_spec *);
    size_t keys = kind == LEAT_SPEC_DICT ? (size_t)num_children * sizeof(char *) : 0;
    size_t components = (size_t)num_components * sizeof(struct component);
    /* In this order, which falls by alignment; key bytes, which need none, come last. */
    size_t size = sizeof(leat_spec) + components + children + keys;
    char *memory = NULL;
    if (leati_add_size(size, key_bytes, &size))
        memory = leati_alloc_zero(1, size);
    if (memory == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leat_spec *spec = (leat_spec *)(void *)memory;
    atomic_init(&spec->refs, 1);
    spec->kind = kind;
    spec->depth = 1;
    spec->num_children = num_children;
    spec->num_components = num_components;
    memory += sizeof(leat_spec);
    spec->components = (struct component *)(void *)memory;
    memory += components;
    spec->children = (leat_spec **)(void *)memory;
    spec->keys = keys > 0 ? (char **)(void *)(memory + children) : NULL;
    return spec;
}

static leat_status check_leaf(leat_dtype dtype, const leat_shape *shape, leat_error *err) {
    if (leat_dtype_size(dtype) == 0)
        return leati_refuse(err, VALUE, "expected a dtype in a spec, found number %d", (int)dtype);
    if (!leati_shape_is_valid(shape))
        return leati_refuse(
            err, SHAPE,
            "expected a shape of at most %d dimensions, each -1 (unknown) or more, in "
            "a spec; found rank %d",
            LEAT_MAX_RANK, (int)shape->rank);
    return LEAT_OK;
}

static void set_component(leat_spec *spec, int index, leat_dtype dtype, leat_shape shape) {
    spec->components[index].dtype = dtype;
    spec->components[index].shape = shape;
}

leat_spec *leat_spec_tensor(leat_dtype dtype, leat_shape shape, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (check_leaf(dtype, &shape, err) != LEAT_OK)
        return NULL;
    leat_spec *spec = node_new(LEAT_SPEC_TENSOR, 0, 1, 0, err);
    if (spec == NULL)
        return NULL;
    spec->dtype = dtype;
    spec->shape = shape;
    set_component(spec, 0, dtype, shape);
    return spec;
}

leat_spec *leat_spec_ragged(leat_dtype dtype, leat_shape shape, int ragged_rank,
                            leat_dtype row_splits_dtype, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (check_leaf(dtype, &shape, err) != LEAT_OK)
        return NULL;
    /* Rows of a ragged value have a ragged rank less by one, so 0 and below stand for tensors. */
    bool fits = ragged_rank >= -LEAT_MAX_RANK && ragged_rank < LEAT_MAX_RANK &&
                (shape.rank < 0 || ragged_rank < shape.rank || ragged_rank <= 0);
    if (!fits || (row_splits_dtype != LEAT_INT32 && row_splits_dtype != LEAT_INT64)) {
        char text[128];
        leati_refuse(err, SHAPE,
                     "expected a ragged rank below the rank of shape %s and row splits of int32 or "
                     "int64, found %d and %s",
                     leati_shape_text(&shape, text), ragged_rank,
                     leat_dtype_name(row_splits_dtype));
        return NULL;
    }
    int levels = LEATI_MAX(ragged_rank, 0);
    leat_spec *spec = node_new(LEAT_SPEC_RAGGED, 0, levels + 1, 0, err);
    if (spec == NULL)
        return NULL;
    spec->dtype = dtype;
    spec->shape = shape;
    spec->ragged_rank = ragged_rank;
    spec->row_splits_dtype = row_splits_dtype;
    leat_shape values = shape;
    if (shape.rank > 0 && ragged_rank > 0) {
        values = (leat_shape){.rank = shape.rank - ragged_rank};
        /* How many flat values there are depends on the rows. */
        values.dims[0] = LEAT_UNKNOWN_DIM;
        for (int32_t i = 1; i < values.rank; i++)
            values.dims[i] = shape.dims[i + ragged_rank];
    }
    set_component(spec, 0, dtype, values);
    for (int i = 1; i <= ragged_rank; i++) {
        /* Of INT64_MAX rows, which no tensor has, the number of splits is beyond int64. */
        bool known = i == 1 && shape.rank > 0 && shape.dims[0] >= 0 && shape.dims[0] < INT64_MAX;
        int64_t splits = known ? shape.dims[0] + 1 : LEAT_UNKNOWN_DIM;
        set_component(spec, i, row_splits_dtype, LEAT_SHAPE(splits));
    }
    return spec;
}

leat_spec *leat_spec_sparse(leat_dtype dtype, leat_shape shape, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (check_leaf(dtype, &shape, err) != LEAT_OK)
        return NULL;
    leat_spec *spec = node_new(LEAT_SPEC_SPARSE, 0, 3, 0, err);
    if (spec == NULL)
        return NULL;
    /* Indices are [n, rank], the dense shape is [rank]. */
    int64_t rank = shape.rank < 0 ? LEAT_UNKNOWN_DIM : shape.rank;
    spec->dtype = dtype;
    spec->shape = shape;
    set_component(spec, 0, LEAT_INT64, LEAT_SHAPE(LEAT_UNKNOWN_DIM, rank));
    set_component(spec, 1, dtype, LEAT_SHAPE(LEAT_UNKNOWN_DIM));
    set_component(spec, 2, LEAT_INT64, LEAT_SHAPE(rank));
    return spec;
}

int leati_spec_stacked(const leat_spec *leaf) {
    return leaf->stacked;
}

leat_spec *leati_spec_mark_stacked(leat_spec *leaf, int stacked) {
    if (leaf != NULL)
        leaf->stacked = stacked;
    return leaf;
}

leat_spec *leat_spec_none(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return node_new(LEAT_SPEC_NONE, 0, 0, 0, err);
}

/* Writes an error unless the caller's earlier failure already did. */
static void missing_child(leat_error *err) {
    if (err->code == LEAT_OK)
        leati_refuse(err, STRUCTURE, "expected a spec as a child, found NULL");
}

static bool too_deep(int depth, leat_error *err) {
    if (depth < LEATI_MAX_DEPTH)
        return false;
    leati_refuse(err, STRUCTURE, "a spec nests at most %d levels", LEATI_MAX_DEPTH);
    return true;
}

/* A leaf of dtype object around another spec. */
static leat_spec *boxed(leat_spec_kind kind, leat_spec *element, leat_error *err) {
    if (element == NULL) {
        missing_child(err);
        return NULL;
    }
    leat_spec *spec = too_deep(element->depth, err) ? NULL : node_new(kind, 1, 1, 0, err);
    if (spec == NULL) {
        leat_spec_unref(element);
        return NULL;
    }
    spec->dtype = LEAT_OBJECT;
    spec->depth = element->depth + 1;
    spec->children[0] = element;
    set_component(spec, 0, LEAT_OBJECT, LEAT_SCALAR);
    /* Borrowed by the table, which parents copy; the child of this node holds the reference. */
    spec->components[0].element = element;
    return spec;
}

leat_spec *leat_spec_dataset(leat_spec *element, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return boxed(LEAT_SPEC_DATASET, element, err);
}

leat_spec *leat_spec_optional(leat_spec *element, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return boxed(LEAT_SPEC_OPTIONAL, element, err);
}

/* A tuple or dict node over `children` in their final order, not yet filled in; NULL with the error
 * set. */
static leat_spec *composite_new(leat_spec_kind kind, leat_spec *const *children, int count,
                                size_t key_bytes, leat_error *err) {
    int depth = 0;
    int64_t components = 0;
    for (int i = 0; i < count; i++) {
        if (children[i] == NULL) {
            missing_child(err);
            return NULL;
        }
        if (children[i]->depth > depth)
            depth = children[i]->depth;
        /* In 64 bits: a child has at most MAX_COMPONENTS, but a sum of children may be beyond
         * int. */
        components += children[i]->num_components;
    }
    if (count < 0 || count > MAX_COMPONENTS || components > MAX_COMPONENTS) {
        leati_refuse(err, VALUE, "a spec has at most %d components", MAX_COMPONENTS);
        return NULL;
    }
    if (too_deep(depth, err))
        return NULL;
    leat_spec *spec = node_new(kind, count, (int)components, key_bytes, err);
    if (spec != NULL)
        spec->depth = depth + 1;
    return spec;
}

/* Copies the children's component tables into the parent's. */
static void collect_components(leat_spec *spec) {
    struct component *to = spec->components;
    for (int i = 0; i < spec->num_children; i++) {
        const leat_spec *child = spec->children[i];
        if (child->num_components > 0)
            memcpy(to, child->components, (size_t)child->num_components * sizeof *to);
        to += child->num_components;
    }
}

static void unref_all(leat_spec *const *children, int count) {
    for (int i = 0; i < count; i++)
        leat_spec_unref(children[i]);
}

leat_spec *leat_spec_tuple(leat_spec *const *children, int count, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_spec *spec = composite_new(LEAT_SPEC_TUPLE, children, count, 0, err);
    if (spec == NULL) {
        unref_all(children, count);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        spec->children[i] = children[i];
    collect_components(spec);
    return spec;
}

struct entry {
    const char *key;
    leat_spec *child;
};

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const struct entry *)a)->key, ((const struct entry *)b)->key);
}

/* Copies the sorted entries into the node; INVALID_ARGUMENT on a key that comes twice. */
static bool fill_dict(leat_spec *spec, const struct entry *entries, leat_error *err) {
    char *bytes = spec->num_children > 0 ? (char *)(spec->keys + spec->num_children) : NULL;
    for (int i = 0; i < spec->num_children; i++) {
        if (i > 0 && strcmp(entries[i - 1].key, entries[i].key) == 0) {
            leati_refuse(err, VALUE, "the key '%s' comes twice in a dict spec", entries[i].key);
            return false;
        }
        size_t size = strlen(entries[i].key) + 1;
        memcpy(bytes, entries[i].key, size);
        spec->keys[i] = bytes;
        spec->children[i] = entries[i].child;
        bytes += size;
    }
    collect_components(spec);
    return true;
}

static leat_spec *dict_of(const char *const *keys, leat_spec *const *children, int count,
                          struct entry *entries, leat_error *err) {
    size_t key_bytes = 0;
    for (int i = 0; i < count; i++) {
        entries[i] = (struct entry){.key = keys[i], .child = children[i]};
        if (keys[i] == NULL || !leati_add_size(key_bytes, strlen(keys[i]) + 1, &key_bytes)) {
            leati_refuse(err, VALUE, "expected a key in a dict spec, found NULL");
            return NULL;
        }
    }
    leat_spec *spec = composite_new(LEAT_SPEC_DICT, children, count, key_bytes, err);
    if (spec == NULL)
        return NULL;
    /* Keys and children together, and not in the caller's arrays, which stay as they are. */
    qsort(entries, (size_t)count, sizeof *entries, compare_entries);
    if (fill_dict(spec, entries, err))
        return spec;
    /* Not leat_spec_unref: the children are released by the caller of this function. */
    leati_free(spec);
    return NULL;
}

leat_spec *leat_spec_dict(const char *const *keys, leat_spec *const *children, int count,
                          leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_spec *spec = NULL;
    struct entry *entries = NULL;
    if (count < 0 || count > MAX_COMPONENTS)
        leati_refuse(err, VALUE, "a spec has at most %d components", MAX_COMPONENTS);
    else if ((entries = leati_alloc((size_t)count, sizeof *entries)) == NULL)
        leati_no_memory(err);
    else
        spec = dict_of(keys, children, count, entries, err);
    leati_free(entries);
    if (spec == NULL)
        unref_all(children, count);
    return spec;
}

leat_spec *leat_spec_ref(const leat_spec *spec) {
    leat_spec *shared = (leat_spec *)(uintptr_t)spec;
    if (shared != NULL)
        atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
    return shared;
}

void leat_spec_unref(leat_spec *spec) {
    if (spec == NULL || atomic_fetch_sub_explicit(&spec->refs, 1, memory_order_acq_rel) != 1)
        return;
    unref_all(spec->children, spec->num_children);
    leati_free(spec);
}

static bool is_composite(const leat_spec *spec) {
    return spec->kind == LEAT_SPEC_TUPLE || spec->kind == LEAT_SPEC_DICT;
}

leat_spec_kind leat_spec_get_kind(const leat_spec *spec) {
    return spec->kind;
}

int leat_spec_num_children(const leat_spec *spec) {
    return is_composite(spec) ? spec->num_children : 0;
}

const leat_spec *leat_spec_child(const leat_spec *spec, int index) {
    return index >= 0 && index < leat_spec_num_children(spec) ? spec->children[index] : NULL;
}

const char *leat_spec_key(const leat_spec *spec, int index) {
    return spec->keys != NULL && index >= 0 && index < spec->num_children ? spec->keys[index]
                                                                          : NULL;
}

leat_dtype leat_spec_dtype(const leat_spec *spec) {
    return spec->dtype;
}

leat_shape leat_spec_shape(const leat_spec *spec) {
    return spec->shape;
}

const leat_spec *leat_spec_element(const leat_spec *spec) {
    bool box = spec->kind == LEAT_SPEC_DATASET || spec->kind == LEAT_SPEC_OPTIONAL;
    return box ? spec->children[0] : NULL;
}

int leat_spec_ragged_rank(const leat_spec *spec) {
    return spec->ragged_rank;
}

leat_dtype leat_spec_row_splits_dtype(const leat_spec *spec) {
    return spec->row_splits_dtype;
}

int leat_spec_num_components(const leat_spec *spec) {
    return spec->num_components;
}

leat_dtype leat_spec_component_dtype(const leat_spec *spec, int index) {
    return index >= 0 && index < spec->num_components ? spec->components[index].dtype
                                                      : LEAT_INVALID;
}

leat_shape leat_spec_component_shape(const leat_spec *spec, int index) {
    if (index >= 0 && index < spec->num_components)
        return spec->components[index].shape;
    return (leat_shape){.rank = LEAT_UNKNOWN_RANK};
}

const leat_spec *leati_spec_component_element(const leat_spec *spec, int index) {
    return index >= 0 && index < spec->num_components ? spec->components[index].element : NULL;
}

int64_t leat_spec_tag(const leat_spec *spec) {
    return spec != NULL ? spec->tag : 0;
}

leat_spec *leat_spec_tagged(leat_spec *spec, int64_t tag, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    /* Specs are shared and immutable: another tag needs a node of its own. */
    if (spec == NULL || spec->tag == tag)
        return spec;
    leat_spec *own = leati_spec_composite(spec, spec->children, err);
    if (own != NULL)
        own->tag = tag;
    leat_spec_unref(spec);
    return own;
}

leat_spec *leati_spec_composite(const leat_spec *like, leat_spec *const *children,
                                leat_error *err) {
    int count = like->num_children;
    leat_spec *spec = NULL;
    if (is_composite(like)) {
        /* The constructors take the children as given. */
        for (int i = 0; children == like->children && i < count; i++)
            leat_spec_ref(children[i]);
        spec = like->kind == LEAT_SPEC_TUPLE
                   ? leat_spec_tuple(children, count, err)
                   : leat_spec_dict((const char *const *)like->keys, children, count, err);
    } else {
        leati_refuse(err, VALUE, "expected a tuple or dict spec, found a leaf");
    }
    if (spec != NULL)
        spec->tag = like->tag;
    return spec;
}

/* Everything of two nodes but their children and shapes. */
static bool same_node(const leat_spec *a, const leat_spec *b) {
    if (a->kind != b->kind || a->dtype != b->dtype || a->num_children != b->num_children ||
        a->ragged_rank != b->ragged_rank || a->row_splits_dtype != b->row_splits_dtype)
        return false;
    /* Tags and `stacked` are left out: they do not say which values fit. */
    for (int i = 0; a->keys != NULL && b->keys != NULL && i < a->num_children; i++)
        if (strcmp(a->keys[i], b->keys[i]) != 0)
            return false;
    return true;
}

bool leat_spec_equal(const leat_spec *a, const leat_spec *b) {
    if (a == b)
        return true;
    if (a == NULL || b == NULL || !same_node(a, b) || !leati_shape_equal(&a->shape, &b->shape))
        return false;
    for (int i = 0; i < a->num_children; i++)
        if (!leat_spec_equal(a->children[i], b->children[i]))
            return false;
    return true;
}
