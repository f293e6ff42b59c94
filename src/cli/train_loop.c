/* The training loop: public calls only, as a user would write it.
 *
 * Happy path: for every epoch each global batch runs one step on all replicas and the losses are
 * added up; then the test part runs through the test step; both accuracies are read and reset.
 * Failure modes: the first error of input, step or metric ends the training. No locks. */
#include "cli/train.h"

#include "base/clock.h"
#include "base/error.h"
#include <string.h>

/* One run over a distributed dataset. */
struct sweep {
    leati_trainer *trainer;
    leat_distributed_dataset *data;
    leat_step *step;
    leat_metric *accuracy;
    leati_train_phase *phase;
    leati_report *report; /* NULL: no progress line */
    char **table;         /* NULL: nobody wants the input's table */
    double loss_sum;      /* over all rows */
    int64_t rows;         /* of all processes */
};

static int64_t since(int64_t *mark) {
    int64_t now = leati_now_ns(), passed = now - *mark;
    *mark = now;
    return passed;
}

/* Of this process. */
static int64_t rows_of(const leat_per_replica *batch) {
    int64_t rows = 0;
    /* Of the labels, which are a vector. */
    for (int i = 0; i < batch->num_replicas; i++)
        rows += batch->elements[i].tensors[1].dims[0];
    return rows;
}

/* Whether a batch of so many rows was not seen before: then the step is compiled for it. */
static bool is_new_size(leati_train_phase *phase, int64_t rows) {
    for (int i = 0; i < phase->compiled; i++)
        if (phase->sizes[i] == rows)
            return false;
    /* More sizes than a full batch and an epoch's rest are not expected; they count as ordinary
     * steps. */
    if (phase->compiled == (int)(sizeof phase->sizes / sizeof phase->sizes[0]))
        return false;
    phase->sizes[phase->compiled++] = rows;
    return true;
}

/* One step: the replicas' losses are parts of (sum / global batch); their sum times the global
 * batch is the sum over rows. */
static leat_status take_step(struct sweep *sweep, const leat_per_replica *batch, int64_t *mark,
                             double *loss, leat_error *err) {
    leati_trainer *trainer = sweep->trainer;
    bool compiles = is_new_size(sweep->phase, rows_of(batch));
    leat_per_replica losses = {0};
    leat_element total = {0};
    leat_status status = leat_strategy_run(trainer->strategy, sweep->step, batch, &losses, err);
    *(compiles ? &sweep->phase->compile : &sweep->phase->step) += since(mark);
    if (status == LEAT_OK)
        status = leat_strategy_reduce(trainer->strategy, LEAT_REDUCE_SUM, &losses, LEAT_NO_AXIS,
                                      &total, err);
    if (status == LEAT_OK) {
        float sum;
        /* The losses are float32 scalars. */
        memcpy(&sum, total.tensors[0].data, sizeof sum);
        *loss = (double)sum * (double)trainer->global_batch;
    }
    leat_element_fini(&total);
    leat_per_replica_fini(&losses);
    sweep->phase->rest += since(mark);
    return status;
}

static leat_status take_batches(struct sweep *sweep, leat_distributed_iterator *iterator,
                                leat_error *err) {
    leat_per_replica batch = {0};
    leat_status status = LEAT_OK;
    int64_t mark = leati_now_ns();
    for (;;) {
        leat_error next = {0};
        status = leat_distributed_iterator_next(iterator, &batch, &next);
        sweep->phase->input += since(&mark);
        if (status == LEAT_OUT_OF_RANGE) {
            status = LEAT_OK;
            break;
        }
        double loss = 0;
        if (status != LEAT_OK)
            leati_error_pass(err, &next);
        else
            status = take_step(sweep, &batch, &mark, &loss, err);
        if (status != LEAT_OK)
            break;
        int64_t rows = 0;
        /* Of all processes, since the loss is summed over all of them, too. */
        status = leat_distributed_iterator_rows(iterator, NULL, &rows, err);
        if (status != LEAT_OK)
            break;
        sweep->loss_sum += loss;
        sweep->rows += rows;
        sweep->phase->rows += rows;
        sweep->phase->steps++;
        if (sweep->report != NULL) {
            sweep->report->step++;
            leati_train_report_progress(sweep->report, sweep->loss_sum / (double)sweep->rows,
                                        sweep->accuracy);
            sweep->phase->rest += since(&mark);
        }
    }
    leat_per_replica_fini(&batch);
    return status;
}

/* Runs over the data once; then *accuracy is the metric's result and the metric is reset. */
static leat_status run_sweep(struct sweep *sweep, double *loss, double *accuracy, leat_error *err) {
    int64_t mark = leati_now_ns();
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(sweep->data, err);
    if (iterator == NULL)
        return err->code;
    sweep->phase->input += since(&mark);
    leat_status status = take_batches(sweep, iterator, err);
    if (status == LEAT_OK && sweep->table != NULL) {
        *sweep->table = leat_distributed_iterator_explain(iterator, err);
        status = *sweep->table != NULL ? LEAT_OK : err->code;
    }
    mark = leati_now_ns();
    leat_distributed_iterator_free(iterator);
    if (status == LEAT_OK)
        status = leat_metric_result(sweep->accuracy, accuracy, err);
    if (status == LEAT_OK)
        status = leat_metric_reset(sweep->accuracy, err);
    *loss = sweep->rows ? sweep->loss_sum / (double)sweep->rows : 0;
    sweep->phase->rest += since(&mark);
    return status;
}

