// Nodes of a plan: their arguments, their tickets, and what may stand in what.
#include "runtime/exec/plan_check_body.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

// Extents that a kernel learns at run time have the numbers -1, -2, …; so many of them at most.
constexpr int64_t kMostUnknowns = 16;

// One walk over the bodies of a program, an overload of CheckNode for each kind of node. Stops at
// the first body with an error: what follows may depend on what is wrong.
class BodyChecker {
 public:
  explicit BodyChecker(PlanCheck& check) : check_(check) {}

  void CheckBody(std::vector<Node>& body, const std::string& where);

 private:
  void CheckTickets(const std::vector<Node>& body, const std::string& where);
  void CheckWritten(int id, const std::string& where);
  bool CheckWritten(const std::vector<int>& args, const std::vector<int>& written,
                    const std::vector<int>& updated, const std::string& where);
  void CheckAttributes(const std::vector<std::string>& attrs, std::map<char, size_t> left,
                       const std::string& where);

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
  void CheckNode(DrawNode& node, const std::string& where);
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
  void CheckGuard(const std::string& where);
  void CheckServer(int comm, const std::string& where);
  void CheckRequest(int comm, int buffer, const std::optional<Layout>& layout,
                    const std::string& where);
  void CheckUnknown(UnknownExtents& unknown, const std::vector<int>& args,
                    const std::string& where);
  void CheckCondition(int id, const std::string& where);
  void CheckValues(const StartNode& node, const std::string& where);

  PlanCheck& check_;
  std::set<int64_t> tickets_;
  bool in_task_ = false;   // of a MicroNode: sends end with it
  bool in_guard_ = false;  // an AtNode: its ranks may not communicate in it
};

void BodyChecker::CheckBody(std::vector<Node>& body, const std::string& where) {
  for (size_t i = 0; check_.errors.ok() && i < body.size(); ++i) {
    std::visit([&](auto& node) { CheckNode(node, absl::StrCat(where, "[", i, "]")); },
               body[i].what);
  }
  if (check_.errors.ok()) CheckTickets(body, where);
}

// Every ticket started here is waited for here, once and later: then no operation outlives its
// body.
void BodyChecker::CheckTickets(const std::vector<Node>& body, const std::string& where) {
  std::map<int64_t, std::string> open;
  for (size_t i = 0; i < body.size(); ++i) {
    const std::string place = absl::StrCat(where, "[", i, "]");
    const auto* start = body[i].as<StartNode>();
    if (start) open[start->ticket] = place;
    const auto* wait = body[i].as<WaitNode>();
    if (wait && open.erase(wait->ticket) == 0)
      check_.Add(place, "waits for ticket ", wait->ticket, ", which is not pending here");
  }
  if (in_task_)
    for (const Node& node : body)
      if (const auto* start = node.as<StartNode>(); start && start->collective == comm::Kind::kSend)
        open.erase(start->ticket);
  if (!open.empty())
    check_.Add(open.begin()->second, "nothing in this body waits for ticket ", open.begin()->first);
}

void BodyChecker::CheckWritten(int id, const std::string& where) {
  if (check_.At(id).space == Space::kConstant)
    check_.Add(where, "constant '", check_.At(id).name, "' would be written");
}

// Positions in the arguments of a kernel or call.
// `written` and `updated` are positions in the arguments; what is updated is written too.
bool BodyChecker::CheckWritten(const std::vector<int>& args, const std::vector<int>& written,
                               const std::vector<int>& updated, const std::string& where) {
  for (int at : written) {
    if (at >= static_cast<int>(args.size())) check_.Add(where + ".written", "no such argument");
    else CheckWritten(args[static_cast<size_t>(at)], where + ".written");
  }
  for (int at : updated)
    if (std::find(written.begin(), written.end(), at) == written.end())
      check_.Add(where + ".updated", "argument ", at, " is not written");
  return check_.errors.ok();
}

