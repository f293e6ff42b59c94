"""``tf.data.Dataset``: a plan of operators; iterating over it runs the plan.

The methods are made of the library's table of operators, under TensorFlow's names; written out here is only what
TensorFlow spells differently from its operators.
"""

import functools
import json
import time

import numpy as np

from leat import _native, dtypes, nest
from leat._core import specs
from leat._graph import trace
from leat.data import checks, operators
from leat.data.operators import OPERATORS
from leat.dtypes import DType
from leat.errors import InvalidArgumentError, NotFoundError
from leat._graph.graphs import refused
from leat._graph.ops import plain_value
from leat._core.element_specs import DatasetSpec
from leat._core.later import Hook
from leat._core.shapes import TensorShape
from leat._core.signatures import REQUIRED, function
from leat._core.tensor import Tensor, convert_to_tensor

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
_POLL_SECONDS = 0.05
arrow_stream = Hook()  # (dataset): a capsule of its elements as an Arrow stream; leat.data.formats.arrow


class Dataset:
    """A dataset (``tf.data.Dataset``): immutable, shared by any number of iterators and threads."""

    _is_leaf_value = True
    _shown = None  # what TensorFlow calls the class, where it is another name
    __slots__ = ("_native", "_value", "_element_spec", "_name", "_inputs", "_options", "__weakref__", "__dict__")

    def __init__(self, variant_tensor):
        raise TypeError(f"Can't instantiate abstract class {type(self).__name__}; datasets are made by "
                        "Dataset.range, from_tensor_slices, from_generator and the like")

    @classmethod
    def _of(cls, native=None, value=None, **more):
        made = cls.__new__(cls)
        made._fill(native, value, **more)
        return made

    def _fill(self, native=None, value=None, element_spec=None, name="Dataset", inputs=(), options=None):
        self._native = native
        self._value = value  # a tensor of dtype variant where this is a value of a function being traced
        self._element_spec = element_spec
        self._name = name
        self._inputs = inputs
        self._options = options

    # ---- what it is ----

    @property
    def element_spec(self):
        """The structure of TypeSpecs of the elements."""
        if self._element_spec is None:
            if self._native is not None:
                self._element_spec = nest.from_text(self._native.spec())
            else:
                self._element_spec = self._value._element_spec()
        return self._element_spec

    @property
    def _type_spec(self):
        return DatasetSpec(self.element_spec)

    def cardinality(self):
        """The number of elements as an int64 scalar; -1 infinite, -2 unknown."""
        return convert_to_tensor(np.int64(self._plan("cardinality()").cardinality()))

    def __len__(self):
        count = self._plan("len()").cardinality()
        if count == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self):
        return True

    __nonzero__ = __bool__

    def __repr__(self):
        kind = type(self).__name__
        own = "CacheDataset" if self._name == "Cache" else f"_{self._name}Dataset"
        shown = self._shown or kind if kind != "Dataset" else own
        return f"<{shown} element_spec={self.element_spec!r}>"

    def options(self):
        """The options of this dataset and its inputs, joined (``tf.data.Dataset.options``)."""
        from leat.data.options import Options
        joined = Options()
        for dataset in self._inputs:
            joined = joined.merge(dataset.options())
        return joined.merge(self._options or Options())._fixed()

    def fingerprint(self):
        """64 bits that are equal for equal plans."""
        return convert_to_tensor(np.array(self._plan("fingerprint()").fingerprint(), np.uint64))

    def to_json(self):
        """The plan as JSON text (docs/PLANS.md)."""
        return self._plan("to_json()").to_json()

    @staticmethod
    def from_json(text, remote=False):
        """The dataset of a plan's JSON text.

        remote: may it open files of other machines (``http://``, ``s3://`` and others)? Only for plans of your own:
        others could have this machine ask for whatever they name. PermissionDeniedError where it may not.
        """
        return Dataset._of(_native.Dataset.from_json(text, bool(remote)), name="Plan")

    def _plan(self, what):
        if self._native is None:
            raise trace.NotTraceable(f"{what} of a dataset inside a function that is traced")
        return self._native

    def _as_value(self):
        """The dataset as a tensor of dtype variant."""
        return self._value if self._native is None else self._native.value()

    @staticmethod
    def _of_value(tensor, element_spec):
        """The dataset that a tensor of dtype variant is."""
        if tensor._has_values:
            return Dataset._of(tensor._dataset(), element_spec=element_spec, name="Variant")
        return Dataset._of(value=tensor, element_spec=element_spec, name="Variant")

    # ---- running ----

    def __iter__(self):
        from leat.data.iterator import Iterator
        if trace.is_tracing():
            from leat.data.traced import start
            return start(self)
        return Iterator(self)

    def as_numpy_iterator(self):
        """An iterator over the elements as numpy values."""
        from leat.data.iterator import NumpyIterator
        return NumpyIterator(self)

    def get_single_element(self, name=None):
        """The only element; InvalidArgumentError where there is none or more."""
        if trace.is_tracing():
            from leat.data.functions import _single_inside
            return _single_inside(self)
        return nest.assemble(self.element_spec, iter(self._plan("get_single_element").single()))

    def reduce(self, initial_state, reduce_func, name=None):
        """The last state of ``state = reduce_func(state, element)`` (``tf.data.Dataset.reduce``)."""
        from leat.data.functions import reduce
        return reduce(self, initial_state, reduce_func)

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes the elements to files that ``Dataset.load`` reads (``tf.data.Dataset.save``)."""
        from leat.data.functions import save
        return save(self, path, compression, shard_func, checkpoint_args)

    def __arrow_c_stream__(self, requested_schema=None):
        return arrow_stream(self)

    def explain(self, elements=1000):
        """Runs `elements` elements; prints and returns what each operator did: rates, waits, bytes, the bottleneck.

        The Explanation is text; shells and notebooks show it by themselves, notebooks as a drawing.
        """
        from leat.data.iterator import Iterator
        iterator = Iterator(self)
        for _ in zip(range(elements), iterator):
            pass
        return iterator.explain().show()

    def plan(self):
        """The plan as text: a tree of operators with their arguments, the one that gives the elements first."""
        from leat.data.views import plan_text
        return plan_text(self)

    def _repr_html_(self):
        from leat.data.views import plan_html
        return plan_html(self)

    # ---- what TensorFlow spells differently ----

    def apply(self, transformation_func):
        """``transformation_func(self)``, which must return a dataset."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(dataset)}.")
        return dataset

    @staticmethod
    def range(*args, output_type=dtypes.int64, name=None):
        """Numbers in steps: ``range(stop)``, ``range(start, stop)``, ``range(start, stop, step)``.

        output_type: Their dtype; they are counted in int64 and cast. InvalidArgumentError for a step of 0.
        """
        if not 1 <= len(args) <= 3:
            raise ValueError("Invalid `args`. The length of `args` should be between 1 and 3 but was "
                             f"{len(args)}.")
        names = (("stop",), ("start", "stop"), ("start", "stop", "step"))[len(args) - 1]
        return make("range", (), dict(zip(names, args), output_type=output_type), name)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side, until the shortest ends.

        args: The datasets; elements are tuples of theirs.
        datasets: In their place any structure of datasets, which elements then have.
        """
        if (args and datasets is not None) or (not args and datasets is None):
            raise TypeError("Both `*args` and `datasets` cannot be set." if args else
                            "Must pass at least one dataset to `zip`.")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        return make("zip", structure, {}, name)

    def concatenate(self, dataset, name=None):
        """This dataset's elements, then those of `dataset`."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Expected a dataset to concatenate, found {type(dataset).__name__}")
        return make("concatenate", (self, dataset), {}, name)

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element: the structure of tensors itself.

        tensors: Numbers, arrays, strings, lists of them, ragged or sparse tensors and datasets, in tuples and
            dictionaries.
        """
        if any(isinstance(leaf, Dataset) for leaf in nest.leaves(tensors)):  # a function's result, which may be one
            return Dataset.from_tensors(0).map(lambda _: tensors, name=name)
        return make("from_tensors", (), {"tensors": tensors}, name)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """One element for each row of the tensors' first dimension.

        tensors: As in from_tensors; of a list of datasets each is a row.
        """
        if any(isinstance(leaf, list) and leaf and isinstance(leaf[0], Dataset) for leaf in nest.leaves(tensors)):
            rows = [Dataset.from_tensors(nest.pack_as(tensors, row), name)
                    for row in zip(*nest.leaves(tensors), strict=True)]
            return functools.reduce(Dataset.concatenate, rows)
        return make("from_tensor_slices", (), {"tensors": tensors}, name)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """What a Python generator yields (``tf.data.Dataset.from_generator``).

        generator: A function that returns an iterator, called anew for each run; it is closed when the run ends.
        output_signature: The structure of TypeSpecs of what it yields.
        output_types, output_shapes: In its place dtypes and shapes, in the structure of an element.
        args: Tensors that the function is called with, as numpy values.
        """
        from leat.data.functions import from_generator
        return from_generator(generator, output_types, output_shapes, args, output_signature, name)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
        """The elements that ``Dataset.save`` wrote to the folder `path`; `wait`: once they are there."""
        arguments = {"path": path, "element_spec": element_spec, "compression": compression, "reader_func": reader_func}
        while True:
            try:
                return make("load", (), arguments)
            except NotFoundError:
                if not wait:
                    raise
                time.sleep(_POLL_SECONDS)  # here, where Ctrl-C ends it

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Elements of `datasets` in the order that a dataset of their numbers gives.

        choice_dataset: int64 scalars, from 0 to the number of datasets less 1.
        stop_on_empty_dataset: False: pass over datasets that have ended, until all have.
        """
        return make("choose_from_datasets", tuple(datasets),
                    {"choice_dataset": choice_dataset, "stop_on_empty_dataset": stop_on_empty_dataset})

    def with_options(self, options, name=None):
        """The same elements; iterators follow the options too."""
        if not hasattr(options, "_arguments"):
            raise TypeError(f"Expected options of class tf.data.Options, found {type(options).__name__}")
        out = make("with_options", (self,), options._arguments(), name)
        out._options = options.merge(type(options)())  # as they are now
        return out


