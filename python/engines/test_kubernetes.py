"""deploy/kubernetes: documents against their schemas, what refers to what, and the commands that pods run."""

import copy
import subprocess

import kubernetes_validate
import pytest
import yaml

# The newest, and the oldest that still gets fixes.
VERSIONS = ["1.37", "1.33"]
OURS = {"dispatcher.yaml", "workers.yaml", "network.yaml"}


@pytest.fixture(scope="module")
def folder(root):
    return root / "deploy" / "kubernetes"


@pytest.fixture(scope="module")
def documents(folder):
    """Every document: (file, object)."""
    return [(name, document) for name in sorted(OURS)
            for document in yaml.safe_load_all((folder / name).read_text()) if document]


def of_kind(documents, kind):
    return [document for _, document in documents if document["kind"] == kind]


def pods(documents):
    """The templates of pods: (name of the owner, spec)."""
    return [(document["metadata"]["name"], document["spec"]["template"])
            for kind in ("StatefulSet", "Deployment") for document in of_kind(documents, kind)]


@pytest.mark.parametrize("version", VERSIONS)
def test_schemas(documents, version):
    """Without members that nobody knows: a misspelt one is an error."""
    for _, document in documents:
        kubernetes_validate.validate(document, version, strict=True)


def test_schemas_refuse(documents):
    """A misspelt member, and a text for a number, are found: the validator has the schemas of these kinds."""
    for kind, path, wrong in (("Deployment", ("spec", "template", "spec", "terminationGracePeriodSecond"), 3),
                              ("StatefulSet", ("spec", "replicas"), "one"),
                              ("PodDisruptionBudget", ("spec", "maxUnavailabel"), 1),
                              ("HorizontalPodAutoscaler", ("spec", "maxReplicas"), "16")):
        document = copy.deepcopy(of_kind(documents, kind)[0])
        at = document
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = wrong
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(document, VERSIONS[0], strict=True)


def test_kustomization_names_every_file(folder):
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert set(kustomization["resources"]) == OURS
    assert {path.name for path in folder.glob("*.yaml")} == OURS | {"kustomization.yaml"}


def test_selectors(documents):
    """Selectors select the pods that they are for, and no others."""
    labels = {name: template["metadata"]["labels"] for name, template in pods(documents)}

    def selected(selector):
        return {name for name, had in labels.items() if selector.items() <= had.items()}

    for kind in ("StatefulSet", "Deployment"):
        for document in of_kind(documents, kind):
            assert selected(document["spec"]["selector"]["matchLabels"]) == {document["metadata"]["name"]}
    assert selected(of_kind(documents, "Service")[0]["spec"]["selector"]) == {"leat-dispatcher"}
    assert selected(of_kind(documents, "PodDisruptionBudget")[0]["spec"]["selector"]["matchLabels"]) == {"leat-worker"}
    assert selected(of_kind(documents, "NetworkPolicy")[0]["spec"]["podSelector"]["matchLabels"]) == set(labels)
    target = of_kind(documents, "HorizontalPodAutoscaler")[0]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", "leat-worker")


def test_ports_and_probes(documents):
    for name, template in pods(documents):
        container, = template["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        arguments = container["args"]
        assert arguments[arguments.index("--port") + 1] == str(ports["grpc"]), name
        assert arguments[arguments.index("--web-port") + 1] == str(ports["web"]), name
        for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"), ("startupProbe", "/healthz")):
            assert container[probe]["httpGet"] == {"path": path, "port": "web"}, name
        mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in template["spec"]["volumes"]}
        assert volumes[mounts["/token"]]["secret"]["secretName"] == "leat-service-token"
    service, = of_kind(documents, "Service")
    assert {port["targetPort"] for port in service["spec"]["ports"]} == {"grpc", "web"}


def test_state_is_on_the_claim(documents):
    dispatcher, = of_kind(documents, "StatefulSet")
    container = dispatcher["spec"]["template"]["spec"]["containers"][0]
    claims = {claim["metadata"]["name"] for claim in dispatcher["spec"]["volumeClaimTemplates"]}
    folder = container["args"][container["args"].index("--work-dir") + 1]
    assert [mount["name"] for mount in container["volumeMounts"] if mount["mountPath"] == folder] == [*claims]
    assert dispatcher["spec"]["replicas"] == 1


def seconds(arguments, option):
    return float(arguments[arguments.index(option) + 1])


def test_drain_fits_into_the_grace(documents):
    """A pod is given the time that draining takes, twice: by preStop, and by SIGTERM behind it."""
    spec = dict(pods(documents))["leat-worker"]["spec"]
    container, = spec["containers"]
    drain = container["lifecycle"]["preStop"]["exec"]["command"]
    assert drain[:2] == ["sh", "-c"]
    needed = seconds(drain[2].split(), "--timeout") + seconds(container["args"], "--drain-timeout")
    assert spec["terminationGracePeriodSeconds"] > needed + 10


def test_no_privileges(documents):
    for _, template in pods(documents):
        spec = template["spec"]
        assert spec["automountServiceAccountToken"] is False and spec["securityContext"]["runAsNonRoot"] is True
        for container in spec["containers"]:
            security = container["securityContext"]
            assert security["allowPrivilegeEscalation"] is False and security["readOnlyRootFilesystem"] is True
            assert security["capabilities"] == {"drop": ["ALL"]}


def test_commands(documents, tool):
    """The tool takes every command that a pod runs: --help behind its options shows that they are right."""
    for name, template in pods(documents):
        container, = template["spec"]["containers"]
        commands = [container["command"] + container["args"]]
        if "lifecycle" in container:
            line = container["lifecycle"]["preStop"]["exec"]["command"][2]
            commands.append(line.removeprefix("exec ").replace('"', "").split())
        for command in commands:
            assert command[:2] == ["leat", "service"], name
            done = subprocess.run([tool, *command[1:], "--help"], capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, ""), (name, command)
            assert done.stdout.startswith(f"Usage: leat service {command[2]} ")
