"""Roles of a job that are started one by one, as on several machines: with the variables that jobs of the framework
are started with, or with flags. What contradicts itself is refused with both sides of it.

    by_hand.py TOOL_FOLDER CORPUS JOB.mlir CASE
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from train_case import compare_losses, compare_parameters, fail, scalar  # noqa: E402

TOKEN = "0123456789abcdef0123456789abcdef"
OTHER_TOKEN = "f" * 32
DONE, WRONG, FAILED = 0, 1, 4


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Job:
    """Two trainers and two servers, ports of their own, a folder."""

    def __init__(self, tools, corpus, text, case, work):
        self.tool = os.path.join(tools, "dtranspile")
        self.case = os.path.join(corpus, case)
        self.work = work
        self.path = os.path.join(work, "job.mlir")
        with open(self.path, "w") as f:
            f.write(text)
        self.ports = free_ports(2)
        self.endpoints = ["127.0.0.1:%d" % port for port in self.ports]
        self.token_file = os.path.join(work, "token")
        with open(self.token_file, "w") as f:
            f.write(TOKEN + "\n")
        os.chmod(self.token_file, 0o600)
        self.started = []

    def variables(self, role, rank, **changes):
        """What a cluster sets for one process."""
        found = {
            "TRAINING_ROLE": role,
            "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(self.endpoints),
            "PADDLE_TRAINERS_NUM": "2",
            "DTRANSPILE_TOKEN": TOKEN,
        }
        if role == "PSERVER":
            found.update(POD_IP="127.0.0.1", PADDLE_PORT=str(self.ports[rank]))
        else:
            found.update(PADDLE_TRAINER_ID=str(rank))
        found.update(changes)
        return {name: value for name, value in found.items() if value is not None}

    def words(self, *more, timeout=20):
        cache = os.path.join(self.work, "cache")
        return [self.tool, "run", self.path, "--cache", cache, "--timeout", str(timeout), *more]

    def inputs(self):
        return ["--feeds", os.path.join(self.case, "feeds"), "--init", os.path.join(self.case, "init")]

    def start(self, words, environment):
        process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=dict(os.environ, **environment),
        )
        self.started.append(process)
        return process

    def finish(self, what, expected, process, *fragments, seconds=60):
        text = process.communicate(timeout=seconds)[0]
        if process.returncode != expected or any(each not in text for each in fragments):
            # What the others say of it.
            for other in self.started:
                if other is not process and not other.stdout.closed:
                    other.kill()
                    text += "\n" + other.communicate()[0]
        if process.returncode != expected or any(each not in text for each in fragments):
            fail(
                "%s: exit status %d, expected %d and %s in\n%s"
                % (what, process.returncode, expected, fragments, text)
            )
        return text

    def refuse(self, words, environment, *fragments):
        process = self.start(self.words(*self.inputs(), *words), environment)
        self.finish("%s %s" % (words, environment), WRONG, process, *fragments)

    def end(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def check_free(self, what):
        for port in self.ports:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    fail("%s: port %d is still taken: %s" % (what, port, error))


def check_training(job):
    """One trainer by variables, the other by flags; a server that comes late. The mean of their losses is that of the
    whole batch."""
    init = ["--init", os.path.join(job.case, "init")]
    with open(os.path.join(job.case, "case.json")) as f:
        loss = json.load(f)["loss"]
    with open(os.path.join(job.case, "golden.json")) as f:
        golden = json.load(f)[loss]
    reports = [os.path.join(job.work, "report%d.json" % rank) for rank in range(2)]
    flags = ["--role", "trainer", "--rank", "1", "--pservers", ",".join(job.endpoints)]
    flags += ["--token-file", job.token_file, "--trainers", "2", "--role-threads", "trainer=1"]
    processes = [
        job.start(job.words(*init), job.variables("PSERVER", 1)),
        job.start(job.words(*job.inputs(), "--report", reports[0]), job.variables("TRAINER", 0)),
        # Flags win: the variables are those of another process.
        job.start(job.words(*job.inputs(), *flags, "--report", reports[1]), job.variables("TRAINER", 0)),
    ]
    time.sleep(1.5)
    processes.append(job.start(job.words(*init), job.variables("PSERVER", 0)))
    for process in processes:
        job.finish("training", DONE, process)
    losses = []
    for path in reports:
        with open(path) as f:
            report = json.load(f)
        if len(report["ranks"]) != 1:
            fail("%s: a process of its own reports %d ranks" % (path, len(report["ranks"])))
        losses.append([scalar(value) for value in report["fetch"][loss]])
    worst = compare_losses("by hand", [(a + b) / 2 for a, b in zip(*losses)], golden)
    job.check_free("training")
    print("roles by hand: largest difference of a loss %.2e" % worst)


def check_whole_roles(job):
    """All ranks of a role by one command; a single server saves what it has."""
    common = ["--pservers", ",".join(job.endpoints), "--token-file", job.token_file]
    servers = job.start(job.words(*job.inputs()[2:], *common, "--role", "pserver"), {})
    saved = os.path.join(job.work, "saved")
    trainers = job.start(job.words(*job.inputs(), *common, "--role", "trainer", "--save", saved), {})
    job.finish("trainers", DONE, trainers)
    job.finish("servers", DONE, servers)
    count = compare_parameters("whole roles", saved, os.path.join(job.case, "after"), {})
    print("roles by one command each: %d parameters as recorded" % count)


def check_refusals(job):
    """[flags], variables, what the message has to say of both sides."""
    endpoints = ",".join(job.endpoints)
    third = endpoints + ",127.0.0.1:1"
    trainer = lambda **changes: job.variables("TRAINER", 0, **changes)  # noqa: E731
    server = lambda **changes: job.variables("PSERVER", 0, **changes)  # noqa: E731
    open_file = os.path.join(job.work, "open")
    with open(open_file, "w") as f:
        f.write(TOKEN)
    os.chmod(open_file, 0o644)
    cases = [
        ([], trainer(TRAINING_ROLE="CHIEF"), "TRAINING_ROLE=CHIEF", "the roles trainer, server"),
        ([], trainer(PADDLE_TRAINERS_NUM="3"), "PADDLE_TRAINERS_NUM=3", "transpiled for 2 trainers"),
        (["--trainers", "4"], trainer(), "--trainers 4", "transpiled for 2 trainers"),
        ([], trainer(PADDLE_TRAINERS_NUM="two"), "PADDLE_TRAINERS_NUM=two: is no number"),
        ([], trainer(PADDLE_TRAINER_ID="2"), "PADDLE_TRAINER_ID=2", "ranks 0 to 1"),
        (["--rank", "-1"], trainer(), "--rank -1", "ranks 0 to 1"),
        ([], trainer(PADDLE_TRAINER_ID=None), "TRAINING_ROLE=TRAINER is set", "PADDLE_TRAINER_ID is not"),
        ([], trainer(PADDLE_PSERVERS_IP_PORT_LIST=third), "has 3 endpoints", "the job has 2 servers"),
        ([], trainer(PADDLE_PSERVERS_IP_PORT_LIST=None), "where are the servers?"),
        (["--pservers", "a:1,a:1"], trainer(), "'a:1' stands there twice"),
        (["--pservers", "a:1,b"], trainer(), "'b' is no HOST:PORT"),
        (["--pservers", "a:1,b:70000"], trainer(), "'b:70000' is no HOST:PORT"),
        ([], server(PADDLE_PORT="1"), "POD_IP=127.0.0.1, PADDLE_PORT=1", "is not in PADDLE_PSERVERS_IP_PORT_LIST"),
        ([], server(POD_IP=None), "TRAINING_ROLE=PSERVER is set", "POD_IP and PADDLE_PORT"),
        (["--rank", "1"], server(), "PADDLE_PORT=%d" % job.ports[0], "(--rank 1)", job.endpoints[1]),
        (["--endpoint", job.endpoints[1], "--rank", "0"], server(), "--endpoint", "(--rank 0)"),
        ([], trainer(DTRANSPILE_TOKEN=None), "the job's token", "--token-file"),
        ([], trainer(DTRANSPILE_TOKEN="short"), "DTRANSPILE_TOKEN", "32 hexadecimal digits"),
        (["--token-file", open_file], trainer(), "others may read it", "chmod 600"),
        (["--token-file", "/nonexistent"], trainer(), "no such file"),
        (["--rank", "0"], {}, "--rank 0: of which role? Add --role"),
        (["--role-threads", "trainer=0"], {}, "expected ROLE=N"),
        (["--role-threads", "chief=1"], {}, "expected ROLE=N"),
        (["--per-step", "nobody=1"], trainer(), "--per-step nobody"),
    ]
    for words, variables, *fragments in cases:
        job.refuse(words, variables, *fragments)
    print("%d contradictions, each refused with both sides" % len(cases))


def check_port_taken(job):
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # an earlier case listened there
        holder.bind(("127.0.0.1", job.ports[0]))
        holder.listen()
        process = job.start(job.words(*job.inputs()[2:]), job.variables("PSERVER", 0))
        where = "cannot listen at " + job.endpoints[0]
        job.finish("a port that is taken", FAILED, process, where, "give this one another port")
    print("a port that is taken is named")


def wait_for_port(port, listener=None):
    """Until somebody listens there, or the process that was to listen has ended: a short job may be over before anybody looks."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (listener is None or listener.poll() is None):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    if listener is None or listener.poll() is None:
        fail("nobody listens at port %d" % port)


