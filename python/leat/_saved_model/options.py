"""``tf.saved_model``'s options, and files that belong to an object."""

from leat._core.paths import anywhere
from leat._core.tensor import constant


class SaveOptions:
    """Options of ``tf.saved_model.save``. `function_aliases`: {name: tf.function} that is noted in the file;
    `extra_tags`: tags of the graph beside "serve". The others change nothing here: one place on one machine is written.
    """

    def __init__(self, namespace_whitelist=None, save_debug_info=False, function_aliases=None,
                 experimental_debug_stripper=False, experimental_io_device=None, experimental_variable_policy=None,
                 experimental_custom_gradients=True, experimental_image_format=False, experimental_skip_saver=False,
                 experimental_sharding_callback=None, extra_tags=None):
        self.namespace_whitelist = list(namespace_whitelist or [])
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = list(extra_tags or [])


class LoadOptions:
    """Options of ``tf.saved_model.load``. `experimental_skip_checkpoint`: variables stay zeros; the others change
    nothing here."""

    def __init__(self, allow_partial_checkpoint=False, experimental_io_device=None, experimental_skip_checkpoint=False,
                 experimental_variable_policy=None, experimental_load_function_aliases=False):
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_load_function_aliases = experimental_load_function_aliases


class Asset:
    """A file that is copied into the SavedModel of an object that has it as attribute (``tf.saved_model.Asset``)."""

    def __init__(self, path):
        self._path = anywhere(path)

    @property
    def asset_path(self):
        """The file's path, a scalar tensor of text."""
        return constant(self._path)
