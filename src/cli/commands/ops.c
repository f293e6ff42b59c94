/* leat ops: the tables of the library.
 *
 * Happy path: without an argument one line per dataset operator, tensor operation, layer, loss,
 * optimizer, metric and strategy; with a name everything about it; --json writes all of it for
 * machines. Failure modes: a name that is in no table (a message suggests one), no memory. No
 * locks. */
#include "cli/command.h"
#include "cli/say.h"
#include "cli/suggest.h"
#include "cli/tables.h"
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct ops_options {
    bool json;
};

static const leati_option ops_rows[] = {
    {.name = "json",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct ops_options, json),
     .doc = "Print everything as one JSON object."},
    {0},
};

/* The first sentence of a text. */
static int first_sentence(const char *doc) {
    const char *end = strstr(doc, ". ");
    return (int)(end != NULL ? end + 1 - doc : (ptrdiff_t)strlen(doc));
}

static void print_list(const leati_table *table) {
    printf("%s (%zu):\n", table->title, table->count);
    for (size_t i = 0; i < table->count; i++) {
        leati_entry entry = table->entry(i);
        printf("  %-30s %.*s\n", entry.name, first_sentence(entry.doc), entry.doc);
    }
}

/* Prints text in lines of at most 96 columns, each after `indent`. */
static void print_wrapped(const char *text, const char *indent) {
    size_t width = 96 - strlen(indent);
    while (*text) {
        size_t size = strlen(text);
        if (size > width) {
            size = width;
            /* Back to the last blank that fits; a longer word stands on a line of its own. */
            while (size > 0 && text[size] != ' ')
                size--;
            if (size == 0)
                size = strcspn(text, " ");
        }
        printf("%s%.*s\n", indent, (int)size, text);
        text += size;
        text += strspn(text, " ");
    }
}

static void print_arguments(const leati_row *rows) {
    for (const leati_row *row = rows; row != NULL && row->type; row++) {
        /* Filled in by the constructor: nobody can give it. */
        if (row->flags & LEATI_CONSTRUCT)
            continue;
        char value[64];
        printf("  %s: %s%s%s%s\n", row->name, leati_row_type_name(row->type),
               row->flags & LEATI_AUTOTUNE ? " or AUTOTUNE" : "",
               row->flags & LEATI_REQUIRED ? ", required" : "",
               leati_table_row_default_text(row, value, sizeof value));
        print_wrapped(row->doc, "      ");
    }
}

static void print_entry(const leati_table *table, const leati_entry *entry) {
    printf("%s (%s)\n", entry->name, table->singular);
    print_wrapped(entry->doc, "  ");
    if (entry->inputs[0])
        printf("  inputs: %s\n", entry->inputs);
    if (entry->rows != NULL && entry->rows->type) {
        puts("arguments:");
        print_arguments(entry->rows);
    }
}

/* Shows every entry of that name; a name may stand in several tables. */
static leati_exit show(const char *name) {
    leati_suggestion best = {.text = name};
    int found = 0;
    size_t count;
    const leati_table *tables = leati_tables(&count);
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < tables[t].count; i++) {
            leati_entry entry = tables[t].entry(i);
            /* While searching, in case nothing is found. */
            leati_suggest(&best, entry.name);
            if (strcmp(entry.name, name) != 0)
                continue;
            if (found++ > 0)
                puts("");
            print_entry(&tables[t], &entry);
        }
    }
    if (found)
        return LEATI_EXIT_OK;
    if (best.found != NULL)
        leati_say_error("ops: nothing is called %s; did you mean %s?", name, best.found);
    else
        leati_say_error("ops: nothing is called %s; 'leat ops' lists all names", name);
    return LEATI_EXIT_FAILURE;
}

static leati_exit print_json(void) {
    json_t *json = leati_tables_json();
    char *text = json != NULL ? json_dumps(json, JSON_INDENT(1)) : NULL;
    json_decref(json);
    if (text == NULL) {
        leati_say_error("out of memory");
        return LEATI_EXIT_FAILURE;
    }
    puts(text);
    json_free_t release;
    /* json_dumps takes memory by jansson's functions, which may not be malloc and free. */
    json_get_alloc_funcs(NULL, &release);
    release(text);
    return LEATI_EXIT_OK;
}

static leati_exit run_ops(void *options, char **arguments, int count) {
    if (((const struct ops_options *)options)->json)
        return print_json();
    if (count == 1)
        return show(arguments[0]);
    size_t tables_count;
    const leati_table *tables = leati_tables(&tables_count);
    for (size_t t = 0; t < tables_count; t++) {
        if (t > 0)
            puts("");
        print_list(&tables[t]);
    }
    puts("\n'leat ops NAME' shows the arguments of one.");
    return LEATI_EXIT_OK;
}

const leati_command leati_command_ops = {
    .name = "ops",
    .summary = "list operators, operations, layers and their arguments",
    .arguments = "[NAME]",
    .description = "Lists the dataset operators, the tensor operations, and the layers, losses,\n"
                   "optimizers, metrics and strategies, or shows the arguments of NAME with their\n"
                   "types, defaults and meaning.",
    .max_arguments = 1,
    .options = ops_rows,
    .size = sizeof(struct ops_options),
    .run = run_ops,
};
