#include "runtime/exec/plan_check.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kAlignment = 64;
constexpr size_t kMostBuffers = size_t{1} << 24;
constexpr int64_t kMostUnknowns = 16;
constexpr const char* kCombines[] = {"mean", "same", "sum", "concat", "list"};

class PlanChecker {
 public:
  PlanChecker(Plan& plan, JsonErrors& errors) : plan_(plan), errors_(errors) {}

  void Check();

 private:
  template <typename... Parts>
  void Add(const std::string& where, const Parts&... parts) {
    errors_.Add(where, absl::StrCat(parts...));
  }
  const Buffer& At(int id) const { return plan_.buffers[static_cast<size_t>(id)]; }

  void CheckBuffer(const Buffer& buffer, const std::string& where);
  void CheckPersistables();
  void CheckPrograms();
  void CheckProgram(Program& program, const std::string& where);
  void CheckBody(std::vector<Node>& body, const std::string& where);
  void CheckTickets(const std::vector<Node>& body, const std::string& where);
  void CheckWritten(int id, const std::string& where);
  bool CheckWritten(const std::vector<int>& args, const std::vector<int>& written,
                    const std::vector<int>& updated, const std::string& where);

  void CheckNode(KernelNode& node, const std::string& where);
  void CheckNode(CallNode& node, const std::string& where);
  void CheckNode(CopyNode& node, const std::string& where);
  void CheckNode(StartNode& node, const std::string& where);
  void CheckNode(WaitNode&, const std::string&) {}
  void CheckNode(IfNode& node, const std::string& where);
  void CheckNode(WhileNode& node, const std::string& where);
  void CheckNode(AtNode& node, const std::string& where);
  void CheckNode(CoordNode& node, const std::string& where);
  void CheckNode(SliceNode& node, const std::string& where);
  void CheckNode(MicroNode& node, const std::string& where);
  void CheckOrder(const MicroNode& node, const std::string& where);
  void CheckNode(BlocksNode& node, const std::string& where);
  void CheckNode(PushNode& node, const std::string& where);
  void CheckNode(PullNode& node, const std::string& where);
  void CheckNode(LookupNode& node, const std::string& where);
  void CheckNode(PhaseNode& node, const std::string& where);
  void CheckNode(MergedNode& node, const std::string& where);
  void CheckChanged(int changed, int buffer, const std::optional<Layout>& layout,
                    const std::string& where);
  void CheckSelector(const Selector& selector, const std::string& where);
  void CheckLayout(const Layout& layout, const std::string& where);
  void CheckGuard(const std::string& where);
  void CheckServer(int comm, const std::string& where);
  void CheckRequest(int comm, int buffer, const std::optional<Layout>& layout,
                    const std::string& where);
  void CheckUnknown(UnknownExtents& unknown, const std::vector<int>& args,
                    const std::string& where);
  void CheckCondition(int id, const std::string& where);
  void CheckValues(const StartNode& node, const std::string& where);

  Plan& plan_;
  JsonErrors& errors_;
  std::set<int64_t> tickets_;
  bool in_task_ = false;   // of a MicroNode: sends end with it
  bool in_guard_ = false;  // an AtNode: its ranks may not communicate in it
};

void PlanChecker::CheckBuffer(const Buffer& buffer, const std::string& where) {
  if (buffer.memory != Memory::kHost)
    return Add(where + ".memory", "'", buffer.name,
               "' is not in host memory, and this runtime has no other");
  if (buffer.space == Space::kValue) return;
  const bool constant = buffer.space == Space::kConstant;
  const auto bytes = ByteCount(buffer.dtype, buffer.dims);
  if (!bytes.ok()) return Add(where, std::string(bytes.status().message()));
  if (*bytes != buffer.bytes)
    return Add(where + ".bytes", "'", buffer.name, "' is ", ShapeText(buffer.dtype, buffer.dims),
               ", ", *bytes, " bytes, not ", buffer.bytes);
  if (constant && static_cast<int64_t>(buffer.data.size()) != buffer.bytes)
    return Add(where + ".data", "expected ", 2 * buffer.bytes, " hexadecimal digits");
  if (buffer.offset % kAlignment != 0)
    return Add(where + ".offset", "not a multiple of ", kAlignment);
  if (buffer.stride % kAlignment != 0 && buffer.space == Space::kArena)
    return Add(where + ".stride", "not a multiple of ", kAlignment);
  int64_t end = 0;
  if (__builtin_mul_overflow(buffer.stride, buffer.instances - 1, &end) ||
      __builtin_add_overflow(end, buffer.offset + buffer.bytes, &end))
    return Add(where, "'", buffer.name, "' is larger than any memory");
  const int64_t block = buffer.space == Space::kArena ? plan_.arena_bytes : plan_.persistent_bytes;
  if (!constant && end > block)
    Add(where, "'", buffer.name, "' ends at byte ", end, " of a block of ", block);
}

