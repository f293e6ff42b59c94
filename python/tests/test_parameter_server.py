"""ParameterServerStrategy and ClusterCoordinator over processes on the loopback."""

import re
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import leat as tf
from leat import _native
from leat.distribute import messages
from parameter_servers import Cluster

PARTS = tf.distribute.experimental.partitioners


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(workers=2, servers=2)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def strategy(cluster):
    return cluster.strategy()


@pytest.fixture(scope="module")
def coordinator(strategy):
    return tf.distribute.coordinator.ClusterCoordinator(strategy)


def made(strategy, value, **arguments):
    with strategy.scope():
        return tf.Variable(value, **arguments)


# ---- partitioners: TensorFlow 2.21's numbers ----

@pytest.mark.parametrize("shape, dtype, expected", [
    ([6, 1], "float32", ([4, 1], [6, 1], [1, 1], [6, 1], [1, 1])),
    ([10, 3], "int64", ([4, 1], [10, 1], [1, 1], [10, 1], [1, 1])),
    ([1, 4], "string", ([1, 1], [1, 1], [1, 1], [1, 1], [1, 1])),
    ([13], "float32", ([4], [10], [1], [13], [1])),
    ([1000, 64], "float32", ([4, 1], [10, 1], [7, 1], [1000, 1], [3, 1])),
    ([5, 7, 2], "string", ([4, 1, 1], [5, 1, 1], [2, 1, 1], [5, 1, 1], [2, 1, 1]))])
def test_partitioners(shape, dtype, expected):
    made = (PARTS.FixedShardsPartitioner(4), PARTS.MinSizePartitioner(4, 10), PARTS.MinSizePartitioner(1000, 7),
            PARTS.MaxSizePartitioner(4), PARTS.MaxSizePartitioner(1000, 3))
    assert tuple(one(tf.TensorShape(shape), tf.dtypes.as_dtype(dtype)) for one in made) == expected


def test_partitioners_along_another_axis_and_what_they_refuse():
    assert PARTS.MinSizePartitioner(4, 10)(tf.TensorShape([3, 8]), tf.float32, axis=1) == [1, 8]
    assert PARTS.MaxSizePartitioner(4)(tf.TensorShape([3, 8]), tf.float32, axis=1) == [1, 8]
    for refused in (lambda: PARTS.MinSizePartitioner(0), lambda: PARTS.MaxSizePartitioner(4, -1),
                    lambda: PARTS.MinSizePartitioner(1, 1, 0)):
        with pytest.raises(ValueError, match="positive"):
            refused()
    with pytest.raises(NotImplementedError):
        PARTS.Partitioner()(tf.TensorShape([1]), tf.float32)


# ---- clusters that are none ----

@pytest.mark.parametrize("jobs, place, word", [
    ({}, {}, "non-empty"), ({"worker": ["localhost:1"]}, {}, "ps"), ({"ps": ["localhost:1"]}, {}, "worker"),
    ({"worker": ["localhost:1"], "ps": ["localhost:2"]}, {"task_type": "boss"}, "boss"),
    ({"worker": ["localhost:1"], "ps": ["localhost:2"]}, {"task_type": "worker", "task_id": 1}, "task_id")])
def test_clusters_that_are_refused(jobs, place, word):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(jobs), **place)
    with pytest.raises(ValueError, match=word):
        tf.distribute.experimental.ParameterServerStrategy(resolver)


def test_who_is_missing_is_named(cluster, monkeypatch):
    monkeypatch.setenv("LEAT_CONNECT_TIMEOUT_S", "0.1")
    spec = {**cluster.spec, "worker": [cluster.spec["worker"][0], "localhost:9"]}
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(spec))
    with pytest.raises(tf.errors.DeadlineExceededError, match="localhost:9") as found:
        tf.distribute.ParameterServerStrategy(resolver)
    assert "task:0" not in str(found.value)


def test_servers_say_what_they_are():
    server = tf.distribute.Server.create_local_server()
    assert re.fullmatch(r"grpc://localhost:\d+", server.target)
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.distribute.Server({"worker": [server.target.partition("//")[2]]}, "worker", 0)
    with pytest.raises(ValueError, match="job_name"):
        tf.distribute.Server({"worker": ["localhost:0"], "ps": ["localhost:0"]})
    server.stop()
    server.join()


