#include "tools/dtranspile/cli/dataset.h"

#include <algorithm>
#include <set>

#include "dialects/dist/lookup.h"
#include "runtime/base/printable.h"
#include "runtime/data/dataset.h"
#include "runtime/io/filesystem.h"
#include "runtime/launch/processors.h"

namespace dtranspile::cli {
namespace {

// Into how many parts ranks cut a feed: micro-batches are cut from what a rank has.
int64_t partsOf(pd::InputOp input) {
  auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
  dist::MeshOp mesh = dist::meshOf(input);
  int64_t parts = 1;
  if (batch && mesh)
    for (mlir::StringAttr axis : batch.getAxes())
      if (std::optional<unsigned> index = mesh.indexOf(axis.getValue()))
        parts *= mesh.getSizes()[*index];
  return parts;
}

// How many trainers have data of their own; nothing after a message.
std::optional<int64_t> trainersOf(Tool& tool, const data::Dataset& dataset, Runnable& runnable) {
  std::set<std::string> slots;
  for (const data::Slot& slot : dataset.slots)
    if (slot.used) slots.insert(slot.name);
  std::optional<int64_t> trainers;
  std::string first;
  for (pd::InputOp input : inputsOf(runnable)) {
    const std::string name = input.getName().str();
    if (!slots.erase(name))
      return tool.error("the program is fed '" + name + "', which is no used slot of the data set"),
             std::nullopt;
    const int64_t parts = partsOf(input);
    if (trainers && *trainers != parts)
      return tool.error("feed '" + first + "' is cut into " + std::to_string(*trainers) +
                        " parts, feed '" + name + "' into " + std::to_string(parts) +
                        ": trainers with files of their own have a part of each"),
             std::nullopt;
    trainers = parts;
    first = name;
  }
  if (!slots.empty())
    return tool.error("slot '" + Printable(*slots.begin()) +
                      "': the program feeds no variable of that name; add \"used\": false"),
           std::nullopt;
  return trainers.value_or(1);
}

}  // namespace

void declareDataset(CLI::App& app, DatasetFlags& flags) {
  CLI::Option* dataset = app.add_option(
      "--dataset", flags.description,
      "FILE.json: text files in the framework's MultiSlot format instead of --feeds");
  app.add_flag("--allow-pipe-command", flags.pipeCommand,
               "runs the `pipe_command` of the data set in a shell, once for every file")
      ->needs(dataset);
}

// Turns a description of a data set into a folder of feeds, as if they had been given. A
// description may name a command to run on every file, which needs the user's consent by a flag of
// its own.
mlir::LogicalResult feedFromDataset(Tool& tool, const DatasetFlags& flags, Runnable& runnable,
                                    const std::string& folder) {
  const auto good = [&](const absl::Status& status) {
    return status.ok()
               ? mlir::success()
               : (tool.error("--dataset: " + std::string(status.message())), mlir::failure());
  };
  absl::StatusOr<data::Dataset> dataset = data::ReadDataset(flags.description);
  if (mlir::failed(good(dataset.status()))) return mlir::failure();
  if (!dataset->pipe_command.empty() && !flags.pipeCommand)
    return tool.error("--dataset: " + flags.description + ": wants to run '" +
                      Printable(dataset->pipe_command) +
                      "' for every file; allow it with --allow-pipe-command"),
           mlir::failure();
  std::optional<int64_t> trainers = trainersOf(tool, *dataset, runnable);
  if (!trainers || mlir::failed(good(io::MakeFolders(folder)))) return mlir::failure();
  const int threads = launch::UsableProcessors();
  absl::StatusOr<data::FedDataset> fed = data::WriteFeeds(*dataset, *trainers, threads, folder);
  if (mlir::failed(good(fed.status()))) return mlir::failure();
  for (const std::string& note : fed->notes) tool.note("--dataset: " + note);
  return mlir::success();
}

}  // namespace dtranspile::cli
