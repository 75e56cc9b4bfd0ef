"""What scripts may rely on: exit codes, messages, determinism, nothing half written.

    command_line.py TOOL_FOLDER CORPUS
"""
import filecmp
import json
import os
import signal
import subprocess
import sys
import tempfile
import time


class Check:
    def __init__(self, tools, corpus, work):
        self.tool = os.path.join(tools, "dtranspile")
        self.case = os.path.join(corpus, "fluid18", "fit_a_line")
        self.work = work
        self.failures = 0

    def path(self, name):
        return os.path.join(self.work, name)

    def program(self, name):
        return os.path.join(self.case, name)

    def call(self, *words):
        return subprocess.run([self.tool, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, text=True)

    def expect(self, what, good, detail=""):
        if not good:
            self.failures += 1
            print("FAILED: %s\n%s" % (what, detail))
        else:
            print("ok: " + what)

    def expect_exit(self, what, code, words, *fragments):
        done = self.call(*words)
        text = done.stdout + done.stderr
        missing = [f for f in fragments if f not in text]
        self.expect(what, done.returncode == code and not missing, "exit status %d, expected %d; missing %s\n%s" % (done.returncode, code, missing, text))

    def transpile(self, job, ranks, *more):
        return ["transpile", self.program("main.pdmodel"), "--startup", self.program("startup.pdmodel"), "-o", self.path(job), "--mode", "collective", "--trainers", str(ranks), *more]


def jobs(check):
    for name in ("a", "b"):
        check.expect_exit("transpile writes a job", 0, check.transpile(name, 4))
    for file in ("manifest.json", "job.mlirbc"):
        check.expect("the same input gives the same bytes of " + file, filecmp.cmp(check.path("a/" + file), check.path("b/" + file), shallow=False))
    check.expect_exit("an existing job is not replaced", 1, check.transpile("a", 2), "--force")
    check.expect_exit("--force replaces it", 0, check.transpile("a", 2, "--force"))
    check.expect_exit("words of flags may be joined with _", 0, check.transpile("c", 2, "--collective_mode", "grad_allreduce"))
    os.mkdir(check.path("not_a_job"))
    check.expect_exit("a folder that is no job is never replaced", 1, check.transpile("not_a_job", 2, "--force"), "no job")
    check.expect_exit("8 ranks", 0, check.transpile("r8", 8))
    check.expect_exit("100,000 ranks", 0, check.transpile("r100000", 100000))
    small, large = (os.path.getsize(check.path(n + "/job.mlirbc")) for n in ("r8", "r100000"))
    check.expect("the job does not grow with the ranks", abs(large - small) < 64, "%d and %d bytes" % (small, large))
    check.expect_exit("a job is verified", 0, ["verify", check.path("r100000"), check.program("main.pdmodel"), "--startup", check.program("startup.pdmodel")], "verified")


def conversions(check):
    for middle in ("p.mlir", "p.mlirbc", "p.pdtxt"):
        check.expect_exit("convert to " + middle, 0, ["convert", check.program("main.pdmodel"), check.path(middle)])
        check.expect_exit("and back", 0, ["convert", check.path(middle), check.path("back.pdmodel")])
        check.expect("nothing is lost by way of " + middle, filecmp.cmp(check.path("back.pdmodel"), check.program("main.pdmodel"), shallow=False))
    check.expect_exit("diff of equal programs", 0, ["diff", check.program("main.pdmodel"), check.path("p.mlir")], "equal")
    check.expect_exit("diff of different programs", 1, ["diff", check.program("main.pdmodel"), check.program("startup.pdmodel")])
    check.expect_exit("an unknown ending", 2, ["convert", check.program("main.pdmodel"), check.path("x.txt")], ".pdmodel")


def errors(check):
    check.expect_exit("no command", 2, [])
    check.expect_exit("an unknown flag", 2, ["verify", check.path("a"), "--nonsense"])
    check.expect_exit("a missing file", 1, ["show", check.path("nothing.pdmodel")], "nothing.pdmodel", "cannot be read")
    with open(check.path("broken.pdmodel"), "wb") as out, open(check.program("main.pdmodel"), "rb") as whole:
        out.write(whole.read()[:1000])
    check.expect_exit("a truncated program", 1, ["show", check.path("broken.pdmodel")], "broken.pdmodel")
    check.expect_exit("a tensor instead of a program", 1, ["show", check.program("init/fc_0.w_0")], "tensor")
    run = ["run", check.program("main.pdmodel"), "--feeds", check.program("feeds"), "--init", check.program("init")]
    check.expect_exit("a fetch that is not there", 1, run + ["--fetch", "mean_0.tmp_1"], "did you mean mean_0.tmp_0")
    check.expect_exit("no data", 1, ["run", check.program("main.pdmodel"), "--init", check.program("init")], "--feeds")
    check.expect_exit("no initial values", 1, ["run", check.program("main.pdmodel"), "--feeds", check.program("feeds")], "--init")
    check.expect_exit("more steps than data", 1, run + ["--steps", "1000"], "--steps")
    check.expect_exit("a job of three", 0, check.transpile("r3", 3))
    check.expect_exit("a batch that does not divide", 1, ["run", check.path("r3"), "--feeds", check.program("feeds"), "--init", check.program("init")], "16", "3")
    if not os.path.exists("/dev/nvidia0"):
        check.expect_exit("--device cuda without a GPU", 1, run + ["--device", "cuda"], "libcuda.so.1")


def faults(check):
    """A rank that is killed ends the job within seconds, by name, and leaves nothing."""
    check.expect_exit("a job of two", 0, check.transpile("two", 2))
    before = set(os.listdir("/dev/shm"))
    job = subprocess.Popen([check.tool, "run", check.path("two"), "--feeds", check.program("feeds"), "--init", check.program("init"), "--report", check.path("r.json")],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    victim, deadline = None, time.time() + 20
    while victim is None and job.poll() is None and time.time() < deadline:
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(job.pid)], stdout=subprocess.PIPE, text=True).stdout.split()
        victim = int(children[-1]) if len(children) >= 2 else None
    if victim is not None and job.poll() is None:
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it had finished
    start = time.time()
    job.communicate(timeout=60)
    check.expect("the job ends soon", time.time() - start < 30)
    check.expect("it ends well or as failed", job.returncode in (0, 4), str(job.returncode))
    check.expect("no shared memory is left", set(os.listdir("/dev/shm")) <= before, str(set(os.listdir("/dev/shm")) - before))


def report(check):
    words = ["run", check.program("main.pdmodel"), "--startup", check.program("startup.pdmodel"), "--feeds", check.program("feeds"), "--report", check.path("s.json"), "--save-fetches", check.path("f")]
    check.expect_exit("the start-up program initialises", 0, words)
    with open(check.path("s.json")) as f:
        content = json.load(f)
    with open(check.program("golden.json")) as f:
        golden = json.load(f)
    losses = [x[0] if isinstance(x, list) else x for x in content["fetch"]["mean_0.tmp_0"]]
    check.expect("with the framework's own generators", all(abs(a - b) <= 1e-5 + 1e-4 * abs(b) for a, b in zip(losses, golden["mean_0.tmp_0"])), str(losses))
    check.expect("the report has its fields", all(k in content for k in ("digest", "ok", "steps", "fetch", "ranks", "error")), str(list(content)))
    check.expect("fetches are saved", os.path.exists(check.path("f/mean_0.tmp_0.npy")))


def main(tools, corpus):
    with tempfile.TemporaryDirectory() as work:
        check = Check(tools, corpus, work)
        for part in (jobs, conversions, errors, report, faults):
            part(check)
        sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
