// dtranspile compile JOB|MAIN -o DIR, and the way from flags to plans that it shares with `run`.
#include "runtime/io/filesystem.h"
#include "runtime/io/staged.h"
#include "tools/dtranspile/cli/compiled.h"
#include "tools/dtranspile/cli/compiling.h"
#include "tools/dtranspile/cli/files.h"

namespace dtranspile::cli {
namespace {

struct CompileFlags : RunFlags {
  std::string output;
};

std::string planFolder(const Runnable& runnable, const RunnableRole& role, size_t index,
                       const std::string& folder) {
  const bool one = runnable.roles.size() == 1 && role.classes.size() == 1;
  return one ? folder : folder + "/" + role.name + "." + std::to_string(index);
}

}  // namespace

// What must be known before anything is compiled: the programs of all roles, where ranks run, what
// is fetched, and the extents of feeds (`feed` may write feeds first).
mlir::FailureOr<Compiled> prepare(Tool& tool, const RunFlags& flags,
                                  const PlacementFlags* placement,
                                  llvm::function_ref<mlir::LogicalResult(Runnable&)> feed) {
  mlir::FailureOr<Runnable> runnable = loadRunnable(tool, flags);
  if (mlir::failed(runnable)) return mlir::failure();
  Compiled out;
  out.runnable = std::move(*runnable);
  if (placement) {
    mlir::FailureOr<Placement> found = findPlacement(tool, out.runnable, *placement);
    if (mlir::failed(found)) return mlir::failure();
    out.placement = std::move(*found);
    if (out.placement.part) out.runnable.restrictTo(*out.placement.part);
  }
  mlir::FailureOr<std::vector<std::string>> fetches = findFetches(tool, out.runnable, flags);
  if (mlir::failed(fetches)) return mlir::failure();
  out.fetches = *fetches;
  if (mlir::failed(feed(out.runnable))) return mlir::failure();
  mlir::FailureOr<std::vector<FeedData>> feeds = findFeeds(tool, out.runnable, flags);
  if (mlir::failed(feeds)) return mlir::failure();
  out.feeds = *feeds;
  return out;
}

// Only classes that have ranks here are compiled.
mlir::LogicalResult compile(Tool& tool, const RunFlags& flags, Compiled& out,
                            const std::string& folder) {
  const Compiling compiling = {flags.cache, flags.float64, flags.mendDefects};
  for (RunnableRole& role : out.runnable.roles) {
    auto& classes = out.classes.emplace_back();
    for (auto [index, one] : llvm::enumerate(role.classes)) {
      Compiled::Class& target = classes.emplace_back();
      if (!one.here) continue;
      target.folder = planFolder(out.runnable, role, index, folder);
      mlir::FailureOr<double> ms = compileClass(tool, out.runnable, role, one, out.feeds,
                                                out.fetches, compiling, target.folder);
      if (mlir::failed(ms)) return mlir::failure();
      target.compileMs = *ms;
    }
  }
  return mlir::success();
}

namespace {

bool good(Tool& tool, const absl::Status& status) {
  if (!status.ok()) tool.error(std::string(status.message()));
  return status.ok();
}

// A folder of folders with a plan each, or of nothing else than that.
absl::Status acceptPlans(const std::string& old, const std::string& name) {
  const absl::StatusOr<std::vector<std::string>> found = io::NamesIn(old);
  const bool plans = found.ok() && llvm::all_of(*found, [&](const std::string& inner) {
                       return io::HoldsOnly(old + "/" + inner, {"plan.json", "kernels.so"});
                     });
  if (plans) return absl::OkStatus();
  return absl::AlreadyExistsError(
      name + ": exists and holds other things than compiled plans: choose another folder");
}

// Plans of several classes appear together or not at all.
mlir::LogicalResult compileInto(Tool& tool, const CompileFlags& flags, Compiled& compiled) {
  const std::vector<RunnableRole>& roles = compiled.runnable.roles;
  if (roles.size() == 1 && roles.front().classes.size() == 1)
    return compile(tool, flags, compiled, flags.output);
  absl::StatusOr<io::StagedFolder> staged = io::StagedFolder::Create(flags.output);
  if (!good(tool, staged.status())) return mlir::failure();
  if (mlir::failed(compile(tool, flags, compiled, staged->path()))) return mlir::failure();
  const auto accept = [&](const std::string& old) { return acceptPlans(old, flags.output); };
  return mlir::success(good(tool, staged->PublishOver(accept)));
}

int compileOnly(Tool& tool, const CompileFlags& flags) {
  mlir::FailureOr<Compiled> compiled =
      prepare(tool, flags, nullptr, [](Runnable&) { return mlir::success(); });
  if (mlir::failed(compiled) || mlir::failed(compileInto(tool, flags, *compiled))) return kNo;
  double ms = 0;
  for (const auto& classes : compiled->classes)
    for (const Compiled::Class& one : classes) ms += one.compileMs;
  tool.note("compiled in " + std::to_string(static_cast<int64_t>(ms)) + " ms to " + flags.output);
  return kDone;
}

}  // namespace

Action declareCompile(CLI::App& app) {
  auto flags = std::make_shared<CompileFlags>();
  app.footer("Example: dtranspile compile job --feeds feeds -o plan");
  declareRunFlags(app, *flags);
  app.add_option("-o,--output", flags->output, "folder for plan.json and kernels.so")->required();
  return [flags](Tool& tool) { return compileOnly(tool, *flags); };
}

}  // namespace dtranspile::cli
