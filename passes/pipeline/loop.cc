#include "passes/pipeline/loop.h"

#include <set>

#include "dialects/dist/lookup.h"
#include "passes/support/step.h"

namespace dtranspile::passes::pipeline {

bool isCut(mlir::Operation* feed, const Target& target) {
  auto batch = feed->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
  return batch && llvm::is_contained(batch.getAxes(), target.micro);
}

namespace {

mlir::Operation* cloned(mlir::OpBuilder& builder, mlir::Operation* op, mlir::IRMapping& values) {
  mlir::Operation* copy = builder.clone(*op, values);
  copy->removeAttr(dist::kStageAttr);
  return copy;
}

}  // namespace

std::string nameLike(mlir::Value value, Target& target) {
  const std::string name = pd::nameOf(value).str();
  pd::DeclOp declared =
      target.declarations.resolve(pd::ProgramOp(target.job.main).getBodyBlock(), name);
  return declared && declared.getValueType() != value.getType() ? name + "@PART" : name;
}

// A value that can be made again: where it stands already (`plain`, in front of the loop; `feeds`,
// in its body), else from a clone of the op that makes it, with the ops before it.
void giveRepeatable(mlir::Value value, mlir::OpBuilder& builder, mlir::IRMapping& values,
                    const Plan& plan, const mlir::IRMapping& feeds, const mlir::IRMapping& plain) {
  mlir::Operation* op = value ? value.getDefiningOp() : nullptr;
  if (!op || values.contains(value)) return;
  if (plain.contains(value)) return values.map(value, plain.lookup(value));
  if (feeds.contains(value)) return values.map(value, feeds.lookup(value));
  if (llvm::isa<pd::GetOp, pd::UndefOp>(op)) {
    builder.clone(*op, values);
  } else if (plan.repeatable.contains(op)) {
    for (mlir::Value operand : op->getOperands())
      giveRepeatable(operand, builder, values, plan, feeds, plain);
    cloned(builder, op, values);
  }
}

namespace {

// Builds dist.micro with a task per part and direction. A task takes what other tasks give: on its
// own stage as a value, from another stage through a transfer, which the value crosses once even
// where several tasks of that stage read it. The sums are carried through the loop: each task adds
// its terms to those that it was given, in the order of the micro-batches, which is fixed by the
// schedule and so is the rounding.
class LoopBuilder {
 public:
  LoopBuilder(Target& target, Plan& plan, mlir::OpBuilder& builder, mlir::IRMapping& plain)
      : target_(target), plan_(plan), builder_(builder), plain_(plain) {
    tasks_.resize(static_cast<size_t>(plan.tasks()));
    for (const auto& [op, task] : plan.loop) tasks_[task].ops.push_back(op);
    for (mlir::Operation& op : *main().getBodyBlock()) old_.push_back(&op);
  }

  void run() {
    findUsers();
    buildFront();
    findMoves();
    markDraws();
    buildMicro();
    scaleTotals();
  }

 private:
  struct TaskOf {
    std::vector<mlir::Operation*> ops;
    llvm::SetVector<mlir::Value> takes, gives;  // values of other tasks, for other tasks
    std::vector<unsigned> sums;
  };

  pd::ProgramOp main() { return target_.job.main; }

  // An op of the program is run once by a rank (rung 1): what several tasks of a stage need stands
  // between the tasks, what is needed outside of the loop in front of it.
  void findUsers() {
    for (mlir::Operation* op : llvm::reverse(old_)) {
      std::set<TaskId> users;
      if (plan_.loop.count(op)) users = {plan_.taskOf(op)};
      else if (plan_.repeatable.contains(op)) users = placesOf(op);
      else if (plan_.once.contains(op) || plan_.before.contains(op) || llvm::isa<pd::SetOp>(op))
        users = {kOutside};
      for (mlir::Value operand : operandsOf(op))
        if (mlir::Operation* maker = operand.getDefiningOp();
            maker && plan_.repeatable.contains(maker))
          users_[maker].insert(users.begin(), users.end());
    }
  }
  // What nobody reads stands between the tasks as well, and so does what it is computed from.
  const std::set<TaskId>& placesOf(mlir::Operation* op) {
    std::set<TaskId>& places = users_[op];
    if (places.empty()) places.insert(kBetween);
    return places;
  }
  bool isOutside(mlir::Operation* op) { return users_[op].count(kOutside); }
  bool isBetween(mlir::Operation* op) {
    return !isOutside(op) && (users_[op].size() != 1 || users_[op].count(kBetween));
  }

