/* CategoryEncoding: numbers of categories as vectors (keras.layers.CategoryEncoding).
 *
 * A number outside of the categories is 0 everywhere. Failures: another output_mode. No state, no
 * locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/categories.h"
#include <string.h>

struct category_encoding_args {
    char *name; /* first: struct leati_layer_args */
    int64_t num_tokens;
    char *output_mode;
};

static const leati_row category_encoding_rows[] = {
    LEATI_LAYER_ROW(category_encoding_args, num_tokens, INT, .flags = LEATI_REQUIRED, .minimum = 1,
                    .maximum = INT32_MAX, .doc = "How many categories there are."),
    LEATI_LAYER_ROW(category_encoding_args, output_mode, STRING, .default_text = "multi_hot",
                    .doc = "\"one_hot\": a vector for each number; \"multi_hot\": 1 for those that "
                           "a row has; \"count\": how often it has them."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status category_encoding_check(const void *arguments, leat_error *err) {
    const struct category_encoding_args *args = arguments;
    /* The numbers as they are is a way of other layers alone. */
    if (args->output_mode != NULL && strcmp(args->output_mode, "int") == 0)
        return leati_refuse(err, VALUE,
                            "output_mode is \"int\"; expected one_hot, multi_hot or count");
    return leati_categories_check(args->output_mode, err);
}

static leat_value category_encoding_call(const leati_pass *pass) {
    const struct category_encoding_args *args = pass->args;
    return leati_categories_encode(leat_op_cast(pass->inputs[0], LEAT_INT64), args->output_mode,
                                   args->num_tokens);
}

const leati_layer_kind leati_layer_category_encoding = {
    .kind =
        {
            .name = "CategoryEncoding",
            .doc = "Numbers of categories as vectors (keras.layers.CategoryEncoding).",
            .rows = category_encoding_rows,
            .signature = "num_tokens output_mode sparse=false",
            .args_size = sizeof(struct category_encoding_args),
            .check = category_encoding_check,
        },
    .prefix = "category_encoding",
    .expects = "[batch, ...]",
    .takes_integers = true,
    .call = category_encoding_call,
};