def check_stranger(job):
    """A trainer with the token of another job is not let in; the server names who has not come."""
    server = job.start(job.words(*job.inputs()[2:], timeout=8), job.variables("PSERVER", 0))
    wait_for_port(job.ports[0])  # what is waited for below is its answer, not its start
    other = job.variables("TRAINER", 0, DTRANSPILE_TOKEN=OTHER_TOKEN)
    trainer = job.start(job.words(*job.inputs(), timeout=6), other)
    job.finish("a stranger", FAILED, trainer, "server 0 at", "another token")
    job.finish("its server", FAILED, server, "trainers 0, 1 have not come to server 0 within 8 s")
    job.check_free("a stranger")
    print("a trainer with another token is not let in")


def read_job(job_path, servers):
    """The job with so many servers; w is in two blocks."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), job_path)) as f:
        text = f.read()
    changes = [("[ps = 1]", "[ps = %d]" % servers), ("blocks(10, per 10", "blocks(10, per 5")]
    for old, new in changes:
        if old not in text:
            fail("'%s' is not in %s" % (old, job_path))
        text = text.replace(old, new)
    return text


def main(tools, corpus, job_path, case):
    text = read_job(job_path, 2)
    with tempfile.TemporaryDirectory() as work:
        job = Job(tools, corpus, text, case, work)
        try:
            check_training(job)
            check_whole_roles(job)
            check_refusals(job)
            check_port_taken(job)
            check_stranger(job)
        finally:
            job.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
