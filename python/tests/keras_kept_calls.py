"""Calls of what Keras keeps of its second version, recorded by tools/record/keras_ops.py: expressions of these."""

import numpy as np

_random = np.random.RandomState(3)


def _floats(*shape):
    return _random.randn(*shape).astype("float32")


NAMES = {
    "np": np, "a": _floats(3, 4), "b": _floats(3, 4), "c": _floats(2, 3, 4), "d": _floats(2, 4, 5),
    "i": np.array([[3, -1, 4], [1, -5, 9]], "int32"), "t": np.array([[True, False], [False, False]]),
    "p": (_random.rand(3, 4) * 0.9 + 0.05).astype("float32"), "k": np.array([2, 0, 1]),
    "one": np.eye(4, dtype="float32")[[2, 0, 1]], "pic": _floats(2, 6, 5, 4), "seq": _floats(2, 7, 3),
    "vol": _floats(1, 3, 4, 3, 2), "said": np.exp(_floats(2, 6, 4)).astype("float32"),
    "mask": np.array([[1, 1, 0, 1, 0, 1, 1], [0, 1, 1, 1, 1, 0, 0]], bool),
    "four": _floats(3, 3, 1, 4), "more": _floats(3, 3, 2, 4), "rows": (np.array([[6], [5]]), np.array([[2], [1]])),
    "box": np.array([[10, 20, 40, 60], [-5, 10, 30, 20], [70, 80, 90, 120]], "float32"),
    "moves": np.array([[30, -10], [.1, .2], [0, -.1], [1, 1.5], [5, 0], [0, 8]], "float32"),
    "other": np.array([[15, 20, 40, 50], [0, 10, 30, 25]], "float32"),
    "step": lambda x, s: (x * 2.0 + s[0], [s[0] + x]), "text": "The cat sat, on the mat. the CAT!",
    "texts": ["the cat sat on the mat", "the dog ate my homework", "A cat, a dog"],
}
OTHERWISE = ()

