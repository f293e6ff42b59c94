# Written by tools/make_stubs.py (`make stubs`); not to be edited.
import builtins
import enum
import typing
from typing import Any, Callable, ClassVar, NamedTuple, Self, overload

from leat._types import DTypeLike, FloatLike, IntLike, IntsLike, ShapeLike, StringLike, StringsLike, TensorLike

AUTOTUNE: builtins.int
from leat.data.dataset import Dataset as Dataset
from leat.specs import DatasetSpec as DatasetSpec
class FixedLengthRecordDataset(Dataset):
    def __init__(self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None, buffer_size: Any = None, compression_type: Any = None, num_parallel_reads: Any = None, name: builtins.str | None = None) -> None: ...
INFINITE_CARDINALITY: builtins.int
from leat.data.iterator import Iterator as Iterator
from leat.specs import IteratorSpec as IteratorSpec
from leat.data.iterator import NumpyIterator as NumpyIterator
from leat.data.options import Options as Options
class TFRecordDataset(Dataset):
    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None, index: Any = 'none', name: builtins.str | None = None) -> None: ...
class TextLineDataset(Dataset):
    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None, name: builtins.str | None = None) -> None: ...
from leat.data.options import ThreadingOptions as ThreadingOptions
UNKNOWN_CARDINALITY: builtins.int
from leat.data import dataset as dataset
from leat.data import experimental as experimental
from leat.data.interchange import from_arrow as from_arrow
from leat.data.interchange import from_iterable as from_iterable
from leat.data.interchange import from_pandas as from_pandas
from leat.data.interchange import from_sequence as from_sequence
from leat.data import interchange as interchange
from leat.data import iterator as iterator
from leat.data import optional as optional
from leat.data import options as options
from leat.data import tables as tables
from leat.data import traced as traced
from leat.data import views as views
