// A compiled class of ranks: what the compiler leaves in plan.json and the runtime runs. These
// types are the whole of it on both sides (compiler/lower/plan_writer.h makes them of its own,
// richer plan; the executor runs them); plan_fields.h says once how each is written and read,
// docs/file-formats.md what the fields mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/dtype.h"
#include "runtime/comm/communicator.h"
#include "runtime/exec/value.h"

namespace dtranspile::exec {

// kValue: extents, LoD or rows are known only while a step runs (value.h).
enum class Space : uint8_t { kArena, kPersistent, kConstant, kValue };

// Where a buffer's bytes are. kHost: in the memory of the device that the program runs on, which
// the CPU executor is. kPinned: temporaries that wait beside it, in an arena of their own. kDevice:
// the CPU executor refuses it by name.
enum class Memory : uint8_t { kHost, kDevice, kPinned };

// Ranks by their coordinates: per named axis half-open intervals lo0, hi0, lo1, hi1, … in rising
// order; axes that are not named are free. Empty: every rank.
struct Selector {
  std::map<std::string, std::vector<int64_t>> sets;

  bool all() const { return sets.empty(); }
  // Coordinates of a rank; an axis that they lack holds no rank of the selector.
  bool contains(const std::map<std::string, int64_t>& coordinates) const;
  static bool Within(const std::vector<int64_t>& bounds, int64_t coordinate);
};

// How extent n of a variable lies on an axis (docs/dialects/dist.md, layout).
enum class LayoutKind : uint8_t { kEven, kBlocks, kHashed, kCyclic };

// Blocks of a layout.
constexpr int64_t kMostBlocks = int64_t{1} << 24;

// A dimension that is cut over axes (mesh order, first one major; N coordinates together). The part
// of a rank is a function of its coordinate: rank data, not text (layout.h).
struct Layout {
  LayoutKind kind = LayoutKind::kEven;
  std::vector<std::string> axes;
  int dim = 0;                 // -1: the flattened tensor
  int64_t extent = 0;          // n
  int64_t per = 0;             // kBlocks, kHashed: extent of a block (the last one may have less)
  int64_t first = 0;           // kBlocks: coordinate of block 0
  std::string name;            // kHashed: what is hashed, with the number of the block
  std::vector<int64_t> whole;  // extents of the whole tensor
  // kEven, dim >= 0: further dims that are cut evenly, rising, and into how many parts each. The
  // part of a rank counts them after those of `dim`, the last one fastest, as `axes` do.
  std::vector<int> also = {};
  std::vector<int64_t> also_parts = {};
  // kEven, dim >= 0: into how many parts, flat, the memory of what these cuts leave is cut. They
  // are counted last, fastest.
  int64_t flat_parts = 1;
};

struct Buffer {
  std::string name;
  Space space = Space::kArena;
  Memory memory = Memory::kHost;
  int64_t offset = 0;  // in its block, a multiple of 64
  int64_t bytes = 0;
  // Of what a node that runs its bodies several times (MicroNode, BlocksNode) keeps for each of its
  // instances: instance k lies at offset + k · stride. 0: one for all of them.
  int64_t stride = 0;
  int64_t instances = 1;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;                // kValue: -1 where not known
  int lod_level = 0;                        // kValue
  Value::Kind kind = Value::Kind::kTensor;  // kValue
  std::string data;                         // of a constant
  int64_t count() const { return bytes / static_cast<int64_t>(SizeOf(dtype)); }
};

struct Persistable {
  std::string name;
  int buffer = 0;
  bool parameter = false;
  std::map<std::string, std::string> relation = {};  // axis -> relation to the reference program
  Selector at = {};  // the ranks that have it; the others keep no memory for it
  // Of a cut variable, of which a rank has its part. The buffer has the extents of the largest one
  // (layout.h, Parts::room_dims), the rank memory for its own; ops that could use more than that
  // are refused when the plan is loaded.
  std::optional<Layout> layout = {};
  std::string begins_as =
      {};  // where a run is given no value of it: as this variable, if given one
};

// A kernel whose extents are known only when it runs.
struct UnknownExtents {
  struct Product {
    int64_t factor = 1;
    std::vector<int> unknowns = {};  // times these
    bool operator==(const Product&) const = default;
  };
  std::vector<std::vector<int64_t>>
      shapes;  // per argument; -(k + 1) for unknown k. Empty: a buffer of fixed extents
  // Per argument: gets its extents here; the others must have them. The reader takes it from the
  // node's `written`.
  std::vector<bool> written;
  std::vector<Product> table;  // what the kernel is given after its arguments
  Product rows;
  Product needs;  // may not be 0 where there are rows: what means and extreme values are taken of
  int count = 0;  // unknowns
};

// How the global batch is cut: equal contiguous parts of dimension `dim` over `axes`, the first
// axis major.
struct Split {
  int dim = 0;
  std::vector<std::string> axes;
};

struct FeedSlot {
  std::string name;
  int buffer = 0;
  std::optional<Split> split;
};

struct FetchSlot {
  std::string name;
  int buffer = 0;
  std::string combine;
  Selector at = {};  // the ranks that hold it
};

struct Node;

// A generated kernel over rows [0, rows).
struct KernelNode {
  std::string symbol;
  std::vector<int> args;
  std::vector<int> written, updated;  // positions in args; updated: of those that it reads, too
  int64_t rows = 0, grain = 1;
  std::optional<UnknownExtents> unknown;  // none: all extents are fixed
};

struct CallNode {
  struct Attribute {
    char kind;  // 'i', 'r', 's': the next `count` of ints, reals, strings
    int32_t count;
  };
  std::string callee;
  std::vector<int> args;
  std::vector<int> written, updated;  // as of a kernel
  std::vector<int32_t> slots;         // bounds of the slots in args
  std::vector<std::string> attrs;     // kind and number of values, "i1", of each attribute
  std::vector<int64_t> ints;
  std::vector<double> reals;
  std::vector<std::string> strings;