def test_tasks_ask_for_the_token(monkeypatch, caplog):
    monkeypatch.setenv("LEAT_SERVICE_TOKEN", "sixteen-letters-1")
    servers = [tf.distribute.Server({job: ["127.0.0.1:0"]}) for job in ("worker", "ps")]
    spec = {job: [server.target.partition("//")[2]] for job, server in zip(("worker", "ps"), servers)}
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(spec))
    with tf.distribute.ParameterServerStrategy(resolver).scope():
        assert tf.Variable(3).numpy() == 3
    assert not caplog.records
    monkeypatch.setenv("LEAT_SERVICE_TOKEN", "sixteen-letters-2")
    with pytest.raises((tf.errors.PermissionDeniedError, tf.errors.UnauthenticatedError)):
        messages.unpacked(_native.CallChannel(spec["ps"][0]).call("hello", messages.packed({}), 5000))
    monkeypatch.delenv("LEAT_SERVICE_TOKEN")
    tf.distribute.Server({"worker": ["127.0.0.2:0"]}).stop()
    assert "LEAT_SERVICE_TOKEN" in caplog.text
    for server in servers:
        server.stop()


# ---- variables ----

def test_variables_go_to_the_servers_in_turn(strategy):
    first, second, third = (made(strategy, [1.0, 2.0], name=name) for name in "abc")
    assert first.device == third.device != second.device
    assert {one.device for one in (first, second)} == {f"/job:ps/replica:0/task:{task}/device:CPU:0" for task in (0, 1)}
    assert second.assign([3.0, 4.0]) is second
    second.assign_add([1.0, 1.0])
    second.assign_sub([0.5, 0.0])
    assert second.numpy().tolist() == [3.5, 5.0] and (second * 2.0).numpy().tolist() == [7.0, 10.0]
    second.scatter_update(tf.IndexedSlices([9.0], [0]))
    second.scatter_nd_add([[1], [1]], [1.0, 2.0])
    second[0].assign(8.0)
    assert second.numpy().tolist() == [8.0, 8.0]
    with pytest.raises(ValueError):
        second.assign([1.0])
    with strategy.scope(), strategy.extended.colocate_vars_with(second):
        assert tf.Variable(1).device == second.device


def test_other_dtypes(strategy):
    assert made(strategy, ["a", "b"]).assign(["c", "d"]).numpy().tolist() == [b"c", b"d"]
    assert made(strategy, True).assign(False).numpy() == np.False_
    for dtype in (tf.int64, tf.float16, tf.bfloat16, tf.complex64):
        one = made(strategy, tf.cast([1, 2], dtype))
        one.assign_add(tf.cast([1, 1], dtype))
        assert one.dtype is dtype and tf.cast(one, tf.int32).numpy().tolist() == [2, 3]


# ---- scheduling ----

def test_results_come_when_they_are_there(strategy, coordinator):
    total = made(strategy, 0.0)

    @tf.function
    def step(x, name):
        total.assign_add(x)
        return {"sum": x + 1.0, name: (tf.constant("t"), None)}
    found = coordinator.schedule(step, args=(tf.constant([1.0, 2.0])[1],), kwargs={"name": "n"})
    assert isinstance(found, tf.distribute.coordinator.RemoteValue)
    value = found.fetch()
    assert value == {"sum": 3.0, "n": (b"t", None)} and isinstance(value["sum"], np.float32)
    assert isinstance(found.get()["sum"], tf.Tensor) and coordinator.fetch([found, 1])[1] == 1
    coordinator.join()
    assert coordinator.done() and total.numpy() == 2.0
    concrete = step.get_concrete_function(tf.TensorSpec([], tf.float32), "m")
    assert coordinator.schedule(concrete, (tf.constant(4.0), "m")).fetch()["sum"] == 5.0


def test_what_is_assigned_is_read(strategy, coordinator):
    one = made(strategy, 1)

    @tf.function
    def step():
        before = one.read_value()
        for _ in tf.range(3):
            one.assign(one * 2)
        if one > 100:
            one.assign_add(1)
        return before, one.read_value()
    assert coordinator.schedule(step).fetch() == (1, 8)


