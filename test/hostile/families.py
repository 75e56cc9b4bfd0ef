"""The kinds of files that commands read, for campaign.py."""

import json
import os

from campaign import Family, read, tree
from mutants import change_bytes, change_json, change_tokens, change_wire, cut, grow

WIRE = [change_wire, change_wire, change_wire, change_bytes, cut, grow]
JSON = [change_json, change_json, change_json, change_bytes, cut, grow]
TEXT = [change_tokens, change_tokens, change_tokens, change_bytes, cut, grow]
BINARY = [change_bytes, change_bytes, cut, grow]

LINE = "fluid18/fit_a_line"
REQUESTS = [
    ["--trainers", "2"],
    ["--trainers", "2", "--mode", "pserver", "--pservers", "2"],
    ["--trainers", "2", "--pipeline", "--stages", "2", "--accumulate-steps", "2"],
    ["--trainers", "2", "--sharding", "--sharding-stage", "3", "--recompute", "--recompute-checkpoints", "auto"],
    ["--trainers", "2", "--tensor-parallel", "--tensor-parallel-degree", "2", "--sequence-parallel"],
    ["--trainers", "2", "--amp", "--gradient-merge", "--gradient-merge-k-steps", "2", "--fp16-allreduce"],
    ["--trainers", "2", "--dgc", "--asp", "--lamb", "--lookahead"],
    ["--trainers", "2", "--mode", "pserver", "--pservers", "2", "--preset", "geo"],
]


def programs(case, ending="pdmodel", startup=False):
    def make(campaign):
        folder = campaign.case(case)
        files = {name + "." + ending: read(os.path.join(folder, name + "." + ending)) for name in ("main", "startup")}
        turn = [0]

        def commands(at):
            turn[0] += 1
            main, start = (os.path.join(at, name + "." + ending) for name in ("main", "startup"))
            yield ["convert", main, os.path.join(at, "o.mlir")]
            request = REQUESTS[turn[0] % len(REQUESTS)]
            yield ["transpile", main, "--startup", start, "-o", os.path.join(at, "job"), *request]
            if turn[0] % 3 == 0:
                feeds = ["--feeds", os.path.join(folder, "feeds"), "--init", os.path.join(folder, "init")]
                yield ["run", main, "--startup", start, *feeds, "--steps", "1", "--timeout", "10"]
            if os.path.isdir(os.path.join(at, "job")):
                yield ["verify", os.path.join(at, "job"), "--execute=off"]

        return Family(files, WIRE if ending == "pdmodel" else JSON, commands, ["startup." + ending] if startup else ["main." + ending])

    return make


def pdtxt(campaign):
    path = os.path.join(campaign.work, "m.pdtxt")
    campaign.make("convert", campaign.case(LINE) + "/main.pdmodel", path)
    return Family({"m.pdtxt": read(path)}, TEXT, lambda at: [["convert", at + "/m.pdtxt", at + "/o.pdmodel"], ["transpile", at + "/m.pdtxt", "-o", at + "/j", "--trainers", "2"]])


def initial(kind):
    """--init of every form."""

    def make(campaign):
        case = campaign.case("static26/mlp_regression")
        saved = os.path.join(campaign.work, "saved" + kind)
        os.makedirs(saved, exist_ok=True)
        run = ["run", case + "/main.pdmodel", "--feeds", case + "/feeds", "--steps", "1"]
        name = {"record": "init", "pickle": "s.pdparams", "combined": "s.pdiparams"}[kind]
        campaign.make(*run, "--init", case + "/init", "--save", os.path.join(saved, name), "--cache", campaign.cache)
        files = tree(saved)

        def commands(at):
            yield [*run, "--init", os.path.join(at, name), "--cache", campaign.cache]

        return Family(files, BINARY, commands)

    return make


def feeds(case):
    def make(campaign):
        folder = campaign.case(case)
        files = tree(folder + "/feeds")

        def commands(at):
            yield ["run", folder + "/main.pdmodel", "--feeds", at, "--init", folder + "/init", "--cache", campaign.cache, "--steps", "1"]

        return Family(files, BINARY + [header], commands)

    return make


def header(rng, content):
    """Of .npy, or JSON: something else in the text."""
    if content[:1] != b"\x93":
        return change_json(rng, content)
    size = 10 + int.from_bytes(content[8:10], "little")
    text = change_tokens(rng, content[10:size])
    text = text + b" " * max(0, size - 10 - len(text))
    return content[:8] + (len(text) & 65535).to_bytes(2, "little") + text + content[size:]


