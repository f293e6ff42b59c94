/* Suggestions by edit distance (optimal string alignment: a swap of neighbours is one step). Cannot
 * fail; no locks. */
#include "cli/suggest.h"
#include "base/minmax.h"

#include <string.h>

#define LONGEST 63

static size_t least(size_t a, size_t b) {
    return LEATI_MIN(a, b);
}

size_t leati_suggest_distance(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b);
    /* No name of the tables is so long: nothing is near it. */
    if (rows > LONGEST || columns > LONGEST)
        return SIZE_MAX;
    size_t cost[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= rows; i++)
        cost[i][0] = i;
    for (size_t j = 0; j <= columns; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            size_t best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = least(best, least(cost[i - 1][j], cost[i][j - 1]) + 1);
            /* Two neighbours that changed places, the most frequent slip of all. */
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, cost[i - 2][j - 2] + 1);
            cost[i][j] = best;
        }
    }
    return cost[rows][columns];
}

void leati_suggest(leati_suggestion *suggestion, const char *candidate) {
    size_t size = strlen(suggestion->text);
    size_t distance = leati_suggest_distance(suggestion->text, candidate);
    /* Beyond a third of its letters a word is another word. */
    size_t limit = size < 3 ? 1 : size / 3;
    /* A name that was broken off is meant, however much is missing. */
    bool begins = size >= 2 && strncmp(suggestion->text, candidate, size) == 0;
    if (distance > limit && !begins)
        return;
    if (suggestion->found == NULL || distance < suggestion->distance) {
        suggestion->found = candidate;
        suggestion->distance = distance;
    }
}
