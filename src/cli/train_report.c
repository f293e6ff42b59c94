/* What `leat train` prints.
 *
 * Happy path: on a terminal one line is redrawn a few times a second and becomes the line of the
 * epoch; elsewhere only the lines of epochs appear, each written out at once. At the end come the
 * test accuracy and the table. Of several processes only the first prints. Nothing here fails; no
 * locks. */
#include "cli/train.h"

#include "base/clock.h"
#include "cli/say.h"
#include <inttypes.h>
#include <stdio.h>

#define REDRAW_NS INT64_C(100000000)
#define STEP_LINES 10 /* of the step's table */

void leati_train_report_begin(leati_report *report, const leat_strategy *strategy) {
    report->terminal = leat_strategy_num_workers(strategy) == 1 && leati_say_is_terminal();
    report->silent = !leat_strategy_is_chief(strategy);
}

/* Steps that this run has done and has to do, of all its epochs; the second is 0 while it is not
 * known. What an earlier run did took none of this one's time. */
static void count_steps(const leati_report *report, int64_t *done, int64_t *all) {
    *done = (report->epoch - 1 - report->earlier_epochs) * report->steps_per_epoch + report->step;
    /* Known once an epoch has counted its steps. */
    *all = (report->options->epochs - report->earlier_epochs) * report->steps_per_epoch;
}

static void print_time_left(const leati_report *report, int64_t now) {
    int64_t done, all;
    count_steps(report, &done, &all);
    if (all == 0 || done == 0)
        return;
    double spent = (double)(now - report->start_ns) * 1e-9;
    int64_t left = (int64_t)(spent / (double)done * (double)(all - done) + 0.5);
    printf(", %" PRId64 ":%02" PRId64 " left", left / 60, left % 60);
}

void leati_train_report_progress(leati_report *report, double loss, leat_metric *accuracy) {
    int64_t now = leati_now_ns();
    /* Reading the accuracy costs a reduction, so it is done for lines that are drawn alone. */
    if (!report->terminal || now - report->shown_ns < REDRAW_NS)
        return;
    report->shown_ns = now;
    double value = 0, seconds = (double)(now - report->start_ns) * 1e-9;
    if (leat_metric_result(accuracy, &value, NULL) != LEAT_OK)
        return;
    printf("\repoch %2" PRId64 "/%" PRId64 ", step %" PRId64, report->epoch,
           report->options->epochs, report->step);
    if (report->steps_per_epoch)
        printf("/%" PRId64, report->steps_per_epoch);
    printf(": %.0f images/s, loss %.4f, accuracy %.4f", (double)report->train.rows / seconds, loss,
           value);
    print_time_left(report, now);
    fputs("\033[K", stdout); /* clears what an earlier, longer line left */
    (void)fflush(stdout);
}

void leati_train_report_epoch(leati_report *report, const leati_epoch *epoch) {
    if (report->silent)
        return;
    printf("%sepoch %2" PRId64 "/%" PRId64
           ": loss %.4f, accuracy %.4f, test loss %.4f, test accuracy "
           "%.4f, %.0f images/s%s\n",
           report->terminal ? "\r" : "", report->epoch, report->options->epochs, epoch->loss,
           epoch->accuracy, epoch->test_loss, epoch->test_accuracy,
           (double)epoch->rows / epoch->seconds, report->terminal ? "\033[K" : "");
    (void)fflush(stdout);
}

static void print_share(const char *name, int64_t spent, int64_t whole, int64_t steps) {
    printf("  %-36s %8.3f s %5.1f%%", name, (double)spent * 1e-9,
           whole > 0 ? 100.0 * (double)spent / (double)whole : 0.0);
    if (steps > 0)
        printf(" %10.1f us a step", (double)spent * 1e-3 / (double)steps);
    puts("");
}

/* Images per second of training, and what an average step is made of. `rest`: between the library's
 * operations and around them. */
static void print_step(const leati_train_phase *train, const leat_step_times *times) {
    int64_t all = train->input + train->compile + train->step + train->rest;
    int64_t known =
        train->input + times->forward_ns + times->backward_ns + times->reduce_ns + times->update_ns;
    const struct {
        const char *name;
        int64_t ns;
    } parts[] = {{"input", train->input},          {"forward", times->forward_ns},
                 {"backward", times->backward_ns}, {"reduce", times->reduce_ns},
                 {"update", times->update_ns},     {"rest", all > known ? all - known : 0}};
    double steps = train->steps > 0 ? (double)train->steps : 1;
    printf("%.0f images/s in training; a step takes %.1f us:",
           (double)train->rows / (all > 0 ? (double)all * 1e-9 : 1), (double)all * 1e-3 / steps);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        printf("%s %s %.1f", i > 0 ? "," : "", parts[i].name, (double)parts[i].ns * 1e-3 / steps);
    puts("");
}

/* Which of input and step the training waits for most, once the input is cached and the step
 * compiled (or in the only epoch). */
static void print_bound(const leati_report *report) {
    /* The first epoch reads files and compiles, which says nothing of the others. */
    bool one = report->train.steps == report->first.steps;
    int64_t input = report->train.input - (one ? 0 : report->first.input);
    int64_t step = report->train.step - (one ? 0 : report->first.step);
    int64_t rest = report->train.rest - (one ? 0 : report->first.rest);
    int64_t whole = input + step + rest > 0 ? input + step + rest : 1;
    bool by_input = input > step;
    printf("%s-bound, by the %s: %.0f%% of the time of %s; without any wait for input it would be "
           "%.2f "
           "times as fast\n",
           by_input ? "input" : "compute", by_input ? "input" : "step",
           100.0 * (double)(by_input ? input : step) / (double)whole,
           one ? "the epoch" : "the epochs after the first",
           (double)whole / (double)(step + rest > 0 ? step + rest : 1));
}

/* The first lines of a text. */
static void print_head(const char *text, int lines) {
    const char *end = text;
    while (*end && lines > 0)
        lines -= *end++ == '\n';
    printf("%.*s%s", (int)(end - text), text, *end ? "...\n" : "");
}

void leati_train_report_end(const leati_report *report, const char *pipeline, const char *step,
                            const leat_step_times *times) {
    const leati_train_phase *train = &report->train, *test = &report->test, *first = &report->first;
    if (report->silent)
        return;
    int64_t whole = leati_now_ns() - report->start_ns;
    printf("test accuracy %.4f\n\n", report->test_accuracy);
    printf("where the time went: %.2f s\n", (double)whole * 1e-9);
    print_share("input, first epoch (fills the cache)", first->input, whole, first->steps);
    print_share("input, later epochs", train->input - first->input, whole,
                train->steps - first->steps);
    print_share("step: trace and compile", train->compile, whole, train->compiled);
    print_share("step: run", train->step, whole, train->steps - train->compiled);
    print_share("reduce, metrics", train->rest, whole, train->steps);
    print_share("test after each epoch", test->input + test->compile + test->step + test->rest,
                whole, test->steps);
    print_step(train, times);
    print_bound(report);
    printf("\ninput of the first epoch (later ones read the cache)\n%s", pipeline);
    printf("\nstep on replica 0, all runs\n");
    print_head(step, STEP_LINES);
}
