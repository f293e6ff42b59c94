"""``keras.export``: models as SavedModels."""

from leat.keras.saving.export import ExportArchive

__all__ = ["ExportArchive"]
