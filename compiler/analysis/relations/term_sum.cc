#include "compiler/analysis/relations/term_sum.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {
namespace {

// Attributes of a sum that say nothing about what it gives.
constexpr llvm::StringLiteral kSilent[] = {"op_role", "op_role_var", "op_device", "op_namescope",
                                           "op_callstack"};

// A `sum` of tensors, of which nothing else is said.
bool isPlainSum(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "sum" || op->getNumResults() != 1)
    return false;
  auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs");
  return !attributes || llvm::all_of(attributes, [](mlir::NamedAttribute one) {
    return llvm::is_contained(kSilent, one.getName().getValue());
  });
}

// Reads the ops of a body. Every argument is added once, in the order of the operands.
class Reader {
 public:
  explicit Reader(dist::CompositeOp composite) : body_(composite.getBody().front()) {
    for (mlir::Operation& op : body_)
      if (!llvm::isa<pd::DeclOp>(op)) ops_.push_back(&op);
    found_.isTerm.assign(body_.getNumArguments(), false);
    seen_.assign(body_.getNumArguments(), false);
  }

  // The body must be exactly: a sum of the terms, a reduce_scatter of it, a sum of that part with
  // the operands that are parts already, and the yield. Since addition over the reals is
  // associative this equals the reference's one sum, each term counted once per rank, each part
  // once.
  std::string read() {
    if (ops_.size() != 4) return "has " + std::to_string(ops_.size()) + " ops and not four";
    auto scatter = llvm::dyn_cast<dist::ReduceScatterOp>(ops_[1]);
    if (!isPlainSum(ops_[0]) || !scatter || !isPlainSum(ops_[2]) ||
        !llvm::isa<dist::YieldOp>(ops_[3]))
      return "is not a sum, a reduce_scatter and a sum";
    if (scatter.getReduce() != dist::Reduce::Sum || scatter.getInputs().size() != 1 ||
        scatter->getNumResults() != 1 ||
        llvm::isa<dist::PendingType>(scatter->getResult(0).getType()) ||
        scatter.getInputs()[0] != ops_[0]->getResult(0))
      return "has a reduce_scatter of something else than the sum of the terms";
    if (ops_[2]->getNumOperands() == 0 || ops_[2]->getOperand(0) != scatter->getResult(0))
      return "does not begin its last sum with the part of the terms";
    if (ops_[3]->getNumOperands() != 1 || ops_[3]->getOperand(0) != ops_[2]->getResult(0))
      return "gives something else than its last sum";
    found_.dim = scatter.getDim();
    found_.comm = scatter.getCommAttr();
    if (!take(ops_[0]->getOperands(), true) || !take(ops_[2]->getOperands().drop_front(), false) ||
        llvm::is_contained(seen_, false))
      return "does not add every operand once, in their order";
    return "";
  }
  TermSum found() && { return std::move(found_); }

 private:
  // Marks the arguments that a sum adds. They come in the order of the operands and none twice: a
  // repeated argument would be counted twice, and another order is not what the pass writes.
  bool take(mlir::ValueRange values, bool term) {
    unsigned next = 0;
    for (mlir::Value value : values) {
      auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
      if (!argument || argument.getOwner() != &body_ || argument.getArgNumber() < next ||
          seen_[argument.getArgNumber()])
        return false;
      next = argument.getArgNumber() + 1;
      seen_[argument.getArgNumber()] = true;
      found_.isTerm[argument.getArgNumber()] = term;
    }
    return true;
  }

  mlir::Block& body_;
  llvm::SmallVector<mlir::Operation*, 4> ops_;
  llvm::SmallVector<bool, 4> seen_;
  TermSum found_;
};

}  // namespace

// Replaces a `sum` whose operands are partly terms (P(sum), of the whole shape) and partly parts
// (split along `how.dim`) by a composite that adds the terms first and scatters their sum once,
// which moves one tensor over the wire in place of one for each term.
dist::CompositeOp composeTermSum(pd::OpView sum, const TermSum& how,
                                 pd::Declarations& declarations) {
  mlir::Operation* old = sum.operation();
  mlir::OpBuilder builder(old);
  const mlir::Location loc = old->getLoc();
  const std::string name = pd::nameOf(old->getResult(0)).str();
  const int role = sum.role();
  const mlir::Type type = old->getResult(0).getType();
  const llvm::SmallVector<mlir::Attribute> slots(old->getNumOperands(), builder.getStringAttr("X"));
  auto composite = dist::CompositeOp::create(builder, loc, old->getResultTypes(),
                                             builder.getStringAttr(kTermSum),
                                             builder.getArrayAttr(slots), old->getOperands(),
                                             builder.getArrayAttr({builder.getStringAttr("Out")}),
                                             builder.getArrayAttr({builder.getStringAttr(name)}),
                                             old->getAttrOfType<mlir::DictionaryAttr>("attrs"));
  for (mlir::NamedAttribute one : old->getDiscardableAttrs())
    if (one.getName().getValue().starts_with("dist."))
      composite->setAttr(one.getName(), one.getValue());
  mlir::Block* body = builder.createBlock(&composite.getBody());
  std::vector<mlir::Value> terms, parts;
  for (auto [term, operand] : llvm::zip(how.isTerm, old->getOperands()))
    (term ? terms : parts).push_back(body->addArgument(operand.getType(), loc));
  const auto add = [&](const std::string& what, std::vector<mlir::Value> values, mlir::Type of) {
    return declarations
        .create(builder, loc, "sum", {{"X", std::move(values)}}, {{"Out", {{name + what, of}}}}, {},
                role)
        .output("Out");
  };
  const mlir::Type whole = terms.front().getType();
  mlir::Value all = add(".terms", std::move(terms), whole);
  mlir::Value part = dist::ReduceScatterOp::create(
                         builder, loc, mlir::TypeRange(type),
                         dist::ReduceAttr::get(builder.getContext(), dist::Reduce::Sum),
                         mlir::ValueRange(all), how.comm, builder.getI64IntegerAttr(how.dim))
                         ->getResult(0);
  parts.insert(parts.begin(), part);
  dist::YieldOp::create(builder, loc, mlir::ValueRange(add(".part", std::move(parts), type)));
  old->replaceAllUsesWith(composite.getResults());
  old->erase();
  return composite;
}

std::optional<TermSum> readTermSum(dist::CompositeOp composite, std::string& why) {
  Reader reader(composite);
  why = reader.read();
  if (!why.empty()) return std::nullopt;
  return std::move(reader).found();
}

}  // namespace dtranspile::verify
