// Behind the loop, turn by turn: in a turn one guard per set of stages, then what stages hand to
// each other.
#include <map>

#include "dialects/dist/lookup.h"
#include "passes/pipeline/loop.h"
#include "passes/pipeline/once.h"
#include "passes/support/step.h"

namespace dtranspile::passes::pipeline {
namespace {

// Builds what runs once per step behind the loop over micro-batches (the update, mostly), on the
// stages that OncePlan has given each op.
class OnceBuilder {
 public:
  OnceBuilder(Target& target, const Plan& plan, const OncePlan& once, mlir::OpBuilder& builder,
              mlir::IRMapping& plain)
      : target_(target), plan_(plan), once_(once), builder_(builder), plain_(plain) {}

  // Nodes have turns (OncePlan): a node of a turn takes what earlier turns give only, so the nodes
  // of one turn need no order among each other beyond the program's. Within a turn the guards of
  // many stages come first, since a stage of its own may take what all have computed.
  void run() {
    for (const Sum& sum : plan_.sums) values_[sum.term] = sum.total;
    buildTurns(-1);
  }

 private:
  // Those of the step, or of the block of one branch.
  void buildTurns(int inside) {
    std::map<int, std::map<Stages, std::vector<int>, LargerFirst>> turns;
    std::map<int, std::vector<int>> joins, shares;
    int last = 0;
    for (auto [i, node] : llvm::enumerate(once_.nodes)) {
      const int number = static_cast<int>(i);
      if (node.dropped || node.inside != inside) continue;
      if (node.kind == Node::Kind::Join) joins[node.turn].push_back(number);
      else if (node.kind != Node::Kind::Total) turns[node.turn][node.place].push_back(number);
      if (node.shared) shares[node.turn].push_back(number);
      last = std::max(last, node.turn);
    }
    for (int turn = 0; turn <= last; ++turn) {
      for (const auto& [place, nodes] : turns[turn]) buildGroup(place, nodes);
      broadcast(shares[turn]);
      for (int node : joins[turn]) join(once_.nodes[node]);
    }
  }

  // On all stages: what each of them does is in guards of the block.
  void buildBranch(int number, mlir::IRMapping& local) {
    mlir::Operation* old = once_.nodes[number].op;
    mlir::Block& theirs = old->getRegion(0).front();
    mlir::Operation* branch = builder_.cloneWithoutRegions(*old, local);
    branch->removeAttr(dist::kStageAttr);
    const mlir::OpBuilder::InsertionGuard back(builder_);
    builder_.setInsertionPointToEnd(&branch->getRegion(0).emplaceBlock());
    for (auto decl : theirs.getOps<pd::DeclOp>()) builder_.clone(*decl.getOperation());
    buildTurns(number);
    builder_.clone(*theirs.getTerminator());
  }

  mlir::Location loc() { return pd::ProgramOp(target_.job.main).getLoc(); }
  const Node* nodeOf(mlir::Value behind) const {
    auto found = once_.nodeOf.find(behind);
    return found == once_.nodeOf.end() ? nullptr : &once_.nodes[found->second];
  }

  // Results of a node that others than the nodes of its own group read.
  bool isReadElsewhere(const Node& node, mlir::Value result,
                       const llvm::SmallPtrSetImpl<mlir::Operation*>& group) const {
    if (node.shared) return !result.use_empty();
    for (int user : node.users) {
      const Node& other = once_.nodes[user];
      if (other.dropped || group.contains(other.op)) continue;
      for (mlir::Value operand : operandsOf(other.op))
        if (termBehind(operand, target_) == result) return true;
    }
    return false;
  }

