"""Training steps in memory: forward, loss, backward, Adam, on the same batch each time, so that computing is measured.

cnn8, cnn28: Conv2D(32, 3, relu), MaxPooling2D, Flatten, Dense(64, relu), Dense(10) on 8 x 8 and 28 x 28 pictures of one
channel, batch 64. resnet50: ResNet-50 with 1000 classes on 224 x 224 pictures, batch 8. tf-function is a step written by
hand, keras-fit is Keras' own loop. leat's are the same functions by its Python package.
"""
import numpy

from common import Missing, THREADS

SHAPES = {"cnn8": (64, 8, 8, 1), "cnn28": (64, 28, 28, 1), "resnet50": (8, 224, 224, 3)}


def batch_of(kind):
    rng = numpy.random.default_rng(1)
    shape = SHAPES[kind]
    classes = 1000 if kind == "resnet50" else 10
    return rng.random(shape, numpy.float32), rng.integers(0, classes, shape[0]).astype(numpy.int64)


def tensorflow():
    try:
        import tensorflow as tf
    except ImportError as e:
        raise Missing(e)
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    return tf


def torch():
    try:
        import torch as t
    except ImportError as e:
        raise Missing(e)
    t.set_num_threads(THREADS)
    return t


def model_of(keras, kind):
    if kind == "resnet50":
        return keras.applications.ResNet50(weights=None, classifier_activation=None)
    layers = keras.layers
    return keras.Sequential([keras.Input(SHAPES[kind][1:]), layers.Conv2D(32, 3, activation="relu"),
                             layers.MaxPooling2D(), layers.Flatten(), layers.Dense(64, activation="relu"),
                             layers.Dense(10)])


def tf_step(context, kind, jit=False, tf=None):
    tf = tf or tensorflow()
    keras = tf.keras
    model, optimizer = model_of(keras, kind), keras.optimizers.Adam()
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    x, y = map(tf.constant, batch_of(kind))
    optimizer.build(model.trainable_variables)

    @tf.function(jit_compile=jit or None)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    context.note(parameters=model.count_params(), text="loss %.3f" % float(step(x, y)))
    while True:
        step(x, y).numpy()
        yield 1


def keras_fit(context, kind, tf=None):
    tf = tf or tensorflow()
    keras = tf.keras
    model = model_of(keras, kind)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    ds = tf.data.Dataset.from_tensors(batch_of(kind)).repeat().prefetch(2)
    steps = 5 if kind == "resnet50" else 500
    while True:
        history = model.fit(ds, steps_per_epoch=steps, verbose=0)
        context.note(parameters=model.count_params(), text="loss %.3f" % history.history["loss"][0])
        yield steps


def torch_model(t, kind):
    if kind == "resnet50":
        try:
            from torchvision.models import resnet50
        except ImportError as e:
            raise Missing(e)
        return resnet50()
    n, side = t.nn, (SHAPES[kind][1] - 2) // 2
    return n.Sequential(n.Conv2d(1, 32, 3), n.ReLU(), n.MaxPool2d(2), n.Flatten(), n.Linear(32 * side * side, 64),
                        n.ReLU(), n.Linear(64, 10))


def torch_step(context, kind, compiled=False):
    t = torch()
    model = torch_model(t, kind).to(memory_format=t.channels_last).train()
    x, y = map(t.from_numpy, batch_of(kind))
    x = x.permute(0, 3, 1, 2).contiguous(memory_format=t.channels_last)
    optimizer = t.optim.Adam(model.parameters(), fused=True)
    call = t.compile(model) if compiled else model
    context.note(parameters=sum(p.numel() for p in model.parameters()))
    while True:
        optimizer.zero_grad(set_to_none=True)
        loss = t.nn.functional.cross_entropy(call(x), y)
        loss.backward()
        optimizer.step()
        context.note(text="loss %.3f" % loss.item())
        yield 1


def training(kind, doc):
    peers = {"tf-function": lambda c: tf_step(c, kind), "tf-xla": lambda c: tf_step(c, kind, True),
             "keras-fit": lambda c: keras_fit(c, kind), "torch": lambda c: torch_step(c, kind),
             "torch-compile": lambda c: torch_step(c, kind, True)}
    return {"unit": "steps/s", "doc": doc, "peers": peers}


CASES = {"train_cnn8": training("cnn8", "the demo's CNN on 8 x 8, batch 64, Adam"),
         "train_cnn28": training("cnn28", "the demo's CNN on 28 x 28, batch 64, Adam"),
         "train_resnet50": training("resnet50", "ResNet-50 on 224 x 224, batch 8, Adam")}
