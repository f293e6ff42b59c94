"""leat.train.ClusterSpec and the cluster resolvers; expected values are TensorFlow 2.21's, but for texts of leat's own.

What each TF_CONFIG means is tests/golden/data/distribute/tf_config.json, all of which runs here.
"""

import json
import os
import pathlib

import pytest

import leat as tf
from leat._core import cluster

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/data/distribute"
resolvers = tf.distribute.cluster_resolver
ClusterSpec = tf.train.ClusterSpec


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    """The variables of launchers that these tests were started by are not there."""
    for name in list(os.environ):
        if name.startswith(("TF_CONFIG", "SLURM_", "OMPI_", "PMI_", "RANK", "WORLD_SIZE", "MASTER_", "CUDA_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


# ---- ClusterSpec ----

SPEC = {"worker": ["a:1", "b:2"], "ps": {3: "c:3", 1: "d:4"}, "empty": []}


def test_cluster_spec():
    spec = ClusterSpec(SPEC)
    assert repr(spec) == "ClusterSpec({'empty': {}, 'ps': {1: 'd:4', 3: 'c:3'}, 'worker': ['a:1', 'b:2']})"
    assert spec.jobs == ["worker", "ps", "empty"]
    assert spec.as_dict() == {"worker": ["a:1", "b:2"], "ps": {1: "d:4", 3: "c:3"}, "empty": {}}
    assert [spec.num_tasks(job) for job in spec.jobs] == [2, 2, 0]
    assert [spec.task_indices(job) for job in spec.jobs] == [[0, 1], [1, 3], []]
    assert [spec.job_tasks(job) for job in ("worker", "ps")] == [["a:1", "b:2"], [None, "d:4", None, "c:3"]]
    assert spec.task_address("ps", 3) == "c:3"
    assert bool(spec) and not ClusterSpec({})
    assert spec == ClusterSpec(SPEC) and spec != ClusterSpec({"worker": ["a:1"]})
    assert ClusterSpec({"w": ["a"]}) == {"w": {0: "a"}}
    assert ClusterSpec(spec).jobs == ["empty", "ps", "worker"] and ClusterSpec(spec).as_dict() == spec.as_dict()
    with pytest.raises(TypeError, match="unhashable"):
        hash(spec)


def test_cluster_spec_refuses():
    spec = ClusterSpec(SPEC)
    for ask in (spec.num_tasks, spec.task_indices, spec.job_tasks, lambda job: spec.task_address(job, 0)):
        with pytest.raises(ValueError, match="nope"):
            ask("nope")
    for number in (0, 2, None, "1"):
        with pytest.raises(ValueError, match=f"{number!r}"):
            spec.task_address("ps", number)
    with pytest.raises(ValueError):
        spec.job_tasks("empty")
    for bad in ([], None, "x"):
        with pytest.raises(TypeError, match="`cluster`"):
            ClusterSpec(bad)
    with pytest.raises(TypeError, match="'w'"):
        ClusterSpec({"w": "a"})
    with pytest.raises(TypeError, match="address"):
        ClusterSpec({"w": [1]})
    with pytest.raises(TypeError, match="name"):
        ClusterSpec({1: ["a"]})


def test_cluster_definition():
    spec = ClusterSpec({"worker": ["a:1"], "ps": {3: "c:3", 1: "d:4"}})
    assert str(spec.as_cluster_def()) == (
        'job {\n  name: "ps"\n  tasks {\n    key: 1\n    value: "d:4"\n  }\n  tasks {\n    key: 3\n    value: "c:3"\n'
        '  }\n}\njob {\n  name: "worker"\n  tasks {\n    key: 0\n    value: "a:1"\n  }\n}\n')
    job = tf.train.JobDef(name="w", tasks={0: "a", 1: "b"})
    assert ClusterSpec(tf.train.ClusterDef(job=[job])).as_dict() == {"w": ["a", "b"]}
    assert ClusterSpec(spec.as_cluster_def()) == spec and spec.as_cluster_def() == ClusterSpec(spec).as_cluster_def()


# ---- TF_CONFIG ----

ERRORS = {"JSONDecodeError": json.JSONDecodeError, "ValueError": ValueError, "TypeError": TypeError}
ASK = {
    "task_type": lambda one: one.task_type,
    "task_id": lambda one: one.task_id,
    "rpc_layer": lambda one: one.rpc_layer,
    "environment": lambda one: one.environment,
    "master": lambda one: one.master(),
    "cluster": lambda one: {job: tasks if isinstance(tasks, list) else {str(n): a for n, a in tasks.items()}
                            for job, tasks in one.cluster_spec().as_dict().items()},
    "is_chief": lambda one: cluster.is_chief(one.cluster_spec(), one.task_type, one.task_id),
    "id_in_cluster": lambda one: cluster.id_in_cluster(one.cluster_spec(), one.task_type, one.task_id),
    "worker_count": lambda one: cluster.worker_count(one.cluster_spec(), one.task_type),
}
OWN_TEXT = {"is_chief", "id_in_cluster", "worker_count"}  # the library's words, and a ValueError for all that is wrong


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{i}") for i, case in enumerate(
    json.loads((DATA / "tf_config.json").read_text())["cases"]) if case["tf_config"] != "[]"])