// A kernel of the plan's own library. One that is told no extents runs over buffers of the plan
// only, whose extents it was compiled for.
void BodyChecker::CheckNode(KernelNode& node, const std::string& where) {
  if (check_.plan.library.empty()) return check_.Add(where + ".kernel", "the plan has no library");
  if (!CheckWritten(node.args, node.written, node.updated, where)) return;
  if (node.unknown) {
    node.unknown->written.assign(node.args.size(), false);
    for (int at : node.written) node.unknown->written[static_cast<size_t>(at)] = true;
    return CheckUnknown(*node.unknown, node.args, where + ".unknown");
  }
  for (size_t i = 0; i < node.args.size(); ++i)
    if (check_.At(node.args[i]).space == Space::kValue)
      check_.Add(absl::StrCat(where, ".args[", i, "]"), "'", check_.At(node.args[i]).name,
                 "' is a value, and the kernel reads no extents");
}

// Extents that depend on data. An argument that is read binds the unknown extents of its shape, one
// that is written only uses them, as do the products (rows, bytes of scratch): whatever is used has
// to be bound, and what is bound is numbered without gaps, from 1 on.
void BodyChecker::CheckUnknown(UnknownExtents& unknown, const std::vector<int>& args,
                               const std::string& where) {
  if (unknown.shapes.size() != args.size())
    return check_.Add(where, "expected a shape for each argument");
  std::set<int64_t> bound, used;
  for (size_t i = 0; i < args.size(); ++i) {
    const Buffer& buffer = check_.At(args[i]);
    const bool value = buffer.space == Space::kValue;
    if (value == unknown.shapes[i].empty() && !(value && buffer.dims.empty()))
      return check_.Add(absl::StrCat(where, ".shapes[", i, "]"), "'", buffer.name,
                        "' does not fit");
    for (int64_t extent : unknown.shapes[i]) {
      if (extent < -kMostUnknowns)
        return check_.Add(absl::StrCat(where, ".shapes[", i, "]"), "more than ", kMostUnknowns,
                          " unknown extents");
      if (extent < 0) (unknown.written[i] ? used : bound).insert(-extent - 1);
    }
  }
  unknown.count = bound.empty() ? 0 : static_cast<int>(*bound.rbegin()) + 1;
  if (static_cast<int64_t>(bound.size()) != unknown.count ||
      !std::includes(bound.begin(), bound.end(), used.begin(), used.end()))
    return check_.Add(where, "an unknown extent is that of no argument");
  std::vector<const UnknownExtents::Product*> products = {&unknown.rows, &unknown.needs};
  for (const auto& product : unknown.table) products.push_back(&product);
  for (const auto* product : products)
    for (int k : product->unknowns)
      if (k >= unknown.count) return check_.Add(where, "no such unknown extent");
}

// Arguments lie slot by slot, the values of attributes in one pool for each type: "i3" takes the
// next three integers.
void BodyChecker::CheckNode(CallNode& node, const std::string& where) {
  const auto count = static_cast<int32_t>(node.args.size());
  if (!CheckWritten(node.args, node.written, node.updated, where)) return;
  if (node.slots.empty() || node.slots.front() != 0 || node.slots.back() != count ||
      !std::is_sorted(node.slots.begin(), node.slots.end()))
    return check_.Add(where + ".slots", "expected rising bounds from 0 to the number of arguments");
  CheckAttributes(node.attrs,
                  {{'i', node.ints.size()}, {'r', node.reals.size()}, {'s', node.strings.size()}},
                  where);
}

// `left`: how many values there are of each kind.
void BodyChecker::CheckAttributes(const std::vector<std::string>& attrs,
                                  std::map<char, size_t> left, const std::string& where) {
  for (const std::string& text : attrs) {
    int32_t values = 0;
    const auto pool = text.empty() ? left.end() : left.find(text[0]);
    if (pool == left.end() || !absl::SimpleAtoi(text.substr(1), &values) || values < 0 ||
        static_cast<size_t>(values) > pool->second)
      return check_.Add(where + ".attrs",
                        "expected i, r or s and a number of values, not more than there are");
    pool->second -= static_cast<size_t>(values);
  }
}

// Bytes to bytes: between buffers of fixed extents these must agree; a value takes what comes.
void BodyChecker::CheckNode(CopyNode& node, const std::string& where) {
  const Buffer &from = check_.At(node.from), &to = check_.At(node.to);
  if (from.space != Space::kValue && to.space != Space::kValue && from.bytes != to.bytes)
    return check_.Add(where + ".copy", "'", from.name, "' has ", from.bytes, " bytes, '", to.name,
                      "' ", to.bytes);
  CheckWritten(node.to, where + ".copy");
}

