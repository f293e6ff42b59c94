"""``keras.callbacks.RemoteMonitor``: results of epochs for a server."""

import json
import urllib.error
import urllib.parse
import urllib.request
import warnings

from leat.keras.callbacks.base import Callback


class RemoteMonitor(Callback):
    """Sends the results of each epoch to a server by HTTP POST (``keras.callbacks.RemoteMonitor``).

    They go to `root` + `path` as a form with the JSON text in `field`, or as JSON alone if `send_as_json`. `headers`:
    further ones. A server that cannot be reached is a warning.
    """

    def __init__(self, root="http://localhost:9000", path="/publish/epoch/end/", field="data", headers=None,
                 send_as_json=False):
        super().__init__()
        self.root, self.path, self.field, self.headers, self.send_as_json = root, path, field, headers, send_as_json

    def on_epoch_end(self, epoch, logs=None):
        """Sends them."""
        if not self._is_chief:
            return
        told = {"epoch": epoch, **{name: value.item() if hasattr(value, "item") else value
                                   for name, value in (logs or {}).items()}}
        if self.send_as_json:
            body, kind = json.dumps(told).encode(), "application/json"
        else:
            body, kind = urllib.parse.urlencode({self.field: json.dumps(told)}).encode(), (
                "application/x-www-form-urlencoded")
        request = urllib.request.Request(self.root + self.path, body, {"Content-Type": kind, **(self.headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=60):
                pass
        except urllib.error.HTTPError:
            pass  # it was reached, and what it makes of the epoch is its own affair
        except (OSError, ValueError):
            warnings.warn(f"Could not reach RemoteMonitor root server at {self.root}", stacklevel=2)