def test_tf_config(case, monkeypatch):
    config = case["tf_config"]
    if config is not None:
        monkeypatch.setenv("TF_CONFIG", config if isinstance(config, str) else json.dumps(config))
    found = resolvers.TFConfigClusterResolver()
    for name, expected in case.items():
        if name == "tf_config":
            continue
        if not isinstance(expected, dict) or "type" not in expected:
            assert ASK[name](found) == expected, name
            continue
        with pytest.raises(ValueError if name in OWN_TEXT else ERRORS[expected["type"]]) as error:
            ASK[name](found)
        if expected["type"] == "JSONDecodeError":  # TensorFlow's words, behind the variable's name
            assert name in OWN_TEXT or str(error.value).endswith(expected["text"])
        elif name not in OWN_TEXT:
            assert str(error.value) == expected["text"]


@pytest.mark.parametrize("text", ["", "no JSON", "{", "[]", "[1]", "3", '"x"', "null", "true"])
def test_tf_config_is_named(text, monkeypatch):
    """A recorded case has TensorFlow take [] for no cluster: every process would then train alone, without a word."""
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ValueError, match="TF_CONFIG"):
        resolvers.TFConfigClusterResolver().cluster_spec()
    with pytest.raises(ValueError, match="TF_CONFIG"):
        tf.distribute.MultiWorkerMirroredStrategy()


def test_tf_config_overrides(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 1}, '
                                    '"rpc_layer": "grpc"}')
    found = resolvers.TFConfigClusterResolver()
    assert found.master() == "grpc://b:2" and found.num_accelerators() == {}
    assert found.master("worker", 0, "") == "a:1"
    found = resolvers.TFConfigClusterResolver("ps", "4", "x", "env")
    assert (found.task_type, found.task_id, found.rpc_layer, found.environment) == ("ps", 4, "x", "env")
    with pytest.raises(ValueError, match="'ps'"):
        found.master()
    found.task_type, found.task_id, found.rpc_layer = "worker", 0, "q"
    assert found.master() == "q://a:1"
    for config, kind in (('{"task": 3}', TypeError), ('{"task": {"index": null}}', TypeError),
                         ('{"task": {"index": "x"}}', ValueError)):
        monkeypatch.setenv("TF_CONFIG", config)
        with pytest.raises(kind):
            resolvers.TFConfigClusterResolver().task_id
    monkeypatch.setenv("TF_CONFIG", '{"task": {"index": 1.7, "type": 3}}')
    found = resolvers.TFConfigClusterResolver()
    assert (found.task_id, found.task_type) == (1, "3")


