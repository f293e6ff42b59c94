#!/usr/bin/env python3
"""leat service: how its processes begin, what they say, who may connect, and how they end."""
import socket
import unittest

from service import LEAT, ServiceTest, TOKEN, json, os, re, signal, subprocess, until
from tool import BUILD


class ServingTest(ServiceTest):
    def test_reading(self):
        """Two workers; one client reads everything, and the tables know of all of them."""
        dispatcher, workers = self.service()
        reader = self.reader(dispatcher.address).paused()
        state = self.state(dispatcher.address)
        self.assertEqual({worker["address"] for worker in state["workers"]}, {worker.address for worker in workers})
        self.assertEqual({worker["state"] for worker in state["workers"]}, {"ready"})
        self.assertEqual([(job["policy"], job["visitation"], job["clients"]) for job in state["jobs"]],
                         [("dynamic", "at_most_once", 1)])
        until(lambda: self.state(dispatcher.address)["clients"][0]["transfers"] == {"shm": 2}, "it says by which way it reads")
        text = self.succeed("service", "status", "--dispatcher", dispatcher.address)
        for word in ("WORKER", "JOB", "CLIENT", "STREAMS", "2 shm", "ready", "dynamic", *(worker.address for worker in workers)):
            self.assert_named(word, text)
        self.assert_whole(reader.rest())
        for process in (*workers, dispatcher):
            process.signal(signal.SIGTERM)
            self.assert_ends(process, 0)

    def test_what_is_said(self):
        """Where it listens, who may connect, and where its state is."""
        dispatcher = self.dispatcher("--work-dir", self.folder, "--fault-tolerant")
        dispatcher.line("loopback.*anybody.*token")
        dispatcher.line("state in .*fault tolerant")
        worker = self.worker(dispatcher.address)
        worker.line("loopback")
        self.assertRegex(worker.address, r"^(127\.0\.0\.1|\[::1\]):\d+$")
        open_one = self.dispatcher("--host", "all")
        open_one.line("every interface: anybody")
        open_one.line("in memory")
        open_one.signal(signal.SIGTERM)
        self.assert_named("strangers", open_one.end()[1])
        guarded = self.dispatcher(env={"LEAT_SERVICE_TOKEN": TOKEN})
        guarded.line("every interface: who has the token")
        guarded.signal(signal.SIGTERM)
        said = guarded.end()[1]
        self.assert_named("clear", said)
        self.assertNotIn(TOKEN, said + "".join(guarded.said))

    def test_not_there(self):
        done = self.fail_with(1, "localhost:1", "service", "status", "--dispatcher", "localhost:1", "--timeout", "2")
        self.assert_named("running", done.stderr)
        self.fail_with(1, "localhost:1", "service", "drain", "--dispatcher", "localhost:1", "--all")
        self.fail_with(1, "localhost:1", "service", "worker", "--dispatcher", "localhost:1", "--dispatcher-timeout", "0.5")
        self.fail_with(2, "LEAT_SERVICE_ADDRESS", "service", "status")
        self.fail_with(2, "neither", "service", "drain", "--dispatcher", "localhost:1")
        self.fail_with(2, "both", "service", "drain", "--dispatcher", "localhost:1", "--all", "x")

    def test_ready(self):
        """The exit status says whether enough workers are there."""
        dispatcher = self.dispatcher()
        where = ("service", "status", "--dispatcher", dispatcher.address, "--ready")
        self.assertEqual(self.leat(*where).returncode, 1)
        self.assertEqual(self.succeed(*where, "--workers", "0"), "ready: 0 of 0 workers\n")
        waiting = self.start(*where, "--workers", "2", "--wait", "100")
        self.worker(dispatcher.address)
        self.assertIsNone(waiting.process.poll())
        self.worker(dispatcher.address)
        self.assert_ends(waiting, 0)
        self.assertEqual("".join(waiting.said), "ready: 2 of 2 workers\n")
        self.assertEqual(self.leat(*where, "--workers", "3", "--wait", "0.3").stdout, "not ready: 2 of 3 workers\n")

    def test_watch(self):
        """It goes on while the dispatcher is away."""
        dispatcher = self.dispatcher()
        port = dispatcher.address.partition(":")[2]
        watching = self.start("service", "status", "--dispatcher", dispatcher.address, "--watch", "--interval", "0.05", "--json",
                              "--timeout", "1")
        watching.line('"incarnation"')
        dispatcher.kill()
        until(lambda: watching.failed, "it says that nobody answers")
        again = self.dispatcher("--port", port)
        self.worker(again.address)
        watching.line('"ready"')
        watching.signal(signal.SIGINT)
        status, said = watching.end()
        self.assertEqual(status, 130)
        self.assert_named(dispatcher.address, said)
        self.assertEqual(self.succeed("service", "status", "--dispatcher", again.address, "--watch", "--count", "3", "--interval",
                                      "0.01", "--ready").splitlines(), ["ready: 1 of 1 workers"] * 3)

    def test_names_of_strangers(self):
        """What others say cannot steer a terminal."""
        dispatcher = self.dispatcher()
        self.worker(dispatcher.address, "--tags", "a\x1b[2J\u0085b\u00e9")
        text = self.succeed("service", "status", "--dispatcher", dispatcher.address)
        self.assertIn("a?[2J?b\u00e9", text)
        self.assertNotIn("\x1b", text)

    def test_ports(self):
        dispatcher = self.dispatcher()
        port = dispatcher.address.partition(":")[2]
        self.fail_with(1, port, "service", "dispatcher", "--port", port)
        self.fail_with(1, port, "service", "worker", "--dispatcher", dispatcher.address, "--port", port)
        self.assertEqual(self.state(dispatcher.address)["workers"], [])

    def test_announced_address(self):
        dispatcher = self.dispatcher()
        worker = self.worker(dispatcher.address, "--address", "localhost:%port%")
        self.assertRegex(worker.address, r"^localhost:\d+$")
        self.assertEqual(self.workers_of(dispatcher.address), {worker.address: "ready"})
        self.assert_whole(self.reader(dispatcher.address, pause=0).rest())


