# SPDX-License-Identifier: BSD-2-Clause
"""Runs the tests of one built variant and says what happened.

    python3 tests/run.py [--variant V] [--long] [--jobs N] [FILE or PART...]

Unit programs and fuzz replays from build/V, lints from tests/lint, Python tests
from tests/<layer> and tests/e2e. Each file runs by itself, under a supervisor
that lets nothing outlive it, with a temporary directory of its own. The last
line is `N passed, N failed`; the exit status is 1 if anything failed.
"""

import argparse
import concurrent.futures
import glob
import itertools
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUPERVISE = os.path.join(ROOT, "tests/lib/supervise.py")
TMPFS_BYTES_WANTED = 2 << 30
# How much longer than the release a variant may take: what only computes takes
# twice as long with asan, four to six times with tsan.
SLOWER = {"release": 1, "asan": 3, "tsan": 6}


class Job:
    """One test file: how to run it and, afterwards, what came of it."""

    def __init__(self, name, command, seconds, must_plan=True):
        self.name = name
        self.command = command
        self.timeout = seconds
        self.must_plan = must_plan
        self.passed = self.skipped = 0
        self.failures = []  # (name, [diagnostic line...])
        self.seconds = 0.0
        self.log = None

    def fail(self, name, diagnostics=()):
        self.failures.append((name, list(diagnostics)))


def executable(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)


def sources(pattern):
    """Names below tests/ of the C files there are, without .c."""
    return sorted(os.path.relpath(path, "tests").removesuffix(".c")
                  for path in glob.glob(f"tests/{pattern}"))


def unit_jobs(build, long):
    for name in sources("*/test_*.c"):
        yield Job(name, [f"{build}/tests/{name}"], 3600 if long else 120)


def fuzz_jobs(build):
    for name in sources("fuzz/*/fuzz_*.c"):
        stem = os.path.basename(name).removeprefix("fuzz_")
        corpus = sorted(glob.glob(f"tests/fuzz/corpus/{stem}/*"))
        yield Job(name, [f"{build}/tests/{name}"] + corpus, 300,
                  must_plan=False)


def lint_jobs():
    for path in sorted(glob.glob("tests/lint/*")):
        if executable(path):
            yield Job(os.path.relpath(path, "tests"), [path], 120,
                      must_plan=False)


def python_jobs(long):
    paths = sorted(glob.glob("tests/*/test_*.py"))
    for path in sorted(paths, key=lambda p: not p.startswith("tests/e2e/")):
        yield Job(os.path.relpath(path, "tests").removesuffix(".py"),
                  [sys.executable, path], 3600 if long else 400)


def all_jobs(arguments):
    build = f"build/{arguments.variant}"
    jobs = [*python_jobs(arguments.long), *unit_jobs(build, arguments.long),
            *fuzz_jobs(build), *lint_jobs()]
    for job in jobs:
        job.timeout *= SLOWER[arguments.variant]
    return jobs


def chosen(jobs, wanted):
    """Jobs named by the arguments: paths or parts of names."""
    parts = []
    for want in wanted:
        path = os.path.relpath(want, os.path.join(ROOT, "tests"))
        known = os.path.exists(want) and not path.startswith("..")
        parts.append(re.sub(r"\.(py|c)$", "", path if known else want))
    return [job for job in jobs
            if not parts or any(part in job.name for part in parts)]


class Tap:
    """What a program's TAP output says; several plans add up."""

    def __init__(self, lines):
        self.passed = self.skipped = 0
        self.planned = None
        self.failures = []
        self._comments = []
        for line in lines:
            self._take(line)
        if self.failures:
            self.failures[-1][1].extend(self._comments)

    def _take(self, line):
        plan = re.match(r"\s*1\.\.(\d+)\s*(#.*)?$", line)
        result = re.match(r"\s*(not )?ok\b\s*\d*\s*-?\s*(.*)", line)
        if plan:
            self.planned = (self.planned or 0) + int(plan[1])
        elif result:
            self._result(result[1] is not None, result[2])
        elif line.lstrip().startswith("#"):
            self._comments.append(line.strip())

    def _result(self, failed, name):
        # Comments belong to the failure they follow; those of cmocka may
        # also stand in front of it.
        if self.failures and not self.failures[-1][1]:
            self.failures[-1][1].extend(self._comments)
            self._comments = []
        # cmocka says `not ok N # SKIP` of a test that skips itself.
        if re.search(r"# SKIP\b", name, re.IGNORECASE):
            self.skipped += 1
        elif failed:
            self.failures.append((name, self._comments))
        else:
            self.passed += 1
        self._comments = []

    @property
    def seen(self):
        return self.passed + self.skipped + len(self.failures)


