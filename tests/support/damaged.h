/* What a saved dataset, a snapshot or a cache reads as when something of its files is missing: all
 * its elements, or a refusal, never fewer.
 *
 * A dataset is made once and its folder kept in memory; each trial writes the folder anew without a
 * part of it. Elements are the pairs (0, 0), (1, 1), ... Header only: include it after
 * "support/cmocka.h" and scratch.h. */
#ifndef DAMAGED_H
#define DAMAGED_H

#include <ftw.h>
#include <leat/data_ops.h>
#include <leat/file.h>
#include <leat/ops.h>

typedef enum damaged_kind { DAMAGED_SAVE, DAMAGED_SNAPSHOT, DAMAGED_CACHE } damaged_kind;

typedef struct damaged_case {
    damaged_kind kind;
    const char *compression;
    int64_t elements, shards; /* 1: all in one, as a save without shard_func */
} damaged_case;

enum { DAMAGED_MOST = 64, DAMAGED_PATH = 1024 };

#define DAMAGED_UNUSED __attribute__((unused))

/* ---- a folder in memory ---- */

static struct {
    struct {
        char path[DAMAGED_PATH]; /* below the folder; "" is the folder itself */
        bool is_folder;
        uint8_t *data;
        size_t size;
    } entries[DAMAGED_MOST];
    int count;
} damaged_tree;

static size_t damaged_root; /* length of the folder's path while it is read */

static int damaged_note(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)ftw;
    assert_true(damaged_tree.count < DAMAGED_MOST);
    int i = damaged_tree.count++;
    snprintf(damaged_tree.entries[i].path, DAMAGED_PATH, "%s", path + damaged_root);
    damaged_tree.entries[i].is_folder = type == FTW_D;
    damaged_tree.entries[i].data = NULL;
    damaged_tree.entries[i].size = 0;
    if (type != FTW_D)
        damaged_tree.entries[i].data = scratch_read(path, &damaged_tree.entries[i].size);
    return 0;
}

static void damaged_forget(void) {
    for (int i = 0; i < damaged_tree.count; i++)
        free(damaged_tree.entries[i].data);
    damaged_tree.count = 0;
}

/* Reads a folder, outer folders first. */
static void damaged_read_tree(const char *folder) {
    damaged_forget();
    damaged_root = strlen(folder);
    assert_int_equal(nftw(folder, damaged_note, 8, FTW_PHYS), 0);
}

/* Writes the folder without entry `without` and what is in it (-1: all of it); `keep` bytes of that
 * entry stay, or, below 0, nothing. */
