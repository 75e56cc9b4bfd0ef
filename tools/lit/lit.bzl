"""lit tests: one test target per .mlir file."""

def lit_tests(name, tools, exclude = [], data = []):
    """Runs every .mlir file of the package with lit; FileCheck, not and the given tools are on PATH.

    Args:
      name: of the suite of all of them; the target of x-y.mlir is <name>/x-y.
      tools: binaries that RUN lines call.
      exclude: files that are inputs of tests, not tests.
      data: other files that RUN lines read, at their path from the root of the workspace.
    """
    tests = []
    for file in native.glob(["*.mlir"], exclude = exclude):
        test = name + "/" + file[:-len(".mlir")]
        native.sh_test(
            name = test,
            srcs = ["//tools/lit:run_lit.sh"],
            args = ["$(rootpath %s)" % file] + ["$(rootpath %s)" % tool for tool in tools],
            data = [file, "//tools/lit:lit.cfg.py"] + tools + data,
            size = "small",
        )
        tests.append(test)
    native.test_suite(name = name, tests = tests)