void PlanChecker::CheckPersistables() {
  std::map<std::string_view, const Persistable*> names;
  for (size_t i = 0; i < plan_.persistables.size(); ++i) {
    const Persistable& p = plan_.persistables[i];
    const std::string where = absl::StrCat("persistables[", i, "]");
    if (!names.emplace(p.name, &p).second) Add(where + ".name", "'", p.name, "' occurs twice");
    if (At(p.buffer).space != Space::kPersistent)
      Add(where, "'", p.name, "' is not in persistent memory");
    CheckSelector(p.at, where + ".at");
    if (p.layout) CheckLayout(*p.layout, where + ".layout");
  }
  for (size_t i = 0; i < plan_.persistables.size(); ++i) {
    const Persistable& p = plan_.persistables[i];
    if (p.begins_as.empty()) continue;
    const std::string where = absl::StrCat("persistables[", i, "].begins_as");
    const auto from = names.find(p.begins_as);
    if (from == names.end() || from->second == &p) {
      Add(where, "'", p.begins_as, "' is no other persistable of the plan");
      continue;
    }
    const Buffer &to = At(p.buffer), &source = At(from->second->buffer);
    if (to.dtype != source.dtype || to.dims != source.dims)
      Add(where, "'", p.begins_as, "' is of another type or of other extents");
  }
}

void PlanChecker::CheckPrograms() {
  std::set<std::pair<When, std::string>> when;
  for (size_t i = 0; errors_.ok() && i < plan_.programs.size(); ++i) {
    Program& program = plan_.programs[i];
    const std::string where = absl::StrCat("programs.", program.name.substr(0, 80));
    if (!when.insert({program.when, program.table}).second)
      Add(where + ".when", "another program runs then, too");
    tickets_.clear();
    CheckProgram(program, where);
  }
  const auto runs = [&](When one) {
    return std::any_of(plan_.programs.begin(), plan_.programs.end(),
                       [&](const Program& program) { return program.when == one; });
  };
  const bool serves = runs(When::kRound) || runs(When::kPush) || runs(When::kPull);
  if (runs(When::kStep) == serves)
    Add("programs", serves ? "a server has no program of every step" : "none runs in every step");
}

void PlanChecker::CheckProgram(Program& program, const std::string& where) {
  for (size_t i = 0; i < program.feeds.size(); ++i) {
    const FeedSlot& feed = program.feeds[i];
    const std::string place = absl::StrCat(where, ".feeds[", i, "]");
    const Buffer& buffer = At(feed.buffer);
    if (buffer.space == Space::kConstant) Add(place, "a constant cannot be fed");
    if (feed.split && feed.split->dim >= static_cast<int>(buffer.dims.size()))
      Add(place + ".split", "dimension ", feed.split->dim, " of ", buffer.dims.size());
  }
  for (size_t i = 0; i < program.fetches.size(); ++i) {
    const std::string& combine = program.fetches[i].combine;
    if (std::find(std::begin(kCombines), std::end(kCombines), combine) == std::end(kCombines))
      Add(absl::StrCat(where, ".fetches[", i, "].combine"), "unknown '", combine.substr(0, 80),
          "', expected one of mean, same, sum, concat, list");
  }
  CheckBody(program.body, where + ".body");
}

void PlanChecker::CheckBody(std::vector<Node>& body, const std::string& where) {
  for (size_t i = 0; errors_.ok() && i < body.size(); ++i) {
    std::visit([&](auto& node) { CheckNode(node, absl::StrCat(where, "[", i, "]")); },
               body[i].what);
  }
  if (errors_.ok()) CheckTickets(body, where);
}

