"""Strategy files as paddlepaddle 2.6.2 writes them: random legal values, set through fleet.DistributedStrategy, saved by save_to_prototxt.

    PYTHON strategy_files.py FOLDER [COUNT [SEED]]

PYTHON has paddlepaddle 2.6.2. Writes FOLDER/random_<i>.prototxt; equal seeds give equal files. Every entry of the message occurs in some file: which of them
are set, and to what, is drawn; words are those that the framework's own checks and passes know. test/compiler/strategy/framework holds what seed 15 gives.
"""

import os
import random
import sys

# Entries whose values are words, or within bounds that the type does not say.
WORDS = {
    "pipeline_configs.schedule_mode": ["F-then-B", "1F1B"],
    "gradient_scale_configs.scale_strategy": ["avg", "sum", "customized"],
    "sharding_configs.sharding_segment_strategy": ["segment_broadcast_MB", "segment_anchors"],
    "dgc_configs.sparsity": [[0.999], [0.75, 0.9375, 0.984375, 0.996, 0.999]],
    "recompute_configs.checkpoints": [["fc_0.tmp_0"], ["fc_0.tmp_0", "fc_1.tmp_0"]],
    "recompute_configs.checkpoint_shape": [[8, 16]],
    "amp_configs.custom_white_list": [["gelu"], ["tanh", "softmax"]],
    "amp_configs.custom_black_list": [["layer_norm"]],
    "amp_configs.custom_black_varnames": [["fc_0.w_0"]],
    "lars_configs.exclude_from_weight_decay": [["batch_norm", ".b_0"]],
    "lamb_configs.exclude_from_weight_decay": [["batch_norm", ".b_0"]],
}


def drawn(draw, field, path):
    if path in WORDS:
        return draw.choice(WORDS[path])
    one = {
        field.CPPTYPE_BOOL: lambda: draw.random() < 0.5,
        field.CPPTYPE_INT32: lambda: draw.choice([1, 2, 4, 8, 16]),
        field.CPPTYPE_INT64: lambda: draw.choice([1, 100, 1 << 33]),
        field.CPPTYPE_UINT32: lambda: draw.choice([1, 3]),
        field.CPPTYPE_UINT64: lambda: draw.choice([1, 1 << 40]),
        field.CPPTYPE_FLOAT: lambda: draw.choice([0.5, 0.001, 2.0, 1024.0, 1e-8]),
        field.CPPTYPE_DOUBLE: lambda: draw.choice([0.5, 1e-9]),
        field.CPPTYPE_STRING: lambda: draw.choice(["a", "b c", "gpu:0"]),
        field.CPPTYPE_ENUM: lambda: draw.choice([v.number for v in field.enum_type.values]),
    }[field.cpp_type]
    return [one() for _ in range(draw.randint(1, 3))] if field.label == field.LABEL_REPEATED else one()


def configs(draw, message, path):
    """Some entries of a message as the dictionary that the framework's property takes."""
    plain = [f for f in message.fields if f.message_type is None]
    chosen = draw.sample(plain, draw.randint(1, len(plain))) if plain else []
    return {f.name: drawn(draw, f, "%s.%s" % (path, f.name)) for f in sorted(chosen, key=lambda f: f.number)}


def fill(draw, message, path):
    """Sets some entries of a message itself; nested messages too."""
    for field in message.DESCRIPTOR.fields:
        if draw.random() < 0.5:
            continue
        if field.message_type is not None:
            repeated = field.label == field.LABEL_REPEATED
            inner = getattr(message, field.name).add() if repeated else getattr(message, field.name)
            fill(draw, inner, "%s.%s" % (path, field.name))
            if not repeated:
                inner.SetInParent()
            continue
        value = drawn(draw, field, "%s.%s" % (path, field.name))
        if isinstance(value, list):
            getattr(message, field.name).extend(value)
        else:
            setattr(message, field.name, value)


def strategy_of(fleet, draw):
    strategy = fleet.DistributedStrategy()
    message = strategy.strategy
    share = draw.choice([0.1, 0.25, 0.5])
    for field in message.DESCRIPTOR.fields:
        if draw.random() > share:
            continue
        # What has a property is set by it, as users do; the rest in the message that the strategy holds.
        has = isinstance(getattr(type(strategy), field.name, None), property)
        if field.message_type is None and has:
            setattr(strategy, field.name, drawn(draw, field, field.name))
        elif field.message_type is None:
            setattr(message, field.name, drawn(draw, field, field.name))
        elif has and field.name.endswith("_configs") and field.name not in ("hybrid_configs", "gradient_scale_configs"):
            try:
                setattr(strategy, field.name, configs(draw, field.message_type, field.name))
            except (AssertionError, ValueError, TypeError):
                fill(draw, getattr(message, field.name), field.name)
        else:
            repeated = field.label == field.LABEL_REPEATED
            inner = getattr(message, field.name)
            for one in [inner.add() for _ in range(2)] if repeated else [inner]:
                fill(draw, one, field.name)
    return strategy


def main(folder, count="50", seed="15"):
    from paddle.distributed import fleet

    draw, seen = random.Random(int(seed)), set()
    os.makedirs(folder, exist_ok=True)
    for number in range(int(count)):
        strategy = strategy_of(fleet, draw)
        strategy.save_to_prototxt(os.path.join(folder, "random_%02d.prototxt" % number))
        seen |= {field.name for field, _ in strategy.strategy.ListFields()}
    every = {field.name for field in strategy.strategy.DESCRIPTOR.fields}
    print("%s files, %d of %d entries set in some; never: %s" % (count, len(seen), len(every), ", ".join(sorted(every - seen)) or "none"))


if __name__ == "__main__":
    main(*sys.argv[1:])
