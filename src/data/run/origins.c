/* Origins of rows: see origins.h.
 *
 * A table numbers paths from 1 on; a path that many readers open, epoch after epoch, has one
 * number, found by a hash of its text. Columns come from the table's pools, which they outlive: the
 * table is what they hold. Locks: a table's `lock` guards it and the numbers remembered in the
 * paths' buffers; under it only those of pools and the allocator. */
#include "data/run/origins.h"
#include "base/hash.h"
#include "core/pools.h"
#include "data/run/place.h"
#include "file/tfrecord.h"
#include "file/wire.h"
#include <pthread.h>
#include <string.h>

enum { BYTE_BITS = 44, MOST_PATHS = 1 << 17, MOST_KNOWN = 64 }; /* bytes: 16 TiB */

struct table {
    pthread_mutex_t lock;
    leat_buffer **paths; /* number n at n - 1; references */
    size_t count, capacity;
    uint32_t *places; /* open addressing by hash: numbers, 0 is free */
    size_t room;      /* of places: a power of two, more than twice `count`, or 0 */
    leati_pools pools;
};

static void table_free(void *context, void *data, size_t size) {
    (void)context;
    (void)size;
    struct table *t = data;
    for (size_t i = 0; i < t->count; i++)
        leat_buffer_unref(t->paths[i]);
    leati_pools_close(&t->pools);
    pthread_mutex_destroy(&t->lock);
    leati_free(t->paths);
    leati_free(t->places);
    leati_free(t);
}

leat_buffer *leati_origins_new(leat_error *err) {
    struct table *t = leati_alloc_zero(1, sizeof(*t));
    if (t == NULL) {
        leati_no_memory(err);
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
    while (t->places[at] != 0 && strcmp(text_of(t->paths[t->places[at] - 1]), text) != 0)
        at = (at + 1) & (t->room - 1);
    return at;
}

/* Room for one path more; false without memory, with the table as before. */
static bool make_room(struct table *t) {
    if (!leati_grow((void **)&t->paths, &t->capacity, t->count + 1, sizeof(*t->paths)))
        return false;
    /* Less than half full, so a search always meets a free place. */
    if (t->room > 2 * (t->count + 1))
        return true;
    size_t room = t->room == 0 ? 16 : 2 * t->room;
    uint32_t *places = leati_alloc_zero(room, sizeof(*places));
    if (places == NULL)
        return false;
    leati_free(t->places);
    t->places = places;
    t->room = room;
    for (size_t i = 0; i < t->count; i++)
        places[place_of(t, text_of(t->paths[i]))] = (uint32_t)i + 1;
    return true;
}

int64_t leati_origins_number(leat_buffer *table, leat_buffer *path) {
    struct table *t = leat_buffer_data(table);
    pthread_mutex_lock(&t->lock);
    /* The buffer remembers its number, so a path is hashed once for each buffer. */
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
    if (origin <= 0 || owner == NULL || owner->num_holds == 0)
        return false;
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
        for (; row != NULL && row->type != LEATI_ROW_END; row++)
            if (row->type == LEATI_ROW_FUNCTION)
                return true;
    }
    return false;
}

static leat_buffer *take_column(leat_buffer *table, int64_t n) {
    struct table *t = leat_buffer_data(table);
    pthread_mutex_lock(&t->lock);
    leat_buffer *buffer =
        leati_pools_take(&t->pools, (size_t)n * sizeof(int64_t), &(leat_error){0});
    pthread_mutex_unlock(&t->lock);
    return buffer;
}

int64_t *leati_origins_begin(leati_node_state *node, int64_t n, leati_block *out) {
    leat_shape scalar = LEAT_SCALAR;
    leat_buffer *table = node->iteration->origins;
    leat_buffer *buffer = table == NULL ? NULL : take_column(table, n);
    if (buffer == NULL || leati_buffer_hold(buffer, table, &(leat_error){0}) != LEAT_OK) {
        leat_buffer_unref(buffer);
        return NULL;
    }
    memset(buffer->data, 0, (size_t)n * sizeof(int64_t));
    leati_column_strided(&out->origins, LEAT_INT64, &scalar, buffer->data, sizeof(int64_t), buffer);
    return buffer->data;
}

/* Memory of a file that rows were found in, and what their origins say of it. */
typedef struct known_source {
    const char *data;
    size_t size;
    const char *next; /* where the data of the record behind the last row begins */
    int64_t number, byte;
    bool records; /* strings are whole records */
} known_source;

typedef struct known_sources {
    int count, at; /* at: where the last row was */
    known_source items[MOST_KNOWN];
} known_sources;

/* What the strings of the row are, NULL if it has none, and who keeps them alive. */
static inline const leat_string *strings_of(const leati_column *column, int64_t row,
                                            const leat_buffer **owner) {
    bool tensors = column->form == LEATI_TENSORS;
    const int64_t *dims = tensors ? column->tensors[row].dims : column->dims;
    int32_t rank = tensors ? column->tensors[row].rank : column->rank;
    *owner = tensors ? column->tensors[row].owner : column->owner;
    for (int32_t i = 0; i < rank; i++)
        /* Of an empty row there is no first string to look at. */
        if (dims[i] == 0)
            return NULL;
    return leati_column_row(column, row);
}

