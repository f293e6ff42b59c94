/* golden: runs the recorded cases of a folder and compares what the library answers.
 *
 *     golden [--only PART] [--modes LIST] [--seed N] [--case NAME] [--deviations FILE]
 *            [--device NAME] [--verbose] DIR
 *
 * DIR holds tfdata/, distribute/, nn/ and image/ (tests/golden/data describes them); it is only
 * read. FILE lists where leat deviates from the recorded answers on purpose. The last line is "N
 * passed, N deviations, N failed, N skipped". Exit code 0: nothing failed; 1: a case failed, a file
 * is missing or of an unknown kind, or no case ran; 2: the command line is wrong. */
#include "support/golden.h"
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct part {
    const char *name;
    void (*run)(golden_run *run);
} parts[] = {
    {"tfdata", golden_tfdata},
    {"distribute", golden_distribute},
    {"nn", golden_nn},
    {"image", golden_image},
};

static const struct mode {
    const char *name;
    uint32_t bits;
} modes[] = {
    {"plain", GOLDEN_PLAIN},           {"threads1", GOLDEN_THREADS_1},
    {"threads2", GOLDEN_THREADS_2},    {"threads8", GOLDEN_THREADS_8},
    {"verify", GOLDEN_VERIFY},         {"no_rewrites", GOLDEN_NO_REWRITES},
    {"round_trip", GOLDEN_ROUND_TRIP}, {"restore", GOLDEN_RESTORE},
    {"resume", GOLDEN_RESUME},         {"all", 511},
};

static const char usage[] =
    "usage: golden [--only PART] [--modes LIST] [--seed N] [--case NAME] [--deviations FILE]\n"
    "              [--device NAME] [--verbose] DIR\n"
    "  --only PART        tfdata, distribute, nn or image; all of them otherwise\n"
    "  --modes LIST       how pipelines of tfdata run, separated by commas: plain (the default),\n"
    "                     threads1, threads2, threads8, verify, no_rewrites, round_trip,\n"
    "                     restore, resume, all\n"
    "  --seed N           of verification mode; default 1\n"
    "  --case NAME        only cases of that name\n"
    "  --deviations FILE  where leat deviates on purpose; default tests/golden/deviations.json\n"
    "  --device NAME      of nn: run steps there, such as xla_cpu; default the host\n"
    "  --verbose          name each skipped case\n";

static bool read_modes(const char *list, uint32_t *out) {
    *out = 0;
    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ","), i = 0, count = sizeof modes / sizeof modes[0];
        while (i < count &&
               (strlen(modes[i].name) != length || strncmp(modes[i].name, at, length) != 0))
            i++;
        if (i == count)
            return false;
        *out |= modes[i].bits;
        at += length + (at[length] == ',');
    }
    return *out != 0;
}

static bool known_part(const char *name) {
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(parts[i].name, name) == 0)
            return true;
    return false;
}

static int run_parts(golden_run *run, const char *only) {
    run->reasons = json_object();
    run->exclusions = json_object();
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (only == NULL || strcmp(only, parts[i].name) == 0)
            parts[i].run(run);
    if (run->passed + run->deviated + run->failed == 0)
        golden_broken(run, "no case ran");
    golden_summary(run);
    json_decref(run->reasons);
    json_decref(run->exclusions);
    json_decref(run->deviations);
    return run->failed > 0 || run->broken > 0 ? 1 : 0;
}

/* "XLA_CPU:0" of "xla_cpu". */
static const char *device_of(const char *kind, char out[32]) {
    size_t size = 0;
    for (; kind[size] != '\0' && size < 24; size++)
        out[size] = (char)toupper((unsigned char)kind[size]);
    snprintf(out + size, 32 - size, ":0");
    return out;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"only", required_argument, NULL, 'o'},
        {"modes", required_argument, NULL, 'm'},
        {"seed", required_argument, NULL, 's'},
        {"case", required_argument, NULL, 'c'},
        {"deviations", required_argument, NULL, 'd'},
        {"device", required_argument, NULL, 'D'},
        {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    golden_run run = {.modes = GOLDEN_PLAIN, .seed = 1};
    const char *only = NULL, *deviations = "tests/golden/deviations.json";
    char device[32];
    bool good = true;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'o':
            only = optarg;
            good = good && known_part(only);
            break;
        case 'm': good = good && read_modes(optarg, &run.modes); break;
        case 's': run.seed = strtoull(optarg, NULL, 10); break;
        case 'c': run.one = optarg; break;
        case 'd': deviations = optarg; break;
        case 'D': run.device = device_of(optarg, device); break;
        case 'v': run.verbose = true; break;
        case 'h': fputs(usage, stdout); return 0;
        default: good = false;
        }
    }
    if (!good || optind != argc - 1) {
        fputs(usage, stderr);
        return 2;
    }
    golden_read_deviations(&run, deviations);
    if (chdir(argv[optind]) != 0) {
        fprintf(stderr, "golden: %s: %s\n", argv[optind], strerror(errno));
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    return run_parts(&run, only);
}
