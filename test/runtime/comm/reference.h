// Runs one operation with made-up data and compares what came out with a reference computed from
// all ranks' inputs by the plain definition of the operation. Used by the conformance suite.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/comm/shared_memory.h"

namespace dtranspile::comm::test {

struct Trial {
  Kind kind = Kind::kAllReduce;
  DType dtype = DType::kFloat32;
  ReduceOp reduce = ReduceOp::kSum;
  int root = 0;
  std::vector<int64_t> counts = {1};  // per piece; of the smaller of input and output
  bool in_place = false;              // all_reduce only
  bool fractions = false;             // float values whose sum depends on the order
  int seed = 0;
  bool shared = false;  // buffers in one block of memory that ranks can share
  bool skewed = false;  // and at other offsets on every rank
};

// Owns the memory of a trial's buffers, each with a guard after it.
class TrialRun {
 public:
  TrialRun(const Trial& trial, int rank, int size);

  // Request of this rank. Send and receive go round the ring: to `rank + 1`, from `rank - 1`.
  Request MakeRequest() const;

  // "" if outputs are right bit for bit and nothing else was written.
  std::string Check() const;

 private:
  using Bytes = std::vector<unsigned char>;
  int64_t InputCount(int64_t count) const;
  int64_t OutputCount(int64_t count) const;
  Bytes InputOf(int rank, size_t piece) const;
  Bytes Expected(size_t piece) const;

  const Trial trial_;
  unsigned char* PlaceInBlock(Bytes& bytes) const;

  const int rank_, size_;
  mutable std::vector<Bytes> inputs_, outputs_;
  mutable SharedMemory block_;
  mutable size_t block_used_ = 0;
  mutable std::map<Bytes*, unsigned char*> in_block_;
};

// Runs the trial and checks it. Send and receive trials run both, started together.
std::string RunTrial(Communicator& comm, const Trial& trial);

std::string Describe(const Trial& trial);

}  // namespace dtranspile::comm::test
