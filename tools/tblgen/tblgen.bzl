"""TableGen: one action per generated file."""

_MLIR_TBLGEN = "/usr/lib/llvm-22/bin/mlir-tblgen"
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