// Guards that communicate make classes of ranks, each with a plan of its own.
void BodyChecker::CheckGuard(const std::string& where) {
  if (in_guard_) check_.Add(where, "communicates under a guard that is data of the rank");
}

// One element type, and equal numbers of inputs and outputs where the operation pairs them. Counts
// that depend on the number of ranks are checked when the plan meets its communicators.
void BodyChecker::CheckNode(StartNode& node, const std::string& where) {
  if (node.comm >= static_cast<int>(check_.plan.comms.size()))
    return check_.Add(where + ".comm", "no such communicator");
  if (check_.plan.comms[static_cast<size_t>(node.comm)].kind == CommKind::kRpc)
    return check_.Add(where + ".comm", "servers are asked by push, pull and lookup only");
  CheckGuard(where);
  for (int id : node.outputs) CheckWritten(id, where + ".outputs");
  const Buffer* first = nullptr;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (int id : *list) {
      const Buffer& buffer = check_.At(id);
      if (first == nullptr) first = &buffer;
      if (buffer.dtype != first->dtype)
        return check_.Add(where, "'", first->name, "' is ", NameOf(first->dtype), ", '",
                          buffer.name, "' is ", NameOf(buffer.dtype));
    }
  const auto kind = node.collective;
  const bool no_inputs = kind == comm::Kind::kRecv || kind == comm::Kind::kBarrier;
  const bool no_outputs = kind == comm::Kind::kSend || kind == comm::Kind::kBarrier;
  const bool fits = node.inputs.empty() == no_inputs && node.outputs.empty() == no_outputs &&
                    (no_inputs || no_outputs || node.inputs.size() == node.outputs.size());
  if (!fits)
    return check_.Add(where, node.inputs.size(), " inputs and ", node.outputs.size(),
                      " outputs do not fit the operation");
  if (!tickets_.insert(node.ticket).second)
    return check_.Add(where + ".ticket", node.ticket, " was started before");
  CheckValues(node, where);
}

// Values are exchanged one by one, reduced or gathered (value_collective.h).
void BodyChecker::CheckValues(const StartNode& node, const std::string& where) {
  const Buffer* some = nullptr;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (int id : *list)
      if (check_.At(id).space == Space::kValue) some = &check_.At(id);
  if (some == nullptr) return;
  const bool gathers = node.collective == comm::Kind::kAllGather;
  bool fits = (gathers || node.collective == comm::Kind::kAllReduce) && node.inputs.size() == 1;
  if (fits) {
    const Buffer &from = check_.At(node.inputs[0]), &to = check_.At(node.outputs[0]);
    fits = from.space == to.space && from.kind == to.kind && from.kind != Value::Kind::kList &&
           (gathers || from.kind != Value::Kind::kRows || node.reduce == comm::ReduceOp::kSum);
  }
  if (!fits)
    check_.Add(where, "'", some->name,
               "' is a value: all_reduce and all_gather take one at a time into another one, of "
               "SelectedRows all_reduce the sum, and no other operation takes any");
}

void BodyChecker::CheckCondition(int id, const std::string& where) {
  const Buffer& buffer = check_.At(id);
  if (buffer.space == Space::kValue || buffer.dtype != DType::kBool || buffer.count() != 1)
    check_.Add(where, "'", buffer.name, "' is no bool of one element");
}

// Both bodies are checked for tickets by themselves: an operation does not begin in one branch and
// end after it.
void BodyChecker::CheckNode(IfNode& node, const std::string& where) {
  CheckCondition(node.condition, where + ".if");
  CheckBody(node.then, where + ".then");
  CheckBody(node.otherwise, where + ".else");
}

void BodyChecker::CheckNode(WhileNode& node, const std::string& where) {
  CheckCondition(node.condition, where + ".while");
  CheckBody(node.body, where + ".body");
}

// Guards by position. Inside no rank may communicate (CheckGuard).
void BodyChecker::CheckNode(AtNode& node, const std::string& where) {
  CheckSelector(check_, node.at, where + ".at");
  const bool outer = std::exchange(in_guard_, true);
  CheckBody(node.body, where + ".body");
  CheckBody(node.otherwise, where + ".else");
  in_guard_ = outer;
}

