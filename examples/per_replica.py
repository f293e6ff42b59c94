"""What each replica receives: ten numbers with labels, in batches of two.

With one device a step is a pair of tensors; `--devices 2` splits every batch among two. As processes of one job
(`leat launch -n 2 -- python examples/per_replica.py`) each worker has one device and gets its share.
"""

import argparse
import os

import leat as tf


def make_strategy() -> tf.distribute.Strategy:
    """One worker of several where a launcher says so, else the devices of this process."""
    if "TF_CONFIG" in os.environ:
        return tf.distribute.MultiWorkerMirroredStrategy()
    return tf.distribute.MirroredStrategy()


def main() -> None:
    """Prints each step's inputs and labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=1, help="how many logical devices the CPU is split into")
    devices = parser.parse_args().devices
    if devices > 1:
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * devices)

    strategy = make_strategy()
    print("Number of devices:", strategy.num_replicas_in_sync)

    numbers = [float(i) for i in range(10)]
    labels = [i % 2 for i in range(10)]
    dataset = tf.data.Dataset.from_tensor_slices((numbers, labels)).batch(2)
    for inputs, targets in strategy.experimental_distribute_dataset(dataset):
        print("Inputs:", inputs)
        print("Labels:", targets)


if __name__ == "__main__":
    main()
