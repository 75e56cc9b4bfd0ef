// The schema of plan.json: every field of plan.h once, with its key and range. plan_json.h makes
// the reader and the writer of it. A visitor is called with a key and a field, in the order of the
// file.
#pragma once

#include <utility>

#include "runtime/exec/plan.h"

namespace dtranspile::exec {

// Counts up with every change that an older runtime cannot read.
constexpr int64_t kPlanSchema = 4;

constexpr int64_t kMostBytes = int64_t{1} << 48;
constexpr int kMostLodLevels = 64;
constexpr int64_t kMostSenders = 64;

// The words of an enumeration.
template <typename Enum>
struct Words;

template <>
struct Words<Space> {
  static constexpr std::pair<const char*, Space> kRows[] = {{"arena", Space::kArena},
                                                            {"persistent", Space::kPersistent},
                                                            {"constant", Space::kConstant},
                                                            {"value", Space::kValue}};
};
template <>
struct Words<Memory> {
  static constexpr std::pair<const char*, Memory> kRows[] = {
      {"host", Memory::kHost}, {"device", Memory::kDevice}, {"pinned", Memory::kPinned}};
};
template <>
struct Words<Value::Kind> {
  static constexpr std::pair<const char*, Value::Kind> kRows[] = {
      {"tensor", Value::Kind::kTensor}, {"rows", Value::Kind::kRows}, {"list", Value::Kind::kList}};
};
template <>
struct Words<When> {
  static constexpr std::pair<const char*, When> kRows[] = {
      {"startup", When::kStartup}, {"step", When::kStep}, {"round", When::kRound},
      {"push", When::kPush},       {"pull", When::kPull}, {"lookup", When::kLookup}};
};
template <>
struct Words<LayoutKind> {
  static constexpr std::pair<const char*, LayoutKind> kRows[] = {{"even", LayoutKind::kEven},
                                                                 {"blocks", LayoutKind::kBlocks},
                                                                 {"hashed", LayoutKind::kHashed},
                                                                 {"cyclic", LayoutKind::kCyclic}};
};
template <>
struct Words<CommKind> {
  static constexpr std::pair<const char*, CommKind> kRows[] = {
      {"group", CommKind::kGroup}, {"pairs", CommKind::kPairs}, {"rpc", CommKind::kRpc}};
};
template <>
struct Words<Merge> {
  static constexpr std::pair<const char*, Merge> kRows[] = {
      {"mean", Merge::kMean}, {"sum", Merge::kSum}, {"each", Merge::kEach}};
};
template <>
struct Words<Phase> {
  static constexpr std::pair<const char*, Phase> kRows[] = {{"push", Phase::kPush},
                                                            {"pull", Phase::kPull}};
};
template <>
struct Words<comm::Kind> {
  static constexpr std::pair<const char*, comm::Kind> kRows[] = {
      {"all_reduce", comm::Kind::kAllReduce},
      {"reduce", comm::Kind::kReduce},
      {"broadcast", comm::Kind::kBroadcast},
      {"all_gather", comm::Kind::kAllGather},
      {"reduce_scatter", comm::Kind::kReduceScatter},
      {"all_to_all", comm::Kind::kAllToAll},
      {"send", comm::Kind::kSend},
      {"recv", comm::Kind::kRecv},
      {"barrier", comm::Kind::kBarrier}};
};
template <>
struct Words<comm::ReduceOp> {
  static constexpr std::pair<const char*, comm::ReduceOp> kRows[] = {
      {"sum", comm::ReduceOp::kSum},
      {"max", comm::ReduceOp::kMax},
      {"min", comm::ReduceOp::kMin},
      {"prod", comm::ReduceOp::kProd},
      {"or", comm::ReduceOp::kOr}};
};

// The key that says which kind a node is: the first one of its fields.
constexpr const char* kNodeKeys[] = {"kernel", "call", "copy",  "start",  "wait",  "if",
                                     "while",  "at",   "coord", "slice",  "draw",  "micro",
                                     "blocks", "push", "pull",  "lookup", "phase", "merged"};
static_assert(std::size(kNodeKeys) == std::variant_size_v<decltype(Node::what)>);

template <typename Visitor>
void Fields(Visitor& v, Selector& s) {
  v.ListsByName("sets", s.sets);
}

template <typename Visitor>
void Fields(Visitor& v, Layout& l) {
  v.Word("kind", l.kind);
  v.Texts("axes", l.axes);
  v.Int("dim", l.dim, -1, INT32_MAX);
  v.Int("extent", l.extent, 0, kMostBytes);
  v.May().Int("per", l.per, 0, kMostBytes);
  v.May().Int("first", l.first, 0, INT32_MAX);
  v.May().Text("name", l.name);
  v.Ints("whole", l.whole, 0);
  v.May().Ints("also", l.also, 0);
  v.May().Ints("also_parts", l.also_parts, 1);
  v.May().Factor("flat_parts", l.flat_parts, INT32_MAX);
}

template <typename Visitor>
void Fields(Visitor& v, Buffer& b) {
  v.Text("name", b.name);
  v.Word("space", b.space);
  v.May().Word("memory", b.memory, Memory::kHost);
  v.Type("dtype", b.dtype);
  v.Ints("dims", b.dims, b.space == Space::kValue ? -1 : 0);
  if (b.space == Space::kValue) {
    v.Word("kind", b.kind);
    v.Int("lod_level", b.lod_level, 0, kMostLodLevels);
    return;
  }
  v.Int("offset", b.offset, 0, kMostBytes);
  v.Int("bytes", b.bytes, 0, kMostBytes);
  v.May().Int("stride", b.stride, 0, kMostBytes);
  if (b.stride > 0) v.Int("instances", b.instances, 1, INT32_MAX);
  if (b.space == Space::kConstant) v.Bytes("data", b.data);
}

template <typename Visitor>
void Fields(Visitor& v, Persistable& p) {
  v.Text("name", p.name);
  v.Buffer("buffer", p.buffer);
  v.Bool("parameter", p.parameter);
  v.May().Map("relation", p.relation);
  v.May().ListsByName("at", p.at.sets);
  v.May().Optional("layout", p.layout);
  v.May().Text("begins_as", p.begins_as);
}

template <typename Visitor>
void Fields(Visitor& v, UnknownExtents::Product& p) {
  v.Int("factor", p.factor, 0);
  v.Ints("unknowns", p.unknowns, 0);
}

template <typename Visitor>
void Fields(Visitor& v, UnknownExtents& u) {
  v.Lists("shapes", u.shapes);
  v.List("table", u.table);
  v.Object("rows", u.rows);
  v.Object("needs", u.needs);
}

template <typename Visitor>
void Fields(Visitor& v, Split& s) {
  v.Int("dim", s.dim, 0, INT32_MAX);
  v.Texts("axes", s.axes);
}

template <typename Visitor>
void Fields(Visitor& v, FeedSlot& f) {
  v.Text("name", f.name);
  v.Buffer("buffer", f.buffer);
  v.May().Optional("split", f.split);
}

template <typename Visitor>
void Fields(Visitor& v, FetchSlot& f) {
  v.Text("name", f.name);
  v.Buffer("buffer", f.buffer);
  v.Text("combine", f.combine);
  v.May().ListsByName("at", f.at.sets);
}

template <typename Visitor>
void Fields(Visitor& v, KernelNode& n) {
  v.Text("kernel", n.symbol);
  v.Buffers("args", n.args);
  v.May().Ints("written", n.written, 0);
  v.May().Ints("updated", n.updated, 0);
  v.Int("n", n.rows, 0);
  v.Int("grain", n.grain, 1);
  v.May().Optional("unknown", n.unknown);
}

template <typename Visitor>
void Fields(Visitor& v, CallNode& n) {
  v.Text("call", n.callee);
  v.Buffers("args", n.args);
  v.May().Ints("written", n.written, 0);
  v.May().Ints("updated", n.updated, 0);
  v.Ints("slots", n.slots, 0);
  v.May().Texts("attrs", n.attrs);
  v.May().Ints("ints", n.ints);
  v.May().Reals("reals", n.reals);
  v.May().Texts("strings", n.strings);
}

template <typename Visitor>
void Fields(Visitor& v, CopyNode& n) {
  v.BufferPair("copy", n.from, n.to);
}

template <typename Visitor>
void Fields(Visitor& v, StartNode& n) {
  v.Word("start", n.collective);
  v.Int("comm", n.comm, 0, INT32_MAX);
  v.May().Word("reduce", n.reduce, comm::ReduceOp::kSum);
  v.May().Int("root", n.root, 0, INT32_MAX);
  v.Buffers("inputs", n.inputs);
  v.Buffers("outputs", n.outputs);
  v.Int("ticket", n.ticket, 0);
}

template <typename Visitor>
void Fields(Visitor& v, WaitNode& n) {
  v.Int("wait", n.ticket, 0);
}

template <typename Visitor>
void Fields(Visitor& v, IfNode& n) {
  v.Buffer("if", n.condition);
  v.Nodes("then", n.then);
  v.Nodes("else", n.otherwise);
}

template <typename Visitor>
void Fields(Visitor& v, WhileNode& n) {
  v.Buffer("while", n.condition);
  v.Int("limit", n.limit, 0);
  v.Nodes("body", n.body);
}

template <typename Visitor>
void Fields(Visitor& v, AtNode& n) {
  v.ListsByName("at", n.at.sets);
  v.Nodes("body", n.body);
  v.Nodes("else", n.otherwise);
}

template <typename Visitor>
void Fields(Visitor& v, CoordNode& n) {
  v.Text("coord", n.axis);
  v.Buffer("to", n.to);
}

template <typename Visitor>
void Fields(Visitor& v, SliceNode& n) {
  v.BufferPair("slice", n.from, n.to);
  v.Object("layout", n.layout);
}

template <typename Visitor>
void Fields(Visitor& v, DrawNode& n) {
  v.Text("draw", n.callee);
  v.Buffer("to", n.to);
  v.Object("layout", n.layout);
  v.May().Ints("slots", n.slots, 0);
  v.May().Texts("attrs", n.attrs);
  v.May().Ints("ints", n.ints);
  v.May().Reals("reals", n.reals);
}

template <typename Visitor>
void Fields(Visitor& v, MicroNode::Task& t) {
  v.Text("name", t.name);
  v.Nodes("body", t.body);
}

template <typename Visitor>
void Fields(Visitor& v, MicroNode& n) {
  v.Text("micro", n.axis);
  v.Int("micros", n.micros, 1, INT32_MAX);
  v.Int("instances", n.instances, 1, INT32_MAX);
  v.List("tasks", n.tasks);
  v.Lists("order", n.order);
}

template <typename Visitor>
void Fields(Visitor& v, BlocksNode::Body& b) {
  v.Int("extent", b.extent, 0, kMostBytes);
  v.Nodes("body", b.body);
}

template <typename Visitor>
void Fields(Visitor& v, BlocksNode& n) {
  v.Object("blocks", n.layout);
  v.List("bodies", n.bodies);
}

template <typename Visitor>
void Fields(Visitor& v, PushNode& n) {
  v.Text("push", n.table);
  v.Int("comm", n.comm, 0, INT32_MAX);
  v.Buffer("from", n.from);
  v.Word("merge", n.merge);
  v.May().Optional("layout", n.layout);
  v.May().Int("changed", n.changed, 0, 1);
  v.May().Int("at_once", n.at_once, 0, 1);
}

template <typename Visitor>
void Fields(Visitor& v, PullNode& n) {
  v.Text("pull", n.table);
  v.Int("comm", n.comm, 0, INT32_MAX);
  v.Buffer("to", n.to);
  v.May().Optional("layout", n.layout);
  v.May().Int("changed", n.changed, 0, 1);
}

template <typename Visitor>
void Fields(Visitor& v, LookupNode& n) {
  v.Text("lookup", n.table);
  v.Int("comm", n.comm, 0, INT32_MAX);
  v.Buffer("ids", n.ids);
  v.Buffer("to", n.to);
  v.May().Optional("layout", n.layout);
  v.May().Ints("padding", n.padding, 0);
}

template <typename Visitor>
void Fields(Visitor& v, PhaseNode& n) {
  v.Word("phase", n.phase);
  v.Int("comm", n.comm, 0, INT32_MAX);
}

template <typename Visitor>
void Fields(Visitor& v, MergedNode& n) {
  v.Text("merged", n.table);
  v.Buffer("to", n.to);
  v.May().Int("pulled", n.pulled, 0, 1);
}

template <typename Visitor>
void Fields(Visitor& v, Sending& s) {
  v.Int("max_merge_var_num", s.max_merge_var_num, 1, INT32_MAX);
  v.Int("send_queue_size", s.send_queue_size, 1, INT32_MAX);
  v.Int("send_wait_times", s.send_wait_times, 0, INT32_MAX);
  v.Int("thread_pool_size", s.thread_pool_size, 1, kMostSenders);
  v.Int("min_send_grad_num_before_recv", s.min_send_grad_num_before_recv, 1, INT32_MAX);
  v.Int("independent_recv_thread", s.independent_recv_thread, 0, 1);
  v.Int("average", s.average, 0, 1);
}

template <typename Visitor>
void Fields(Visitor& v, Exchange& e) {
  v.Text("counter", e.counter);
  v.Int("every", e.every, 1, INT32_MAX);
}

template <typename Visitor>
void Fields(Visitor& v, PlanComm& c) {
  v.Text("name", c.name);
  v.Texts("axes", c.axes);
  v.May().Word("kind", c.kind, CommKind::kGroup);
  v.May().ListsByName("subset", c.subset.sets);
  v.May().Text("server", c.server);
  v.May().Optional("sending", c.sending);
  v.May().Optional("exchange", c.exchange);
}

template <typename Visitor>
void Fields(Visitor& v, Program& p) {
  v.Word("when", p.when);
  v.May().Text("table", p.table);
  if (p.when != When::kStartup && p.when != When::kStep) v.Buffers("arguments", p.arguments);
  v.List("feeds", p.feeds);
  v.List("fetches", p.fetches);
  v.Nodes("body", p.body);
}

template <typename Visitor>
void Fields(Visitor& v, PlanTarget& t) {
  v.Text("cpu", t.cpu);
  v.Text("features", t.features);
  v.May().Text("device", t.device);
}

template <typename Visitor>
void Fields(Visitor& v, Plan& p) {
  v.May().Text("role", p.role);
  v.Text("class", p.class_name);
  v.Text("digest", p.digest);
  v.Object("target", p.target);
  v.May().Text("library", p.library);
  v.List("comms", p.comms);
  v.Int("arena_bytes", p.arena_bytes, 0, kMostBytes);
  v.Int("persistent_bytes", p.persistent_bytes, 0, kMostBytes);
  v.May().Int("pinned_bytes", p.pinned_bytes, 0, kMostBytes);
  v.List("buffers", p.buffers);
  v.List("persistables", p.persistables);
  v.ByName("programs", p.programs);
}

}  // namespace dtranspile::exec
