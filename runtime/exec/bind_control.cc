// Nodes with bodies: branches, loops, guards, micro-batches, blocks.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/bind.h"
#include "runtime/exec/pending.h"

namespace dtranspile::exec {
namespace {

// Messages say from the inside out in which turn, task or block they arose.
absl::Status Inside(const absl::Status& status, const std::string& where) {
  return absl::Status(status.code(), absl::StrCat(status.message(), "; in ", where));
}

// The condition is a bool of one element in the arena, which an op before this node wrote.
class BoundIf : public BoundNode {
 public:
  BoundIf(const Node& node, const bool* condition, BoundBody then, BoundBody otherwise)
      : BoundNode(node),
        condition_(condition),
        then_(std::move(then)),
        otherwise_(std::move(otherwise)) {}

  absl::Status Run(Walk& walk) override { return (*condition_ ? then_ : otherwise_).Run(walk); }

 private:
  const bool* const condition_;
  const BoundBody then_, otherwise_;
};

// A limit of turns stands in the plan: a program that never ends is an error of the step, not a
// hang.
class BoundWhile : public BoundNode {
 public:
  BoundWhile(const Node& node, const bool* condition, int64_t limit, BoundBody body)
      : BoundNode(node), condition_(condition), limit_(limit), body_(std::move(body)) {}

  absl::Status Run(Walk& walk) override {
    for (int64_t turn = 0; *condition_; ++turn) {
      if (turn == limit_)
        return absl::OutOfRangeError(absl::StrCat("the loop has not ended after ", turn, " turns"));
      if (const absl::Status status = body_.Run(walk); !status.ok())
        return Inside(status, absl::StrCat("turn ", turn + 1, " of op ", op()));
    }
    return absl::OkStatus();
  }

 private:
  const bool* const condition_;
  const int64_t limit_;
  const BoundBody body_;
};

// A guard along the time axis; what it says of the rank has been decided.
class BoundAt : public BoundNode {
 public:
  BoundAt(const Node& node, const std::vector<int64_t>& bounds, const int64_t* micro,
          BoundBody body, BoundBody otherwise)
      : BoundNode(node),
        bounds_(bounds),
        micro_(micro),
        body_(std::move(body)),
        otherwise_(std::move(otherwise)) {}

  absl::Status Run(Walk& walk) override {
    return (Selector::Within(bounds_, *micro_) ? body_ : otherwise_).Run(walk);
  }

 private:
  const std::vector<int64_t>& bounds_;
  const int64_t* const micro_;
  const BoundBody body_, otherwise_;
};

// Bodies one after the other: the one side of a guard that this rank is on, the blocks that it
// owns.
class BoundSequence : public BoundNode {
 public:
  explicit BoundSequence(const Node& node) : BoundNode(node) {}

  // `where`: what a message says of the body; may be empty.
  void Add(BoundBody body, std::string where) {
    bodies_.emplace_back(std::move(body), std::move(where));
  }

  absl::Status Run(Walk& walk) override {
    for (const auto& [body, where] : bodies_)
      if (const absl::Status status = body.Run(walk); !status.ok())
        return where.empty() ? status : Inside(status, where);
    return absl::OkStatus();
  }

 private:
  std::vector<std::pair<BoundBody, std::string>> bodies_;
};

// The tasks of a stage in the order of its schedule.
class BoundMicro : public BoundNode {
 public:
  BoundMicro(const MicroNode& micro, const Node& node, const Binder& binder)
      : BoundNode(node),
        micro_(micro),
        instances_(static_cast<size_t>(micro.instances)),
        stand_(binder.links.stand),
        own_(binder.links.position),
        now_(own_) {
    now_.mesh[micro.axis] = micro.micros;
    now_.coordinates[micro.axis] = 0;
  }

  absl::Status BindTasks(Binder& binder);
  absl::Status Run(Walk& walk) override;
  bool needs_others() const override { return true; }  // waits for its sends

 private:
  // What micro-batches keep apart from each other, while they are under way.
  struct Instance {
    std::vector<BoundBody> tasks;
    std::vector<Binder::Receives> receives;  // of each task
    std::vector<Pending*> sends;
    int64_t micro = -1;  // that has it now
  };
  struct Entry {
    const BoundBody* task;
    const Binder::Receives* receives;
    Instance* instance;
    std::string name;  // "F 3"
  };

