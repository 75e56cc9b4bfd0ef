// JSON of untrusted files: read under a budget of bytes, values and depth, then looked at without
// exceptions. Called by program.cc.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace dtranspile::pir {

using nlohmann::json;

struct Budget {
  int64_t maxBytes = int64_t{1} << 28;
  int64_t maxValues = 20'000'000;  // JSON values of the whole file, keys included
  int maxDepth = 256;              // of arrays and objects; a region costs six
  int maxRank = 64;                // extents of a tensor, lists of types within a list
};

// Empty on success; else what is wrong, with the byte offset where there is one.
std::string parseJson(llvm::StringRef bytes, const Budget& budget, json& out);

// The member of an object; null when `value` is no object or has none of that name.
const json* member(const json* value, const char* key);

// The member when it is an array, else null.
const json* arrayMember(const json* value, const char* key);

// Text of a member, or null.
const std::string* textMember(const json* value, const char* key);

// An integer that fits: JSON booleans count as 0 and 1, fractions and what is beyond 64 bits are
// refused.
bool readInteger(const json& value, int64_t& out);

}  // namespace dtranspile::pir
