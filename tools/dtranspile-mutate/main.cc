// dtranspile-mutate JOB: wrong jobs from a right one, one line of JSON each; with --verify also
// what verification says of them. test/mutation/run.py measures with it.
#include <iostream>
#include <set>

#include "CLI/CLI.hpp"
#include "compiler/analysis/program_info.h"
#include "compiler/artifact/job.h"
#include "compiler/import/import.h"
#include "compiler/verify/verify.h"
#include "llvm/Support/FileSystem.h"
#include "mlir/IR/Verifier.h"
#include "tools/dtranspile-mutate/edits.h"
#include "tools/dtranspile-mutate/mutate.h"

namespace {

using namespace dtranspile;
using Json = nlohmann::ordered_json;

struct Flags {
  std::string job, output;
  uint64_t seed = 1;
  size_t count = 1, first = 0;
  std::vector<std::string> kinds;
  bool verify = false, list = false, all = false, widen = false;
};

void print(const Json& line) { std::cout << line.dump() << std::endl; }

void listKinds() {
  for (const mutate::Kind& kind : mutate::kinds())
    print({{"group", kind.group}, {"kind", kind.name}, {"meaning", kind.meaning}});
}

// "structure" where the module is no legal one: such a mutant says nothing about what is proved.
Json verdictOf(const Job& job, const verify::VerifyOptions& options) {
  verify::VerifyReport report = verify::verifyJob(*job.module, &job.manifest, options);
  Json reasons = Json::array();
  for (const verify::Rung& rung : report.rungs)
    for (const verify::Message& message : rung.messages)
      if (message.level != verify::Message::Level::Note && reasons.size() < 3)
        reasons.push_back("[" + message.rule + "] " + message.position + " " + message.op + " " +
                          message.text);
  return {{"verdict", verify::verdictName(report.overall())}, {"reasons", reasons}};
}

// What can be fetched of the job, for those who compare everything.
Json namesOf(mlir::ModuleOp job) {
  mutate::JobView view(job, mutate::Place::Main, 0);
  std::set<std::string> names;
  for (mlir::Operation* op : view.framework)
    for (mlir::Value result : op->getResults())
      if (mutate::isFloat(result) && op->getParentOp() == view.program.getOperation())
        names.insert(pd::nameOf(result).str());
  return names;
}

// What the mutant's manifest says was asked for.
Json takeRequest(mlir::OwningOpRef<mlir::ModuleOp>& module) {
  if (!module) return {};
  auto text = (*module)->getAttrOfType<mlir::StringAttr>(mutate::kRequestAttr);
  Json asked = text ? Json::parse(text.getValue().str()) : Json::object();
  (*module)->removeAttr(mutate::kRequestAttr);
  return asked;
}

// A folder, or a module alone, which gets the manifest that transpile would write.
mlir::FailureOr<Job> read(mlir::MLIRContext* context, const std::string& path) {
  if (!llvm::StringRef(path).ends_with(".mlir")) return readJob(context, path);
  mlir::FailureOr<std::string> bytes = readFile(context, path);
  if (mlir::failed(bytes)) return mlir::failure();
  Job job;
  job.module = loadBytes(context, path, *bytes);
  if (!job.module) return mlir::failure();
  job.manifest = makeManifest(*job.module, {{"mode", ""}});
  return job;
}

// Mutants are made one at a time from a fresh copy of the job, by seed and number, so that any of
// them can be made again alone. The line with its name is printed before verification begins.
int run(const Flags& flags) {
  if (flags.list) return listKinds(), 0;
  mlir::MLIRContext context;
  context.disableMultithreading();
  context.loadDialect<pd::PdDialect, dist::DistDialect>();
  mlir::FailureOr<Job> job = read(&context, flags.job);
  if (mlir::failed(job)) return 1;
  if (flags.widen) {
    if (!mutate::widenHalves(*job->module)) return 0;
    return mlir::failed(writeJob(flags.output, *job->module,
                                 makeManifest(*job->module, job->manifest["strategy"]),
                                 /*force=*/true));
  }
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic&) { return mlir::success(); });
  if (flags.verify && flags.first == 0) {
    Json line = {{"mutant", -1}, {"names", namesOf(*job->module)}};
    line.update(verdictOf(*job, {}));
    print(line);
  }
  (*job->module)
      ->setAttr(
          mutate::kRequestAttr,
          mlir::StringAttr::get(&context, job->manifest.value("strategy", Json::object()).dump()));
  std::vector<mutate::Choice> choices = mutate::choose(*job->module, flags.seed, flags.count);
  for (size_t i = flags.first; i < choices.size(); ++i) {
    if (!flags.kinds.empty() && !llvm::is_contained(flags.kinds, choices[i].kind->name) &&
        !llvm::is_contained(flags.kinds, choices[i].kind->group))
      continue;
    Json line = {{"mutant", i}, {"group", choices[i].kind->group}, {"kind", choices[i].kind->name}};
    print(line);  // so that a reader knows which one it was if verification never ends
    mutate::Mutant mutant = mutate::make(*job->module, flags.seed, choices[i]);
    line["at"] = mutant.at;
    line["what"] = mutant.what;
    Job changed;
    changed.module = std::move(mutant.module);
    const Json asked = takeRequest(changed.module);
    if (!changed.module || mlir::failed(mlir::verify(*changed.module))) {
      line["verdict"] = changed.module ? "structure" : "unchanged";
      print(line);
      continue;
    }
    changed.manifest = makeManifest(*changed.module, asked);
    verify::VerifyOptions options;
    if (mutant.kind->changesSource) options.given = findModule(*job->module, "source");
    line.update(flags.verify ? verdictOf(changed, options) : Json{{"verdict", "made"}});
    std::string verdict = line["verdict"];
    if (!flags.output.empty() && (verdict == "verified" || !flags.verify || flags.all)) {
      std::string folder = flags.output + "/" + std::to_string(i);
      if (mlir::failed(writeJob(folder, *changed.module, changed.manifest, /*force=*/true)))
        return 1;
      line["folder"] = folder;
    }
    print(line);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("wrong jobs from a right one");
  app.add_option("JOB", flags.job, "folder of the job, or its module in text");
  app.add_option("-o,--output", flags.output,
                 "folder for the mutants; with --verify for those that are verified");
  app.add_flag("--all", flags.all, "with --verify: writes those too that are not verified");
  app.add_option("--seed", flags.seed, "equal seeds make equal mutants");
  app.add_option("--count", flags.count, "mutants of every kind");
  app.add_option("--kinds", flags.kinds, "of these kinds or groups only; all, if none is named");
  app.add_option("--first", flags.first, "number of the first one");
  app.add_flag("--verify", flags.verify, "says what verification makes of each");
  app.add_flag(
      "--widen", flags.widen,
      "writes the job itself, with single in place of half precision; nothing where it has "
      "none");
  app.add_flag("--list", flags.list, "the kinds");
  CLI11_PARSE(app, argc, argv);
  if (flags.job.empty() && !flags.list) {
    std::cerr << "dtranspile-mutate: give a JOB\n";
    return 2;
  }
  if (!flags.output.empty() && !flags.widen)
    if (std::error_code error = llvm::sys::fs::create_directories(flags.output)) {
      std::cerr << "dtranspile-mutate: " << flags.output << ": " << error.message() << "\n";
      return 1;
    }
  return run(flags);
}
