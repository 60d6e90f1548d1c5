# SPDX-License-Identifier: BSD-2-Clause
"""What the exporter answers, to whom, and how little others can take."""

import glob
import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import unittest

import exposition
import tap
from exporter_alone import ExporterAlone
from programs import program_path, write_configuration
from waiting import PrivateDirectory

GOLDEN = os.path.join(os.path.dirname(__file__), "families.golden")


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = ExporterAlone(http_timeout="1s")
        cls.message_id = cls.alone.message("a", "Q1", "u1@example.test")
        cls.alone.delivery("a", "Q1", "u1@example.test=250")
        cls.alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="delivered")

    @classmethod
    def tearDownClass(cls):
        cls.alone.__exit__(None)

    def assert_status(self, wanted, path, **more):
        status, headers, body = self.alone.request(path, **more)
        self.assertEqual(status, wanted, (path, body))
        return headers, body

    def test_paths_that_exist(self):
        for path, kind in (("/metrics", "text/plain; version=0.0.4; "
                            "charset=utf-8"),
                           ("/", "text/html; charset=utf-8"),
                           ("/-/healthy", "text/plain; charset=utf-8"),
                           ("/-/ready", "text/plain; charset=utf-8"),
                           ("/api/v1/messages/Q1", "application/json")):
            headers, body = self.assert_status(200, path)
            self.assertEqual(headers["Content-Type"], kind)
            self.assertTrue(body)

    def test_head_has_headers_and_no_body(self):
        for path in ("/metrics", "/api/v1/messages/Q1", "/"):
            headers, body = self.assert_status(200, path, method="HEAD")
            self.assertEqual(body, b"")
            self.assertGreater(int(headers["Content-Length"]), 0)

    def test_metrics_come_in_the_format_that_is_asked_for(self):
        for accept, wanted in (
                ("*/*", exposition.TEXT),
                (f"{exposition.OPENMETRICS};q=0.5, text/plain;q=0.4",
                 exposition.OPENMETRICS),
                (f"{exposition.PROTOBUF},*/*;q=0.1", exposition.PROTOBUF),
                ("application/json", exposition.TEXT)):
            for method in ("GET", "HEAD"):
                headers, body = self.assert_status(
                    200, "/metrics", method=method, headers={"Accept": accept})
                self.assertEqual(headers["Content-Type"], wanted)
                self.assertEqual(headers["Vary"], "Accept, Accept-Encoding")
                if method == "GET":
                    exposition.read(wanted, body)

    def test_gzip_is_for_those_who_ask(self):
        """And is the same answer."""
        for path in ("/metrics", "/api/v1/messages", "/api/v1/outcomes"):
            plain, body = self.assert_status(200, path)
            self.assertNotIn("Content-Encoding", plain)
            for method in ("GET", "HEAD"):
                headers, packed = self.assert_status(
                    200, path, method=method,
                    headers={"Accept-Encoding": "br, gzip;q=0.5"})
                self.assertEqual(headers["Content-Encoding"], "gzip")
                self.assertEqual(headers["Vary"], "Accept, Accept-Encoding"
                                 if path == "/metrics" else "Accept-Encoding")
                self.assertLess(int(headers["Content-Length"]), len(body))
                if method == "GET" and path != "/metrics":
                    self.assertEqual(gzip.decompress(packed), body)
            headers, _ = self.assert_status(
                200, path, headers={"Accept-Encoding": "gzip;q=0, *"})
            self.assertNotIn("Content-Encoding", headers)

    def test_the_page_may_load_from_here_only(self):
        _, page = self.assert_status(200, "/")
        assets = re.findall(rb'(?:src|href)="(/[^"]+)"', page)
        self.assertIn(b"/assets/page.js", assets)
        for path in ("/", "/assets/page.js", "/assets/page.css"):
            headers, body = self.assert_status(200, path)
            policy = headers["Content-Security-Policy"]
            self.assertTrue(policy.startswith("default-src 'none'; "))
            for word in ("unsafe", "*", "http"):
                self.assertNotIn(word, policy)
            self.assertNotIn("Content-Encoding", headers)
            known, nothing = self.assert_status(
                304, path, headers={"If-None-Match": headers["ETag"],
                                    "Accept-Encoding": "gzip"})
            self.assertEqual((known["ETag"], nothing), (headers["ETag"], b""))
            headers, packed = self.assert_status(
                200, path, headers={"Accept-Encoding": "gzip"})
            self.assertEqual(headers["Content-Encoding"], "gzip")
            self.assertEqual(gzip.decompress(packed), body)
        _, licences = self.assert_status(200, "/assets/licences.txt")
        self.assertIn(b"Permission is hereby granted", licences)
        self.assert_status(404, "/assets/")
        self.assert_status(404, "/assets/index.html")

    def test_the_page_is_small(self):
        total = sum(len(self.assert_status(
            200, path, headers={"Accept-Encoding": "gzip"})[1])
            for path in ("/", "/assets/page.js", "/assets/page.css"))
        self.assertLess(total, 60 << 10)

    def test_what_is_short_is_not_compressed(self):
        headers, body = self.assert_status(
            200, "/-/healthy", headers={"Accept-Encoding": "gzip"})
        self.assertNotIn("Content-Encoding", headers)
        self.assertEqual(body, b"healthy\n")

    def test_what_has_not_changed_is_not_sent_again(self):
        for path in ("/api/v1/latency?since=2026-01-01&step=1d&until=2026-02",
                     "/api/v1/outcomes?since=2026-01-01&step=1d&until=2026-02",
                     "/"):
            headers, body = self.assert_status(200, path)
            self.assertEqual(headers["Cache-Control"], "private, no-cache")
            for known in (headers["ETag"], headers["ETag"][2:],
                          f'"x", {headers["ETag"]}'):
                for more in ({}, {"Accept-Encoding": "gzip"}):
                    again, nothing = self.assert_status(
                        304, path, headers={"If-None-Match": known, **more})
                    self.assertEqual(nothing, b"")
                    self.assertEqual(again["ETag"], headers["ETag"])
            _, anew = self.assert_status(
                200, path, headers={"If-None-Match": 'W/"0123456789abcdef"'})
            self.assertEqual(anew, body)

    def test_what_has_addresses_is_not_kept(self):
        for path in ("/api/v1/messages", "/api/v1/messages/Q1"):
            headers, _ = self.assert_status(200, path)
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertNotIn("ETag", headers)

    def test_what_is_not_there_is_404(self):
        for path in ("/metric", "/metrics/", "//", "/api/v1/messages/",
                     "/api/v1/messages/nothing", "/-/", "/../etc/passwd"):
            self.assert_status(404, path)

    def test_other_methods_are_405_and_say_which_are_allowed(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "BREW"):
            headers, _ = self.assert_status(405, "/metrics", method=method,
                                            body="x")
            self.assertEqual(headers["Allow"], "GET, HEAD")

    def test_broken_escapes_are_400(self):
        for path in ("/metrics%", "/metrics%zz", "/api/v1/messages/%00",
                     "/api/v1/messages/a%0"):
            self.assert_status(400, path)

    def test_escapes_are_decoded(self):
        self.assert_status(200, "/%6Detrics")
        _, body = self.assert_status(
            200, "/api/v1/messages/%3Ca%40example.net%3E")
        self.assertEqual(json.loads(body)["messages"][0]["id"], self.message_id)

    def test_long_paths_are_414(self):
        self.assert_status(414, "/api/v1/messages/" + "a" * 1500)
        self.assert_status(414, "/" + "a" * 3000)

    def test_a_path_beyond_all_measure_is_refused(self):
        with socket.create_connection(("127.0.0.1", self.alone.port)) as s:
            try:
                s.sendall(b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n\r\n")
            except OSError:
                pass  # It may be done with us before we are.
            try:
                answer = s.recv(100)
            except ConnectionError:
                answer = b""
        self.assertTrue(answer == b"" or b" 414 " in answer
                        or b" 431 " in answer, answer)
        self.assert_status(200, "/-/healthy")

    def test_large_bodies_are_413(self):
        self.assert_status(413, "/metrics",
                           headers={"Content-Length": str(1 << 40)})

    def test_a_small_body_is_ignored(self):
        self.assert_status(200, "/metrics", body=b"x" * 100)

    def test_a_query_is_ignored(self):
        self.assert_status(200, "/metrics?x=y")

    def test_garbage_is_refused(self):
        for bytes_ in (b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"\r\n" * 100,
                       b"GET /metrics HTTP/9.9\r\n\r\n",
                       bytes(range(256)) + b"\r\n\r\n"):
            with socket.create_connection(
                    ("127.0.0.1", self.alone.port)) as s:
                s.sendall(bytes_)
                s.shutdown(socket.SHUT_WR)
                while s.recv(4096):
                    pass
        self.assert_status(200, "/-/healthy")

    def test_one_connection_serves_many_requests(self):
        with socket.create_connection(("127.0.0.1", self.alone.port)) as s:
            file = s.makefile("rb")
            for _ in range(20):
                s.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertIn(b"200", file.readline())
                while file.readline().strip():
                    pass
                self.assertEqual(file.readline(), b"healthy\n")

    def test_slow_and_silent_clients_keep_nobody_out(self):
        silent = [socket.create_connection(("127.0.0.1", self.alone.port))
                  for _ in range(200)]
        try:
            for i, s in enumerate(silent):
                s.sendall(b"GET /metrics HTTP/1.1\r\n"[:i % 24])
            self.assert_status(200, "/metrics")
        finally:
            for s in silent:
                s.close()

    def test_more_connections_than_the_limit_wait_for_their_turn(self):
        many = [socket.create_connection(("127.0.0.1", self.alone.port))
                for _ in range(600)]
        try:
            # The idle ones give way after their timeout at the latest.
            self.assert_status(200, "/metrics")
        finally:
            for s in many:
                s.close()

    def test_who_answers_gives_way_to_who_stores(self):
        """On a busy machine mail is read before questions are answered"""
        for _ in range(20):
            self.alone.request("/-/ready")
        seen = {"": set(), "MHD-worker": set()}
        for path in glob.glob(f"/proc/{self.alone.program.pid()}/task/*/stat"):
            with open(path, encoding="ascii") as stat:
                _, name, rest = re.split(r"[()]", stat.read())
            seen[name if name in seen else ""].add(int(rest.split()[16]))
        own, = seen[""]
        self.assertIn(min(own + 10, 19), seen["MHD-worker"])
        self.assertLessEqual(seen["MHD-worker"], {own, min(own + 10, 19)})

    def test_lookup_by_every_key(self):
        for key in (self.message_id, self.message_id.upper(), "Q1",
                    "%3Ca@example.net%3E", "a@example.net"):
            found = self.alone.messages(key)
            self.assertEqual([m["id"] for m in found], [self.message_id], key)
            self.assertEqual(found[0]["recipients"][0]["state"], "delivered")

    def test_case_70_promtool_accepts_the_metrics(self):
        _, _, body = self.alone.request("/metrics")
        done = subprocess.run(["promtool", "check", "metrics"], input=body,
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, b"", b""))

    def test_case_14_the_number_of_series_is_constant(self):
        before = set(self.alone.metrics().samples)
        for i in range(200):
            self.alone.message(f"s{i}", f"S{i}", f"user{i}@domain{i}.test")
        seen = self.alone.wait_for("postlag_messages_accepted_total", 201)
        self.assertEqual(set(seen.samples), before)