struct loop {
    leat_distributed_dataset *train, *test;
    leati_report report;
    char *table; /* of the input of the first epoch, the one that reads files */
};

static leat_status run_epoch(struct loop *loop, leati_trainer *trainer, leat_error *err) {
    leati_report *report = &loop->report;
    leati_epoch epoch = {0};
    int64_t start = leati_now_ns();
    report->epoch++;
    report->step = 0;
    struct sweep train = {.trainer = trainer,
                          .data = loop->train,
                          .step = trainer->train_step,
                          .accuracy = trainer->train_accuracy,
                          .phase = &report->train,
                          .report = report,
                          .table = report->epoch == trainer->epochs + 1 ? &loop->table : NULL};
    leat_status status = run_sweep(&train, &epoch.loss, &epoch.accuracy, err);
    if (status != LEAT_OK)
        return status;
    if (train.rows == 0)
        return leati_refuse(err, VALUE, "there are no training pictures");
    report->steps_per_epoch = report->step;
    /* The first epoch of this run fills the cache and is shown apart. */
    if (report->epoch == trainer->epochs + 1)
        report->first = report->train;
    epoch.rows = train.rows;
    epoch.seconds = (double)(leati_now_ns() - start) * 1e-9;
    struct sweep test = {.trainer = trainer,
                         .data = loop->test,
                         .step = trainer->test_step,
                         .accuracy = trainer->test_accuracy,
                         .phase = &report->test};
    status = run_sweep(&test, &epoch.test_loss, &epoch.test_accuracy, err);
    if (status != LEAT_OK)
        return status;
    report->test_accuracy = epoch.test_accuracy;
    leati_train_report_epoch(report, &epoch);
    return LEAT_OK;
}

/* Shuffled, in global batches, prefetched and split among the replicas. The datasets of the corpus
 * are used up. */
static leat_status distribute(const leati_train_options *options, leati_corpus *corpus,
                              leat_strategy *strategy, struct loop *loop, leat_error *err) {
    leat_dataset_shuffle_options seeded = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = options->seed};
    /* Every process reads everything and takes its rows of each batch, so that the batches are the
     * same however many there are. */
    leat_strategy_distribute_options how = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS, .count_rows = true};
    if (leat_strategy_num_workers(strategy) > 1)
        how.auto_shard_policy = LEAT_SHARD_DATA;
    leat_dataset *train = leat_dataset_shuffle(corpus->train, LEATI_SHUFFLE_BUFFER, &seeded, err);
    train = leat_dataset_batch(train, options->batch, NULL, err);
    train = leat_dataset_prefetch(train, LEAT_AUTOTUNE, err);
    /* Used up by shuffle, also where it failed. */
    corpus->train = NULL;
    loop->train = leat_strategy_distribute_dataset(strategy, train, &how, err);
    if (loop->train == NULL)
        return err->code;
    leat_dataset *test = leat_dataset_batch(corpus->test, options->batch, NULL, err);
    test = leat_dataset_prefetch(test, LEAT_AUTOTUNE, err);
    corpus->test = NULL;
    loop->test = leat_strategy_distribute_dataset(strategy, test, &how, err);
    return loop->test != NULL ? LEAT_OK : err->code;
}

/* The orders of epochs that an earlier run has taken are drawn and left. */
static leat_status pass_epochs(struct loop *loop, int64_t epochs, leat_error *err) {
    for (int64_t i = 0; i < epochs; i++) {
        leat_distributed_iterator *iterator = leat_distributed_iterator_new(loop->train, err);
        if (iterator == NULL)
            return err->code;
        leat_distributed_iterator_free(iterator);
    }
    loop->report.epoch = loop->report.earlier_epochs = epochs;
    return LEAT_OK;
}

leat_status leati_train_loop(const leati_train_options *options, leati_corpus *corpus,
                             leati_trainer *trainer, leat_error *err) {
    struct loop loop = {.report = {.options = options, .start_ns = leati_now_ns()}};
    leat_status status = distribute(options, corpus, trainer->strategy, &loop, err);
    leati_train_report_begin(&loop.report, trainer->strategy);
    if (status == LEAT_OK)
        status = pass_epochs(&loop, trainer->epochs, err);
    for (int64_t i = trainer->epochs; status == LEAT_OK && i < options->epochs; i++) {
        status = run_epoch(&loop, trainer, err);
        /* After every epoch, so that Ctrl-C loses one at most. */
        if (status == LEAT_OK && options->out != NULL && leati_train_trainer_speaks(trainer))
            status = leati_train_trainer_save(options, corpus, trainer, i + 1, err);
    }
    if (status == LEAT_OK) {
        leat_step_times times;
        char *step = leat_step_explain(trainer->train_step, err);
        status = step != NULL ? leat_step_get_times(trainer->train_step, &times, err) : err->code;
        if (status == LEAT_OK)
            leati_train_report_end(&loop.report, loop.table != NULL ? loop.table : "", step,
                                   &times);
        leat_text_free(step);
    }
    leat_text_free(loop.table);
    leat_distributed_dataset_free(loop.train);
    leat_distributed_dataset_free(loop.test);
    return status;
}