  // The nodes of one turn that run on the same stages, in one guard. What is located elsewhere
  // enters it as an argument; what others read leaves it as a result. On all stages no guard is
  // needed, and values stay plain.
  void buildGroup(const Stages& place, llvm::ArrayRef<int> numbers) {
    llvm::SmallPtrSet<mlir::Operation*, 16> group;
    for (int number : numbers) group.insert(once_.nodes[number].op);
    llvm::SetVector<mlir::Value> inputs, outputs;  // in the program as it was
    for (int number : numbers) {
      const Node& node = once_.nodes[number];
      for (mlir::Value operand : operandsOf(node.op)) {
        mlir::Value behind = termBehind(operand, target_);
        const Node* taken = nodeOf(behind);
        if (taken && !group.contains(taken->op) &&
            llvm::isa<dist::AtType>(values_.lookup(behind).getType()))
          inputs.insert(behind);
      }
      for (mlir::Value result : node.op->getResults())
        if (isReadElsewhere(node, result, group)) outputs.insert(result);
    }
    if (target_.isAll(place)) {
      mlir::IRMapping local;
      fill(numbers, builder_, local);
      for (mlir::Value output : outputs) values_[output] = local.lookup(output);
      return;
    }
    llvm::SmallVector<mlir::Value> arguments;
    llvm::SmallVector<mlir::Type> types;
    for (mlir::Value input : inputs) arguments.push_back(values_.lookup(input));
    for (mlir::Value output : outputs) types.push_back(output.getType());
    dist::OnOp on = target_.guard(builder_, loc(), place, arguments, types);
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
    mlir::IRMapping local;
    for (auto [input, argument] : llvm::zip(inputs, on.getBody().getArguments()))
      local.map(input, argument);
    fill(numbers, inside, local);
    llvm::SmallVector<mlir::Value> yielded;
    for (mlir::Value output : outputs) yielded.push_back(local.lookup(output));
    dist::YieldOp::create(inside, loc(), yielded);
    for (auto [output, result] : llvm::zip(outputs, on.getResults())) values_[output] = result;
  }

  void fill(llvm::ArrayRef<int> numbers, mlir::OpBuilder& builder, mlir::IRMapping& local) {
    for (int number : numbers) {
      const Node& node = once_.nodes[number];
      for (mlir::Value operand : operandsOf(node.op)) give(operand, builder, local);
      if (node.kind == Node::Kind::Branch) buildBranch(number, local);
      else builder.clone(*node.op, local)->removeAttr(dist::kStageAttr);
    }
  }

  // An operand where the node is built: the value of another node as it is now, or one that can be
  // made again at any place (a constant, a read of a variable).
  void give(mlir::Value operand, mlir::OpBuilder& builder, mlir::IRMapping& local) {
    mlir::Value behind = termBehind(operand, target_);
    if (!local.contains(behind)) {
      if (nodeOf(behind)) local.map(behind, values_.lookup(behind));
      else giveRepeatable(behind, builder, local, plan_, mlir::IRMapping(), plain_);
    }
    if (operand != behind) local.map(operand, local.lookup(behind));
  }

  // One operation per stage and element type.
  void broadcast(llvm::ArrayRef<int> numbers) {
    llvm::MapVector<std::pair<unsigned, mlir::Type>, std::vector<mlir::Value>> groups;
    for (int number : numbers) {
      const Node& node = once_.nodes[number];
      const auto stage = static_cast<unsigned>(node.place.find_first());
      llvm::SmallVector<mlir::Value> given;
      if (node.op) given.append(node.op->result_begin(), node.op->result_end());
      else given.push_back(node.value);
      for (mlir::Value value : given)
        if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
            tensor && values_.count(value))
          groups[{stage, tensor.getElementType()}].push_back(value);
    }
    for (const auto& [key, old] : groups) {
      llvm::SmallVector<mlir::Value> operands;
      llvm::SmallVector<mlir::Type> types;
      for (mlir::Value value : old) {
        operands.push_back(values_.lookup(value));
        types.push_back(value.getType());
      }
      auto op =
          dist::BroadcastOp::create(builder_, loc(), types, operands, target_.among(target_.all()),
                                    target_.selector(target_.only(key.first)));
      for (auto [value, result] : llvm::zip(old, op.getResults())) values_[value] = result;
    }
  }