CALLS = (
    [f"keras.backend.{name}(tf.constant({value}))" for name in
     "abs cos exp sigmoid sign sin softplus softsign square tanh transpose sqrt round hard_sigmoid elu relu".split()
     for value in "ac"]
    + [f"keras.backend.{name}(tf.constant({rest}))" for name in "max min sum prod mean std var argmax argmin".split()
       for rest in ("a", "c")]
    + [f"keras.backend.{name}(tf.constant(c), axis=1, keepdims=True)" for name in
       "max min sum prod mean std var any all".split()]
    + [f"keras.backend.{name}(tf.constant(a), tf.constant(b))" for name in
       "equal not_equal less less_equal greater greater_equal maximum minimum".split()]
    + """
keras.backend.all(i > 0)
keras.backend.any(t, axis=0)
keras.backend.mean(tf.constant(t))
keras.backend.std(tf.constant(t))
keras.backend.var(tf.constant(t), axis=1)
keras.backend.cumsum(tf.constant(i), axis=1)
keras.backend.cumprod(a)
keras.backend.l2_normalize(a, axis=1)
keras.backend.log(p)
keras.backend.pow(p, 2.5)
keras.backend.clip(a, -0.5, 0.5)
keras.backend.clip(a, None, 0.5)
keras.backend.clip(a, 0.5, -0.5)
keras.backend.arange(5)
keras.backend.arange(-5)
keras.backend.arange(2, 9, 3)
keras.backend.arange(2, 9, 3, dtype="float32")
keras.backend.zeros((2, 3)).numpy()
keras.backend.ones((2, 3), dtype="int32").numpy()
keras.backend.ones((2, 0))
keras.backend.eye(3).numpy()
keras.backend.constant([1, 2])
keras.backend.constant(3, shape=(2, 2), dtype="int64")
keras.backend.zeros_like(a)
keras.backend.ones_like(i, dtype="float32")
keras.backend.variable([1, 2]).numpy()
[tf.random.set_seed(1), keras.backend.random_uniform((2, 3), seed=3)][1]
[tf.random.set_seed(1), keras.backend.random_normal((2, 3), mean=1.0, seed=3)][1]
[tf.random.set_seed(1), keras.backend.truncated_normal((2, 3), seed=3)][1]
[tf.random.set_seed(1), keras.backend.random_bernoulli((2, 3), p=0.5, seed=3)][1]
keras.backend.get_value(tf.constant(a))
keras.backend.batch_get_value([tf.constant(a), tf.Variable(i)])
keras.backend.eval(tf.constant(a))
keras.backend.moving_average_update(tf.Variable(a), b, 0.9)
keras.backend.update(tf.Variable(a), b)
keras.backend.update_add(tf.Variable(a), b)
keras.backend.update_sub(tf.Variable(a), b)
keras.backend.is_sparse(tf.sparse.from_dense(a))
keras.backend.to_dense(tf.sparse.from_dense(a))
keras.backend.shape(tf.constant(c))
list(keras.backend.int_shape(tf.constant(c)))
keras.backend.ndim(tf.constant(c))
[keras.backend.dtype(tf.constant(c)) == "float32"]
keras.backend.count_params(tf.Variable(c))
keras.backend.cast(a, "int32")
keras.backend.cast_to_floatx(i)
keras.backend.cast_to_floatx(tf.constant(i))
keras.backend.reshape(a, (2, 6))
keras.backend.flatten(a)
keras.backend.batch_flatten(tf.constant(c))
keras.backend.expand_dims(a, 1)
keras.backend.squeeze(a[:, :1], 1)
keras.backend.permute_dimensions(c, (2, 0, 1))
keras.backend.reverse(a, 1)
keras.backend.reverse(a, (0, 1))
keras.backend.repeat(tf.constant(a), 2)
keras.backend.repeat_elements(tf.constant(a), 2, axis=1)
keras.backend.tile(a, (2, 1))
keras.backend.stack([a, b], axis=1)
keras.backend.concatenate([tf.constant(a), tf.constant(b)])
keras.backend.concatenate([tf.constant(a), tf.constant(b)], axis=0)
keras.backend.gather(a, k)
keras.backend.one_hot(k, 4)
keras.backend.temporal_padding(seq, (1, 2))
keras.backend.spatial_2d_padding(pic)
keras.backend.spatial_2d_padding(pic, ((1, 0), (2, 1)), "channels_first")
keras.backend.spatial_3d_padding(vol, ((1, 0), (2, 1), (0, 1)))
keras.backend.resize_images(tf.constant(pic), 2, 3, "channels_last")
keras.backend.resize_images(tf.constant(pic), 2, 2, "channels_last", "bilinear")
keras.backend.resize_images(tf.constant(pic), 2, 3, "channels_first")
keras.backend.resize_volumes(tf.constant(vol), 2, 1, 2, "channels_last")
keras.backend.dot(tf.constant(a), tf.constant(a.T))
keras.backend.dot(tf.constant(c), tf.constant(d))
keras.backend.dot(tf.constant(a), tf.constant(d))
keras.backend.batch_dot(tf.constant(c), tf.constant(d))
keras.backend.batch_dot(tf.constant(a), tf.constant(b), axes=1)
keras.backend.batch_dot(tf.constant(c), tf.constant(d), axes=(2, 1))
keras.backend.batch_dot(tf.constant(c), tf.constant(c), axes=1)
keras.backend.batch_dot(tf.constant(c[:, 0]), tf.constant(d), axes=(1, 1))
keras.backend.batch_dot(tf.constant(d), tf.constant(c[:, 0]), axes=(1, 1))
keras.backend.switch(tf.constant(True), lambda: tf.constant(a), lambda: tf.constant(b))
keras.backend.switch(tf.constant(0), tf.constant(a), tf.constant(b))
keras.backend.switch(tf.constant(a > 0), tf.constant(a), tf.constant(b))
keras.backend.switch(tf.constant(c[:, :, 0] > 0), tf.constant(c), tf.constant(c * 0))
keras.backend.stop_gradient(tf.constant(a))
keras.backend.map_fn(lambda x: x * 2, a)
keras.backend.foldl(lambda x, y: x - y, a)
keras.backend.foldr(lambda x, y: x - y, a)
keras.backend.relu(a, alpha=0.1)
keras.backend.relu(a, max_value=0.5)
keras.backend.relu(a, threshold=0.3)
keras.backend.relu(a, alpha=0.2, max_value=0.9, threshold=0.3)
keras.backend.elu(tf.constant(a), 0.5)
keras.backend.softmax(tf.constant(c), axis=1)
keras.backend.softmax(tf.constant(c), axis=(1, 2))
keras.backend.in_top_k(a, k, 2)
keras.backend.binary_crossentropy(one, p)
keras.backend.binary_crossentropy(one, a, from_logits=True)
keras.backend.binary_focal_crossentropy(tf.constant(one), tf.constant(p))
keras.backend.binary_focal_crossentropy(tf.constant(one), tf.constant(a), True, 0.3, 1.5, True)
keras.backend.categorical_crossentropy(one, p)
keras.backend.categorical_crossentropy(one, a, from_logits=True)
keras.backend.categorical_focal_crossentropy(one, p)
keras.backend.categorical_focal_crossentropy(one, a, 0.3, 1.5, True)
keras.backend.sparse_categorical_crossentropy(k, p)
keras.backend.sparse_categorical_crossentropy(k, a, from_logits=True)
keras.backend.sparse_categorical_crossentropy(np.array([[0, 3, 1], [2, 2, 0]]), c, from_logits=True)
keras.backend.sparse_categorical_crossentropy(np.array([[0, 2, 1, 1], [2, 2, 0, 1]]), c, from_logits=True, axis=1)
keras.backend.sparse_categorical_crossentropy(k, p, ignore_class=0)
keras.backend.conv1d(seq, tf.constant(c[:, :, :2].transpose(0, 1, 2)))
keras.backend.conv1d(seq, tf.constant(c[:, :, :2]), padding="causal", dilation_rate=2)
keras.backend.conv1d(seq, tf.constant(c), strides=2, padding="same")
keras.backend.conv2d(pic, tf.constant(d[None]), strides=(1, 1))
keras.backend.conv2d(pic, tf.constant(d[None]), strides=(2, 2), padding="same")
keras.backend.conv3d(vol, tf.constant(c.reshape(1, 2, 2, 2, 3)))
keras.backend.conv2d_transpose(pic, tf.constant(d.reshape(2, 1, 5, 4)), (2, 7, 5, 5))
keras.backend.conv2d_transpose(pic, more, (2, 12, 10, 2), (2, 2), "same")
keras.backend.conv2d_transpose(pic, four, (2, 11, 9, 1), (2, 2), "same")
keras.backend.conv2d_transpose(pic, four, (2, 14, 12, 1), (2, 2))
keras.backend.depthwise_conv2d(pic, tf.constant(pic[0, :2, :2, :, None]), padding="same")
keras.backend.separable_conv2d(pic, tf.constant(pic[0, :2, :2, :, None]), tf.constant(b.reshape(1, 1, 4, 3)))
keras.backend.pool2d(pic, (2, 2))
keras.backend.pool2d(pic, (2, 2), (2, 2), "same", pool_mode="avg")
keras.backend.pool3d(vol, (2, 2, 2), pool_mode="avg")
keras.backend.bias_add(tf.constant(pic), tf.constant(a[0]))
keras.backend.bias_add(tf.constant(pic), tf.constant(pic[0]))
keras.backend.bias_add(tf.constant(pic), tf.constant(c[0, 0, :1].repeat(6)), "channels_first")
keras.backend.batch_normalization(a, b, p, a, b)
list(keras.backend.rnn(step, tf.constant(seq), [tf.zeros((2, 3))]))
list(keras.backend.rnn(step, tf.constant(seq), [tf.zeros((2, 3))], mask=tf.constant(mask)))
list(keras.backend.rnn(step, tf.constant(seq), [tf.zeros((2, 3))], mask=tf.constant(mask), zero_output_for_mask=True))
list(keras.backend.rnn(step, tf.constant(seq), [tf.zeros((2, 3))], go_backwards=True))
list(keras.backend.rnn(step, tf.constant(seq), [tf.zeros((2, 3))], unroll=True))
list(keras.backend.rnn(step, tf.constant(seq), [tf.zeros((2, 3))], return_all_outputs=False))
keras.backend.ctc_batch_cost(np.array([[1, 2], [0, 0]]), said / said.sum(-1, keepdims=True), *rows)
keras.backend.ctc_label_dense_to_sparse(tf.constant([[1, 2], [0, 4]]), tf.constant([2, 1])).indices
keras.backend.ctc_label_dense_to_sparse(tf.constant([[1, 2], [0, 4]]), tf.constant([2, 1])).values
list(keras.backend.ctc_decode(said / said.sum(-1, keepdims=True), np.array([6, 5])))
""".strip().split("\n"))
_TOKENIZER = "(lambda t: [t.fit_on_texts(texts), {}][1])(keras.preprocessing.text.Tokenizer({}))"
_GIVEN = ("", "num_words=4", "num_words=4, oov_token='?'", "char_level=True", "lower=False, filters=','")
CALLS += [_TOKENIZER.format(what, given) for given in _GIVEN for what in (
    "t.texts_to_sequences([text, *texts])", "t.sequences_to_texts([[1, 2, 3], [9, 4, 1]])", "t.texts_to_matrix(texts)",
    "t.texts_to_matrix(texts, 'count')", "t.texts_to_matrix(texts, 'freq')", "t.texts_to_matrix(texts, 'tfidf')",
    "[t.fit_on_sequences([[1, 2], [1]]), sorted(t.index_docs.values())][1]",
    "keras.preprocessing.text.tokenizer_from_json(t.to_json()).texts_to_sequences(texts)", "t.document_count",
    "list(t.word_index)", "list(t.word_counts)", "list(t.get_config())")]
