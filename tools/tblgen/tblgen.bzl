"""TableGen: one action per generated file."""

_MLIR_TBLGEN = "/usr/lib/llvm-22/bin/mlir-tblgen"
_LLVM_TBLGEN = "/usr/lib/llvm-22/bin/llvm-tblgen"
_MLIR_INCLUDE = "/usr/lib/llvm-22/include"

def tblgen(name, td, outs, includes = [], **kwargs):
    """Generates C++ from a .td file.

    Args:
      name: of a library target that carries the generated headers.
      td: the .td file.
      outs: {output file: flags of mlir-tblgen}.
      includes: other .td files that it includes (labels).
      **kwargs: for the library.
    """
    for out, flags in outs.items():
        native.genrule(
            name = name + "_" + out.replace(".", "_"),
            srcs = [td] + includes,
            outs = [out],
            cmd = "%s %s -I %s -I . $(location %s) -o $@" % (_MLIR_TBLGEN, flags, _MLIR_INCLUDE, td),
        )
    native.cc_library(
        name = name,
        textual_hdrs = outs.keys(),
        **kwargs
    )

def records(name, td, generator, outs, includes = []):
    """Generates files from the records of a .td file with a script of its folder.

    Args:
      name: of the group of all outputs.
      td: the .td file.
      generator: Python script; reads the records as JSON on standard input, writes one output.
      outs: {output file: argument of the script}.
      includes: other .td files that it includes (labels).
    """
    for out, kind in outs.items():
        native.genrule(
            name = name + "_" + out.replace(".", "_"),
            srcs = [td, generator] + includes,
            outs = [out],
            cmd = "%s -dump-json -I %s -I . $(location %s) | python3 $(location %s) %s > $@" % (_LLVM_TBLGEN, _MLIR_INCLUDE, td, generator, kind),
        )
    native.filegroup(name = name, srcs = outs.keys())