  // In the order of the program, since variables are read and set here.
  void buildFront() {
    for (mlir::Operation* op : old_) {
      auto input = llvm::dyn_cast<pd::InputOp>(op);
      if (input && !isCut(input, target_)) builder_.clone(*op, plain_);
      const auto inFront = [&](mlir::Operation* user) { return plan_.before.contains(user); };
      if (auto get = llvm::dyn_cast<pd::GetOp>(op); get && llvm::any_of(get->getUsers(), inFront))
        builder_.clone(*op, plain_);
      if (auto set = llvm::dyn_cast<pd::SetOp>(op);
          set && set.getValue().getDefiningOp() && inFront(set.getValue().getDefiningOp()))
        builder_.clone(*op, plain_);
      if (inFront(op) || (plan_.repeatable.contains(op) && isOutside(op)))
        cloned(builder_, op, plain_);
    }
  }

  void give(mlir::Value value, mlir::OpBuilder& builder, mlir::IRMapping& values) {
    giveRepeatable(value, builder, values, plan_, feeds_, plain_);
  }

  // What each task takes and gives. A transfer is one op for both of its ends, so that messages of
  // a channel are in the order of `gives` of the task that sends them, on either side.
  void findMoves() {
    for (auto [id, task] : llvm::enumerate(tasks_))
      for (mlir::Operation* op : task.ops)
        for (mlir::Value operand : operandsOf(op)) take(operand, static_cast<TaskId>(id));
    // Channels are first in, first out: what a stage's backward task takes of another stage's
    // forward part arrives among the values of that part, so its own forward task receives it.
    for (TaskId id = static_cast<TaskId>(plan_.parts); id < static_cast<TaskId>(tasks_.size());
         ++id)
      for (mlir::Value value : tasks_[id].takes) {
        const TaskId from = plan_.taskOf(plan_.maker(value));
        const TaskId own = plan_.forward(plan_.partOf(id));
        if (!plan_.isBackward(from) && plan_.stageOf(from) != plan_.stageOf(id) && own > from)
          tasks_[own].takes.insert(value);
        // For the same reason a gradient that only W reads comes in with B.
        if (plan_.isWeights(id) && plan_.isBackward(from) &&
            plan_.stageOf(from) != plan_.stageOf(id))
          tasks_[plan_.backward(plan_.partOf(id))].takes.insert(value);
      }
    for (auto [index, sum] : llvm::enumerate(plan_.sums))
      tasks_[sum.task].sums.push_back(static_cast<unsigned>(index));
  }

  // A value of another task: noted on both sides. Constants and reads of variables have no maker in
  // the loop, and are made where they are needed.
  void take(mlir::Value value, TaskId id) {
    mlir::Operation* maker = plan_.maker(value);
    if (!maker || plan_.taskOf(maker) == id) return;
    tasks_[id].takes.insert(value);
    tasks_[plan_.taskOf(maker)].gives.insert(value);
  }

  // Draws differ between micro-batches where they are drawn for a part of the batch.
  void markDraws() {
    llvm::DenseSet<mlir::Operation*> fed;
    for (mlir::Operation* op : old_) {
      const bool own = llvm::isa<pd::InputOp>(op) && isCut(op, target_);
      if (own || llvm::any_of(operandsOf(op), [&](mlir::Value value) {
            return value.getDefiningOp() && fed.contains(value.getDefiningOp());
          }))
        fed.insert(op);
    }
    for (const auto& [op, task] : plan_.loop) {
      const bool parts = fed.contains(op);
      op->walk([&](mlir::Operation* inner) {
        const pd::OpSpec* spec =
            pd::OpView::isFrameworkOp(inner) ? pd::OpView(inner).spec() : nullptr;
        if (!spec || !(spec->effects & pd::kRandom)) return;
        llvm::SmallVector<mlir::Attribute> axes;
        if (auto known = inner->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr))
          axes.append(known.begin(), known.end());
        if (parts) axes.push_back(target_.micro);
        inner->setAttr(dist::kStreamsAttr, builder_.getArrayAttr(axes));
      });
    }
  }

  // A sum is called as its terms are; a variable's name is that of what is set to it.
  std::string nameOf(mlir::Value term) {
    const std::string name = nameLike(term, target_);
    const bool variable = mlir::SymbolTable::lookupSymbolIn(target_.job.role, name);
    return name + (variable ? "@MICRO" : "");
  }

