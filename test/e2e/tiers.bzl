"""Which end-to-end tests are in the slow tier.

The fast tier runs in every change and has a case for each pass, schedule and pair of strategies. What is named here
shows one of them once more, with another program, other numbers of ranks or a third strategy: tools/test_all runs it.
"""

_SLOW = {
    "amp_": [
        "bert",
        "bfloat16_norm",
        "conv",
        "export_batch_norm",
        "gpt",
        "hierarchical",
        "lars",
        "overflow_lamb",
        "overflow_schedule",
        "pipeline_bfloat16",
        "pipeline_four",
        "pipeline_overflow_schedule",
        "pipeline_schedule",
        "pure_bfloat16",
        "pure_conv",
        "pure_export",
        "pure_gpt",
        "pure_resnet",
        "recomputed",
        "resnet",
        "sharding_adam",
        "sharding_overflow_whole",
        "sharding_pure",
        "sharding_replicas",
        "sharding_whole",
    ],
    "asp_": [
        "by_size_amp",
        "by_size_conv",
        "by_sum_amp",
        "by_sum_conv",
        "conv",
        "fp16_all_reduce",
        "gpt",
        "hierarchical",
        "lamb",
        "lars",
        "lookahead",
        "pipeline_gpt",
        "servers_adam",
        "sharding_gpt",
        "sync_batch_norm",
    ],
    "combination_": [
        "shards_split_merge",
        "shards_stages_amp",
        "shards_stages_overflow",
        "split_amp_merge",
        "split_merge_lamb",
        "split_recompute_lamb",
        "split_recompute_merge",
        "split_stages_amp",
        "split_stages_fp16_allreduce",
        "split_stages_lamb",
        "split_stages_recompute",
        "split_stages_recompute_lamb",
        "stages_merge_amp",
        "stages_merge_recompute",
        "stages_recompute_lamb",
    ],
    "lookahead_": [
        "fp16_all_reduce",
        "gpt",
        "hierarchical",
        "lamb",
        "lars",
        "merge_three",
        "pipeline_gpt",
        "recompute",
        "sharding_gpt",
        "sync_batch_norm",
    ],
    "pipeline_": [
        "cost_bert",
        "cost_bert_4",
        "cost_resnet",
        "cost_transformer",
        "cost_transformer_4",
        "cost_vit",
        "gpt_4_f_then_b",
        "gpt_4_zero_bubble",
        "gpt_tied_f_then_b",
        "statistics_cifar",
        "statistics_f_then_b",
        "statistics_four",
        "statistics_recompute",
        "statistics_zero_bubble",
    ],
    "pserver_async_": [
        "fluid18_adadelta_mlp",
        "fluid18_bert_tiny",
        "fluid18_cosine_adam_mlp",
        "fluid18_ftrl_lr",
        "fluid18_nesterov_exponential_mlp",
        "fluid18_polynomial_sgd_mlp",
        "fluid18_resnet_cifar",
        "pir33_mlp_regression",
        "static26_mlp_regression",
    ],
    "pserver_geo_": [
        "fluid18_bert_tiny",
        "fluid18_cosine_adam_mlp",
        "fluid18_lamb_mlp",
        "fluid18_word2vec",
        "fluid18_word2vec_hsigmoid",
        "pir33_mlp_regression",
        "static26_mlp_regression",
    ],
    "resume_": [
        "adaptive_local_sgd",
        "dgc_four",
        "local_sgd_four",
        "merge_adam",
        "merge_amp",
        "merge_sharding_replicas",
        "servers",
    ],
    "tensor_parallel_": [
        "sequence_vocabulary_bert_tiny",
        "vocabulary_bert_tiny",
    ],
}

SLOW = [family + name for family, names in _SLOW.items() for name in names]

def tier(name):
    return ["slow"] if name in SLOW else []

def first_of(programs):
    """Of the programs of a pair the one that the fast tier has: a small one.

    Args:
      programs: their names.

    Returns:
      the name of one of them.
    """
    return sorted([("mlp" not in program, program) for program in programs])[0][1]