  std::vector<Attribute> attributes() const { return AttributesOf(attrs); }
  static std::vector<Attribute> AttributesOf(const std::vector<std::string>& attrs);
};

struct CopyNode {
  int from = 0, to = 0;  // of equal size
};

// Begins an operation between ranks. A ticket is started once in a program, and waited for once,
// later in the same body; a send in a task of a MicroNode may go without: it is waited for before
// another micro-batch begins with its instance, and at the end of the node.
struct StartNode {
  comm::Kind collective = comm::Kind::kBarrier;
  comm::ReduceOp reduce = comm::ReduceOp::kSum;
  int comm = 0, root = 0;  // root: of kSend and kRecv the other side
  std::vector<int> inputs, outputs;
  int64_t ticket = 0;
};

struct WaitNode {
  int64_t ticket = 0;
};

struct IfNode {
  int condition = 0;  // a bool of one element
  std::vector<Node> then, otherwise;
};

struct WhileNode {
  int condition = 0;  // tested before every turn
  int64_t limit = 0;  // turns
  std::vector<Node> body;
};

// A guard that is data of the rank: `body` on the ranks of the selector, `otherwise` elsewhere. No
// communication inside (other guards make classes of ranks, each with a plan of its own).
struct AtNode {
  Selector at;
  std::vector<Node> body, otherwise;
};

// This rank's coordinate on an axis, or the number of the micro-batch: int64 [1].
struct CoordNode {
  std::string axis;  // empty: the number of the block, in a BlocksNode
  int to = 0;
};

// This rank's part of a whole tensor by its layout, zero after it where it is less than the room
// for it. Axes may be those of a MicroNode around it: the part of the micro-batch.
struct SliceNode {
  int from = 0, to = 0;
  Layout layout;
};

// At the top of start-up: what the rows of a variable that lies by row numbers are as long as
// nobody has touched them (first_touch.h). `callee` draws the whole with these attributes: the
// first one is its extents, the last two say where it begins, and have no values here. Of callee
// kConstantRows every element is the one number of `reals`.
inline constexpr char kConstantRows[] = "constant";
struct DrawNode {
  std::string callee;
  int to = 0;
  Layout layout;
  std::vector<int32_t> slots;  // as of a call with no argument but the one that it fills
  std::vector<std::string> attrs;
  std::vector<int64_t> ints;
  std::vector<double> reals;
};

// A pipeline's micro-batches: `order` is what this class of ranks runs, in this order. Entry:
// {task, micro-batch}, each pair once. Bodies of tasks see `axis` as a coordinate. Micro-batch m
// has instance m mod `instances` of the buffers with a stride.
struct MicroNode {
  struct Task {
    std::string name;  // "F", "B", "F.1" (chunk 1)
    std::vector<Node> body;
  };
  std::string axis;
  int64_t micros = 1, instances = 1;
  std::vector<Task> tasks;
  std::vector<std::vector<int64_t>> order;
};

// Runs a body once per block of a layout that this rank owns, in rising order: the one for the
// block's extent. The k-th owned block has instance k of the buffers with a stride.
struct BlocksNode {
  struct Body {
    int64_t extent = 0;
    std::vector<Node> body;
  };
  Layout layout;
  std::vector<Body> bodies;
};

// How a server combines what trainers push in a round.
enum class Merge : uint8_t { kMean, kSum, kEach };
// End of the pushes, of the pulls, of a trainer's step.
enum class Phase : uint8_t { kPush, kPull };

// Requests to the servers of an rpc communicator. `layout`: of the table on the servers' mesh, by
// which a rank cuts what it pushes and puts together what it pulls.
struct PushNode {
  int comm = 0, from = 0;
  std::string table;
  Merge merge = Merge::kMean;
  std::optional<Layout> layout;
  int changed = 0;  // 1: of a dense change, the rows that are not zero
  int at_once = 0;  // 1: waits in no queue, and is merged with no other
};
struct PullNode {
  int comm = 0, to = 0;
  std::string table;
  std::optional<Layout> layout;
  int changed = 0;  // 1: the rows that others have changed since; `to` holds the others
};
struct LookupNode {
  int comm = 0, ids = 0, to = 0;
  std::string table;
  std::optional<Layout> layout;
  std::vector<int64_t> padding = {};  // ids, one at most, whose rows are zero and not asked for
};
struct PhaseNode {
  Phase phase = Phase::kPush;
  int comm = 0;
};
// On a server, in a round: what the trainers have pushed for (this block of) the table, combined in
// the order of their ranks. `pulled` 1, where pushes are applied one by one: (this block of) the
// table as the trainer that has pushed has pulled it last.
struct MergedNode {
  std::string table;
  int to = 0;
  int pulled = 0;
};

struct Node {
  std::string op;  // source position
  std::variant<KernelNode, CallNode, CopyNode, StartNode, WaitNode, IfNode, WhileNode, AtNode,
               CoordNode, SliceNode, DrawNode, MicroNode, BlocksNode, PushNode, PullNode,
               LookupNode, PhaseNode, MergedNode>
      what;