void BodyChecker::CheckNode(CoordNode& node, const std::string& where) {
  const Buffer& buffer = check_.At(node.to);
  if (buffer.space == Space::kValue || buffer.dtype != DType::kInt64 || buffer.count() != 1)
    check_.Add(where + ".to", "'", buffer.name, "' is no int64 of one element");
  CheckWritten(node.to, where + ".to");
}

// The rank's part of a whole tensor: only `from` must fit the layout, a part's extents follow from
// it.
void BodyChecker::CheckNode(SliceNode& node, const std::string& where) {
  const Buffer &from = check_.At(node.from), &to = check_.At(node.to);
  CheckLayout(check_, node.layout, where + ".layout");
  CheckWritten(node.to, where + ".slice");
  if (from.space == Space::kValue || to.space == Space::kValue || from.dtype != to.dtype ||
      from.dims != node.layout.whole)
    check_.Add(where + ".slice", "'", from.name, "' is ", ShapeText(from.dtype, from.dims),
               ", which the layout does not fit");
}

// Rows of floats. Where it stands, and that the variable is cut so, is found when it is bound.
void BodyChecker::CheckNode(DrawNode& node, const std::string& where) {
  const Buffer& to = check_.At(node.to);
  CheckLayout(check_, node.layout, where + ".layout");
  CheckWritten(node.to, where + ".to");
  CheckAttributes(node.attrs, {{'i', node.ints.size()}, {'r', node.reals.size()}}, where);
  if (!check_.errors.ok()) return;
  if (node.layout.kind != LayoutKind::kCyclic || node.layout.dim != 0)
    check_.Add(where + ".layout", "rows that are made one by one lie by their numbers");
  if (to.space != Space::kPersistent || to.stride > 0 ||
      (to.dtype != DType::kFloat32 && to.dtype != DType::kFloat64))
    check_.Add(where + ".to", "'", to.name, "' is no variable of floats");
  if (node.callee == kConstantRows) {
    if (node.reals.size() != 1) check_.Add(where + ".reals", "expected one number");
    return;
  }
  const size_t slots = node.slots.size(), attrs = node.attrs.size();
  if (slots < 2 || node.slots[slots - 2] != 0 || node.slots[slots - 1] != 1 ||
      !std::is_sorted(node.slots.begin(), node.slots.end()))
    check_.Add(where + ".slots", "expected one argument, in the last slot");
  if (attrs < 3 || node.attrs[0] != absl::StrCat("i", node.layout.whole.size()) ||
      node.attrs[attrs - 2] != "i0" || node.attrs[attrs - 1] != "i0")
    check_.Add(where + ".attrs", "expected the extents first and nothing in the last two");
}

// Tickets of sends stay open past the end of a task's body: the loop waits for them (in_task_).
void BodyChecker::CheckNode(MicroNode& node, const std::string& where) {
  if (in_task_) return check_.Add(where, "micro-batches in micro-batches");
  in_task_ = true;
  for (size_t i = 0; i < node.tasks.size(); ++i)
    CheckBody(node.tasks[i].body, absl::StrCat(where, ".tasks[", i, "].body"));
  in_task_ = false;
  CheckOrder(node, where);
}

// The stage's row of the schedule: every task of every micro-batch, once.
void BodyChecker::CheckOrder(const MicroNode& node, const std::string& where) {
  const auto tasks = static_cast<int64_t>(node.tasks.size());
  std::set<std::vector<int64_t>> seen;
  for (size_t i = 0; i < node.order.size(); ++i) {
    const std::vector<int64_t>& entry = node.order[i];
    const std::string place = absl::StrCat(where, ".order[", i, "]");
    if (entry.size() != 2 || entry[0] < 0 || entry[0] >= tasks || entry[1] < 0 ||
        entry[1] >= node.micros)
      return check_.Add(place, "expected [task, micro-batch]");
    if (!seen.insert(entry).second)
      return check_.Add(place, "task '",
                        node.tasks[static_cast<size_t>(entry[0])].name.substr(0, 80),
                        "' of micro-batch ", entry[1], " stands there twice");
  }
  if (static_cast<int64_t>(node.order.size()) / std::max<int64_t>(tasks, 1) != node.micros ||
      (tasks > 0 && static_cast<int64_t>(node.order.size()) % tasks != 0))
    return check_.Add(where + ".order", "has ", node.order.size(), " entries for ", tasks,
                      " tasks of ", node.micros, " micro-batches");
  if (node.instances > node.micros)
    check_.Add(where + ".instances", node.instances, " for ", node.micros, " micro-batches");
}

