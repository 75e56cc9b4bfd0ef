#include "tools/dtranspile/cli/strategy_flags.h"

#include <algorithm>

#include "compiler/import/import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace dtranspile::cli {
namespace {

const char kCheckpoints[] = "recompute_checkpoints",
           kCheckpointsEntry[] = "recompute_configs.checkpoints";

// A field that is on by default is turned off with `false`.
CLI::Option* declareField(CLI::App& app, const FieldRow& row, bool& value) {
  const std::string flag = "--" + row.flag.str(), meaning = row.meaning.str();
  if (value) return app.add_option(flag, value, meaning + " (default true)");
  return app.add_flag(flag, value, meaning);
}
CLI::Option* declareField(CLI::App& app, const FieldRow& row, int64_t& value) {
  CLI::Option* option = app.add_option(
      "--" + row.flag.str(), value, row.meaning.str() + " (default " + std::to_string(value) + ")");
  return row.ranged ? option->check(wholeNumber(row.least, row.most)) : option;
}
CLI::Option* declareField(CLI::App& app, const FieldRow& row, double& value) {
  return app.add_option("--" + row.flag.str(), value,
                        row.meaning.str() + " (default " + valueOf(Strategy(), row) + ")");
}
CLI::Option* declareField(CLI::App& app, const FieldRow& row, std::string& value) {
  return app
      .add_option("--" + row.flag.str(), value, row.meaning.str() + " (default " + value + ")")
      ->check(CLI::IsMember(std::vector<std::string>(row.words.begin(), row.words.end())));
}
CLI::Option* declareField(CLI::App& app, const FieldRow& row, std::vector<std::string>& value) {
  return app.add_option("--" + row.flag.str(), value, row.meaning.str())->delimiter(',');
}

}  // namespace

// A flag for every row of the strategy table.
void StrategyFlags::declareFields(CLI::App& app) {
  for (const FieldRow& row : strategyFields())
    std::visit(
        [&](auto member) {
          options_.emplace_back(row.name.str(), declareField(app, row, strategy_.*member));
        },
        row.member);
  const auto named = [](const auto& each) { return each.first == kCheckpoints; };
  app.add_option("--checkpoints", checkpoints_,
                 "values that recompute keeps, where the strategy file names none")
      ->delimiter(',')
      ->excludes(std::find_if(options_.begin(), options_.end(), named)->second);
}

// The file, the flags that were given (and not their defaults), and the spelling of recompute's
// checkpoints that the framework's call has.
std::optional<Request> StrategyFlags::request(Tool& tool) const {
  std::set<std::string> given;
  for (const auto& [name, option] : options_)
    if (option->count() > 0) given.insert(name);
  parsed_.reset();
  Findings findings;
  Strategy strategy = strategy_;
  if (!file_.empty()) {
    mlir::FailureOr<std::string> text = readFile(tool.context(), file_);
    if (mlir::failed(text)) return std::nullopt;
    parsed_ = StrategyFile::read(*text, findings);
  }
  // What the framework's Python call passes beside its strategy: the strategy wins.
  if (!checkpoints_.empty()) {
    if (const Said* said = parsed_ ? parsed_->find(kCheckpointsEntry) : nullptr)
      findings.push_back({Finding::Level::Note,
                          "--checkpoints has no effect: " + said->path + " names others",
                          said->place,
                          {}});
    else {
      strategy.recompute_checkpoints = checkpoints_;
      given.insert(kCheckpoints);
    }
  }
  Request request = makeRequest(strategyFile(), strategy, given);
  request.findings.insert(request.findings.begin(), findings.begin(), findings.end());
  return request;
}

std::string StrategyFlags::textOf(const Origin& origin, const FieldRow& field) const {
  switch (origin.kind) {
    case Origin::Kind::Default: return "default";
    case Origin::Kind::Flag: return "--" + field.flag.str();
    case Origin::Kind::File:
      return file_ + ":" + std::to_string(origin.place.line) + ":" +
             std::to_string(origin.place.column);
  }
  return "";
}

void report(Tool& tool, const std::string& file, const Findings& findings) {
  const auto at = [&](Place place) -> mlir::Location {
    if (!place && file.empty()) return mlir::UnknownLoc::get(tool.context());
    return mlir::FileLineColLoc::get(tool.context(), file, place.line, place.column);
  };
  for (const Finding& each : findings) {
    mlir::InFlightDiagnostic diagnostic = each.level == Finding::Level::Error
                                              ? mlir::emitError(at(each.place))
                                              : mlir::emitRemark(at(each.place));
    diagnostic << each.message;
    for (const auto& [place, text] : each.related) diagnostic.attachNote(at(place)) << text;
  }
}

}  // namespace dtranspile::cli
