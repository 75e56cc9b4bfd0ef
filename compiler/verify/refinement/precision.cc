// Half precision stands in the declared type only, in ops of the lists only, never in an update,
// nor in ops that were to be left alone, but for parameters that an update keeps beside a copy in
// full; and nothing is rounded for a reader that takes it in full: a value that is cast down and up
// again has lost bits that nobody asked for.
#include "compiler/verify/refinement/precision.h"

#include "compiler/analysis/position.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringSet.h"
#include "passes/amp/op_lists.h"

namespace dtranspile::verify {
namespace {

mlir::FloatType floatOf(mlir::Value value) {
  mlir::RankedTensorType tensor = value ? pd::tensorOf(value.getType()) : mlir::RankedTensorType();
  return tensor ? llvm::dyn_cast<mlir::FloatType>(tensor.getElementType()) : mlir::FloatType();
}

bool isHalf(mlir::Value value) {
  mlir::FloatType type = floatOf(value);
  return type && type.getWidth() < 32;
}

bool isCast(mlir::Operation* op) {
  return op && pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == "cast";
}

// What an update gives in half precision beside the same in full, where that is declared.
bool isOfCopies(pd::OpView op, mlir::Value value, const Changes& changes) {
  return changes.copies && op.input("MasterParam") && op.output("MasterParamOut") &&
         (value == op.input("Param") || value == op.output("ParamOut"));
}

// A cast to fewer bits, or to others.
bool narrows(pd::OpView cast) { return !isHalf(cast.input("X")) && isHalf(cast.output("Out")); }

bool movesOnly(llvm::StringRef type) {
  return type == "memcpy" || type == "assign" || type == "share_data";
}

// The cast that has rounded a value which nothing was computed with since; null where something
// was.
mlir::Operation* roundedBy(mlir::Value value) {
  for (mlir::Operation* op = value ? value.getDefiningOp() : nullptr;
       op && pd::OpView::isFrameworkOp(op); op = value ? value.getDefiningOp() : nullptr) {
    const pd::OpView view(op);
    if (isCast(op) && narrows(view)) return op;
    const bool alone = view.type() == "sum" && view.inputCount("X") == 1;
    if (!isCast(op) && !movesOnly(view.type()) && !alone) return nullptr;
    value = view.input("X");
  }
  return nullptr;
}

// Values in half precision, by name: their gradients are too, wherever they come from.
llvm::StringSet<> halvesOf(pd::ProgramOp program) {
  llvm::StringSet<> names;
  program.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    for (mlir::Value result : op->getResults())
      if (isHalf(result)) names.insert(pd::nameOf(result));
  });
  return names;
}

// The type of the op that a gradient op belongs to; of others their own.
llvm::StringRef forwardType(pd::OpView op) {
  llvm::StringRef type = op.type();
  if (type == "cross_entropy_grad2") return "cross_entropy2";
  while (type.consume_back("_grad")) {
  }
  return type;
}

// Where mixed precision computes in half: the framework's lists, with what the change adds to them.
class Lists {
 public:
  Lists(const Changes& changes, pd::ProgramOp program)
      : changes_(changes),
        lists_(versionOf(program), typeOf(changes), changes.white, changes.kept),
        halves_(halvesOf(program)) {}

  // Why a cast may not round, or widen; empty where it may. On the way from one reader in full to
  // the next nothing is rounded but the gradient of a value that is in half precision.
  std::string wrongWithCast(pd::OpView cast) const {
    if (narrows(cast)) return cast.role() & pd::kOptimize ? "rounds what the update takes" : "";
    mlir::Operation* rounded = roundedBy(cast.input("X"));
    if (!rounded || isHalf(cast.output("Out"))) return "";
    const llvm::StringRef name = pd::nameOf(rounded->getResult(0)),
                          value = name.split("@GRAD").first;
    return value != name && halves_.contains(value)
               ? ""
               : "gives in full what a cast has rounded, and nothing has computed with since";
  }