def test_no_addition_is_lost(strategy, coordinator):
    counts = made(strategy, tf.zeros([3], tf.int64))

    @tf.function
    def step(place):
        counts.assign_add(tf.one_hot(place, 3, dtype=tf.int64))
        counts.scatter_nd_add([[place]], tf.constant([10], tf.int64))
    for number in range(60):
        coordinator.schedule(step, (tf.constant(number % 3),))
    coordinator.join()
    assert counts.numpy().tolist() == [220, 220, 220]


def test_workers_draw_numbers_of_their_own(coordinator):
    step = tf.function(lambda: tf.random.uniform([], dtype=tf.float64))
    assert len({float(one) for one in coordinator.fetch([coordinator.schedule(step) for _ in range(12)])}) == 12
    iterator = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(10**6).shuffle(10**6)))
    first = tf.function(lambda iterator: next(iterator))
    found = coordinator.fetch([coordinator.schedule(first, (iterator,)) for _ in range(6)])
    assert len(set(map(int, found))) == 6


def test_nothing_is_updated_behind_a_failure(strategy, coordinator):
    first, second = made(strategy, 0), made(strategy, 0)

    @tf.function
    def step(x):
        first.assign_add(1)
        for _ in tf.range(2):
            first.assign_add(10)
        tf.debugging.assert_positive(x)
        second.assign_add(1)
    coordinator.schedule(step, (tf.constant(-1),))
    with pytest.raises(tf.errors.InvalidArgumentError):
        coordinator.join()
    assert (first.numpy(), second.numpy()) == (21, 0)


def test_threads_schedule_together(strategy, coordinator):
    total = made(strategy, 0)
    step = tf.function(lambda: (total.assign_add(1), 1)[1])

    def work():
        for _ in range(10):
            coordinator.schedule(step)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    coordinator.join()
    assert total.numpy() == 40


def test_what_is_not_scheduled(strategy, coordinator):
    assert tf.distribute.coordinator.ClusterCoordinator(strategy) is coordinator and coordinator.strategy is strategy
    with pytest.raises(TypeError, match="tf.function"):
        coordinator.schedule(lambda: 1)
    with pytest.raises(ValueError, match="RemoteValue"):
        coordinator.schedule(tf.function(lambda x: x), (coordinator.schedule(tf.function(lambda: 1)),))
    with pytest.raises(ValueError, match="ParameterServerStrategy"):
        tf.distribute.coordinator.ClusterCoordinator(tf.distribute.MirroredStrategy())
    outside = tf.Variable(1.0)
    with pytest.raises(tf.errors.UnimplementedError, match="scope"):
        coordinator.schedule(tf.function(lambda: outside.assign_add(1.0)))
    with pytest.raises(tf.errors.UnimplementedError, match="numpy"):
        coordinator.schedule(tf.function(lambda x: x.numpy()), (tf.constant(1),))
    coordinator.join()


def test_errors_come_at_the_next_call(strategy, coordinator):
    one = made(strategy, 0)

    @tf.function
    def fails(x):
        one.assign_add(1)
        return tf.debugging.check_numerics(tf.math.log(x), "finite")
    bad = coordinator.schedule(fails, (tf.constant(0.0),))
    with pytest.raises(tf.errors.InvalidArgumentError, match="finite"):
        coordinator.join()
    with pytest.raises(tf.errors.InvalidArgumentError, match="finite"):
        bad.fetch()
    assert coordinator.done() and coordinator.schedule(fails, (tf.constant(1.0),)).fetch() == 0.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        for _ in range(1000):
            later = coordinator.schedule(fails, (tf.constant(0.0),))
        coordinator.join()
    coordinator.join()
    try:
        later.fetch()
    except (tf.errors.CancelledError, tf.errors.InvalidArgumentError):
        pass


def test_printing_is_the_workers(cluster, coordinator):
    @tf.function
    def step(x):
        tf.print("value", x, [x, 2], sep="|")
        return x
    coordinator.schedule(step, (tf.constant([1.5, 2.0]),))
    coordinator.join()
    assert cluster.printed() == "value|[1.5 2]|[[1.5 2], 2]\n"  # TensorFlow's text
    with pytest.raises(tf.errors.UnimplementedError, match="stderr"):
        coordinator.schedule(tf.function(lambda: tf.print(1, output_stream="file:///dev/null")))


