"""Repositories of the system: Bazel's own rule sets and the libraries of Debian's packages.

One row per library: which headers, which link flags. tools/setup/packages.txt names the packages and says why each
is used. Bazel 4.2.3 asks for rules_java, rules_proto, platforms, bazel_skylib, rules_cc and remote_coverage_tools before
it builds anything; all of them are local.
"""

load("//third_party:precompiled.bzl", "PRECOMPILED", "SANITIZE", "precompile")

_LIBDIR = "/usr/lib/x86_64-linux-gnu"
_LLVM = "/usr/lib/llvm-22"

# name -> (root, include folders below it that the compiler does not search by itself, link flags,
# defines)
_LIBRARIES = {
    "mlir": (
        _LLVM,
        ["include"],
        ["-L" + _LLVM + "/lib", "-lMLIR", "-lLLVM-22", "-Wl,-rpath," + _LLVM + "/lib"],
        [],
    ),
    "lld": (_LLVM, ["include"], ["-L" + _LLVM + "/lib", "-llldELF", "-llldCommon", "-lz", "-lzstd"], []),
    "protobuf": ("/usr", [], ["-lprotobuf", "-lpthread"], []),
    "absl": (
        "/usr",
        [],
        ["-l" + lib for lib in [
            "absl_status",
            "absl_statusor",
            "absl_cord",
            "absl_cord_internal",
            "absl_cordz_info",
            "absl_cordz_handle",
            "absl_cordz_functions",
            "absl_synchronization",
            "absl_graphcycles_internal",
            "absl_stacktrace",
            "absl_symbolize",
            "absl_malloc_internal",
            "absl_debugging_internal",
            "absl_demangle_internal",
            "absl_time",
            "absl_civil_time",
            "absl_time_zone",
            "absl_str_format_internal",
            "absl_strings",
            "absl_strings_internal",
            "absl_int128",
            "absl_exponential_biased",
            "absl_base",
            "absl_spinlock_wait",
            "absl_throw_delegate",
            "absl_raw_logging_internal",
            "absl_log_severity",
            "absl_strerror",
            "absl_bad_optional_access",
            "absl_bad_variant_access",
        ]],
        [],
    ),
    "grpc": ("/usr", [], ["-lgrpc++", "-lgrpc", "-lgpr", "-lpthread"], []),
    "gloo": ("/usr", [], ["-lgloo", "-lpthread"], []),
    "onednn": ("/usr", [], ["-ldnnl", "-lgomp"], []),
    "cli11": ("/usr", [], [], []),
    "json": ("/usr", [], [], []),
    "xxhash": ("/usr", [], ["-lxxhash"], []),
    "z3": ("/usr", [], ["-lz3"], []),
    "catch2": ("/usr", [], [], []),
}

_RULES_CC = """
cc_binary = native.cc_binary
cc_library = native.cc_library
cc_test = native.cc_test
cc_import = native.cc_import
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
cc_proto_library = native.cc_proto_library
fdo_prefetch_hints = native.fdo_prefetch_hints
fdo_profile = native.fdo_profile
objc_import = native.objc_import
objc_library = native.objc_library
"""

def _rules_cc_impl(ctx):
    ctx.file("BUILD.bazel", "")
    ctx.file("cc/BUILD.bazel", "")
    ctx.file("cc/defs.bzl", _RULES_CC)

_rules_cc = repository_rule(implementation = _rules_cc_impl)

def _coverage_impl(ctx):
    ctx.file("BUILD.bazel", 'sh_binary(name = "coverage_report_generator", srcs = ["nothing.sh"], visibility = ["//visibility:public"])')
    ctx.file("nothing.sh", "#!/bin/sh\nexit 0\n", executable = True)

_coverage_tools = repository_rule(implementation = _coverage_impl)

def _system_library_impl(ctx):
    # Headers under /usr/include are found by the compiler itself; naming each as an input would
    # make every compile action stat thousands of files. Libraries below another prefix get a link.
    includes = ctx.attr.includes
    lines = []
    if includes:
        ctx.symlink(ctx.attr.root, "root")
    lines.append("cc_library(")
    lines.append('    name = "%s",' % ctx.attr.library)
    if includes:
        lines.append("    includes = %s," % repr(["root/" + i for i in includes]))
    lines.append("    linkopts = %s," % repr(ctx.attr.links))
    lines.append("    defines = %s," % repr(ctx.attr.library_defines))
    lines.append('    visibility = ["//visibility:public"],')
    lines.append(")")
    ctx.file("BUILD.bazel", "\n".join(lines) + "\n")
    if ctx.attr.precompiled:
        precompile(ctx, ctx.attr.precompiled)

_system_library = repository_rule(
    implementation = _system_library_impl,
    configure = True,
    environ = [SANITIZE],
    attrs = {
        "library": attr.string(),
        "root": attr.string(),
        "includes": attr.string_list(),
        "links": attr.string_list(),
        "library_defines": attr.string_list(),
        "precompiled": attr.string_list(),
    },
)

def system_repositories():
    native.local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
    native.local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")
    native.local_repository(name = "platforms", path = "/usr/share/bazel/tools/platforms")
    native.local_repository(name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")
    _rules_cc(name = "rules_cc")
    _coverage_tools(name = "remote_coverage_tools")
    for name, (root, includes, links, defines) in _LIBRARIES.items():
        _system_library(
            name = name,
            library = name,
            root = root,
            includes = includes,
            links = links,
            library_defines = defines,
            precompiled = PRECOMPILED.get(name, []),
        )
