"""Programs that write summaries, with TensorFlow (tools/record/summaries.py) and with leat (test_summary.py)."""

import numpy as np


def kinds(tf, folder):
    """All kinds of summaries, eagerly and in functions that are traced."""
    rng = np.random.default_rng(7)
    writer = tf.summary.create_file_writer(folder)
    told = []
    with writer.as_default():
        for i in range(3):
            tf.summary.scalar("loss", 1 / (i + 1), step=i, description="the *loss*")
        tf.summary.histogram("normal", rng.normal(size=(100, 3)).astype("f"), step=1)
        tf.summary.histogram("integers", rng.integers(0, 50, size=1000), step=1, buckets=7)
        tf.summary.histogram("one", np.ones(7), step=1, buckets=3)
        tf.summary.histogram("none", np.zeros([0]), step=1, buckets=2)
        tf.summary.histogram("zero", np.zeros([3]), step=1, buckets=0)
        tf.summary.image("pictures", rng.random((5, 4, 3, 3)), step=2)
        tf.summary.image("bytes", rng.integers(0, 255, (2, 4, 3, 1)).astype("uint8"), step=2, max_outputs=1)
        tf.summary.image("no_pictures", rng.random((2, 4, 3, 3)), step=2, max_outputs=0)
        tf.summary.text("texts", ["a", "b"], step=3)
        tf.summary.text("text", "# heading", step=300)
        tf.summary.audio("sounds", rng.random((2, 10, 1)).astype("f"), 8000, step=3, description="noise")
        with tf.name_scope("outer"):
            tf.summary.scalar("x y!", 3, step=3)
        tf.summary.write("raw", tf.constant([[1, 2]], tf.int64), step=4)
        tf.summary.experimental.set_step(12)
        with tf.summary.record_if(False):
            told.append(bool(tf.summary.scalar("not_recorded", 1)))
        with tf.summary.record_if(lambda: True):
            told.append(bool(tf.summary.scalar("recorded", True)))
        told.append(bool(tf.summary.should_record_summaries()))
        functions(tf)
    told.append(bool(tf.summary.scalar("no_writer", 1)))
    writer.close()
    tf.summary.experimental.set_step(None)
    return told


def functions(tf):
    """Summaries in functions: each run writes them, as often as the condition holds."""
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def summed(x, at):
        with tf.name_scope("inner"):
            tf.summary.scalar("sum", tf.reduce_sum(x), step=at)
            tf.summary.histogram("values", x, step=at, buckets=2)
        return x * 2

    @tf.function
    def sometimes(x):
        with tf.summary.record_if(lambda: step % 2 == 0):
            tf.summary.scalar("sometimes", x, step=step)
    for i in range(3):
        summed(tf.constant([1., 2.]), tf.constant(i, tf.int64))
    for i in range(4):
        step.assign(i)
        sometimes(tf.constant(1.5))


def board(tf, folder):
    """A model that trains with a TensorBoard callback."""
    keras = tf.keras
    rng = np.random.default_rng(3)
    x, y = rng.random((32, 6, 6, 1)).astype("f"), rng.integers(0, 3, 32)
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((6, 6, 1)), keras.layers.Conv2D(2, 3, activation="relu"),
                              keras.layers.Flatten(), keras.layers.Dense(3)], name="model")
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(x, y, batch_size=8, epochs=3, validation_data=(x, y), verbose=0, shuffle=False, callbacks=[
        keras.callbacks.TensorBoard(folder, histogram_freq=2, write_images=True, update_freq=3)])
    return model
