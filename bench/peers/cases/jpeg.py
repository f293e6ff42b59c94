"""JPEG pictures to batches of 64 x 224 x 224 x 3 float32 in 0..1, with a random flip; two threads or processes.

Resizing is bilinear without antialiasing unless the peer can do only the other (Pillow always antialiases when it shrinks;
mlx-data uses a triangle filter). TensorFlow's decoder uses the fast integer DCT unless told otherwise, which darkens the mean by
0.003; tensorflow-accurate is the one whose pixels equal the others'.
"""
import os
import random

from common import BATCH, SIDE, THREADS, Missing, file_list, limit, need, photos, tensorflow, tf_threads, torch

EPOCHS = 1000                                                  # long enough never to reach the end


# ---- TensorFlow ----

def tf_finish(tf, image):
    image = tf.image.resize(image, [SIDE, SIDE])
    image = tf.image.random_flip_left_right(image)
    return tf.ensure_shape(image, [SIDE, SIDE, 3]) / 255.0


def tf_run(context, tf, ds, decode, parallel=THREADS):
    ds = ds.map(decode, num_parallel_calls=parallel).batch(BATCH, drop_remainder=True).prefetch(2)
    for images, _ in tf_threads(tf, ds):
        context.look(images)
        yield BATCH


def tf_files(tf):
    files, labels = photos()
    return tf.data.Dataset.from_tensor_slices((files, labels)).repeat()


def tf_full(context):
    tf = tensorflow()
    return tf_run(context, tf, tf_files(tf), lambda f, y: (
        tf_finish(tf, tf.io.decode_jpeg(tf.io.read_file(f), channels=3)), y))


def tf_full_accurate(context, tf=None):
    tf = tf or tensorflow()
    return tf_run(context, tf, tf_files(tf), lambda f, y: (tf_finish(tf, tf.io.decode_jpeg(
        tf.io.read_file(f), channels=3, dct_method="INTEGER_ACCURATE")), y))


def tf_crop(tf, data):
    """A random part of 8 % to all of a picture, with sides in the proportion 3:4 to 4:3."""
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(data), tf.zeros([1, 0, 4]), area_range=(0.08, 1.0), aspect_ratio_range=(3 / 4, 4 / 3),
        max_attempts=10, use_image_if_no_bounding_boxes=True)
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    return tf.io.decode_and_crop_jpeg(data, window, channels=3, dct_method="INTEGER_ACCURATE")


def tf_rrc(context, tf=None, quality=None):
    tf = tf or tensorflow()
    files = tf_files(tf)
    if quality:
        options = tf.data.Options()
        options.picture_quality = quality
        files = files.with_options(options)
    return tf_run(context, tf, files, lambda f, y: (tf_finish(tf, tf_crop(tf, tf.io.read_file(f))), y))


def tf_full_autotune(context):
    tf = tensorflow()
    return tf_run(context, tf, tf_files(tf), lambda f, y: (
        tf_finish(tf, tf.io.decode_jpeg(tf.io.read_file(f), channels=3)), y), tf.data.AUTOTUNE)


class Files:
    def __init__(self, kind):
        self.files, self.labels = photos()
        self.kind = kind
        self.transform = None

    def __len__(self):
        return len(self.files) * EPOCHS

    def build(self):
        import torch as t
        from torchvision.transforms import InterpolationMode, v2
        tensor = self.kind.startswith("io")
        smooth = None if not tensor else False
        resize = v2.Resize((SIDE, SIDE), InterpolationMode.BILINEAR, antialias=smooth or not tensor)
        self.transform = v2.Compose([resize, v2.RandomHorizontalFlip()] + ([] if tensor else [v2.ToImage()]) +
                                    [v2.ToDtype(t.float32, scale=True)])
        if tensor:
            from torchvision import io
            self.load = lambda path: io.decode_jpeg(io.read_file(path), mode=io.ImageReadMode.RGB)
        else:
            from PIL import Image
            self.load = lambda path: Image.open(path).convert("RGB")

    def __getitem__(self, i):
        if self.transform is None:
            self.build()
        i %= len(self.files)
        return self.transform(self.load(self.files[i])), self.labels[i]


