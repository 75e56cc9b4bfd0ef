#include "test/compiler/verify/claims/checker.h"

#include <cstdlib>
#include <regex>

#include "test/compiler/verify/claims/asked.h"
#include "test/compiler/verify/claims/elements.h"

namespace dtranspile::claims {
namespace {

using verify::Reading;
using verify::Relation;

// Instances that differ in extents only, and of one type at all: a sum over products, which nearly
// every case of the corpus ends with, need not be looked at 1,500 times.
constexpr int kMostAlike = 2, kMostOfType = 40;
// Assignments per instance and number of coordinates that are run.
constexpr size_t kMostRun = 40;
constexpr size_t kMostTexts = 6;

bool picked(llvm::StringRef type, const std::string& name) {
  const char* pattern = std::getenv("DTRANSPILE_OPS");
  if (!pattern) return true;
  const std::regex wanted(pattern);
  return std::regex_match(type.str(), wanted) ||
         std::regex_match(name.substr(name.rfind('/') + 1), wanted);
}

uint64_t hashOf(const std::string& text) {
  uint64_t hash = 1469598103934665603u;  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

// All claims of one rule about one instance along an axis of n coordinates.
class Trial {
 public:
  Trial(const Instance& instance, const verify::ParsedRule& rule, int64_t n, Native& native,
        Tally& tally)
      : instance_(instance),
        asked_(instance, rule, n),
        n_(n),
        native_(native),
        tally_(tally),
        random_(hashOf(instance.op.key()) + static_cast<uint64_t>(n)) {}

  void run() {
    std::vector<Claim> claims = claimed();
    for (Claim& claim : claims) hold(claim);
  }

 private:
  struct Claim {
    Assignment assignment;
    std::vector<Answer> answers;  // different ones, of the ways to declare the operands
  };

  std::vector<Claim> claimed();
  void hold(const Claim& claim);
  std::string holdResult(const Relation& relation, size_t result, const std::vector<Tensors>& parts,
                         const Tensors& whole);
  void fail(const Claim& claim, const Answer& answer, int result, const std::string& what);
  void leave(const std::string& why) { ++tally_.untested[why]; }
  void refused(const Claim& claim, bool zeros, size_t coordinate, const absl::Status& status);

  const Instance& instance_;
  Asked asked_;
  const int64_t n_;
  Native& native_;
  Tally& tally_;
  Random random_;
};

// Those that are run: one of every pattern of states first, then others of other scales.
std::vector<Trial::Claim> Trial::claimed() {
  std::vector<Claim> first, rest;
  std::set<std::string> patterns;
  for (Assignment& assignment : assignmentsOf(instance_.operands, n_, random_)) {
    if (!cutsOf(instance_.operands, assignment, n_)) continue;
    Claim claim{std::move(assignment), {}};
    claim.answers = asked_.answers(claim.assignment);
    if (claim.answers.empty()) continue;
    const bool fresh = patterns.insert(patternOf(claim.assignment)).second;
    (fresh ? first : rest).push_back(std::move(claim));
  }
  std::shuffle(rest.begin(), rest.end(), random_);
  if (first.size() > kMostRun) {
    std::shuffle(first.begin(), first.end(), random_);
    first.resize(kMostRun);
  }
  for (Claim& claim : rest)
    if (first.size() < kMostRun) first.push_back(std::move(claim));
  return first;
}

void Trial::fail(const Claim& claim, const Answer& answer, int result, const std::string& what) {
  ++tally_.failures;
  if (tally_.texts.size() >= kMostTexts) return;
  tally_.texts.push_back(asked_.text(claim.assignment, answer, result) + ": " + what + " (" +
                         instance_.where + ")");
}

// Wrong where all results are claimed: else the rule has not said that the op fits such operands,
// and a job in which it does not is refused when it is compiled. A zero has the extents of what it
// is added to.
void Trial::refused(const Claim& claim, bool zeros, size_t coordinate, const absl::Status& status) {
  if (zeros) return leave("takes a zero of other extents");
  for (const Answer& answer : claim.answers)
    if (llvm::all_of(answer.relations, [](const Relation& one) {
          return one.known() && Answer::untestable(one).empty();
        }))
      return fail(claim, answer, -1,
                  "coordinate " + std::to_string(coordinate) + " " + std::string(status.message()));
  leave("does not run where some results are unknown");
}

std::string Trial::holdResult(const Relation& relation, size_t result,
                              const std::vector<Tensors>& parts, const Tensors& whole) {
  Tensors own;
  for (const Tensors& part : parts) own.push_back(part[result]);
  return relation.isZero ? compareZero(own) : compare(own, relation.whole, *whole[result]);
}

void Trial::hold(const Claim& claim) {
  std::optional<Cuts> cuts = cutsOf(instance_.operands, claim.assignment, n_);
  Tensors operands = instance_.operands, results = instance_.results;
  std::vector<Tensors> held(static_cast<size_t>(n_));
  bool zeros = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Held& state = claim.assignment[i];
    std::optional<Tensors> parts = partsOf(*operands[i], state, n_, *cuts, random_);
    if (!parts) return leave("parts cannot be made");
    for (size_t c = 0; c < held.size(); ++c) held[c].push_back((*parts)[c]);
    if (state.zero) operands[i] = zerosLike(*operands[i]), zeros = true;
  }
  if (zeros) {
    absl::StatusOr<Tensors> given = native_.run(instance_.op, operands);
    if (!given.ok()) return leave("does not run with zeros");
    results = *given;
  }
  std::vector<Tensors> given;
  if (std::getenv("DTRANSPILE_TRACE"))
    fprintf(stderr, "%s\n", asked_.text(claim.assignment, claim.answers[0], -1).c_str());
  for (const Tensors& own : held) {
    absl::StatusOr<Tensors> part = native_.run(instance_.op, own);
    if (!part.ok()) return refused(claim, zeros, given.size(), part.status());
    given.push_back(std::move(*part));
  }
  for (const Answer& answer : claim.answers)
    for (auto [i, relation] : llvm::enumerate(answer.relations)) {
      if (!relation.known()) continue;
      if (std::string why = answer.untestable(relation); !why.empty()) {
        leave(why);
        continue;
      }
      if (!results[i]) {
        leave("gives no tensor");
        continue;
      }
      if (!hasNumbers(results[i]->dtype)) {
        leave("gives half floats");
        continue;
      }
      ++tally_.claims;
      if (std::string what = holdResult(relation, i, given, results); !what.empty())
        fail(claim, answer, static_cast<int>(i), what);
    }
}

}  // namespace

bool Checker::isNew(const Instance& instance) {
  const std::string key = instance.op.key();
  std::string extents = key, shape = key;
  for (const TensorPtr& tensor : instance.operands) {
    extents += std::string(" ") + NameOf(tensor->dtype);
    shape += std::string(" ") + NameOf(tensor->dtype) + (tensor->lod.empty() ? "" : "~");
    for (int64_t dim : tensor->dims) {
      extents += "," + std::to_string(dim);
      shape += dim == 1 ? ",1" : ",n";
    }
    for (const auto& level : tensor->lod) extents += "~" + std::to_string(level.size());
  }
  if (!seen_.insert(extents).second) return false;
  if (++alike_[shape] > kMostAlike) return false;
  return ++ofType_[instance.op.view().type().str()] <= kMostOfType;
}

void Checker::check(const Instance& instance) {
  const pd::OpView op = instance.op.view();
  const verify::ParsedRule* rule = ruleOf_(op.type());
  if (!rule || !isNew(instance)) return;
  Tally& tally = report_.of(op.type().str());
  if (op.spec() && op.spec()->effects & (pd::kRandom | pd::kHost | pd::kCommunicates)) {
    ++tally.untested["draws numbers, or talks to the outside"];
    return;
  }
  ++tally.instances;
  for (int64_t n : {2, 3, 4}) Trial(instance, *rule, n, native_, tally).run();
}

void Checker::checkCase(const std::string& name) {
  Visitor visitor;
  visitor.visit = [&](const Instance& instance) {
    if (visitor.wanted(instance.op.view().type())) check(instance);
  };
  visitor.leave = [&](llvm::StringRef type, const std::string& why) {
    if (visitor.wanted(type)) ++report_.of(type.str()).untested[why];
  };
  visitor.wanted = [&](llvm::StringRef type) { return picked(type, name) && ruleOf_(type); };
  visitCase(name, native_, visitor);
}

}  // namespace dtranspile::claims
