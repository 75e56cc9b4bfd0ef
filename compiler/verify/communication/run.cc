#include "compiler/verify/communication/run.h"

#include <map>
#include <set>

#include "compiler/analysis/position.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::verify {
namespace {

// One queue of a communicator among the classes that share it: a group, the channel of an ordered
// pair of coordinates, or the trainers and one server. The t-th operations of its members belong
// together.
struct Group {
  std::string name;  // of the dist.comm, and the channel
  dist::CommOp comm;
  std::vector<int> members;  // indices of classes
  struct Slot {
    int arrived = 0;
    std::vector<const Event*> events;  // per member, in the order of `members`; null: not yet
    bool complete = false;
  };
  std::vector<Slot> slots;
  int completed = 0;  // slots complete so far: they complete in order
};

// A class of ranks as it runs: its events and how far it has come. One thread stands for all ranks
// of the class, which do the same at the same time as far as anybody else can see.
struct Thread {
  std::vector<Event> events;
  size_t next = 0;
  std::map<std::pair<int, std::string>, int> groupOf;  // of a comm and channel; absent: no member
  std::map<int, int> started;                          // per group: operations started
  std::map<int, std::pair<int, int>> place;            // ticket -> (group, slot)
  bool ended() const { return next == events.size(); }
};

// All threads side by side, each as far as it comes. The t-th start of each member on a group
// belong together, and a wait is over when all members have started: this is the weakest order that
// a runtime may keep, and since operations of a group complete in order and nothing is ever
// withdrawn, the outcome does not depend on which thread is run first (a Kahn network). Hence one
// run decides: if threads are left waiting, every run of the job hangs there. Linear in events,
// each of which is looked at once more per wait.
class Run {
 public:
  Run(llvm::ArrayRef<ClassText> classes, llvm::StringRef program, Rung& report)
      : classes_(classes), program_(program), report_(report) {
    threads_.resize(classes.size());
    const Servers servers = serversOf();
    for (auto [i, text] : llvm::enumerate(classes))
      threads_[i].events = eventsOf(text, program, servers, report);
    for (auto [i, text] : llvm::enumerate(classes))
      for (size_t comm = 0; comm < text.comms.size(); ++comm)
        join(static_cast<int>(i), static_cast<int>(comm), servers);
  }

  int64_t run();

 private:
  Servers serversOf() const;
  void join(int who, int comm, const Servers& servers);
  void enter(int who, int comm, const std::string& channel, const std::string& shared);
  int groupOf(int who, const Event& event) const {
    const Thread& thread = threads_[who];
    auto found = thread.groupOf.find({event.comm, event.channel});
    return found == thread.groupOf.end() ? -1 : found->second;
  }
  int memberIndex(const Group& group, int who) const {
    return static_cast<int>(llvm::find(group.members, who) - group.members.begin());
  }
  bool step(int who);
  void start(int who, const Event& event);
  void complete(Group& group, size_t slot);
  void checkMatch(const Group& group, size_t slot);
  void reportStuck();
  void reportLeftOver();
  void checkOrders();
  void checkOrder(int one, int two);
  // The members that have not started the operation.
  std::vector<int> missing(const Group& group, size_t slot) const;
  std::string waitText(int who) const;
  void refute(mlir::Operation* op, const std::string& rankClass, std::string rule, std::string text,
              std::string remedy, std::vector<std::string> notes);

