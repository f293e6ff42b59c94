/* Fuzz targets: one file and one line of targets.def for each format that comes from outside.
 *
 * A target takes any bytes and returns; it aborts through fuzz_broken where the library breaks a
 * promise (an answer that depends on how a file was cut into reads, an INTERNAL error, a state that
 * cannot be restored). Crashes, leaks, and undefined behaviour are the sanitizers' part. The same
 * table is built twice: with libFuzzer by `make fuzz`, and with a plain main by the tests, which
 * runs the kept corpus and seeded changes of it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <leat/leat.h>

typedef enum fuzz_form {
    FUZZ_BYTES = 0,
    FUZZ_JSON,          /* the whole input is JSON text */
    FUZZ_JSON_AND_BYTES /* JSON text, a zero byte, and bytes */
} fuzz_form;

typedef struct fuzz_target {
    const char *name; /* as in targets.def */
    const char *doc;
    void (*run)(const uint8_t *data, size_t size);
    fuzz_form form;      /* what the mutator makes of an input */
    size_t most;         /* bytes of the longest input that is worth trying */
    const char *folders; /* of recorded files to start from, below tests/golden/data, with commas */
    const char *ending;  /* only files with this ending; NULL: all */
    /* Before recorded files, where the input begins with bytes that choose options. */
    size_t options;
    /* Writes more inputs to start from (fuzz_seed); NULL: none. */
    void (*seeds)(void);
} fuzz_target;

const fuzz_target *fuzz_find(const char *name);
const fuzz_target *const *fuzz_targets(size_t *count);

/* Once, before any other call of the library: an allocator that refuses more than 256 MiB in all, a
 * scratch folder as working directory with a copy of the recorded files as `files`, no log. */
void fuzz_begin(void);
void fuzz_end(void);

/* Reports a broken promise and aborts. */
_Noreturn void fuzz_broken(const char *format, ...) LEAT_PRINTF(1, 2);
/* A failure is reported with its code and a text, and is not INTERNAL. */
void fuzz_check_error(const char *what, leat_status status, const leat_error *err);

/* The path of a file in memory that holds the bytes; one file, which the next call replaces. */
const char *fuzz_file(const void *data, size_t size);
/* Writes one input to start from, while a target's `seeds` runs. */
void fuzz_seed(const void *data, size_t size);
/* The folder that fuzz_seed writes to. */
void fuzz_seed_folder(const char *folder);

enum { FUZZ_OUTCOMES = 1000 };

/* What an iterator delivered: a hash for each element, the code for each error. */
typedef struct fuzz_outcomes {
    uint64_t hashes[FUZZ_OUTCOMES];
    size_t count;
    bool ended;
    bool limited; /* by memory, time or cancellation, so that another run may differ */
} fuzz_outcomes;

uint64_t fuzz_hash_element(const leat_element *element, uint64_t hash);
/* Cancels the iterator `ms` milliseconds from now, unless fuzz_unwatch comes before; one at a time.
 */
void fuzz_watch(leat_iterator *iterator, int ms);
void fuzz_unwatch(void);
/* Appends up to `most` outcomes. A run of more than `ms` milliseconds is cancelled. */
void fuzz_pull(leat_iterator *iterator, size_t most, int ms, fuzz_outcomes *outcomes);
/* All outcomes of a dataset (given, NULL for one that was refused) on one thread. */
void fuzz_run(leat_dataset *dataset, bool verify, fuzz_outcomes *outcomes);
/* Both runs delivered the same, as far as both went. */
void fuzz_compare(const char *what, const fuzz_outcomes *a, const fuzz_outcomes *b);

/* One change of the JSON text in `data`, deterministic by `seed`: of a number, a member, a subtree
 * that is exchanged with another one or put under another operator. Returns the new size, or 0
 * where the text is no JSON or the result does not fit `most`. */
size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t most, uint32_t seed);
/* The words of the tables of operators, as libFuzzer's dictionary. */
void fuzz_print_dictionary(void);

#endif
