"""``keras.export``: models as SavedModels. What writes them is imported when it is first asked for."""

__all__ = ["ExportArchive"]


def __getattr__(name):
    if name != "ExportArchive":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from leat.keras.saving.export import ExportArchive
    globals()[name] = ExportArchive
    return ExportArchive


def __dir__():
    return list(__all__)
