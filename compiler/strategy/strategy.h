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
  std::variant<bool Strategy::*, int64_t Strategy::*, std::string Strategy::*,
               std::vector<std::string> Strategy::*>
      member;
  bool ranged;
  std::vector<llvm::StringRef> words, passes;
  int64_t least, most;
};

// In the order of the file, which is the order of the manifest.
const std::vector<FieldRow>& strategyFields();

// As text: "true", "32", "avg", "x=0,y=none".
std::string valueOf(const Strategy& strategy, const FieldRow& row);

// Servers of mode pserver: as many as addresses are given, or the number that stands in their
// place.
int64_t serverCount(const Strategy& strategy);

// How servers of mode pserver apply what trainers push: "sync", "async", "half_async" or "geo".
std::string serveMode(const Strategy& strategy);

// Every field that is out of range and every pair that does not go together, each with the reason;
// empty where all is well.
std::vector<std::string> problemsOf(const Strategy& strategy);

// As the manifest stores it: the fields that say something in this request.
nlohmann::ordered_json toJson(const Strategy& strategy);

}  // namespace dtranspile