# ---- given, and several as one ----

def test_simple_resolver():
    spec = ClusterSpec(SPEC)
    found = resolvers.SimpleClusterResolver(spec, "m:1", task_type="worker", task_id=1, environment="e",
                                            num_accelerators={"GPU": 2}, rpc_layer="grpc")
    assert (found.task_type, found.task_id, found.environment, found.rpc_layer) == ("worker", 1, "e", "grpc")
    assert found.cluster_spec() is spec and found.num_accelerators() == {"GPU": 2}
    assert found.master() == found.master("ps", None) == "grpc://m:1"
    assert found.master("worker", 0) == "grpc://a:1" and found.master("ps", 1, "x") == "x://d:4"
    found.task_type, found.task_id, found.rpc_layer = "ps", 7, None
    assert (found.task_type, found.task_id, found.master()) == ("ps", 7, "m:1")
    plain = resolvers.SimpleClusterResolver(spec)
    assert (plain.task_type, plain.task_id, plain.environment, plain.rpc_layer, plain.master(),
            plain.num_accelerators()) == (None, None, "", None, "", {})
    with pytest.raises(TypeError, match="cluster_spec"):
        resolvers.SimpleClusterResolver(SPEC)
    with pytest.raises(TypeError, match="master"):
        resolvers.SimpleClusterResolver(spec, master=3)


def test_a_resolver_of_ones_own():
    class Mine(resolvers.ClusterResolver):
        def cluster_spec(self):
            return ClusterSpec(SPEC)
    for kind in (Mine, resolvers.ClusterResolver):
        with pytest.raises(TypeError, match="abstract"):
            kind()

    class Whole(Mine):
        def master(self, task_type=None, task_id=None, rpc_layer=None):
            return "m"
    found = Whole()
    assert (found.task_type, found.task_id, found.environment, found.num_accelerators()) == (None, None, "", {})
    found.task_type, found.task_id = "worker", 3
    assert (found.task_type, found.task_id) == ("worker", 3)


def simple(jobs, **arguments):
    return resolvers.SimpleClusterResolver(ClusterSpec(jobs), **arguments)


def test_union():
    a = simple({"worker": ["a:1"]}, task_type="worker", task_id=0, rpc_layer="grpc", master="am")
    b = simple({"worker": ["b:1", "c:2"], "ps": ["p:1"]}, task_type="ps", task_id=1)
    numbered, same = simple({"worker": {5: "e:5"}}), simple({"worker": {0: "e:5", 7: "f:7"}})
    both = resolvers.UnionResolver(a, b)
    assert both.cluster_spec().as_dict() == {"worker": ["a:1", "b:1", "c:2"], "ps": ["p:1"]}
    assert (both.task_type, both.task_id, both.rpc_layer, both.environment) == ("worker", 0, "grpc", "")
    assert both.master() == "grpc://am" and both.master("worker", 2) == "c:2" and both.master("ps", 0, "z") == "z://p:1"
    for parts in ((a, numbered), (numbered, a)):
        assert resolvers.UnionResolver(*parts).cluster_spec().as_dict() == {"worker": {0: "a:1", 5: "e:5"}}
    with pytest.raises(KeyError, match="Duplicate"):
        resolvers.UnionResolver(a, same).cluster_spec()
    own = resolvers.UnionResolver(a, b, task_type="ps", task_id=0, rpc_layer="r")
    assert (own.task_type, own.task_id, own.rpc_layer, own.master(), own.master("ps", 0)) == (
        "ps", 0, "r", "grpc://am", "r://p:1")
    with pytest.raises(ValueError, match="ClusterResolver"):
        resolvers.UnionResolver()
    with pytest.raises(ValueError, match="foo"):
        resolvers.UnionResolver(a, foo=1)
    with pytest.raises(TypeError, match="`ClusterResolver"):
        resolvers.UnionResolver(a, 3)


