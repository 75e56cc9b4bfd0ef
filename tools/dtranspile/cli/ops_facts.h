// What the tables say of an operator, together: its row, its lowering, its relation rule, the
// programs of the corpora that have it. For ops.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/analysis/relations/rule.h"
#include "compiler/lower/native.h"
#include "dialects/pd/op_table.h"
#include "tools/coverage/coverage.h"

namespace dtranspile::cli {

struct OpFacts {
  const pd::OpSpec* spec = nullptr;
  std::optional<lower::NativeForm> native;
  // How relations of operands give those of results (`verify`); null where there is no rule, and
  // then why there can be none, if that is known.
  const verify::ParsedRule* rule = nullptr;
  std::string noRule;
  uint64_t types = 0;   // element types that the lowering takes, bit 1 << code
  uint64_t tested = 0;  // those of the argument that decides, in programs of the corpora
  std::vector<const coverage::Case*> programs;  // of the corpora, that have the op

  size_t models() const;
};

// Whether the case is a model that is trained, not a program of one operator.
bool isModel(const coverage::Case& c);

OpFacts factsOf(const pd::OpSpec& spec);

// "pointwise", "own" …: the kind of the rule. Empty where there is none.
std::string kindOfRule(const OpFacts& facts);

// "float32", "int64" …, floats first.
std::vector<std::string> typeNames(uint64_t types);

// Releases that wrote these programs: "1.8", "2.6".
std::vector<std::string> releases(const OpFacts& facts);

// The page docs/operators/index.md.
std::string opsPage();

}  // namespace dtranspile::cli
