#include "compiler/verify/relations/relations.h"

#include "compiler/analysis/divergence.h"
#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/averages.h"
#include "compiler/analysis/relations/sites.h"
#include "compiler/analysis/relations/table_sum.h"
#include "compiler/artifact/fetches.h"
#include "compiler/verify/relations/adaptation.h"
#include "compiler/verify/relations/compensation.h"
#include "compiler/verify/relations/compression.h"
#include "compiler/verify/relations/contracts.h"
#include "compiler/verify/relations/demands.h"
#include "compiler/verify/relations/exchange.h"
#include "compiler/verify/relations/invariants.h"
#include "compiler/verify/relations/names.h"
#include "compiler/verify/relations/queues.h"
#include "compiler/verify/relations/shares.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::verify {
namespace {

using Json = nlohmann::ordered_json;

struct Totals {
  int64_t values = 0, operations = 0, sites = 0;
};

// What is found out about one program of one role. Parts of it point to each other.
struct RoleCheck {
  RoleCheck(Question asked, Rung& rung)
      : question(asked),
        store(std::make_unique<Store>(axesOf(question.role))),
        explainer(std::make_unique<Explainer>(*store, rung)),
        demands(std::make_unique<Demands>(question, *explainer, rung)) {}

  Question question;
  std::unique_ptr<Store> store;
  std::unique_ptr<Explainer> explainer;
  std::unique_ptr<Demands> demands;
};

// What a site of a type means beyond "per share", and how to be rid of it.
struct Advice {
  llvm::StringRef type, meaning, remedy;
};
constexpr Advice kAdvice[] = {
    {"batch_norm", "its statistics are those of the share", "make the job with --sync-batch-norm"},
    {"elementwise_div",
     "the mean of the ranks' ratios is not the ratio of the sums, unless the divisor is the same "
     "on every rank",
     "divide by a number that does not depend on the batch, or feed every rank samples with the "
     "same divisor (as many counted ones, weights of the same sum)"},
};

const Advice& adviceFor(llvm::StringRef type) {
  static constexpr Advice kOther = {"", "", "compute this op over the whole batch"};
  const Advice* found = llvm::find_if(kAdvice, [&](const Advice& one) { return one.type == type; });
  return found == std::end(kAdvice) ? kOther : *found;
}

// Sites are declared, or refuted: a dropped all_reduce of statistics looks like one.
void checkSites(llvm::ArrayRef<Site> sites, const Axes& axes, const Contracts& contracts,
                Rung& rung) {
  auto declared = contracts.sites.find("parts");
  for (const Site& site : sites) {
    const Advice& advice = adviceFor(typeOf(site.op));
    std::string why = typeOf(site.op) + " " + site.reason.why;
    if (site.reason.operand) why += " (" + nameText(site.reason.operand) + ")";
    if (site.reason.axis >= 0) why += ", along data axis " + axes.names[site.reason.axis];
    if (site.reason.misfit) {
      // No contract makes it right: what a rank computes is not the reference's step on anything.
      rung.add(
          messageAt(site.op, Message::Level::Unknown, "misfit",
                    why + ": on a rank the extents of its operands fit only where this one's is 1",
                    "cut the feeds that meet here alike (--batch-dim), or declare the extent 1 in "
                    "the program"));
      continue;
    }
    std::string meaning = why +
                          ": after it the job equals the reference on each rank's share of the "
                          "batch, averaged, and not on the whole batch";
    if (!advice.meaning.empty()) meaning += "; " + advice.meaning.str();
    bool ok = declared != contracts.sites.end() && declared->second.count(siteName(site.op));
    rung.add(messageAt(site.op, ok ? Message::Level::Note : Message::Level::Refuted, "site",
                       meaning + (ok ? " (declared)" : ", and the job does not declare it"),
                       ok ? ""
                          : advice.remedy.str() + ", or declare the site \"" + siteName(site.op) +
                                "\" in the contract \"parts\""));
  }
}

// A loss that is a sum, of all micro-batches that a rank has had: on its share it is as many times
// what the reference's ops give for one of them.
bool addsUpMicroBatches(const Relation& loss, dist::RoleOp role) {
  int64_t turns = 1;
  if (dist::MeshOp mesh = dist::meshOf(role))
    for (int64_t size : mesh.getTimeSizes()) turns *= size;
  return loss.whole.known && loss.whole.scale.isOne() && loss.parts.scale == Rational(turns);
}

// Where it was lost: the first op on the way to the value of which nothing is known, and why.
std::string whereLost(const Store& store, mlir::Value value) {
  std::string text;
  llvm::SmallPtrSet<const void*, 16> seen;
  while (value && seen.insert(value.getAsOpaquePointer()).second) {
    const Reason* why = store.reasonOf(value);
    if (!why) break;
    text = ": what gives " + nameText(value) + " " + why->why;
    value = why->operand;
  }
  return text;
}

// What the manifest calls the loss, and what the programs do, is the reference's; and some role has
// a value of it.
void checkLoss(llvm::ArrayRef<RoleCheck> roles, pd::ProgramOp original, llvm::StringRef named,
               Rung& rung) {
  const std::string loss = findLoss(original);
  std::string other = !named.empty() && named != loss ? named.str() : "";
  for (const RoleCheck& role : roles)
    if (const std::string own = findLoss(role.question.program); !own.empty() && own != loss)
      other = own;
  if (!other.empty() || (!loss.empty() && llvm::all_of(roles, [](const RoleCheck& role) {
        return findLoss(role.question.program).empty();
      })))
    rung.add(messageAt(
        roles.front().question.program, Message::Level::Refuted, "loss",
        "the loss of the job is called `" + other + "`; that of the reference is `" + loss + "`",
        "keep the names of the ops of the loss"));
  const int number = loss.empty() ? -1 : roles.front().question.reference.namedNumber(loss);
  if (number < 0) return;
  // What a fetch of it reports.
  std::string lost;
  for (const RoleCheck& role : roles) {
    mlir::Value value = lastNamed(role.question.program, loss);
    if (!value) value = role.store->lastFor(number);
    if (value && lost.empty()) lost = whereLost(*role.store, value);
    if (!value || !role.store->of(value).known()) continue;
    // On its share a rank reports what the reference's ops give there, and no multiple of it.
    const Reading& parts = role.store->of(value).parts;
    pd::ProgramOp program = role.question.program;
    if (parts.known && !parts.scale.isLost() && !parts.scale.isOne() &&
        !addsUpMicroBatches(role.store->of(value), role.question.role))
      rung.add(messageAt(value.getDefiningOp() ? value.getDefiningOp() : program.getOperation(),
                         Message::Level::Refuted, "scale",
                         "gives " + parts.scale.text() + " times the loss `" + loss +
                             "`, under its name: whoever fetches the loss reads that",
                         "remove the factor, or give what has it another name"));
    return;
  }
  rung.add(messageAt(roles.front().question.program, Message::Level::Unknown, "loss",
                     "no value with a known relation stands for the loss `" + loss + "`" + lost,
                     "keep the ops of the loss, with their dist.src"));
}

// What the manifest says of the loss that a run reports. It was written when the role was analysed
// by itself: where that is what has been done here, nothing is done again. `roles`: what is known
// of them; none where the programs that were analysed are not those of the job.
void checkFetches(mlir::ModuleOp job, llvm::ArrayRef<RoleCheck> roles, const Json& manifest,
                  Rung& rung) {
  if (rung.verdict == Verdict::Refuted) return;
  Json expected = Json::array();
  for (auto role : job.getOps<dist::RoleOp>()) {
    pd::ProgramOp program = findProgram(role, "main");
    const std::string loss = program ? findLoss(program) : "";
    if (loss.empty()) continue;
    const bool alone = roles.size() == 1 && roles.front().question.role == role;
    expected = fetchesText(alone ? fetchRelations(*roles.front().store, role, program, loss)
                                 : fetchRelations(job, role, loss));
    break;
  }
  auto said = manifest.find("fetches");
  if (said != manifest.end() && *said == expected) return;
  Message message;
  message.rule = "manifest";
  message.position = "manifest.json: fetches";
  message.text = "does not say what the module says";
  message.remedy = "make the job again with transpile; its two files belong together";
  rung.add(std::move(message));
}

// What no walk has met: in a block that is one op for the rules, at an op of an exchange.
void checkClaimsKnown(const RoleCheck& role, Rung& rung) {
  pd::ProgramOp(role.question.program)->walk([&](mlir::Operation* op) {
    if (!op->hasAttr(dist::kRelAttr) || role.store->knowsClaims(op)) return;
    rung.add(messageAt(op, Message::Level::Unknown, "claim",
                       "claims a relation, and stands where none is known of single ops",
                       "remove its dist.rel"));
  });
}

// One program of all roles: they hold together what the reference's gives.
// `shares`: a contract says that every rank takes the step on its own share, so that no op is a
// deviation because it does.
// `fetches`: the manifest whose fetches are compared; null: none.
void verifyProgram(mlir::ModuleOp job, llvm::StringRef name, llvm::StringRef loss,
                   const Json* fetches, bool shares, Rung& rung, Totals& totals,
                   Deviations& deviations) {
  pd::ProgramOp original = findProgram(referenceModule(job), name);
  const Reference reference(original);
  const Contracts contracts = Contracts::of(job);
  std::vector<RoleCheck> roles;
  for (auto role : job.getOps<dist::RoleOp>()) {
    pd::ProgramOp program = findProgram(role, name);
    if (!program) continue;
    if (original) {
      roles.push_back(RoleCheck({role, program, reference, contracts, name == "startup"}, rung));
      continue;
    }
    rung.add(messageAt(program, Message::Level::Unknown, "reference",
                       "the job holds no reference program @" + name.str() + " to compare with",
                       "make the job with transpile, which stores it"));
  }
  if (roles.empty()) return;
  std::vector<RoleWalk> walks;
  for (RoleCheck& role : roles)
    walks.push_back({role.question, role.store.get(), role.demands.get()});
  analyse(walks, rung);
  for (RoleCheck& role : roles) {
    Invariants(role.question, *role.store, *role.explainer, rung).check();
    role.demands->reportScales();
    std::vector<Site> sites = reachedSites(role.question, *role.store);
    if (shares) llvm::erase_if(sites, [](const Site& site) { return !site.reason.misfit; });
    // A feed that is whole beside cut ones, whatever comes of it: it can be fetched, or does not
    // run.
    for (const Site& site : role.store->sites())
      if (site.reason.misfit && site.reason.operand &&
          site.reason.operand.getDefiningOp<pd::InputOp>() &&
          llvm::none_of(sites, [&](const Site& reached) { return reached.op == site.op; }))
        sites.push_back(site);
    checkSites(sites, role.store->axes(), contracts, rung);
    collectDeviations(role.question, *role.store, sites, deviations);
    for (const std::string& table : role.demands->summedTables())
      deviations[kTableSumTag.str()].insert(table);
    checkNames(role.question, *role.store, rung);
    checkClaimsKnown(role, rung);
    totals.values += role.store->valueCount();
    totals.sites += static_cast<int64_t>(sites.size());
  }
  if (name == "main") {
    checkLoss(roles, original, loss, rung);
    if (fetches) checkFetches(job, roles, *fetches, rung);
  }
  totals.operations += reference.opCount();
}

}  // namespace

