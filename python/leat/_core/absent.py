"""TensorFlow's names that leat leaves out, each with a way out, for who asks for one or imports it."""

import sys

_TEXTS = {
    "leat.lite": "models for TensorFlow Lite are not written here; save the model (Model.save, saved_model.save) and "
                 "convert it with TensorFlow",
    "leat.mlir": "these are dialects of TensorFlow's compiler; what leat.function traces is compiled without them",
    "leat.raw_ops": "the operations below TensorFlow's functions have no names of their own; call the function that is "
                    "made of one, such as tf.add for raw_ops.AddV2",
    "leat.xla": "leat.function compiles what it traces without XLA; leave jit_compile and xla.experimental out",
    "leat.graph_util": "there are no graphs of TensorFlow 1; ConcreteFunction.graph shows what a leat.function is",
    "leat.feature_column": "TensorFlow itself replaces feature columns by keras.layers: Normalization, Discretization, "
                           "StringLookup, IntegerLookup, CategoryEncoding, Hashing, Embedding",
    "leat.Graph": "there are no graphs of TensorFlow 1; put the code into a leat.function",
    "leat.Operation": "there are no graphs of TensorFlow 1; ConcreteFunction.graph.get_operations lists what is traced",
    "leat.RegisterGradient": "gradients of the library's operations are what they are; tf.custom_gradient gives a "
                             "function another one",
    "leat.import_graph_def": "TensorFlow's graphs are not run here; load a SavedModel (saved_model.load)",
    "leat.load_library": "operations of other libraries do not run here; write a tf.py_function or an operation in C "
                         "(CONTRIBUTING.md)",
    "leat.load_op_library": "operations of other libraries do not run here; write a tf.py_function or an operation in "
                            "C (CONTRIBUTING.md)",
    "leat.random_index_shuffle": "call random.experimental.index_shuffle, which takes seeds of two numbers",
    "leat.nondifferentiable_batch_function": "requests are not put together here; call a leat.function with a batch",
    "leat.conv2d_backprop_input_v2": "a tape gives it: GradientTape over nn.conv2d; forwards nn.conv2d_transpose",
    "leat.conv2d_backprop_filter_v2": "a tape gives it: GradientTape over nn.conv2d",
    "leat.image.generate_bounding_box_proposals": "TensorFlow has it for GPUs alone; decode boxes and call "
                                                  "image.non_max_suppression",
    "leat.image.decode_jxl": "pictures of JPEG XL are not read; convert them to PNG or WebP",
    "leat.io.decode_jxl": "pictures of JPEG XL are not read; convert them to PNG or WebP",
    "leat.io.decode_proto": "messages of kinds of one's own are not decoded in functions; decode them in a py_function "
                            "by protobuf's package, or write tf.train.Example",
    "leat.io.encode_proto": "messages of kinds of one's own are not encoded in functions; encode them in a py_function "
                            "by protobuf's package, or write tf.train.Example",
    "leat.io.write_graph": "there are no graphs of TensorFlow 1; saved_model.save writes a function",
    "leat.debugging.experimental": "TensorBoard's debugger has no files of leat's; debugging.enable_check_numerics "
                                   "finds the first infinity or NaN, LEAT_LOG shows what runs",
    "leat.dtypes.experimental": "numbers of fewer than 8 bits, and floats of 8, are no dtypes here; keep arrays of "
                                "ml_dtypes and hand over float32 (array.astype), or call "
                                "quantization.fake_quant_with_min_max_args",
    "leat.quantization.experimental": "models are not quantized here; export one (Model.export) and quantize it with "
                                      "TensorFlow or ONNX Runtime",
    "leat.quantization.quantized_concat": "dequantize, concat and quantize",
    "leat.experimental.StructuredTensor": "use nested structures of RaggedTensors, or a class of ExtensionType",
    "leat.experimental.ExtensionTypeBatchEncoder": "types of one's own are put into batches by their fields; derive "
                                                   "from experimental.BatchableExtensionType",
    "leat.experimental.enable_strict_mode": "nothing here is deprecated; leave it out",
    "leat.keras.Quantizer": "models are not quantized here; export one (Model.export) and quantize it with TensorFlow "
                            "or ONNX Runtime",
    "leat.keras.quantizers": "models are not quantized here; export one (Model.export) and quantize it with TensorFlow "
                             "or ONNX Runtime",
    "leat.keras.SymbolicScope": "keras.ops and layers take KerasTensors as they are; compute_output_spec gives the "
                                "shapes of any function",
    "leat.keras.distribution": "this is for Keras on JAX; use tf.distribute's strategies",
    "leat.keras.visualization": "these draw with matplotlib; call matplotlib with batches as arrays (batch.numpy())",
    "leat.ragged_fill_empty_rows": "call sparse.fill_empty_rows on RaggedTensor.to_sparse()",
    "leat.sysconfig.get_include": "there are headers of leat's own (docs/ARCHITECTURE.md), none of TensorFlow's",
    "leat.test.create_local_cluster": "start the processes of a job by the command leat launch",
    "leat.experimental.dtensor": "use tf.distribute's strategies",
    "leat.experimental.tensorrt": "NVIDIA's compiler is not used; a leat.function is compiled for the processor",
    "leat.tools": "these are TensorFlow's programs; the command leat has leat's own",
    "leat.compat.v1.Session": "TensorFlow 1 is not here; call a leat.function",
}

_TEXTS.update({f"leat.experimental.{name}": _TEXTS["leat.dtypes.experimental"] for name in (
    "float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz int2 int4 uint2 "
    "uint4").split()})


def text_of(name):
    """What to say of a name that is left out; None of any other."""
    return f"{name} is UNIMPLEMENTED: {_TEXTS[name]}" if name in _TEXTS else None


class Finder:
    """Who imports a module that is left out is told so: ImportError with the way out."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """None, or an ImportError."""
        while name.startswith("leat."):
            text = text_of(name)
            if text is not None:
                raise ImportError(text, name=name)
            name = name.rpartition(".")[0]


sys.meta_path.append(Finder)  # asked last, of what nobody else finds