def job_files(request, case=LINE):
    """manifest.json and job.mlirbc; digests do not fit then, mostly."""

    def make(campaign):
        folder = campaign.case(case)
        job = os.path.join(campaign.work, "job-" + "".join(request))
        campaign.make("transpile", folder + "/main.pdmodel", "--startup", folder + "/startup.pdmodel", "-o", job, *request)

        def commands(at):
            yield ["verify", at + "/job", "--execute=off"]
            yield ["show", at + "/job", "--format", "html"]
            yield ["run", at + "/job", "--feeds", folder + "/feeds", "--init", folder + "/init", "--steps", "1", "--timeout", "10", "--cache", campaign.cache]
            yield ["export", at + "/job", "-o", at + "/e"]

        return Family(tree(job, "job"), [change_json, change_bytes, cut, grow, change_json], commands)

    return make


def job_text(request, case=LINE):
    """The module of a job as text, which has no digest."""

    def make(campaign):
        folder = campaign.case(case)
        job = os.path.join(campaign.work, "text-" + "".join(request))
        campaign.make("transpile", folder + "/main.pdmodel", "--startup", folder + "/startup.pdmodel", "-o", job, *request)
        path = job + ".mlir"
        campaign.make("convert", job + "/job.mlirbc", path)

        def commands(at):
            m = at + "/m.mlir"
            yield ["verify", m, "--execute=off"]
            yield ["run", m, "--feeds", folder + "/feeds", "--init", folder + "/init", "--steps", "1", "--timeout", "10"]
            yield ["export", m, "-o", at + "/e"]
            yield ["show", m, "--format", "html"]

        return Family({"m.mlir": read(path)}, [change_tokens] * 5 + [change_bytes, cut], commands)

    return make


def hand_job(name, case):
    def make(campaign):
        folder = campaign.case(case)
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs", name)

        def commands(at):
            m = at + "/m.mlir"
            yield ["verify", m, "--execute=off"]
            yield ["run", m, "--feeds", folder + "/feeds", "--init", folder + "/init", "--steps", "1", "--timeout", "10"]
            yield ["export", m, "-o", at + "/e"]
            yield ["show", m, "--format", "dot"]

        return Family({"m.mlir": read(path)}, [change_tokens] * 5 + [change_bytes, cut], commands)

    return make


def plan(request):
    def make(campaign):
        folder = campaign.case(LINE)
        job = os.path.join(campaign.work, "planjob" + "".join(request))
        campaign.make("transpile", folder + "/main.pdmodel", "--startup", folder + "/startup.pdmodel", "-o", job, *request)
        campaign.make("compile", job, "--feeds", folder + "/feeds", "-o", job + ".plan")
        files = tree(job + ".plan", "plan")
        return Family(files, JSON, lambda at: [["show", at + "/plan"]], [f for f in sorted(files) if f.endswith(".json")])

    return make


def config_of(folder, plan, meets):
    """What the launcher would tell the only rank of a job, or the first of two, which waits for the other one in vain."""
    described = json.loads(plan)
    size = 2 if meets else 1
    comms = [{"name": comm["name"], "group": comm["name"] + ".0", "rank": 0, "size": size} for comm in described.get("comms", [])]
    feeds = [{"name": name[:-4], "file": os.path.join(folder, "feeds", name)} for name in sorted(os.listdir(folder + "/feeds"))]
    rendezvous = {"backend": "shm", "job": "", "store": "", "interface": "", "token": "0" * 32, "timeout_seconds": 2}
    checkpoint = {"folder": "checkpoints", "every": 1, "keep": 1, "member": "trainer.0", "members": ["trainer.0"]}
    return {
        "plan": "plan", "digest": described["digest"], "role": described["role"], "class": described["class"], "rank": 0,
        "coordinates": {"dp": 0}, "mesh": {"dp": size}, "comms": comms, "rendezvous": rendezvous, "servers": [], "serves": None,
        "feeds": feeds, "init": {"folder": folder + "/init"}, "per_step": {}, "steps": 2, "first_step": 0, "skip": 0,
        "checkpoint": dict(checkpoint, names=["fc_0.w_0"], part_names=[]), "fetch": [], "threads": 1, "spin": False, "seed": 0,
        "save": "saved", "save_names": ["fc_0.w_0"], "save_parts": None, "part_names": [], "save_fetches": "fetched",
        "trace": "trace.json", "control_fd": 1, "flight_fd": None,
    }


