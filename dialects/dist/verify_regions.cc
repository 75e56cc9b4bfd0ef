// Constraints of region ops: guards, blocks, micro-batches, composites, servers (labels of
// docs/dialects/dist.md).
#include "dialects/dist/dist.h"
#include "dialects/dist/iteration.h"
#include "dialects/dist/lookup.h"
#include "dialects/dist/verify.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile::dist {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::SymbolTableCollection;

// Axes are the mesh's rank axes, coordinates within them; a set of all coordinates says nothing and
// is refused, so that "everywhere" has one spelling. An axis of one rank may be named.
LogicalResult verifySelector(Operation* op, SelAttr selector, MeshOp mesh, llvm::StringRef label) {
  for (AxisSetAttr set : selector.getSets()) {
    std::optional<unsigned> index = mesh ? mesh.indexOf(set.getAxis()) : std::nullopt;
    if (!index)
      return op->emitOpError() << label << ": '" << set.getAxis().getValue()
                               << "' is no rank axis here";
    int64_t size = mesh.getSizes()[*index];
    if (set.getBounds().back() > size)
      return op->emitOpError() << label << ": coordinate " << set.getBounds().back() - 1
                               << " of axis '" << set.getAxis().getValue() << "', which has size "
                               << size;
    if (set.count() == size && size > 1)
      return op->emitOpError() << label << ": every coordinate of axis '"
                               << set.getAxis().getValue() << "' is selected; leave the axis out";
  }
  return mlir::success();
}

