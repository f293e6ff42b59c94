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
    "leat.experimental.dtensor": "use tf.distribute's strategies",
    "leat.experimental.tensorrt": "NVIDIA's compiler is not used; a leat.function is compiled for the processor",
    "leat.tools": "these are TensorFlow's programs; the command leat has leat's own",
    "leat.compat.v1.Session": "TensorFlow 1 is not here; call a leat.function",
}


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
