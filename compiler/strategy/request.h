// A request made of a strategy file and flags: flags override the file, the file the defaults.
// Called by the command line; `strategy show` prints where each value came from.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/strategy/file.h"
#include "compiler/strategy/strategy.h"

namespace dtranspile {

// Where a field's value came from. `place` is that of the entry in the file; `entry` its path
// there.
struct Origin {
  enum class Kind { Default, File, Flag };
  Kind kind = Kind::Default;
  Place place;
  std::string entry;
};

struct Request {
  Strategy strategy;
  std::map<std::string, Origin> origins;  // by field; a field that is not in it has its default
  Findings findings;                      // errors and notes, in the order of the file

  Origin originOf(llvm::StringRef field) const {
    const auto found = origins.find(field.str());
    return found == origins.end() ? Origin() : found->second;
  }
};

// `file` may be null. `flags` holds the values of the fields named in `given`.
Request makeRequest(const StrategyFile* file, const Strategy& flags,
                    const std::set<std::string>& given);

}  // namespace dtranspile
