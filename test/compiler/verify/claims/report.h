// What was tested, per op type, and how it is shown.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dtranspile::claims {

struct Tally {
  int64_t instances = 0, claims = 0;
  std::map<std::string, int64_t> untested;  // why -> how often
  int64_t failures = 0;
  std::vector<std::string> texts;  // of the first failures

  void fail(std::string text);
};

class Report {
 public:
  Tally& of(const std::string& type) { return tallies_[type]; }
  const std::map<std::string, Tally>& tallies() const { return tallies_; }

  int64_t claims() const;
  int64_t failures() const;
  std::string failureText() const;
  // One line per type with instances.
  std::string text() const;

 private:
  std::map<std::string, Tally> tallies_;
};

}  // namespace dtranspile::claims
