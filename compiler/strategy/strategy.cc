#include "compiler/strategy/strategy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile {
namespace {

// Pairs of fields that do not go together. What a field may be by itself is its row's.
struct Rule {
  bool (*broken)(const Strategy&);
  const char* message;  // the fields, what is wrong, what to do
};

const Rule kRules[] = {
    {[](const Strategy& s) { return s.mode == "nccl2" && s.collective_mode != "grad_allreduce"; },
     "mode nccl2 and collective_mode local_sgd: nccl2 reduces gradients; use mode collective for "
     "local_sgd"},
    {[](const Strategy& s) {
       return s.use_hierarchical_allreduce && s.hierarchical_allreduce_inter_nranks < 2;
     },
     "use_hierarchical_allreduce and hierarchical_allreduce_inter_nranks: an inner group has at "
     "least 2 ranks"},
    {[](const Strategy& s) {
       return s.use_hierarchical_allreduce && s.hierarchical_allreduce_inter_nranks >= 2 &&
              (s.trainers <= s.hierarchical_allreduce_inter_nranks ||
               s.trainers % s.hierarchical_allreduce_inter_nranks != 0);
     },
     "trainers and hierarchical_allreduce_inter_nranks: inner groups of equal size, more than one "
     "of them, make up all trainers"},
    {[](const Strategy& s) { return s.use_hierarchical_allreduce && !s.fuse_all_reduce_ops; },
     "use_hierarchical_allreduce and fuse_all_reduce_ops=false: three operations per gradient "
     "instead of one would be slower than none of both; keep buckets "
     "on"},
    {[](const Strategy& s) {
       return s.mode == "collective" && s.collective_mode == "local_sgd" &&
              s.scale_strategy != "avg";
     },
     "collective_mode local_sgd and scale_strategy: gradients are not reduced, nothing is scaled"},
};

std::string because(const FieldRow& row, const std::string& what) {
  return row.name.str() + ": " + what + (row.remedy.empty() ? "" : "; " + row.remedy.str());
}

// What is wrong with the value of one field; empty where it is legal.
std::string problemOf(const Strategy& strategy, const FieldRow& row) {
  const std::string value = valueOf(strategy, row);
  if (!row.words.empty() && !llvm::is_contained(row.words, value))
    return because(row, "'" + value + "' is none of " + llvm::join(row.words, ", "));
  const auto* number = std::get_if<int64_t Strategy::*>(&row.member);
  if (number && row.ranged && (strategy.*(*number) < row.least || strategy.*(*number) > row.most))
    return because(
        row, "lies between " + std::to_string(row.least) + " and " + std::to_string(row.most));
  // Values travel as options of passes in the text of a pipeline, which has its own punctuation.
  const auto* list = std::get_if<std::vector<std::string> Strategy::*>(&row.member);
  if (list)
    for (const std::string& each : strategy.*(*list))
      if (each.empty() || each.find_first_of(", \t\n\"'{}()[]<>") != std::string::npos)
        return because(row, "'" + each + "' is empty or holds a blank, comma, quote or bracket");
  return "";
}

bool isRelevant(const Strategy& strategy, const FieldRow& row) {
  if (row.relevant.empty()) return true;
  auto [name, wanted] = row.relevant.split('=');
  const auto other =
      llvm::find_if(strategyFields(), [&](const FieldRow& each) { return each.name == name; });
  return valueOf(strategy, *other) == wanted;
}

}  // namespace

const std::vector<FieldRow>& strategyFields() {
  static const std::vector<FieldRow> rows = {
#include "compiler/strategy/fields.cc.inc"
  };
  return rows;
}

std::string valueOf(const Strategy& strategy, const FieldRow& row) {
  struct Text {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const std::vector<std::string>& value) const {
      return llvm::join(value, ",");
    }
  };
  return std::visit([&](auto member) { return Text()(strategy.*member); }, row.member);
}

std::vector<std::string> problemsOf(const Strategy& strategy) {
  std::vector<std::string> problems;
  for (const FieldRow& row : strategyFields())
    if (std::string problem = problemOf(strategy, row); !problem.empty())
      problems.push_back(std::move(problem));
  for (const Rule& rule : kRules)
    if (rule.broken(strategy)) problems.push_back(rule.message);
  return problems;
}

nlohmann::ordered_json toJson(const Strategy& strategy) {
  nlohmann::ordered_json json;
  for (const FieldRow& row : strategyFields())
    if (isRelevant(strategy, row))
      std::visit([&](auto member) { json[row.name.str()] = strategy.*member; }, row.member);
  return json;
}

}  // namespace dtranspile