# ---- making nodes ----

class _Node:
    """One operator with the user's arguments, on its way to the library."""

    def __init__(self, op, inputs, arguments):
        self.op = op
        self.entry = OPERATORS[op]
        self.inputs = inputs  # a structure of datasets
        self.arguments = arguments
        self.datasets, self.elements, self.functions = [], [], []
        self.bound = []  # (name, JSON of a structure or None, tensors), some without values
        self.graph = trace.current_graph()
        self.results = {}  # of functions that were traced inside of another: what they return

    def make(self):
        flat = nest.leaves(self.inputs)
        for dataset in flat:
            if not isinstance(dataset, Dataset):
                raise TypeError(f"{self.op}: expected a dataset, found {type(dataset).__name__}")
        args = {}
        objects = [a["name"] for a in self.entry["arguments"] if a["type"] == "object" and self.graph is not None]
        for name in objects:  # there a dataset is an input
            flat = [*flat, self.arguments.pop(name)]
            args[f"{name}_is_input"] = True
        for name, value in self.arguments.items():
            argument = next((a for a in self.entry["arguments"] if a["name"] == name), None)
            if argument is None:
                raise TypeError(f"{self.op}() has no argument {name!r}")
            found = self._argument(argument, value)
            if found is not _ABSENT:
                args[name] = found
        if self.graph is not None and not self.datasets or self.bound or any(d._native is None for d in flat):
            return self._in_graph(flat, args)
        plan = {"op": self.op, "args": args}
        plan["inputs"] = self._tree(self.inputs) if self.entry["tree"] else [self._ref(dataset) for dataset in flat]
        native = _native.Dataset.build(json.dumps(plan), self.datasets, self.elements, self._function)
        made = Dataset._of(native, name=_shown_name(self.op, self.arguments), inputs=tuple(flat))
        made._node = (self.op, args, [getattr(function, "__code__", None) or getattr(
            function, "__name__", type(function).__name__) for _, function in self.functions],
            [text for text, _ in self.elements])  # what views.describe shows; no values, and nothing they hold on to
        return made

    def _ref(self, dataset):
        self.datasets.append(dataset._plan(self.op))
        return {"ref": str(len(self.datasets) - 1)}

    def _tree(self, structure):
        kind = nest._kind_of(structure)
        if kind is None:
            return self._ref(structure)
        tag, children, keys = kind
        inner = [self._tree(child) for child in children]
        out = {"tuple": inner} if keys is None else {"dict": dict(zip(keys, inner))}
        return dict(out, tag=tag) if tag else out

    def _argument(self, argument, value):
        """The JSON of an argument; _ABSENT for one that the default stands for."""
        kind = argument["type"]
        if value is None and not (argument["required"] and kind == "structure of tensors"):
            return _ABSENT if not argument["required"] else None
        if isinstance(value, Dataset):
            return self._ref(value)
        if kind == "function":
            if not callable(value):
                raise TypeError(f"{self.op}: {argument['name']} is {value!r}; expected a function")
            self.functions.append((argument["name"], value))
            return {"function": len(self.functions) - 1}
        if kind == "structure of tensors":
            return self._structure(argument, value)
        if kind == "spec":
            return nest.to_json(value)
        if kind == "integer":
            checks.whole(value)
        if kind == "list of strings":
            checks.strings(argument["name"], value)
        if isinstance(value, Tensor) and not value._has_values:
            self.bound.append((argument["name"], None, [value]))
            return _ABSENT
        return _plain(self.op, argument, value)

    def _structure(self, argument, value):
        if argument["name"] in ("record_defaults", "column_defaults"):
            from leat.data.functions import column_defaults
            value = column_defaults(value)
        value = nest.normalize(value)
        spec = nest.spec_of(value)
        tensors = nest.components(value, spec)
        if spec == ():
            return {"tuple": []}
        if self.graph is not None or any(not tensor._has_values for tensor in tensors):
            self.bound.append((argument["name"], nest.to_text(spec), tensors))
            return _ABSENT
        self.elements.append((nest.to_text(spec), tensors))
        return {"given": len(self.elements) - 1}

    def _function(self, number, op, argument, spec_text):
        from leat.data.functions import for_operator
        return for_operator(self, self.functions[number][1], argument, nest.from_text(spec_text))

    def _in_graph(self, flat, args):
        """The node as a value of the function that is being traced."""
        if self.datasets:
            raise trace.NotTraceable(f"{self.op} with a dataset for an argument inside of a function")
        from leat.data.functions import inside
        graph = trace.current_graph()
        inputs = [trace.reach(graph, dataset._as_value()) for dataset in flat]
        bound = [(name, text, [trace.reach(graph, tensor) for tensor in tensors])
                 for name, text, tensors in self.bound]
        args = {name: value for name, value in args.items() if not isinstance(value, dict) or "function" not in value}
        functions = []
        for name, function in self.functions:
            made, captures = inside(self, function, name)
            functions.append((name, made, [trace.reach(graph, tensor) for tensor in captures]))
        value = graph.dataset(self.op, json.dumps(args), inputs, bound, functions)
        made = Dataset._of(value=value, name=_camel(self.op), inputs=tuple(flat))
        plain = type(self.inputs) is tuple and not any(nest.is_nested(child) for child in self.inputs)
        if self.entry["tree"] and not plain:
            return made.map(lambda *values: nest.pack_as(self.inputs, values))
        return made


