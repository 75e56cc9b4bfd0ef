#include "passes/sharding/plan.h"

#include "compiler/analysis/relations/rule.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "passes/sharding/norms.h"
#include "passes/support/sums.h"

namespace dtranspile::passes {
namespace {

bool sameShape(mlir::Value a, mlir::Value b) {
  mlir::RankedTensorType one = fixedTensor(a.getType()), other = fixedTensor(b.getType());
  return one && other && one.getShape() == other.getShape();
}

// Lists of gradients that go through one by one, some in parts and some whole: the check for what
// is not finite, and what follows it.
bool isMemberwise(pd::OpView op) {
  return op.type() == "check_finite_and_unscale" || op.type() == "update_loss_scaling";
}

// The member that a result of such an op is made of; null for results of all members.
mlir::Value memberBehind(pd::OpView op, mlir::Value result) {
  for (unsigned i = 0, n = op.outputCount("Out"); i < n; ++i)
    if (op.output("Out", i) == result) return op.input("X", i);
  return {};
}

// Elements in memory order only: a dim that the op counts from the left is none of a flat part's.
bool countsDims(pd::OpView op) {
  return op.spec()->attribute("axis") && op.hasAttr("axis") && op.getInt("axis") > 0;
}

}  // namespace

// Which values can be parts is a greatest fixed point: all gradients are taken as parts at first,
// the program is walked under that assumption, and every gradient of which an op refuses a part is
// taken out, until one walk finds nothing to refuse. Each walk takes at least one out.
ShardPlan::ShardPlan(const JobOnAxes& job, ShardOptions options)
    : job_(job),
      options_(std::move(options)),
      question_(job),
      store_(verify::analyse(*question_)),
      axes_(store_.axes()),
      axis_(axes_.indexOf(options_.axis)) {
  // A value per share is no answer here: either an op works on parts of a tensor, or it does not.
  for (bool& data : axes_.isData) data = false;
  for (Piece piece : {Piece::Whole, Piece::Part, Piece::Term, Piece::Flag}) {
    verify::Reading reading = verify::Reading::replicated(axes_);
    if (piece == Piece::Part) reading.states[axis_] = verify::State::split(dist::kFlat);
    if (piece == Piece::Term) reading.states[axis_] = verify::State::partial(dist::Reduce::Sum);
    if (piece == Piece::Flag) reading.states[axis_] = verify::State::partial(dist::Reduce::Or);
    verify::Relation& relation = relations_[static_cast<int>(piece)];
    relation.whole = relation.parts = reading;
  }
  collectGradients();
  while (!attempt()) {
  }
  checkSets();
  if (refusedOne_)
    while (!attempt()) {
    }
  pushCutsUp();
  chooseStored();
  for (Gradient& gradient : gradients_) {
    const mlir::Value given = gradient.sum->getOperand(gradient.member);
    if (!gradient.refused.empty()) {
      kept_[gradient.refused].push_back(dist::nameOf(given).str());
      continue;
    }
    if (sums_.empty() || sums_.back().op != gradient.sum) sums_.push_back({gradient.sum, {}});
    sums_.back().members.push_back(gradient.member);
  }
}

mlir::RankedTensorType ShardPlan::partType(mlir::Type whole) const {
  auto tensor = llvm::cast<mlir::RankedTensorType>(whole);
  const int64_t n = tensor.getNumElements(), size = options_.size;
  return mlir::RankedTensorType::get({n / size + (n % size != 0)}, tensor.getElementType());
}

dist::LayoutAttr ShardPlan::layoutOf(mlir::Type whole) {
  return dist::LayoutAttr::even(whole.getContext(),
                                llvm::cast<mlir::RankedTensorType>(whole).getNumElements());
}

// A part of one element has the shape of every number: no rule tells it from one.
std::string ShardPlan::tooSmall(mlir::Type type) const {
  mlir::RankedTensorType tensor = fixedTensor(type);
  if (llvm::isa<pd::RowsType>(type)) return "is SelectedRows, which have no flat parts";
  if (!tensor) return "has extents that are not known while compiling";
  if (tensor.getNumElements() <= options_.size)
    return "has no two elements for each of the " + std::to_string(options_.size) + " ranks";
  if (tensor.getNumElements() < options_.least)
    return "has less than min_shard = " + std::to_string(options_.least) + " elements";
  return "";
}

void ShardPlan::collectGradients() {
  job_.main.walk<mlir::WalkOrder::PreOrder>([&](dist::AllReduceOp sum) {
    dist::CommOp comm = dist::lookupComm(sum, sum.getCommAttr());
    if (sum.getReduce() != dist::Reduce::Sum || !comm || comm.getCarries() != kGradients ||
        comm.getAxes() != job_.axes)
      return;
    mlir::Operation* results = resultsOf(sum);
    for (auto [member, given] : llvm::enumerate(sum.getInputs()))
      gradients_.push_back({sum, static_cast<unsigned>(member), results->getResult(member),
                            tooSmall(given.getType())});
  });
}

bool ShardPlan::isReplicated(mlir::Value value) const {
  const verify::Reading& reading = store_.of(value).whole;
  return reading.known && reading.states[axis_].isReplicated();
}

// Whether something that is not known to be zero would stand in the pad of a part, and be added up:
// of parts there is one where the elements do not divide.
bool ShardPlan::addsPad(mlir::Value part, Piece sum) const {
  mlir::RankedTensorType type = fixedTensor(part.getType());
  if (type && type.getNumElements() % options_.size == 0) return false;
  return pads_.of(part) > (sum == Piece::Flag ? verify::Pad::Finite : verify::Pad::Zero);
}

// An update with norms of the whole: on parts, with the sums of their squares. (Not in branches.)
std::optional<std::vector<Piece>> ShardPlan::ofNormed(
    mlir::Operation* op, llvm::function_ref<Piece(mlir::OpOperand&)> pieces) const {
  const pd::OpView view(op);
  if (!options_.norms || op->getBlock() != pd::ProgramOp(job_.main).getBodyBlock() ||
      !takesNorms(view))
    return std::nullopt;
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const bool part = isPartOfNormed(view, operand.get());
    if (pieces(operand) != (part ? Piece::Part : Piece::Whole) ||
        (part && addsPad(operand.get(), Piece::Term)))
      return std::nullopt;
  }
  std::vector<Piece> results;
  for (mlir::Value result : op->getResults())
    results.push_back(isPartOfNormed(view, result) ? Piece::Part : Piece::Whole);
  return results;
}

