// The plan of one class of ranks while it is made: buffers and nodes. The lowering fills it, the
// passes of fuse.h, in_place.h and arena.h improve it, plan_writer.h writes plan.json
// (docs/file-formats.md).
//
// Arena buffers are written once (by one node, before every reader), except where a pass has joined
// two of them. Views share storage.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/lower/kernel/kernel.h"
#include "runtime/base/dtype.h"
#include "runtime/comm/communicator.h"
#include "runtime/exec/plan.h"

namespace dtranspile::lower {

// Value: extents, LoD or rows are known only while a step runs; the runtime has an object for it
// (runtime/exec/value.h).
enum class Space : uint8_t { Arena, Persistent, Constant, Value };

enum class ValueKind : uint8_t { Tensor, Rows, List };

struct Buffer {
  std::string name;
  Space space = Space::Arena;
  exec::Memory memory = exec::Memory::kHost;  // pinned: of temporaries, in an arena of its own
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;  // -1: not known (Space::Value)
  int lodLevel = 0;
  ValueKind kind = ValueKind::Tensor;
  int storage = -1;     // the buffer whose memory this is a view of; itself where it owns memory
  int64_t offset = -1;  // in its space; set by arena.h, of owners only
  int64_t within = 0;   // of a view: the byte of its memory that it begins at
  // Of what a node keeps for each of its instances (exec::Buffer). A view may have instances of its
  // own: the blocks of a variable.
  int64_t stride = 0, instances = 1;
  std::string data = "";  // of constants

  int64_t elements() const;
  int64_t bytes() const { return elements() * static_cast<int64_t>(SizeOf(dtype)); }
};

struct Node;

struct KernelNode {
  std::shared_ptr<Kernel> kernel;
  std::vector<std::vector<int64_t>> shapes =
      {};  // with unknown extents: per argument its dims, tokens among them
};

struct CallNode {
  std::string callee;
  std::vector<int64_t> ints = {};
  std::vector<double> reals = {};
  std::vector<std::string> strings = {};
  // In the order of the callee's signature: begin of every slot in `args`, and their end; kind and
  // count of every attribute ('i', 'r' or 's', then the number of values), which stand one after
  // the other in ints, reals and strings.
  std::vector<int> slots = {};
  std::vector<std::string> attrs = {};
  // Arguments {output, input} that may be the same memory (runtime/kernels/signature.h).
  std::vector<std::pair<int, int>> sharing = {};

  // The next attribute. One that is left out has no values.
  void addInts(const std::vector<int64_t>& values) { add('i', ints, values); }
  void addReals(const std::vector<double>& values) { add('r', reals, values); }
  void addStrings(const std::vector<std::string>& values) { add('s', strings, values); }