// Instances of a buffer are counted by one node around it.
void BodyChecker::CheckNode(BlocksNode& node, const std::string& where) {
  if (in_task_) return check_.Add(where, "blocks in micro-batches");
  CheckLayout(check_, node.layout, where + ".blocks");
  for (size_t i = 0; i < node.bodies.size(); ++i)
    CheckBody(node.bodies[i].body, absl::StrCat(where, ".bodies[", i, "].body"));
}

void BodyChecker::CheckServer(int comm, const std::string& where) {
  CheckGuard(where);
  if (comm >= static_cast<int>(check_.plan.comms.size()) ||
      check_.plan.comms[static_cast<size_t>(comm)].kind != CommKind::kRpc)
    check_.Add(where + ".comm", "no communicator with servers");
}

// A push or pull of a whole table; without a layout every server has all of it.
void BodyChecker::CheckRequest(int comm, int buffer, const std::optional<Layout>& layout,
                               const std::string& where) {
  CheckServer(comm, where);
  if (!layout) return;
  CheckLayout(check_, *layout, where + ".layout");
  const Buffer& whole = check_.At(buffer);
  if (whole.space != Space::kValue && whole.dims != layout->whole)
    check_.Add(where, "'", whole.name, "' is ", ShapeText(whole.dtype, whole.dims),
               ", which the layout of the table does not fit");
}

void BodyChecker::CheckNode(PushNode& node, const std::string& where) {
  CheckRequest(node.comm, node.from, node.layout, where);
  if (check_.At(node.from).kind == Value::Kind::kRows && node.layout && node.layout->dim != 0)
    check_.Add(where + ".layout", "rows are cut along dimension 0");
  CheckChanged(node.changed, node.from, node.layout, where);
}

void BodyChecker::CheckNode(PullNode& node, const std::string& where) {
  CheckWritten(node.to, where + ".to");
  CheckRequest(node.comm, node.to, node.layout, where);
  CheckChanged(node.changed, node.to, node.layout, where);
}

// Rows that have changed are those of a dense tensor of fixed extents.
void BodyChecker::CheckChanged(int changed, int buffer, const std::optional<Layout>& layout,
                               const std::string& where) {
  if (changed == 0) return;
  const Buffer& one = check_.At(buffer);
  if (one.space == Space::kValue || one.dims.empty())
    check_.Add(where + ".changed", "'", one.name, "' is no dense tensor with rows");
  if (layout && layout->dim != 0) check_.Add(where + ".layout", "rows are cut along dimension 0");
}

// Rows by their numbers: the table is cut by rows, or not at all.
void BodyChecker::CheckNode(LookupNode& node, const std::string& where) {
  CheckServer(node.comm, where);
  CheckWritten(node.to, where + ".to");
  const DType type = check_.At(node.ids).dtype;
  if (type != DType::kInt64 && type != DType::kInt32)
    check_.Add(where + ".ids", "'", check_.At(node.ids).name, "' is neither int64 nor int32");
  if (node.padding.size() > 1) check_.Add(where + ".padding", "expected one id at most");
  if (!node.layout) return;
  CheckLayout(check_, *node.layout, where + ".layout");
  if (node.layout->dim != 0) check_.Add(where + ".layout", "rows are cut along dimension 0");
}

void BodyChecker::CheckNode(PhaseNode& node, const std::string& where) {
  CheckServer(node.comm, where);
}

void BodyChecker::CheckNode(MergedNode& node, const std::string& where) {
  CheckWritten(node.to, where + ".to");
}

}  // namespace

void CheckProgramBody(PlanCheck& check, std::vector<Node>& body, const std::string& where) {
  BodyChecker(check).CheckBody(body, where);
}

}  // namespace dtranspile::exec
