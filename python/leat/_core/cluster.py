"""Processes of a job by name: ``tf.train.ClusterSpec``, and the place of this process among them.

Job names, numbers and addresses are checked when a spec is made. Whether a process has a place in the cluster is the
library's to say (include/leat/cluster.h), to which a spec goes as TF_CONFIG's text.
"""

import json

from leat import _native
from leat.errors import InvalidArgumentError

__all__ = ["ClusterDef", "ClusterSpec", "JobDef"]


class JobDef:
    """A job: its `name` and its `tasks`, addresses by number (``tf.train.JobDef``)."""

    def __init__(self, name="", tasks=None):
        self.name = name
        self.tasks = dict(tasks or {})

    def __eq__(self, other):
        return isinstance(other, JobDef) and (self.name, self.tasks) == (other.name, other.tasks)

    __hash__ = None

    def __str__(self):
        tasks = "".join(f"tasks {{\n  key: {number}\n  value: {json.dumps(address)}\n}}\n"
                        for number, address in sorted(self.tasks.items()))
        return f"name: {json.dumps(self.name)}\n{tasks}"

    __repr__ = __str__


class ClusterDef:
    """A cluster as a list of jobs, `job` (``tf.train.ClusterDef``)."""

    def __init__(self, job=()):
        self.job = list(job)

    def __eq__(self, other):
        return isinstance(other, ClusterDef) and self.job == other.job

    __hash__ = None

    def __str__(self):
        return "".join("job {\n" + "".join(f"  {line}\n" for line in str(job).splitlines()) + "}\n"
                       for job in self.job)

    __repr__ = __str__


def _text(value, what):
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{what} {value!r} must be bytes or unicode")
    return value.decode() if isinstance(value, bytes) else value


def _jobs(cluster):
    """{job: {number: address}} of what a ClusterSpec is made of."""
    if isinstance(cluster, ClusterSpec):
        cluster = cluster.as_cluster_def()
    if isinstance(cluster, ClusterDef):
        return {job.name: dict(job.tasks) for job in cluster.job}
    if not isinstance(cluster, dict):
        raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network addresses, "
                        "or a `ClusterDef` protocol buffer")
    jobs = {}
    for name, tasks in cluster.items():
        if isinstance(tasks, (list, tuple)):
            jobs[name] = dict(enumerate(tasks))
        elif isinstance(tasks, dict):
            jobs[name] = {int(number): task for number, task in tasks.items()}
        else:
            raise TypeError(f"The tasks for job {name!r} must be a list or a dictionary from integers to strings.")
    return jobs


class ClusterSpec:
    """The addresses of a cluster's processes, by job and number (``tf.train.ClusterSpec``).

    `cluster`: {job: [address]}, {job: {number: address}}, a ClusterDef or another ClusterSpec. TypeError for anything
    else, and for names and addresses that are no text.
    """

    def __init__(self, cluster):
        self._jobs = _jobs(cluster)
        self._definition = ClusterDef(
            JobDef(_text(name, "Job name"), {number: _text(tasks[number], "Task address") for number in sorted(tasks)})
            for name, tasks in sorted(self._jobs.items()))

    def __bool__(self):
        return bool(self._jobs)

    def __eq__(self, other):
        return self._jobs == (other._jobs if isinstance(other, ClusterSpec) else other)

    __hash__ = None

    def __repr__(self):
        return f"ClusterSpec({dict(sorted(self.as_dict().items()))!r})"

    def as_dict(self):
        """{job: [address]}; {job: {number: address}} where numbers are missing or a job has no tasks."""
        return {name: [tasks[number] for number in sorted(tasks)] if tasks and max(tasks) + 1 == len(tasks)
                else {number: tasks[number] for number in sorted(tasks)} for name, tasks in self._jobs.items()}

    def as_cluster_def(self):
        """The same as a ClusterDef, jobs and tasks in order."""
        return self._definition

    @property
    def jobs(self):
        """The names of the jobs."""
        return list(self._jobs)

    def _tasks(self, job_name):
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def num_tasks(self, job_name):
        """How many tasks a job has; ValueError where there is no such job."""
        return len(self._tasks(job_name))

    def task_indices(self, job_name):
        """The numbers of a job's tasks in order; ValueError where there is no such job."""
        return sorted(self._tasks(job_name))

    def task_address(self, job_name, task_index):
        """The address of a task; ValueError where there is no such job or task."""
        tasks = self._tasks(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name):
        """The addresses of a job by number, None where a number is missing; ValueError for a job without tasks."""
        tasks = self._tasks(job_name)
        return [tasks.get(number) for number in range(max(tasks) + 1)]


# ---- this process's place ----

def text_of(spec, task_type, task_id):
    """TF_CONFIG's text of a ClusterSpec and a place in it."""
    task = {key: value for key, value in (("type", task_type), ("index", task_id)) if value is not None}
    jobs = {job.name: job.tasks for job in spec.as_cluster_def().job}
    return json.dumps({"cluster": jobs, "task": task})


def _place(spec, task_type, task_id, what):
    try:
        return _native.cluster_place(text_of(spec, task_type, task_id), what)
    except InvalidArgumentError as error:
        raise ValueError(error.message) from None


def is_chief(spec, task_type, task_id):
    """Does this process do what is done once? ValueError where the cluster has no such place."""
    return _place(spec, task_type, task_id, 0)


def id_in_cluster(spec, task_type, task_id):
    """This process's number among chief and workers, the chief first; ValueError where it has none."""
    return _place(spec, task_type, task_id, 1)


def worker_count(spec, task_type):
    """How many processes train: chief and workers; of an evaluator: evaluators. ValueError for other jobs."""
    return _place(spec, task_type, None, 2)