_ABSENT = object()


def _plain(op, argument, value):
    """A Python value as the JSON of an argument that is no structure."""
    kind = argument["type"]
    if kind == "dtype":
        return dtypes.as_dtype(value).name
    if isinstance(value, TensorShape):
        return [-1 if d is None else d for d in value]
    if isinstance(value, Tensor):
        value = value.numpy()
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor().numpy()
    if hasattr(value, "__fspath__"):
        value = value.__fspath__()
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (bytes, str)) and kind != "list of strings":
        return plain_value(value)
    if isinstance(value, (list, tuple, range)):
        return [_plain(op, {"type": kind.removeprefix("list of ").removesuffix("s")}, item) for item in value]
    if isinstance(value, (bytes, str)):
        return [plain_value(value)]
    if kind.startswith("list of") and isinstance(value, (int, float)) and not isinstance(value, bool):
        return [value]
    if kind == "integer" and isinstance(value, float):
        raise TypeError(f"{op}: {argument.get('name', 'an item')} is {value!r}; expected an integer")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise TypeError(f"{op}: {argument.get('name', 'an item')} is {value!r}; expected {kind}")


@operators.make.provide
def make(op, inputs, arguments, name=None):
    """A node of the plan: operator `op` over a structure of datasets."""
    node = _Node(op, inputs, checks.checked(op, inputs, arguments))
    try:
        dataset = node.make()
    except InvalidArgumentError as error:
        other = refused(error)
        if other is None:
            raise
        raise other from None
    if name is not None and dataset._native is not None:
        dataset._native = dataset._native.label(name)
    return dataset