class EndingTest(ServiceTest):
    def test_interrupt(self):
        """Ctrl-C ends each of them with 130, whatever it does."""
        dispatcher, (worker,) = self.service(1)
        waiting = self.start("service", "worker", "--dispatcher", "localhost:1")
        watching = self.start("service", "status", "--dispatcher", dispatcher.address, "--watch")
        watching.line("WORKER")
        reader = self.reader(dispatcher.address).paused()
        draining = self.start("service", "drain", "--dispatcher", dispatcher.address, worker.address)
        until(lambda: self.workers_of(dispatcher.address)[worker.address] == "draining", "it drains")
        until(lambda: "SigCgt" in open("/proc/%d/status" % waiting.pid).read() and self.blocks_interrupts(waiting.pid), "it waits")
        for process in (draining, watching, waiting, worker, dispatcher):
            process.signal(signal.SIGINT)
            self.assertEqual(process.end()[0], 130, process.said)
        reader.kill()

    @staticmethod
    def blocks_interrupts(pid):
        """Its signals are waited for by a thread."""
        with open("/proc/%d/status" % pid) as file:
            return int(re.search(r"(?m)^SigBlk:\s*(\w+)$", file.read())[1], 16) >> (signal.SIGINT - 1) & 1

    def test_twice(self):
        """The second signal does not wait for what is being given."""
        dispatcher, (worker,) = self.service(1)
        reader = self.reader(dispatcher.address, count=3000000).paused()
        worker.signal(signal.SIGTERM)
        until(lambda: self.workers_of(dispatcher.address)[worker.address] == "draining", "it drains")
        worker.signal(signal.SIGTERM)
        self.assert_ends(worker, 130, "once")
        reader.kill()

    def test_drain_has_a_limit(self):
        """A client that takes nothing does not keep a worker: it ends, and says that it had more."""
        dispatcher = self.dispatcher()
        worker = self.worker(dispatcher.address, "--drain-timeout", "0.2")
        reader = self.reader(dispatcher.address, count=3000000).paused()
        worker.signal(signal.SIGTERM)
        self.assert_ends(worker, 1, "drain")
        reader.kill()

    def test_drain_by_the_dispatcher(self):
        dispatcher, workers = self.service(3)
        where = ("--dispatcher", dispatcher.address)
        self.succeed("service", "drain", *where, workers[0].address)
        self.assert_ends(workers[0], 0)
        self.fail_with(1, "127.0.0.1:1", "service", "drain", *where, "127.0.0.1:1")
        self.succeed("service", "drain", *where, "--all")
        for worker in workers[1:]:
            self.assert_ends(worker, 0)
        self.assertEqual(set(self.workers_of(dispatcher.address).values()), {"stopped"})

    def test_stop_by_pid_file(self):
        files = [os.path.join(self.folder, name) for name in ("dispatcher.pid", "worker.pid")]
        dispatcher = self.dispatcher("--pid-file", files[0])
        worker = self.worker(dispatcher.address, "--pid-file", files[1])
        with open(files[1]) as file:
            self.assertEqual(int(file.read()), worker.pid)
        self.fail_with(1, files[0], "service", "dispatcher", "--pid-file", files[0])
        for path, process in zip(reversed(files), (worker, dispatcher)):
            self.succeed("service", "stop", path)
            self.assert_ends(process, 0)
            self.assertFalse(os.path.exists(path))
            self.fail_with(1, path, "service", "stop", path)

    def test_stop_of_nobody(self):
        """A file that a killed process left, and one that is none of ours."""
        path = os.path.join(self.folder, "pid")
        dispatcher = self.dispatcher("--pid-file", path)
        dispatcher.kill()
        self.assertEqual(dispatcher.process.returncode, -signal.SIGKILL)
        self.fail_with(1, "ended", "service", "stop", path)
        again = self.dispatcher("--pid-file", path)
        again.signal(signal.SIGSTOP)
        self.fail_with(1, "--kill", "service", "stop", path, "--timeout", "0.1")
        self.fail_with(1, "killed", "service", "stop", path, "--timeout", "0.1", "--kill")
        self.assertEqual(again.end()[0], -signal.SIGKILL)