// Every ticket started here is waited for here, once and later: then no operation outlives its
// body.
void PlanChecker::CheckTickets(const std::vector<Node>& body, const std::string& where) {
  std::map<int64_t, std::string> open;
  for (size_t i = 0; i < body.size(); ++i) {
    const std::string place = absl::StrCat(where, "[", i, "]");
    const auto* start = body[i].as<StartNode>();
    if (start) open[start->ticket] = place;
    const auto* wait = body[i].as<WaitNode>();
    if (wait && open.erase(wait->ticket) == 0)
      Add(place, "waits for ticket ", wait->ticket, ", which is not pending here");
  }
  if (in_task_)
    for (const Node& node : body)
      if (const auto* start = node.as<StartNode>(); start && start->collective == comm::Kind::kSend)
        open.erase(start->ticket);
  if (!open.empty())
    Add(open.begin()->second, "nothing in this body waits for ticket ", open.begin()->first);
}

void PlanChecker::CheckWritten(int id, const std::string& where) {
  if (At(id).space == Space::kConstant) Add(where, "constant '", At(id).name, "' would be written");
}

// Positions in the arguments of a kernel or call.
bool PlanChecker::CheckWritten(const std::vector<int>& args, const std::vector<int>& written,
                               const std::vector<int>& updated, const std::string& where) {
  for (int at : written) {
    if (at >= static_cast<int>(args.size())) Add(where + ".written", "no such argument");
    else CheckWritten(args[static_cast<size_t>(at)], where + ".written");
  }
  for (int at : updated)
    if (std::find(written.begin(), written.end(), at) == written.end())
      Add(where + ".updated", "argument ", at, " is not written");
  return errors_.ok();
}

void PlanChecker::CheckNode(KernelNode& node, const std::string& where) {
  if (plan_.library.empty()) return Add(where + ".kernel", "the plan has no library");
  if (!CheckWritten(node.args, node.written, node.updated, where)) return;
  if (node.unknown) {
    node.unknown->written.assign(node.args.size(), false);
    for (int at : node.written) node.unknown->written[static_cast<size_t>(at)] = true;
    return CheckUnknown(*node.unknown, node.args, where + ".unknown");
  }
  for (size_t i = 0; i < node.args.size(); ++i)
    if (At(node.args[i]).space == Space::kValue)
      Add(absl::StrCat(where, ".args[", i, "]"), "'", At(node.args[i]).name,
          "' is a value, and the kernel reads no extents");
}

void PlanChecker::CheckUnknown(UnknownExtents& unknown, const std::vector<int>& args,
                               const std::string& where) {
  if (unknown.shapes.size() != args.size()) return Add(where, "expected a shape for each argument");
  std::set<int64_t> bound, used;
  for (size_t i = 0; i < args.size(); ++i) {
    const Buffer& buffer = At(args[i]);
    const bool value = buffer.space == Space::kValue;
    if (value == unknown.shapes[i].empty() && !(value && buffer.dims.empty()))
      return Add(absl::StrCat(where, ".shapes[", i, "]"), "'", buffer.name, "' does not fit");
    for (int64_t extent : unknown.shapes[i]) {
      if (extent < -kMostUnknowns)
        return Add(absl::StrCat(where, ".shapes[", i, "]"), "more than ", kMostUnknowns,
                   " unknown extents");
      if (extent < 0) (unknown.written[i] ? used : bound).insert(-extent - 1);
    }
  }
  unknown.count = bound.empty() ? 0 : static_cast<int>(*bound.rbegin()) + 1;
  if (static_cast<int64_t>(bound.size()) != unknown.count ||
      !std::includes(bound.begin(), bound.end(), used.begin(), used.end()))
    return Add(where, "an unknown extent is that of no argument");
  std::vector<const UnknownExtents::Product*> products = {&unknown.rows, &unknown.needs};
  for (const auto& product : unknown.table) products.push_back(&product);
  for (const auto* product : products)
    for (int k : product->unknowns)
      if (k >= unknown.count) return Add(where, "no such unknown extent");
}

void PlanChecker::CheckNode(CallNode& node, const std::string& where) {
  const auto count = static_cast<int32_t>(node.args.size());
  if (!CheckWritten(node.args, node.written, node.updated, where)) return;
  if (node.slots.empty() || node.slots.front() != 0 || node.slots.back() != count ||
      !std::is_sorted(node.slots.begin(), node.slots.end()))
    return Add(where + ".slots", "expected rising bounds from 0 to the number of arguments");
  std::map<char, size_t> left = {
      {'i', node.ints.size()}, {'r', node.reals.size()}, {'s', node.strings.size()}};
  for (const std::string& text : node.attrs) {
    int32_t values = 0;
    const auto pool = text.empty() ? left.end() : left.find(text[0]);
    if (pool == left.end() || !absl::SimpleAtoi(text.substr(1), &values) || values < 0 ||
        static_cast<size_t>(values) > pool->second)
      return Add(where + ".attrs",
                 "expected i, r or s and a number of values, not more than there are");
    pool->second -= static_cast<size_t>(values);
  }
}

