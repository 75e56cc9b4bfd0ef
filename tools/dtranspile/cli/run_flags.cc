#include "tools/dtranspile/cli/run_flags.h"

#include "runtime/exec/config.h"

namespace dtranspile::cli {

void declareRunFlags(CLI::App& app, RunFlags& flags) {
  app.add_option("INPUT", flags.input, "JOB, or MAIN for the single-device program")->required();
  app.add_option("--startup", flags.startup, "start-up program of MAIN");
  app.add_option("--feeds", flags.feeds,
                 "folder with NAME.npy per feed; leading dimension = step, then the global batch. "
                 "Ragged: NAME.step<k>.npy, NAME.step<k>.lod.json");
  app.add_option("--feed", flags.feed, "NAME=FILE.npy, for single ones; of ragged data NAME=STEM");
  app.add_option("--fetch", flags.fetch, "what to report (repeatable); default: the loss");
  app.add_option("--steps", flags.steps, "steps to run; default: as many as the feeds have")
      ->check(wholeNumber(1));
  app.add_option("--cache", flags.cache,
                 "folder of compiled kernels; default: below the user's cache folder");
  app.add_option("--threads", flags.threads, "threads of a rank; default: cores / ranks")
      ->check(CLI::Range(1, exec::kMostThreads));
  app.add_flag("--float64", flags.float64,
               "computes everything that the program does in float32 in float64; files of float32 "
               "are widened");
  app.add_flag(
      "--mend-defects", flags.mendDefects,
      "formulas as documented where kernels of the framework are known to depart from them");
}

}  // namespace dtranspile::cli