def _shown_name(op, arguments):
    """TensorFlow's name for what an operator makes: ParallelMap, TensorSlice."""
    entry = OPERATORS[op]
    name, *others = (entry["shown"] or _camel(op)).split()
    for row, _, other in (word.partition(":") for word in others):
        default = next(_default(argument) for argument in entry["arguments"] if argument["name"] == row)
        if arguments.get(row) is not None and arguments[row] != default:
            return other
    return name


def _camel(op):
    return "".join(part.capitalize() for part in op.removesuffix("_dataset").split("_"))


# ---- methods of the table ----

def parameters_of(entry):
    """[(name, default)] of an operator's arguments."""
    arguments = {argument["name"]: argument for argument in entry["arguments"]}
    if entry["signature"] is not None:
        return [(p["name"], _valued(arguments[p["name"]], p["default"]) if "default" in p else REQUIRED)
                for p in entry["signature"]]
    required = [(name, REQUIRED) for name, argument in arguments.items() if argument["required"]]
    return required + [(name, _default(a)) for name, a in arguments.items() if not a["required"]]


def _valued(argument, default):
    return getattr(dtypes, default) if argument["type"] == "dtype" and default is not None else default


def _default(argument):
    value = _valued(argument, argument["default"])
    return None if argument.get("none") and argument["type"] == "integer" else value


