"""Pairs of strategies that the framework silently drops one of, each on several programs, and the check that every test that
docs/composition.md names is there.

A pair is a driver of this folder and a row of words per program. `pair_<one>_<other>` runs all programs of a pair."""

load(":tiers.bzl", "first_of", "tier")

_LEVELS = ["--use-hierarchical-allreduce", "--hierarchical-allreduce-inter-nranks", "2"]
_SQRT = ["--recompute", "--recompute-checkpoints", "sqrt"]
_MERGE = ["--gradient-merge", "--gradient-merge-k-steps", "2"]
_ADAPTIVE = ["--adaptive-localsgd", "--adaptive-localsgd-init-k-steps", "3"]
_LARS = ["--lars", "--lars-coeff", "0.01"]
_SPLIT = ["--tensor-parallel", "--tensor-parallel-degree", "2"]
_SEQUENCES = _SPLIT + ["--sequence-parallel"]
_OWNER = ["--sharding", "--sharding-form", "owner"]
_STAGES = ["--pipeline", "--stages", "2", "--accumulate-steps", "2"]

# one+other -> (driver, {program: words behind its name, or with {} where it stands}). What is compared says the driver: with the
# definition (localsgd), with the strategy's partner alone (fp16_allreduce), with one device (others).
PAIRS = {
    "recompute_localsgd": ("local_sgd_case.py", {
        "fluid18/mnist_mlp": ["2", "3"] + _SQRT,
        "fluid18/adamax_mlp": ["4", "3", "--localsgd-k-steps", "2"] + _SQRT,
        "fluid18/lenet": ["2", "2"] + _SQRT,
    }),
    "lars_localsgd": ("local_sgd_case.py", {
        "fluid18/mnist_mlp": ["2", "3", "--lars"],
        "static26/mlp_amp_ready": ["4", "3", "--lars", "--localsgd-k-steps", "2"],
    }),
    "lamb_localsgd": ("local_sgd_case.py", {
        "fluid18/cosine_adam_mlp": ["2", "3", "--lamb"],
        "fluid18/lenet": ["2", "2", "--lamb", "--localsgd-k-steps", "2"],
        "static26/gpt_tiny": ["2", "2", "--lamb"],
    }),
    "asp_localsgd": ("local_sgd_case.py", {
        "fluid18/mnist_mlp": ["2", "3", "--asp"],
        "static26/mlp_amp_ready": ["2", "2", "--asp", "--localsgd-k-steps", "2"],
    }),
    "amp_localsgd": ("local_sgd_case.py", {
        "static26/mlp_amp_ready": ["2", "4", "--amp", "--init-loss-scaling", "100000", "--decr-every-n-nan-or-inf", "1"],
        "fluid18/mnist_mlp": ["4", "4", "--amp", "--localsgd-k-steps", "2", "--init-loss-scaling", "300000", "--decr-every-n-nan-or-inf", "1"],
    }),
    "recompute_adaptive": ("local_sgd_case.py", {
        "fluid18/mnist_mlp": ["2", "8"] + _ADAPTIVE + _SQRT,
    }),
    "lars_adaptive": ("local_sgd_case.py", {
        "fluid18/mnist_mlp": ["2", "8", "--lars"] + _ADAPTIVE,
    }),
    "lamb_adaptive": ("local_sgd_case.py", {
        "fluid18/cosine_adam_mlp": ["2", "5", "--lamb"] + _ADAPTIVE,
    }),
    "localsgd_hierarchical": ("local_sgd_case.py", {
        "fluid18/mnist_mlp": ["4", "2"] + _LEVELS,
        "fluid18/adamax_mlp": ["4", "3"] + _LEVELS,
    }),
    "lars_pipeline": ("pipeline_case.py", {
        "static26/mlp_stages": ["2", "'--lars --lars-coeff 0.01'", "'--accumulate-steps 4'"],
        "fluid18/mnist_mlp": ["2", "'--lars --lars-coeff 0.01'", "'--stages 2 --accumulate-steps 2'"],
    }),
    "lamb_pipeline": ("pipeline_case.py", {
        "static26/gpt_tiny_stages": ["2", "--lamb", "'--accumulate-steps 4'"],
        "fluid18/cosine_adam_mlp": ["2", "--lamb", "'--stages 2 --accumulate-steps 2'"],
    }),
    "recompute_pipeline": ("pipeline_case.py", {
        "static26/mlp_stages": ["2", "'--recompute --recompute-checkpoints sqrt'", "'--accumulate-steps 4'"],
        "static26/lenet": ["4", "'--recompute --recompute-checkpoints sqrt'", "'--stages 4 --accumulate-steps 2'"],
        "fluid18/mnist_mlp": ["2", "'--recompute --recompute-checkpoints sqrt'", "'--stages 2 --accumulate-steps 2'"],
    }),
    "gradient_merge_sharding": ("gradient_merge_case.py", {
        "fluid18/mnist_mlp": ["2", "2", "--sharding"],
        "fluid18/cosine_adam_mlp": ["2", "2,4", "--sharding"],
        "fluid18/lenet": ["2", "2", "--sharding"],
    }),
    "gradient_merge_owner": ("gradient_merge_case.py", {
        "fluid18/mnist_mlp": ["2", "2"] + _OWNER,
        "fluid18/cosine_adam_mlp": ["2", "2,4"] + _OWNER,
    }),
    "gradient_merge_pipeline": ("gradient_merge_case.py", {
        "static26/mlp_stages": ["2", "2,4", "--pipeline", "--accumulate-steps", "2"],
        "static26/gpt_tiny_stages": ["2", "2", "--tied", "--pipeline", "--accumulate-steps", "2", "--schedule-mode", "F-then-B"],
        "static26/gpt_untied_stages": ["2", "2", "--pipeline", "--virtual-stages", "2", "--accumulate-steps", "2"],
        "fluid18/cosine_adam_mlp": ["2", "3,6", "--schedule-mode", "ZB-H1", "--pipeline", "--stages", "3", "--accumulate-steps", "2"],
        "fluid18/mnist_mlp": ["2", "4", "--sharding"] + _STAGES,
    }),
    "gradient_merge_fp16_allreduce": ("fp16_all_reduce_case.py", {
        "fluid18/mnist_mlp": ["2"] + _MERGE,
        "static26/gpt_tiny": ["2"] + _MERGE,
    }),
    "recompute_fp16_allreduce": ("fp16_all_reduce_case.py", {
        "fluid18/mnist_mlp": ["2"] + _SQRT,
        "static26/gpt_tiny": ["2"] + _SQRT,
    }),
    "lars_fp16_allreduce": ("fp16_all_reduce_case.py", {
        "fluid18/mnist_mlp": ["2", "--lars"],
        "static26/mlp_amp_ready": ["2"] + _LARS,
    }),
    "lamb_fp16_allreduce": ("fp16_all_reduce_case.py", {
        "fluid18/cosine_adam_mlp": ["2", "--lamb"],
        "static26/gpt_tiny": ["2", "--lamb"],
    }),
    "amp_tensor_parallel": ("amp_case.py", {
        "static26/gpt_tiny": ["train", "{}", "2,4"] + _SPLIT,
        "static26/bert_tiny": ["overflow", "{}", "2,4"] + _SPLIT,
    }),
    "recompute_tensor_parallel": ("recompute_case.py", {
        "static26/gpt_tiny": ["2,4", "{}:sqrt"] + _SPLIT,
        "static26/bert_tiny": ["2,4", "{}:sqrt"] + _SPLIT,
    }),
    "amp_sequence_parallel": ("amp_case.py", {
        "static26/gpt_tiny": ["train", "{}", "2,4"] + _SEQUENCES,
        "static26/bert_tiny": ["overflow", "{}", "2,4"] + _SEQUENCES,
    }),
    "recompute_sequence_parallel": ("recompute_case.py", {
        "static26/gpt_tiny": ["2,4", "{}:sqrt"] + _SEQUENCES,
        "static26/bert_tiny": ["2,4", "{}:sqrt"] + _SEQUENCES,
    }),
    "gradient_merge_tensor_parallel": ("tensor_parallel_pair_case.py", {
        "static26/gpt_tiny": ["80", "2/2", "4/2"] + _MERGE,
        "static26/bert_tiny": ["80", "2/2", "4/4"] + _MERGE,
        "static26/mlp_stages": ["9", "2/2", "4/2"] + _MERGE,
    }),
    "lars_tensor_parallel": ("tensor_parallel_pair_case.py", {
        "static26/mlp_stages": ["6", "2/2", "4/2"] + _LARS,
        "fluid18/mnist_mlp": ["6", "2/2", "4/2"] + _LARS,
    }),
    "lamb_tensor_parallel": ("tensor_parallel_pair_case.py", {
        "static26/gpt_tiny": ["60", "2/2", "4/2", "--lamb"],
        "fluid18/bert_tiny": ["69", "2/2", "4/4", "--lamb"],
    }),
    "tensor_parallel_fp16_allreduce": ("fp16_all_reduce_case.py", {
        "static26/gpt_tiny": ["4"] + _SPLIT,
        "static26/bert_tiny": ["4"] + _SPLIT,
    }),
    "pipeline_tensor_parallel": ("tensor_parallel_case.py", {
        "static26/gpt_tiny": ["60", "4/2", "8/2"] + _STAGES,
        "static26/bert_tiny": ["60", "4/2"] + _STAGES,
    }),
    "pipeline_fp16_allreduce": ("fp16_all_reduce_case.py", {
        "static26/gpt_tiny": ["4"] + _STAGES,
        "static26/mlp_stages": ["4", "--pipeline", "--accumulate-steps", "4"],
    }),
    "sharding_fp16_allreduce": ("fp16_all_reduce_case.py", {
        "static26/gpt_tiny": ["2", "--sharding"],
        "fluid18/mnist_mlp": ["4", "--sharding", "--sharding-degree", "2"],
    }),
    "owner_fp16_allreduce": ("fp16_all_reduce_case.py", {
        "static26/gpt_tiny": ["2"] + _OWNER,
        "fluid18/mnist_mlp": ["4", "--sharding-degree", "2"] + _OWNER,
    }),
    "dgc_recompute": ("dgc_case.py", {
        "fluid18/mnist_mlp": ["2", "4", "--dgc-min-size", "500", "--dgc-sparsity", "0.99"] + _SQRT,
    }),
}