# ---- Slurm ----

def slurm(monkeypatch, **variables):
    for name, value in variables.items():
        monkeypatch.setenv("SLURM_" + name, value)


def test_slurm(monkeypatch):
    slurm(monkeypatch, PROCID="3", STEP_NUM_TASKS="5", STEP_NODELIST="t02n[13,41,43,44]",
          STEP_TASKS_PER_NODE="2,1(x3)")
    found = resolvers.SlurmClusterResolver(gpus_per_node=2, gpus_per_task=1)
    assert found.get_task_info() == (None, None) and found.master() == ""
    assert found.cluster_spec().as_dict() == {"worker": ["t02n13:8888", "t02n13:8889", "t02n41:8888", "t02n43:8888",
                                                         "t02n44:8888"]}
    assert found.get_task_info() == ("worker", 3) and found.master() == "grpc://t02n43:8888"
    assert found.master("worker", 1, "z") == "z://t02n13:8889" and found.num_accelerators() == {"GPU": 1}
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"
    assert cluster.id_in_cluster(found.cluster_spec(), *found.get_task_info()) == 3
    found = resolvers.SlurmClusterResolver(jobs={"ps": 2, "worker": 3}, port_base=9000, rpc_layer=None)
    assert found.cluster_spec().as_dict() == {"ps": ["t02n13:9000", "t02n13:9001"],
                                              "worker": ["t02n41:9000", "t02n43:9000", "t02n44:9000"]}
    assert found.get_task_info() == ("worker", 1) and found.num_accelerators() == {"GPU": 0}
    assert found.master() == "t02n43:9000"


def test_slurm_numbers_tasks_as_slurm_does(monkeypatch):
    # TensorFlow sorts the hosts' names, n10 before n9: a task is then looked for where another one runs.
    slurm(monkeypatch, PROCID="0", STEP_NUM_TASKS="3", STEP_NODELIST="n[9-10],a", STEP_TASKS_PER_NODE="1(x3)")
    assert resolvers.SlurmClusterResolver().cluster_spec().job_tasks("worker") == ["n9:8888", "n10:8888", "a:8888"]
    assert resolvers.SlurmClusterResolver(tasks_per_node={"y": 2, "x": 1}).cluster_spec().job_tasks("worker") == [
        "y:8888", "y:8889", "x:8888"]
    assert resolvers.SlurmClusterResolver(tasks_per_node=1).cluster_spec().num_tasks("worker") == 3


def test_slurm_refuses(monkeypatch):
    for name, value in (("PROCID", "0"), ("STEP_NUM_TASKS", "3"), ("STEP_NODELIST", "n"), ("STEP_TASKS_PER_NODE", "1")):
        with pytest.raises(RuntimeError, match=f"SLURM_{name}"):
            resolvers.SlurmClusterResolver()
        slurm(monkeypatch, **{name: value})
    with pytest.raises(RuntimeError, match="3"):
        resolvers.SlurmClusterResolver()
    with pytest.raises(RuntimeError, match="GPUs"):
        resolvers.SlurmClusterResolver(gpus_per_node=1, gpus_per_task=2)
    for listed in ("n[1-", "n[a]", "n[1-2-3]"):
        slurm(monkeypatch, STEP_NODELIST=listed)
        with pytest.raises(ValueError, match="hostlist"):
            resolvers.SlurmClusterResolver()
    slurm(monkeypatch, STEP_NODELIST="n")
    for counts in ("", "x", "1(x", "2(3)", "1,"):
        slurm(monkeypatch, STEP_TASKS_PER_NODE=counts)
        with pytest.raises(ValueError, match="tasks-per-node"):
            resolvers.SlurmClusterResolver()


# ---- Kubernetes, and what leat does not ask ----

class Thing:
    def __init__(self, **members):
        self.__dict__.update(members)


