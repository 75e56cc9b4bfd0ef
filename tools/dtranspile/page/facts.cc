// Roles, classes, programs and what they exchange.
#include "tools/dtranspile/page/facts.h"

#include "compiler/analysis/tasks.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Diagnostics.h"
#include "tools/dtranspile/page/html.h"
#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/places.h"

namespace dtranspile::page {
namespace {

std::string printed(dist::SelAttr where) {
  std::string text;
  llvm::raw_string_ostream out(text);
  where.printInline(out);
  return text;
}

// The first row that has a bit of the op's role.
constexpr Phase kPhases[] = {{pd::kLrSched, "learning rate", "p-rate"},
                             {pd::kOptimize, "optimize", "p-update"},
                             {pd::kLoss, "loss", "p-loss"},
                             {pd::kBackward, "backward", "p-backward"},
                             {0, "forward", "p-forward"}};

// What the name of an operation leaves open: how values are combined, and at which end.
struct Detail {
  std::string kind, end;
};
Detail detailOf(mlir::Operation* op) {
  auto word = [](dist::Reduce reduce) { return " " + dist::stringifyReduce(reduce).str(); };
  const std::string name = op->getName().stripDialect().str();
  return llvm::TypeSwitch<mlir::Operation*, Detail>(op)
      .Case<dist::AllReduceOp, dist::ReduceScatterOp>(
          [&](auto one) { return Detail{name + word(one.getReduce()), ""}; })
      .Case<dist::ReduceOp>([&](auto one) {
        return Detail{name + word(one.getReduce()), " to " + printed(one.getRoot())};
      })
      .Case<dist::BroadcastOp>(
          [&](auto one) { return Detail{name, " from " + printed(one.getRoot())}; })
      .Case<dist::PushOp>([&](auto one) {
        return Detail{name + ", " + dist::stringifyMerge(one.getMerge()).str(), ""};
      })
      .Case<dist::PhaseOp>([&](auto one) {
        return Detail{"end of " + dist::stringifyPhaseKind(one.getKind()).str(), ""};
      })
      .Default([&](mlir::Operation*) { return Detail{name, ""}; });
}

dist::SelAttr locationOf(mlir::Type type) {
  auto at = llvm::dyn_cast<dist::AtType>(type);
  return at ? at.getWhere() : dist::SelAttr();
}

// How often a step runs an op.
void countRuns(Exchange& exchange, dist::MeshOp mesh) {
  for (mlir::Operation* around = exchange.op->getParentOp();
       around && !llvm::isa<pd::ProgramOp>(around); around = around->getParentOp()) {
    if (auto micro = llvm::dyn_cast<dist::MicroOp>(around))
      exchange.times = product(exchange.times, microBatchesOf(micro, mesh));
    exchange.branch |= pd::OpView::isFrameworkOp(around);
  }
}

// One communication op: between whom, what, how often in a step, and how many bytes a rank gives
// for it.
Exchange exchangeOf(mlir::Operation* op, dist::MeshOp mesh) {
  Exchange exchange;
  exchange.op = op;
  exchange.comm = dist::lookupComm(op, dist::commOf(op));
  const Detail detail = detailOf(op);
  exchange.kind = detail.kind;
  exchange.what = detail.kind + detail.end;
  exchange.where = dist::guardOf(op).where;
  if (auto transfer = llvm::dyn_cast<dist::TransferOp>(op)) {
    exchange.from = locationOf(transfer.getInput().getType());
    exchange.to = locationOf(transfer.getOutput().getType());
    if (exchange.from && exchange.to)
      exchange.what = printed(exchange.from) + " → " + printed(exchange.to);
  }
  exchange.started =
      op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType());
  countRuns(exchange, mesh);
  // What a rank gives; of requests for values what it gets.
  const bool asks = llvm::isa<dist::PullOp, dist::LookupOp>(op);
  for (mlir::Type type :
       asks ? mlir::TypeRange(op->getResultTypes()) : mlir::TypeRange(op->getOperandTypes())) {
    Bytes bytes = bytesOf(dist::unlocated(type));
    bytes.fixed = product(bytes.fixed, exchange.times);
    bytes.perRow = product(bytes.perRow, exchange.times);
    exchange.bytes += bytes;
    ++exchange.tensors;
  }
  return exchange;
}

ProgramFacts programFacts(pd::ProgramOp program, dist::MeshOp mesh) {
  ProgramFacts facts{program, 0, {}};
  program->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    facts.ops += pd::OpView::isFrameworkOp(op);
    if (dist::commOf(op) && !llvm::isa<dist::ServeOp>(op))
      facts.exchanges.push_back(exchangeOf(op, mesh));
  });
  return facts;
}

// The classes of a role, or one for all where it has more than anybody would look at: the page says
// so, and no message besides.
void findClasses(RoleFacts& role) {
  mlir::ScopedDiagnosticHandler quiet(role.op.getContext(), [](mlir::Diagnostic&) {});
  mlir::FailureOr<std::vector<RankClass>> classes = classesOf(role.op);
  role.tooManyClasses = mlir::failed(classes);
  if (mlir::succeeded(classes)) role.classes = std::move(*classes);
  else
    role.classes = {
        {role.name().str(), dist::SelAttr::of(role.op.getContext(), {}), role.mesh.ranks()}};
}