  template <typename Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&what);
  }
};

// kGroup: collectives among all members; kPairs: sends and receives between them (rank in the group
// = coordinate on the one axis); kRpc: requests to the ranks of another role.
enum class CommKind : uint8_t { kGroup, kPairs, kRpc };

// A communicator: the launcher makes one group of every set of ranks that differ along `axes` only.
// Ranks outside of `subset` are no members.
// kRpc: how gradients of a rank wait and travel where servers apply every push by itself
// (docs/parameter-server.md, Queues). As the framework's communicator calls it, and by its
// defaults.
struct Sending {
  int64_t max_merge_var_num = 1;              // gradients of a variable that become one push
  int64_t send_queue_size = 16;               // that wait, of a variable
  int64_t send_wait_times = 1;                // of 10 ms, for more to merge
  int64_t thread_pool_size = 1;               // that merge
  int64_t min_send_grad_num_before_recv = 1;  // gradients between two pulls
  int independent_recv_thread = 0;            // 1: pulls, and the program takes what it has pulled
  int average = 0;                            // 1: what is merged is averaged, else summed
  bool operator==(const Sending&) const = default;
};

// geo-SGD, kRpc: trainers exchange with the servers in steps after which this variable is a
// multiple of `every`.
struct Exchange {
  std::string counter;
  int64_t every = 1;
};

struct PlanComm {
  std::string name;
  std::vector<std::string> axes;
  CommKind kind = CommKind::kGroup;
  Selector subset = {};
  std::string server = {};  // kRpc: the role that answers
  std::optional<Sending> sending = {};
  std::optional<Exchange> exchange = {};
};

// When a program runs: once before the first step where variables have no values yet; in every
// step; on a server when all trainers have pushed (kRound), or when a request for its table comes.
enum class When : uint8_t { kStartup, kStep, kRound, kPush, kPull, kLookup };

struct Program {
  std::string name;
  When when = When::kStep;
  std::string table = {};           // kPush, kPull, kLookup
  std::vector<int> arguments = {};  // of a handler: buffers that get what arrives
  std::vector<FeedSlot> feeds;
  std::vector<FetchSlot> fetches;
  std::vector<Node> body;
};

// What kernels were compiled for.
struct PlanTarget {
  std::string cpu, features;
  std::string device = "cpu";  // of the ranks
};

struct Plan {
  std::string folder;  // that it was read from; not written
  std::string role, class_name, digest;
  PlanTarget target;
  std::string library;  // empty: no generated kernel
  std::vector<PlanComm> comms;
  int64_t arena_bytes = 0, persistent_bytes = 0;
  int64_t pinned_bytes = 0;  // of the arena of pinned memory
  std::vector<Buffer> buffers;
  std::vector<Persistable> persistables;
  std::vector<Program> programs;

  // Null where there is none of that kind. A plan that was read has a program of every step, or is
  // a server's and has none.
  const Program* find(When when, const std::string& table = "") const;
  const Program& step() const { return *find(When::kStep); }
  // The program that takes feeds and gives fetches once per step: of a server its round. Null where
  // a server only answers requests.
  const Program* repeated() const { return find(serves() ? When::kRound : When::kStep); }
  const Program* startup() const { return find(When::kStartup); }
  bool serves() const { return find(When::kStep) == nullptr; }
  int64_t ConstantBytes() const;
};

// Reads FOLDER/plan.json. kInvalidArgument names file and place: another version of the schema or
// of the kernels' ABI, unknown or missing fields, ids, offsets or extents out of range, sizes that
// disagree, tickets that are not waited for exactly once in the body that starts them.
absl::StatusOr<Plan> ReadPlan(const std::string& folder);
absl::StatusOr<Plan> ParsePlan(const std::string& name, const std::string& text);

// The text of plan.json. kInvalidArgument where a name is no UTF-8.
absl::StatusOr<std::string> WritePlan(const Plan& plan);

}  // namespace dtranspile::exec