static void damaged_write_tree(const char *folder, int without, int64_t keep) {
    scratch_remove(folder);
    const char *gone = without < 0 ? NULL : damaged_tree.entries[without].path;
    for (int i = 0; i < damaged_tree.count; i++) {
        char path[2 * DAMAGED_PATH];
        const char *name = damaged_tree.entries[i].path;
        bool below = gone != NULL && strncmp(name, gone, strlen(gone)) == 0 &&
                     (name[strlen(gone)] == '\0' || name[strlen(gone)] == '/');
        if (below && keep < 0)
            continue;
        snprintf(path, sizeof path, "%s%s", folder, name);
        if (damaged_tree.entries[i].is_folder) {
            assert_int_equal(mkdir(path, 0777), 0);
            continue;
        }
        FILE *file = fopen(path, "wb");
        size_t size = i == without ? (size_t)keep : damaged_tree.entries[i].size;
        assert_non_null(file);
        assert_int_equal(fwrite(damaged_tree.entries[i].data, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
    }
}

/* ---- datasets ---- */

static int damaged_shard(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)capacity;
    leat_tensor shards = leat_scalar_int64(*(const int64_t *)context);
    outputs[0] = leat_op_floormod(leat_graph_argument(graph, 0), leat_graph_tensor(graph, &shards));
    leat_tensor_unref(&shards);
    return 1;
}

static leat_function *damaged_shards(const damaged_case *c, leat_dataset *dataset,
                                     leat_error *err) {
    int64_t shards = c->shards;
    return shards == 1 ? NULL : LEAT_TRACE(damaged_shard, &shards, leat_dataset_spec(dataset), err);
}

static leat_dataset *damaged_numbers(const damaged_case *c, leat_error *err) {
    return leat_dataset_enumerate(leat_dataset_range(0, c->elements, 1, NULL, err), 0, err);
}

/* The dataset that reads what damaged_make wrote, or writes it. */
static leat_dataset *damaged_dataset(const damaged_case *c, const char *folder, leat_error *err) {
    char prefix[2 * DAMAGED_PATH];
    if (c->kind == DAMAGED_SAVE) {
        leat_dataset_load_options load = {LEAT_DATASET_LOAD_DEFAULTS,
                                          .compression = c->compression};
        return leat_dataset_load(folder, &load, err);
    }
    leat_dataset *numbers = damaged_numbers(c, err);
    if (c->kind == DAMAGED_CACHE) {
        snprintf(prefix, sizeof prefix, "%s/cache", folder);
        return leat_dataset_cache_to_file(numbers, prefix, err);
    }
    leat_dataset_snapshot_options snapshot = {LEAT_DATASET_SNAPSHOT_DEFAULTS};
    snapshot.compression = c->compression;
    snapshot.shard_func = damaged_shards(c, numbers, err);
    return leat_dataset_snapshot(numbers, folder, &snapshot, err);
}

/* Reads all: the number of elements where each came once and then the end, or -1 where the code of
 * *err stopped it. */
static int64_t damaged_count(const damaged_case *c, const char *folder, leat_error *err) {
    bool seen[256] = {false};
    int64_t count = 0;
    *err = (leat_error){0};
    leat_dataset *dataset = damaged_dataset(c, folder, err);
    leat_iterator *iterator = dataset == NULL ? NULL : leat_iterator_new(dataset, NULL, err);
    leat_element element = {0};
    leat_status status = iterator == NULL ? err->code : LEAT_OK;
    while (status == LEAT_OK) {
        status = leat_iterator_next(iterator, &element, err);
        if (status == LEAT_OK) {
            int64_t value = *(const int64_t *)element.tensors[0].data;
            assert_in_range(value, 0, c->elements - 1);
            assert_int_equal(*(const int64_t *)element.tensors[1].data, value);
            assert_false(seen[value]);
            seen[value] = true;
            count++;
        }
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return status == LEAT_OUT_OF_RANGE ? count : -1;
}

static void damaged_make(const damaged_case *c, const char *folder) {
    leat_error err = {0};
    assert_int_equal(mkdir(folder, 0777), 0);
    if (c->kind == DAMAGED_SAVE) {
        leat_dataset *numbers = damaged_numbers(c, &err);
        leat_function *shard = damaged_shards(c, numbers, &err);
        leat_dataset_save_options save = {LEAT_DATASET_SAVE_DEFAULTS, .compression = c->compression,
                                          .shard_func = shard};
        if (leat_dataset_save(numbers, folder, &save, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        leat_function_unref(shard);
        leat_dataset_unref(numbers);
    } else if (damaged_count(c, folder, &err) != c->elements) {
        fail_msg("%s", err.text);
    }
    if (damaged_count(c, folder, &err) != c->elements)
        fail_msg("what was written reads as something else: %s", err.text);
}

/* ---- trials ---- */

static bool damaged_ends_in(const char *path, const char *end) {
    size_t size = strlen(path), tail = strlen(end);
    return size >= tail && strcmp(path + size - tail, end) == 0;
}

/* Reads a damaged folder: all elements or a refusal; `must`: a refusal, since elements are gone. */
static void damaged_try(const damaged_case *c, const char *folder, int entry, int64_t keep,
                        bool must) {
    leat_error err = {0};
    damaged_write_tree(folder, entry, keep);
    int64_t count = damaged_count(c, folder, &err);
    bool refused =
        count < 0 && (err.code == LEAT_DATA_LOSS || err.code == LEAT_NOT_FOUND) && err.text[0] != 0;
    if (refused || (count == c->elements && !must))
        return;
    fail_msg("%s of %lld elements, %s, with %lld bytes of %s: %lld elements (%s: %s)",
             c->kind == DAMAGED_SAVE       ? "save"
             : c->kind == DAMAGED_SNAPSHOT ? "snapshot"
                                           : "cache",
             (long long)c->elements, c->compression == NULL ? "plain" : c->compression,
             (long long)keep, damaged_tree.entries[entry].path, (long long)count,
             leat_status_name(err.code), err.text);
}

/* Every file and folder removed, emptied, and cut at `cuts` places (0: all). */
DAMAGED_UNUSED static void damaged_check(const damaged_case *c, size_t cuts, uint64_t seed) {
    char made[DAMAGED_PATH], broken[DAMAGED_PATH];
    leat_compression compression;
    /* A build may lack a library. */
    if (leat_compression_from_name(c->compression, &compression, &(leat_error){0}) ==
        LEAT_UNIMPLEMENTED)
        return;
    snprintf(made, sizeof made, "%s", scratch_path("made"));
    snprintf(broken, sizeof broken, "%s", scratch_path("broken"));
    scratch_remove(made);
    damaged_make(c, made);
    damaged_read_tree(made);
    for (int i = 1; i < damaged_tree.count; i++) {
        const char *path = damaged_tree.entries[i].path;
        size_t size = damaged_tree.entries[i].size;
        bool has_elements =
            damaged_ends_in(path, ".snapshot") || damaged_ends_in(path, "cache.data");
        /* Without its metadata a snapshot is not there, and is written again. */
        damaged_try(c, broken, i, -1, has_elements || damaged_ends_in(path, ".shard"));
        if (damaged_tree.entries[i].is_folder || size == 0)
            continue;
        size_t places = cuts == 0 || cuts > size ? size : cuts;
        for (size_t k = 0; k < places; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            size_t at = k == 0 ? 0 : k == 1 ? size - 1 : (size_t)(seed >> 33) % size;
            damaged_try(c, broken, i, (int64_t)(places == size ? k : at), has_elements);
        }
    }
    damaged_forget();
}

#endif
