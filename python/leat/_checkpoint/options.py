"""``tf.train.CheckpointOptions``."""

import inspect


class CheckpointOptions:
    """How a checkpoint is written (``tf.train.CheckpointOptions``).

    `experimental_write_callbacks`: functions that are called when it is there, with its name or without arguments.
    The others change nothing here: a checkpoint is whole when `save` returns, and written by this process.
    """

    def __init__(self, experimental_io_device=None, experimental_enable_async_checkpoint=False,
                 experimental_write_callbacks=None, enable_async=False, experimental_skip_slot_variables=False,
                 experimental_sharding_callback=None):
        for callback in experimental_write_callbacks or ():
            if len(inspect.signature(callback).parameters) > 1:
                raise AssertionError("a callback of experimental_write_callbacks takes the name or nothing")
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback


def written(options, path):
    """Calls what the options say when a checkpoint is there."""
    for callback in (options.experimental_write_callbacks if options is not None else None) or ():
        callback(*[path] * len(inspect.signature(callback).parameters))