RoleFacts roleFacts(dist::RoleOp role) {
  RoleFacts facts;
  facts.op = role;
  facts.mesh = dist::meshOf(role);
  findClasses(facts);
  for (auto program : role.getBody().front().getOps<pd::ProgramOp>()) {
    program->walk([&](dist::ServeOp serve) { facts.serve = serve; });
    facts.programs.push_back(programFacts(program, facts.mesh));
  }
  auto main = llvm::find_if(facts.programs, [](const ProgramFacts& program) {
    return pd::ProgramOp(program.op).getSymName() == "main";
  });
  if (main != facts.programs.end()) std::rotate(facts.programs.begin(), main, std::next(main));
  findPlaces(facts);
  return facts;
}

// Ops that some rank of `where` runs: of a guard the body where the two have ranks in common, the
// other branch where `where` is not all inside the guard.
void visitBlock(mlir::Block& block, dist::SelAttr where,
                llvm::function_ref<void(mlir::Operation*)> visit) {
  for (mlir::Operation& op : block) {
    visit(&op);
    auto on = llvm::dyn_cast<dist::OnOp>(op);
    for (mlir::Region& region : op.getRegions()) {
      if (region.empty()) continue;
      const bool body = on && &region == &on.getBody();
      if (on && (body ? !meet(on.getWhere(), where) : on.getWhere().contains(where))) continue;
      visitBlock(region.front(), where, visit);
    }
  }
}

}  // namespace

int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<int64_t>::max() : result;
}

const Phase& phaseOf(mlir::Operation* op) {
  const int role = pd::OpView(op).role();
  return *llvm::find_if(kPhases, [&](const Phase& row) { return !row.bits || (role & row.bits); });
}

llvm::ArrayRef<Phase> phases() { return kPhases; }

void visitOps(pd::ProgramOp program, dist::SelAttr where,
              llvm::function_ref<void(mlir::Operation*)> visit) {
  visitBlock(program.getBody().front(), where, visit);
}

Bytes& Bytes::operator+=(const Bytes& other) {
  auto add = [](int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
  };
  fixed = add(fixed, other.fixed);
  perRow = add(perRow, other.perRow);
  more |= other.more;
  atMost |= other.atMost;
  return *this;
}

// "4 KiB", "4 KiB × ?", "≤ 4 KiB", "4 KiB + more".
std::string Bytes::text() const {
  std::string text = fixed || !perRow ? bytesText(fixed) : "";
  if (perRow) text += (text.empty() ? "" : " + ") + bytesText(perRow) + " × ?";
  if (more) text = fixed || perRow ? text + " + more" : "not known";
  return (atMost ? "≤ " : "") + text;
}

// Of one unknown extent the bytes are per row of it; of several, or of a list, nothing is known.
// SelectedRows have at most the rows of their tensor.
Bytes bytesOf(mlir::Type type) {
  Bytes bytes;
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  std::optional<DType> dtype = tensor ? pd::dtypeOf(tensor.getElementType()) : std::nullopt;
  if (!dtype || llvm::isa<pd::ArrayType>(type)) return {0, 0, true, false};
  int64_t count = static_cast<int64_t>(SizeOf(*dtype));
  int unknown = 0;
  for (int64_t extent : tensor.getShape())
    if (mlir::ShapedType::isDynamic(extent)) ++unknown;
    else count = product(count, extent);
  if (unknown > 1) bytes.more = true;
  else (unknown ? bytes.perRow : bytes.fixed) = count;
  bytes.atMost = llvm::isa<pd::RowsType>(type);
  return bytes;
}

JobFacts JobFacts::of(const Job& job) {
  JobFacts facts{job, {}, 0};
  mlir::ModuleOp module = job.module.get();
  for (auto role : module.getOps<dist::RoleOp>()) {
    ++facts.allRoles;
    if (facts.roles.size() < kMostRoles) facts.roles.push_back(roleFacts(role));
  }
  return facts;
}

bool meet(dist::SelAttr a, dist::SelAttr b) {
  return !a || !b || static_cast<bool>(a.intersect(b));
}

std::string selectorText(dist::SelAttr where) {
  return !where || where.getSets().empty() ? "all ranks" : printed(where);
}

std::string meshText(dist::MeshOp mesh) {
  auto list = [](mlir::ArrayAttr names, llvm::ArrayRef<int64_t> sizes) {
    std::string text = "[";
    for (auto [name, size] : llvm::zip(names.getAsValueRange<mlir::StringAttr>(), sizes))
      text += (text.size() > 1 ? ", " : "") + name.str() + " = " + countText(size);
    return text + "]";
  };
  std::string text = list(mesh.getAxes(), mesh.getSizes());
  if (!mesh.getTimeAxes().empty()) text += " time " + list(mesh.getTimeAxes(), mesh.getTimeSizes());
  return text;
}

}  // namespace dtranspile::page