// What the op's rule makes of operands that lie like this; nothing where it says nothing.
std::optional<std::vector<Piece>> ShardPlan::evaluate(
    mlir::Operation* op, llvm::function_ref<Piece(mlir::OpOperand&)> pieces,
    std::string* why) const {
  const pd::OpView view(op);
  const auto fail = [&](const llvm::Twine& text) -> std::optional<std::vector<Piece>> {
    if (why) *why = (view.type() + " " + text).str();
    return std::nullopt;
  };
  const verify::ParsedRule* rule = verify::findRule(view.type());
  if (!rule) return fail(verify::noRuleText(view.type()));
  if (auto normed = ofNormed(op, pieces)) return normed;
  if (countsDims(view)) return fail("counts dims from the left, and a flat part has one");
  llvm::DenseMap<mlir::Value, Piece> given;
  for (mlir::OpOperand& operand : op->getOpOperands())
    if (const Piece piece = pieces(operand); piece != Piece::Whole) given[operand.get()] = piece;
  verify::RuleContext context(op, *rule, axes_, [&](mlir::Value value) -> const verify::Relation& {
    return relations_[static_cast<int>(given.lookup_or(value, Piece::Whole))];
  });
  context.apply();
  if (!context.violations().empty()) return fail("does not take that");
  const std::vector<verify::Relation> results = context.takeResults();
  std::vector<Piece> found;
  for (auto [result, relation] : llvm::zip(op->getResults(), results)) {
    if (!relation.whole.known) return fail(context.reasons()[result.getResultNumber()].why);
    const auto at = llvm::find_if(relations_, [&](const verify::Relation& one) {
      return one.whole.states == relation.whole.states;
    });
    const auto piece = static_cast<Piece>(at - std::begin(relations_));
    // A maximum over the ranks, say, or a mean: no rule gives one of a flat part so far.
    if (at == std::end(relations_) || !relation.whole.scale.isOne() ||
        (piece == Piece::Part && !fixedTensor(result.getType())))
      return fail("gives neither a part of known extents nor a sum");
    if (isTerm(piece) && llvm::any_of(op->getOpOperands(), [&](mlir::OpOperand& operand) {
          return pieces(operand) == Piece::Part && addsPad(operand.get(), piece);
        }))
      return fail("adds up a flat part whose pad is not known to be zero");
    found.push_back(piece);
  }
  return found;
}

