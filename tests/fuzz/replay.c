/* Runs the targets without libFuzzer: `fuzz_replay CORPUS [TARGET...]`.
 *
 * CORPUS/TARGET.seeds has a line for each input: its name, a space, its bytes. Those that are not
 * printable ASCII, backslashes, and a space at the end stand as a backslash and two hexadecimal
 * digits. Every input is run, then (but for fixed-*, inputs of mended mistakes) seeded changes of
 * it: bytes that are flipped, cut out, doubled; for JSON, changes of its tree. The inputs may have
 * 200 KiB in all. A broken promise aborts; so the last line tells which input it was.
 * `fuzz_replay --unpack CORPUS TARGET FOLDER` writes each input into a file of its own, `--seeds
 * TARGET FOLDER` more to start from, `--dictionary` prints libFuzzer's dictionary, `--list` the
 * targets with their longest inputs, `--run TARGET FILE...` runs single files. No locks. */
#include "fuzz.h"
#include <limits.h>
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

static int digit_of(char c) {
    static const char digits[] = "0123456789abcdef";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* The bytes that a line's text stands for: no more than they are, so that a read beyond them is
 * seen. */
static uint8_t *decode(const char *text, size_t *size) {
    size_t length = strlen(text), n = 0;
    uint8_t *data = malloc(length + 1);
    if (data == NULL)
        fuzz_broken("no memory");
    for (size_t i = 0; i < length; i++) {
        int high = text[i] == '\\' ? digit_of(text[i + 1]) : 0;
        int low = text[i] == '\\' && high >= 0 ? digit_of(text[i + 2]) : 0;
        if (high < 0 || low < 0)
            fuzz_broken("\"%s\" has a backslash without two hexadecimal digits", text);
        data[n++] = text[i] == '\\' ? (uint8_t)(high << 4 | low) : (uint8_t)text[i];
        i += text[i] == '\\' ? 2 : 0;
    }
    *size = n;
    uint8_t *exact = realloc(data, n > 0 ? n : 1);
    return exact != NULL ? exact : data;
}

typedef void use_input(void *context, const char *name, const uint8_t *data, size_t size);

/* Calls `use` for the kept inputs of a target, in the order of their lines; returns how many. */
static size_t each_kept(const char *corpus, const char *target, use_input *use, void *context) {
    char path[PATH_MAX], *line = NULL;
    size_t count = 0, room = 0, size = 0;
    snprintf(path, sizeof path, "%s/%s.seeds", corpus, target);
    FILE *file = fopen(path, "r");
    for (ssize_t length; file != NULL && (length = getline(&line, &room, file)) > 0; count++) {
        line[strcspn(line, "\n")] = '\0';
        char *text = strchr(line, ' ');
        if (text == NULL || strlen(line) + 1 != (size_t)length)
            fuzz_broken("%s:%zu is no line of a name and bytes", path, count + 1);
        *text++ = '\0';
        uint8_t *data = decode(text, &size);
        use(context, line, data, size);
        free(data);
    }
    free(line);
    if (file != NULL)
        fclose(file);
    if (count == 0)
        fuzz_broken("%s has no input; `make fuzz TARGET=%s KEEP=1` fills it", path, target);
    return count;
}

typedef struct replayed {
    const fuzz_target *target;
    uint32_t count;
    size_t bytes;
} replayed;

static void replay_input(void *context, const char *name, const uint8_t *data, size_t size) {
    replayed *r = context;
    printf("  %s\n", name);
    fflush(stdout);
    r->target->run(data, size);
    if (strncmp(name, "fixed-", 6) != 0)
        run_changes(r->target, data, size, r->count);
    r->count++;
    r->bytes += size;
}

/* Runs a target's inputs; returns their bytes. */
static size_t replay(const fuzz_target *target, const char *corpus) {
    replayed r = {.target = target};
    printf("%s\n", target->name);
    each_kept(corpus, target->name, replay_input, &r);
    return r.bytes;
}

static void unpack_input(void *folder, const char *name, const uint8_t *data, size_t size) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", (const char *)folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        fuzz_broken("%s cannot be written", path);
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
    if (argc == 5 && strcmp(argv[1], "--unpack") == 0) {
        each_kept(argv[2], find(argv[3])->name, unpack_input, argv[4]);
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
