#include "compiler/analysis/report.h"

#include <algorithm>

namespace dtranspile::verify {
namespace {

// More than a person reads; a job that is wrong everywhere must not fill the disk.
constexpr size_t kMessageLimit = 200;

Verdict verdictOf(Message::Level level) {
  switch (level) {
    case Message::Level::Note: return Verdict::Holds;
    case Message::Level::Unknown: return Verdict::Unknown;
    case Message::Level::Refuted: return Verdict::Refuted;
  }
  return Verdict::Refuted;
}

}  // namespace

const char* verdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::Holds: return "verified";
    case Verdict::Unknown: return "unknown";
    case Verdict::Refuted: return "refuted";
  }
  return "refuted";
}

std::string Rung::word() const {
  if (!notRun.empty()) return "not run";
  return verdict == Verdict::Holds ? holds : verdictName(verdict);
}

void Rung::add(Message message) {
  verdict = std::max(verdict, verdictOf(message.level));
  if (messages.size() < kMessageLimit) messages.push_back(std::move(message));
  else ++dropped;
}

const Rung* VerifyReport::find(const std::string& name) const {
  auto found =
      std::find_if(rungs.begin(), rungs.end(), [&](const Rung& rung) { return rung.name == name; });
  return found == rungs.end() ? nullptr : &*found;
}

Verdict VerifyReport::overall() const {
  Verdict worst = Verdict::Holds;
  for (const std::string& name : required) {
    const Rung* rung = find(name);
    worst = std::max(worst, rung ? rung->verdict : Verdict::Unknown);
  }
  return worst;
}

int exitCode(Verdict verdict) {
  switch (verdict) {
    case Verdict::Holds: return 0;
    case Verdict::Refuted: return 1;
    case Verdict::Unknown: return 3;
  }
  return 3;
}

}  // namespace dtranspile::verify
