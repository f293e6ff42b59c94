"""The training steps of bench-ops: models by the Keras API, written once for both sides.

A step is a function of `tf` and of `tf.keras` that returns a model and its loss, below a decorator that says what it is fed: float32 shapes,
or ("ints", high, shape) of int32. The weights of matrices come from a seed, so that the first loss is the same on both sides; nothing is drawn
within a step. A step is forward, loss, gradients and Adam in one tf.function.
"""
import numpy as np

STEPS = {}
BATCH = 32


def step(*fed):
    def register(function):
        STEPS["step." + function.__name__] = (function, fed)
        return function
    return register


def classes(tf):
    return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def bits(tf):
    return tf.keras.losses.BinaryCrossentropy(from_logits=True)


def squares(tf):
    return tf.keras.losses.MeanSquaredError()


def ints(high, *shape):
    return ("ints", high, shape)


def through(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def conv_norm(L, x, filters, stride=1, size=3, activation="relu"):
    x = L.Conv2D(filters, size, stride, "same", use_bias=False)(x)
    return L.Activation(activation)(L.BatchNormalization()(x))


@step((128, 784), ints(10, 128))
def mlp(tf, k, L):
    x = k.Input((784,))
    return k.Model(x, through([L.Dense(512, "relu"), L.Dense(512, "relu"), L.Dense(10)], x)), classes(tf)


@step((128, 256), ints(10, 128))
def layer_norm_gelu(tf, k, L):
    x = y = k.Input((256,))
    for _ in range(3):
        y = through([L.Dense(512), L.LayerNormalization(), L.Activation("gelu")], y)
    return k.Model(x, L.Dense(10)(y)), classes(tf)


@step((BATCH, 28, 28, 1), ints(10, BATCH))
def cnn(tf, k, L):
    x = k.Input((28, 28, 1))
    return k.Model(x, through([L.Conv2D(32, 3, activation="relu"), L.MaxPooling2D(), L.Conv2D(64, 3, activation="relu"), L.MaxPooling2D(),
                               L.Flatten(), L.Dense(128, "relu"), L.Dense(10)], x)), classes(tf)


@step((8, 32, 32, 32), ints(10, 8))
def mobilenet_block(tf, k, L):
    x = y = k.Input((32, 32, 32))
    for _ in range(2):
        z = conv_norm(L, y, 96, size=1, activation="relu6")
        z = L.Activation("relu6")(L.BatchNormalization()(L.DepthwiseConv2D(3, padding="same", use_bias=False)(z)))
        y = y + conv_norm(L, z, 32, size=1, activation="linear")
    return k.Model(x, L.Dense(10)(L.GlobalAveragePooling2D()(y))), classes(tf)


@step((8, 32, 32, 32), ints(10, 8))
def resnet_block(tf, k, L):
    x = y = k.Input((32, 32, 32))
    for _ in range(2):
        y = L.Activation("relu")(y + conv_norm(L, conv_norm(L, y, 32), 32, activation="linear"))
    y = conv_norm(L, y, 64, 2)
    return k.Model(x, L.Dense(10)(L.GlobalAveragePooling2D()(y))), classes(tf)


@step((8, 32, 32, 24), ints(10, 8))
def squeeze_and_excite(tf, k, L):
    x = k.Input((32, 32, 24))
    y = conv_norm(L, x, 96, size=1, activation="silu")
    y = L.Activation("silu")(L.BatchNormalization()(L.DepthwiseConv2D(5, padding="same", use_bias=False)(y)))
    s = L.GlobalAveragePooling2D(keepdims=True)(y)
    y = y * L.Conv2D(96, 1, activation="sigmoid")(L.Conv2D(6, 1, activation="silu")(s))
    y = x + conv_norm(L, y, 24, size=1, activation="linear")
    return k.Model(x, L.Dense(10)(L.GlobalAveragePooling2D()(y))), classes(tf)


@step((16, 100), (16, 28, 28, 1))
def dcgan_generator(tf, k, L):
    x = k.Input((100,))
    y = through([L.Dense(7 * 7 * 128, use_bias=False), L.BatchNormalization(), L.LeakyReLU(), L.Reshape((7, 7, 128)),
                 L.Conv2DTranspose(64, 5, 1, "same", use_bias=False), L.BatchNormalization(), L.LeakyReLU(),
                 L.Conv2DTranspose(32, 5, 2, "same", use_bias=False), L.BatchNormalization(), L.LeakyReLU(),
                 L.Conv2DTranspose(1, 5, 2, "same", activation="tanh")], x)
    return k.Model(x, y), squares(tf)


@step((128, 784), (128, 784))
def autoencoder(tf, k, L):
    x = k.Input((784,))
    return k.Model(x, through([L.Dense(256, "relu"), L.Dense(32, "relu"), L.Dense(256, "relu"), L.Dense(784)], x)), squares(tf)


@step((128, 784), (128, 16), (128, 784))
def vae(tf, k, L):
    x, noise = k.Input((784,)), k.Input((16,))
    h = L.Dense(256, "relu")(x)
    mean, spread = L.Dense(16)(h), L.Dense(16)(h)
    z = mean + L.Activation("exponential")(0.5 * spread) * noise
    y = L.Dense(784)(L.Dense(256, "relu")(z))

    def loss(target, given):
        found, m, s = given
        missed = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=found))
        return missed - 0.5 * tf.reduce_mean(1 + s - tf.square(m) - tf.exp(s))
    return k.Model([x, noise], [y, mean, spread]), loss


