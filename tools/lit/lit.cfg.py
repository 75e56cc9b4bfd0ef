# Settings of lit, copied by run_lit.sh beside the one test that it runs.
import os

import lit.formats

config.name = "dtranspile"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir"]
here = os.path.dirname(os.path.abspath(__file__))
config.test_source_root = here
config.test_exec_root = here
config.environment["PATH"] = os.pathsep.join(
    [here + "/bin", "/usr/lib/llvm-22/bin", "/usr/local/bin", "/usr/bin", "/bin"]
)
config.substitutions.append(("%workspace", os.environ["DTRANSPILE_WORKSPACE"]))
