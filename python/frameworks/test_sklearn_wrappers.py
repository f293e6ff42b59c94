"""Models as estimators of scikit-learn (``keras.wrappers``): pipelines and searches."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leat import keras


def network(X, y, loss="mse", units=10, activation=None):
    inputs = keras.Input((X.shape[1],))
    hidden = keras.layers.Dense(units, activation="relu")(inputs)
    outputs = keras.layers.Dense(y.shape[1] if len(y.shape) > 1 else 1, activation=activation)(hidden)
    model = keras.Model(inputs, outputs)
    model.compile("rmsprop", loss)
    return model


CLASSES = {"loss": "categorical_crossentropy", "activation": "softmax"}


def test_pipelines_and_searches():
    keras.utils.set_random_seed(1)
    x, y = make_classification(200, 6, n_informative=4, random_state=0)
    labels = np.array(["no", "yes"])[y]
    estimator = keras.wrappers.SKLearnClassifier(network, model_kwargs=CLASSES, fit_kwargs={"verbose": 0, "epochs": 30})
    pipeline = make_pipeline(StandardScaler(), estimator).fit(x, labels)
    assert pipeline.score(x, labels) > 0.6 and set(pipeline.predict(x)) == {"no", "yes"}
    assert clone(estimator).fit_kwargs == estimator.fit_kwargs
    x, y = make_regression(60, 3, random_state=0)
    search = GridSearchCV(keras.wrappers.SKLearnRegressor(network, fit_kwargs={"verbose": 0}),
                          {"model_kwargs": [{"units": 2}, {"units": 4}]}, cv=2).fit(x, y)
    assert search.predict(x).shape == (60,)
    model = network(x, np.stack([y, y], 1))
    several = keras.wrappers.SKLearnRegressor(model, fit_kwargs={"verbose": 0}).fit(x, np.stack([y, y], 1))
    assert several.predict(x).shape == (60, 2) and several.model_ is not model
    warm = keras.wrappers.SKLearnRegressor(model, warm_start=True).fit(x, np.stack([y, y], 1), verbose=0)
    assert warm.model_ is model
    with pytest.raises(RuntimeError, match="compiled"):
        keras.wrappers.SKLearnRegressor(keras.Sequential([keras.layers.Dense(1)])).fit(x, y)