class Client:
    """Answers as the client of the package kubernetes does."""

    def __init__(self, pods):
        self._pods = pods

    def list_pod_for_all_namespaces(self, label_selector):
        return Thing(items=[Thing(metadata=Thing(name=name), status=Thing(phase=phase, host_ip=host))
                            for name, host, phase in self._pods[label_selector]])


def test_kubernetes():
    client = Client({"x": [("b", "1.1", "Running"), ("a", "2.2", "Running")], "y": [("0", "3.3", "Running")],
                     "z": [("q", "4.4", "Running")], "job-name=tensorflow": [("p", "5.5", "Pending")]})
    found = resolvers.KubernetesClusterResolver({"worker": ["x", "y"], "ps": ["z"]}, 99, override_client=client)
    assert found.cluster_spec().as_dict() == {"worker": ["2.2:99", "1.1:99", "3.3:99"], "ps": ["4.4:99"]}
    assert (found.task_type, found.task_id, found.master(), found.rpc_layer) == (None, None, "", "grpc")
    assert found.master("worker", 2) == "grpc://3.3:99" and found.master("ps", 0, "x") == "x://4.4:99"
    found.task_type, found.task_id = "ps", 0
    assert found.master() == "grpc://4.4:99"
    with pytest.raises(RuntimeError, match="Pending"):
        resolvers.KubernetesClusterResolver(override_client=client).cluster_spec()


def test_kubernetes_without_its_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "kubernetes", None)
    with pytest.raises(ImportError, match="kubernetes"):
        resolvers.KubernetesClusterResolver()


@pytest.mark.parametrize("name", ["GCEClusterResolver", "TPUClusterResolver"])
def test_what_leat_does_not_ask(name):
    with pytest.raises(tf.errors.UnimplementedError, match=name):
        getattr(resolvers, name)()
    assert issubclass(getattr(resolvers, name), resolvers.ClusterResolver)


# ---- a process's place ----

def test_place():
    spec = ClusterSpec({"chief": ["c:1"], "worker": ["a:1", "b:2"], "ps": ["p:1"]})
    assert [cluster.id_in_cluster(spec, job, number) for job, number in (
        ("chief", 0), ("worker", 0), ("worker", 1))] == [0, 1, 2]
    assert [cluster.is_chief(spec, job, 0) for job in ("chief", "worker", "ps")] == [True, False, False]
    assert cluster.worker_count(spec, "worker") == 3
    with pytest.raises(ValueError, match="worker"):
        cluster.id_in_cluster(spec, "worker", 2)
    with pytest.raises(ValueError, match='"ps"'):
        cluster.id_in_cluster(spec, "ps", 0)


# ---- what a strategy makes of it ----

def test_a_strategy_of_one_worker(monkeypatch):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    assert type(strategy.cluster_resolver) is resolvers.TFConfigClusterResolver and strategy.num_replicas_in_sync == 1
    one = simple({"worker": ["a:1"]}, task_type="worker", task_id=0)
    assert tf.distribute.MultiWorkerMirroredStrategy(one).cluster_resolver is one
    slurm(monkeypatch, PROCID="0", STEP_NODELIST="n", STEP_TASKS_PER_NODE="1")
    found = tf.distribute.MultiWorkerMirroredStrategy().cluster_resolver
    assert found.cluster_spec() == {"worker": {0: "n:8888"}} and (found.task_type, found.task_id) == ("worker", 0)
    with pytest.raises(ValueError, match="`task_id`"):
        tf.distribute.MultiWorkerMirroredStrategy(simple({"worker": ["a:1"]}))
    with pytest.raises(ValueError, match='"ps"'):
        tf.distribute.MultiWorkerMirroredStrategy(simple({"ps": ["a:1"]}, task_type="ps", task_id=0))
    monkeypatch.setenv("TF_CONFIG", "no JSON")
    with pytest.raises(json.JSONDecodeError):
        tf.distribute.MultiWorkerMirroredStrategy()