void PlanChecker::CheckNode(CopyNode& node, const std::string& where) {
  const Buffer &from = At(node.from), &to = At(node.to);
  if (from.space != Space::kValue && to.space != Space::kValue && from.bytes != to.bytes)
    return Add(where + ".copy", "'", from.name, "' has ", from.bytes, " bytes, '", to.name, "' ",
               to.bytes);
  CheckWritten(node.to, where + ".copy");
}

// Guards that communicate make classes of ranks, each with a plan of its own.
void PlanChecker::CheckGuard(const std::string& where) {
  if (in_guard_) Add(where, "communicates under a guard that is data of the rank");
}

// One element type, and equal numbers of inputs and outputs where the operation pairs them. Counts
// that depend on the number of ranks are checked when the plan meets its communicators.
void PlanChecker::CheckNode(StartNode& node, const std::string& where) {
  if (node.comm >= static_cast<int>(plan_.comms.size()))
    return Add(where + ".comm", "no such communicator");
  if (plan_.comms[static_cast<size_t>(node.comm)].kind == CommKind::kRpc)
    return Add(where + ".comm", "servers are asked by push, pull and lookup only");
  CheckGuard(where);
  for (int id : node.outputs) CheckWritten(id, where + ".outputs");
  const Buffer* first = nullptr;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (int id : *list) {
      const Buffer& buffer = At(id);
      if (first == nullptr) first = &buffer;
      if (buffer.dtype != first->dtype)
        return Add(where, "'", first->name, "' is ", NameOf(first->dtype), ", '", buffer.name,
                   "' is ", NameOf(buffer.dtype));
    }
  const auto kind = node.collective;
  const bool no_inputs = kind == comm::Kind::kRecv || kind == comm::Kind::kBarrier;
  const bool no_outputs = kind == comm::Kind::kSend || kind == comm::Kind::kBarrier;
  const bool fits = node.inputs.empty() == no_inputs && node.outputs.empty() == no_outputs &&
                    (no_inputs || no_outputs || node.inputs.size() == node.outputs.size());
  if (!fits)
    return Add(where, node.inputs.size(), " inputs and ", node.outputs.size(),
               " outputs do not fit the operation");
  if (!tickets_.insert(node.ticket).second)
    return Add(where + ".ticket", node.ticket, " was started before");
  CheckValues(node, where);
}

// Values are exchanged one by one, reduced or gathered (value_collective.h).
void PlanChecker::CheckValues(const StartNode& node, const std::string& where) {
  const Buffer* some = nullptr;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (int id : *list)
      if (At(id).space == Space::kValue) some = &At(id);
  if (some == nullptr) return;
  const bool gathers = node.collective == comm::Kind::kAllGather;
  bool fits = (gathers || node.collective == comm::Kind::kAllReduce) && node.inputs.size() == 1;
  if (fits) {
    const Buffer &from = At(node.inputs[0]), &to = At(node.outputs[0]);
    fits = from.space == to.space && from.kind == to.kind && from.kind != Value::Kind::kList &&
           (gathers || from.kind != Value::Kind::kRows || node.reduce == comm::ReduceOp::kSum);
  }
  if (!fits)
    Add(where, "'", some->name,
        "' is a value: all_reduce and all_gather take one at a time into another one, of "
        "SelectedRows all_reduce the sum, and no other operation takes any");
}

void PlanChecker::CheckCondition(int id, const std::string& where) {
  const Buffer& buffer = At(id);
  if (buffer.space == Space::kValue || buffer.dtype != DType::kBool || buffer.count() != 1)
    Add(where, "'", buffer.name, "' is no bool of one element");
}

void PlanChecker::CheckNode(IfNode& node, const std::string& where) {
  CheckCondition(node.condition, where + ".if");
  CheckBody(node.then, where + ".then");
  CheckBody(node.otherwise, where + ".else");
}

