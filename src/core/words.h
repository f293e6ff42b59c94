/* Lists of words in descriptors, separated by blanks: NAME or NAME=JSON. */
#ifndef LEATI_CORE_WORDS_H
#define LEATI_CORE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct leati_word {
    const char *name;
    size_t size;
    const char *value; /* behind "="; NULL: none */
    size_t value_size;
} leati_word;

/* Takes the next word off `text` (NULL: none); false at its end. */
static inline bool leati_word_next(const char **text, leati_word *out) {
    const char *at = *text != NULL ? *text + strspn(*text, " ") : "";
    size_t size = strcspn(at, " "), name = strcspn(at, " =");
    *out = (leati_word){.name = at, .size = name};
    if (name < size) {
        out->value = at + name + 1;
        out->value_size = size - name - 1;
    }
    *text = at + size;
    return size > 0;
}

static inline bool leati_word_is(const leati_word *word, const char *name) {
    return strlen(name) == word->size && memcmp(word->name, name, word->size) == 0;
}

#endif