  // Why the op may not; empty where it may.
  std::string wrongWith(pd::OpView op) const {
    if (movesOnly(op.type())) return "";
    const bool backward = op.role() & pd::kBackward;
    const bool gradient = op.spec() && op.spec()->gradient;
    // What adds gradients up, or stands for one, is of the precision that they have.
    if (backward && !gradient && isOfGradients(op.type())) return "";
    const llvm::StringRef type = forwardType(op);
    const bool listed =
        changes_.copies ? lists_.canBeHalf(type) : lists_.of(type) != passes::AmpList::Black;
    if (!listed) return "computes in half precision, and is on no list of such ops";
    if (gradient) return "";  // as its forward op
    if (changes_.copies && changes_.guarded &&
        !llvm::StringRef(op.getString("op_namescope")).contains(kGuard))
      return "computes in half precision, and stands under no fp16_guard";
    return touchesKept(op) ? "computes in half precision, and takes or gives what is to stay" : "";
  }

 private:
  static constexpr llvm::StringLiteral kGuard = "__use_fp16__";

  static int64_t versionOf(pd::ProgramOp program) {
    auto version = program->getAttrOfType<mlir::IntegerAttr>("version");
    return version ? version.getInt() : 0;
  }
  static DType typeOf(const Changes& changes) {
    return changes.half == "bfloat16" ? DType::kBFloat16 : DType::kFloat16;
  }
  static bool isOfGradients(llvm::StringRef type) {
    return llvm::is_contained(
        {"sum", "scale", "fill_constant", "fill_any_like", "fill_zeros_like", "fill_zeros_like2"},
        type);
  }

  // By name, whatever it was cast to; or in a slot of statistics.
  bool touchesKept(pd::OpView op) const {
    const auto kept = [&](mlir::Value value) {
      return value &&
             llvm::is_contained(changes_.keptNames, pd::nameOf(value).split(".cast_").first.str());
    };
    const auto rounded = [&](const std::string& slot, mlir::Value value) {
      return isHalf(value) && passes::staysFloat32(op.type(), slot);
    };
    for (const std::string& slot : op.inputSlots())
      for (mlir::Value value : op.inputs(slot))
        if (kept(value) || rounded(slot, value)) return true;
    for (const std::string& slot : op.outputSlots())
      for (mlir::Value value : op.outputs(slot))
        if (kept(value) || rounded(slot, value)) return true;
    return false;
  }

  const Changes& changes_;
  passes::OpLists lists_;
  const llvm::StringSet<> halves_;
};

// Why the op may not compute as it does; empty where it may.
std::string wrongIn(mlir::Operation* op, const Changes& changes, const Lists& lists) {
  const pd::OpView view(op);
  llvm::SmallVector<mlir::Value> values(op->getOperands());
  values.append(op->result_begin(), op->result_end());
  for (mlir::Value value : values) {
    if (!isHalf(value)) continue;
    const bool declared = changes.half == (floatOf(value).isF16() ? "float16" : "bfloat16") &&
                          (floatOf(value).isF16() || floatOf(value).isBF16());
    if (!declared)
      return "has `" + pd::nameOf(value).str() + "` in a precision that is not declared";
  }
  const bool half = llvm::any_of(values, isHalf);
  if (!half) return "";
  if (isCast(op)) return lists.wrongWithCast(view);
  if ((view.role() & pd::kOptimize) && llvm::any_of(values, [&](mlir::Value value) {
        return isHalf(value) && !isOfCopies(view, value, changes);
      }))
    return "computes an update in half precision";
  if (llvm::is_contained(changes.kept, view.type().str()))
    return "computes in half precision, and is declared to be left alone";
  return view.role() & pd::kOptimize ? "" : lists.wrongWith(view);
}

}  // namespace

std::set<std::string> parametersWithCopies(pd::ProgramOp main) {
  std::set<std::string> names;
  main.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op) || !pd::OpView(op).input("MasterParam")) return;
    mlir::Value parameter = pd::OpView(op).input("Param");
    auto get = parameter ? parameter.getDefiningOp<pd::GetOp>() : pd::GetOp();
    if (get) names.insert(get.getVar().str());
  });
  return names;
}

void checkPrecision(const Changes& changes, pd::ProgramOp reference, Rung& rung) {
  bool said = false;
  const Lists lists(changes, reference);
  reference.walk([&](mlir::Operation* op) {
    if (said || !pd::OpView::isFrameworkOp(op) || op->getNumRegions() > 0) return;
    const std::string wrong = wrongIn(op, changes, lists);
    if (wrong.empty()) return;
    said = true;
    rung.add(messageAt(op, Message::Level::Unknown, "refines", wrong,
                       "round where the declared change says so, and nowhere else"));
  });
}

}  // namespace dtranspile::verify