def doc_of(entry):
    """The docstring of an operator's function: what it does, its arguments, how it is saved."""
    what, saved, how = entry["doc"].partition(" Saved ")
    lines = [what, "", *(f"{argument['name']}: {argument['doc']}" for argument in entry["arguments"])]
    return "\n".join([*lines, "", saved.lstrip() + how] if how else lines).strip()


def function_of(op):
    """The method or constructor of an operator, made of its table entry."""
    entry = OPERATORS[op]
    parameters = parameters_of(entry)
    names = [name for name, _ in parameters if name != "datasets"]
    several = len(names) < len(parameters)

    def call(given):
        inputs = () if entry["source"] else tuple(given["datasets"]) if several else (given["self"],)
        return make(op, inputs, {name: given[name] for name in names}, given["name"])
    first = [] if entry["source"] or several else [("self", REQUIRED)]
    return function(op, [*first, *parameters, ("name", None)], call, doc_of(entry), "leat.data")


def paths():
    """(operator, where TensorFlow has it: "Dataset", "experimental" or "", its name there), several for some."""
    for op, entry in OPERATORS.items():
        for path in entry["names"]:
            home, _, name = path.rpartition(".")
            yield op, home, name


def _install():
    for op, home, name in paths():
        if home == "Dataset" and not hasattr(Dataset, name):
            made = function_of(op)
            static = made.__code__.co_varnames[0] != "self"
            setattr(Dataset, name, staticmethod(made) if static else made)


_install()


def _reader(class_name):
    """A class whose constructor is a reader's operator (``tf.data.TFRecordDataset``)."""
    op = next(op for op, _, name in paths() if name == class_name)
    entry = OPERATORS[op]

    def call(given):
        self, name = given.pop("self"), given.pop("name")
        made = make(op, (), given, name)
        self._fill(made._native, made._value, name=class_name.removesuffix("Dataset"))
        self._node = getattr(made, "_node", None)
    parameters = [("self", REQUIRED), *parameters_of(entry), ("name", None)]
    init = function("__init__", parameters, call, None, "leat.data")
    init.__qualname__ = f"{class_name}.__init__"
    return type(class_name, (Dataset,), {"__init__": init, "__doc__": doc_of(entry), "__module__": "leat.data",
                                         "__slots__": (), "_shown": class_name + "V2"})


TFRecordDataset = _reader("TFRecordDataset")
TextLineDataset = _reader("TextLineDataset")
FixedLengthRecordDataset = _reader("FixedLengthRecordDataset")