class AccessTest(ServiceTest):
    def test_token(self):
        good, bad = self.write("token", TOKEN + "\nmore\n"), self.write("other", "another-token-of-a-stranger")
        dispatcher = self.dispatcher("--token-file", good, "--host", "localhost")
        worker = self.worker(dispatcher.address, "--token-file", good, "--host", "localhost")
        where = ("service", "status", "--dispatcher", dispatcher.address)
        self.succeed(*where, "--token-file", good)
        for wrong in (("--token-file", bad), ()):
            done = self.leat(*where, *wrong)
            self.assertEqual(done.returncode, 1)
            self.assert_named("token", done.stderr)
            self.fail_with(1, "token", "service", "drain", "--dispatcher", dispatcher.address, "--all", *wrong)
        self.fail_with(1, "token", "service", "worker", "--dispatcher", dispatcher.address, "--token-file", bad,
                       "--dispatcher-timeout", "5")
        self.assert_whole(self.reader(dispatcher.address, pause=0, env={"LEAT_SERVICE_TOKEN": TOKEN}).rest())
        refused, said = self.reader(dispatcher.address, pause=0, env={"LEAT_SERVICE_TOKEN": "x" * 20}).rest()
        self.assertIn(refused["code"], ("UNAUTHENTICATED", "PERMISSION_DENIED"), said)
        warned = self.leat(*where, "--token", TOKEN)
        self.assertEqual(warned.returncode, 0)
        self.assert_named("LEAT_SERVICE_TOKEN", warned.stderr)
        self.assertEqual(self.workers_of_with(dispatcher, "--token-file", good), {worker.address: "ready"})

    def workers_of_with(self, dispatcher, *options):
        return {worker["address"]: worker["state"] for worker in self.state(dispatcher.address, *options)["workers"]}

    def test_tokens_that_are_none(self):
        """One that is guessed, and one that no header of gRPC carries."""
        for token in ("fifteen letters", "\u00e9" * 20, "tabulator\tinside it"):
            self.fail_with(1, "LEAT_SERVICE_TOKEN", "service", "dispatcher", "--token-file", self.write("token", token))
            self.fail_with(1, "LEAT_SERVICE_TOKEN", "service", "worker", "--dispatcher", "localhost:1", "--token-file",
                           os.path.join(self.folder, "token"))

    def test_token_files(self):
        where = ("service", "status", "--dispatcher", "localhost:1")
        self.fail_with(1, "/nowhere/token", *where, "--token-file", "/nowhere/token")
        empty = self.write("empty", "\nsecond line\n")
        self.fail_with(1, empty, *where, "--token-file", empty)
        self.fail_with(1, "enough", *where, "--token-file", empty, "--token", "x" * 20)

    def test_tls(self):
        files = self.certificates()
        server = ("--tls-cert", files["cert"], "--tls-key", files["key"])
        dispatcher = self.dispatcher(*server, "--host", "localhost")
        where = ("service", "status", "--dispatcher", dispatcher.address, "--timeout", "5")
        self.assertEqual(self.leat(*where, "--tls-ca", files["ca"], "--workers", "0").returncode, 0)
        self.assertEqual(self.leat(*where).returncode, 1)
        plain = self.dispatcher()
        self.assertEqual(self.leat("service", "status", "--dispatcher", plain.address, "--timeout", "5", "--tls-ca",
                                   files["ca"]).returncode, 1)
        self.fail_with(1, "/nowhere/key", "service", "dispatcher", "--tls-cert", files["cert"], "--tls-key", "/nowhere/key")

    def test_mutual_tls(self):
        files = self.certificates()
        own = ("--tls-cert", files["cert"], "--tls-key", files["key"], "--tls-ca", files["ca"])
        dispatcher = self.dispatcher(*own, "--host", "localhost")
        self.worker(dispatcher.address, *own, "--host", "localhost", "--transfer-protocol", "tcp")
        where = ("service", "status", "--dispatcher", dispatcher.address, "--timeout", "5")
        self.assertEqual(self.leat(*where, *own).returncode, 0)
        self.assertEqual(self.leat(*where, "--tls-ca", files["ca"]).returncode, 1)
        member = {"LEAT_SERVICE_TLS_CERT": files["cert"], "LEAT_SERVICE_TLS_KEY": files["key"],
                  "LEAT_SERVICE_TLS_CA": files["ca"]}
        self.assert_whole(self.reader(dispatcher.address, pause=0, env=member).rest())
        # Past gRPC by the same files, also where nothing else is allowed.
        read, said = self.reader(dispatcher.address, pause=0, env={
            **member, "READER_TRANSFER": "tcp", "LEAT_LOG": "info:service"}).rest()
        self.assert_whole((read, said))
        self.assert_named("read by tcp", said)


