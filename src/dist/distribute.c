/* Distributed datasets: the user's dataset, split by the planner, read by one iterator in replica
 * order.
 *
 * Step s gives replica r element s * R + r of the split dataset. Where shapes are not static a last
 * step with fewer elements than replicas is filled up with elements without rows; else it is
 * dropped, both as in TensorFlow. An error ends its step: the elements of the step already read are
 * lost, the next call goes on. One thread at a time per iterator, cancel excepted. */
#include "base/alloc.h"
#include "base/error.h"
#include "data/rows.h"
#include "dist/planner.h"
#include "dist/strategy.h"
#include "dist/values.h"
#include <leat/data_ops.h>

struct leat_distributed_dataset {
    leat_strategy *strategy; /* a reference */
    leat_dataset *dataset;   /* per-replica batches; a reference */
    int64_t cardinality;     /* of the user's dataset */
    leati_split_plan plan;
    leat_distribute_options options;
};

struct leat_distributed_iterator {
    leat_strategy *strategy; /* a reference */
    leat_dataset *dataset;   /* a reference */
    leat_iterator *iterator;
    bool fill;
};

/* A distributed dataset without its split; NULL with `err`, and the dataset (given) released. */
static leat_distributed_dataset *new_distributed(const char *where, leat_strategy *strategy,
                                                 leat_dataset *dataset,
                                                 const leat_distribute_options *options,
                                                 leat_error *err) {
    if (strategy == NULL || dataset == NULL) {
        if (dataset != NULL || err == NULL || err->code == LEAT_OK) {
            leati_fail(err, LEAT_INVALID_ARGUMENT, "%s: %s is NULL", where,
                       strategy == NULL ? "strategy" : "dataset");
        }
        leat_dataset_unref(dataset);
        return NULL;
    }
    leat_distributed_dataset *d = leati_alloc_zero(1, sizeof(*d));
    if (d == NULL) {
        leat_dataset_unref(dataset);
        leati_no_memory(err, sizeof(*d));
        return NULL;
    }
    d->strategy = leat_strategy_ref(strategy);
    d->cardinality = dataset->cardinality;
    if (options != NULL) {
        d->options = *options;
    }
    return d;
}

leat_distributed_dataset *leat_distribute_dataset(leat_strategy *strategy, leat_dataset *dataset,
                                                  const leat_distribute_options *options,
                                                  leat_error *err) {
    leat_distributed_dataset *d =
        new_distributed("leat_distribute_dataset", strategy, dataset, options, err);
    leat_error local = {0};
    if (d == NULL) {
        return NULL;
    }
    d->dataset = leati_plan_split(dataset, strategy->num_replicas, d->options.auto_shard_policy,
                                  &d->plan, &local);
    if (d->dataset != NULL && d->plan.rule != LEATI_REBATCH_NONE) {
        d->dataset = leat_prefetch(d->dataset, strategy->num_replicas, &local);
    }
    if (d->dataset == NULL) {
        if (err != NULL) {
            *err = local;
        }
        leat_distributed_dataset_free(d);
        return NULL;
    }
    return d;
}

leat_distributed_dataset *leat_distribute_replica_batches(leat_strategy *strategy,
                                                          leat_dataset *dataset,
                                                          const leat_distribute_options *options,
                                                          leat_error *err) {
    leat_distributed_dataset *d =
        new_distributed("leat_distribute_replica_batches", strategy, dataset, options, err);
    if (d != NULL) {
        d->dataset = dataset;
        leati_plan_as_is(dataset, strategy->num_replicas, &d->plan);
    }
    return d;
}

void leat_distributed_dataset_free(leat_distributed_dataset *dataset) {
    if (dataset != NULL) {
        leat_dataset_unref(dataset->dataset);
        leat_strategy_unref(dataset->strategy);
        leati_free(dataset);
    }
}

int64_t leat_distributed_dataset_cardinality(const leat_distributed_dataset *dataset) {
    return dataset == NULL ? LEAT_UNKNOWN_CARDINALITY : dataset->cardinality;
}

