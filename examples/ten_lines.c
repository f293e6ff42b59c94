/* The program of README.md: ten numbers, shuffled, in batches of four. */
#include <leat/leat.h>
#include <stdio.h>

int main(void) {
    leat_error err = {0};
    leat_dataset *ds = leat_dataset_range(0, 10, 1, NULL, &err);
    leat_dataset_shuffle_options shuffle = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(7)};
    ds = leat_dataset_shuffle(ds, 10, &shuffle, &err);
    ds = leat_dataset_batch(ds, 4, NULL, &err);
    leat_iterator *iterator = leat_iterator_new(ds, NULL, &err);
    leat_element element = {0};
    char text[256];
    while (iterator != NULL && leat_iterator_next(iterator, &element, &err) == LEAT_OK)
        if (leat_element_print(&element, text, sizeof text) > 0)
            puts(text);
    int failed = err.code != LEAT_OUT_OF_RANGE; /* the end of the sequence */
    if (failed)
        fprintf(stderr, "%s: %s\n", leat_status_name(err.code), err.text);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    return failed;
}