  // Every term once: from one stage, with zeros on the others.
  // A sum whose terms lie on several stages: each stage adds its own, and an all_reduce over the
  // stages adds these. A term that several stages hold must be counted by one of them.
  void join(const Node& node) {
    const bool everywhere = target_.isAll(node.place);
    std::map<unsigned, std::vector<mlir::Value>> terms;  // by the stage that gives them
    llvm::SetVector<mlir::Value> whole;                  // located where the sum is
    for (mlir::Value operand : node.op->getOperands()) {
      mlir::Value behind = termBehind(operand, target_);
      const Node* taken = nodeOf(behind);
      const bool held = !taken || taken->shared || !node.place.test(taken->place);
      terms[static_cast<unsigned>(held ? node.place.find_first() : taken->place.find_first())]
          .push_back(behind);
      if (held && taken && !everywhere && llvm::isa<dist::AtType>(values_.lookup(behind).getType()))
        whole.insert(behind);
    }
    dist::OnOp on;
    mlir::OpBuilder inside = builder_;
    mlir::IRMapping local;
    if (!everywhere) {
      llvm::SmallVector<mlir::Value> arguments;
      for (mlir::Value value : whole) arguments.push_back(values_.lookup(value));
      on = target_.guard(builder_, loc(), node.place, arguments, node.op->getResult(0).getType());
      inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
      for (auto [value, argument] : llvm::zip(whole, on.getBody().getArguments()))
        local.map(value, argument);
    }
    for (const auto& [stage, own] : terms) takeFrom(stage, own, inside, local);
    for (mlir::Value operand : node.op->getOperands())
      if (mlir::Value behind = termBehind(operand, target_); operand != behind)
        local.map(operand, local.lookup(behind));
    mlir::Operation* sum = inside.clone(*node.op, local);
    sum->removeAttr(dist::kStageAttr);
    mlir::Value total = sumOver(inside, loc(), sum->getResult(0), target_.among(node.place));
    if (on) {
      dist::YieldOp::create(inside, loc(), total);
      total = on.getResult(0);
    }
    values_[node.op->getResult(0)] = total;
  }

  // `local` then has the terms of one stage, which are zeros on the others.
  void takeFrom(unsigned stage, llvm::ArrayRef<mlir::Value> own, mlir::OpBuilder& builder,
                mlir::IRMapping& local) {
    llvm::SmallVector<mlir::Value> arguments, located;
    llvm::SmallVector<mlir::Type> types;
    for (mlir::Value value : own) {
      types.push_back(value.getType());
      if (!nodeOf(value)) give(value, builder, local);
      mlir::Value now = local.contains(value) ? local.lookup(value) : values_.lookup(value);
      if (!llvm::isa<dist::AtType>(now.getType())) continue;
      arguments.push_back(now);
      located.push_back(value);
    }
    auto on = dist::OnOp::create(builder, loc(), types, target_.selector(target_.only(stage)),
                                 arguments, dist::TaskAttr(), mlir::IntegerAttr());
    mlir::Block& body = on.getBody().emplaceBlock();
    for (mlir::Value argument : arguments)
      body.addArgument(dist::unlocated(argument.getType()), loc());
    llvm::SmallVector<mlir::Value> yielded;
    for (mlir::Value value : own) {
      auto found = llvm::find(located, value);
      if (found != located.end()) yielded.push_back(body.getArgument(found - located.begin()));
      else yielded.push_back(local.contains(value) ? local.lookup(value) : values_.lookup(value));
    }
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&body);
    dist::YieldOp::create(inside, loc(), yielded);
    mlir::Block& others = on.getOtherwise().emplaceBlock();
    inside = mlir::OpBuilder::atBlockEnd(&others);
    llvm::SmallVector<mlir::Value> zeros;
    llvm::DenseMap<mlir::Type, mlir::Value> made;
    for (mlir::Value value : own) {
      mlir::Value& zero = made[value.getType()];
      if (!zero)
        zero =
            target_.zeros(inside, loc(), value.getType(), nameLike(value, target_), pd::kOptimize);
      zeros.push_back(zero);
    }
    dist::YieldOp::create(inside, loc(), zeros);
    for (auto [value, result] : llvm::zip(own, on.getResults())) local.map(value, result);
  }

  Target& target_;
  const Plan& plan_;
  const OncePlan& once_;
  mlir::OpBuilder& builder_;
  mlir::IRMapping& plain_;
  llvm::DenseMap<mlir::Value, mlir::Value> values_;  // of the program as it was -> now
};

}  // namespace

void buildOnce(Target& target, const Plan& plan, const OncePlan& once, mlir::OpBuilder& builder,
               mlir::IRMapping& plain) {
  OnceBuilder(target, plan, once, builder, plain).run();
}

}  // namespace dtranspile::passes::pipeline
