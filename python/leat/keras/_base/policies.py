"""The dtypes of layers (``keras.dtype_policies``): policies, the one that holds where none is given, maps of them."""

import collections.abc
import re

from leat import dtypes

_settings = {"policy": None, "floatx": "float32"}  # the global policy; None: that of floatx, when it is first asked for
_MIXED = {"mixed_float16": ("float16", "float32"), "mixed_bfloat16": ("bfloat16", "float32")}
_QUANTIZED = ("int8", "float8", "int4", "gptq", "awq")


def _named(name):
    """(what is computed in, what weights have) of a policy's name. TypeError, ValueError."""
    if not isinstance(name, str):
        raise TypeError(f"'name' must be a string, such as 'mixed_float16'. Received: name={name} (of type "
                        f"{type(name)})")
    if name in _MIXED:
        return _MIXED[name]
    try:
        found = dtypes.as_dtype({"int": "int32"}.get(name, name)).name
    except (TypeError, ValueError):
        raise ValueError(f"Cannot convert '{name}' to a mixed precision DTypePolicy. Valid policies include "
                         "'mixed_float16', 'mixed_bfloat16', and the name of any float dtype such as "
                         "'float32'.") from None
    return found, found


class DTypePolicy:
    """The dtype of a layer's weights and of what it computes (``keras.DTypePolicy``).

    `name`: a dtype, or "mixed_float16" or "mixed_bfloat16", where weights are float32; None: the global policy's.
    """

    def __init__(self, name=None):
        name = dtype_policy().name if name is None else name
        self._compute_dtype, self._variable_dtype = _named(name)
        self._name = name

    name = property(lambda self: self._name)
    compute_dtype = property(lambda self: self._compute_dtype)
    variable_dtype = property(lambda self: self._variable_dtype)
    quantization_mode = property(lambda self: None)

    def __repr__(self):
        return f'<DTypePolicy "{self._name}">'

    def __eq__(self, other):
        return type(other) in (DTypePolicy, FloatDTypePolicy) and other.name == self.name

    __hash__ = None

    def get_config(self):
        """The arguments that make another one like it."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)


class FloatDTypePolicy(DTypePolicy):
    """The same (``keras.FloatDTypePolicy``)."""


class DTypePolicyMap(DTypePolicy, collections.abc.MutableMapping):
    """Policies by the paths of layers (``keras.dtype_policies.DTypePolicyMap``).

    A key is a path, or an expression that matches whole paths; `default_policy` is for all others, and the global
    policy where there is none. ValueError where several keys match.
    """

    def __init__(self, default_policy=None, policy_map=None):
        if isinstance(default_policy, DTypePolicyMap):
            raise ValueError("`default_policy` cannot be a `DTypePolicyMap`.")
        if policy_map is not None and not isinstance(policy_map, dict):
            raise TypeError(f"If specified, `policy_map` must be a dict. Received: policy_map={policy_map} of type "
                            f"{type(policy_map)}")
        get(default_policy)
        self._default, self._policies = default_policy, policy_map or {}

    default_policy = property(lambda self: get(self._default))
    name = property(lambda self: f"map_{self.default_policy.name}")
    compute_dtype = property(lambda self: self.default_policy.compute_dtype)
    variable_dtype = property(lambda self: self.default_policy.variable_dtype)

    def __getitem__(self, key):
        if key in self._policies:
            return self._policies[key]
        matching = [pattern for pattern in self._policies if re.fullmatch(pattern, key)]
        if len(matching) > 1:
            raise ValueError(f"Path '{key}' matches multiple dtype policy specification keys: {matching}. Please make "
                             "sure each path only matches at most one dtype policy specification key in the "
                             "DTypePolicyMap.")
        return self._policies[matching[0]] if matching else self.default_policy

    def __setitem__(self, key, policy):
        if key in self._policies:
            raise ValueError(f"{key} already exist in the DTypePolicyMap with value {self._policies[key]}. Please make "
                             "sure to not use duplicated keys.")
        try:
            self._policies[key] = get(policy)
        except Exception:
            raise ValueError("Cannot interpret the assigned value by `keras.dtype_policies.get`. Received: "
                             f"{policy} of type {type(policy)}") from None

    def __delitem__(self, key):
        del self._policies[key]

    def __contains__(self, key):
        return key in self._policies

    def __len__(self):
        return len(self._policies)

    def __iter__(self):
        return iter(self._policies)

    def __eq__(self, other):
        return (type(other) is DTypePolicyMap and other.default_policy == self.default_policy
                and other._policies == self._policies)

    __hash__ = None

    def __repr__(self):
        mapping = [(key, policy.name) for key, policy in self._policies.items()]
        return f"<DTypePolicyMap at {hex(id(self))} default_policy={self.default_policy.name}, mapping={mapping}>"

    def get_config(self):
        """The arguments that make another one like it."""
        return {"default_policy": None if self._default is None else serialize(get(self._default)),
                "policy_map": {key: serialize(policy) for key, policy in self._policies.items()}}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        policies = {key: get(policy) for key, policy in config["policy_map"].items()}
        default = config["default_policy"]
        return cls(None if default is None else get(default), policies)


CLASSES = {class_.__name__: class_ for class_ in (DTypePolicy, FloatDTypePolicy, DTypePolicyMap)}


def replaced(current, layer, identifier):
    """What a layer's policy becomes: of a map the same, with another policy at the layer's path."""
    policy = get(identifier)
    if not isinstance(current, DTypePolicyMap):
        return policy
    if layer.path in current:
        del current[layer.path]
    current[layer.path] = policy
    return current


def floatx():
    """The dtype of floats that are given none: "float32", or what `set_floatx` said (``keras.config.floatx``)."""
    return _settings["floatx"]


def set_floatx(value):
    """Sets the dtype of floats that are given none; not that of a global policy that was used before, as in Keras."""
    if value not in ("float16", "bfloat16", "float32", "float64"):
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of "
                         "{'bfloat16', 'float16', 'float32', 'float64'}")
    _settings["floatx"] = value


def forget_policy():
    """The global policy is that of floatx again."""
    _settings["policy"] = None


def dtype_policy():
    """The policy of layers that are given none (``keras.config.dtype_policy``)."""
    if _settings["policy"] is None:
        _settings["policy"] = DTypePolicy(floatx())
    return _settings["policy"]


def set_dtype_policy(policy):
    """Sets the policy of layers that are given none: a DTypePolicy, or its name. ValueError for anything else."""
    if not isinstance(policy, DTypePolicy) and not isinstance(policy, str):
        raise ValueError("Invalid `policy` argument. Expected the string name of a policy (such as 'mixed_float16') or "
                         f"a `DTypePolicy` instance. Received: policy={policy} (of type {type(policy)})")
    _settings["policy"] = get(policy)


def serialize(dtype_policy):
    """The configuration of a policy (``keras.dtype_policies.serialize``)."""
    return {"module": "keras", "class_name": type(dtype_policy).__name__, "config": dtype_policy.get_config(),
            "registered_name": None}


def deserialize(config, custom_objects=None):
    """The policy of a configuration (``keras.dtype_policies.deserialize``). ValueError for another class."""
    name = config.get("class_name") if isinstance(config, dict) else None
    class_ = (custom_objects or {}).get(name) or CLASSES.get(name)
    if class_ is None:
        raise ValueError(f"the configuration of a dtype policy has the class {name!r}; expected one of "
                         f"{sorted(CLASSES)}: quantized policies are not supported, use a model without them")
    return class_.from_config(config["config"])


def get(identifier):
    """The policy of a name, a dtype or a configuration; a policy itself; of None the global one. ValueError."""
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        if identifier.startswith(_QUANTIZED) and "_from_" in identifier:
            raise NotImplementedError(f"dtype={identifier!r}: quantization is not supported; use the policy without it")
        return DTypePolicy(identifier)
    try:
        if isinstance(identifier, (int, float)):
            raise TypeError
        return DTypePolicy(dtypes.as_dtype(identifier).name)
    except TypeError:
        raise ValueError("Cannot interpret `dtype` argument. Expected a string or an instance of DTypePolicy. "
                         f"Received: dtype={identifier}") from None
