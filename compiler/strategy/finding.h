// What is to be said about a strategy file or a request, with the places in the file: errors, and
// notes about what is spelled differently or has no effect. The command line prints them as a
// compiler does, or as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace dtranspile {

// Counted from 1; 0 where nothing in the file says it.
struct Place {
  int line = 0, column = 0;
  explicit operator bool() const { return line > 0; }
  bool operator==(const Place&) const = default;
};

struct Finding {
  enum class Level { Error, Note };
  Level level = Level::Error;
  std::string message;
  Place place;
  std::vector<std::pair<Place, std::string>> related;  // the other end of a conflict
};

using Findings = std::vector<Finding>;

inline bool hasError(const Findings& findings) {
  for (const Finding& each : findings)
    if (each.level == Finding::Level::Error) return true;
  return false;
}

}  // namespace dtranspile
