// Reading the node tree of plan.json; the part of ReadPlan (plan.cc) that knows the kinds of nodes.
#pragma once

#include <vector>

#include "runtime/exec/json_reader.h"
#include "runtime/exec/plan.h"

namespace dtranspile::exec {

// Reads `array`, found at `where`, into nodes. Buffers and communicators of `plan` have been read.
std::vector<Node> ReadNodes(const Json& array, const std::string& where, const Plan& plan,
                            JsonErrors& errors);

// The position of `name` in a table of names; an error naming the known ones when it is not there.
template <typename Value, size_t kCount>
Value ReadName(const std::pair<const char*, Value> (&table)[kCount], const std::string& name,
               const std::string& where, JsonErrors& errors) {
  std::string known;
  for (const auto& [text, value] : table) {
    if (name == text) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  errors.Add(where, "unknown '" + name.substr(0, 80) + "', expected one of " + known);
  return table[0].second;
}

}  // namespace dtranspile::exec