  // Zeros on each stage, in the order of `sums`; state begins as its variable.
  llvm::SmallVector<mlir::Value> beginnings() {
    llvm::SmallVector<mlir::Value> inits(plan_.sums.size());
    for (int64_t stage = 0; stage < target_.stages; ++stage) {
      llvm::SmallVector<unsigned> own;
      llvm::SmallVector<mlir::Type> types;
      for (auto [index, sum] : llvm::enumerate(plan_.sums))
        if (plan_.stageOf(sum.task) == stage) {
          own.push_back(static_cast<unsigned>(index));
          types.push_back(sum.term.getType());
        }
      if (own.empty()) continue;
      dist::OnOp on = target_.guard(builder_, main().getLoc(), target_.only(stage), {}, types);
      mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
      llvm::SmallVector<mlir::Value> zeros;
      mlir::IRMapping states;
      for (unsigned index : own) {
        mlir::Value term = plan_.sums[index].term;
        if (mlir::Value state = beforeOf(plan_.sums[index])) {
          give(state, inside, states);
          zeros.push_back(states.lookup(state));
          continue;
        }
        zeros.push_back(
            target_.zeros(inside, main().getLoc(), term.getType(), nameOf(term), pd::kBackward));
      }
      dist::YieldOp::create(inside, main().getLoc(), zeros);
      for (auto [index, value] : llvm::zip(own, on.getResults())) inits[index] = value;
    }
    return inits;
  }

  // What the op of a state takes in its place, in the program as it was; null for sums.
  static mlir::Value beforeOf(const Sum& sum) {
    return sum.isState() ? pd::OpView(sum.term.getDefiningOp()).input(sum.slot) : mlir::Value();
  }

  // The loop: feeds of a micro-batch, what several tasks share, then the tasks in the order of
  // their numbers. The schedule says in which order they run; the order here is one in which every
  // value is made before it is taken.
  void buildMicro() {
    const mlir::Location loc = main().getLoc();
    const llvm::SmallVector<mlir::Value> inits = beginnings();
    const llvm::SmallVector<mlir::Type> types(mlir::ValueRange(inits).getTypes());
    auto micro = dist::MicroOp::create(builder_, loc, types, builder_.getArrayAttr({target_.micro}),
                                       builder_.getStringAttr(target_.schedule),
                                       builder_.getI64IntegerAttr(target_.chunks), inits);
    mlir::Block& block = micro.getBody().emplaceBlock();
    for (mlir::Type type : types) block.addArgument(type, loc);
    mlir::OpBuilder body = mlir::OpBuilder::atBlockEnd(&block);
    for (auto input : main().getBodyBlock()->getOps<pd::InputOp>())
      if (isCut(input, target_))
        feeds_.map(input.getValue(), body.clone(*input.getOperation())->getResult(0));
    for (mlir::Operation* op : old_)
      if (plan_.repeatable.contains(op) && isBetween(op)) {
        mlir::IRMapping values(feeds_);
        for (mlir::Value operand : op->getOperands()) give(operand, body, values);
        mlir::Operation* copy = cloned(body, op, values);
        for (auto [old, now] : llvm::zip(op->getResults(), copy->getResults()))
          feeds_.map(old, now);
      }
    running_.assign(block.args_begin(), block.args_end());
    for (size_t id = 0; id < tasks_.size(); ++id) buildTask(static_cast<TaskId>(id), body);
    dist::YieldOp::create(body, loc, running_);
    for (auto [sum, total] : llvm::zip(plan_.sums, micro.getResults())) sum.total = total;
  }

