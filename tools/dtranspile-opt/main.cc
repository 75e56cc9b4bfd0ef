// dtranspile-opt: runs any of our passes on text, for lit tests and for authors of passes.
#include "compiler/pipelines/collective.h"
#include "compiler/pipelines/phases.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace {

// MlirOptMain only warns about a plugin that it cannot load and goes on without; a pipeline that
// silently lacks a pass is worse than none.
bool pluginsLoad(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef word = llvm::StringRef(argv[i]).ltrim('-');
    if (!word.consume_front("load-pass-plugin")) continue;
    std::string file = word.consume_front("=") ? word.str() : i + 1 < argc ? argv[i + 1] : "";
    llvm::Expected<mlir::PassPlugin> plugin = mlir::PassPlugin::load(file);
    if (plugin) continue;
    llvm::errs() << "error: pass plugin '" << file
                 << "' cannot be loaded: " << llvm::toString(plugin.takeError()) << "\n";
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (!pluginsLoad(argc, argv)) return 1;
  mlir::DialectRegistry registry;
  registry.insert<dtranspile::pd::PdDialect, dtranspile::dist::DistDialect>();
  dtranspile::registerCollectivePipeline();
  dtranspile::registerPhases();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "passes over saved programs and jobs\n", registry));
}