def judge(job, lines, report):
    """Fills in the job's results from its output and the supervisor's word."""
    tap = Tap(lines)
    job.passed, job.skipped = tap.passed, tap.skipped
    job.failures = tap.failures
    status = report["status"]
    tail = lines[-15:]
    if report["timed_out"]:
        job.fail(f"still running after {job.timeout} s", tail)
    elif status < 0:
        job.fail(f"killed by signal {-status}", tail)
    elif status > 0 and not tap.failures:
        job.fail(f"exit status {status}", tail)
    elif tap.planned is None and job.must_plan:
        job.fail("no TAP plan", tail)
    elif tap.planned is not None and tap.planned != tap.seen:
        job.fail(f"planned {tap.planned}, ran {tap.seen}", tail)
    elif tap.planned is None and not job.failures:
        job.passed += 1
    for process in report["left"]:
        job.fail(f"left running: {process}")


class Runner:
    def __init__(self, arguments):
        self.variant = arguments.variant
        self.long = arguments.long
        self.logs = os.path.join(ROOT, "build", self.variant, "log")
        self.print_lock = threading.Lock()
        self.base = private_directory()
        self.families = os.path.join(self.base, "families")
        os.mkdir(self.families)
        self.supervisors = set()
        self.numbers = itertools.count(1)

    def environment(self, directory):
        environment = dict(os.environ)
        sanitizer = f"log_path={directory}/sanitizer/report"
        environment.update({
            "TMPDIR": f"{directory}/tmp",
            "PYTHONPATH": os.path.join(ROOT, "tests/lib"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "POSTLAG_BUILD": os.path.join(ROOT, "build", self.variant),
            "CMOCKA_MESSAGE_OUTPUT": "TAP",
            "POSTLAG_FAMILIES_SEEN": self.families,
            "ASAN_OPTIONS": f"{sanitizer}:detect_stack_use_after_return=1",
            "UBSAN_OPTIONS": f"{sanitizer}:print_stacktrace=1",
            "TSAN_OPTIONS": f"{sanitizer}:second_deadlock_stack=1"
                            f":suppressions={ROOT}/tests/tsan.suppressions",
        })
        environment.pop("POSTLAG_LONG", None)
        if self.long:
            environment["POSTLAG_LONG"] = "1"
        return environment

    def directories(self):
        """A short path: names of unix sockets have little room."""
        directory = os.path.join(self.base, str(next(self.numbers)))
        os.mkdir(directory)
        os.mkdir(f"{directory}/tmp")
        # Daemons write their reports as users of their own.
        os.mkdir(f"{directory}/sanitizer")
        os.chmod(f"{directory}/sanitizer", 0o1777)
        return directory

    def execute(self, job, directory):
        """Runs the job; returns its output's lines and the report."""
        report = f"{directory}/report"
        command = [sys.executable, SUPERVISE, str(job.timeout), report]
        if self.variant == "tsan":
            command += ["setarch", "-R"]
        with open(job.log, "wb") as log:
            supervisor = subprocess.Popen(
                command + job.command, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd=ROOT, env=self.environment(directory),
                start_new_session=True)
        self.supervisors.add(supervisor)
        supervisor.wait()
        self.supervisors.discard(supervisor)
        with open(job.log, errors="replace") as log:
            lines = log.read().splitlines()
        try:
            with open(report) as file:
                return lines, json.load(file)
        except (OSError, ValueError):
            return lines, {"status": 1, "timed_out": False, "left": []}

    def sanitizer_reports(self, job, directory):
        for path in sorted(glob.glob(f"{directory}/sanitizer/*")):
            with open(path, errors="replace") as file:
                text = file.read()
            with open(job.log, "a") as log:
                log.write(f"\n# {os.path.basename(path)}\n{text}")
            job.fail("sanitizer report", text.splitlines()[:25])

    def run(self, job):
        started = time.monotonic()
        job.log = os.path.join(self.logs, job.name.replace("/", ".") + ".log")
        directory = self.directories()
        lines, report = self.execute(job, directory)
        judge(job, lines, report)
        self.sanitizer_reports(job, directory)
        for path in unmount_below(directory):
            job.fail(f"left mounted: {path}")
        shutil.rmtree(directory, ignore_errors=True)
        job.seconds = time.monotonic() - started
        with self.print_lock:
            print_job(job)

    def families_never_seen(self):
        """Metrics that were 0 in all tests (case 4)."""
        with open("tests/exporter/families.golden") as golden:
            families = {line.split()[2] for line in golden
                        if line.startswith("# TYPE ")}
        return sorted(families - set(os.listdir(self.families)))

    def run_all(self, jobs, parallel):
        shutil.rmtree(self.logs, ignore_errors=True)
        os.makedirs(self.logs)
        with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
            futures = [pool.submit(self.run, job) for job in jobs]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for supervisor in list(self.supervisors):
                    supervisor.terminate()
                raise


def print_job(job):
    failed = len(job.failures)
    skipped = f", {job.skipped} skipped" if job.skipped else ""
    print(f"{'FAIL' if failed else 'ok  '} {job.name:<36} "
          f"{job.passed:4d} passed, {failed} failed{skipped}, "
          f"{job.seconds:.1f} s", flush=True)
    for name, diagnostics in job.failures:
        print(f"     not ok: {name}")
        for line in diagnostics[:40]:
            print(f"         {line}")
    if failed:
        print(f"     log: {os.path.relpath(job.log, ROOT)}", flush=True)


def private_directory():
    """In memory where there is room and programs may run from there; every
    user may enter."""
    parent = os.environ.get("TMPDIR")
    try:
        room = os.statvfs("/dev/shm")
        if not parent and not room.f_flag & os.ST_NOEXEC \
                and room.f_bavail * room.f_frsize > TMPFS_BYTES_WANTED:
            parent = "/dev/shm"
    except OSError:
        pass
    directory = tempfile.mkdtemp(prefix="postlag-", dir=parent)
    os.chmod(directory, stat.S_IRWXU | 0o055)
    return directory


def unmount_below(directory):
    with open("/proc/self/mounts") as mounts:
        paths = [line.split()[1] for line in mounts]
    found = [path for path in paths if path.startswith(directory + "/")]
    for path in reversed(found):
        subprocess.run(["umount", "-l", path])
    return found


def work_tree():
    """git's word on what differs from the commit; None without git."""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT,
                          capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variant", default="release")
    parser.add_argument("--long", action="store_true")
    # Most tests wait most of the time; but each has a tree of its own.
    parser.add_argument("--jobs", type=int,
                        default=min(os.cpu_count() + 1, 8))
    parser.add_argument("tests", nargs="*")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    jobs = chosen(all_jobs(arguments), arguments.tests)
    before = work_tree()
    runner = Runner(arguments)
    never_seen = []
    try:
        runner.run_all(jobs, arguments.jobs)
        if not arguments.tests:
            never_seen = runner.families_never_seen()
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(runner.base, ignore_errors=True)
    passed = sum(job.passed for job in jobs)
    failed = sum(len(job.failures) for job in jobs)
    if never_seen and not failed:
        print("FAIL 0 in every test (case 4):", *never_seen)
        failed += 1
    if work_tree() != before:
        print("FAIL the tests changed the work tree:", work_tree(), sep="\n")
        failed += 1
    if not jobs:
        print("FAIL nothing to run")
        failed += 1
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