  absl::Status Begin(Entry& entry, int64_t micro, const Walk& walk);
  absl::Status WaitFor(Instance& instance, const Walk& walk);
  absl::Status ReceiveAhead(size_t at, const Walk& walk);
  absl::Status RunOrder(Walk& walk);

  const MicroNode& micro_;
  std::vector<Instance> instances_;
  std::vector<Entry> order_;
  int64_t at_ = 0;
  const std::function<void(const Position&)>& stand_;
  const Position& own_;
  Position now_;
};

// Bodies are bound once per instance, each to that instance's memory: micro-batch m uses instance m
// % instances, so that as many are under way at once as the schedule needs, and no more memory is
// used than that.
absl::Status BoundMicro::BindTasks(Binder& binder) {
  const Binder::Scope outer = binder.scope;
  for (size_t i = 0; i < instances_.size(); ++i) {
    instances_[i].receives.resize(micro_.tasks.size());
    for (const MicroNode::Task& task : micro_.tasks) {
      binder.scope = {.instance = static_cast<int64_t>(i),
                      .micro = &micro_,
                      .micro_at = &at_,
                      .sends = &instances_[i].sends,
                      .receives = &instances_[i].receives[instances_[i].tasks.size()],
                      .task = &task.body};
      DT_ASSIGN_OR_RETURN(BoundBody body, binder.Body(task.body));
      instances_[i].tasks.push_back(std::move(body));
    }
  }
  binder.scope = outer;
  for (const std::vector<int64_t>& entry : micro_.order) {
    Instance& instance = instances_[static_cast<size_t>(entry[1] % micro_.instances)];
    const auto task = static_cast<size_t>(entry[0]);
    order_.push_back({&instance.tasks[task], &instance.receives[task], &instance,
                      absl::StrCat(micro_.tasks[task].name, " ", entry[1])});
  }
  return absl::OkStatus();
}

// Sends are not waited for where they start: the receiver's stage may come to them much later.
absl::Status BoundMicro::WaitFor(Instance& instance, const Walk& walk) {
  for (Pending* send : instance.sends) DT_RETURN_IF_ERROR(send->Wait(walk));
  return absl::OkStatus();
}

// What the last micro-batch has sent out of this instance has to be gone before the next one
// writes there.
absl::Status BoundMicro::Begin(Entry& entry, int64_t micro, const Walk& walk) {
  if (entry.instance->micro != micro) DT_RETURN_IF_ERROR(WaitFor(*entry.instance, walk));
  entry.instance->micro = micro;
  at_ = micro;
  now_.coordinates.find(micro_.axis)->second = micro;
  if (stand_) stand_(now_);
  return absl::OkStatus();
}

// What the next task takes of other stages comes in while this one runs, where its micro-batch has
// memory already or is given some that nothing of this step has used, so that nobody is waited for.
// Receives of a channel begin in the order of the tasks: those of this task first.
absl::Status BoundMicro::ReceiveAhead(size_t at, const Walk& walk) {
  if (at + 1 >= order_.size()) return absl::OkStatus();
  const Binder::Receives &now = *order_[at].receives, &next = *order_[at + 1].receives;
  const int64_t holder = order_[at + 1].instance->micro;
  if (next.begin.empty() || !now.all || !next.all ||
      (holder >= 0 && holder != micro_.order[at + 1][1]))
    return absl::OkStatus();
  for (const Binder::Receives* receives : {&now, &next})
    for (const auto& begin : receives->begin) DT_RETURN_IF_ERROR(begin(walk));
  return absl::OkStatus();
}

// The stage's row of the schedule, entry by entry; a trace shows each as one span.
absl::Status BoundMicro::RunOrder(Walk& walk) {
  for (size_t i = 0; i < order_.size(); ++i) {
    Entry& entry = order_[i];
    const int64_t begin = walk.trace ? NowNs() : 0;
    DT_RETURN_IF_ERROR(Begin(entry, micro_.order[i][1], walk));
    DT_RETURN_IF_ERROR(ReceiveAhead(i, walk));
    const absl::Status status = entry.task->Run(walk);
    if (walk.trace) walk.trace->Add(entry.name.c_str(), Trace::kWork, begin, NowNs());
    if (!status.ok())
      return Inside(
          status, absl::StrCat("task ", micro_.tasks[static_cast<size_t>(micro_.order[i][0])].name,
                               " of micro-batch ", at_));
  }
  for (Instance& instance : instances_) DT_RETURN_IF_ERROR(WaitFor(instance, walk));
  return absl::OkStatus();
}

absl::Status BoundMicro::Run(Walk& walk) {
  for (Instance& instance : instances_) instance.micro = -1;
  const absl::Status status = RunOrder(walk);
  if (stand_) stand_(own_);
  return status;
}

const bool* Flag(std::byte* address) { return reinterpret_cast<const bool*>(address); }

}  // namespace

BindResult Bind(const IfNode& branch, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(std::byte* const condition, binder.Address(branch.condition));
  DT_ASSIGN_OR_RETURN(BoundBody then, binder.Body(branch.then));
  DT_ASSIGN_OR_RETURN(BoundBody otherwise, binder.Body(branch.otherwise));
  return std::make_unique<BoundIf>(node, Flag(condition), std::move(then), std::move(otherwise));
}

BindResult Bind(const WhileNode& loop, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(std::byte* const condition, binder.Address(loop.condition));
  DT_ASSIGN_OR_RETURN(BoundBody body, binder.Body(loop.body));
  return std::make_unique<BoundWhile>(node, Flag(condition), loop.limit, std::move(body));
}

// A guard over mesh axes is decided here, once for the rank; one over the axis of micro-batches is
// data of the run, and both of its sides are bound.
BindResult Bind(const AtNode& guard, const Node& node, Binder& binder) {
  Selector rank = guard.at;
  const MicroNode* micro = binder.scope.micro;
  const auto time = micro ? guard.at.sets.find(micro->axis) : guard.at.sets.end();
  if (time != guard.at.sets.end()) rank.sets.erase(micro->axis);
  // Only the side that this rank is on is bound: the other one may use what is not here.
  const bool here = rank.contains(binder.links.position.coordinates);
  if (here && time != guard.at.sets.end()) {
    DT_ASSIGN_OR_RETURN(BoundBody body, binder.Body(guard.body));
    DT_ASSIGN_OR_RETURN(BoundBody otherwise, binder.Body(guard.otherwise));
    return std::make_unique<BoundAt>(node, time->second, binder.scope.micro_at, std::move(body),
                                     std::move(otherwise));
  }
  DT_ASSIGN_OR_RETURN(BoundBody body, binder.Body(here ? guard.body : guard.otherwise));
  auto bound = std::make_unique<BoundSequence>(node);
  bound->Add(std::move(body), "");
  return bound;
}

BindResult Bind(const MicroNode& micro, const Node& node, Binder& binder) {
  auto bound = std::make_unique<BoundMicro>(micro, node, binder);
  DT_RETURN_IF_ERROR(bound->BindTasks(binder));
  return bound;
}

// A body per extent that a block can have (whole ones and a shorter last one): of each block that
// this rank owns, the body of its extent is bound to the block's memory.
BindResult Bind(const BlocksNode& blocks, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(const Place place, PlaceOf(blocks.layout.axes, binder.links.position));
  const Binder::Scope outer = binder.scope;
  auto bound = std::make_unique<BoundSequence>(node);
  binder.scope.instance = 0;
  const Parts parts(blocks.layout, place.of);
  std::vector<Parts::Block> owned = parts.owned(place.at);
  // Rows that lie one by one are worked on all at once.
  if (const int64_t rows = parts.extent(place.at);
      blocks.layout.kind == LayoutKind::kCyclic && rows > 0)
    owned = {{-1, place.at, rows, place.at, 0}};
  for (const Parts::Block& block : owned) {
    const auto body =
        std::find_if(blocks.bodies.begin(), blocks.bodies.end(),
                     [&](const BlocksNode::Body& one) { return one.extent == block.extent; });
    if (body == blocks.bodies.end())
      return absl::FailedPreconditionError(
          absl::StrCat("block ", block.number, " has an extent of ", block.extent,
                       ", which the plan has no body for; was it compiled for another mesh?"));
    binder.scope.block = block.number;
    DT_ASSIGN_OR_RETURN(BoundBody one, binder.Body(body->body));
    bound->Add(std::move(one), absl::StrCat("block ", block.number));
    ++binder.scope.instance;
  }
  binder.scope = outer;
  return bound;
}

}  // namespace dtranspile::exec
