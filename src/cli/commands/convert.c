/* leat convert: record files made of class folders of pictures.
 *
 * Happy path: the files are written and listed with their numbers of records. Failure modes: one
 * message with exit status 1, and no file appears. No locks. */
#include "cli/convert.h"
#include "cli/command.h"
#include "cli/say.h"
#include <stddef.h>

#define OPTION(field) .offset = offsetof(leati_convert_options, field)

static const leati_option convert_rows[] = {
    {.name = "shards",
     .letter = 'n',
     .type = LEATI_OPTION_INT,
     OPTION(shards),
     .value = "N",
     .minimum = 1,
     .maximum = 500,
     .doc = "How many files to write (1)."},
    {.name = "shuffle", .type = LEATI_OPTION_FLAG, OPTION(shuffle), .doc = "Mix the classes."},
    {.name = "seed",
     .letter = 's',
     .type = LEATI_OPTION_SEED,
     OPTION(seed),
     .value = "N",
     .doc = "Of the order with --shuffle (1)."},
    {.name = "compression",
     .letter = 'c',
     .type = LEATI_OPTION_TEXT,
     OPTION(compression),
     .value = "TYPE",
     .doc = "GZIP, ZLIB, ZSTD, LZ4 or SNAPPY (none)."},
    {.name = "index",
     .type = LEATI_OPTION_FLAG,
     OPTION(index),
     .doc = "Write FILE.leat-index for each file, as leat index does."},
    {.name = "force",
     .letter = 'f',
     .type = LEATI_OPTION_FLAG,
     OPTION(force),
     .doc = "Replace files that are there, one by one when all are written."},
    {.name = "skip-bad",
     .type = LEATI_OPTION_FLAG,
     OPTION(skip_bad),
     .doc = "Name what is no picture and go on, instead of an error."},
    {0},
};

static void convert_defaults(void *options) {
    *(leati_convert_options *)options = (leati_convert_options){.shards = 1, .seed = LEAT_SEED(1)};
}

static leati_exit run_convert(void *options, char **arguments, int count) {
    (void)count;
    leat_error err = {0};
    if (leati_convert(arguments[0], arguments[1], options, &err) == LEAT_OK)
        return LEATI_EXIT_OK;
    leati_say_failure(&err);
    return LEATI_EXIT_FAILURE;
}

const leati_command leati_command_convert = {
    .name = "convert",
    .summary = "write picture folders as TFRecord files",
    .arguments = "FOLDER OUT",
    .description =
        "Writes the JPEG and PNG files FOLDER/CLASS/NAME as tf.train.Example records to\n"
        "OUT-00000-of-0000N.tfrecord and so on, with the features image/encoded, image/format,\n"
        "image/height, image/width, image/class/label (classes are numbered by their sorted\n"
        "names, from 0), image/class/text and image/filename. The same pictures and options give\n"
        "the same bytes. Every picture is decoded; what is none is an error that names it, and\n"
        "then no file is written. Names that begin with a dot are passed over.\n"
        "\n"
        "The tool of the Python package also has leat convert SOURCE TARGET --to FORMAT, which\n"
        "writes files of one format (TFRecord, Parquet, Arrow, MDS, WebDataset, CSV, lines of\n"
        "JSON, npz, HDF5, LMDB, Avro) as those of another.",
    .min_arguments = 2,
    .max_arguments = 2,
    .options = convert_rows,
    .size = sizeof(leati_convert_options),
    .defaults = convert_defaults,
    .run = run_convert,
};
