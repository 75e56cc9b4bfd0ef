// Registration of dialect dist, its types, and the check of the attributes that it hangs on ops of
// other dialects.
#include "dialects/dist/dist.h"

#include <map>

#include "dialects/dist/changes.h"
#include "dialects/dist/dist_dialect.cc.inc"
#include "dialects/dist/dist_enums.cc.inc"
#include "dialects/dist/lookup.h"
#include "dialects/dist/settings.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectImplementation.h"

#define GET_TYPEDEF_CLASSES
#include "dialects/dist/dist_types.cc.inc"

namespace dtranspile::dist {

void DistDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/dist/dist_ops.cc.inc"
      >();
}

void DistDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/dist/dist_types.cc.inc"
      >();
}

//===----------------------------------------------------------------------===//
// !dist.at<T, pp = 0>, !dist.pending<T, …>
//===----------------------------------------------------------------------===//

// The selector without its brackets, as in guards.
mlir::Type AtType::parse(mlir::AsmParser& parser) {
  mlir::Type type;
  if (parser.parseLess() || parser.parseType(type) || parser.parseComma()) return {};
  llvm::SMLoc loc = parser.getCurrentLocation();
  mlir::FailureOr<SelAttr> where = SelAttr::parseInline(parser);
  if (mlir::failed(where) || parser.parseGreater()) return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), type, *where);
}

void AtType::print(mlir::AsmPrinter& printer) const {
  printer << '<' << getType() << ", ";
  getWhere().printInline(printer.getStream());
  printer << '>';
}

// One location: of nested ones the inner could contradict the outer.
mlir::LogicalResult AtType::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                   mlir::Type type, SelAttr where) {
  if (llvm::isa<AtType, PendingType>(type))
    return emitError() << "a located type holds a plain type, not " << type;
  assert(!where.getSets().empty() && "a value located everywhere has the plain type");
  return mlir::success();
}

