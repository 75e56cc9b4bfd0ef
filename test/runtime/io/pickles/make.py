#!/usr/bin/env python3
"""Writes the pickles of this folder. Run once per environment; the files are in the repository, so that tests need no NumPy.

make.py numpy OUT      with NumPy: OUT-p<protocol>.pkl, protocols 2 to 5
make.py paddle OUT     with PaddlePaddle 2.6: OUT-*.pdparams and OUT-*.pdopt, by paddle.save and paddle.static.save
"""

import pickle
import sys


def state(numpy):
    return {
        "w": numpy.arange(6, dtype="float32").reshape(2, 3) / 2,
        "counter": numpy.array([-1, 0, 1 << 40], dtype="int64"),
        "fortran": numpy.asfortranarray([[1.0, 2.0], [3.0, 4.0]]),
        "none": numpy.zeros((0, 4), "float32"),
        "scalar": numpy.float32(2.5),
        "rank0": numpy.array(3.5),
        "half": numpy.array([1, -2], "float16"),
        "flags": numpy.array([True, False]),
        "bytes": numpy.arange(256, dtype="uint8"),
        "LR_Scheduler": {"last_epoch": 3, "last_lr": 0.1, "list": [1, None, True, b"x", 1 << 40]},
    }


def write_numpy(out):
    import numpy

    for protocol in (2, 3, 4, 5):
        with open("%s-p%d.pkl" % (out, protocol), "wb") as file:
            pickle.dump(state(numpy), file, protocol=protocol)


def write_paddle(out):
    import paddle

    paddle.seed(3)
    paddle.disable_static()
    layer = paddle.nn.Linear(2, 3)
    for protocol in (2, 4):
        paddle.save(
            layer.state_dict(), "%s-dygraph-p%d.pdparams" % (out, protocol), protocol=protocol
        )
    paddle.save({"pair": [layer.weight, 1], "weight": layer.weight}, out + "-nested.pdparams")
    paddle.enable_static()
    x = paddle.static.data("x", [None, 2])
    loss = paddle.static.nn.fc(x, 3, weight_attr="w", bias_attr="b").mean()
    paddle.optimizer.Momentum(0.1).minimize(loss)
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    program = paddle.static.default_main_program()
    for protocol in (2, 4):
        paddle.static.save(program, "%s-static-p%d" % (out, protocol), protocol=protocol)
    tensor = paddle.static.global_scope().find_var("w").get_tensor()
    paddle.save({"weight": tensor, "pair": [tensor, 1]}, out + "-eval.pdparams")


if __name__ == "__main__":
    {"numpy": write_numpy, "paddle": write_paddle}[sys.argv[1]](sys.argv[2])