def worker(request, meets=False):
    """A worker with a changed plan or CONFIG, alone."""

    def make(campaign):
        folder = campaign.case(LINE)
        name = "workerjob" + "".join(request)
        job = os.path.join(campaign.work, name)
        campaign.make("transpile", folder + "/main.pdmodel", "--startup", folder + "/startup.pdmodel", "-o", job, *request)
        campaign.make("compile", job, "--feeds", folder + "/feeds", "-o", job + ".plan")
        files = tree(job + ".plan", "plan")
        plan = min(name for name in files if name.endswith("plan.json"))
        config = config_of(folder, files[plan], meets)
        config["plan"] = os.path.dirname(plan)
        files["config.json"] = json.dumps(config).encode()
        words = [os.path.join(campaign.tools, "dtranspile-worker"), "config.json"]
        # CONFIG twice: it has fewer values, and each of them counts.
        return Family(files, JSON, lambda at: [words], ["config.json", "config.json", plan])

    return make


def flight(campaign):
    folder = campaign.case(LINE)
    text = b'{"version": 1, "role": "trainer", "rank": %d, "class": "trainer", "digest": "sha256:00", "comms": [{"name": "grad", "group": "grad.0", "member": %d, "size": 2, "role": "trainer"}], "channels": [{"comm": "grad", "kind": "group", "peer": 0, "started": 3}], "ops": ["all_reduce of x"], "events": [%s]}'
    event = b'{"number": %d, "sequence": %d, "step": %d, "begin_ns": %d, "wait_ns": %d, "end_ns": %d, "op": 0, "channel": 0}'
    files = {}
    for rank in (0, 1):
        events = b", ".join(event % (i, i, i, i * 1000, i * 1000 + 10, (i * 1000 + 20) if i + rank < 3 else 0) for i in range(3))
        files["f/trainer.%d.flight.json" % rank] = text % (rank, rank, events)
    _ = folder
    return Family(files, JSON, lambda at: [["trace", "merge", at + "/f"], ["trace", "merge", at + "/f", "--format", "json"]])


def checkpoint(request):
    def make(campaign):
        folder = campaign.case(LINE)
        job = os.path.join(campaign.work, "ckjob" + "".join(request))
        campaign.make("transpile", folder + "/main.pdmodel", "--startup", folder + "/startup.pdmodel", "-o", job, *request)
        run = ["run", job, "--feeds", folder + "/feeds", "--init", folder + "/init", "--timeout", "10", "--cache", campaign.cache]
        campaign.make(*run, "--checkpoint-dir", job + ".ck", "--checkpoint-every", "4", "--steps", "5")
        files = tree(job + ".ck", "ck")
        return Family(files, JSON, lambda at: [[*run, "--checkpoint-dir", at + "/ck", "--resume"]])

    return make


STRATEGY = b"""# every part
sharding: false
amp: true
amp_configs { init_loss_scaling: 32768.0 incr_every_n_steps: 1000 decr_every_n_nan_or_inf: 2 incr_ratio: 2.0 decr_ratio: 0.8 use_dynamic_loss_scaling: true custom_white_list: "mul" custom_black_list: "mean" }
recompute: true
recompute_configs { checkpoints: "fc_0.tmp_1" }
gradient_merge: true
gradient_merge_configs { k_steps: 2 avg: true }
localsgd: false
localsgd_configs { k_steps: 1 begin_step: 1 }
dgc: false
dgc_configs { rampup_begin_step: 0 rampup_step: 1 sparsity: 0.999 }
pipeline: false
pipeline_configs { micro_batch_size: 4 accumulate_steps: 2 schedule_mode: "1F1B" }
sharding_configs { segment_broadcast_MB: 32.0 sharding_degree: 2 mp_degree: 1 }
tensor_parallel: false
tensor_parallel_configs { tensor_parallel_degree: 2 }
lars: false
lars_configs { lars_coeff: 0.001 lars_weight_decay: 0.0005 epsilon: 0.0 exclude_from_weight_decay: "bias" }
lamb: false
lamb_configs { lamb_weight_decay: 0.01 exclude_from_weight_decay: "bias" }
fuse_all_reduce_ops: true
fuse_grad_size_in_MB: 32
nccl_comm_num: 1
sync_batch_norm: false
use_hierarchical_allreduce: false
hierarchical_allreduce_inter_nranks: 1
a_sync: false
a_sync_configs { k_steps: 0 max_merge_var_num: 1 send_queue_size: 16 thread_pool_size: 1 send_wait_times: 1 runtime_split_send_recv: false }
"""


def strategy(campaign):
    program = campaign.case(LINE)
    turn = [0]

    def commands(at):
        s = at + "/s.prototxt"
        turn[0] += 1
        if turn[0] % 2:
            yield ["strategy", "check", s, "--trainers", "2"]
        yield ["transpile", program + "/main.pdmodel", "--startup", program + "/startup.pdmodel", "--strategy", s, "-o", at + "/j", "--trainers", "4"]
        if os.path.isdir(at + "/j"):
            yield ["verify", at + "/j", "--execute=off"]

    return Family({"s.prototxt": STRATEGY}, TEXT + [change_tokens] * 5, commands)


