"""The program of README.md: ten numbers, shuffled, in batches of four."""

import leat as tf


def main() -> None:
    """Prints what the pipeline gives."""
    dataset = tf.data.Dataset.range(10).shuffle(10, seed=7).map(lambda x: x * x + 1).batch(4)
    for batch in dataset:
        print(batch.numpy())


if __name__ == "__main__":
    main()