  // One part of the model in one direction, on its stage: takes values of other tasks and the sums
  // so far, gives values and the sums with its own terms.
  void buildTask(TaskId id, mlir::OpBuilder& body) {
    TaskOf& task = tasks_[id];
    if (task.ops.empty() && task.sums.empty() && task.takes.empty()) return;
    const mlir::Location loc = main().getLoc();
    const int64_t stage = plan_.stageOf(id);
    llvm::SmallVector<mlir::Value> inputs;
    for (mlir::Value value : task.takes) inputs.push_back(at_.lookup({value, stage}));
    for (unsigned index : task.sums) inputs.push_back(running_[index]);
    llvm::SmallVector<mlir::Type> types;
    for (mlir::Value value : task.gives) types.push_back(value.getType());
    for (unsigned index : task.sums) types.push_back(plan_.sums[index].term.getType());
    dist::OnOp on = target_.guard(body, loc, target_.only(stage), inputs, types);
    on.setTaskAttr(dist::TaskAttr::get(body.getContext(), plan_.isWeights(id)    ? dist::Task::W
                                                          : plan_.isBackward(id) ? dist::Task::B
                                                                                 : dist::Task::F));
    if (target_.chunks > 1) on.setChunkAttr(body.getI64IntegerAttr(plan_.chunkOf(id)));
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
    mlir::IRMapping values;
    for (auto [i, value] : llvm::enumerate(task.takes))
      values.map(value, on.getBody().getArgument(i));
    llvm::DenseMap<mlir::Operation*, llvm::SmallVector<unsigned, 2>> states;  // positions in sums
    for (auto [i, index] : llvm::enumerate(task.sums))
      if (plan_.sums[index].isState())
        states[plan_.sums[index].term.getDefiningOp()].push_back(static_cast<unsigned>(i));
    for (mlir::Operation* op : task.ops) {
      const llvm::SmallVector<unsigned, 2> moved = states.lookup(op);
      for (mlir::Value operand : operandsOf(op))
        if (llvm::none_of(
                moved, [&](unsigned i) { return beforeOf(plan_.sums[task.sums[i]]) == operand; }))
          give(operand, inside, values);
      pd::OpView copy(cloned(inside, op, values));
      for (unsigned i : moved)
        copy.setInput(plan_.sums[task.sums[i]].slot, 0,
                      on.getBody().getArgument(task.takes.size() + i));
    }
    llvm::SmallVector<mlir::Value> yielded;
    for (mlir::Value value : task.gives) yielded.push_back(values.lookup(value));
    for (auto [i, index] : llvm::enumerate(task.sums)) {
      mlir::Value term = plan_.sums[index].term,
                  before = on.getBody().getArgument(task.takes.size() + i);
      if (plan_.sums[index].isState()) {
        yielded.push_back(values.lookup(term));
        continue;
      }
      const int role = plan_.isBackward(id) ? pd::kBackward : pd::kForward;
      yielded.push_back(target_.declarations
                            .create(inside, loc, "sum", {{"X", {before, values.lookup(term)}}},
                                    {{"Out", {{nameOf(term), term.getType()}}}}, {}, role)
                            .output("Out"));
    }
    dist::YieldOp::create(inside, loc, yielded);
    for (auto [i, value] : llvm::enumerate(task.gives)) send(id, value, on.getResult(i), body);
    for (auto [i, index] : llvm::enumerate(task.sums))
      running_[index] = on.getResult(task.gives.size() + i);
  }

  // To every stage that reads the value.
  void send(TaskId id, mlir::Value value, mlir::Value made, mlir::OpBuilder& body) {
    const int64_t own = plan_.stageOf(id);
    at_[{value, own}] = made;
    for (size_t other = 0; other < tasks_.size(); ++other) {
      const int64_t stage = plan_.stageOf(static_cast<TaskId>(other));
      mlir::Value& there = at_[{value, stage}];
      if (there || !tasks_[other].takes.contains(value)) continue;
      there = dist::TransferOp::create(body, main().getLoc(),
                                       target_.located(value.getType(), target_.only(stage)), made,
                                       target_.channels(plan_.isBackward(id)));
    }
  }

  // A loss is the mean of those of the micro-batches.
  void scaleTotals() {
    for (int64_t stage = 0; stage < target_.stages; ++stage) {
      llvm::SmallVector<Sum*> own;
      llvm::SmallVector<mlir::Value> inputs;
      llvm::SmallVector<mlir::Type> types;
      for (Sum& sum : plan_.sums)
        if (sum.factor != 1 && plan_.stageOf(sum.task) == stage) {
          own.push_back(&sum);
          inputs.push_back(sum.total);
          types.push_back(sum.term.getType());
        }
      if (own.empty()) continue;
      dist::OnOp on = target_.guard(builder_, main().getLoc(), target_.only(stage), inputs, types);
      mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
      llvm::SmallVector<mlir::Value> scaled;
      for (auto [sum, argument] : llvm::zip(own, on.getBody().getArguments()))
        scaled.push_back(scale(inside, main().getLoc(), argument, sum->factor,
                               pd::nameOf(sum->term), pd::kForward, target_.declarations));
      dist::YieldOp::create(inside, main().getLoc(), scaled);
      for (auto [sum, result] : llvm::zip(own, on.getResults())) sum->total = result;
    }
  }

  static constexpr TaskId kOutside = -1, kBetween = -2;

  Target& target_;
  Plan& plan_;
  mlir::OpBuilder& builder_;
  mlir::IRMapping &plain_, feeds_;
  llvm::DenseMap<mlir::Operation*, std::set<TaskId>> users_;         // of what is repeatable
  std::vector<mlir::Operation*> old_;                                // the program as it was
  std::vector<TaskOf> tasks_;                                        // by TaskId
  std::vector<mlir::Value> running_;                                 // the sums so far
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> at_;  // by stage
};

}  // namespace

void buildLoop(Target& target, Plan& plan, mlir::OpBuilder& builder, mlir::IRMapping& plain) {
  LoopBuilder(target, plan, builder, plain).run();
}

}  // namespace dtranspile::passes::pipeline
