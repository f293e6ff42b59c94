"""Where the weights of ImageNet are for models by name: Keras' files, fetched by ``keras.utils.get_file``.

A decorated function finds its files by its name. Failures: ValueError for models that there are no weights of, OSError
without a net, or for a file whose hash is another.
"""

import functools
import inspect
import warnings

from leat.keras._files.downloads import get_file

_ROOT = "https://storage.googleapis.com/tensorflow/keras-applications/"
_ROOTS = {"EfficientNetB": "https://storage.googleapis.com/keras-applications/"}  # where it is another one
_KERNELS = "_weights_tf_dim_ordering_tf_kernels"
_WITHOUT = {"nasnet": "-no-top", "mobilenet": "_no_top", "mobilenet_v2": "_no_top", "mobilenet_v3": "_no_top_v2"}
# name: file, whose {} says that it has no top, and the hashes of the files with and without one
_FILES = {
    "ResNet50": ("resnet/resnet50{kernels}{}.h5",
                 "2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"),
    "ResNet101": ("resnet/resnet101{kernels}{}.h5",
                  "f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"),
    "ResNet152": ("resnet/resnet152{kernels}{}.h5",
                  "100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"),
    "ResNet50V2": ("resnet/resnet50v2{kernels}{}.h5",
                   "3ef43a0b657b3be2300d5770ece849e0", "fac2f116257151a9d068a22e544a4917"),
    "ResNet101V2": ("resnet/resnet101v2{kernels}{}.h5",
                    "6343647c601c52e1368623803854d971", "c0ed64b8031c3730f411d2eb4eea35b5"),
    "ResNet152V2": ("resnet/resnet152v2{kernels}{}.h5",
                    "a49b44d1979771252814e80f8ec446f9", "ed17cf2e0169df9d443503ef94b23b33"),
    "VGG16": ("vgg16/vgg16{kernels}{}.h5", "64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc"),
    "VGG19": ("vgg19/vgg19{kernels}{}.h5", "cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6"),
    "DenseNet121": ("densenet/densenet121{kernels}{}.h5",
                    "9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738"),
    "DenseNet169": ("densenet/densenet169{kernels}{}.h5",
                    "d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b"),
    "DenseNet201": ("densenet/densenet201{kernels}{}.h5",
                    "1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1"),
    "InceptionV3": ("inception_v3/inception_v3{kernels}{}.h5",
                    "9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63"),
    "InceptionResNetV2": ("inception_resnet_v2/inception_resnet_v2{kernels}{}.h5",
                          "e693bd0210a403b3192acc6073ad2e96", "d19885ff4a710c122648d3b5c3b684e4"),
    "Xception": ("xception/xception{kernels}{}.h5",
                 "0a58e3b7378bc2990ea3b43d5981f1f6", "b0042744bf5b25fce3cb969f33bebb97"),
    "NASNetMobile": ("nasnet/NASNet-mobile{}.h5",
                     "020fb642bf7360b370c678b08e0adf61", "1ed92395b5b598bdda52abe5c0dbfd63"),
    "NASNetLarge": ("nasnet/NASNet-large{}.h5", "11577c9a518f0070763c2b964a382f17", "d81d89dc07e6e56530c4e77faddd61b5"),
    "ConvNeXtTiny": ("convnext/convnext_tiny{}.h5",
                     "8ae6e78ce2933352b1ef4008e6dd2f17bc40771563877d156bc6426c7cf503ff",
                     "d547c096cabd03329d7be5562c5e14798aa39ed24b474157cef5e85ab9e49ef1"),
    "ConvNeXtSmall": ("convnext/convnext_small{}.h5",
                      "ce1277d8f1ee5a0ef0e171469089c18f5233860ceaf9b168049cb9263fd7483c",
                      "6fc8009faa2f00c1c1dfce59feea9b0745eb260a7dd11bee65c8e20843da6eab"),
    "ConvNeXtBase": ("convnext/convnext_base{}.h5",
                     "52cbb006d3dadd03f6e095a8ca1aca47aecdd75acb4bc74bce1f5c695d0086e6",
                     "40a20c5548a5e9202f69735ecc06c990e6b7c9d2de39f0361e27baeb24cb7c45"),
    "ConvNeXtLarge": ("convnext/convnext_large{}.h5",
                      "070c5ed9ed289581e477741d3b34beffa920db8cf590899d6d2c67fba2a198a6",
                      "96f02b6f0753d4f543261bc9d09bed650f24dd6bc02ddde3066135b63d23a1cd"),
    "ConvNeXtXLarge": ("convnext/convnext_xlarge{}.h5",
                       "c1f5ccab661354fc3a79a10fa99af82f0fbf10ec65cb894a3ae0815f17a889ee",
                       "de3f8a54174130e0cecdc71583354753d557fcf1f4487331558e2a16ba0cfe05"),
    "EfficientNetB0": ("efficientnetb0{}.h5", "902e53a9f72be733fc0bcb005b3ebbac", "50bc09e76180e00e4465e1a485ddc09d"),
    "EfficientNetB1": ("efficientnetb1{}.h5", "1d254153d4ab51201f1646940f018540", "74c4e6b3e1f6a1eea24c589628592432"),
    "EfficientNetB2": ("efficientnetb2{}.h5", "b15cce36ff4dcbd00b6dd88e7857a6ad", "111f8e2ac8aa800a7a99e3239f7bfb39"),
    "EfficientNetB3": ("efficientnetb3{}.h5", "ffd1fdc53d0ce67064dc6a9c7960ede0", "af6d107764bb5b1abb91932881670226"),
    "EfficientNetB4": ("efficientnetb4{}.h5", "18c95ad55216b8f92d7e70b3a046e2fc", "ebc24e6d6c33eaebbd558eafbeedf1ba"),
    "EfficientNetB5": ("efficientnetb5{}.h5", "ace28f2a6363774853a83a0b21b9421a", "38879255a25d3c92d5e44e04ae6cec6f"),
    "EfficientNetB6": ("efficientnetb6{}.h5", "165f6e37dce68623721b423839de8be5", "9ecce42647a20130c1f39a5d4cb75743"),
    "EfficientNetB7": ("efficientnetb7{}.h5", "8c03f828fec3ef71311cd463b6759d99", "cbcfe4450ddf6f3ad90b1b398090fe4a"),
    "EfficientNetV2B0": ("efficientnet_v2/efficientnetv2-b0{}.h5",
                         "21ecbf6da12460d5c40bb2f29ceb2188", "893217f2bb855e2983157299931e43ff"),
    "EfficientNetV2B1": ("efficientnet_v2/efficientnetv2-b1{}.h5",
                         "069f0534ff22adf035c89e2d9547a9dc", "0e80663031ca32d657f9caa404b6ec37"),
    "EfficientNetV2B2": ("efficientnet_v2/efficientnetv2-b2{}.h5",
                         "424e49f28180edbde1e94797771950a7", "1dfe2e7a5d45b6632553a8961ea609eb"),
    "EfficientNetV2B3": ("efficientnet_v2/efficientnetv2-b3{}.h5",
                         "1f1fc43bd98a6e4fd8fdfd551e02c7a0", "f6abf7b5849ac99a89b50dd3fd532856"),
    "EfficientNetV2S": ("efficientnet_v2/efficientnetv2-s{}.h5",
                        "e1d88a8495beba45748fedd0cecbe016", "af0682fb74e8c54910f2d4393339c070"),
    "EfficientNetV2M": ("efficientnet_v2/efficientnetv2-m{}.h5",
                        "a3bf6aa3276309f4fc6a34aa114c95cd", "1b8dc055df72dde80d614482840fe342"),
    "EfficientNetV2L": ("efficientnet_v2/efficientnetv2-l{}.h5",
                        "27e6d408b53c7ebc868fefa357689935", "b0b66b5c863aef5b46e8608fe1711615"),
    "MobileNetV3Large 0.75": (None, "765b44a33ad4005b3ac83185abf1d0eb", "40af19a13ebea4e2ee0c676887f69a2e"),
    "MobileNetV3Large 1.0": (None, "59e551e166be033d707958cf9e29a6a7", "07fb09a5933dd0c8eaafa16978110389"),
    "MobileNetV3Large minimalistic 1.0": (None, "675e7b876c45c57e9e63e6d90a36599c", "ec5221f64a2f6d1ef965a614bdae7973"),
    "MobileNetV3Small 0.75": (None, "cb65d4e5be93758266aa0a7f2c6708b7", "ebdb5cc8e0b497cd13a7c275d475c819"),
    "MobileNetV3Small 1.0": (None, "8768d4c2e7dee89b9d02b2d03d65d862", "d3e8ec802a04aa4fc771ee12a9a9b836"),
    "MobileNetV3Small minimalistic 1.0": (None, "99cd97fb2fcdad2bf028eb838de69e37", "cde8136e733e811080d9fcd8a252f7e4"),
}
_OF_MOBILE = {  # name: file, shares of filters, sizes of pictures
    "MobileNet": ("mobilenet/mobilenet_{share}_{size}_tf{{}}.h5", (0.25, 0.5, 0.75, 1.0), (128, 160, 192, 224)),
    "MobileNetV2": ("mobilenet_v2/mobilenet_v2{kernels}_{alpha}_{size}{{}}.h5", (0.35, 0.5, 0.75, 1.0, 1.3, 1.4),
                    (96, 128, 160, 192, 224)),
}
_SHARES = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0", 0.25: "2_5"}