  llvm::ArrayRef<ClassText> classes_;
  llvm::StringRef program_;
  Rung& report_;
  std::vector<Thread> threads_;
  std::vector<Group> groups_;
  std::map<std::string, int> byKey_;  // of groups_
  std::vector<int> ready_;
  std::map<std::pair<int, int>, std::vector<int>> waiting_;  // (group, slot) -> classes
  bool mismatch_ = false;
};

// Servers with rounds take part in phases, which are operations of all trainers and one server;
// others are asked at any time and wait for nobody. In start-up only those are met that some
// trainer pulls from.
Servers Run::serversOf() const {
  Servers servers;
  for (const ClassText& text : classes_)
    for (dist::CommOp comm : text.comms)
      if (dist::ServeOp serve = serveOf(text);
          serve && serve.getComm() == comm.getSymName() && serve.getMode() == dist::ServeMode::Sync)
        servers[comm.getSymName().str()].push_back(text.name);
  if (program_ != "startup") return servers;
  std::set<std::string> asked;
  for (const ClassText& text : classes_)
    if (text.startup)
      pd::ProgramOp(text.startup).walk([&](dist::PhaseOp phase) {
        asked.insert(phase.getComm().str());
      });
  for (auto at = servers.begin(); at != servers.end();)
    at = asked.count(at->first) ? std::next(at) : servers.erase(at);
  return servers;
}

// A group is known by the communicator's name, the coordinates that its members share, and the
// channel: all of them together, since classes name the same group only by what they agree on.
void Run::enter(int who, int comm, const std::string& channel, const std::string& shared) {
  dist::CommOp op = classes_[who].comms[comm];
  auto [at, inserted] = byKey_.try_emplace(op.getSymName().str() + " " + shared + " " + channel,
                                           static_cast<int>(groups_.size()));
  if (inserted)
    groups_.push_back(
        {op.getSymName().str() + (channel.empty() ? "" : " " + channel), op, {}, {}, 0});
  groups_[at->second].members.push_back(who);
  threads_[who].groupOf[{comm, channel}] = at->second;
}

// Classes of a role share the groups of a communicator if they agree on the axes that it does not
// name; roles on one mesh have groups of their own each. A subset leaves classes out. A pair of
// coordinates has a channel for each direction. Servers are asked by all trainers.
void Run::join(int who, int comm, const Servers& servers) {
  const ClassText& text = classes_[who];
  dist::CommOp op = text.comms[comm];
  if (op.getKind() == dist::CommKind::Rpc) {
    auto asked = servers.find(op.getSymName().str());
    if (asked == servers.end()) return;
    for (const std::string& server : asked->second)
      if (text.role != op.getServer() || server == text.name) enter(who, comm, server, "");
    return;
  }
  if (op.getSubset() && !op.getSubset()->contains(text.where)) return;
  std::string shared = text.role;
  llvm::raw_string_ostream stream(shared);
  for (dist::AxisSetAttr set : text.where.getSets())
    if (!op.overAxis(set.getAxis().getValue())) {
      stream << " ";
      set.printInline(stream);
    }
  if (op.getKind() == dist::CommKind::Group) return enter(who, comm, "", shared);
  dist::AxisSetAttr own = text.where.lookup(llvm::cast<mlir::StringAttr>(op.getAxes()[0]));
  dist::MeshOp mesh = dist::meshOfComm(op);
  const int64_t size =
      mesh ? mesh.sizeOf(llvm::cast<mlir::StringAttr>(op.getAxes()[0]).getValue()).value_or(1) : 1;
  for (int64_t other = 0; own && own.isPoint() && other < size; ++other) {
    const std::string here = std::to_string(own.getBounds()[0]), there = std::to_string(other);
    if (here == there) continue;
    enter(who, comm, here + ">" + there, shared);
    enter(who, comm, there + ">" + here, shared);
  }
}

void Run::refute(mlir::Operation* op, const std::string& rankClass, std::string rule,
                 std::string text, std::string remedy, std::vector<std::string> notes) {
  Message message =
      messageAt(op, Message::Level::Refuted, std::move(rule), std::move(text), std::move(remedy));
  message.rankClass = rankClass;
  message.notes = std::move(notes);
  report_.add(std::move(message));
}

// Members are compared with the first one: equality is transitive. The first thing that differs is
// said, in the order kind, types, values, place in control flow.
void Run::checkMatch(const Group& group, size_t slot) {
  const std::vector<const Event*>& events = group.slots[slot].events;
  Signature first = signatureOf(*events[0]);
  auto around = [](const Event& event) {
    return event.path.empty() ? std::string("outside of control flow") : "in " + event.path;
  };
  for (size_t m = 1; m < events.size(); ++m) {
    Signature other = signatureOf(*events[m]);
    // A server waits for whatever a step asks; whether it asks is the trainers' matter.
    const bool served =
        llvm::isa<dist::ServeOp>(events[0]->op) || llvm::isa<dist::ServeOp>(events[m]->op);
    const bool samePath = served || events[m]->path == events[0]->path;
    if (other == first && samePath) continue;
    const std::string& one = classes_[group.members[0]].name;
    const std::string& two = classes_[group.members[m]].name;
    std::string differ = other.kind != first.kind ? first.kind + " and " + other.kind
                         : other.types != first.types
                             ? "operands of types " + first.types + " and " + other.types
                         : other.values != first.values
                             ? "the values " + first.values + " and " + other.values
                             : "operations " + around(*events[0]) + " and " + around(*events[m]) +
                                   ", of which one may be run without the other";
    refute(
        events[m]->op, two, "match",
        "operation " + std::to_string(slot) + " on @" + group.name + " does not match: " + one +
            " and " + two + " meet with " + differ,
        "start the operations of @" + group.name + " in the same order and form on all its members",
        {one + " is at " + positionOf(events[0]->op) + " (" + first.kind + " of " + first.values +
             ")",
         two + " is at " + positionOf(events[m]->op) + " (" + other.kind + " of " + other.values +
             ")"});
    mismatch_ = true;
  }
}

// Completes a slot that has its last member, and those behind it that only waited for their turn;
// wakes whoever waits for them.
void Run::complete(Group& group, size_t slot) {
  int index = static_cast<int>(&group - groups_.data());
  for (size_t t = slot; t < group.slots.size() && static_cast<int>(t) == group.completed; ++t) {
    if (group.slots[t].arrived != static_cast<int>(group.members.size())) break;
    group.slots[t].complete = true;
    ++group.completed;
    if (!mismatch_) checkMatch(group, t);
    auto waiters = waiting_.find({index, static_cast<int>(t)});
    if (waiters == waiting_.end()) continue;
    ready_.insert(ready_.end(), waiters->second.begin(), waiters->second.end());
    waiting_.erase(waiters);
  }
}

// The next slot of the group for this member; the operation begins when the last member has come.
void Run::start(int who, const Event& event) {
  Thread& thread = threads_[who];
  const int index = groupOf(who, event);
  if (index < 0) {
    dist::CommOp comm = classes_[who].comms[event.comm];
    refute(event.op, classes_[who].name, "membership",
           classes_[who].name + " starts an operation on @" + comm.getSymName().str() +
               ", of which it is no member",
           "guard the operation with dist.on of the comm's subset", {});
    mismatch_ = true;
    return;
  }
  Group& group = groups_[index];
  auto slot = static_cast<size_t>(thread.started[index]++);
  if (slot >= group.slots.size()) group.slots.resize(slot + 1);
  Group::Slot& at = group.slots[slot];
  at.events.resize(group.members.size());
  at.events[memberIndex(group, who)] = &event;
  ++at.arrived;
  thread.place[event.ticket] = {index, static_cast<int>(slot)};
  complete(group, slot);
}

// Runs a class until it waits or ends; false if it waits.
bool Run::step(int who) {
  Thread& thread = threads_[who];
  while (!thread.ended()) {
    const Event& event = thread.events[thread.next];
    if (event.isStart()) {
      start(who, event);
    } else if (auto place = thread.place.find(event.ticket); place != thread.place.end()) {
      auto [group, slot] = place->second;
      if (!groups_[group].slots[slot].complete) {
        waiting_[place->second].push_back(who);
        return false;
      }
    }
    ++thread.next;
  }
  return true;
}

// The classes that have not started the slot's operation.
std::vector<int> Run::missing(const Group& group, size_t slot) const {
  std::vector<int> classes;
  for (size_t m = 0; m < group.members.size(); ++m)
    if (!group.slots[slot].events[m]) classes.push_back(group.members[m]);
  return classes;
}

// A line of the chain of who waits for whom.
std::string Run::waitText(int who) const {
  const Thread& thread = threads_[who];
  const std::string& name = classes_[who].name;
  if (thread.ended()) return name + " has ended";
  const Event& event = thread.events[thread.next];
  auto [group, slot] = thread.place.at(event.ticket);
  const Event* started = groups_[group].slots[slot].events[memberIndex(groups_[group], who)];
  std::string text =
      name + " waits in operation " + std::to_string(slot) + " on @" + groups_[group].name + ", " +
      positionOf(started->op) +
      (started->micro < 0 ? "" : " of micro-batch " + std::to_string(started->micro)) + ", for";
  for (int other : missing(groups_[group], slot)) text += " " + classes_[other].name;
  return text;
}

// Follows who waits for whom from the first stuck class until a class repeats (a cycle) or has
// ended.
void Run::reportStuck() {
  int who = -1;
  for (size_t i = 0; i < threads_.size() && who < 0; ++i)
    if (!threads_[i].ended()) who = static_cast<int>(i);
  if (who < 0) return;
  std::vector<int> chain;
  while (llvm::find(chain, who) == chain.end()) {
    chain.push_back(who);
    if (threads_[who].ended()) break;
    const Event& event = threads_[who].events[threads_[who].next];
    auto [group, slot] = threads_[who].place.at(event.ticket);
    std::vector<int> others = missing(groups_[group], slot);
    if (others.empty())
      break;  // its turn has not come: an earlier operation of the communicator is stuck
    who = others.front();
  }
  bool cycle = llvm::find(chain, who) != chain.end() && !threads_[who].ended();
  if (cycle) chain.erase(chain.begin(), llvm::find(chain, who));
  std::vector<std::string> notes;
  for (int one : chain) notes.push_back(waitText(one));
  const Thread& first = threads_[chain.front()];
  refute(first.events[first.next].op, classes_[chain.front()].name,
         cycle ? "deadlock" : "unmatched",
         std::string(cycle ? "the job hangs: classes of ranks wait for each other in a cycle"
                           : "the job hangs: an operation waits for a class that never starts it") +
             " in " + program_.str(),
         "start these operations in one order on all members of their communicators",
         std::move(notes));
}

// Operations that were started, and that some member never joins.
void Run::reportLeftOver() {
  for (const Group& group : groups_)
    for (size_t t = static_cast<size_t>(group.completed); t < group.slots.size(); ++t) {
      const Group::Slot& slot = group.slots[t];
      auto started =
          llvm::find_if(slot.events, [](const Event* event) { return event != nullptr; });
      if (started == slot.events.end()) continue;
      const std::string& name = classes_[group.members[started - slot.events.begin()]].name;
      std::string others;
      for (int one : missing(group, t)) others += " " + classes_[one].name;
      refute((*started)->op, name, "unmatched",
             name + " starts operation " + std::to_string(t) + " on @" + group.name +
                 ", which is never joined by" + others,
             "give all members of @" + group.name + " the same number of operations", {});
      break;
    }
}

// D28: two ranks that share several groups start operations on them in one order. The event model
// lets groups progress independently; devices may not (a started operation of NCCL holds its
// processors until it is matched).
void Run::checkOrder(int one, int two) {
  std::set<int> shared, ofOne;
  for (const auto& [key, group] : threads_[one].groupOf) ofOne.insert(group);
  for (const auto& [key, group] : threads_[two].groupOf)
    if (ofOne.count(group) && groups_[group].comm.getKind() == dist::CommKind::Group)
      shared.insert(group);
  if (shared.size() < 2) return;
  auto startsOf = [&](int who) {
    std::vector<const Event*> starts;
    for (const Event& event : threads_[who].events)
      if (event.isStart() && shared.count(groupOf(who, event))) starts.push_back(&event);
    return starts;
  };
  std::vector<const Event*> first = startsOf(one), second = startsOf(two);
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const int a = groupOf(one, *first[i]), b = groupOf(two, *second[i]);
    if (a == b) continue;
    refute(second[i]->op, classes_[two].name, "D28",
           classes_[one].name + " and " + classes_[two].name + " start operations on @" +
               groups_[a].name + " and @" + groups_[b].name + " in different orders",
           "start the operations of these communicators in one order on all ranks that share them",
           {classes_[one].name + " starts " + positionOf(first[i]->op) + " where " +
            classes_[two].name + " starts " + positionOf(second[i]->op)});
    return;
  }
}

// All pairs: O(classes² · events); classes are few, as ranks that run one text are one class.
void Run::checkOrders() {
  for (size_t one = 0; one < threads_.size(); ++one)
    for (size_t two = one + 1; two < threads_.size(); ++two)
      checkOrder(static_cast<int>(one), static_cast<int>(two));
}

// In any order of the threads (see above). Gives the number of events, for statistics.
int64_t Run::run() {
  int64_t events = 0;
  for (size_t i = 0; i < threads_.size(); ++i) {
    events += static_cast<int64_t>(threads_[i].events.size());
    ready_.push_back(static_cast<int>(i));
  }
  while (!ready_.empty()) {
    int who = ready_.back();
    ready_.pop_back();
    step(who);
  }
  bool stuck = llvm::any_of(threads_, [](const Thread& thread) { return !thread.ended(); });
  // A mismatch has been reported; what follows from it is noise.
  if (mismatch_) return events;
  if (stuck) reportStuck();
  else reportLeftOver();
  if (!stuck) checkOrders();
  return events;
}

}  // namespace

int64_t runProgram(llvm::ArrayRef<ClassText> classes, llvm::StringRef program, Rung& report) {
  return Run(classes, program, report).run();
}

}  // namespace dtranspile::verify
