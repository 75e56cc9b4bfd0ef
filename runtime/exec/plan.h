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

// Where a buffer's bytes are. The CPU executor has host memory only and refuses others by name.
enum class Memory : uint8_t { kHost, kDevice, kPinned };

struct Buffer {
  std::string name;
  Space space = Space::kArena;
  Memory memory = Memory::kHost;
  int64_t offset = 0;  // in its block, a multiple of 64
  int64_t bytes = 0;
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
  std::vector<bool> written;   // per argument: gets its extents here; the others must have them
  std::vector<Product> table;  // what the kernel is given behind its arguments
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
};

struct Node;

// A generated kernel over rows [0, rows).
struct KernelNode {
  std::string symbol;
  std::vector<int> args;
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
  std::vector<int> written;        // positions in args, where the runtime has to know
  std::vector<int32_t> slots;      // of an op slot by slot: bounds of the slots in args; else empty
  std::vector<std::string> attrs;  // of an op slot by slot: kind and number of values, "i1"
  std::vector<int64_t> ints;
  std::vector<double> reals;
  std::vector<std::string> strings;

  std::vector<Attribute> attributes() const;  // `attrs`, read
};

struct CopyNode {
  int from = 0, to = 0;  // of equal size
};

// Begins an operation between ranks. A ticket is started once in a program, and waited for once,
// later in the same body.
struct StartNode {
  comm::Kind collective = comm::Kind::kBarrier;
  comm::ReduceOp reduce = comm::ReduceOp::kSum;
  int comm = 0, root = 0;
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

struct Node {
  std::string op;  // source position
  std::variant<KernelNode, CallNode, CopyNode, StartNode, WaitNode, IfNode, WhileNode> what;

  template <typename Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&what);
  }
};

// A communicator: the launcher makes one group of every set of ranks that differ along `axes` only.
struct PlanComm {
  std::string name;
  std::vector<std::string> axes;
};

// When a program runs: once before the first step where variables have no values yet, or in every
// step.
enum class When : uint8_t { kStartup, kStep };

struct Program {
  std::string name;
  When when = When::kStep;
  std::vector<FeedSlot> feeds;
  std::vector<FetchSlot> fetches;
  std::vector<Node> body;
};

// What kernels were compiled for.
struct PlanTarget {
  std::string cpu, features;
};

struct Plan {
  std::string folder;  // that it was read from; not written
  std::string class_name, digest;
  PlanTarget target;
  std::string library;  // empty: no generated kernel
  std::vector<PlanComm> comms;
  int64_t arena_bytes = 0, persistent_bytes = 0;
  std::vector<Buffer> buffers;
  std::vector<Persistable> persistables;
  std::vector<Program> programs;

  // The program of every step: a plan that was read has one. Null where there is no start-up.
  const Program& step() const;
  const Program* startup() const;
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