# ---- datasets ----

def test_each_worker_has_a_dataset(strategy, coordinator):
    def create():
        return strategy.distribute_datasets_from_function(
            lambda context: tf.data.Dataset.range(100 * context.num_input_pipelines).map(lambda x: x * 2))

    @tf.function
    def step(iterator, count):
        total = tf.constant(0, tf.int64)
        for _ in tf.range(count):
            total += strategy.run(lambda x: x, args=(next(iterator),))
        return total, iterator.get_next_as_optional().has_value()
    dataset = coordinator.create_per_worker_dataset(create)
    assert dataset.element_spec == tf.TensorSpec([], tf.int64)
    iterator = iter(dataset)
    found = coordinator.fetch([coordinator.schedule(step, (iterator, tf.constant(9))) for _ in range(8)])
    coordinator.join()
    # A worker that took k elements before gives the sum of twice k to k + 8.
    assert all(more and total % 18 == 0 for total, more in found)
    assert len({int(total) for total, _ in found}) >= 4
    with pytest.raises(NotImplementedError):
        next(iterator)
    end = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(0)))
    coordinator.schedule(step, (end, tf.constant(1)))
    with pytest.raises(tf.errors.OutOfRangeError):
        coordinator.join()
    with pytest.raises(ValueError, match="variables"):
        coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(int(tf.Variable(3))))


# ---- training ----

def test_one_step_of_sgd_and_adam(strategy, coordinator):
    x, y = np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([[1], [0], [2]])
    for optimizer, update in ((tf.keras.optimizers.SGD, lambda g: 0.1 * g),
                              (tf.keras.optimizers.Adam, lambda g: 0.1 * g / (np.abs(g) + 1e-7))):
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
            optimizer = optimizer(0.1)
        kernel = model.layers[0].kernel
        start = kernel.numpy()

        @tf.function
        def step(x, y):
            def run(x, y):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                return loss
            return strategy.run(run, args=(x, y))
        loss = coordinator.schedule(step, (tf.constant(x), tf.constant(y))).fetch()
        residual = x @ start - y
        assert np.allclose(loss, (residual ** 2).mean(), rtol=1e-5)
        gradient = 2 * x.T @ residual / 3
        assert np.allclose(kernel.numpy(), start - update(gradient), rtol=1e-4, atol=1e-6)
        assert optimizer.iterations.numpy() == 1
        for _ in range(10):
            coordinator.schedule(step, (tf.constant(x), tf.constant(y)))
        coordinator.join()
        assert optimizer.iterations.numpy() == 11
        assert {one.device for one in optimizer.variables} <= {one.device for one in model.variables}


class Halving(tf.keras.optimizers.Optimizer):
    """Momentum of a half, written in Python."""

    def build(self, variables):
        super().build(variables)
        self.sums = [self.add_variable_from_reference(variable, "sum") for variable in variables]

    def update_step(self, gradient, variable, learning_rate):
        own = self.sums[self._get_variable_index(variable)]
        self.assign(own, own * 0.5 + gradient)
        self.assign_sub(variable, learning_rate * own)


def test_optimizers_of_ones_own(strategy, coordinator):
    with strategy.scope():
        variables = [tf.keras.Variable([1.0, 2.0]), tf.keras.Variable([3.0])]
        optimizer = Halving(0.1, global_clipnorm=3.0)

    @tf.function
    def step():
        optimizer.apply_gradients(zip([tf.constant([2.0, 2.0]), tf.constant([1.0])], variables))
    coordinator.schedule(step)
    coordinator.schedule(step)
    coordinator.join()
    # The norm is 3. A step is 0.1 times g, then 0.1 times 1.5 g, whichever is first.
    assert np.allclose(variables[0].numpy(), [0.5, 1.5]) and np.allclose(variables[1].numpy(), [2.75])
    assert np.allclose(optimizer.sums[0].numpy(), [3.0, 3.0])