class PagesTest(ServiceTest):
    def reached(self, port):
        """By another address than the loopback's own, as from another machine?"""
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.2", int(port))) == 0

    def pages(self, *access, **more):
        """Is the page of a dispatcher reached, and that of its worker? And the dispatcher, which has said so."""
        dispatcher = self.dispatcher("--web-port", "0", *access, **more)
        ports = [dispatcher.line(r"page, probes and metrics at https?://localhost:(\d+)/$")[1]]
        worker = self.worker(dispatcher.address, "--web-port", "0", *access, **more)
        ports.append(worker.line(r"probes and metrics at https?://localhost:(\d+)/$")[1])
        return [self.reached(port) for port in ports], self.reached(dispatcher.address.partition(":")[2]), dispatcher

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "tests", "web_serve")), "this build has no libmicrohttpd")
    def test_who_reaches_a_page(self):
        """It asks for the token and for no certificate."""
        files = self.certificates()
        mutual = ("--tls-cert", files["cert"], "--tls-key", files["key"], "--tls-ca", files["ca"])
        self.assertEqual(self.pages()[:2], ([False, False], False))
        self.assertEqual(self.pages(env={"LEAT_SERVICE_TOKEN": TOKEN})[:2], ([True, True], True))
        pages, served, dispatcher = self.pages(*mutual)
        self.assertEqual((pages, served), ([False, False], True))
        dispatcher.line("loopback.*no certificate")
        pages, served, dispatcher = self.pages(*mutual, "--host", "all")
        self.assertEqual((pages, served), ([True, True], True))
        until(lambda: any("no certificate" in line for line in dispatcher.failed), "it warns")

    def test_every_option_is_in_the_guide(self):
        """docs/SERVICE.md names each option of each part."""
        with open("docs/SERVICE.md") as file:
            rows = dict(re.findall(r"(?m)^\| `leat service (\w+)[^|]*` \| (.*) \|$", file.read()))
        for part, text in rows.items():
            options = set(re.findall(r"(?m)^  (?:-\w, |    )(--[\w-]+)", self.succeed("help", "service", part)))
            shared = {"--help", "--dispatcher", "--token-file", "--token", "--tls-cert", "--tls-key", "--tls-ca"}
            self.assertEqual(set(re.findall(r"--[\w-]+", text)) | shared & options, options, part)
        self.assertEqual(set(rows), {"dispatcher", "worker", "status", "drain", "stop"})

    def test_commands_of_engines(self):
        """The tool takes the options that deploy/kubernetes gives it."""
        found = 0
        for name in ("dispatcher", "workers"):
            with open("deploy/kubernetes/%s.yaml" % name) as file:
                for text in re.findall(r"args: (\[[^\]]*\])", file.read()):
                    done = subprocess.run([LEAT, *json.loads(text), "--help"], capture_output=True, text=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    found += 1
        self.assertEqual(found, 2)


if __name__ == "__main__":
    unittest.main()
