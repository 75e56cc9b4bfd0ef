// What a user asks for, checked as a whole. Filled by the command line from flags, or from the
// options of a textual pipeline; read by compiler/pipelines, stored in the manifest as honoured.
// Its fields are the rows of fields.td and nothing else: whoever needs all of them walks the rows.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "nlohmann/json.hpp"

namespace dtranspile {

struct Strategy {
#include "compiler/strategy/fields.h.inc"
};

// A row of fields.td; what its columns mean is said there.
struct FieldRow {
  llvm::StringRef name, flag, meaning, remedy, relevant;
  std::variant<bool Strategy::*, int64_t Strategy::*, double Strategy::*, std::string Strategy::*,
               std::vector<std::string> Strategy::*>
      member;
  bool ranged;
  std::vector<llvm::StringRef> words, passes;
  int64_t least, most;
};

// In the order of the file, which is the order of the manifest.
const std::vector<FieldRow>& strategyFields();

// Null where there is no such field.
const FieldRow* fieldNamed(llvm::StringRef name);

// Whether the field says something in this request (column `relevant`).
bool isRelevant(const Strategy& strategy, const FieldRow& row);

// As text: "true", "32", "0.001", "avg", "x=0,y=none".
std::string valueOf(const Strategy& strategy, const FieldRow& row);

// Servers of mode pserver: as many as addresses are given, or the number that stands in their
// place.
int64_t serverCount(const Strategy& strategy);

// How servers of mode pserver apply what trainers push: "sync", "async", "half_async" or "geo".
std::string serveMode(const Strategy& strategy);

struct Problem {
  std::string message;
  std::vector<std::string> names;  // of the fields and features (composition.h) that it is about
};

// Every field that is out of range, values that do not go together, and pairs of features that do
// not; each with the reason. Empty where all is well. `features` are asked for beside those that
// the fields ask for: such as there is no field for yet.
std::vector<Problem> problemsOf(const Strategy& strategy,
                                const std::vector<std::string>& features = {});

// As the manifest stores it: the fields that say something in this request.
nlohmann::ordered_json toJson(const Strategy& strategy);

}  // namespace dtranspile