const char *leat_distributed_dataset_describe(const leat_distributed_dataset *dataset) {
    return dataset == NULL ? "" : dataset->plan.text;
}

const leat_spec *leat_distributed_dataset_spec(const leat_distributed_dataset *dataset) {
    return dataset == NULL ? NULL : dataset->dataset->spec;
}

leat_distributed_iterator *leat_distributed_iterator_new(leat_distributed_dataset *dataset,
                                                         leat_error *err) {
    if (dataset == NULL) {
        if (err == NULL || err->code == LEAT_OK) {
            leati_fail(err, LEAT_INVALID_ARGUMENT,
                       "leat_distributed_iterator_new: dataset is NULL");
        }
        return NULL;
    }
    leat_distributed_iterator *iterator = leati_alloc_zero(1, sizeof(*iterator));
    if (iterator == NULL) {
        leati_no_memory(err, sizeof(*iterator));
        return NULL;
    }
    iterator->strategy = leat_strategy_ref(dataset->strategy);
    iterator->dataset = leat_dataset_ref(dataset->dataset);
    iterator->fill = dataset->plan.fill;
    iterator->iterator = leat_iterator_new(dataset->dataset, &dataset->options.iterator, err);
    if (iterator->iterator == NULL) {
        leat_distributed_iterator_free(iterator);
        return NULL;
    }
    return iterator;
}

static leat_status fill_up(const leat_distributed_iterator *iterator, leat_per_replica *out,
                           int from, leat_error *err) {
    leati_block block = {0};
    leat_status status = leati_empty_element(iterator->dataset->spec, &block, err);
    for (int r = from; r < out->num_replicas && status == LEAT_OK; r++) {
        status = leati_block_element(&block, iterator->dataset->spec, 0, &out->elements[r], err);
    }
    leati_block_fini(&block);
    return status;
}

static leat_status next(leat_distributed_iterator *iterator, bool fill, leat_per_replica *out,
                        leat_error *err) {
    if (iterator == NULL || out == NULL) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "leat_distributed_iterator_next: %s is NULL",
                          iterator == NULL ? "iterator" : "out");
    }
    int replicas = iterator->strategy->num_local;
    leat_status status = leati_per_replica_reset(out, replicas, err);
    for (int r = 0; r < replicas && status == LEAT_OK; r++) {
        status = leat_iterator_next(iterator->iterator, &out->elements[r], err);
        if (status == LEAT_OUT_OF_RANGE && r > 0 && fill) {
            return fill_up(iterator, out, r, err);
        }
    }
    if (status != LEAT_OK) {
        for (int r = 0; r < out->num_replicas; r++) {
            leat_element_clear(&out->elements[r]);
        }
    }
    return status;
}

leat_status leat_distributed_iterator_next(leat_distributed_iterator *iterator,
                                           leat_per_replica *out, leat_error *err) {
    return next(iterator, iterator != NULL && iterator->fill, out, err);
}

leat_status leat_distributed_iterator_next_filled(leat_distributed_iterator *iterator,
                                                  leat_per_replica *out, leat_error *err) {
    return next(iterator, true, out, err);
}

leat_iterator *leat_distributed_iterator_base(leat_distributed_iterator *iterator) {
    return iterator == NULL ? NULL : iterator->iterator;
}

void leat_distributed_iterator_cancel(leat_distributed_iterator *iterator) {
    if (iterator != NULL) {
        leat_iterator_cancel(iterator->iterator);
    }
}

void leat_distributed_iterator_free(leat_distributed_iterator *iterator) {
    if (iterator != NULL) {
        leat_iterator_free(iterator->iterator);
        leat_dataset_unref(iterator->dataset);
        leat_strategy_unref(iterator->strategy);
        leati_free(iterator);
    }
}

char *leat_distributed_iterator_explain(const leat_distributed_iterator *iterator,
                                        leat_error *err) {
    if (iterator == NULL) {
        leati_fail(err, LEAT_INVALID_ARGUMENT,
                   "leat_distributed_iterator_explain: iterator is NULL");
        return NULL;
    }
    return leat_iterator_explain(iterator->iterator, err);
}