void PlanChecker::CheckNode(WhileNode& node, const std::string& where) {
  CheckCondition(node.condition, where + ".while");
  CheckBody(node.body, where + ".body");
}

void PlanChecker::CheckSelector(const Selector& selector, const std::string& where) {
  for (const auto& [axis, bounds] : selector.sets)
    if (bounds.empty() || bounds.size() % 2 != 0 ||
        std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) != bounds.end())
      Add(where, "axis '", axis.substr(0, 80), "': expected rising bounds lo, hi, …");
}

void PlanChecker::CheckLayout(const Layout& layout, const std::string& where) {
  if (layout.axes.empty()) return Add(where + ".axes", "expected an axis");
  if (layout.dim >= static_cast<int>(layout.whole.size()))
    return Add(where + ".dim", "dimension ", layout.dim, " of ", layout.whole.size());
  int64_t extent = 1;
  if (layout.dim >= 0) extent = layout.whole[static_cast<size_t>(layout.dim)];
  else
    for (int64_t d : layout.whole)
      if (__builtin_mul_overflow(extent, d, &extent)) return Add(where + ".whole", "is too large");
  if (extent != layout.extent)
    return Add(where + ".extent", "the tensor has ", extent, " there, not ", layout.extent);
  // Parts that differ in size lie in one piece only where they are rows or elements.
  if (layout.kind != LayoutKind::kEven && layout.dim > 0)
    Add(where + ".dim", "blocks and cyclic parts are of dimension 0 or of the flattened tensor");
  if (layout.kind != LayoutKind::kBlocks && layout.kind != LayoutKind::kHashed) return;
  if (layout.per < 1) return Add(where + ".per", "expected an extent of at least 1");
  if (layout.extent / layout.per >= kMostBlocks)
    Add(where + ".per", "more than ", kMostBlocks, " blocks");
}

void PlanChecker::CheckNode(AtNode& node, const std::string& where) {
  CheckSelector(node.at, where + ".at");
  const bool outer = std::exchange(in_guard_, true);
  CheckBody(node.body, where + ".body");
  CheckBody(node.otherwise, where + ".else");
  in_guard_ = outer;
}

void PlanChecker::CheckNode(CoordNode& node, const std::string& where) {
  const Buffer& buffer = At(node.to);
  if (buffer.space == Space::kValue || buffer.dtype != DType::kInt64 || buffer.count() != 1)
    Add(where + ".to", "'", buffer.name, "' is no int64 of one element");
  CheckWritten(node.to, where + ".to");
}

void PlanChecker::CheckNode(SliceNode& node, const std::string& where) {
  const Buffer &from = At(node.from), &to = At(node.to);
  CheckLayout(node.layout, where + ".layout");
  CheckWritten(node.to, where + ".slice");
  if (from.space == Space::kValue || to.space == Space::kValue || from.dtype != to.dtype ||
      from.dims != node.layout.whole)
    Add(where + ".slice", "'", from.name, "' is ", ShapeText(from.dtype, from.dims),
        ", which the layout does not fit");
}

void PlanChecker::CheckNode(MicroNode& node, const std::string& where) {
  if (in_task_) return Add(where, "micro-batches in micro-batches");
  in_task_ = true;
  for (size_t i = 0; i < node.tasks.size(); ++i)
    CheckBody(node.tasks[i].body, absl::StrCat(where, ".tasks[", i, "].body"));
  in_task_ = false;
  CheckOrder(node, where);
}

// The stage's row of the schedule: every task of every micro-batch, once.
void PlanChecker::CheckOrder(const MicroNode& node, const std::string& where) {
  const auto tasks = static_cast<int64_t>(node.tasks.size());
  std::set<std::vector<int64_t>> seen;
  for (size_t i = 0; i < node.order.size(); ++i) {
    const std::vector<int64_t>& entry = node.order[i];
    const std::string place = absl::StrCat(where, ".order[", i, "]");
    if (entry.size() != 2 || entry[0] < 0 || entry[0] >= tasks || entry[1] < 0 ||
        entry[1] >= node.micros)
      return Add(place, "expected [task, micro-batch]");
    if (!seen.insert(entry).second)
      return Add(place, "task '", node.tasks[static_cast<size_t>(entry[0])].name.substr(0, 80),
                 "' of micro-batch ", entry[1], " stands there twice");
  }
  if (static_cast<int64_t>(node.order.size()) / std::max<int64_t>(tasks, 1) != node.micros ||
      (tasks > 0 && static_cast<int64_t>(node.order.size()) % tasks != 0))
    return Add(where + ".order", "has ", node.order.size(), " entries for ", tasks, " tasks of ",
               node.micros, " micro-batches");
  if (node.instances > node.micros)
    Add(where + ".instances", node.instances, " for ", node.micros, " micro-batches");
}

