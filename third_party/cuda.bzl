"""Where the CUDA toolkit is: the one place that knows.

`@cuda` has a library per part of the toolkit, and `@cuda//:defs.bzl` with HAS_CUDA, CUDA_ROOT and NVCC. The environment
variable CUDA_ROOT names another root than /usr/local/cuda. Without a toolkit the libraries are empty and HAS_CUDA is
False: BUILD files then leave out what needs it, everything else builds and runs.
"""

# target -> (header that must be there, link flags)
_LIBRARIES = {
    "cudart": ("cuda_runtime.h", ["-lcudart"]),
    "nccl": ("nccl.h", ["-lnccl", "-lcudart"]),
    "cublaslt": ("cublasLt.h", ["-lcublasLt", "-lcudart"]),
    "cudnn": ("cudnn.h", ["-lcudnn", "-lcudart"]),
}

def _library(name, includes, links):
    return "\n".join([
        "cc_library(",
        '    name = "%s",' % name,
        "    includes = %s," % repr(includes),
        "    linkopts = %s," % repr(links),
        '    visibility = ["//visibility:public"],',
        ")",
        "",
    ])

def _cuda_impl(ctx):
    root = ctx.os.environ.get("CUDA_ROOT", "/usr/local/cuda")
    found = ctx.path(root + "/include/cuda_runtime.h").exists
    libraries = root + "/lib64" if ctx.path(root + "/lib64/libcudart.so").exists else root + "/lib"
    if found:
        ctx.symlink(root + "/include", "include")
    build = []
    has = []
    for name, (header, links) in _LIBRARIES.items():
        present = found and ctx.path(root + "/include/" + header).exists
        where = ["-L" + libraries, "-Wl,-rpath," + libraries]
        build.append(_library(name, ["include"] if present else [], where + links if present else []))
        has.append('    "%s": %s,' % (name, present))
    ctx.file("BUILD.bazel", "\n".join(build))
    ctx.file("defs.bzl", "\n".join([
        "HAS_CUDA = %s" % found,
        'CUDA_ROOT = "%s"' % root,
        'NVCC = "%s/bin/nvcc"' % root,
        "HAS = {",
    ] + has + ["}", ""]))

cuda_repository = repository_rule(
    implementation = _cuda_impl,
    environ = ["CUDA_ROOT"],
    local = True,
)
