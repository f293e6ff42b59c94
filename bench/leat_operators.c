/* What each dataset operator costs: nanoseconds of processor time per element, over blocks.
 *
 *   leat_operators SECONDS [NAME...]
 *
 * Every line of operators.def is a plan that runs to its end without rewrites, and its inputs alone
 * are plans too; both alternate for SECONDS, and the difference of the fastest runs is the
 * operator's own. Every line of rewrites.def runs with the rewrite and without it, by the clock.
 * Prints a line of JSON for each. Files that sources read are written to a scratch folder. A
 * failure ends the program. */
#include "data/plan/dataset.h"
#include "data/run/input.h"
#include "leat_bench.h"
#include <jansson.h>
#include <unistd.h>

/* Plans are JSON with ' in place of ". */
#define INT "{'dtype':'int64','shape':[]}"
#define BOOL "{'dtype':'bool','shape':[]}"
#define ZERO "{'dtype':'int64','shape':[],'data':[0]}"
#define NODE(op, args) "{'op':'" op "','args':{" args "}}"
#define OP(op, args, inputs) "{'op':'" op "','args':{" args "},'inputs':[" inputs "]}"
#define FN(in, out, nodes, outputs)                                                                \
    "{'input':" in ",'output':" out ",'nodes':[" nodes "],'outputs':[" outputs "]}"
#define CALL(op, inputs, number)                                                                   \
    "{'op':'" op "','version':1,'attrs':{},'inputs':[" inputs "],'number':" number "}"
#define CONSTANT(dtype, value, number)                                                             \
    "{'op':'constant','version':1,'attrs':{'value':{'dtype':'" dtype "','shape':[],'data':[" value \
    "]}},'inputs':[],'number':" number "}"
#define PAIR(a, b) "{'tuple':[" a "," b "]}"

enum { MANY = 1 << 20, LINES = 1 << 16 };
#define RANGE NODE("range", "'stop':1048576")
#define HALF NODE("range", "'stop':524288")
#define FEW NODE("range", "'stop':65536")
#define BATCHES OP("batch", "'batch_size':32", RANGE)
#define DICTS OP("map", "'map_func':" FN(INT, "{'dict':{'a':" INT "}}", "", "0"), RANGE)
#define VECTOR "@VECTOR"
#define LIST "@LIST"
#define SQUARE FN(INT, INT, CALL("multiply", "0,0", "0"), "1")
#define SAME FN(INT, INT, "", "0")
#define MODULO FN(INT, INT, CONSTANT("int64", "8", "0") "," CALL("floormod", "0,1", "1"), "2")
#define EVEN                                                                                       \
    FN(INT, BOOL,                                                                                  \
       CONSTANT("int64", "2", "0") "," CALL("floormod", "0,1", "1") "," CONSTANT(                  \
           "int64", "0", "2") "," CALL("equal", "2,3", "3"),                                       \
       "4")
#define PARITY FN(INT, INT, CONSTANT("int64", "2", "0") "," CALL("floormod", "0,1", "1"), "2")
#define TEXT "{'dtype':'string','shape':[]}"
#define READ FN(TEXT, TEXT, CALL("read_file", "0", "0"), "1")
#define FILE_NAME "{'dtype':'string','shape':[],'data':['records.tfrecord']}"
#define ALWAYS FN(INT, BOOL, CONSTANT("int64", "-1", "0") "," CALL("greater", "0,1", "1"), "2")
#define FIRST_STATE FN(INT, INT, CONSTANT("int64", "0", "0"), "1")
#define ADD FN(PAIR(INT, INT), INT, CALL("add", "0,1", "0"), "2")
#define RUNNING_SUM FN(PAIR(INT, INT), PAIR(INT, INT), CALL("add", "0,1", "0"), "2,2")
#define SECOND_DATASET FN(PAIR(INT, "{'dataset':" INT "}"), "{'dataset':" INT "}", "", "1")
#define SIXTEEN                                                                                    \
    FN(INT, "{'dataset':" INT "}",                                                                 \
       CONSTANT("int64", "16", "0") ",{'op':'dataset','version':1,'attrs':{'op':'range','bound':"  \
                                    "['stop']},'inputs':[1],'number':1}",                          \
       "2")

typedef struct line {
    const char *name, *plan, *reason;
    int64_t elements;
} line;

static const line operators[] = {
#define X(name, elements, plan) {#name, plan, NULL, elements},
#define Y(name, reason) {#name, NULL, reason, 0},
#include "operators.def"
#undef X
#undef Y
};

static const line rewrites[] = {
#define X(name, elements, plan) {#name, plan, NULL, elements},
#define Y(name, reason) {#name, NULL, reason, 0},
#include "rewrites.def"
#undef X
#undef Y
};

/* ---- plans ---- */

static char *numbers(const char *format, int count, const char *head, const char *tail) {
    size_t room = (size_t)count * 64 + 200, size = 0;
    char *text = bench_alloc(room);
    size += (size_t)snprintf(text, room, "%s", head);
    for (int i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, room - size, format, i == 0 ? "" : ",", i);
    snprintf(text + size, room - size, "%s", tail);
    return text;
}