// Instances of a buffer are counted by one node around it.
void PlanChecker::CheckNode(BlocksNode& node, const std::string& where) {
  if (in_task_) return Add(where, "blocks in micro-batches");
  CheckLayout(node.layout, where + ".blocks");
  for (size_t i = 0; i < node.bodies.size(); ++i)
    CheckBody(node.bodies[i].body, absl::StrCat(where, ".bodies[", i, "].body"));
}

void PlanChecker::CheckServer(int comm, const std::string& where) {
  CheckGuard(where);
  if (comm >= static_cast<int>(plan_.comms.size()) ||
      plan_.comms[static_cast<size_t>(comm)].kind != CommKind::kRpc)
    Add(where + ".comm", "no communicator with servers");
}

void PlanChecker::CheckRequest(int comm, int buffer, const std::optional<Layout>& layout,
                               const std::string& where) {
  CheckServer(comm, where);
  if (!layout) return;
  CheckLayout(*layout, where + ".layout");
  const Buffer& whole = At(buffer);
  if (whole.space != Space::kValue && whole.dims != layout->whole)
    Add(where, "'", whole.name, "' is ", ShapeText(whole.dtype, whole.dims),
        ", which the layout of the table does not fit");
}

void PlanChecker::CheckNode(PushNode& node, const std::string& where) {
  CheckRequest(node.comm, node.from, node.layout, where);
  if (At(node.from).kind == Value::Kind::kRows && node.layout && node.layout->dim != 0)
    Add(where + ".layout", "rows are cut along dimension 0");
  CheckChanged(node.changed, node.from, node.layout, where);
}
void PlanChecker::CheckNode(PullNode& node, const std::string& where) {
  CheckWritten(node.to, where + ".to");
  CheckRequest(node.comm, node.to, node.layout, where);
  CheckChanged(node.changed, node.to, node.layout, where);
}
// Rows that have changed are those of a dense tensor of fixed extents.
void PlanChecker::CheckChanged(int changed, int buffer, const std::optional<Layout>& layout,
                               const std::string& where) {
  if (changed == 0) return;
  const Buffer& one = At(buffer);
  if (one.space == Space::kValue || one.dims.empty())
    Add(where + ".changed", "'", one.name, "' is no dense tensor with rows");
  if (layout && layout->dim != 0) Add(where + ".layout", "rows are cut along dimension 0");
}
void PlanChecker::CheckNode(LookupNode& node, const std::string& where) {
  CheckServer(node.comm, where);
  CheckWritten(node.to, where + ".to");
  const DType type = At(node.ids).dtype;
  if (type != DType::kInt64 && type != DType::kInt32)
    Add(where + ".ids", "'", At(node.ids).name, "' is neither int64 nor int32");
  if (node.padding.size() > 1) Add(where + ".padding", "expected one id at most");
  if (!node.layout) return;
  CheckLayout(*node.layout, where + ".layout");
  if (node.layout->dim != 0) Add(where + ".layout", "rows are cut along dimension 0");
}
void PlanChecker::CheckNode(PhaseNode& node, const std::string& where) {
  CheckServer(node.comm, where);
}
void PlanChecker::CheckNode(MergedNode& node, const std::string& where) {
  CheckWritten(node.to, where + ".to");
}

void PlanChecker::Check() {
  if (plan_.library.find('/') != std::string::npos)
    Add("library", "expected a file of the plan's own folder");
  if (plan_.buffers.size() > kMostBuffers) Add("buffers", "too many");
  for (size_t i = 0; errors_.ok() && i < plan_.buffers.size(); ++i)
    CheckBuffer(plan_.buffers[i], absl::StrCat("buffers[", i, "]"));
  if (errors_.ok()) CheckPersistables();
  if (errors_.ok()) CheckPrograms();
}

}  // namespace

void CheckPlan(Plan& plan, JsonErrors& errors) { PlanChecker(plan, errors).Check(); }

}  // namespace dtranspile::exec