# Three and more at once, all of which the framework's chain of strategies would not keep.
_PAIR = "tensor_parallel_pair_case.py"
COMBINATIONS = {
    "split_recompute_merge": (_PAIR, ["static26/gpt_tiny", "80", "2/2", "4/2"] + _SQRT + _MERGE),
    "split_recompute_lamb": (_PAIR, ["static26/gpt_tiny", "60", "4/2", "--lamb"] + _SQRT),
    "split_merge_lamb": (_PAIR, ["static26/gpt_tiny", "40", "4/2", "--lamb"] + _MERGE),
    "split_amp_recompute": ("amp_case.py", ["train", "static26/gpt_tiny", "2,4"] + _SPLIT + _SQRT),
    "split_amp_merge": ("amp_case.py", ["train", "static26/gpt_tiny", "2,4"] + _SPLIT + _MERGE),
    "split_stages_amp": ("amp_case.py", ["train", "static26/gpt_tiny", "4"] + _SPLIT + _STAGES),
    "split_stages_overflow": ("amp_case.py", ["overflow", "static26/gpt_tiny", "4"] + _SPLIT + _STAGES),
    "split_stages_recompute": (_PAIR, ["static26/gpt_tiny", "60", "4/2", "8/2"] + _STAGES + _SQRT),
    "split_stages_lamb": (_PAIR, ["static26/gpt_tiny", "20", "4/2", "--lamb"] + _STAGES),
    "split_stages_fp16_allreduce": ("fp16_all_reduce_case.py", ["static26/gpt_tiny", "8"] + _SPLIT + _STAGES),
    "split_stages_recompute_lamb": (_PAIR, ["static26/gpt_tiny", "20", "4/2", "--lamb"] + _STAGES + _SQRT),
    "shards_recompute_merge": ("gradient_merge_case.py", ["static26/mlp_stages", "2", "2", "--sharding"] + _SQRT),
    "shards_stages_amp": ("amp_case.py", ["train", "static26/gpt_tiny_stages", "4", "--sharding", "--pipeline", "--accumulate-steps", "4"]),
    "shards_stages_overflow": ("amp_case.py", ["overflow", "static26/gpt_tiny_stages", "4", "--sharding", "--sharding-stage", "2", "--pipeline", "--accumulate-steps", "2"]),
    "shards_stages_recompute_lamb": ("pipeline_case.py", ["static26/gpt_tiny", "4", "'--lamb %s'" % " ".join(_SQRT), "'--sharding --sharding-stage 2 --stages 2 --accumulate-steps 2'"]),
    "shards_split_amp": ("amp_case.py", ["train", "static26/gpt_tiny", "4", "--sharding"] + _SPLIT),
    "shards_split_merge": (_PAIR, ["static26/gpt_tiny", "80", "4/2", "--sharding"] + _MERGE),
    "split_stages_merge": (_PAIR, ["static26/gpt_tiny", "80", "4/2"] + _STAGES + _MERGE),
    "shards_stages_merge": ("gradient_merge_case.py", ["static26/mlp_stages", "2", "4", "--sharding", "--pipeline", "--accumulate-steps", "2"]),
    "stages_merge_lars": ("gradient_merge_case.py", ["static26/mlp_stages", "2", "2,4", "--pipeline", "--accumulate-steps", "2"] + _LARS),
    "stages_merge_recompute": ("gradient_merge_case.py", ["static26/gpt_tiny", "2", "2", "--tied"] + _STAGES + _SQRT),
    "stages_merge_amp": ("amp_case.py", ["train", "static26/gpt_tiny_stages", "2,4", "--pipeline", "--accumulate-steps", "2"] + _MERGE),
    "stages_merge_fp16_allreduce": ("fp16_all_reduce_case.py", ["static26/mlp_stages", "4", "--pipeline", "--accumulate-steps", "2"] + _MERGE),
    "stages_recompute_lamb": ("pipeline_case.py", ["static26/gpt_tiny", "2", "'--lamb %s'" % " ".join(_SQRT), "'--stages 2 --accumulate-steps 2'"]),
}

