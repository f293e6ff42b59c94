/* Runs the targets without libFuzzer: `fuzz_replay CORPUS [TARGET...]`.
 *
 * Every file of CORPUS/TARGET is run, then (but for fixed-*, inputs of mended mistakes) seeded
 * changes of it: bytes that are flipped, cut out, doubled; for JSON, changes of its tree. The files
 * may have 200 KiB in all. A broken promise aborts; so the last line tells which input it was.
 * `fuzz_replay --seeds TARGET FOLDER` writes inputs to start from, `--dictionary` prints
 * libFuzzer's dictionary, `--list` the targets with their longest inputs, `--run TARGET FILE...`
 * runs single files. No locks. */
#include "fuzz.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CORPUS = 200 << 10, CHANGES = 12, LARGEST = 1 << 20 };

static uint8_t *read_file(const char *path, size_t *size) {
    uint8_t *data = malloc(LARGEST);
    FILE *file = fopen(path, "rb");
    if (file == NULL || data == NULL)
        fuzz_broken("%s cannot be read", path);
    *size = fread(data, 1, LARGEST, file);
    fclose(file);
    return data;
}

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* One change of bytes in place; returns the new size. */
static size_t change_bytes(uint8_t *data, size_t size, size_t most, uint32_t *random) {
    if (size == 0)
        return 0;
    size_t at = next_random(random) % size, rest = size - at;
    size_t n = 1 + next_random(random) % (rest < 16 ? rest : 16);
    switch (next_random(random) % 5) {
    case 0: data[at] ^= (uint8_t)(1u << next_random(random) % 8); return size;
    case 1: data[at] = (uint8_t)next_random(random); return size;
    case 2: memmove(data + at, data + at + n, rest - n); return size - n;
    case 3: return at;
    default:
        if (size + n > most)
            return size;
        memmove(data + at + n, data + at, rest);
        return size + n;
    }
}

static void run_changes(const fuzz_target *target, const uint8_t *data, size_t size,
                        uint32_t seed) {
    uint8_t *changed = malloc(target->most + 1);
    if (changed == NULL)
        fuzz_broken("no memory");
    for (uint32_t i = 0; i < CHANGES && size <= target->most; i++) {
        uint32_t random = seed * 7919u + i;
        size_t length = size;
        memcpy(changed, data, size);
        for (uint32_t k = 0; k <= i % 3 && length > 0; k++) {
            size_t made = target->form == FUZZ_BYTES || i % 4 == 3
                              ? 0
                              : fuzz_mutate_json(changed, length, target->most, random + k);
            length = made > 0 ? made : change_bytes(changed, length, target->most, &random);
        }
        uint8_t *exact = malloc(length > 0 ? length : 1); /* so that a read beyond it is seen */
        if (exact == NULL)
            fuzz_broken("no memory");
        memcpy(exact, changed, length);
        target->run(exact, length);
        free(exact);
    }
    free(changed);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Runs a target's files; returns their bytes. */
static size_t replay(const fuzz_target *target, const char *corpus) {
    char path[4096], *names[1000];
    size_t count = 0, bytes = 0;
    snprintf(path, sizeof path, "%s/%s", corpus, target->name);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && count < 1000)
            names[count++] = strdup(entry->d_name);
    if (folder != NULL)
        closedir(folder);
    qsort(names, count, sizeof *names, by_name);
    printf("%s: %zu files\n", target->name, count);
    if (count == 0)
        fuzz_broken("%s/%s has no file; `make fuzz TARGET=%s KEEP=1` fills it", corpus,
                    target->name, target->name);
    for (size_t i = 0; i < count; i++) {
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s/%s", corpus, target->name, names[i]);
        printf("  %s\n", names[i]);
        fflush(stdout);
        uint8_t *data = read_file(path, &size);
        target->run(data, size);
        if (strncmp(names[i], "fixed-", 6) != 0)
            run_changes(target, data, size, (uint32_t)i);
        bytes += size;
        free(data);
        free(names[i]);
    }
    return bytes;
}

static const fuzz_target *find(const char *name) {
    const fuzz_target *target = fuzz_find(name);
    if (target == NULL) {
        fprintf(stderr, "fuzz: no target %s; --list shows them\n", name);
        exit(2);
    }
    return target;
}

static void list(void) {
    size_t count = 0;
    const fuzz_target *const *targets = fuzz_targets(&count);
    for (size_t i = 0; i < count; i++)
        printf("%s\t%zu\t%s\t%s\t%zu\t%s\n", targets[i]->name, targets[i]->most,
               targets[i]->folders != NULL ? targets[i]->folders : "-",
               targets[i]->ending != NULL ? targets[i]->ending : "-", targets[i]->options,
               targets[i]->doc);
}

static bool named(int argc, char **argv, const char *name) {
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc <= 2;
}

static int replay_all(int argc, char **argv, const char *corpus) {
    size_t count = 0, bytes = 0;
    const fuzz_target *const *targets = fuzz_targets(&count);
    for (size_t i = 0; i < count; i++)
        if (named(argc, argv, targets[i]->name))
            bytes += replay(targets[i], corpus);
    printf("%zu bytes\n", bytes);
    if (bytes > MOST_CORPUS)
        fprintf(stderr, "fuzz: the corpus has %zu bytes; at most %d are kept\n", bytes,
                MOST_CORPUS);
    return bytes > MOST_CORPUS;
}

int main(int argc, char **argv) {
    char *corpus = argc > 1 ? realpath(argv[1], NULL) : NULL;
    int result = 0;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--dictionary") == 0) {
        fuzz_print_dictionary();
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "--seeds") == 0) {
        char *folder = realpath(argv[3], NULL);
        const fuzz_target *target = find(argv[2]);
        fuzz_seed_folder(folder != NULL ? folder : argv[3]);
        fuzz_begin();
        if (target->seeds != NULL)
            target->seeds();
        free(folder);
    } else if (argc > 3 && strcmp(argv[1], "--run") == 0) {
        const fuzz_target *target = find(argv[2]);
        uint8_t *data[64];
        size_t sizes[64];
        for (int i = 3; i < argc && i < 67; i++)
            data[i - 3] = read_file(argv[i], &sizes[i - 3]);
        fuzz_begin();
        for (int i = 3; i < argc && i < 67; i++) {
            puts(argv[i]);
            fflush(stdout);
            target->run(data[i - 3], sizes[i - 3]);
            free(data[i - 3]);
        }
    } else if (corpus != NULL) {
        fuzz_begin();
        result = replay_all(argc, argv, corpus);
    } else {
        fprintf(stderr, "usage: fuzz_replay CORPUS [TARGET...]\n");
        return 2;
    }
    free(corpus);
    fuzz_end();
    return result;
}