@step(ints(5000, 32, 100), ints(2, 32))
def text_cnn(tf, k, L):
    x = k.Input((100,), dtype="int32")
    y = L.Embedding(5000, 64)(x)
    parts = [L.GlobalMaxPooling1D()(L.Conv1D(64, size, activation="relu")(y)) for size in (3, 4, 5)]
    return k.Model(x, L.Dense(2)(L.Concatenate()(parts))), classes(tf)


@step((BATCH, 50, 32), ints(10, BATCH))
def lstm(tf, k, L):
    x = k.Input((50, 32))
    return k.Model(x, L.Dense(10)(L.LSTM(64)(x))), classes(tf)


@step((BATCH, 50, 32), ints(10, BATCH))
def gru(tf, k, L):
    x = k.Input((50, 32))
    return k.Model(x, L.Dense(10)(L.GRU(64)(x))), classes(tf)


@step((BATCH, 50, 8), (BATCH, 1))
def bidirectional_forecast(tf, k, L):
    x = k.Input((50, 8))
    return k.Model(x, through([L.Bidirectional(L.LSTM(32, return_sequences=True)), L.Bidirectional(L.GRU(32)), L.Dense(1)], x)), squares(tf)


def attend(L, y, width, heads, causal=False):
    y = y + L.MultiHeadAttention(heads, width // heads)(y, y, use_causal_mask=causal)
    y = L.LayerNormalization()(y)
    y = y + L.Dense(width)(L.Dense(4 * width, "gelu")(y))
    return L.LayerNormalization()(y)


@step(ints(5000, 8, 64), ints(2, 8))
def transformer_encoder(tf, k, L):
    x = k.Input((64,), dtype="int32")
    y = L.Embedding(5000, 128)(x)
    for _ in range(2):
        y = attend(L, y, 128, 4)
    return k.Model(x, L.Dense(2)(L.GlobalAveragePooling1D()(y))), classes(tf)


@step(ints(2000, 8, 64), ints(2000, 8, 64))
def transformer_decoder(tf, k, L):
    x = k.Input((64,), dtype="int32")
    return k.Model(x, L.Dense(2000)(attend(L, L.Embedding(2000, 128)(x), 128, 4, causal=True))), classes(tf)


@step((8, 64, 64, 3), ints(10, 8))
def vit(tf, k, L):
    x = k.Input((64, 64, 3))
    y = L.Reshape((64, 128))(L.Conv2D(128, 8, 8)(x))
    return k.Model(x, L.Dense(10)(L.GlobalAveragePooling1D()(attend(L, attend(L, y, 128, 4), 128, 4)))), classes(tf)


@step((8, 64, 4, 32), (8, 64, 4, 32))
def einsum_attention(tf, k, L):
    x = k.Input((64, 4, 32))
    q, e, v = (L.EinsumDense("bshd,hde->bshe", (None, 4, 32))(x) for _ in range(3))
    shares = L.Softmax()(k.ops.einsum("bqhd,bkhd->bhqk", q, e) / 5.7)
    return k.Model(x, k.ops.einsum("bhqk,bkhd->bqhd", shares, v)), squares(tf)


@step(ints(20000, 256, 1), ints(20000, 256, 6), (256, 6))
def negative_sampling(tf, k, L):
    word, others = k.Input((1,), dtype="int32"), k.Input((6,), dtype="int32")
    dots = L.Dot((2, 2))([L.Embedding(20000, 64)(word), L.Embedding(20000, 64)(others)])
    return k.Model([word, others], L.Flatten()(dots)), bits(tf)


@step(ints(5000, 256), ints(2000, 256), (256, 16), ints(256, 256))
def two_towers(tf, k, L):
    user, item, more = k.Input((), dtype="int32"), k.Input((), dtype="int32"), k.Input((16,))
    one = L.Dense(64)(L.Dense(128, "relu")(L.Concatenate()([L.Embedding(5000, 32)(user), more])))
    other = L.Dense(64)(L.Dense(128, "relu")(L.Embedding(2000, 32)(item)))
    return k.Model([user, item, more], k.ops.matmul(one, k.ops.transpose(other))), classes(tf)


@step((4, 64, 64, 3), (4, 64, 64, 1))
def unet(tf, k, L):
    x = k.Input((64, 64, 3))
    a = conv_norm(L, x, 16)
    b = conv_norm(L, L.MaxPooling2D()(a), 32)
    y = conv_norm(L, L.MaxPooling2D()(b), 64)
    y = conv_norm(L, L.Concatenate()([L.UpSampling2D()(y), b]), 32)
    y = conv_norm(L, L.Concatenate()([L.Conv2DTranspose(16, 2, 2)(y), a]), 16)
    return k.Model(x, L.Conv2D(1, 1)(y)), bits(tf)


@step((8, 32, 32, 16), ints(10, 8))
def group_norm(tf, k, L):
    x = k.Input((32, 32, 16))
    y = through([L.Conv2D(32, 3, padding="same"), L.GroupNormalization(8), L.Activation("silu"), L.Conv2D(32, 3, 2, "same"),
                 L.GroupNormalization(8), L.Activation("silu"), L.GlobalAveragePooling2D(), L.Dense(10)], x)
    return k.Model(x, y), classes(tf)


@step(ints(100, 256, 6), (256, 20), (256, 1))
def tabular(tf, k, L):
    kinds, numbers = k.Input((6,), dtype="int32"), k.Input((20,))
    y = L.Concatenate()([L.Flatten()(L.Embedding(100, 8)(kinds)), L.BatchNormalization()(numbers)])
    return k.Model([kinds, numbers], through([L.Dense(128, "relu"), L.Dense(64, "relu"), L.Dense(1)], y)), bits(tf)


@step((4, 12, 24, 24, 2), ints(5, 4))
def cnn_3d(tf, k, L):
    x = k.Input((12, 24, 24, 2))
    return k.Model(x, through([L.Conv3D(16, 3, activation="relu"), L.MaxPooling3D(), L.Conv3D(32, 3, activation="relu"),
                               L.GlobalAveragePooling3D(), L.Dense(5)], x)), classes(tf)


@step((BATCH, 128, 8), (BATCH, 128, 1))
def causal_time_series(tf, k, L):
    x = k.Input((128, 8))
    y = L.Dense(32)(x)
    for dilation in (1, 2, 4, 8):
        y = y + L.Conv1D(32, 3, padding="causal", dilation_rate=dilation, activation="relu")(y)
    return k.Model(x, L.Dense(1)(y)), squares(tf)


@step((16, 3 * 32 * 32), ints(10, 16))
def mixer(tf, k, L):
    x = k.Input((3 * 32 * 32,))
    y = L.Dense(64)(L.Reshape((64, 48))(x))
    z = L.Permute((2, 1))(L.LayerNormalization()(y))
    y = y + L.Permute((2, 1))(L.Dense(64)(L.Dense(128, "gelu")(z)))
    y = y + L.Dense(64)(L.Dense(128, "gelu")(L.LayerNormalization()(y)))
    return k.Model(x, L.Dense(10)(L.GlobalAveragePooling1D()(y))), classes(tf)


@step((2, 64, 64, 3), ints(1000, 2))
def resnet50(tf, k, L):
    return k.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classifier_activation=None), classes(tf)


@step((2, 64, 64, 3), ints(1000, 2))
def mobilenet_v2(tf, k, L):
    return k.applications.MobileNetV2(weights=None, input_shape=(64, 64, 3), classifier_activation=None), classes(tf)


def make(tf, name, compiled):
    """The step as a tf.function, made with the arguments `compiled`, that returns the loss, and the batch to call it with."""
    function, fed = STEPS[name]
    drawn = np.random.Generator(np.random.PCG64(3))
    model, loss_of = function(tf, tf.keras, tf.keras.layers)
    model.set_weights([drawn.standard_normal(one.shape, "float32") / np.float32(np.prod(one.shape[:-1]) ** .5) if one.ndim > 1 else one
                       for one in model.get_weights()])
    batch = [tf.constant(drawn.integers(0, one[1], one[2], "int32") if one[0] == "ints" else drawn.random(one, "float32")) for one in fed]
    optimizer = tf.keras.optimizers.Adam(1e-4)
    optimizer.build(model.trainable_variables)

    @tf.function(**compiled)
    def train(*given):
        with tf.GradientTape() as tape:
            loss = loss_of(given[-1], model(list(given[:-1]) if len(given) > 2 else given[0], training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss
    return train, batch
