// A compiled class of ranks as the runtime sees it: plan.json of docs/file-formats.md, read and
// checked. Written by the compiler's artifact phase, run by the executor (executor.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/dtype.h"
#include "runtime/comm/communicator.h"
#include "runtime/exec/value.h"

namespace dtranspile::exec {

// kValue: extents, LoD or rows are known only while a step runs (value.h).
enum class Space { kArena, kPersistent, kConstant, kValue };

struct Buffer {
  std::string name;
  Space space = Space::kArena;
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
};

// A kernel whose extents are known only when it runs.
struct UnknownExtents {
  struct Product {
    int64_t factor = 1;
    std::vector<int> unknowns;  // times these
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
  bool is_split = false;
  Split split;
};

struct FetchSlot {
  std::string name;
  int buffer = 0;
  std::string combine;
};

struct Node {
  enum class Kind { kKernel, kCall, kCopy, kStart, kWait, kIf, kWhile };
  Kind kind = Kind::kCopy;
  std::string op;
  std::string callee;                       // kKernel, kCall
  std::vector<int> args;                    // kKernel, kCall; kCopy: from, to
  int64_t rows = 0, grain = 1;              // kKernel
  std::shared_ptr<UnknownExtents> unknown;  // kKernel; null: all extents are fixed
  std::vector<int64_t> ints;                // kCall
  std::vector<double> reals;                // kCall
  std::vector<std::string> strings;         // kCall
  std::vector<int32_t>
      slots;  // kCall of an op slot by slot: bounds of the slots in args; empty for other calls
  struct Attribute {
    char kind;  // 'i', 'r', 's': the next `count` of ints, reals, strings
    int32_t count;
  };
  std::vector<Attribute> attributes;             // kCall with slots
  comm::Kind collective = comm::Kind::kBarrier;  // kStart, and the following four
  comm::ReduceOp reduce = comm::ReduceOp::kSum;
  int comm = 0, root = 0;
  std::vector<int> inputs, outputs;   // kCall: `outputs` are positions in args that are written
  int64_t ticket = 0;                 // kStart, kWait
  int condition = 0;                  // kIf, kWhile
  int64_t limit = 0;                  // kWhile: turns
  std::vector<Node> body, otherwise;  // kIf: then, else; kWhile: body
};

// A communicator: the launcher makes one group of every set of ranks that differ along `axes` only.
struct PlanComm {
  std::string name;
  std::vector<std::string> axes;
};

struct Program {
  std::vector<FeedSlot> feeds;
  std::vector<FetchSlot> fetches;
  std::vector<Node> body;
};

struct Plan {
  std::string folder, class_name, digest;
  std::string cpu, features;  // what kernels were compiled for
  std::string library;        // empty: no generated kernel
  std::vector<PlanComm> comms;
  int64_t arena_bytes = 0, persistent_bytes = 0, constant_bytes = 0;
  std::vector<Buffer> buffers;
  std::vector<Persistable> persistables;
  bool has_startup = false;
  Program startup, main;
};

// Reads FOLDER/plan.json. kInvalidArgument names file and place: unknown or missing keys, ids,
// offsets or extents out of range, sizes that disagree, tickets that are not waited for exactly
// once in the body that starts them.
absl::StatusOr<Plan> ReadPlan(const std::string& folder);
absl::StatusOr<Plan> ParsePlan(const std::string& name, const std::string& text);

}  // namespace dtranspile::exec
