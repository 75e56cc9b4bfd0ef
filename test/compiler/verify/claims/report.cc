#include "test/compiler/verify/claims/report.h"

#include "absl/strings/str_cat.h"

namespace dtranspile::claims {
namespace {

constexpr size_t kMostTexts = 6;

}  // namespace

void Tally::fail(std::string text) {
  ++failures;
  if (texts.size() < kMostTexts) texts.push_back(std::move(text));
}

int64_t Report::claims() const {
  int64_t sum = 0;
  for (const auto& [type, tally] : tallies_) sum += tally.claims;
  return sum;
}

int64_t Report::failures() const {
  int64_t sum = 0;
  for (const auto& [type, tally] : tallies_) sum += tally.failures;
  return sum;
}

std::string Report::failureText() const {
  std::string text;
  for (const auto& [type, tally] : tallies_) {
    if (!tally.failures) continue;
    absl::StrAppend(&text, type, ": ", tally.failures, " of ", tally.claims, " claims are wrong\n");
    for (const std::string& one : tally.texts) absl::StrAppend(&text, "  ", one, "\n");
  }
  return text;
}

std::string Report::text() const {
  std::string text;
  for (const auto& [type, tally] : tallies_) {
    absl::StrAppend(&text, type, ": ", tally.instances, " instances, ", tally.claims, " claims");
    if (tally.failures) absl::StrAppend(&text, ", ", tally.failures, " WRONG");
    for (const auto& [why, count] : tally.untested) absl::StrAppend(&text, "; ", count, " ", why);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace dtranspile::claims
