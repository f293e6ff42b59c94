/* CSV files: the same records and errors in reads of any size. The first three bytes of an input
 * choose columns, delimiter and options. */
#include "fuzz.h"
#include <jansson.h>
#include <stdlib.h>

enum { OPTIONS = 3 };

/* Defaults for up to four columns whose dtypes and presence the bits say. */
static json_t *make_defaults(uint8_t bits, int columns) {
    static const char *const dtypes[] = {"string", "int64", "float64", "int32"};
    json_t *list = json_array();
    for (int i = 0; i < columns; i++) {
        int type = (bits >> i) & 3, count = (bits >> (i + 2)) & 1;
        json_t *data = json_array();
        if (count > 0)
            json_array_append_new(data, type == 0 ? json_string("none") : json_integer(9));
        json_array_append_new(list, json_pack("{s:s, s:[i], s:o}", "dtype", dtypes[type], "shape",
                                              count, "data", data));
    }
    return json_pack("{s:o}", "tuple", list);
}

static leat_dataset *open_csv(const char *path, const uint8_t *choice, int64_t buffer_size) {
    static const char *const delimiters[] = {",", ";", "\t", "\"", "\n", "a"};
    int columns = 1 + choice[0] % 4;
    leat_error err = {0};
    json_t *args =
        json_pack("{s:s, s:o, s:b, s:b, s:s, s:s}", "filenames", path, "record_defaults",
                  make_defaults(choice[2], columns), "header", choice[1] & 1, "use_quote_delim",
                  !(choice[1] & 2), "na_value", choice[1] & 4 ? "NA" : "", "field_delim",
                  delimiters[(choice[1] >> 3) % 6]);
    if (buffer_size > 0)
        json_object_set_new(args, "buffer_size", json_integer(buffer_size));
    if (choice[1] & 128)
        json_object_set_new(args, columns == 2 ? "select_cols" : "exclude_cols",
                            json_pack("[i,i]", 0, 2));
    json_t *plan = json_pack("{s:s, s:o}", "op", "csv_dataset", "args", args);
    char *text = json_dumps(plan, 0);
    leat_dataset *dataset = leat_dataset_from_json(text, &err);
    if (dataset == NULL)
        fuzz_check_error("csv_dataset", err.code, &err);
    free(text);
    json_decref(plan);
    return dataset;
}

static void run(const uint8_t *data, size_t size) {
    static fuzz_outcomes expected, found;
    static const int64_t reads[] = {1, 7, 64};
    if (size < OPTIONS)
        return;
    const char *path = fuzz_file(data + OPTIONS, size - OPTIONS);
    fuzz_run(open_csv(path, data, 0), false, &expected);
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        fuzz_run(open_csv(path, data, reads[i]), i == 1, &found);
        fuzz_compare("records", &expected, &found);
    }
}

const fuzz_target fuzz_csv = {
    .name = "csv",
    .doc = "CSV files",
    .run = run,
    .most = 1024,
    .folders = "files/csv",
    .ending = ".csv",
    .options = OPTIONS,
};
