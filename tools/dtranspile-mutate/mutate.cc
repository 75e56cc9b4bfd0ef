#include "tools/dtranspile-mutate/mutate.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "dialects/dist/lookup.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

uint64_t mixed(uint64_t seed, llvm::StringRef text) {
  uint64_t hash = 14695981039346656037ULL ^ seed;  // FNV-1a: equal on every platform
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

// Places are disjoint: an op inside a composite is of the composites, one in a block of a framework
// op of the bodies, all others of the program itself.
bool isIn(mlir::Operation* op, Place place) {
  bool composite = false, body = false;
  for (mlir::Operation* at = op->getParentOp(); at && !llvm::isa<pd::ProgramOp>(at);
       at = at->getParentOp()) {
    composite |= llvm::isa<dist::CompositeOp>(at);
    body |= pd::OpView::isFrameworkOp(at);
  }
  if (place == Place::Composites) return composite;
  if (place == Place::Bodies) return body;
  return !composite && !body;
}

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, mlir::OpPrintingFlags().enableDebugInfo(false).useLocalScope());
  return text;
}

}  // namespace

// What edits choose from: the values, ops and collectives of one role's program at one place, in
// the order of the text. Two views of equal modules with one seed have the same lists, so that an
// edit can be named by its number and made on a copy.
JobView::JobView(mlir::ModuleOp module, Place where, uint64_t seed, size_t roleNumber)
    : job(module), place(where), random_(seed) {
  for (dist::RoleOp one : job.getOps<dist::RoleOp>())
    if (roleNumber-- == 0) {
      role = one;
      break;
    }
  if (!role) return;
  mesh = dist::meshOf(role);
  source = findModule(job, "source");
  if (mesh) {
    for (auto [name, size] :
         llvm::zip(mesh.getAxes().getAsValueRange<mlir::StringAttr>(), mesh.getSizes())) {
      ranks *= size;
      if (axis.empty() && size > 1) axis = name.str();
    }
  }
  program = findProgram(role, place == Place::Startup ? "startup" : "main");
  if (!program) return;
  program->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (!isIn(op, place)) return;
    if (pd::OpView::isFrameworkOp(op)) framework.push_back(op);
    if (dist::commOf(op) && op->getNumResults()) collectives.push_back(op);
    if (!pd::OpView::isFrameworkOp(op) && !llvm::isa<pd::GetOp, pd::InputOp>(op)) return;
    for (mlir::Value result : op->getResults())
      if (isFloat(result) && !result.use_empty()) values.push_back(result);
  });
}

bool JobView::holds(mlir::Operation* op) const { return isIn(op, place); }

size_t JobView::draw(size_t count) { return count ? random_() % count : 0; }

std::vector<dist::CommOp> JobView::groupComms() {
  std::vector<dist::CommOp> comms;
  for (auto comm : job.getOps<dist::CommOp>())
    if (comm.getKind() == dist::CommKind::Group) comms.push_back(comm);
  return comms;
}

void Edits::add(mlir::Operation* at, std::string what, std::function<void()> apply) {
  bool inProgram = at->getParentOfType<pd::ProgramOp>() != nullptr;
  list.push_back({inProgram ? verify::positionOf(at) : at->getName().getStringRef().str(),
                  std::move(what), std::move(apply)});
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> rows;
    for (auto part :
         {communicationKinds, scaleKinds,    lineageKinds,   variableKinds,  attributeKinds,
          nameKinds,          contractKinds, programKinds,   placementKinds, pipelineKinds,
          serverKinds,        ampKinds,      recomputeKinds, semanticKinds,  shardingKinds,
          layerKinds,         jobKinds,      wordKinds,      orderKinds,     claimKinds,
          requestKinds})
      llvm::append_range(rows, part());
    return rows;
  }();
  return all;
}

namespace {

// Equal for the first role of a job, whatever other roles it has.
uint64_t seedOf(uint64_t seed, const Kind& kind, size_t role) {
  return mixed(seed + role * 1000003, kind.name);
}

}  // namespace

// Up to `perKind` edits of every kind and role, drawn without repetition (the first steps of a
// Fisher-Yates shuffle). A kind draws by a generator of its own, so that a new kind changes no
// other's choice.
std::vector<Choice> choose(mlir::ModuleOp job, uint64_t seed, size_t perKind) {
  std::vector<Choice> choices;
  auto ops = job.getOps<dist::RoleOp>();
  const auto roles = static_cast<size_t>(std::distance(ops.begin(), ops.end()));
  for (const Kind& kind : kinds())
    for (size_t role = 0; role < roles; ++role) {
      JobView view(job, kind.place, seedOf(seed, kind, role), role);
      Edits edits;
      if (view.program) kind.find(view, edits);
      std::vector<size_t> order(edits.list.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::mt19937_64 random(seedOf(seed + 1, kind, role));
      for (size_t i = 0; i < std::min(perKind, order.size()); ++i) {
        std::swap(order[i], order[i + random() % (order.size() - i)]);
        choices.push_back({&kind, role, order[i]});
      }
    }
  return choices;
}

// The edit made on a copy. No module where it has changed nothing: an edit that swaps equal things
// is no mutant.
Mutant make(mlir::ModuleOp job, uint64_t seed, const Choice& choice) {
  Mutant mutant;
  mutant.kind = choice.kind;
  mutant.module = llvm::cast<mlir::ModuleOp>(job->clone());
  JobView view(*mutant.module, choice.kind->place, seedOf(seed, *choice.kind, choice.role),
               choice.role);
  Edits edits;
  choice.kind->find(view, edits);
  const Edit& edit = edits.list[choice.edit];
  mutant.at = edit.at;
  mutant.what = edit.what;
  edit.apply();
  if (textOf(*mutant.module) == textOf(job)) mutant.module = {};
  return mutant;
}

}  // namespace dtranspile::mutate