def test_metrics_count_all_workers(strategy, coordinator):
    with strategy.scope():
        mean, accuracy = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(x):
        mean.update_state(x)
        accuracy.update_state([0, 1], [[0.9, 0.1], [0.8, 0.2]])
    for number in range(40):
        coordinator.schedule(step, (tf.constant(float(number)),))
    coordinator.join()
    assert mean.result().numpy() == 19.5 and accuracy.result().numpy() == 0.5
    assert mean.variables[1].numpy() == 40.0


def test_an_embedding_learns_the_rows_that_it_is_given(strategy, coordinator):
    table = made(strategy, tf.ones([4, 2]))
    with strategy.scope():
        optimizer = tf.keras.optimizers.SGD(0.5)

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids))
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])
        return loss, tf.gather(table, ids[0])
    assert coordinator.schedule(step, (tf.constant([1, 3, 1]),)).fetch()[0] == 6.0
    assert table.numpy().tolist() == [[1, 1], [0, 0], [1, 1], [0.5, 0.5]]
    loss, row = coordinator.schedule(step, (tf.constant([3, 2, 1]),)).fetch()
    assert loss == 3.0 and row.tolist() == [0, 0]
    assert table.numpy().tolist() == [[1, 1], [-0.5, -0.5], [0.5, 0.5], [0, 0]]
    coordinator.schedule(step, (tf.constant([4]),))
    with pytest.raises(tf.errors.InvalidArgumentError):
        coordinator.join()


def test_fit(strategy, tmp_path):
    x = np.float32(np.arange(64).reshape(32, 2) % 7)
    y = x @ np.float32([[1], [-1]]) + 1
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
        model.compile("sgd", "mse", metrics=["mae"])
    before = model.evaluate(x, y, verbose=0)
    assert np.allclose(before, [(y ** 2).mean(), np.abs(y).mean()], rtol=1e-5)
    seen = tf.keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: batches.append((batch, logs)))
    batches = []
    history = model.fit(x, y, batch_size=8, epochs=3, verbose=0,
                        callbacks=[seen, tf.keras.callbacks.TensorBoard(tmp_path)])
    assert batches == [(0, {}), (1, {}), (2, {}), (3, {})] * 3
    assert model.optimizer.iterations.numpy() == 12 and history.history["loss"][-1] < before[0] / 2
    with pytest.raises(tf.errors.UnimplementedError, match="SavedModel"):
        model.export(str(tmp_path / "m"))
    assert np.allclose(model.predict(x, verbose=0), x @ model.get_weights()[0] + model.get_weights()[1], rtol=1e-5)


# ---- shards ----

def test_a_table_is_cut_into_shards(cluster, coordinator, tmp_path):
    whole = np.float32(np.arange(10).reshape(5, 2))
    strategy = cluster.strategy(PARTS.FixedShardsPartitioner(2))
    table, number = made(strategy, whole, name="t"), made(strategy, 3.0)
    assert not hasattr(number, "variables")
    assert [one.shape.as_list() for one in table.variables] == [[3, 2], [2, 2]]
    assert [one.name for one in table.variables] == ["t/part_0:0", "t/part_1:0"]
    assert len({one.device for one in table.variables}) == 2 and table.shape == [5, 2]
    assert np.array_equal(table.numpy(), whole) and np.array_equal(table[1:4].numpy(), whole[1:4])
    assert np.array_equal(tf.nn.embedding_lookup(table, [4, 0]).numpy(), whole[[4, 0]])
    assert np.array_equal((table + 1.0).numpy(), whole + 1) and np.array_equal((table == 1.0).numpy(), whole == 1)
    assert np.array_equal(table.sparse_read([4, 1]).numpy(), whole[[4, 1]])
    for ids in (5, -1):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.nn.embedding_lookup(table, [0, ids])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table.variables, [[4, 0], [4, 1]]))
    shares = [tf.convert_to_tensor(one).numpy()[:, 0].tolist() for one in tape.gradient(loss, table.variables)]
    assert shares == [[1, 1, 0], [0, 2]]
    table.assign(whole + 2)
    table.assign_add(whole)
    table.scatter_add(tf.IndexedSlices([[1.0, 1.0], [5.0, 5.0]], [4, 0]))
    expected = 2 * whole + 2
    expected[[4, 0]] += [[1], [5]]
    assert np.array_equal(table.numpy(), expected)
    with pytest.raises(IndexError):
        table[5]
    path = tf.train.Checkpoint(table=table).save(str(tmp_path / "c"))
    assert tf.train.list_variables(path)[-1] == ("table/.ATTRIBUTES/VARIABLE_VALUE", [5, 2])
    more = made(cluster.strategy(PARTS.FixedShardsPartitioner(3)), np.zeros([5, 2], np.float32))
    tf.train.Checkpoint(table=more).restore(path).assert_consumed()
    assert len(more.variables) == 3 and np.array_equal(more.numpy(), expected)
    with pytest.raises(ValueError, match="variable_partitioner"):
        made(cluster.strategy(lambda shape, dtype: [1, 2]), whole)