// One walk in program order under what is refused so far; false where it had to refuse more.
bool ShardPlan::attempt() {
  pieces_.clear();
  gradientOf_.clear();
  cut_.clear();
  summed_.clear();
  refusedOne_ = false;
  for (auto [number, gradient] : llvm::enumerate(gradients_))
    if (gradient.refused.empty()) {
      pieces_[gradient.result] = Piece::Part;
      gradientOf_[gradient.result] = number;
    }
  job_.main.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) { visit(op); });
  return !refusedOne_;
}

// All gradients that the op's operands come from stay whole.
void ShardPlan::refuse(mlir::Operation* op, const std::string& why) {
  for (mlir::Value operand : op->getOperands())
    if (auto found = gradientOf_.find(operand); found != gradientOf_.end()) {
      gradients_[found->second].refused = why;
      refusedOne_ = true;
    }
}

// What is no framework op takes whole values: terms are summed in front of it, parts are refused.
// Sets are looked at later (checkSets).
void ShardPlan::visit(mlir::Operation* op) {
  if (pd::OpView::isFrameworkOp(op) && op->getNumRegions() == 0) return visitFramework(op);
  for (mlir::OpOperand& operand : op->getOpOperands())
    if (isTerm(pieceOf(operand.get()))) summed_.insert(&operand);
  if (llvm::isa<pd::SetOp>(op)) return;
  if (pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == "conditional_block")
    return visitBranch(op);
  refuse(op, "enters " + op->getName().getStringRef().str() + " whole");
}

// Parts enter the block of a branch as parts. (What leaves it, by its yield, is whole.)
void ShardPlan::visitBranch(mlir::Operation* op) {
  const pd::OpView branch(op);
  for (auto [i, argument] : llvm::enumerate(op->getRegion(0).getArguments())) {
    mlir::Value given = branch.input("$capture", i);
    if (pieceOf(given) != Piece::Part) continue;
    pieces_[argument] = Piece::Part;
    if (auto found = gradientOf_.find(given); found != gradientOf_.end())
      gradientOf_[argument] = unsigned(found->second);
  }
}

// An op with a part among its operands: all operands of that shape are taken in parts too, and its
// rule of the relation analysis says what comes out. A sum that has not been taken yet (Term) stays
// one where the rule lets it through (clipping by a global norm adds squares of parts first), else
// it is taken in front of the op.
void ShardPlan::visitFramework(mlir::Operation* op) {
  mlir::Value part;
  bool terms = false;
  for (mlir::Value operand : op->getOperands()) {
    if (pieceOf(operand) == Piece::Part && !part) part = operand;
    terms |= isTerm(pieceOf(operand));
  }
  if (!part && !terms) return;
  const bool memberwise = isMemberwise(pd::OpView(op));
  // Beside a part other tensors of the shape are taken in parts as well.
  const auto isCutHere = [&](mlir::OpOperand& operand) {
    return part && !memberwise && pieceOf(operand.get()) == Piece::Whole &&
           sameShape(operand.get(), part) && isReplicated(operand.get());
  };
  for (bool keepsTerms : {true, false}) {
    if (keepsTerms && !terms) continue;
    const auto pieces = [&](mlir::OpOperand& operand) {
      if (isCutHere(operand)) return Piece::Part;
      const Piece own = pieceOf(operand.get());
      return isTerm(own) && !keepsTerms ? Piece::Whole : own;
    };
    std::string why;
    std::optional<std::vector<Piece>> results = evaluate(op, pieces, &why);
    if (!results) {
      if (keepsTerms) continue;
      if (part) return refuse(op, why);
      results.emplace(op->getNumResults(), Piece::Whole);  // of sums it is what it was
    }
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      if (isCutHere(operand)) cut_.insert(&operand);
      if (!keepsTerms && isTerm(pieceOf(operand.get()))) summed_.insert(&operand);
    }
    for (auto [result, piece] : llvm::zip(op->getResults(), *results)) {
      if (piece == Piece::Whole) continue;
      pieces_[result] = piece;
      if (piece == Piece::Part && part)
        gradientOf_[result] =
            gradientOf_.lookup(memberwise ? memberBehind(pd::OpView(op), result) : part);
    }
    return;
  }
}