def torch_loader(context, data):
    t = torch()
    need("torchvision")
    loader = t.utils.data.DataLoader(data, batch_size=BATCH, num_workers=THREADS, prefetch_factor=2,
                                     worker_init_fn=lambda _: t.set_num_threads(1))
    for images, _ in loader:
        context.look(images)
        yield BATCH


def torch_pillow(context):
    return torch_loader(context, Files("pillow"))


def torch_io(context):
    return torch_loader(context, Files("io"))


def mlx(context):
    dx = need("mlx.data")
    files, labels = photos()
    ds = dx.buffer_from_vector([{"image": f.encode(), "label": y} for f, y in zip(files, labels)]).to_stream()
    ds = ds.repeat(EPOCHS).load_image("image")
    ds = ds.image_resize("image", SIDE, SIDE).image_random_h_flip("image", 0.5)
    ds = ds.batch(BATCH).key_transform("image", lambda x: x.astype("float32") / 255).prefetch(4, THREADS)
    for sample in ds:
        context.look(sample["image"])
        yield BATCH


# ---- Grain ----

def grain_source():
    import numpy
    from PIL import Image
    files, labels = photos()

    def load(item):
        path, label = item
        image = Image.open(path).convert("RGB")
        image = image.resize((SIDE, SIDE), Image.BILINEAR)
        if random.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        return numpy.asarray(image, numpy.float32) / 255, label

    return list(zip(files, labels)), load


def grain(context, processes):
    g = need("grain")
    items, load = grain_source()
    ds = g.MapDataset.source(items).repeat().map(load).batch(BATCH)
    if processes:
        ds = ds.to_iter_dataset(g.ReadOptions(num_threads=1, prefetch_buffer_size=2)).mp_prefetch(
            g.multiprocessing.MultiprocessingOptions(num_workers=THREADS, per_worker_buffer_size=2))
    else:
        ds = ds.to_iter_dataset(g.ReadOptions(num_threads=THREADS, prefetch_buffer_size=4))
    for images, _ in ds:
        context.look(images)
        yield BATCH


# ---- DALI on the processor ----

def dali(context):
    need("nvidia.dali")
    from nvidia.dali import fn, pipeline_def, types
    files, labels = photos()

    @pipeline_def(batch_size=BATCH, num_threads=THREADS, device_id=None, prefetch_queue_depth=2)
    def pipe():
        data, label = fn.readers.file(files=files, labels=labels)
        image = fn.resize(fn.decoders.image(data, device="cpu"), resize_x=SIDE, resize_y=SIDE, interp_type=types.INTERP_LINEAR,
                          antialias=False)
        image = fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(), dtype=types.FLOAT, output_layout="HWC",
                                         mean=[0.0] * 3, std=[255.0] * 3)
        return image, label

    p = pipe()
    p.build()
    while True:
        images, _ = p.run()
        context.look(images.as_array()) if "shape" not in context.notes else None
        yield BATCH


def write_index(path, name):
    import struct
    if os.path.exists(name):
        return
    with open(path, "rb") as data, open(name, "w") as out:
        while head := data.read(12):
            size = struct.unpack("<Q", head[:8])[0] + 16
            out.write("%d %d\n" % (data.tell() - 12, size))
            data.seek(size - 12, 1)


def c_jpeg(variant):
    return lambda context: limit("jpeg", file_list("photos", photos()[0]), THREADS, context.seconds, variant)


CASES = {
    "jpeg_full": {"unit": "images/s", "doc": "files, decode, bilinear 224, flip, float, batch 64", "peers": {
        "tensorflow": tf_full, "tensorflow-autotune": tf_full_autotune, "tensorflow-accurate": tf_full_accurate,
        "torch-pillow": torch_pillow, "torch-io": torch_io, "mlx-data": mlx, "grain-threads": lambda c: grain(c, False),
        "grain-processes": lambda c: grain(c, True), "dali-cpu": dali, "limit": c_jpeg("full")}},
    "jpeg_rrc": {"unit": "images/s", "doc": "the same with a random part of each picture; the limit may scale the inverse DCT", "peers": {
        "tensorflow": tf_rrc, "limit": c_jpeg("rrcscale")}},
}
__all__ = ["CASES", "Missing"]
