"""``tf.io.TFRecordWriter`` and its options."""

from leat import _native
from leat._core.tensor import Tensor
from leat.errors import CancelledError, FailedPreconditionError

_TYPES = {None: "", "": "", "GZIP": "GZIP", "ZLIB": "ZLIB", "ZSTD": "ZSTD", "LZ4": "LZ4", "SNAPPY": "SNAPPY"}


class TFRecordOptions:
    """How the bytes of a record file are packed (``tf.io.TFRecordOptions``).

    `compression_type` is "" (or None), "GZIP" or "ZLIB", and with leat also "ZSTD", "LZ4" and "SNAPPY" where they were
    built in; `compression_level` is the codec's, None its default. The other arguments tune TensorFlow's buffers and
    zlib: they change no file's contents and are kept as attributes only.
    """

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """The name of the compression of options, of a name, or of None; ValueError for what is none."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in _TYPES:
            return _TYPES[options]
        raise ValueError(f'Not a valid compression_type: "{options}"')


class TFRecordWriter:
    """Writes records, each some bytes, to a TFRecord file (``tf.io.TFRecordWriter``); a context manager.

    path: a path of text, bytes or os.PathLike. options: TFRecordOptions, or the name of a compression.
    The file appears under its name when the writer is closed: a reader never sees half of one, and a file that was
    there before stays until then. `discard` gives it up. NotFoundError where there is no such folder.
    """

    def __init__(self, path, options=None):
        compression = TFRecordOptions.get_compression_type_string(options)
        level = options.compression_level if isinstance(options, TFRecordOptions) else None
        self._native = _native.RecordWriter.open(compression, path, level or 0, False)

    def _open(self):
        if self._native is None:
            raise FailedPreconditionError(None, None, "Writer is closed.")
        return self._native

    def write(self, record):
        """Appends one record: bytes, text (as UTF-8), a scalar string tensor, or anything with a buffer."""
        if isinstance(record, Tensor):
            record = record.numpy()
        if isinstance(record, str):
            record = _native.text_bytes(record)
        elif not isinstance(record, bytes):
            record = bytes(memoryview(record))
        self._open().write(record)

    def flush(self):
        """Checks that the writer is open; what was written is seen by readers from `close` on."""
        self._open()

    def close(self):
        """Finishes the file: its bytes are on the disk, and it stands under its name. Once more is harmless."""
        writer, self._native = self._native, None
        if writer is not None:
            writer.close()

    def discard(self):
        """Gives the file up: what stood under its name stays as it was (leat's own)."""
        writer, self._native = self._native, None
        if writer is not None:
            writer.discard()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        try:
            self.close()
        except CancelledError:
            # An interrupt has ended a remote file (docs/REMOTE.md), and goes on itself.
            if kind is None:
                raise
