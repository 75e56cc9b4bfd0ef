"""Programs of the corpora that are trained end to end, and broken by test/mutation."""

# case -> flags of transpile. All train on 1, 2 and 4 ranks with parity to the framework's losses
# and parameters.
CASES = {
    "fluid18/fit_a_line": [],
    "fluid18/mnist_mlp": [],
    "fluid18/lenet": [],
    "fluid18/nesterov_exponential_mlp": [],
    "fluid18/adamax_mlp": [],
    "fluid18/rmsprop_mlp": [],
    "fluid18/bert_tiny": [],
    "fluid18/resnet_cifar": ["--sync-batch-norm"],
    "fluid18/transformer_small": [],
    # Ragged batches, blocks, SelectedRows gradients.
    "fluid18/text_lstm": [],
    "fluid18/text_conv": [],
    "static26/lstm_lm": [],
    "fluid18/dynamic_rnn": [],
    "fluid18/static_rnn": [],
    "fluid18/ctr_wide_deep": [],
    "fluid18/word2vec": [],
    "fluid18/word2vec_hsigmoid": [],
    "static26/ctr_deep": [],
    "static26/word2vec": [],
    "static26/bert_tiny": [],
    "static26/gpt_tiny_recompute": [],
    "static26/vit_tiny": [],
    "static26/fit_a_line": [],
    "static26/lenet": [],
    "static26/mlp_regression": [],
    "static26/mlp_amp_ready": [],
    "static26/resnet_thin": ["--sync-batch-norm"],
    "pir33/fit_a_line": [],
    "pir33/mlp_regression": [],
    "pir33/lenet": [],
}

# name -> case, ranks, flags: other ways through data parallelism.
VARIANTS = {
    "hierarchical": ["fluid18/fit_a_line", "4", "--use-hierarchical-allreduce", "--hierarchical-allreduce-inter-nranks", "2"],
    "hierarchical_buckets": ["fluid18/mnist_mlp", "4", "--use-hierarchical-allreduce", "--hierarchical-allreduce-inter-nranks", "2", "--nccl-comm-num", "2"],
    "hierarchical_sync_batch_norm": ["fluid18/resnet_cifar", "4", "--use-hierarchical-allreduce", "--hierarchical-allreduce-inter-nranks", "2", "--sync-batch-norm"],
}

# Case -> why it is not trained with parameter servers (docs/passes/parameter-server.md).
PSERVER_REFUSED = {
    "fluid18/dpsgd_mlp": "draws random numbers",
}

# Trained with two trainers and two servers as they are, and with four and three with small blocks:
# all cases of the corpora that are not tagged random, batch-statistics or batch-dependent.
PSERVER = [
    "fluid18/adadelta_mlp",
    "fluid18/adamax_mlp",
    "fluid18/bert_tiny",
    "fluid18/cosine_adam_mlp",
    "fluid18/ctr_wide_deep",
    "fluid18/decayed_adagrad_mlp",
    "fluid18/device_guard_mlp",
    "fluid18/dynamic_rnn",
    "fluid18/ema_mlp",
    "fluid18/fit_a_line",
    "fluid18/ftrl_lr",
    "fluid18/lamb_mlp",
    "fluid18/lars_mlp",
    "fluid18/lenet",
    "fluid18/mnist_mlp",
    "fluid18/nesterov_exponential_mlp",
    "fluid18/polynomial_sgd_mlp",
    "fluid18/recompute_mlp",
    "fluid18/rmsprop_mlp",
    "fluid18/static_rnn",
    "fluid18/text_conv",
    "fluid18/text_lstm",
    "fluid18/transformer_small",
    "fluid18/while_loop",
    "fluid18/word2vec",
    "fluid18/word2vec_distributed",
    "fluid18/word2vec_hsigmoid",
    "static26/bert_tiny",
    "static26/ctr_deep",
    "static26/fit_a_line",
    "static26/gpt_tiny",
    "static26/gpt_tiny_recompute",
    "static26/gpt_tiny_stages",
    "static26/gpt_untied_stages",
    "static26/lenet",
    "static26/lstm_lm",
    "static26/mlp_amp_ready",
    "static26/mlp_regression",
    "static26/mlp_stages",
    "static26/vit_tiny",
    "static26/word2vec",
    "pir33/bert_tiny",
    "pir33/fit_a_line",
    "pir33/gpt_tiny",
    "pir33/lenet",
    "pir33/mlp_regression",
]

# Trained with servers that apply every push by itself; or what transpile says.
PSERVER_ASYNC = {
    "fluid18/adadelta_mlp": [],
    "fluid18/adamax_mlp": [],
    "fluid18/bert_tiny": ["refused='a sum over gradients or parameters'"],
    "fluid18/cosine_adam_mlp": [],
    "fluid18/ema_mlp": [],
    "fluid18/fit_a_line": [],
    "fluid18/ftrl_lr": [],
    "fluid18/lamb_mlp": [],
    "fluid18/nesterov_exponential_mlp": [],
    "fluid18/word2vec": [],
    # A rate per step from the command line.
    "static26/lenet": ["not_run='know no steps'"],
    "static26/mlp_regression": [],
    "pir33/mlp_regression": [],
}

# Geo-SGD: trainers update by themselves, whatever the update is.
PSERVER_GEO = {
    "fluid18/bert_tiny": [],
    "fluid18/cosine_adam_mlp": [],
    "fluid18/ctr_wide_deep": [],
    "fluid18/ema_mlp": [],
    "fluid18/fit_a_line": ["band"],
    "fluid18/lamb_mlp": [],
    "fluid18/word2vec": ["rows=shared_embedding"],
    "fluid18/word2vec_distributed": [],
    # A rate per step from the command line: trainers know their steps.
    "static26/lenet": [],
    "static26/mlp_regression": [],
    "pir33/mlp_regression": [],
}

# With one trainer, whose batch is the whole: what depends on the whole batch.
PSERVER_ALONE = [
    "fluid18/cond_branch",
    "fluid18/resnet_cifar",
    "static26/resnet_thin",
]

# Nets of the corpus models26: verdict, sites and parity, on one and on two ranks.
MODELS = [
    "adagrad_clipped",
    "adamw_clipped",
    "angular_margin",
    "angular_softmax",
    "box_overlap",
    "causal_attention",
    "cell_with_lengths",
    "centered_rms",
    "class_tree",
    "contrastive",
    "crf_by_hand",
    "crf_tagger",
    "ctc_speech",
    "default_boxes",
    "dice_net",
    "distillation",
    "experts",
    "extremes",
    "focal_loss",
    "given_triplets",
    "graphs",
    "gru_translation",
    "half_storage",
    "hardest_triplets",
    "ignored_labels",
    "lstm_classifier",
    "mixed_convolutions",
    "npair",
    "padded_attention",
    "pair_losses",
    "patches",
    "pointer_net",
    "policy",
    "region_head",
    "relative_attention",
    "scaled_adam",
    "scaled_momentum",
    "shifted_windows",
    "spatial_transformer",
    "spectral_discriminator",
    "style_net",
    "super_resolution",
    "unet_by_shape",
    "unet_small",
    "video_net",
    "volume_net",
    "weight_normed",
    "weighted_likelihood",
    "yolo_head",
]

# The same of the corpus models18.
MODELS18 = [
    "both_ways_lstm",
    "gru_with_lengths",
    "hierarchical_words",
    "image_layers",
    "label_losses",
    "line_reader",
    "looks_ahead",
    "lstm_language_model",
    "ragged_crf",
    "ragged_ops",
    "ragged_regions",
    "text_match",
    "time_major_gru",
    "warmed_up",
    "yolo",
]