std::string siteRemedy(llvm::StringRef type) { return adviceFor(type).remedy.str(); }

// Rung 2. Start-up is walked first, since it establishes what the main program begins a step with.
// Four strategies compute what is no value of the reference on the way (changes exchanged with
// servers, compensated delay, compressed gradients, adapted averages). Each has a formula of its
// own, which is checked on the job; then it is taken out of a copy, and the walk judges the rest.
// Lists of sites are compared last, when all deviations are known.
Rung verifyRelations(mlir::ModuleOp job, const Json* manifest) {
  Rung rung;
  rung.name = "relations";
  Totals totals;
  const Contracts contracts = Contracts::of(job);
  checkContracts(job, contracts, rung);
  checkQueues(job, contracts, rung);
  checkShares(job, contracts, rung);
  reportDivergence(job, rung);
  Deviations deviations;
  const std::string loss = manifest ? manifest->value("loss", "") : "";
  verifyProgram(job, "startup", loss, nullptr, /*shares=*/false, rung, totals, deviations);
  // What is left when formulas that are no values of the reference have been looked at.
  mlir::OwningOpRef<mlir::ModuleOp> rest;
  const bool exchanges = exchangesChanges(job);
  if (contracts.declares(kGeoTag) && !exchanges)
    rung.add(messageAt(job, Message::Level::Refuted, "contract",
                       "declares the contract \"geo\", and no server serves in mode geo",
                       "leave the contract out, or exchange changes with servers"));
  if (exchanges) {
    checkExchanges(job, contracts, rung, deviations);
    rest = withoutExchanges(job, deviations);
  } else if (compensatesDelay(job)) {
    rest = withoutCompensation(job, contracts, rung, deviations);
  } else if (compressesGradients(job)) {
    rest = withoutCompression(job, contracts, rung, deviations);
  } else if (adaptsAverages(job)) {
    rest = withoutAdaptation(job, rung);
  }
  verifyProgram(rest ? *rest : job, "main", loss, rest ? nullptr : manifest, /*shares=*/exchanges,
                rung, totals, deviations);
  if (rest && manifest) checkFetches(job, {}, *manifest, rung);
  checkNamesApart(job, /*apart=*/static_cast<bool>(rest), rung);
  checkSiteLists(job, contracts, deviations, rung);
  rung.stat("reference_ops", totals.operations);
  rung.stat("values", totals.values);
  rung.stat("sites", totals.sites);
  return rung;
}

}  // namespace dtranspile::verify