/* The plan's JSON: quotes, and the two literals that are too long to stand in a table. Owned. */
static json_t *read_plan(const char *plan) {
    const char *at = strchr(plan, '@');
    char *literal = NULL;
    size_t skip = 0;
    if (at != NULL && strncmp(at, VECTOR, strlen(VECTOR)) == 0) {
        literal = numbers("%s%d", 65536, "{'dtype':'int64','shape':[65536],'data':[", "]}");
        skip = strlen(VECTOR);
    } else if (at != NULL) {
        literal = numbers("%s{'dtype':'int64','shape':[],'data':[%d]}", 4096, "[", "]");
        skip = strlen(LIST);
    }
    size_t room = strlen(plan) + (literal == NULL ? 0 : strlen(literal)) + 1;
    char *text = bench_alloc(room);
    if (literal == NULL)
        snprintf(text, room, "%s", plan);
    else
        snprintf(text, room, "%.*s%s%s", (int)(at - plan), plan, literal, at + skip);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);
    if (json == NULL) {
        fprintf(stderr, "leat_operators: %s\n%.300s\n", error.text, text);
        exit(2);
    }
    free(literal);
    free(text);
    return json;
}

/* ---- measuring ---- */

/* An operator that takes its input in blocks of 4,096 and gives none of it on. A user's iterator
 * asks for one element at a time where asking ahead would be seen; batch, shuffle and the like do
 * not. */
struct sink_args {
    int64_t elements;
};

static const leati_row sink_rows[] = {
    {.name = "elements",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct sink_args, elements),
     .doc = "How many are taken of an input without an end."},
    {0},
};

static leat_status sink_open(leati_node_state *node, void *state, leat_error *err) {
    return leati_input_open(state, node, 0, err);
}

static leati_tail sink_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    const struct sink_args *args = node->dataset->args;
    bool endless = node->dataset->inputs[0]->cardinality == LEAT_INFINITE_CARDINALITY;
    (void)want;
    leati_block_clear(out);
    for (int64_t seen = 0; !endless || seen < args->elements;) {
        int64_t available = 0;
        leati_tail tail = leati_input_peek(state, 4096, NULL, &available, err);
        if (available == 0)
            return tail;
        leati_input_consume(state, available);
        seen += available;
    }
    return LEATI_END;
}

static void sink_close(leati_node_state *node, void *state) {
    (void)node;
    leati_input_close(state);
}

static const leati_dataset_op sink = {
    .name = "sink",
    .version = 1,
    .doc = "Takes blocks.",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .args_size = sizeof(struct sink_args),
    .rows = sink_rows,
    .state_size = sizeof(leati_input),
    .open = sink_open,
    .pull = sink_pull,
    .close = sink_close,
};

/* The plan under a sink. */
static leat_dataset *dataset_of(const char *name, const json_t *json, int64_t elements) {
    leat_error err = {0};
    struct sink_args args = {.elements = elements};
    char *text = json_dumps(json, 0);
    leat_dataset *dataset = leat_dataset_from_json(text, &err);
    if (dataset != NULL)
        dataset = leati_dataset_new(&sink, &args, &dataset, 1, &err);
    bench_check(dataset != NULL, name, &err);
    free(text);
    return dataset;
}

/* Seconds of one run: of processor time, or with rewrites, which may use more threads, of the
 * clock. */
static double drain(const char *name, leat_dataset *dataset, bool rewritten) {
    leat_error err = {0};
    leat_element element = {0};
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .rewrites = !(!rewritten),
                                     .autotune = false};
    double start = rewritten ? bench_now() : bench_cpu();
    leat_iterator *iterator = leat_iterator_new(dataset, &options, &err);
    bench_check(iterator != NULL, name, &err);
    bench_check(leat_iterator_next(iterator, &element, &err) == LEAT_OUT_OF_RANGE, name, &err);
    leat_iterator_free(iterator);
    leat_element_fini(&element);
    return (rewritten ? bench_now() : bench_cpu()) - start;
}

/* The fastest runs of two sets of datasets, in turns until the time is up, but three at least. */
typedef struct pair {
    leat_dataset *a[8], *b[8];
    int num_a, num_b;
    bool rewritten;
    double fastest_a, fastest_b;
} pair;

static void measure(const line *l, pair *p, double seconds) {
    double until = bench_now() + seconds;
    p->fastest_a = p->fastest_b = 1e9;
    for (int round = 0; round < 3 || bench_now() < until; round++) {
        double a = 0, b = 0;
        for (int i = 0; i < p->num_a; i++)
            a += drain(l->name, p->a[i], p->rewritten);
        for (int i = 0; i < p->num_b; i++)
            b += drain(l->name, p->b[i], p->rewritten);
        p->fastest_a = a < p->fastest_a ? a : p->fastest_a;
        p->fastest_b = b < p->fastest_b ? b : p->fastest_b;
    }
    for (int i = 0; i < p->num_a; i++)
        leat_dataset_unref(p->a[i]);
    for (int i = 0; i < p->num_b; i++)
        leat_dataset_unref(p->b[i]);
}

