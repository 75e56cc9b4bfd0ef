"""Jobs: the same bytes for the same input, nothing that is not ours replaced, verdicts and what they
lean on.

jobs.py TOOL_FOLDER CORPUS
"""

import filecmp
import json
import os
import re
import shutil

from check import main


def jobs(check):
    for name in ("a", "b"):
        check.expect_exit("transpile writes a job", 0, check.transpile(name, 4))
    for file in ("manifest.json", "job.mlirbc"):
        check.expect(
            "the same input gives the same bytes of " + file,
            filecmp.cmp(check.path("a/" + file), check.path("b/" + file), shallow=False),
        )
    check.expect_exit("an existing job is not replaced", 1, check.transpile("a", 2), "--force")
    check.expect_exit("--force replaces it", 0, check.transpile("a", 2, "--force"))
    check.expect_exit(
        "words of flags may be joined with _",
        0,
        check.transpile("c", 2, "--collective_mode", "grad_allreduce"),
    )
    os.mkdir(check.path("not_a_job"))
    check.expect_exit(
        "a folder that is no job is never replaced",
        1,
        check.transpile("not_a_job", 2, "--force"),
        "no job",
    )
    check.expect_exit("8 ranks", 0, check.transpile("r8", 8))
    check.expect_exit("100,000 ranks", 0, check.transpile("r100000", 100000))
    small, large = (os.path.getsize(check.path(n + "/job.mlirbc")) for n in ("r8", "r100000"))
    check.expect(
        "the job does not grow with the ranks",
        abs(large - small) < 64,
        "%d and %d bytes" % (small, large),
    )
    check.expect_exit(
        "a job is verified",
        0,
        [
            "verify",
            check.path("r100000"),
            check.program("main.pdmodel"),
            "--startup",
            check.program("startup.pdmodel"),
        ],
        "verified",
    )


def verdicts(check):
    """A module alone, one that cannot be read, and what a verdict leans on."""
    check.expect_exit("a job", 0, check.transpile("v", 2))
    check.expect_exit(
        "its module in text",
        0,
        ["convert", check.path("v/job.mlirbc"), check.path("v.mlir")],
    )
    for module in ("v.mlir", "v/job.mlirbc"):
        check.expect_exit("a module alone", 0, ["verify", check.path(module)], "verified")
    shutil.copytree(check.path("v"), check.path("cut"))
    with open(check.path("cut/job.mlirbc"), "r+b") as f:
        f.truncate(1000)
    for job in ("cut", "cut/job.mlirbc", "no_such_job"):
        done = check.call("verify", check.path(job), "--format", "json")
        report = json.loads(done.stdout)
        rule = report["rungs"][0]["messages"][0]["rule"]
        check.expect(
            "what cannot be read ends in a report: " + job,
            done.returncode == 1 and report["verdict"] == "refuted" and rule == "unreadable",
            done.stdout,
        )
    check.expect_exit(
        "a job that averages parameters",
        0,
        check.transpile("averaged", 2, "--collective_mode", "local_sgd"),
    )
    check.expect_exit(
        "its contract is printed",
        0,
        ["verify", check.path("averaged")],
        "under contract `local_sgd`",
    )
    check.expect_exit(
        "and refused where the whole step is required",
        1,
        ["verify", check.path("averaged"), "--require", "whole"],
        "local_sgd",
    )


def outputs(check):
    """What stands where the output goes is replaced only when it is ours."""
    check.expect_exit("a slash at the end means nothing", 0, check.transpile("slash/", 2))
    check.expect_exit("there is one job", 1, check.transpile("slash", 2), "--force")
    os.mkdir(check.path("programs.new"))
    with open(check.path("programs.new/thesis.txt"), "w") as f:
        f.write("dear")
    check.expect_exit(
        "export takes a slash too",
        0,
        ["export", check.path("slash"), "-o", check.path("programs/")],
    )
    check.expect(
        "a folder of a like name is left alone",
        os.path.exists(check.path("programs.new/thesis.txt")),
    )
    check.expect_exit(
        "a file is not replaced by a folder",
        1,
        ["export", check.path("slash"), "-o", check.path("programs/export.json")],
        "is no empty folder",
    )
    shutil.copy(check.path("programs.new/thesis.txt"), check.path("slash/thesis.txt"))
    check.expect_exit(
        "a job with something else inside is not replaced",
        1,
        check.transpile("slash", 2, "--force"),
        "holds more than a job",
    )
    os.remove(check.path("slash/thesis.txt"))
    with open(check.path("slash/manifest.json")) as f:
        manifest = f.read()
    data = ["--feeds", check.program("feeds"), "--init", check.program("init")]
    for what, text, field in (
        ("ranks", manifest.replace('"ranks": 2', '"ranks": 3', 1), "/roles/0/ranks"),
        ("a role", re.sub(r'"roles": \[\s*\{[^}]*\}', '"roles": [1', manifest), "/roles/0"),
        ("the digest", manifest.replace("sha256:", "sha256:0"), "/digest"),
    ):
        with open(check.path("slash/manifest.json"), "w") as f:
            f.write(text)
        for words in (
            ["run", check.path("slash"), *data],
            ["export", check.path("slash"), "-o", check.path("e")],
            ["show", check.path("slash"), "--format", "text"],
        ):
            check.expect_exit(
                "%s with %s of the manifest changed" % (words[0], what),
                1,
                words,
                field,
                "is not what job.mlirbc says",
            )


if __name__ == "__main__":
    main((jobs, verdicts, outputs))