CALLS += """
keras.preprocessing.text.text_to_word_sequence(text)
keras.preprocessing.text.text_to_word_sequence(text, lower=False, split="a")
keras.preprocessing.text.hashing_trick(text, 20, "md5")
keras.preprocessing.sequence.make_sampling_table(8)
list([__import__("random").seed(4), keras.preprocessing.sequence.skipgrams([1, 2, 0, 3, 4], 9, window_size=1)][1])
list(keras.preprocessing.sequence.skipgrams([1, 2, 3], 5, 1, 0.0, False, categorical=True))
list([__import__("random").seed(4), keras.preprocessing.sequence.skipgrams([1, 2, 3], 5, 2, 0.5, seed=3)][1])
len(keras.preprocessing.sequence.TimeseriesGenerator(np.arange(50), np.arange(50), 10, 2, batch_size=4))
list(keras.preprocessing.sequence.TimeseriesGenerator(np.arange(50), np.arange(50), 10, 2, batch_size=4)[1])
list(keras.preprocessing.sequence.TimeseriesGenerator(a.repeat(5, 0), np.arange(15), 3, 1, 2, 1, 12, False, True, 3)[1])
keras.preprocessing.image.smart_resize(pic, (4, 4))
keras.preprocessing.image.smart_resize(pic[0], (3, 7), "nearest")
keras.preprocessing.image.smart_resize(pic.transpose(0, 3, 1, 2), (4, 4), data_format="channels_first")
keras.preprocessing.image.apply_channel_shift(pic[0], 0.5, channel_axis=2)
keras.preprocessing.sequence.pad_sequences([[1, 2], [3]], maxlen=3)
""".strip().split("\n")
_FORMATS = ("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", "rel_xyxy", "rel_yxyx", "rel_xywh", "rel_center_xywh")
_BOXES = "keras.utils.bounding_boxes."
CALLS += [f"{_BOXES}convert_format(box, '{source}', '{target}', height=100, width=80)" for source in _FORMATS
          for target in _FORMATS]