# ---- what comes from elsewhere ----

def test_hostile_bytes_are_answered_with_an_error(cluster, strategy):
    address = cluster.spec["ps"][0]
    channel = _native.CallChannel(address)
    for method in ("hello", "read", "update", "function", "run", "begin", "iterator", "os.system"):
        for message in (b"", b"\xff" * 40, b"\x80\x04cos\nsystem\n(S'true'\ntR.", b"\x02\x00\x00\x00{}",
                        b"\x0e\x00\x00\x00{\"tensors\":[]}", b"\x19\x00\x00\x00{\"tensors\":[[\"int8\",-1]]}"):
            answer = channel.call(method, message, 5000)
            assert b'"failure"' in answer or method == "hello" and b'"incarnation"' in answer
    host, port = address.split(":")
    with socket.create_connection((host, int(port))) as one:
        one.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(range(256)))
    assert made(strategy, 1).numpy() == 1


# ---- tasks that are lost; what follows has no cluster any more ----

def test_a_lost_worker(cluster, strategy, coordinator):
    begun, gate, ended = (made(strategy, 0) for _ in range(3))

    @tf.function
    def held():
        begun.assign_add(1)
        tries = 0
        while gate < 1:
            tries += 1
        ended.assign_add(1)
        return tf.constant(1)
    found = [coordinator.schedule(held) for _ in range(5)]
    while begun.numpy() < 2:
        pass
    cluster.kill("worker", 0)  # in the middle of its function, which the other one runs again
    gate.assign(1)
    coordinator.join()
    assert sum(coordinator.fetch(found)) == 5 and (begun.numpy(), ended.numpy()) == (5, 5)
    assert coordinator.done()


def test_a_lost_worker_comes_back_and_a_server_does_not(cluster, strategy, coordinator):
    count, other, first, second = (made(strategy, 0) for _ in range(4))

    @tf.function
    def step(iterator):
        count.assign_add(1)
        other.assign_add(tf.cast(next(iterator), tf.int32))
        return tf.constant(1)
    iterator = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.from_tensors(1).repeat()))
    found = [coordinator.schedule(step, (iterator,)) for _ in range(10)]
    coordinator.join()
    cluster.launch("worker", 0)
    assert sum(coordinator.fetch(found)) == 10 and (count.numpy(), other.numpy()) == (10, 10)
    cluster.kill("worker", 1)  # so that the one that came back is needed, and makes its iterator
    assert coordinator.schedule(step, (iterator,)).fetch() == 1
    lost = int(re.search(r"task:(\d)", count.device)[1])
    cluster.kill("ps", lost)
    late = coordinator.schedule(step, (iterator,))
    with pytest.raises(tf.errors.UnavailableError, match=f"/job:ps/replica:0/task:{lost}"):
        coordinator.join()
    with pytest.raises(tf.errors.UnavailableError, match="/job:ps"):
        late.fetch()
    cluster.launch("ps", lost)
    with pytest.raises(tf.errors.UnavailableError, match="/job:ps"):
        count.numpy()
    # A coordinator that comes later has the cluster; numbers of variables are its own.
    program = f"""
import leat as tf
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({cluster.alive()}))
with tf.distribute.ParameterServerStrategy(resolver).scope():
    print([tf.Variable(float(number)).numpy() for number in range(9)][-1])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "8.0\n", done.stderr
    kept = [one for one in (first, second) if one.device != count.device]
    with pytest.raises(tf.errors.UnavailableError, match="coordinator"):
        kept[0].numpy()
