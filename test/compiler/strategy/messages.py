"""Strategy files through the command line, by table: the words, the text of the file, the exit status, what is said.

messages.py TOOL_FOLDER CORPUS
"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
from check import main  # noqa: E402

# (what, text of the file, words after it, exit status, what is said). FILE is the file.
CHECKS = [
    ("nothing", "", [], 0, ["in order"]),
    (
        "an unknown name",
        "nccl_com_num: 2",
        [],
        1,
        [
            "FILE:1:1: error: DistributedStrategy has no field 'nccl_com_num'; did you mean 'nccl_comm_num'?"
        ],
    ),
    ("a wrong type", "lars: 3.5", [], 1, ["FILE:1:7: error: "]),
    (
        "a switch without a pass",
        "\nqat: true",
        [],
        1,
        [
            "FILE:2:1: error: qat: asks for training with quantised values"
        ],
    ),
    ("a switch that is off", "amp: false", [], 0, ["in order"]),
    (
        "auto",
        "auto: true semi_auto: true",
        [],
        1,
        [
            "error: auto: asks for strategies that the tool chooses by itself",
            "error: semi_auto: asks for a plan of annotated tensors",
        ],
    ),
    (
        "details of a switch that is off",
        "dgc_configs { rampup_step: 5 }",
        [],
        0,
        ["FILE:1:1: remark: dgc_configs: has no effect: dgc is not on"],
    ),
    (
        "what tuned the framework",
        "elastic: true\nconv_workspace_size_limit: 4000\nbuild_strategy { enable_inplace: true }",
        [],
        0,
        [
            "FILE:1:1: remark: elastic: accepted, has no effect",
            "FILE:2:1: remark: conv_workspace_size_limit: accepted, has no effect",
            "FILE:3:18: remark: build_strategy.enable_inplace: accepted, has no effect",
        ],
    ),
    (
        "an older spelling",
        "pipeline_configs { micro_batch: 4 }",
        [],
        0,
        ["FILE:1:20: remark: pipeline_configs.micro_batch: an older spelling of accumulate_steps"],
    ),
    (
        "an older spelling beside the new one",
        "pipeline_configs { micro_batch: 4\n accumulate_steps: 4 }",
        [],
        1,
        [
            "FILE:1:20: error: pipeline_configs.micro_batch: an older spelling of accumulate_steps, which the file says too",
            "FILE:2:2: note: accumulate_steps stands here",
        ],
    ),
    (
        "a scale of nothing",
        "amp: true amp_configs { init_loss_scaling: 0 }",
        [],
        1,
        ["FILE:1:25: error: amp_configs.init_loss_scaling: a factor of the loss is above 0"],
    ),
    (
        "a scale that shrinks to nothing",
        "amp: true amp_configs { decr_ratio: 0 }",
        [],
        1,
        ["FILE:1:25: error: amp_configs.decr_ratio: a factor that shrinks stays above 0"],
    ),
    (
        "a number that float32 does not have",
        "amp: true amp_configs { decr_ratio: 1e-39 }",
        [],
        1,
        ["FILE:1:25: error: ", "decr_ratio: ", " is no number of float32, which programs compute in"],
    ),
    (
        "mixed precision without details",
        "amp_configs { decr_ratio: 0.5 }",
        [],
        0,
        ["FILE:1:1: remark: amp_configs: has no effect: amp is not on"],
    ),
    (
        "parameters in half precision",
        "amp: true amp_configs { use_pure_fp16: true }",
        [],
        0,
        ["in order"],
    ),
    (
        "compressed gradients",
        "dgc: true dgc_configs { rampup_begin_step: 3 sparsity: 0.5 sparsity: 0.75 }",
        [],
        0,
        ["in order"],
    ),
    (
        "shares that are none",
        "dgc: true dgc_configs { sparsity: 0.5 sparsity: 1 }",
        [],
        1,
        ["FILE:1:25: error: dgc_configs.sparsity: each number is the share of elements that are not sent"],
    ),
    (
        "dense again",
        "dgc: true dgc_configs { sparsity: 0.5 sparsity: 0 }",
        [],
        1,
        ["FILE:1:25: error: dgc_configs.sparsity: each number is the share of elements that are not sent"],
    ),
    (
        "gradients that are added up over micro-batches",
        'pipeline: true gradient_scale_configs { scale_strategy: "sum" }',
        [],
        1,
        ["error: scale_strategy sum and pipeline: gradients are added up over micro-batches"],
    ),
    (
        "gradients that are merged",
        'gradient_merge: true gradient_scale_configs { scale_strategy: "sum" }',
        [],
        1,
        ["error: scale_strategy sum and gradient_merge: gradients are merged as those of one device"],
    ),
    (
        "gradients of a scaled loss",
        'amp: true gradient_scale_configs { scale_strategy: "sum" }',
        [],
        1,
        ["error: scale_strategy sum and amp: the factor of the loss is that of its own scaling"],
    ),
    (
        "averages that follow the loss",
        "adaptive_localsgd: true adaptive_localsgd_configs { init_k_steps: 4 }",
        [],
        0,
        ["in order"],
    ),
    (
        "a pair that does not go together",
        "lars: true\ndgc: true\nlamb: true",
        [],
        1,
        [
            "FILE:3:1: error: lars and lamb: each is an update rule of its own",
            "FILE:1:1: note: lars is here",
            "FILE:2:1: error: lars and dgc: dgc corrects the momentum",
            "FILE:3:1: error: lamb and dgc: dgc corrects the momentum",
        ],
    ),
    (
        "a pair of the file and a flag",
        "localsgd: true",
        ["--sync-batch-norm"],
        1,
        [
            "FILE:1:1: error: localsgd and sync_batch_norm: statistics of the whole batch couple",
            "note: sync_batch_norm was given as a flag",
        ],
    ),
    (
        "a pair that is not there yet",
        "localsgd: true gradient_merge: true gradient_merge_configs { k_steps: 2 }",
        [],
        1,
        ["error: gradient_merge and localsgd: together they are not there yet: parameters would be"],
    ),
    (
        "details that do not count",
        "lars_configs { lars_coeff: 0.1 }",
        [],
        0,
        ["FILE:1:16: remark: lars_configs.lars_coeff: has no effect: it counts where lars=true"],
    ),
    (
        "a number that is none",
        "lars: true lars_configs { lars_coeff: nan }",
        [],
        1,
        ["FILE:1:27: error: lars_configs.lars_coeff: lies between 0 and 1000000"],
    ),
    (
        "localsgd every few steps",
        "localsgd: true localsgd_configs { k_steps: 4 begin_step: 2 }",
        [],
        0,
        ["in order"],
    ),
    ("recompute without checkpoints", "recompute: true", [], 1, ["FILE:1:1: error: recompute and recompute_checkpoints: say what is kept"]),
    (
        "recompute",
        'recompute: true recompute_configs { checkpoints: "fc_0.tmp_2" checkpoints: "fc_1*" }',
        [],
        0,
        ["in order"],
    ),
    (
        "activations on the host",
        'recompute: true recompute_configs { checkpoints: "auto" enable_offload: true }',
        [],
        0,
        ["in order"],
    ),
    (
        "half precision and averages",
        "localsgd: true fp16_allreduce: true",
        [],
        1,
        ["error: localsgd and fp16_allreduce: gradients do not travel where parameters are averaged"],
    ),
    (
        "averages and a scale of gradients",
        "localsgd: true",
        ["--scale-strategy", "reference"],
        1,
        ["FILE:1:1: error: collective_mode local_sgd and scale_strategy"],
    ),
    (
        "a sum of gradients",
        'gradient_scale_configs { scale_strategy: "customized" }',
        [],
        1,
        ["FILE:1:26: error: gradient_scale_configs.scale_strategy: 'customized' is none of avg, sum, reference; customized feeds"],
    ),
    (
        "a number that the file calls otherwise",
        "sharding: true sharding_configs { stage: 7 }",
        [],
        1,
        ["FILE:1:35: error: sharding_configs.stage: lies between 1 and 3"],
    ),
    (
        "a value out of its range",
        "nccl_comm_num: 65",
        [],
        1,
        ["FILE:1:1: error: nccl_comm_num: lies between 1 and 64"],
    ),
    (
        "the same as a flag",
        "nccl_comm_num: 65",
        ["--nccl-comm-num", "2"],
        0,
        ["in order"],
    ),
    ("heterogeneous workers", "mode: HETER", [], 1, ["error: mode: HETER is not there yet"]),
    (
        "servers that are nowhere",
        "mode: PS a_sync: false",
        [],
        1,
        ["FILE:1:1: error: mode pserver and pservers: say where the servers are"],
    ),
    ("servers", "mode: PS\na_sync: false", ["--pservers", "2"], 0, ["in order"]),
    (
        "asynchronous servers",
        "a_sync: true",
        ["--mode", "pserver", "--pservers", "2"],
        0,
        ["in order"],
    ),
    (
        "servers that add up changes",
        "a_sync: true a_sync_configs { k_steps: 4 }",
        ["--mode", "pserver", "--pservers", "2"],
        0,
        ["in order"],
    ),
    (
        "steps of synchronous servers",
        "a_sync: false a_sync_configs { k_steps: 2 }",
        ["--mode", "pserver", "--pservers", "2"],
        1,
        ["error: a_sync_configs.k_steps: trainers that update by themselves for several steps"],
    ),
    (
        "no servers by a number",
        "a_sync_configs { k_steps: -1 }",
        ["--mode", "pserver", "--pservers", "2"],
        1,
        ["error: a_sync_configs.k_steps: servers are off with a number below 0"],
    ),
    (
        "asynchronous without servers",
        "a_sync: true",
        [],
        0,
        ["remark: a_sync: has no effect: the mode is not pserver"],
    ),
    (
        "a field that counts elsewhere",
        "mode: PS nccl_comm_num: 2",
        ["--pservers", "2"],
        0,
        ["remark: nccl_comm_num: has no effect: it counts where mode!=pserver"],
    ),
    (
        "levels and servers",
        "use_hierarchical_allreduce: true hierarchical_allreduce_inter_nranks: 2",
        ["--mode", "pserver", "--pservers", "2", "--trainers", "4"],
        1,
        [
            "error: mode pserver and use_hierarchical_allreduce: trainers speak to servers only",
            "note: mode pserver was given as a flag",
        ],
    ),
    (
        "parts as files ask for them, in older spellings too",
        "sharding: true sharding_configs { sharding_group_size: 2 fuse_broadcast_MB: 16 stage: 3 hybrid_dp: true }",
        ["--trainers", "4"],
        0,
        [],
    ),
    (
        "parts of a number of ranks that does not divide theirs",
        "sharding: true sharding_configs { sharding_degree: 4 }",
        ["--trainers", "6"],
        1,
        ["error: trainers and sharding_degree: as many ranks as a parameter is cut over"],
    ),
    (
        "parts and levels",
        "sharding: true use_hierarchical_allreduce: true hierarchical_allreduce_inter_nranks: 2",
        ["--trainers", "4"],
        1,
        [
            "error: sharding and use_hierarchical_allreduce: together they are not there yet: parts "
            "would be summed level by level",
        ],
    ),
    (
        "what sharding has not",
        "sharding: true sharding_configs { stage: 3 optimize_offload: true pp_degree: 2 }",
        ["--trainers", "4"],
        1,
        [
            "error: sharding_configs.optimize_offload: asks for state that lies on the host",
            "error: sharding_configs.pp_degree: asks for stages of layers on different ranks",
        ],
    ),
    (
        "split layers and merged gradients, as sharding says them",
        "sharding: true sharding_configs { sharding_degree: 2 mp_degree: 2 gradient_merge_acc_step: 4 }",
        ["--trainers", "4"],
        0,
        [],
    ),
    (
        "merged gradients, said twice",
        "sharding: true gradient_merge: true gradient_merge_configs { k_steps: 2 }\n"
        "sharding_configs { sharding_degree: 2 gradient_merge_acc_step: 4 }",
        ["--trainers", "4"],
        1,
        ["error: sharding_configs.gradient_merge_acc_step: is 4, and gradient_merge_configs.k_steps is 2; leave one out"],
    ),
    (
        "merged gradients of a pipeline",
        "sharding: true pipeline: true sharding_configs { sharding_degree: 2 gradient_merge_acc_step: 4 }",
        ["--trainers", "4"],
        0,
        ["remark: sharding_configs.gradient_merge_acc_step: has no effect: pipelines add up accumulate_steps"],
    ),
    (
        "degrees that are none",
        "sharding: true sharding_configs { sharding_degree: 2 mp_degree: 0 }",
        ["--trainers", "4"],
        1,
        ["error: sharding_configs.mp_degree: is a number of at least 1"],
    ),
    (
        "parts of stages that do not make up the ranks",
        "sharding: true pipeline: true sharding_configs { sharding_degree: 4 }",
        ["--trainers", "12", "--stages", "2"],
        1,
        ["error: trainers and sharding_degree: as many ranks as a parameter is cut over"],
    ),
    (
        "parts of stages that travel in half precision",
        "sharding: true pipeline: true fp16_allreduce: true sharding_configs { sharding_degree: 2 }",
        ["--trainers", "4"],
        1,
        ["error: fp16_allreduce, sharding and pipeline: sums are cut in front of the stages"],
    ),
    (
        "whole parameters in a pipeline",
        "sharding: true pipeline: true sharding_configs { sharding_degree: 2 stage: 3 }",
        ["--trainers", "4"],
        1,
        ["error: sharding_stage 3 and pipeline: parameters would be put together again for every micro-batch"],
    ),
    (
        "tables",
        "downpour_table_param { shard_num: 1 }",
        [],
        1,
        ["error: downpour_table_param[0]: asks for tables of rows on servers"],
    ),
]


def write(check, name, text):
    path = check.path(name)
    with open(path, "w") as f:
        f.write(text)
    return path


def messages(check):
    for number, (what, text, words, code, said) in enumerate(CHECKS):
        path = write(check, "%d.prototxt" % number, text)
        said = [line.replace("FILE", path) for line in said]
        check.expect_exit(what, code, ["strategy", "check", path, *words], *said)
        # The same in transpile, before any program is looked at.
        if code:
            pipeline = ["transpile", "--print-pipeline", "--strategy", path, *words]
            check.expect_exit(what + ", transpile", code, pipeline, *said)
        done = check.call("strategy", "check", path, "--format", "json", *words)
        findings = json.loads(done.stdout)["findings"]
        wrong = [each for each in findings if each["level"] == "error"]
        check.expect(what + ", json", done.returncode == code and bool(wrong) == (code == 1))


def files(check):
    folder = check.path("folder")
    os.mkdir(folder)
    strategy = ["strategy", "check"]
    check.expect_exit("no file", 1, strategy + [check.path("none")], "cannot be read: No such file")
    check.expect_exit("a folder", 1, strategy + [folder], "is a folder")
    check.expect_exit("no FILE", 2, strategy, "FILE is required")
    check.expect_exit("no such word", 2, ["strategy", "improve", "x"])
    binary = check.path("binary")
    with open(binary, "wb") as f:
        f.write(bytes(range(256)))
    check.expect_exit("bytes", 1, strategy + [binary], "error: ")
    check.expect_exit("a program", 1, strategy + [check.program("main.pdmodel")], "error: ")


def shows(check):
    path = write(check, "s.prototxt", "nccl_comm_num: 2\nelastic: true\n")
    words = ["strategy", "show", path, "--trainers", "4"]
    done = check.call(*words)
    lines = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line}
    check.expect("values", done.returncode == 0 and lines["nccl_comm_num"][0] == "2", done.stdout)
    for name, origin in {
        "nccl_comm_num": path + ":1:1",
        "trainers": "--trainers",
        "fuse_grad_size_in_MB": "default",
        "elastic": path + ":2:1",
    }.items():
        check.expect("origin of " + name, lines[name][-1] == origin, done.stdout)
    fields = json.loads(check.call(*words, "--format", "json").stdout)["fields"]
    check.expect("json", fields["nccl_comm_num"]["value"] == 2)
    check.expect("json's place", fields["nccl_comm_num"]["from"]["place"]["line"] == 1)
    old = write(check, "old.prototxt", "pipeline_configs { micro_batch: 4 }")
    check.expect_exit(
        "the normal form",
        0,
        ["strategy", "show", old, "--format", "prototxt"],
        "pipeline_configs {\n  accumulate_steps: 4\n}\n",
    )
    secret = write(check, "secret.prototxt", 'fs_client_param { passwd: "abcdef" }')
    for form in ("text", "json"):
        done = check.call("strategy", "show", secret, "--format", form)
        check.expect("a secret, " + form, "abcdef" not in done.stdout + done.stderr)


def explains(check):
    path = write(check, "e.prototxt", "fuse_grad_size_in_MB: 7\nsync_batch_norm: true\n")
    words = ["strategy", "explain", path, "--trainers", "4"]
    check.expect_exit(
        "in words",
        0,
        words,
        "4 trainers. Passes, in this order:",
        "1. check-source\n     refuses programs that no job can be made of",
        "fuse_grad_size_in_MB=7",
        "because sync_batch_norm is true (%s:2:1)" % path,
    )
    steps = json.loads(check.call(*words, "--format", "json").stdout)["steps"]
    check.expect("json", [s["pass"] for s in steps][:2] == ["check-source", "form-job"])
    merge = ["--gradient-merge", "--gradient-merge-k-steps", "2", "--gradient-merge-avg", "false"]
    check.expect_exit(
        "merged gradients",
        0,
        ["strategy", "explain", write(check, "m.prototxt", ""), *merge],
        "gradient-merge{gradient_merge_k_steps=2 gradient_merge_avg=false}",
        "because gradient_merge is true (--gradient-merge)",
    )
    pipeline = check.call("transpile", "--print-pipeline", "--strategy", path, "--trainers", "4")
    told = ",".join(step["pass"] + step["options"] for step in steps)
    check.expect("as it runs", pipeline.stdout.strip() == "builtin.module(%s)" % told)


def jobs(check):
    """A file says what flags say, byte for byte."""
    path = write(check, "j.prototxt", "nccl_comm_num: 2 fuse_grad_size_in_MB: 1\n")
    plain = check.transpile("flags", 2, "--nccl-comm-num", "2", "--fuse-grad-size-in-MB", "1")
    check.expect_exit("by flags", 0, plain)
    check.expect_exit("by a file", 0, check.transpile("file", 2, "--strategy", path))
    for name in ("manifest.json", "job.mlirbc"):
        texts = [open(check.path(os.path.join(job, name)), "rb").read() for job in ("flags", "file")]
        check.expect("the same " + name, texts[0] == texts[1])
    bad = write(check, "bad.prototxt", "qat: true")
    check.expect_exit("refused", 1, check.transpile("none", 2, "--strategy", bad), "qat: asks for")
    check.expect("nothing is written", not os.path.exists(check.path("none")))


def framework(check):
    """Files that the framework wrote (bench/peers/strategy_files.py): each is explained, or refused by the name of what it says."""
    folder = os.path.join(os.environ["TEST_SRCDIR"], "dtranspile/test/compiler/strategy/framework")
    seen = {0: 0, 1: 0}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with open(path) as f:
            text = f.read()
        written = check.call("strategy", "show", path, "--format", "prototxt")
        check.expect("%s is written again" % name, written.stdout == text, written.stderr)
        done = check.call("strategy", "explain", path)
        errors = [line for line in done.stderr.splitlines() if " error: " in line]
        seen[done.returncode] = seen.get(done.returncode, 0) + 1
        if done.returncode == 0:
            check.expect("%s is explained" % name, not errors and "form-job" in done.stdout, done.stdout)
        # "FILE:3:1: error: amp and dgc: …": what stands there names an entry of the file.
        for line in errors:
            named = set(re.findall(r"[a-z0-9]{3,}", line.split(" error: ")[1].split(": ")[0])) - {"and"}
            check.expect("%s: %s" % (name, line), any(entry in text for entry in named), text)
        check.expect("%s is refused by name" % name, done.returncode == 0 or errors, done.stderr)
    check.expect("some of both", seen[0] and seen[1] and sum(seen.values()) == seen[0] + seen[1], str(seen))


SAID = {
    "lookahead": ("", ["--lookahead"]),  # no entry of files: an optimizer of the framework
    "sharding_form owner": ("", ["--sharding", "--sharding-form", "owner"]),  # no entry of files either
    "sequence_parallel": ("", ["--tensor-parallel", "--tensor-parallel-degree", "2", "--sequence-parallel", "--trainers", "4"]),
    "recompute": ('recompute: true recompute_configs { checkpoints: "auto" }', []),
    "mode pserver": ("mode: PS", ["--pservers", "2"]),
    "use_hierarchical_allreduce": (
        "use_hierarchical_allreduce: true hierarchical_allreduce_inter_nranks: 2",
        ["--trainers", "4"],
    ),
}


def pairs(check):
    """Every row of the table of pairs, asked for by a file: what it says is what happens."""
    table = os.path.join(os.environ["TEST_SRCDIR"], "dtranspile/compiler/strategy/pairs.md")
    seen = {"composes": 0, "conflicts": 0, "later": 0}
    with open(table) as f:
        rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in f]
    for row in rows:
        if len(row) != 5 or row[2] not in seen:
            continue
        seen[row[2]] += 1
        texts, words = [], []
        for name in row[:2]:
            text, more = SAID.get(name, (name + ": true", []))
            texts.append(text)
            words += more if "--trainers" not in words else [word for word in more if word not in ("--trainers", "4")]
        path = write(check, "pair.prototxt", "\n".join(texts))
        done = check.call("strategy", "check", path, *words)
        said = "error: %s and %s: " % tuple(row[:2]) in done.stderr
        good = done.returncode == 0 and not said if row[2] == "composes" else said
        check.expect("%s and %s: %s" % tuple(row[:3]), good, done.stdout + done.stderr)
    check.expect("rows of every kind", all(seen.values()), str(seen))


if __name__ == "__main__":
    main([messages, files, shows, explains, jobs, framework, pairs])