CALLS += [_BOXES + call for call in """
clip_to_image_size({"boxes": box, "labels": np.array([1, 2, 3])}, 100, 80)["boxes"]
clip_to_image_size({"boxes": box, "labels": np.array([1, 2, 3])}, 100, 65)["labels"]
clip_to_image_size({"boxes": box / 100}, bounding_box_format="rel_xyxy")["boxes"]
crop(box, 15, 20, 40, 30)
pad(box, 5, 7)
affine_transform(np.stack([box, box]), *moves, 100, 80)
compute_iou(box, other, "xyxy")
compute_iou(np.stack([box, box]), np.stack([other, other * 1.1]), "xywh")
compute_iou(box - 50, other, "xyxy", use_masking=True, mask_val=-3)
compute_iou(box / 100, other / 100, "rel_yxyx", image_shape=(100, 80, 3))
compute_ciou(box[:2], other, "xyxy")
compute_ciou(box[:2], other, "center_xywh")
encode_box_to_deltas(box[:2], other, "xyxy", "xyxy")
encode_box_to_deltas(box[:2], other, "xyxy", "xywh", "center_xywh", [.1, .1, .2, .2])
decode_deltas_to_boxes(box[:2], other / 50, "xyxy", "xywh", variance=[.1, .1, .2, .2])
decode_deltas_to_boxes(box[:2], other / 50, "xyxy", "rel_xyxy", "center_xywh", image_shape=(100, 80, 3))
""".strip().split("\n")]
_CUT = ("keras.layers.MaxNumBoundingBoxes({}, bounding_box_format='xyxy')({{'images': pic[:1], 'bounding_boxes': "
        "{{'boxes': box[None], 'labels': i[:1]}}}})")
CALLS += [f"{_CUT.format(n)}['bounding_boxes']['{name}']" for n in ("2", "5", "5, fill_value=0") for name in (
    "boxes", "labels")]
CALLS += ["list(keras.layers.MaxNumBoundingBoxes(3).get_config())"]
