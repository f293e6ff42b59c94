"""Clusters of workers and parameter servers on the loopback: processes that one which has imported leat forks."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile

import leat as tf

# Each line names a task; its process is forked, and its number printed when it serves.
NURSERY = '''
import json, os, signal, sys
import leat as tf
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
spec = json.loads(sys.argv[1])
for line in iter(sys.stdin.readline, ""):
    job, index = json.loads(line)
    if os.fork() == 0:
        server = tf.distribute.Server(spec, job, index)
        print(os.getpid(), flush=True)
        server.join()
'''


def _ports(count):
    """Free ports, all of which were open at the same time."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Cluster:
    """The processes of a cluster; those in `without` are not started."""

    def __init__(self, workers=2, servers=1, without=()):
        ports = iter(_ports(workers + servers))
        self.spec = {job: [f"localhost:{next(ports)}" for _ in range(count)]
                     for job, count in (("worker", workers), ("ps", servers))}
        self._errors = tempfile.TemporaryFile("w+")
        self._nursery = subprocess.Popen([sys.executable, "-c", NURSERY, json.dumps(self.spec)], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        self._processes = {}
        for job, addresses in self.spec.items():
            for index in range(len(addresses)):
                if (job, index) not in without:
                    self.launch(job, index)

    def launch(self, job, index):
        """Starts a task's process; returns when it serves."""
        print(json.dumps([job, index]), file=self._nursery.stdin, flush=True)
        self._processes[job, index] = int(self._nursery.stdout.readline())

    def kill(self, job, index):
        """As kill -9."""
        os.kill(self._processes.pop((job, index)), signal.SIGKILL)

    def printed(self):
        """What its tasks have written to sys.stderr."""
        self._errors.seek(0)
        return self._errors.read()

    def alive(self):
        """The jobs, with the tasks that were not killed."""
        return {job: [address for index, address in enumerate(addresses) if (job, index) in self._processes]
                for job, addresses in self.spec.items()}

    def resolver(self):
        """What says where it is."""
        return tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(self.spec), rpc_layer="grpc")

    def strategy(self, partitioner=None):
        """A strategy that joins it."""
        return tf.distribute.ParameterServerStrategy(self.resolver(), variable_partitioner=partitioner)

    def stop(self):
        """Ends all of it."""
        for task in list(self._processes):
            self.kill(*task)
        self._nursery.kill()
        self._nursery.communicate()