def _of_mobile(name, given):
    pattern, shares, sizes = _OF_MOBILE[name]
    alpha, shape = given["alpha"], given["input_shape"] or (224, 224, 3)
    if given.get("depth_multiplier", 1) != 1:
        raise ValueError("If imagenet weights are being loaded, depth multiplier must be 1. Received depth_multiplier="
                         f"{given['depth_multiplier']}")
    if alpha not in shares:
        raise ValueError(f"If imagenet weights are being loaded, alpha can be one of {shares} only. Received "
                         f"alpha={alpha}")
    size = shape[0]
    if size != shape[1] or size not in sizes:
        warnings.warn("`input_shape` is undefined or non-square, or `rows` is not in "
                      f"{list(sizes)}. Weights for input shape (224, 224) will be loaded as the default.", stacklevel=4)
        size = 224
    return pattern.format(share=_SHARES.get(alpha), alpha=float(alpha), size=size, kernels=_KERNELS), None, None


def _of_newest_mobile(name, given):
    simple = " minimalistic" if given["minimalistic"] else ""
    row = _FILES.get(f"{name}{simple} {given['alpha']}")
    if row is None:
        raise ValueError("If imagenet weights are being loaded, alpha can be one of `0.75`, `1.0` for non minimalistic "
                         f"or `1.0` for minimalistic only. Received alpha={given['alpha']}")
    kind = name.removeprefix("MobileNetV3").lower() + simple.replace(" ", "_")
    return f"mobilenet_v3/weights_mobilenet_v3_{kind}_224_{given['alpha']}_float{{}}.h5", *row[1:]


