// The flags of a request, one per field, and `--strategy FILE`: what `transpile` and `strategy`
// share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/strategy/request.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

class StrategyFlags {
 public:
  // One flag per field of a request, and --checkpoints, which stands back behind the file.
  void declareFields(CLI::App& app);

  // Of the strategy; empty: there is none.
  std::string& file() { return file_; }
  const std::string& file() const { return file_; }

  // Reads the file where there is one, and lays the given flags over it. Nothing where the file
  // cannot be read (reported); errors of its content are in the findings.
  std::optional<Request> request(Tool& tool) const;
  // The file of the last request(); null where there is none, or it has errors.
  const StrategyFile* strategyFile() const { return parsed_ ? &*parsed_ : nullptr; }

  // "strategy.prototxt:3:1", "--trainers", "default"
  std::string textOf(const Origin& origin, const FieldRow& field) const;

 private:
  std::string file_;
  Strategy strategy_;
  std::vector<std::string> checkpoints_;
  std::vector<std::pair<std::string, CLI::Option*>> options_;  // by field
  mutable std::optional<StrategyFile> parsed_;
};

// Writes findings as diagnostics of the file.
void report(Tool& tool, const std::string& file, const Findings& findings);

}  // namespace dtranspile::cli
