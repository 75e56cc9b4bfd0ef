"""Headers of system libraries that are parsed once.

Parsing MLIR's headers is most of what compiling one of our files costs. The compiler takes the one file of the folder `pch` that was made with its own options (.bazelrc
names the folder and says for which files): there is one for each set of options that occurs.
"""

# library -> what is precompiled. Nothing that a file may not want to see: json.hpp brings std::quoted, which argument
# dependent lookup prefers to a function of ours.
PRECOMPILED = {
    "mlir": [
        "mlir/IR/BuiltinOps.h",
        "mlir/IR/DialectImplementation.h",
        "mlir/IR/IRMapping.h",
        "mlir/IR/OpImplementation.h",
        "mlir/IR/Verifier.h",
        "mlir/Interfaces/SideEffectInterfaces.h",
        "mlir/Parser/Parser.h",
        "mlir/Pass/Pass.h",
        "llvm/ADT/MapVector.h",
        "llvm/ADT/STLExtras.h",
        "llvm/ADT/SetVector.h",
        "llvm/ADT/StringExtras.h",
        "llvm/ADT/StringSet.h",
        "llvm/ADT/TypeSwitch.h",
        "llvm/Support/raw_ostream.h",
        "algorithm",
        "functional",
        "map",
        "optional",
        "set",
        "string",
        "unordered_map",
    ],
}

# What every file is compiled with; the definitions are Bazel's.
_COMMON = "-std=c++20 -fPIC -fstack-protector -U_FORTIFY_SOURCE -fpch-instantiate-templates -Wno-builtin-macro-redefined " + \
          " ".join(["'-D__%s__=\"redacted\"'" % w for w in ["DATE", "TIMESTAMP", "TIME"]])
_OPTIMISED = "-D_FORTIFY_SOURCE=1 -DNDEBUG "

# The variable that .bazelrc sets for a sanitizer, and by its value what is compiled else: `-c opt` and a debugging
# build, each as the tests have it too, or that sanitizer.
SANITIZE = "DTRANSPILE_SANITIZE"
_OPTIONS = {
    "": {
        "opt": _OPTIMISED + "-O2",
        "opt_test": _OPTIMISED + "-O1",
        "debug": "-O0",
        "debug_test": "-O1",
    },
    "asan": {"asan": _OPTIMISED + "-O1 -UNDEBUG -fsanitize=address,undefined"},
    "tsan": {"tsan": _OPTIMISED + "-O1 -UNDEBUG -fsanitize=thread"},
    "fuzz": {"fuzz": _OPTIMISED + "-O1 -UNDEBUG -fsanitize=fuzzer-no-link,address,undefined"},
}

def precompile(ctx, headers):
    """Writes pch/NAME.pch for each set of options, all at once."""
    flavour = ctx.os.environ.get(SANITIZE, "")
    if flavour not in _OPTIONS:
        fail("%s is '%s'; known are %s" % (SANITIZE, flavour, ", ".join([f for f in _OPTIONS if f])))
    ctx.file("headers.txt", "".join(["#include <%s>\n" % h for h in headers]))
    lines = ["mkdir -p pch"]
    for name, options in _OPTIONS[flavour].items():
        # From standard input: the name of a main file would be asked for when the result is read.
        lines.append("{root}/bin/clang {common} {options} -isystem {root}/include -x c++-header - -o pch/{name}.pch <headers.txt & jobs=\"$jobs $!\"".format(
            root = ctx.attr.root,
            common = _COMMON,
            options = options,
            name = name,
        ))
    lines.append("for job in $jobs; do wait $job || exit 1; done")
    made = ctx.execute(["/bin/sh", "-c", "\n".join(lines)], timeout = 300)
    if made.return_code != 0:
        fail("the headers of %s cannot be precompiled (tools/setup/install installs them):\n%s" % (ctx.attr.library, made.stderr))