def _row(name, given):
    """(file, hash with a top, hash without)."""
    if name in _OF_MOBILE:
        return _of_mobile(name, given)
    return _of_newest_mobile(name, given) if name.startswith("MobileNetV3") else _FILES[name]


def _fetched(name, given):
    """The path of the weights of a model."""
    if given["include_top"] and given["classes"] != 1000:
        raise ValueError("If using `weights='imagenet'` with `include_top=True`, `classes` should be 1000. Received "
                         f"classes={given['classes']}")
    path, *hashes = _row(name, given)
    root = next((other for start, other in _ROOTS.items() if name.startswith(start)), _ROOT)
    without = "" if given["include_top"] else _WITHOUT.get(path.partition("/")[0], "_notop")
    address = root + path.format(without, kernels=_KERNELS)
    try:
        return get_file(None, address, cache_subdir="models", file_hash=hashes[0 if given["include_top"] else 1])
    except OSError as error:
        raise OSError(f"weights='imagenet': {error}; or give the path of a file of weights, or weights=None for new "
                      "ones") from error


def pretrained(function):
    """A decorator of a function that makes a model: weights="imagenet" stands for the path of the fetched file."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def make(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.arguments["weights"] == "imagenet":
            bound.arguments["weights"] = _fetched(function.__name__, bound.arguments)
        return function(*bound.args, **bound.kwargs)
    return make


def class_names():
    """The path of the list of ImageNet's classes."""
    address = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
    try:
        return get_file("imagenet_class_index.json", address, cache_subdir="models",
                        file_hash="c2c37ea517e94d9795004a39431a14cb")
    except OSError as error:
        raise OSError(f"{error}; or give the path of such a file as class_index") from error
