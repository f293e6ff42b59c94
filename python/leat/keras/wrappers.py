"""``keras.wrappers``: models as estimators of scikit-learn. Making one without that package is an ImportError."""

import copy

import numpy as np

from leat.keras.models.cloning import clone_model
from leat.keras.models.model import Model

try:
    import sklearn
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
except ImportError:
    sklearn = None
    BaseEstimator = type("BaseEstimator", (), {})
    ClassifierMixin, RegressorMixin, TransformerMixin = (type(name, (), {}) for name in (
        "ClassifierMixin", "RegressorMixin", "TransformerMixin"))


def _checked(estimator, *args, **kwargs):
    """What scikit-learn makes of samples and targets, and notes of them. ValueError."""
    from sklearn.utils.validation import validate_data
    return validate_data(estimator, *args, **kwargs)


def _kind_of(target):
    """The sort of a target by scikit-learn. ValueError for an unknown one."""
    from sklearn.utils.multiclass import type_of_target
    kind = type_of_target(target)
    if kind == "unknown":
        raise ValueError(f"Unknown label type for data: {target!r}")
    return kind


class _Estimator(BaseEstimator):
    """The base: `model` is a compiled model, which is cloned unless `warm_start`, or a function of `X`, `y` and
    `model_kwargs` that makes one; `fit_kwargs` are for its `fit`."""

    def __init__(self, model, warm_start=False, model_kwargs=None, fit_kwargs=None):
        if sklearn is None:
            raise ImportError(f"{type(self).__name__} requires `scikit-learn` to be installed. Run `pip install "
                              "scikit-learn` to install it.")
        self.model, self.warm_start, self.model_kwargs, self.fit_kwargs = model, warm_start, model_kwargs, fit_kwargs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def __sklearn_clone__(self):
        model = copy.deepcopy(self.model) if isinstance(self.model, Model) else self.model
        return type(self)(model=model, warm_start=self.warm_start, model_kwargs=self.model_kwargs,
                          fit_kwargs=self.fit_kwargs)

    def _model_for(self, samples, target):
        if not isinstance(self.model, Model):
            return self.model(X=samples, y=target, **(self.model_kwargs or {}))
        if self.warm_start:
            return self.model
        made = clone_model(self.model)
        if self.model.compiled:
            made.compile_from_config(self.model.get_compile_config())
        return made

    def fit(self, X, y, **kwargs):
        """Trains a model on samples [n, features] and targets; `kwargs` are for its `fit`, above `fit_kwargs`."""
        X, y = _checked(self, X, y, multi_output=np.ndim(y) == 2 and np.shape(y)[1] > 1)
        y = self._as_outputs(y, True)
        model = self._model_for(X, y)
        if not model.compiled or not model.loss or not model.optimizer:
            raise RuntimeError("Given model needs to be compiled, and have a loss and an optimizer.")
        self.history_ = model.fit(X, y, **{**(self.fit_kwargs or {}), **kwargs})
        self.model_ = model
        return self

    def _outputs_of(self, X):
        from sklearn.utils.validation import check_is_fitted
        check_is_fitted(self)
        return self.model_.predict(_checked(self, X, reset=False))

    def predict(self, X):
        """What the model says of samples, in the form of the targets."""
        return self._as_target(self._outputs_of(X))

    def _as_outputs(self, target, is_first=False):
        """Targets as the model gives them."""
        _kind_of(target)
        if is_first:
            self._target_rank = target.ndim
        return target.reshape(-1, 1) if target.ndim == 1 else target

    def _as_target(self, outputs):
        """What the model gives as targets."""
        is_column = outputs.ndim == 2 and outputs.shape[1] == 1
        return outputs[:, 0] if self._target_rank == 1 and is_column else outputs


class SKLearnClassifier(ClassifierMixin, _Estimator):
    """A model that says classes, as an estimator (``keras.wrappers.SKLearnClassifier``): it is fitted to vectors with a
    1 at the class. `classes_`: the labels."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def decision_function(self, X):
        """What the model gives for samples, a number for each class."""
        return self._outputs_of(X)

    def _as_outputs(self, target, is_first=False):
        kind = _kind_of(target)
        if kind not in ("binary", "multiclass"):
            raise ValueError(f"Only binary and multiclass target types are supported. Target type: {kind}")
        if is_first:
            self._target_rank, self.classes_ = target.ndim, np.unique(target)
            if len(self.classes_) == 1:
                raise ValueError("Classifier can't train when only one class is present.")
        return np.eye(len(self.classes_))[np.searchsorted(self.classes_, target.reshape(-1))]

    def _as_target(self, outputs):
        found = self.classes_[np.argmax(outputs, axis=-1)]
        return found if self._target_rank == 1 else found[:, None]


class SKLearnRegressor(RegressorMixin, _Estimator):
    """A model that says numbers, as an estimator (``keras.wrappers.SKLearnRegressor``)."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class SKLearnTransformer(TransformerMixin, _Estimator):
    """A model that makes other features of samples, as an estimator (``keras.wrappers.SKLearnTransformer``)."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def transform(self, X):
        """The features of samples."""
        return self._outputs_of(X)


__all__ = ["SKLearnClassifier", "SKLearnRegressor", "SKLearnTransformer"]