def dataset(campaign):
    case = campaign.case("fluid18/ctr_wide_deep")
    lines = b"".join(b"1 %d 10 " % (i % 2) + b"0.5 " * 10 + b" ".join(b"1 %d" % (i + s) for s in range(6)) + b"\n" for i in range(40))
    description = b"""{"type": "InMemoryDataset", "files": ["part-0", "part-1"], "slots": [
 {"name": "click", "type": "uint64", "dense": true, "shape": [1]}, {"name": "dense", "type": "float", "dense": true, "shape": [10]},
 %s], "batch_size": 4, "epochs": 1, "shuffle": "global", "seed": 3, "pipe_command": "cat"}""" % b", ".join(
        b'{"name": "slot_%d", "type": "uint64", "dense": true, "shape": [1]}' % s for s in range(6)
    )
    files = {"data.json": description, "part-0": lines, "part-1": lines}

    def commands(at):
        yield ["run", case + "/main.pdmodel", "--dataset", at + "/data.json", "--init", case + "/init", "--cache", campaign.cache, "--steps", "1", "--allow-pipe-command"]

    return Family(files, JSON + [change_tokens], commands, ["data.json", "data.json", "part-0"])


FAMILIES = {
    "pdmodel-line": programs(LINE),
    "pdmodel-cond": programs("fluid18/cond_branch"),
    "pdmodel-loop": programs("fluid18/while_loop"),
    "pdmodel-lstm": programs("fluid18/text_lstm"),
    "pdmodel-gpt": programs("static26/gpt_tiny"),
    "pdmodel-ctr": programs("fluid18/ctr_wide_deep"),
    "pdmodel-amp": programs("static26/mlp_amp_ready"),
    "startup": programs("static26/mlp_regression", startup=True),
    "pir": programs("pir33/fit_a_line", "json"),
    "pir-gpt": programs("pir33/gpt_tiny", "json"),
    "pdtxt": pdtxt,
    "init-record": initial("record"),
    "init-pickle": initial("pickle"),
    "init-combined": initial("combined"),
    "feeds": feeds(LINE),
    "feeds-lod": feeds("fluid18/text_lstm"),
    "job": job_files(["--trainers", "2"]),
    "job-ps": job_files(["--trainers", "2", "--mode", "pserver", "--pservers", "2"]),
    "text-dp": job_text(["--trainers", "2"]),
    "text-ps": job_text(["--trainers", "2", "--mode", "pserver", "--pservers", "2"]),
    "text-geo": job_text(["--trainers", "2", "--mode", "pserver", "--pservers", "2", "--preset", "geo"]),
    "text-async": job_text(["--trainers", "2", "--mode", "pserver", "--pservers", "2", "--preset", "async", "--sync-mode", "false"][:-2]),
    "text-pp": job_text(["--trainers", "2", "--pipeline", "--stages", "2", "--accumulate-steps", "4"], "static26/mlp_stages"),
    "text-sharding": job_text(["--trainers", "2", "--sharding", "--sharding-stage", "3"]),
    "text-tp": job_text(["--trainers", "2", "--tensor-parallel", "--tensor-parallel-degree", "2", "--sequence-parallel"], "static26/gpt_tiny"),
    "text-merge": job_text(["--trainers", "2", "--gradient-merge", "--gradient-merge-k-steps", "2"]),
    "text-dgc": job_text(["--trainers", "2", "--dgc"], "fluid18/mnist_mlp"),
    "hand-ps": hand_job("parameter_server.mlir", LINE),
    "hand-table": hand_job("sparse_table.mlir", "fluid18/word2vec_distributed"),
    "hand-zb": hand_job("zero_bubble.mlir", "static26/mlp_stages"),
    "hand-int": hand_job("interleaved.mlir", "static26/mlp_stages"),
    "hand-quart": hand_job("quartered.mlir", "fluid18/mnist_mlp"),
    "worker": worker(["--trainers", "1"]),
    "worker-two": worker(["--trainers", "2"], meets=True),
    "plan": plan(["--trainers", "2"]),
    "plan-ps": plan(["--trainers", "2", "--mode", "pserver", "--pservers", "2"]),
    "flight": flight,
    "checkpoint": checkpoint(["--trainers", "2"]),
    "checkpoint-merge": checkpoint(["--trainers", "2", "--gradient-merge", "--gradient-merge-k-steps", "3"]),
    "checkpoint-ps": checkpoint(["--trainers", "2", "--mode", "pserver", "--pservers", "2"]),
    "strategy": strategy,
    "dataset": dataset,
}