class Start(unittest.TestCase):
    def test_cases_11_15_a_fresh_start_shows_every_family_as_zero(self):
        with ExporterAlone() as alone:
            _, _, body = alone.request("/metrics")
            metrics = alone.metrics()
        lines = [line for line in body.decode().splitlines()
                 if line.startswith("# TYPE ") or (
                     not line.startswith("#") and "_bucket{" not in line)]
        lines = [line if line.startswith("#") else line.rpartition(" ")[0]
                 for line in lines]
        text = re.sub(r'version="[^"]*"', 'version="..."',
                      "\n".join(lines) + "\n")
        if os.environ.get("POSTLAG_ACCEPT"):
            with open(GOLDEN, "w", encoding="utf-8") as golden:
                golden.write(text)
        with open(GOLDEN, encoding="utf-8") as golden:
            self.assertEqual(text, golden.read())
        changing = {"postlag_build_info", "postlag_loss_detection",
                    "postlag_disk_available_bytes",
                    "postlag_store_files",
                    "postlag_store_bytes"}
        for (name, labels), value in metrics.samples.items():
            self.assertTrue(value == 0 or name in changing,
                            (name, labels, value))

    def test_it_listens_beyond_loopback_only_when_told_to(self):
        path = os.path.join(self.directory(), "postlag.conf")
        for listen, insecure, status in (
                ("inet:0.0.0.0:9154", "no", 1),
                ("inet:[::]:9154", "no", 1),
                ("inet:0.0.0.0:9154", "yes", 0),
                ("inet:127.0.0.1:9154", "no", 0),
                ("inet:[::1]:9154", "no", 0),
                ("unix:/run/x", "no", 0)):
            write_configuration(path, {"exporter": {
                "listen": listen, "insecure_listen": insecure}})
            done = subprocess.run(
                [program_path("postlag-exporter"), "-t", "-c", path],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status, (listen, done))

    def test_it_serves_on_a_unix_socket(self):
        with ExporterAlone(start=False) as alone:
            path = os.path.join(alone.directory, "http.sock")
            alone.program.configure(listen=f"unix:{path}")
            alone.program.start()
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(path)
                s.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
                self.assertIn(b"200 OK", s.recv(4096))

    def test_it_serves_on_an_inherited_socket(self):
        with ExporterAlone(start=False) as alone:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                alone.program.start(sockets=[listener])
                alone.port = listener.getsockname()[1]
                self.assertEqual(alone.request("/-/healthy")[0], 200)

    def test_a_missing_journal_directory_is_an_error_that_names_it(self):
        with ExporterAlone(start=False) as alone:
            shutil.rmtree(alone.journal)
            alone.program.start(wait=False)
            self.assertEqual(alone.program.wait(), 1)
            self.assertIn(alone.journal, alone.program.log())

    def directory(self):
        private = PrivateDirectory()
        self.addCleanup(private.remove)
        return private.path


tap.main()
