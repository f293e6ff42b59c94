"""`fit` over a data service: workers make the batches, this program trains on them.

Alone it has a dispatcher and two workers of its own. Under `leat launch --service` those are processes, and the
programs of the job share one pass over the data for each epoch:

    leat launch --service 2 -n 2 -- python examples/service.py
"""

import os
from typing import Any

import leat as tf

ROWS, BATCH, EPOCHS = 2048, 32, 3
service = tf.data.experimental.service


def row(i: Any) -> Any:
    """Four numbers, and whether their sum is positive."""
    x = tf.random.stateless_normal([4], [1, i])
    return x, tf.cast(tf.reduce_sum(x) > 0, tf.float32)


def servers() -> list[Any]:
    """A dispatcher and two workers in this process."""
    dispatcher = service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    return [dispatcher, *(service.WorkerServer(service.WorkerConfig(dispatcher_address=address)) for _ in range(2))]


def main() -> None:
    """Trains on what the workers give."""
    address = os.environ.get("LEAT_SERVICE_ADDRESS")
    own = [] if address else servers()
    target = "grpc://" + address if address else own[0].target

    dataset = tf.data.Dataset.range(ROWS).map(row).batch(BATCH)
    # Splits are dealt out, so each row comes once an epoch, to whichever program of the job takes it first.
    dataset = dataset.apply(service.distribute(service.ShardingPolicy.DYNAMIC, target, job_name="example"))

    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=tf.keras.optimizers.Adam(0.05), loss="binary_crossentropy", metrics=["accuracy"])
    history = model.fit(dataset, epochs=EPOCHS, verbose=0)
    accuracy = history.history.get("accuracy", [])
    # An epoch that the other programs have read before this one came to it has no rows for it.
    print(f"{len(accuracy)} epochs, accuracy {accuracy[-1]:.2f}" if accuracy else "other programs read all rows")
    for server in own[1:]:
        server.stop()


if __name__ == "__main__":
    main()
