"""A dataset function: each worker makes its own part of the data, batched for its replicas.

Alone this is one worker, which reads everything. As three processes of one job, each of which reads every third batch:

    leat launch -n 3 -- python examples/dataset_function.py
"""

from typing import Any

import leat as tf

ROWS, GLOBAL_BATCH = 24, 6


def create(input_context: Any) -> Any:
    """The batches that the replicas of one worker receive, one after the other."""
    batch_size = input_context.get_per_replica_batch_size(GLOBAL_BATCH)
    numbers = [float(i) for i in range(ROWS)]
    labels = [i % 2 for i in range(ROWS)]
    dataset = tf.data.Dataset.from_tensor_slices((numbers, labels)).batch(batch_size)
    return dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)


def main() -> None:
    """Prints what this worker's replicas receive, and the sum of what all workers' received."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    print("Number of replicas:", strategy.num_replicas_in_sync)

    for inputs, labels in strategy.distribute_datasets_from_function(create):
        print("Inputs:", inputs)
        print("Labels:", labels)
        sums = strategy.run(lambda x: tf.reduce_sum(x), args=(inputs,))
        print("Sum of all:", strategy.reduce(tf.distribute.ReduceOp.SUM, sums, axis=None))


if __name__ == "__main__":
    main()
