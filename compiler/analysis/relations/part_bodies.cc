#include "compiler/analysis/relations/part_bodies.h"

#include "compiler/analysis/relations/body_builder.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {
namespace {

void fill(dist::CompositeOp composite, const Parts& parts, pd::Declarations& declarations) {
  const PartForm& form = *partForm(composite.getOp());
  BodyBuilder body(composite, parts, declarations);
  fillVocabulary(body, form);
  body.finish();
}

// The ops of two bodies in their order, whatever they call their results.
class Comparison {
 public:
  // Op by op in order; returns the first difference in words.
  std::string differs(mlir::Block& mine, mlir::Block& wanted) {
    for (auto [a, b] : llvm::zip(mine.getArguments(), wanted.getArguments())) same_[b] = a;
    const std::vector<mlir::Operation*> own = ops(mine), theirs = ops(wanted);
    for (auto [a, b] : llvm::zip(own, theirs)) {
      if (std::string text = differ(a, b); !text.empty()) return text;
      for (auto [x, y] : llvm::zip(a->getResults(), b->getResults())) same_[y] = x;
    }
    return own.size() == theirs.size() ? ""
                                       : "has " + std::to_string(own.size()) + " ops and not " +
                                             std::to_string(theirs.size());
  }

 private:
  static std::vector<mlir::Operation*> ops(mlir::Block& block) {
    std::vector<mlir::Operation*> all;
    for (mlir::Operation& op : block)
      if (!llvm::isa<pd::DeclOp>(op)) all.push_back(&op);
    return all;
  }
  // Two ops are the same if they have the same name, attributes, slots and types, and take operands
  // that were matched before (`same_` maps each value of the wanted body to its partner). Names of
  // declarations do not count: they say nothing about what is computed.
  std::string differ(mlir::Operation* mine, mlir::Operation* wanted) {
    const auto described = [](mlir::Operation* op) {
      return pd::OpView::isFrameworkOp(op) ? pd::OpView(op).type().str()
                                           : op->getName().getStringRef().str();
    };
    const std::string where = "at " + described(mine);
    if (mine->getName() != wanted->getName() ||
        mine->getNumOperands() != wanted->getNumOperands() ||
        !llvm::equal(mine->getResultTypes(), wanted->getResultTypes()))
      return "has " + described(mine) + " where " + described(wanted) + " stands";
    for (auto [a, b] : llvm::zip(mine->getOperands(), wanted->getOperands()))
      if (same_.lookup(b) != a) return where + " takes something else";
    if (llvm::isa<pd::UndefOp>(mine)) return "";
    if (!pd::OpView::isFrameworkOp(mine))
      return mine->getAttrDictionary() == wanted->getAttrDictionary() ? ""
                                                                      : where + " says otherwise";
    const pd::OpView a(mine), b(wanted);
    if (mine->getAttr("attrs") != wanted->getAttr("attrs")) return where + " has other attributes";
    return a.inputSlots() == b.inputSlots() && a.outputSlots() == b.outputSlots()
               ? ""
               : where + " has other slots";
  }

  llvm::DenseMap<mlir::Value, mlir::Value> same_;
};

}  // namespace

// The operands and results of the composite are those of the op, slot by slot, so that whoever asks
// which op of the reference it stands for finds the same form; attributes of dialect dist (lineage,
// relations) move over with them.
dist::CompositeOp composeParts(pd::OpView op, const Parts& parts, pd::Declarations& declarations) {
  mlir::Operation* old = op.operation();
  mlir::OpBuilder builder(old);
  const PartForm& form = *partForm(op);
  llvm::SmallVector<mlir::Attribute> inputSlots, outputSlots, outputNames;
  llvm::SmallVector<mlir::Value> operands;
  for (const std::string& slot : op.inputSlots())
    for (mlir::Value value : op.inputs(slot)) {
      if (!value) continue;
      inputSlots.push_back(builder.getStringAttr(slot));
      operands.push_back(value);
    }
  for (mlir::OpResult value : old->getResults()) {
    outputSlots.push_back(builder.getStringAttr(op.slotOf(value).first));
    outputNames.push_back(builder.getStringAttr(pd::nameOf(value)));
  }
  auto composite = dist::CompositeOp::create(
      builder, old->getLoc(), old->getResultTypes(), builder.getStringAttr(form.composite),
      builder.getArrayAttr(inputSlots), operands, builder.getArrayAttr(outputSlots),
      builder.getArrayAttr(outputNames), old->getAttrOfType<mlir::DictionaryAttr>("attrs"));
  for (mlir::NamedAttribute one : old->getDiscardableAttrs())
    if (one.getName().getValue().starts_with("dist."))
      composite->setAttr(one.getName(), one.getValue());
  fill(composite, parts, declarations);
  old->replaceAllUsesWith(composite.getResults());
  old->erase();
  return composite;
}

// Builds the body again from the definition, beside the job, and compares the two op by op. So
// there is one description of these bodies, for the pass that writes them and for the check, and a
// body that was changed by hand or by another pass is no longer believed.
std::string partBodyDiffers(dist::CompositeOp composite, llvm::StringRef axis, int64_t count) {
  Parts parts{axis.str(), count, {}, programVersion(composite)};
  std::string text;
  composite.getBody().walk([&](dist::AllReduceOp op) {
    dist::CommOp comm = dist::lookupComm(op, op.getCommAttr());
    if (!comm || comm.getSubset() || comm.getAxes().size() != 1 || !comm.overAxis(axis))
      text = "exchanges something over other ranks than those of axis " + axis.str();
    parts.comm = op.getCommAttr();
  });
  if (!text.empty()) return text;
  auto wanted = llvm::cast<dist::CompositeOp>(composite->cloneWithoutRegions());
  pd::Declarations declarations;
  fill(wanted, parts, declarations);
  text = Comparison().differs(composite.getBody().front(), wanted.getBody().front());
  wanted->erase();
  return text;
}

}  // namespace dtranspile::verify
