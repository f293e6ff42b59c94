"""The table of public names, by walking TensorFlow's namespace; runs on the side of TensorFlow.

Each row: `name`, the shortest of the object's names; `names`, all of them; `what`, "function", "class", "module" or "value"; of what can be called
`parameters`, rows of name, kind (Python's, in letters: "plain", "keyword", "rest") and default, where ["none"] is none at all. Public members of
classes are rows, too: "method", without parameters of their own.
"""
import inspect

# Not walked, and why. What is left out says UNIMPLEMENTED in leat, and issues name it.
LEFT_OUT = {
    "tf.compat": "TensorFlow 1",
    "tf.raw_ops": "the operations below the functions",
    "tf.lite": "another format and another runtime",
    "tf.mlir": "the compiler's dialects",
    "tf.experimental.dtensor": "another distribution",
    "tf.dtensor": "another distribution",
    "tf.python": "not public",
    "tf.tools": "not public",
    "tf.core": "not public",
    "tf.experimental.tensorrt": "NVIDIA's compiler",
    "tf.keras.src": "not public",
    "tf.keras.api": "not public",
    "tf.keras.legacy": "what Keras itself has left behind",
}
KINDS = {inspect.Parameter.KEYWORD_ONLY: "keyword", inspect.Parameter.VAR_POSITIONAL: "rest", inspect.Parameter.VAR_KEYWORD: "rest"}


def default(parameter):
    """["none"] where there is no default, ["py", v] of a plain one, ["other"] of any other."""
    value = parameter.default
    if value is inspect.Parameter.empty:
        return ["none"]
    if value is None or isinstance(value, (bool, int, float, str)):
        return ["py", value]
    if isinstance(value, (tuple, list)) and all(isinstance(one, (bool, int, float, str)) for one in value):
        return ["py", list(value)]
    return ["other"]


def parameters(one):
    """The rows of what can be called; None where Python does not know."""
    try:
        signature = inspect.signature(one.__init__ if isinstance(one, type) else one)
    except (TypeError, ValueError):
        return None
    found = list(signature.parameters.values())
    if isinstance(one, type) and found and found[0].name in ("self", "_self"):
        found = found[1:]
    return [[each.name, KINDS.get(each.kind, "plain"), default(each)] for each in found]


def kind(one):
    if inspect.ismodule(one):
        return "module"
    if isinstance(one, type):
        return "class"
    return "function" if callable(one) else "value"


def members(name, one, public):
    """Public methods of a class, but for those that a public class below it has, or every tuple, dictionary or exception.

    Properties are left out: what a class has as a property an instance of the other one may have as an attribute.
    """
    if not one.__module__.startswith(("tensorflow", "keras")):
        return
    common = set(dir(tuple)) | set(dir(dict)) | set(dir(Exception)) | set(dir(int))
    for base in one.__mro__[1:]:
        common |= set(dir(base)) if id(base) in public else set()
    for word in sorted(set(dir(one)) - common):
        if not word.startswith("_") and callable(getattr(one, word, None)):
            yield {"name": "%s.%s" % (name, word), "names": ["%s.%s" % (name, word)], "what": "method"}


def walk(module, name, seen, found):
    for word in sorted(dir(module)):
        path = "%s.%s" % (name, word)
        if word.startswith("_") or path in LEFT_OUT:
            continue
        try:
            one = getattr(module, word)
        except Exception:
            continue
        what = kind(one)
        if what == "module":
            if not getattr(one, "__name__", "").startswith(("tensorflow", "keras")) or id(one) in seen:
                continue
            seen.add(id(one))
            found.append((path, one, what))
            walk(one, path, seen, found)
        else:
            found.append((path, one, what))


def table(tf):
    """All rows, sorted by name."""
    found, groups = [], {}
    walk(tf, "tf", {id(tf)}, found)
    for path, one, what in found:
        key = id(one) if what in ("function", "class") else path
        groups.setdefault(key, (one, what, []))[2].append(path)
    rows, public = [], {id(one) for one, what, _ in groups.values() if what == "class"}
    for one, what, paths in groups.values():
        paths.sort(key=lambda path: (path.count("."), path))
        row = {"name": canonical(paths), "names": sorted(paths), "what": what}
        if what in ("function", "class"):
            row["parameters"] = parameters(one)
        rows.append(row)
        if what == "class":
            rows += members(row["name"], one, public)
    return sorted(rows, key=lambda row: row["name"])


def canonical(paths):
    """The name by which an object is counted: tf.math.add for tf.add, where users read of it, but nothing experimental."""
    best = [path for path in paths if "experimental" not in path and "keras.preprocessing" not in path] or paths
    longer = [path for path in best if path.startswith(("tf.math.", "tf.linalg.", "tf.strings.", "tf.io.", "tf.nn.", "tf.keras."))]
    return sorted(longer or best, key=lambda path: (path.count("."), path))[0]