static void measure_operator(const line *l, double seconds) {
    json_t *plan = read_plan(l->plan);
    const json_t *inputs = json_object_get(plan, "inputs");
    pair p = {.num_a = 1};
    p.a[0] = dataset_of(l->name, plan, l->elements);
    for (size_t i = 0; i < json_array_size(inputs) && i < 8; i++)
        p.b[p.num_b++] = dataset_of(l->name, json_array_get(inputs, i), l->elements);
    json_decref(plan);
    measure(l, &p, seconds);
    double all = p.fastest_a * 1e9 / (double)l->elements,
           below = p.fastest_b * 1e9 / (double)l->elements;
    printf("{\"operator\": \"%s\", \"ns\": %.3f, \"ns_with_inputs\": %.3f, \"elements\": %lld}\n",
           l->name, all > below ? all - below : 0, all, (long long)l->elements);
    fflush(stdout);
}

/* The plan with one option: the rewrite is to be applied, or not. */
static leat_dataset *with_option(const line *l, json_t *plan, bool applied) {
    char option[100];
    snprintf(option, sizeof option, "experimental_optimization.%s", l->name);
    json_t *json = json_pack("{s:s, s:{s:b}, s:O}", "op", "with_options", "args", option, applied,
                             "input", plan);
    leat_dataset *dataset = dataset_of(l->name, json, l->elements);
    json_decref(json);
    return dataset;
}

static void measure_rewrite(const line *l, double seconds) {
    json_t *plan = read_plan(l->plan);
    pair p = {.num_a = 1, .num_b = 1, .rewritten = true};
    p.a[0] = with_option(l, plan, true);
    p.b[0] = with_option(l, plan, false);
    json_decref(plan);
    measure(l, &p, seconds);
    printf("{\"rewrite\": \"%s\", \"ns_with\": %.3f, \"ns_without\": %.3f, \"ratio\": %.3f}\n",
           l->name, p.fastest_a * 1e9 / (double)l->elements,
           p.fastest_b * 1e9 / (double)l->elements, p.fastest_b / p.fastest_a);
    fflush(stdout);
}

/* ---- files for the sources ---- */

static void write_files(void) {
    leat_error err = {0};
    leat_tfrecord_writer *records = leat_tfrecord_writer_open("records.tfrecord", NULL, &err);
    FILE *lines = fopen("lines.txt", "w"), *fixed = fopen("records.bin", "w"),
         *csv = fopen("numbers.csv", "w"), *npy = fopen("numbers.npy", "w");
    if (records == NULL || lines == NULL || fixed == NULL || csv == NULL || npy == NULL) {
        fprintf(stderr, "leat_operators: no files in the scratch folder\n");
        exit(2);
    }
    static const char dict[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (%d, 8), }";
    char header[119] = "";
    int written = snprintf(header, sizeof header, dict, (int)LINES);
    memset(header + written, ' ', sizeof header - 1 - (size_t)written);
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, npy);
    fwrite(header, 1, sizeof header - 1, npy);
    for (int i = 0; i < LINES; i++) {
        char text[65];
        snprintf(text, sizeof text, "%064d", i);
        bench_check(leat_tfrecord_writer_write(records, text, 64, &err) == LEAT_OK, "records",
                    &err);
        fprintf(lines, "%s\n", text);
        fwrite(text, 1, 64, fixed);
        fwrite(text, 1, 64, npy);
        fprintf(csv, "%d,%d.25\n", i, i % 1000);
    }
    bench_check(leat_tfrecord_writer_close(records, &err) == LEAT_OK, "records", &err);
    fclose(lines);
    fclose(fixed);
    fclose(npy);
    fclose(csv);
}

static bool is_named(int argc, char **argv, const char *name) {
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 2;
}

static void measure_all(const line *table, size_t count, const char *kind, int argc, char **argv,
                        void (*one)(const line *, double)) {
    for (size_t i = 0; i < count; i++) {
        if (!is_named(argc, argv, table[i].name))
            continue;
        if (table[i].plan == NULL)
            printf("{\"%s\": \"%s\", \"reason\": \"%s\"}\n", kind, table[i].name, table[i].reason);
        else
            one(&table[i], atof(argv[1]));
    }
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/leat-operators-XXXXXX", command[100];
    if (argc < 2 || mkdtemp(folder) == NULL || chdir(folder) != 0) {
        fprintf(stderr, "usage: leat_operators SECONDS [NAME...]\n");
        return 2;
    }
    write_files();
    measure_all(operators, sizeof operators / sizeof *operators, "operator", argc, argv,
                measure_operator);
    measure_all(rewrites, sizeof rewrites / sizeof *rewrites, "rewrite", argc, argv,
                measure_rewrite);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}