/* The first column of strings whose first row points into a file's memory; NULL: none. */
static const leati_column *source_column(const leati_block *block, int64_t row) {
    for (int c = 0; c < block->num_columns; c++) {
        const leat_buffer *owner = NULL;
        const leat_string *string = block->columns[c].dtype != LEAT_STRING
                                        ? NULL
                                        : strings_of(&block->columns[c], row, &owner);
        if (string != NULL && leati_buffer_with_path(owner, string->data) != NULL)
            return &block->columns[c];
    }
    return NULL;
}

/* Adds what the string points into, if that is a file's memory. */
static known_source *find_source(leat_buffer *table, known_sources *known,
                                 const leat_string *string, const leat_buffer *owner) {
    const leat_buffer *memory = leati_buffer_with_path(owner, string->data);
    if (memory == NULL)
        return NULL;
    /* A full list gives up the entry behind the one used last. */
    known->at = known->count < MOST_KNOWN ? known->count++ : (known->at + 1) % MOST_KNOWN;
    known_source *source = &known->items[known->at];
    int64_t number = leati_origins_number(table, memory->path);
    int64_t last = memory->path_at + (int64_t)memory->size;
    *source = (known_source){.data = memory->data,
                             .size = memory->size,
                             .number = number,
                             .byte = memory->path_at,
                             .records = leati_place_is_record(memory, string) &&
                                        leati_origin_at(number, last) != 0};
    return source;
}

static inline bool is_in(const known_source *source, const leat_string *string) {
    /* One comparison for both ends: below the start the unsigned difference is huge. */
    return (uintptr_t)string->data - (uintptr_t)source->data < source->size;
}

/* Rows of several files come in turns, so the next one is likely to be where the last one was, or
 * in the memory that was found after that. */
static known_source *source_of(leat_buffer *table, known_sources *known, const leat_string *string,
                               const leat_buffer *owner) {
    for (int i = 0; i < known->count; i++) {
        int at = known->at + i < known->count ? known->at + i : known->at + i - known->count;
        if (is_in(&known->items[at], string)) {
            known->at = at;
            return &known->items[at];
        }
    }
    return find_source(table, known, string, owner);
}

/* A record behind another one, and one whose length stands before it, is taken for what the first
 * one was: nobody checks each header again, nor looks at it where that is not needed. */
static inline int64_t origin_of(known_source *source, const leat_string *string) {
    int64_t at = string->data - source->data;
    if (source->records &&
        (string->data == source->next ||
         (at >= LEATI_RECORD_HEADER &&
          leati_wire_load64(string->data - LEATI_RECORD_HEADER) == string->size))) {
        source->next = string->data + string->size + LEATI_RECORD_FOOTER + LEATI_RECORD_HEADER;
        at -= LEATI_RECORD_HEADER;
    }
    return leati_origin_at(source->number, source->byte + at);
}

/* Rows that are one record behind the other, the first of them behind the last row of the source:
 * how many there are. */
static int64_t put_records(known_source *source, const leat_string *strings, int64_t n,
                           int64_t *rows) {
    const char *next = source->next, *end = source->data + source->size;
    int64_t first = source->number + source->byte - LEATI_RECORD_HEADER, i = 0;
    for (; i < n && strings[i].data == next && next < end; i++) {
        rows[i] = first + (next - source->data);
        next += strings[i].size + LEATI_RECORD_FOOTER + LEATI_RECORD_HEADER;
    }
    source->next = next;
    return i;
}

static void derive_from_strings(leati_node_state *node, const leati_column *strings, int64_t begin,
                                leati_block *out) {
    int64_t *rows = leati_origins_begin(node, out->n, out);
    bool in_a_row = strings->form == LEATI_STRIDED && strings->rank == 0 &&
                    strings->stride == (int64_t)sizeof(leat_string);
    known_source *source = NULL;
    known_sources known;
    known.count = known.at = 0;
    for (int64_t i = 0; rows != NULL && i < out->n; i++) {
        const leat_buffer *owner = NULL;
        const leat_string *string = strings_of(strings, begin + i, &owner);
        if (string != NULL && (source == NULL || !is_in(source, string)))
            source = source_of(node->iteration->origins, &known, string, owner);
        if (string != NULL && source != NULL)
            rows[i] = origin_of(source, string);
        if (in_a_row && source != NULL && source->records && source->next != NULL)
            i += put_records(source, string + 1, out->n - i - 1, rows + i + 1);
    }
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
    if (out->n == 0 || out->origins.data != NULL)
        return;
    if (in->origins.data != NULL) {
        leati_column_copy(&in->origins, &out->origins);
        leati_column_skip(&out->origins, begin);
        return;
    }
    const leati_column *strings = source_column(in, begin);
    int named = strings == NULL ? leati_place_path_component(function, in, begin) : -1;
    if (named >= 0) {
        derive_from_names(node, &in->columns[named], begin, out);
        return;
    }
    if (strings != NULL)
        derive_from_strings(node, strings, begin, out);
}
