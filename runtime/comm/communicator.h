// One communicator: a fixed group of ranks that exchange buffers. The interface that every back end
// (shared memory, Gloo, NCCL) implements and the conformance suite (test/runtime/comm) tests; the
// executor (runtime/exec) is its only caller.
//
// Order: collectives of one communicator are matched by their number of start, first with first on
// every rank. Sends to a rank are matched in that way with the receives of that rank from the
// sender; a send waits for its receive whatever its size, but holds up neither collectives nor
// transfers of other ordered pairs. Different communicators are independent. All of them progress
// while a thread waits for one. Results of reductions have the same bits on every rank, from run to
// run and with every back end of the host: the contributions are combined in the order of the
// ranks, 16-bit floats in float32 with one rounding at the end. Errors: a started operation whose
// peers do not arrive before the deadline, or differ in kind, element type, count, root or
// reduction, ends with a status that names the label, the rank waited for and what differed; the
// communicator is unusable afterwards, on all ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/dtype.h"

namespace dtranspile::comm {

enum class Kind {
  kAllReduce,      // inputs[i] and outputs[i] of equal counts; may be the same memory
  kReduce,         // as all_reduce; outputs are written on the root only
  kBroadcast,      // inputs on the root, outputs on every rank
  kAllGather,      // outputs[i].count == size() * inputs[i].count, in rank order
  kReduceScatter,  // inputs[i].count == size() * outputs[i].count
  kAllToAll,       // equal counts, a multiple of size(); part j of the input goes to rank j
  kSend,           // inputs go to `peer`
  kRecv,           // outputs come from `peer`
  kBarrier,        // no buffers
};

// Bool reduces as logic (sum, max, or: any; min, prod: all). Or is for bool and integers, min and
// max not for complex.
enum class ReduceOp { kSum, kMax, kMin, kProd, kOr };

// "all_reduce", "sum" …
const char* NameOf(Kind kind);
const char* NameOf(ReduceOp reduce);

// A contiguous run of `count` elements. An operation takes a list of them and treats the list as
// one buffer (a bucket), element lists of peers having equal counts; no copy into a flat buffer is
// asked of the caller.
struct Segment {
  void* data = nullptr;
  int64_t count = 0;
};

struct Request {
  Kind kind = Kind::kBarrier;
  DType dtype = DType::kFloat32;
  ReduceOp reduce = ReduceOp::kSum;
  int peer = 0;  // root of kReduce/kBroadcast, other side of kSend/kRecv
  std::vector<Segment> inputs;
  std::vector<Segment> outputs;
  std::string label;  // what a message calls it: op and source position
};

// A started operation; 0 is none.
using Ticket = uint64_t;

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const char* backend() const = 0;

  // Starts an operation; the buffers must stay alive and unused until Wait returns. Never blocks on
  // a peer.
  virtual absl::StatusOr<Ticket> Start(Request request) = 0;

  // Blocks until the operation has completed on this rank, or nothing of it has moved for the
  // deadline while a caller waited. Once per ticket.
  virtual absl::Status Wait(Ticket ticket) = 0;

  // Start and Wait in one. The cheapest way to block: the calling thread does the work itself.
  virtual absl::Status Run(Request request) = 0;

  // Bytes of payload that this rank has handed to, and taken from, other ranks so far.
  virtual int64_t bytes_sent() const = 0;
  virtual int64_t bytes_received() const = 0;

  // Makes every pending and later operation of all ranks of the group fail soon with `why`. Safe
  // from any thread.
  virtual void Abort(const std::string& why) = 0;
};

// What a rank needs to join its groups. The launcher makes one per job and hands it to every rank.
struct Rendezvous {
  std::string backend = "shm";  // "shm", "gloo", "nccl"
  std::string
      job;  // unique per job on a host: names of shared-memory segments and stores derive from it
  std::string
      store;  // gloo, nccl: "host:port" of the store; shm: folder for segments ("" = /dev/shm)
  std::string interface;        // gloo: network interface or address to bind ("" = loopback)
  std::string token;            // gloo, nccl: what members prove to each other (token.h)
  double timeout_seconds = 60;  // deadline of every wait
};

// Joins group `name` (equal on all members) as `rank` of `size`; blocks until all members are there
// or the deadline passes.
absl::StatusOr<std::unique_ptr<Communicator>> Join(const Rendezvous& rendezvous,
                                                   const std::string& name, int rank, int size);

}  // namespace dtranspile::comm