// A part that is set must be put together again, or stay in a variable that can be cut.
void ShardPlan::checkSets() {
  job_.main.walk([&](pd::SetOp set) {
    if (pieceOf(set.getValue()) != Piece::Part) return;
    auto var = llvm::dyn_cast_or_null<pd::VarOp>(
        mlir::SymbolTable::lookupSymbolIn(job_.role, set.getVarAttr().getAttr()));
    if (!var || var.getType() != set.getValue().getType() || var->hasAttr(pd::kPartsAttr))
      refuse(set, "sets '" + set.getVar().str() + "', which is no tensor of its own");
  });
}

// What is made for parts only is made in parts: a decay of the whole parameter, say.
void ShardPlan::pushCutsUp() {
  llvm::SmallVector<mlir::Operation*> ops;
  job_.main.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op) && op->getNumRegions() == 0) ops.push_back(op);
  });
  for (mlir::Operation* op : llvm::reverse(ops)) pushCutUp(op);
}

// An op all of whose results are cut by their readers computes parts itself, where its rule allows
// it: fewer elements, and its operands are cut in turn.
bool ShardPlan::pushCutUp(mlir::Operation* op) {
  const pd::OpSpec* spec = pd::OpView(op).spec();
  if (!spec || spec->effects != pd::kPure || op->getNumResults() == 0 || op->getNumOperands() == 0)
    return false;
  for (mlir::Value result : op->getResults())
    if (result.use_empty() ||
        llvm::any_of(result.getUses(), [&](mlir::OpOperand& use) { return !isCut(use); }))
      return false;
  const auto isCutHere = [&](mlir::OpOperand& operand) {
    return sameShape(operand.get(), op->getResult(0)) && isReplicated(operand.get());
  };
  const auto results = evaluate(op, [&](mlir::OpOperand& operand) {
    return isCutHere(operand) ? Piece::Part : pieceOf(operand.get());
  });
  if (!results || !llvm::all_of(*results, [](Piece piece) { return piece == Piece::Part; }))
    return false;
  for (mlir::OpOperand& operand : op->getOpOperands())
    if (isCutHere(operand) && pieceOf(operand.get()) == Piece::Whole) cut_.insert(&operand);
  for (mlir::Value result : op->getResults()) {
    pieces_[result] = Piece::Part;
    for (mlir::OpOperand& use : result.getUses()) cut_.erase(&use);
  }
  return true;
}

// A whole use at the top of the program, before the variable is set: the parts are put together
// there. (Within a block of control flow it is not known that all ranks come by.)
bool ShardPlan::canGather(mlir::OpOperand& use, const Touches& touches) const {
  mlir::Block* body = pd::ProgramOp(job_.main).getBodyBlock();
  return use.getOwner()->getBlock() == body && llvm::all_of(touches.sets, [&](pd::SetOp set) {
           return use.getOwner()->isBeforeInBlock(inBlock(body, set));
         });
}

// Variables that are read and set in parts only hold a part; in stage 3 also those that are read
// whole where they can be gathered.
void ShardPlan::chooseStored() {
  const llvm::DenseMap<mlir::StringAttr, Touches> touches = touchesOf(job_.main);
  const Storable canStore(job_);
  for (auto var : job_.role.getBody().front().getOps<pd::VarOp>()) {
    const auto found = touches.find(var.getSymNameAttr());
    if (found == touches.end() || found->second.sets.empty()) continue;
    const Touches& own = found->second;
    if (!llvm::all_of(own.sets,
                      [&](pd::SetOp set) { return pieceOf(set.getValue()) == Piece::Part; }))
      continue;
    const bool fits = llvm::all_of(own.gets, [&](pd::GetOp get) {
      return llvm::all_of(get.getValue().getUses(), [&](mlir::OpOperand& use) {
        return isCut(use) || (options_.keepsParts && canGather(use, own));
      });
    });
    if (!fits || !canStore(var)) {
      // Stage 3 is asked for, and of this parameter there will be stage 1.
      if (options_.keepsParts && var.getParameter())
        kept_[fits ? "start-up is not known to make it"
                   : "is read where its parts cannot be put together"]
            .push_back(var.getSymName().str());
      continue;
    }
    stored_.push_back(var);
    for (pd::GetOp get : own.gets) {
      pieces_[get.getValue()] = Piece::Part;
      for (mlir::OpOperand& use : get.getValue().getUses())
        if (!cut_.erase(&use)) gathered_.insert(&use);
    }
  }
}

}  // namespace dtranspile::passes
