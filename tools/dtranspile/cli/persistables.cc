#include "tools/dtranspile/cli/persistables.h"

#include <map>
#include <set>

#include "compiler/analysis/program_info.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringSet.h"
#include "runtime/exec/shares.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/output.h"
#include "runtime/io/pickle.h"
#include "runtime/io/tensor_record.h"

namespace dtranspile::cli {
namespace {

constexpr const char* kCombinedEnding = ".pdiparams";

bool isPickle(const std::string& file) {
  return io::EndingOf(file) == ".pdparams" || io::EndingOf(file) == ".pdopt";
}

// What --save writes beside a .pdparams; what --init reads there.
std::string optimizerFile(const std::string& file) { return io::WithEnding(file, ".pdopt"); }

// Of the saved program: a file of the framework has no values for what passes have added to a job
// (the snapshots of local SGD).
std::vector<std::string> persistablesOf(Runnable& runnable) {
  std::vector<std::string> names;
  for (auto var : findProgram(runnable.saved(), "main")->getParentRegion()->getOps<pd::VarOp>())
    if (pd::tensorOf(var.getType())) names.push_back(var.getSymName().str());
  llvm::sort(names);
  return names;
}

// The arrays of a pickle as tensor files of a folder. A name that is there already is an error: two
// files cannot both be right.
bool unpack(Tool& tool, const std::string& pickle, const std::string& folder) {
  absl::StatusOr<io::PickleState> state = io::ReadPickleState(pickle);
  if (!state.ok()) return tool.error(std::string(state.status().message())), false;
  for (const auto& [name, tensor] : state->tensors) {
    absl::StatusOr<std::string> path = io::PrepareInside(folder, name);
    if (path.ok() && io::LookAtLink(*path).value_or(io::Entry::kNone) != io::Entry::kNone)
      return tool.error(pickle + ": '" + name + "' is in the file of parameters beside it too"),
             false;
    absl::Status status = path.ok() ? io::WriteTensorFile(*path, tensor) : path.status();
    if (!status.ok()) return tool.error(std::string(status.message())), false;
  }
  return true;
}

bool good(Tool& tool, const absl::Status& status) {
  if (!status.ok()) tool.error(std::string(status.message()));
  return status.ok();
}

// All that the ranks have, whatever has added it.
std::set<std::string> variablesOf(Runnable& runnable) {
  std::set<std::string> names;
  for (RunnableRole& role : runnable.roles)
    for (RunnableClass& one : role.classes)
      for (pd::VarOp var : one.module->getOps<pd::VarOp>()) names.insert(var.getSymName().str());
  return names;
}

llvm::StringSet<> parametersOf(Runnable& runnable) {
  llvm::StringSet<> names;
  for (auto var : findProgram(runnable.saved(), "main")->getParentRegion()->getOps<pd::VarOp>())
    if (var.getParameter()) names.insert(var.getSymName());
  return names;
}

}  // namespace

void noteOwnValues(Tool& tool, Runnable& runnable) {
  std::vector<std::string> names;
  for (const RunnableRole& role : runnable.roles) {
    if (!role.op) continue;
    const std::map<std::string, int64_t> sizes(role.mesh.begin(), role.mesh.end());
    // Running statistics are the first rank's in the framework too.
    const auto isOwn = [&](dist::AxisRelAttr axis) {
      const auto size = sizes.find(axis.getAxis().getValue().str());
      return axis.getState() == dist::StateKind::Different && size != sizes.end() &&
             size->second > 1 && axis.getTag().getValue() != "batch_statistics";
    };
    for (auto var : dist::RoleOp(role.op).getBody().front().getOps<pd::VarOp>()) {
      auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
      if (relation && llvm::any_of(relation.getAxes(), isOwn))
        names.push_back(var.getSymName().str());
    }
  }
  if (names.empty()) return;
  tool.note("--save: every rank has its own `" + names.front() + "`" +
            (names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : "") +
            ", and the first one's is saved; checkpoints have all of them: to go on exactly, run "
            "with --checkpoint-dir and --resume");
}

// Where persistables start from: nothing (start-up makes them), a folder with a file for each, a
// pickle (.pdparams, with the .pdopt beside it), or one combined file.
mlir::FailureOr<std::optional<exec::InitConfig>> findInit(Tool& tool, Runnable& runnable,
                                                          const std::string& given,
                                                          const std::string& scratch) {
  if (given.empty()) {
    if (runnable.hasStartup() || persistablesOf(runnable).empty())
      return std::optional<exec::InitConfig>();
    tool.error(
        "nothing says what the parameters start from; add --init DIR|FILE, or --startup STARTUP");
    return mlir::failure();
  }
  exec::InitConfig init;
  const absl::StatusOr<io::Entry> entry = io::Look(given);
  if (!good(tool, entry.status())) return mlir::failure();
  if (*entry == io::Entry::kFolder) {
    init.folder = given;
    return std::optional<exec::InitConfig>(init);
  }
  if (isPickle(given)) {
    init.folder = scratch + "/init";
    io::StagedFiles::Recover(io::ParentOf(given));
    const io::FolderLock reading(io::ParentOf(given), io::FolderLock::kReading);
    const std::string optimizer = optimizerFile(given);
    const bool two =
        given != optimizer && io::Look(optimizer).value_or(io::Entry::kOther) != io::Entry::kNone;
    if (!unpack(tool, given, init.folder) || (two && !unpack(tool, optimizer, init.folder)))
      return mlir::failure();
    return std::optional<exec::InitConfig>(init);
  }
  init.combined = given;
  init.names = persistablesOf(runnable);
  return std::optional<exec::InitConfig>(init);
}

// Checked before the run begins, so that hours of training do not end with a folder that cannot be
// written. A pickle is collected as a folder in the scratch folder first.
mlir::FailureOr<SaveTarget> SaveTarget::open(Tool& tool, std::string to,
                                             const std::string& scratch) {
  SaveTarget target;
  if (to.empty()) return target;
  const bool combined = io::EndingOf(to) == kCombinedEnding;
  if (isPickle(to) || combined) {
    if (io::EndingOf(to) == ".pdopt") {
      tool.error("--save " + to +
                 ": parameters go to a .pdparams, the other persistables to the .pdopt beside it; "
                 "name the .pdparams");
      return mlir::failure();
    }
    std::vector<std::string> files = {to};
    if (!combined) files.push_back(optimizerFile(to));
    absl::StatusOr<io::StagedFiles> staged = io::StagedFiles::Create(files);
    if (!good(tool, staged.status())) return mlir::failure();
    target.files_.emplace(*std::move(staged));
    target.folder_ = scratch + "/save";
  } else {
    absl::StatusOr<io::StagedFolder> staged = io::StagedFolder::Create(to);
    if (!good(tool, staged.status())) return mlir::failure();
    target.folder_ = staged->path();
    target.staged_.emplace(*std::move(staged));
  }
  target.to_ = std::move(to);
  return target;
}

bool SaveTarget::take(Tool& tool, Runnable& runnable, const std::string& from) {
  if (!staged_) return folder_ = from, true;
  for (const std::string& name : variablesOf(runnable)) {
    const std::string file = from + "/" + name;
    absl::StatusOr<exec::Shares> shares = exec::ReadShares(from, name);
    if (!good(tool, shares.status())) return false;
    const bool sum = !shares->alike() && shares->sums();
    if (!sum && io::Look(file).value_or(io::Entry::kOther) == io::Entry::kNone) continue;
    absl::StatusOr<Tensor> value = exec::ReadWhole(from, name);
    if (!good(tool, value.status())) return false;
    absl::StatusOr<std::string> path = io::PrepareInside(folder_, name);
    if (!good(tool, path.ok() ? io::WriteTensorFile(*path, *value) : path.status())) return false;
  }
  return true;
}

// Puts what was saved in place, all or nothing.
bool SaveTarget::publish(Tool& tool, Runnable& runnable) {
  if (to_.empty()) return true;
  if (staged_) return good(tool, staged_->PublishInto());
  std::map<std::string, Tensor> values;
  for (const std::string& name : persistablesOf(runnable)) {
    absl::StatusOr<Tensor> value = io::ReadTensorFile(folder_ + "/" + name);
    if (!good(tool, value.status())) return false;
    values.emplace(name, *std::move(value));
  }
  const bool combined = io::EndingOf(to_) == kCombinedEnding;
  const llvm::StringSet<> parameters = parametersOf(runnable);
  std::map<std::string, TensorView> main, others;
  for (const auto& [name, value] : values)
    (combined || parameters.contains(name) ? main : others).emplace(name, value.view());
  const bool written = combined ? good(tool, io::WriteCombined(files_->path(), main))
                                : good(tool, io::WritePickleState(files_->path(0), main)) &&
                                      good(tool, io::WritePickleState(files_->path(1), others));
  return written && good(tool, files_->Publish());
}

}  // namespace dtranspile::cli
