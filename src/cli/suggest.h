/* "Did you mean": the name of a list that is nearest to what was typed. */
#ifndef LEATI_CLI_SUGGEST_H
#define LEATI_CLI_SUGGEST_H

#include <leat/base.h>

typedef struct leati_suggestion {
    const char *text;  /* what was typed; set by the caller, the rest is zero */
    const char *found; /* the nearest candidate so far; NULL: none is near */
    size_t distance;
} leati_suggestion;

/* Offers a candidate (borrowed; valid as long as the suggestion is used). It counts as near if a
 * third of the typed letters or fewer must change, or if what was typed is its beginning. */
void leati_suggest(leati_suggestion *suggestion, const char *candidate);

/* The number of letters to insert, remove, replace or swap with their neighbour. Texts beyond 63
 * bytes are infinitely far. */
size_t leati_suggest_distance(const char *a, const char *b);

#endif
