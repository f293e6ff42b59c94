"""``tf.distribute.experimental.rpc``: UnimplementedError, since leat calls no functions of other processes."""

from leat.distribute.absent import absent

Client = absent("Client", "calls of other processes' functions")
Server = absent("Server", "calls of other processes' functions")

__all__ = ["Client", "Server"]
