"""A pass: one folder with pass.td, pass.h, <name>.cc."""

load("//tools/tblgen:tblgen.bzl", "tblgen")

_INCLUDES = [
    "//compiler/strategy:fields.td",
    "//passes:field_options.td",
]

def pass_library(name, deps = []):
    """The library of the pass in this folder.

    Args:
      name: of the pass and of its source file.
      deps: beyond the dialects and MLIR.
    """
    tblgen(
        name = name + "_inc",
        outs = {"pass.h.inc": "-gen-pass-decls -name=" + "".join([word.capitalize() for word in name.split("-")])},
        td = "pass.td",
        includes = _INCLUDES,
    )

    # The page of the pass, from the same file (docs/passes/README.md says how to make all of them).
    native.genrule(
        name = name + "_doc",
        srcs = ["pass.td"] + _INCLUDES,
        outs = [name + ".md"],
        cmd = "/usr/lib/llvm-22/bin/mlir-tblgen -gen-pass-doc -I /usr/lib/llvm-22/include -I . $(location pass.td) -o $@",
    )
    native.cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = ["pass.h"],
        deps = [
            ":" + name + "_inc",
            "//dialects/dist",
            "//dialects/pd",
            "@mlir",
        ] + deps,
    )