_DRIVERS = [
    "amp_case.py",
    "dgc_case.py",
    "fp16_all_reduce_case.py",
    "gradient_merge_case.py",
    "local_sgd_case.py",
    "pipeline_case.py",
    "recompute_case.py",
    "sharding_case.py",
    "tensor_parallel_case.py",
    "tensor_parallel_pair_case.py",
    "train_case.py",
]

def pair_matrix(tools):
    """A test per pair and program, and a suite per pair.

    Args:
      tools: what every driver calls.
    """
    for pair, (driver, programs) in PAIRS.items():
        for program, words in programs.items():
            native.sh_test(
                name = "pair_%s_%s" % (pair, program.replace("/", "_")),
                size = "medium",
                srcs = ["drive.sh"],
                args = ["e2e/" + driver] + ([] if [w for w in words if "{}" in w] else [program]) + [
                    word.replace("{}", program)
                    for word in words
                ],
                data = _DRIVERS + [
                    "//test/corpus:" + program.split("/")[0],
                    "//test/corpus:rounding_noise.txt",
                ] + tools,
                tags = [] if program == first_of(programs) else ["slow"],
            )
        native.test_suite(
            name = "pair_" + pair,
            tests = ["pair_%s_%s" % (pair, program.replace("/", "_")) for program in programs],
        )

def combinations(tools):
    """A test per combination.

    Args:
      tools: what every driver calls.
    """
    for name, (driver, words) in COMBINATIONS.items():
        native.sh_test(
            name = "combination_" + name,
            size = "medium",
            srcs = ["drive.sh"],
            args = ["e2e/" + driver] + words,
            data = _DRIVERS + [
                "//test/corpus:static26",
                "//test/corpus:rounding_noise.txt",
            ] + tools,
            tags = tier("combination_" + name),
        )

def shown_test(name, page):
    """Every test that a page of pairs names is a test or a suite of this package. At the end of its BUILD file.

    Args:
      name: of the test.
      page: of pairs, compiler/strategy:pairs.md.
    """
    native.genrule(
        name = name + "_rules",
        outs = [name + "_rules.txt"],
        cmd = "printf '%s\\n' " + " ".join([
            rule
            for rule in sorted(native.existing_rules().keys())
            if native.existing_rule(rule)["kind"] in ["sh_test", "test_suite"]
        ]) + " > $@",
    )
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["shown_test.sh"],
        args = [
            "$(rootpath %s)" % page,
            "$(rootpath :%s_rules.txt)" % name,
        ],
        data = [
            page,
            ":%s_rules.txt" % name,
        ],
    )