mlir::LogicalResult PendingType::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                        llvm::ArrayRef<mlir::Type> types) {
  for (mlir::Type type : types)
    if (llvm::isa<PendingType>(type))
      return emitError() << "D21: the result of a started operation is itself pending";
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Attributes on ops of other dialects
//===----------------------------------------------------------------------===//

namespace {

// A list of strings, which may be empty.
bool isNames(mlir::Attribute value) {
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(value);
  return list &&
         llvm::all_of(list, [](mlir::Attribute name) { return llvm::isa<mlir::StringAttr>(name); });
}
bool isNumber(mlir::Attribute value) {
  auto number = llvm::dyn_cast<mlir::IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
}
// One for a variable or a result, or a list with one for each result.
bool isRelation(mlir::Operation* op, mlir::Attribute value) {
  if (llvm::isa<RelAttr>(value)) return llvm::isa<pd::VarOp>(op) || op->getNumResults() == 1;
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(value);
  return list && list.size() == op->getNumResults() &&
         llvm::all_of(list, [](mlir::Attribute one) { return llvm::isa<RelAttr>(one); });
}
bool isVar(mlir::Operation* op) { return llvm::isa<pd::VarOp>(op); }
bool isModule(mlir::Operation* op) { return op->getName().getStringRef() == "builtin.module"; }
// One that leaves out some rank.
bool isSelector(mlir::Attribute value) {
  auto where = llvm::dyn_cast<SelAttr>(value);
  return where && !where.getSets().empty();
}
bool isFeed(mlir::Operation* op) {
  return llvm::isa<pd::InputOp>(op) ||
         (pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == "feed");
}

// Only the shape: whether tags are known is the verifier's question (compiler/verify), as new
// contracts need no new dialect.
bool isContracts(mlir::Operation* op, mlir::Attribute value) {
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(value);
  return isModule(op) && list && llvm::all_of(list, [](mlir::Attribute entry) {
           auto contract = llvm::dyn_cast<mlir::DictionaryAttr>(entry);
           auto sites = contract ? contract.getAs<mlir::ArrayAttr>("sites") : mlir::ArrayAttr();
           return sites && isNames(sites) && contract.getAs<mlir::StringAttr>("tag") &&
                  contract.getAs<mlir::StringAttr>("statement");
         });
}

bool isChanges(mlir::Operation* op, mlir::Attribute value) {
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(value);
  return isModule(op) && list && llvm::all_of(list, [](mlir::Attribute entry) {
           auto change = llvm::dyn_cast<mlir::DictionaryAttr>(entry);
           return change && change.getAs<mlir::StringAttr>("pass");
         });
}

// Entries by name: numbers from `least` on, or there or not (least below 0).
bool isSending(mlir::Operation* op, mlir::Attribute value) {
  static const std::map<llvm::StringRef, int64_t> kLeast = {
      {"max_merge_var_num", 1},       {"send_queue_size", 1}, {"send_wait_times", 0},
      {"thread_pool_size", 1},        {"average", -1},        {"min_send_grad_num_before_recv", 1},
      {"independent_recv_thread", -1}};
  auto comm = llvm::dyn_cast<CommOp>(op);
  auto entries = llvm::dyn_cast<mlir::DictionaryAttr>(value);
  return comm && comm.getKind() == CommKind::Rpc && entries &&
         llvm::all_of(entries, [](mlir::NamedAttribute entry) {
           const auto row = kLeast.find(entry.getName().getValue());
           if (row == kLeast.end()) return false;
           auto number = llvm::dyn_cast<mlir::IntegerAttr>(entry.getValue());
           if (row->second < 0) return llvm::isa<mlir::UnitAttr>(entry.getValue());
           return number && number.getType().isInteger(64) && number.getInt() >= row->second &&
                  number.getInt() <= INT32_MAX;
         });
}

struct Discardable {
  llvm::StringRef name;
  const char* expected;  // completes "expects …"
  bool (*holds)(mlir::Operation*, mlir::Attribute);
};

// Every attribute that starts with `dist.` on an op of another dialect: where it may stand, and
// what it is then. Anything else is refused, lest a misspelt one go unnoticed.
const Discardable kDiscardable[] = {
    {kSrcAttr, "the number of an op of the reference (i64) on a framework op or a composite",
     [](mlir::Operation* op, mlir::Attribute value) {
       return (pd::OpView::isFrameworkOp(op) || llvm::isa<CompositeOp>(op)) && isNumber(value);
     }},
    {kRelAttr, "#dist.rel on a pd.var or on an op with one result, else one for each result",
     isRelation},
    {kBatchAttr, "#dist.batch on a feed",
     [](mlir::Operation* op, mlir::Attribute value) {
       return isFeed(op) && llvm::isa<BatchAttr>(value);
     }},
    {kAtAttr, "a non-empty #dist.sel on a pd.var",
     [](mlir::Operation* op, mlir::Attribute value) { return isVar(op) && isSelector(value); }},
    {kStreamsAttr, "an array of axis names on a framework op",
     [](mlir::Operation* op, mlir::Attribute value) {
       return pd::OpView::isFrameworkOp(op) && isNames(value);
     }},
    {kStageAttr, "the number of a stage (i64) on a framework op, a cut or communication",
     [](mlir::Operation* op, mlir::Attribute value) {
       const bool between = llvm::isa<SliceOp>(op) || commOf(op);
       return (pd::OpView::isFrameworkOp(op) || between) && isNumber(value);
     }},
    {kDeviceAttr, "\"cpu\" or \"cuda\" on a dist.role",
     [](mlir::Operation* op, mlir::Attribute value) {
       auto word = llvm::dyn_cast<mlir::StringAttr>(value);
       return llvm::isa<RoleOp>(op) && word && llvm::is_contained(kDevices, word.getValue());
     }},
    {kThreadsAttr, "a number of threads (i64, 1 to 1024) on a dist.role",
     [](mlir::Operation* op, mlir::Attribute value) {
       auto number = llvm::dyn_cast<mlir::IntegerAttr>(value);
       return llvm::isa<RoleOp>(op) && isNumber(value) && number.getInt() >= 1 &&
              number.getInt() <= 1024;
     }},
    {kPerMicroAttr, "a unit attribute on a pd.var",
     [](mlir::Operation* op, mlir::Attribute value) {
       return isVar(op) && llvm::isa<mlir::UnitAttr>(value);
     }},
    {kChangedRowsAttr, "a unit attribute on a dist.push",
     [](mlir::Operation* op, mlir::Attribute value) {
       return llvm::isa<PushOp>(op) && llvm::isa<mlir::UnitAttr>(value);
     }},
    {kKnownAttr, "a variable (symbol) on a dist.pull",
     [](mlir::Operation* op, mlir::Attribute value) {
       return llvm::isa<PullOp>(op) && llvm::isa<mlir::FlatSymbolRefAttr>(value);
     }},
    {kAsPulledAttr, "a unit attribute on a pd.get in the handler of a push",
     [](mlir::Operation* op, mlir::Attribute value) {
       auto handler = op->getParentOfType<HandleOp>();
       return llvm::isa<pd::GetOp>(op) && llvm::isa<mlir::UnitAttr>(value) && handler &&
              handler.getKind() == Handler::Push;
     }},
    {kSendingAttr,
     "numbers of gradients, threads and waits (i64) by their names on a dist.comm of kind rpc",
     isSending},
    {kAtOnceAttr, "a unit attribute on a dist.push",
     [](mlir::Operation* op, mlir::Attribute value) {
       return llvm::isa<PushOp>(op) && llvm::isa<mlir::UnitAttr>(value);
     }},
    {kContractsAttr, "an array of {tag, statement, sites} on a module", isContracts},
    {kChangesAttr, "an array of {pass, …} on a module", isChanges},
    {kClassAttr, "the name of a class of ranks on a module",
     [](mlir::Operation* op, mlir::Attribute value) {
       return isModule(op) && llvm::isa<mlir::StringAttr>(value);
     }},
    {kRoleAttr, "the name of a role on a module",
     [](mlir::Operation* op, mlir::Attribute value) {
       return isModule(op) && llvm::isa<mlir::StringAttr>(value);
     }},
    {kRanksAttr, "a non-empty #dist.sel on a module",
     [](mlir::Operation* op, mlir::Attribute value) { return isModule(op) && isSelector(value); }},
};

}  // namespace

mlir::LogicalResult DistDialect::verifyOperationAttribute(mlir::Operation* op,
                                                          mlir::NamedAttribute attribute) {
  for (const Discardable& row : kDiscardable) {
    if (attribute.getName() != row.name) continue;
    if (row.holds(op, attribute.getValue())) return mlir::success();
    return op->emitError() << "attribute '" << row.name << "' expects " << row.expected
                           << ", found " << attribute.getValue();
  }
  return op->emitError() << "attribute '" << attribute.getName().getValue()
                         << "' does not exist in dialect dist";
}

}  // namespace dtranspile::dist
