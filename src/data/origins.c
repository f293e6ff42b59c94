/* Origins of rows: see origins.h.
 *
 * A table numbers paths from 1 on; a path that many readers open, epoch after epoch, has one
 * number, found by a hash of its text. Locks: a table's `lock` guards it and the numbers remembered
 * in the paths' buffers; it is a leaf. */
#include "data/origins.h"
#include "base/hash.h"
#include "data/place.h"
#include <pthread.h>
#include <string.h>

enum { BYTE_BITS = 44, MOST_PATHS = 1 << 17 };

struct table {
    pthread_mutex_t lock;
    leat_buffer **paths; /* number n at n - 1; references */
    size_t count, capacity;
    uint32_t *places; /* open addressing by hash: numbers, 0 is free */
    size_t room;      /* of places: a power of two, more than twice `count`, or 0 */
};

static void table_free(void *context, void *data, size_t size) {
    (void)context;
    (void)size;
    struct table *t = data;
    for (size_t i = 0; i < t->count; i++) {
        leat_buffer_unref(t->paths[i]);
    }
    pthread_mutex_destroy(&t->lock);
    leati_free(t->paths);
    leati_free(t->places);
    leati_free(t);
}

leat_buffer *leati_origins_new(leat_error *err) {
    struct table *t = leati_alloc_zero(1, sizeof(*t));
    if (t == NULL) {
        leati_no_memory(err, sizeof(*t));
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    return leat_buffer_adopt(t, sizeof(*t), table_free, NULL, err);
}

static const char *text_of(const leat_buffer *path) {
    return path->data;
}

/* The place of a text: where it stands, or a free one. */
static size_t place_of(const struct table *t, const char *text) {
    size_t at = (size_t)leati_hash(text, strlen(text), 0) & (t->room - 1);
    while (t->places[at] != 0 && strcmp(text_of(t->paths[t->places[at] - 1]), text) != 0) {
        at = (at + 1) & (t->room - 1);
    }
    return at;
}

/* Room for one path more; false without memory, with the table as before. */
static bool make_room(struct table *t) {
    if (!leati_grow((void **)&t->paths, &t->capacity, t->count + 1, sizeof(*t->paths))) {
        return false;
    }
    if (t->room > 2 * (t->count + 1)) {
        return true;
    }
    size_t room = t->room == 0 ? 16 : 2 * t->room;
    uint32_t *places = leati_alloc_zero(room, sizeof(*places));
    if (places == NULL) {
        return false;
    }
    leati_free(t->places);
    t->places = places;
    t->room = room;
    for (size_t i = 0; i < t->count; i++) {
        places[place_of(t, text_of(t->paths[i]))] = (uint32_t)i + 1;
    }
    return true;
}

int64_t leati_origins_number(leat_buffer *table, leat_buffer *path) {
    struct table *t = leat_buffer_data(table);
    pthread_mutex_lock(&t->lock);
    if (path->path_at == 0 && t->count < MOST_PATHS && make_room(t)) {
        size_t at = place_of(t, text_of(path));
        if (t->places[at] == 0) {
            t->paths[t->count++] = leat_buffer_ref(path);
            t->places[at] = (uint32_t)t->count;
        }
        path->path_at = (int64_t)t->places[at] << BYTE_BITS;
    }
    int64_t number = path->path_at;
    pthread_mutex_unlock(&t->lock);
    return number;
}

void leati_origins_share(const leati_block *from, int64_t row, leati_column *origins) {
    leat_shape scalar = LEAT_SCALAR;
    *origins = (leati_column){0};
    if (from->origins.data != NULL) {
        leati_column_strided(origins, LEAT_INT64, &scalar, leati_column_row(&from->origins, row), 0,
                             leat_buffer_ref(from->origins.owner));
    }
}

bool leati_origin_read(const leati_block *block, int64_t row, const char **path, int64_t *byte) {
    int64_t origin = leati_origin_of(block, row);
    const leat_buffer *owner = block->origins.owner;
    if (origin <= 0 || owner == NULL || owner->num_holds == 0) {
        return false;
    }
    struct table *t = owner->holds[0]->data;
    size_t number = (size_t)(origin >> BYTE_BITS);
    pthread_mutex_lock(&t->lock);
    bool known = number >= 1 && number <= t->count;
    *path = known ? text_of(t->paths[number - 1]) : NULL;
    pthread_mutex_unlock(&t->lock);
    *byte = origin & ((INT64_C(1) << BYTE_BITS) - 1);
    return known;
}

bool leati_origins_wanted(const leati_node_state *node) {
    for (const leati_node_state *above = node->parent; above != NULL; above = above->parent) {
        const leati_row *row = above->dataset != NULL ? above->dataset->op->rows : NULL;
        for (; row != NULL && row->type != LEATI_ROW_END; row++) {
            if (row->type == LEATI_ROW_FUNCTION) {
                return true;
            }
        }
    }
    return false;
}

int64_t *leati_origins_begin(leati_node_state *node, int64_t n, leati_block *out) {
    leat_shape scalar = LEAT_SCALAR;
    leat_buffer *buffer = node->iteration->origins == NULL
                              ? NULL
                              : leat_buffer_new((size_t)n * sizeof(int64_t), NULL);
    if (buffer == NULL || leati_buffer_hold(buffer, node->iteration->origins, NULL) != LEAT_OK) {
        leat_buffer_unref(buffer);
        return NULL;
    }
    memset(buffer->data, 0, buffer->size);
    leati_column_strided(&out->origins, LEAT_INT64, &scalar, buffer->data, sizeof(int64_t), buffer);
    return buffer->data;
}

/* The memory of a file that the string points into; NULL: none. */
static const leat_buffer *source_of(const leati_column *column, int64_t row,
                                    const leat_string **string) {
    leat_shape shape = leati_column_row_shape(column, row);
    const leat_buffer *owner =
        column->form == LEATI_TENSORS ? column->tensors[row].owner : column->owner;
    *string = leati_column_row(column, row);
    return leati_shape_count(&shape) < 1 ? NULL : leati_buffer_with_path(owner, (*string)->data);
}

/* The first column of strings whose first row points into a file's memory; NULL: none. */
static const leati_column *source_column(const leati_block *block, int64_t row) {
    const leat_string *string = NULL;
    for (int c = 0; c < block->num_columns; c++) {
        if (block->columns[c].dtype == LEAT_STRING &&
            source_of(&block->columns[c], row, &string) != NULL) {
            return &block->columns[c];
        }
    }
    return NULL;
}

/* The rows of a function that reads a file each: component `name` of its arguments says which. */
static void derive_from_names(leati_node_state *node, const leati_column *names, int64_t begin,
                              leati_block *out) {
    int64_t *rows = leati_origins_begin(node, out->n, out);
    for (int64_t i = 0; rows != NULL && i < out->n; i++) {
        const leat_string *name = leati_column_row(names, begin + i);
        leat_buffer *path = leat_buffer_new(name->size + 1, NULL);
        if (path != NULL) {
            memcpy(path->data, name->data, name->size);
            ((char *)path->data)[name->size] = '\0';
            rows[i] = leati_origins_number(node->iteration->origins, path);
        }
        leat_buffer_unref(path);
    }
}

void leati_origins_derive(leati_node_state *node, const leat_function *function,
                          const leati_block *in, int64_t begin, leati_block *out) {
    if (out->n == 0 || out->origins.data != NULL) {
        return;
    }
    if (in->origins.data != NULL) {
        leati_column_copy(&in->origins, &out->origins);
        leati_column_skip(&out->origins, begin);
        return;
    }
    const leati_column *strings = source_column(in, begin);
    int named = strings == NULL ? leati_path_component(function, in, begin) : -1;
    if (named >= 0) {
        derive_from_names(node, &in->columns[named], begin, out);
        return;
    }
    int64_t *rows = strings == NULL ? NULL : leati_origins_begin(node, out->n, out);
    const leat_buffer *path = NULL;
    int64_t number = 0;
    for (int64_t i = 0; rows != NULL && i < out->n; i++) {
        const leat_string *string = NULL;
        const leat_buffer *source = source_of(strings, begin + i, &string);
        if (source != NULL && source->path != path) {
            path = source->path;
            number = leati_origins_number(node->iteration->origins, source->path);
        }
        rows[i] = source == NULL ? 0 : leati_origin_at(number, leati_source_byte(source, string));
    }
}