// D7: every read and write of a variable that exists on some ranks only stands within guards that
// hold nowhere else. One walk over the role, none where no variable is located.
LogicalResult verifyLocatedVariables(RoleOp role, SymbolTableCollection& tables) {
  llvm::StringMap<SelAttr> located;
  for (auto var : role.getBody().front().getOps<pd::VarOp>()) {
    auto where = var->getAttrOfType<SelAttr>(kAtAttr);
    if (!where) continue;
    if (mlir::failed(verifySelector(var, where, meshOf(role, &tables), "D7")))
      return mlir::failure();
    located[var.getSymName()] = where;
  }
  if (located.empty()) return mlir::success();
  mlir::WalkResult result = role.walk([&](Operation* op) {
    if (!llvm::isa<pd::GetOp, pd::SetOp>(op)) return mlir::WalkResult::advance();
    auto name = op->getAttrOfType<mlir::FlatSymbolRefAttr>("var");
    auto where = located.find(name.getValue());
    if (where == located.end() || guardOf(op, &tables).within(where->second))
      return mlir::WalkResult::advance();
    op->emitOpError("D7: variable ")
        << name << " exists only on " << where->second << "; guard the access by dist.on";
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(result.wasInterrupted());
}

namespace {

YieldOp yieldOf(mlir::Region& region) {
  if (region.empty() || region.front().empty()) return {};
  return llvm::dyn_cast<YieldOp>(region.front().back());
}

// The region's values against the op's results; the note points to the yield.
LogicalResult verifyYield(Operation* op, mlir::Region& region, mlir::TypeRange expected) {
  YieldOp yield = yieldOf(region);
  if (!yield) return op->emitOpError("region ends with dist.yield");
  if (yield.getValues().getTypes() == expected) return mlir::success();
  auto error = op->emitOpError("yields ")
               << yield.getValues().getTypes() << " where " << expected << " is expected";
  return error.attachNote(yield.getLoc()) << "the yield", error;
}

// One argument per operand, of its type.
LogicalResult verifyArguments(Operation* op, mlir::TypeRange arguments, mlir::TypeRange operands) {
  bool equal = arguments.size() == operands.size();
  for (size_t i = 0; equal && i < arguments.size(); ++i) equal = arguments[i] == operands[i];
  return equal ? mlir::success()
               : LogicalResult(
                     op->emitOpError("arguments of the region are not of the operands' types"));
}

}  // namespace

//===----------------------------------------------------------------------===//
// dist.on
//===----------------------------------------------------------------------===//

// With an else-body both bodies give the result's types, and every rank has a value. Without one
// the results exist where the guard holds, which is part of their types.
LogicalResult OnOp::verify() {
  if (getWhere().getSets().empty())
    return emitOpError("D9: selects every rank; leave the guard out");
  llvm::SmallVector<mlir::Type> inside;
  for (mlir::Type type : getInputs().getTypes()) {
    if (!llvm::isa<AtType>(type))
      return emitOpError("D6: an argument is a located value; plain ones are captured");
    inside.push_back(unlocated(type));
  }
  if (mlir::failed(verifyArguments(*this, getBody().getArgumentTypes(), inside)))
    return mlir::failure();
  if (!getOtherwise().empty()) {
    if (getOtherwise().getNumArguments())
      return emitOpError("D6: nothing located at the guard's ranks exists in its else-body");
    if (mlir::failed(verifyYield(*this, getOtherwise(), getOutputs().getTypes())))
      return mlir::failure();
    return verifyYield(*this, getBody(), getOutputs().getTypes());
  }
  // A class runs its tasks whole: their values are plain there.
  if (getTask() && inClassText(*this) && getWhere().contains(ranksOf(*this)))
    return verifyYield(*this, getBody(), getOutputs().getTypes());
  llvm::SmallVector<mlir::Type> plain;
  for (mlir::Type type : getOutputs().getTypes()) {
    auto at = llvm::dyn_cast<AtType>(type);
    if (!at || at.getWhere() != getWhere())
      return emitOpError("D6: without else, results are located at ")
             << getWhere() << ", not " << type;
    plain.push_back(at.getType());
  }
  return verifyYield(*this, getBody(), plain);
}

// What depends on the mesh and on guards around: some rank has to be in all of them, and what is
// handed in has to exist on each of these.
LogicalResult OnOp::verifySymbolUses(SymbolTableCollection& tables) {
  if (mlir::failed(verifySelector(*this, getWhere(), meshOf(*this, &tables), "D9")))
    return mlir::failure();
  SelAttr both = guardOf(*this, &tables).where.intersect(getWhere());
  if (!both) return emitOpError("D9: no rank is in this guard and in the guards around it");
  for (mlir::Type type : getInputs().getTypes()) {
    SelAttr where = llvm::cast<AtType>(type).getWhere();
    if (!where.contains(both))
      return emitOpError("D6: an argument exists on ")
             << where << " only, the body runs on " << both;
  }
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// dist.foreach_block
//===----------------------------------------------------------------------===//

namespace {

// The state of a variable that is cut into blocks; null for others.
AxisRelAttr blocksOf(pd::VarOp var) {
  auto relation = var ? var->getAttrOfType<RelAttr>(kRelAttr) : RelAttr();
  if (!relation) return {};
  for (AxisRelAttr state : relation.getAxes())
    if (state.getState() == StateKind::Split && state.getLayout() &&
        state.getLayout().getKind() != LayoutKind::Even)
      return state;
  return {};
}

}  // namespace

LogicalResult ForeachBlockOp::verify() {
  llvm::SmallVector<mlir::Type> inside{
      mlir::RankedTensorType::get({1}, mlir::IntegerType::get(getContext(), 64))};
  llvm::append_range(inside, getInits().getTypes());
  if (mlir::failed(verifyArguments(*this, getBody().getArgumentTypes(), inside)))
    return mlir::failure();
  if (getInits().getTypes() != getOutputs().getTypes())
    return emitOpError("results have the types of the initial values");
  return verifyYield(*this, getBody(), getOutputs().getTypes());
}

// A block of a variable has an extent of its own per block, hence `?` in that dim and nowhere else.
// All variables of the body are cut alike: block k of one meets block k of another.
LogicalResult ForeachBlockOp::verifySymbolUses(SymbolTableCollection& tables) {
  auto var = tables.lookupNearestSymbolFrom<pd::VarOp>(*this, getVarAttr());
  AxisRelAttr blocks = blocksOf(var);
  if (!blocks)
    return emitOpError("D11: ") << getVarAttr() << " is no variable that is cut into blocks";
  mlir::RankedTensorType type = pd::tensorOf(var.getType());
  for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim) != (dim == blocks.getDim()))
      return emitOpError("D12: the local type of ")
             << getVarAttr() << " has `?` exactly in the blocked dim " << blocks.getDim()
             << ", not " << type;
  mlir::WalkResult result = getBody().walk([&](Operation* op) {
    if (!llvm::isa<pd::GetOp, pd::SetOp, MergedOp>(op)) return mlir::WalkResult::advance();
    auto name = op->getAttrOfType<mlir::FlatSymbolRefAttr>("var");
    AxisRelAttr other = blocksOf(tables.lookupNearestSymbolFrom<pd::VarOp>(op, name));
    if (!other || other == blocks) return mlir::WalkResult::advance();
    op->emitOpError("D11: ") << name << " is cut otherwise than " << getVarAttr()
                             << ", whose blocks this loop visits";
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// dist.micro
//===----------------------------------------------------------------------===//

// Values that go from one micro-batch to the next are sums, or state that one op moves and nobody
// else reads: stages run the tasks of micro-batches in different orders.
LogicalResult MicroOp::verify() {
  if (mlir::failed(verifyArguments(*this, getBody().getArgumentTypes(), getInits().getTypes())))
    return mlir::failure();
  if (getInits().getTypes() != getOutputs().getTypes())
    return emitOpError("results have the types of the initial values");
  if (mlir::failed(verifyYield(*this, getBody(), getOutputs().getTypes()))) return mlir::failure();
  for (auto [handed, argument] :
       llvm::zip(yieldOf(getBody())->getOpOperands(), getBody().getArguments()))
    if (!accumulates(handed.get(), argument) && !movesState(handed, argument))
      return emitOpError("D13: iteration value ") << argument.getArgNumber()
                                                  << " is not its old value plus terms, nor "
                                                     "running statistics that one op moves; stages "
                                                     "run micro-batches in orders of their own";
  return mlir::success();
}

// Its axes are axes of time, which no rank is along.
LogicalResult MicroOp::verifySymbolUses(SymbolTableCollection& tables) {
  MeshOp mesh = meshOf(*this, &tables);
  for (llvm::StringRef axis : getAxes().getAsValueRange<mlir::StringAttr>())
    if (!mesh || !mesh.sizeOf(axis) || mesh.indexOf(axis))
      return emitOpError("D9: '") << axis << "' is no time axis here";
  mlir::WalkResult result = getBody().walk([&](pd::SetOp set) {
    auto var = tables.lookupNearestSymbolFrom<pd::VarOp>(set, set.getVarAttr());
    if (!var || var->hasAttr(kPerMicroAttr)) return mlir::WalkResult::advance();
    set.emitOpError("D16: sets ") << set.getVarAttr()
                                  << " once per micro-batch; only variables with " << kPerMicroAttr
                                  << " are";
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// dist.composite
//===----------------------------------------------------------------------===//

// A composite says which op of the reference its body stands for: slots and names are those of that
// op.
LogicalResult CompositeOp::verify() {
  if (getInputSlots().size() != getInputs().size() ||
      getOutputSlots().size() != getOutputs().size() ||
      getOutputNames().size() != getOutputs().size())
    return emitOpError("D17: every operand has a slot, every result a slot and a name");
  if (mlir::failed(verifyArguments(*this, getBody().getArgumentTypes(), getInputs().getTypes())) ||
      mlir::failed(verifyYield(*this, getBody(), getOutputs().getTypes())))
    return mlir::failure();
  mlir::WalkResult result = getBody().walk([&](Operation* op) {
    if (llvm::isa_and_nonnull<DistDialect, pd::PdDialect>(op->getDialect()))
      return mlir::WalkResult::advance();
    op->emitOpError("D17: the body of a composite has ops of pd and dist only");
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// dist.serve, dist.handle
//===----------------------------------------------------------------------===//

// One handler per kind of request and variable; a round exists just where servers wait for all.
LogicalResult ServeOp::verify() {
  llvm::DenseSet<std::pair<Handler, mlir::Attribute>> seen;
  bool round = false;
  for (Operation& op : getBody().front()) {
    auto handler = llvm::dyn_cast<HandleOp>(op);
    if (!handler) return op.emitOpError("D18: a server's body has dist.handle only");
    if (!seen.insert({handler.getKind(), handler.getVarAttr()}).second)
      return handler.emitOpError("D18: a second handler of the same request");
    round |= handler.getKind() == Handler::Round;
  }
  if (round == (getMode() == ServeMode::Sync)) return mlir::success();
  return emitOpError("D18: ") << (round ? "a round exists in mode sync only"
                                        : "mode sync needs a round");
}

// The argument of push and pull is the sender's number, that of a lookup are its ids.
LogicalResult HandleOp::verify() {
  unsigned arguments = getBody().getNumArguments();
  static constexpr unsigned kExpected[] = {0, 1, 1, 1};  // round, push, pull, lookup
  unsigned expected = kExpected[static_cast<unsigned>(getKind())];
  if (arguments != expected)
    return emitOpError("D18: takes ") << expected << " arguments, not " << arguments;
  if ((getKind() == Handler::Round) == getVar().has_value())
    return emitOpError("D18: every handler but the round names a variable");
  const mlir::Type number =
      mlir::RankedTensorType::get({1}, mlir::IntegerType::get(getContext(), 64));
  const bool asked = getKind() == Handler::Push || getKind() == Handler::Pull;
  if (asked && getBody().getArgumentTypes().front() != number)
    return emitOpError("D18: the number of the sender is tensor<1xi64>, not ")
           << getBody().getArgumentTypes().front();
  const mlir::Type ids = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic, 1},
                                                     mlir::IntegerType::get(getContext(), 64));
  if (getKind() == Handler::Lookup && getBody().getArgumentTypes().front() != ids)
    return emitOpError("D18: the ids of a lookup are tensor<?x1xi64>, not ")
           << getBody().getArgumentTypes().front();
  return yieldOf(getBody()) ? mlir::success()
                            : LogicalResult(emitOpError("region ends with dist.yield"));
}

namespace {

// A request of another role for a variable of this one; null where there is none.
Operation* requestFor(HandleOp handler, llvm::StringRef variable) {
  Operation* found = nullptr;
  const llvm::StringRef role = roleOf(handler);
  jobOf(handler)->walk([&](Operation* op) {
    auto name = llvm::isa<PullOp, LookupOp>(op) ? op->getAttrOfType<mlir::SymbolRefAttr>("var")
                                                : mlir::SymbolRefAttr();
    if (!found && name && name.getRootReference() == role && name.getLeafReference() == variable)
      found = op;
  });
  return found;
}

// D37: what a program of a pull or a lookup sets is told to nobody else meanwhile.
LogicalResult verifyAsked(HandleOp handler) {
  mlir::WalkResult result = handler.getBody().walk([&](pd::SetOp set) {
    if (set.getVarAttr() == handler.getVarAttr()) return mlir::WalkResult::advance();
    Operation* other = requestFor(handler, set.getVar());
    for (auto one : handler->getBlock()->getOps<HandleOp>())
      if (!other && one.getVarAttr() == set.getVarAttr()) other = one;
    if (!other) return mlir::WalkResult::advance();
    auto error = set.emitOpError("D37: sets ")
                 << set.getVarAttr() << " in the handler of requests for " << handler.getVarAttr();
    error.attachNote(other->getLoc()) << "which is asked for by itself";
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(result.wasInterrupted());
}

}  // namespace

// D35: a server answers requests for different variables at the same time, so a handler changes its
// own variable and those that no request changes.
LogicalResult HandleOp::verifySymbolUses(SymbolTableCollection& tables) {
  if (!getVar()) return mlir::success();
  if (!tables.lookupNearestSymbolFrom<pd::VarOp>(*this, getVarAttr()))
    return emitOpError("D5: there is no variable ") << getVarAttr() << " in this role";
  if (getKind() == Handler::Pull || getKind() == Handler::Lookup) return verifyAsked(*this);
  // Others may be read while this one is being changed.
  for (auto other : getOperation()->getBlock()->getOps<HandleOp>()) {
    if (other == *this || other.getKind() != Handler::Push) continue;
    mlir::WalkResult result = getBody().walk([&](pd::SetOp set) {
      if (set.getVarAttr() != other.getVarAttr()) return mlir::WalkResult::advance();
      auto error = set.emitOpError("D35: sets ")
                   << set.getVarAttr() << ", which has a push handler of its own";
      error.attachNote(other.getLoc()) << "that handler; requests for other variables are answered "
                                          "while this one runs";
      return mlir::WalkResult::interrupt();
    });
    if (result.wasInterrupted()) return mlir::failure();
  }
  return mlir::success();
}

}  // namespace dtranspile::dist
