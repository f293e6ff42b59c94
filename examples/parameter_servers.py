"""Training with parameter servers: variables live on servers, workers read and update them as they go.

Each process finds its part in TF_CONFIG; without one, this program starts a server and two workers of its own.
"""

import json
import os
import socket
import subprocess
import sys
from typing import Any

import leat as tf

STEPS = 200


def serve() -> None:
    """What workers and parameter servers run."""
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id)
    server.join()


def make_dataset() -> Any:
    """Points of the plane, and a linear function of them."""
    points = tf.data.Dataset.range(1024).map(lambda i: tf.random.stateless_normal([2], [1, i]))
    return points.map(lambda x: (x, 3.0 * x[:1] - 2.0 * x[1:] + 1.0)).repeat().shuffle(1024, seed=1).batch(32)


def coordinate(resolver: Any) -> None:
    """Trains on the workers."""
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam(0.1)
        loss_of_all = tf.keras.metrics.Mean()

    @tf.function
    def step(iterator: Any) -> None:
        def replica(x: Any, y: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            loss_of_all.update_state(loss)
        strategy.run(replica, args=next(iterator))

    iterator = iter(coordinator.create_per_worker_dataset(make_dataset))
    for _ in range(STEPS):
        coordinator.schedule(step, args=(iterator,))
    coordinator.join()
    kernel = model.layers[-1].kernel.numpy()[:, 0]
    print(f"{STEPS} steps, mean loss {loss_of_all.result().numpy():.3f}, weights {kernel[0]:.2f} {kernel[1]:.2f}")


def start_cluster() -> Any:
    """(A parameter server and two workers on this machine, what their coordinator resolves)."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
    chief, server, *workers = (f"127.0.0.1:{one.getsockname()[1]}" for one in sockets)
    for one in sockets:
        one.close()
    cluster = {"chief": [chief], "ps": [server], "worker": workers}
    tasks = [("ps", 0), ("worker", 0), ("worker", 1)]
    children = [subprocess.Popen([sys.executable, __file__], env={**os.environ, "TF_CONFIG": json.dumps(
        {"cluster": cluster, "task": {"type": job, "index": index}})}) for job, index in tasks]
    return children, tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster), task_type="chief", task_id=0, rpc_layer="grpc")


def main() -> None:
    """Serves or coordinates, as TF_CONFIG says."""
    task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task")
    if task is not None and task["type"] in ("worker", "ps"):
        serve()
    elif task is not None:
        coordinate(tf.distribute.cluster_resolver.TFConfigClusterResolver())
    else:
        children, resolver = start_cluster()
        try:
            coordinate(resolver)
        finally:
            for child in children:
                child.kill()
                child.wait()


if __name__ == "__main__":
    main()