 private:
  template <typename T>
  void add(char kind, std::vector<T>& all, const std::vector<T>& values) {
    attrs.push_back(kind + std::to_string(values.size()));
    all.insert(all.end(), values.begin(), values.end());
  }
};

struct CopyNode {};  // args: from, to

struct StartNode {
  comm::Kind collective = comm::Kind::kBarrier;
  comm::ReduceOp reduce = comm::ReduceOp::kSum;
  int comm = 0, root = 0, ticket = 0;
  int inputs = 0;  // the first so many of the args; the others are outputs
};

struct WaitNode {
  int ticket = 0;
};

// `args` of a node with bodies are all buffers inside (with `reads` and `writes`), and the
// condition, a bool of one element, where it has one.
struct IfNode {
  int condition = -1;
  std::vector<Node> then, otherwise;
};

struct WhileNode {
  int condition = -1;
  std::vector<Node> body;
};

// Of the ranks of the selector, and of the others.
struct AtNode {
  exec::Selector at;
  std::vector<Node> body, otherwise;
};

struct CoordNode {   // args: to
  std::string axis;  // empty: the number of the block, in a BlocksNode
};

struct SliceNode {  // args: from, to
  exec::Layout layout;
};

struct DrawNode {  // args: to
  exec::Layout layout;
  CallNode call;
};

struct MicroNode {
  struct Task {
    std::string name;
    std::vector<Node> body;
  };
  std::string axis;
  int64_t micros = 1, instances = 1;
  std::vector<Task> tasks;
  std::vector<std::vector<int64_t>> order;  // {task, micro-batch}
};

struct BlocksNode {
  struct Body {
    int64_t extent = 0;
    std::vector<Node> body;
  };
  exec::Layout layout;
  std::vector<Body> bodies;
};

// Requests to the servers of communicator `comm`; the buffer that is sent or filled is the last of
// the args, ids stand before it.
struct RequestNode {
  enum class Kind : uint8_t { Push, Pull, Lookup };
  Kind kind = Kind::Push;
  int comm = 0;
  std::string table;
  exec::Merge merge = exec::Merge::kMean;  // Push
  std::optional<exec::Layout> layout = {};
  std::vector<int64_t> padding = {};  // Lookup
  int changed = 0;                    // Push, Pull: rows that have changed only
  int atOnce = 0;                     // Push: waits in no queue
};

struct PhaseNode {
  exec::Phase phase = exec::Phase::kPush;
  int comm = 0;
};

struct MergedNode {  // args: to
  std::string table;
  int pulled = 0;
};

struct Node {
  std::string op;                 // source position, for messages
  std::vector<int> args = {};     // buffers
  std::vector<bool> writes = {};  // per argument; an argument may be read and written
  std::vector<bool> reads = {};
  bool keep = false;  // has an effect that no buffer shows
  std::variant<KernelNode, CallNode, CopyNode, StartNode, WaitNode, IfNode, WhileNode, AtNode,
               CoordNode, SliceNode, DrawNode, MicroNode, BlocksNode, RequestNode, PhaseNode,
               MergedNode>
      what = CopyNode{};

  template <typename Kind>
  Kind* as() {
    return std::get_if<Kind>(&what);
  }
  template <typename Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&what);
  }
  // The bodies inside: none but of loops, branches, guards, micro-batches and blocks.
  std::vector<const std::vector<Node>*> bodies() const;
  std::vector<std::vector<Node>*> bodies();
  // Sets the arguments of a node with bodies. A body that is not run, or left early, leaves what it
  // does not write: whatever one writes the node is said to read.
  void gatherArgs();
};

struct FeedSplit {
  int dim = 0;
  std::vector<std::string> axes;
};

struct Feed {
  std::string name;
  int buffer;
  std::shared_ptr<FeedSplit> split;
};

struct Fetch {
  std::string name;
  int buffer;
  std::string combine;
  exec::Selector at = {};
};

struct PlanProgram {
  std::string name = "main";
  exec::When when = exec::When::kStep;
  std::string table = {};           // of a handler
  std::vector<int> arguments = {};  // of a handler: buffers that get what arrives
  std::vector<Feed> feeds;
  std::vector<Fetch> fetches;
  std::vector<Node> body;
};

struct Persistable {
  std::string name;
  int buffer;
  bool parameter;
  std::vector<std::pair<std::string, std::string>> relation =
      {};  // axis -> relation to the reference program
  exec::Selector at = {};
  std::optional<exec::Layout> layout = {};
  std::string beginsAs = {};  // the persistable whose value it has where a run is given none of it
};

struct Comm {
  std::string name;
  std::vector<std::string> axes;
  exec::CommKind kind = exec::CommKind::kGroup;
  exec::Selector subset = {};
  std::string server = {};
  std::optional<exec::Sending> sending = {};
  std::optional<exec::Exchange> exchange = {};
};

struct Plan {
  std::string role, className = "trainer";
  std::string digest;
  std::vector<Comm> comms;
  std::vector<Buffer> buffers;
  std::vector<Persistable> persistables;
  std::vector<PlanProgram> programs;
  int64_t arenaBytes = 0, pinnedBytes = 0, persistentBytes = 0;

  int addBuffer(Buffer buffer);  // owns its memory
  int addView(int of, std::string name, std::vector<int64_t> dims);
  const PlanProgram* find(const std::string& name) const;
  int storageOf(int buffer) const { return buffers[buffer].storage; }
};

}  // namespace dtranspile::lower
