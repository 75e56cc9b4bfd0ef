// What a page says of a job, read off its module once; the sections only lay it out.
#pragma once

#include <string>
#include <vector>

#include "compiler/artifact/job.h"
#include "compiler/specialize/specialize.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/pd.h"
#include "tools/dtranspile/page/ran.h"

namespace dtranspile::page {

// a · b, at most the largest int64_t.
int64_t product(int64_t a, int64_t b);

// Bytes of values, as far as the text of the job says them.
struct Bytes {
  int64_t fixed = 0;
  int64_t perRow = 0;   // times `?`: the local batch, of a micro-batch inside dist.micro
  bool more = false;    // of values whose extents are known by nobody before the step
  bool atMost = false;  // SelectedRows and parts of unequal size: what they have at most
  Bytes& operator+=(const Bytes& other);
  std::string text() const;  // "1.2 MiB + 128 B × ?"
  // For comparing bars: `?` counts as one.
  int64_t atLeast() const { return fixed + perRow; }
};

Bytes bytesOf(mlir::Type type);

// One operation that communicates.
struct Exchange {
  mlir::Operation* op = nullptr;
  dist::CommOp comm;
  std::string kind;  // "all_reduce sum", "broadcast", "push", without roots and ends
  std::string what;  // "all_reduce sum", "broadcast from dp = 0", "pp = 0 → pp = 1", "push, mean"
  size_t tensors = 0;
  Bytes bytes;             // of one run, times how often a step runs it
  int64_t times = 1;       // micro-batches
  bool branch = false;     // in a branch or loop of the program: not in every step, or more often
  bool started = false;    // waited for by a dist.wait
  dist::SelAttr where;     // ranks that run it
  dist::SelAttr from, to;  // ends of a transfer
};

struct ProgramFacts {
  pd::ProgramOp op;
  int64_t ops = 0;  // framework ops
  std::vector<Exchange> exchanges;
};

// Ranks that hold the same variables.
struct Place {
  dist::SelAttr where;
  int64_t ranks = 0;
  Bytes parameters, state;
  size_t count = 0;              // of the variables that do not lie everywhere
  std::vector<pd::VarOp> owned;  // the first of them
};

struct RoleFacts {
  dist::RoleOp op;
  dist::MeshOp mesh;
  std::vector<RankClass> classes;
  bool tooManyClasses = false;         // then `classes` is one that stands for all of them
  std::vector<ProgramFacts> programs;  // main first
  std::vector<Place> places;           // in order of their coordinates, the first kMostPlaces
  int64_t allPlaces = 0;               // their number; saturates
  dist::ServeOp serve;                 // of servers

  llvm::StringRef name() const { return dist::RoleOp(op).getSymName(); }
};

struct JobFacts {
  const Job& job;
  std::vector<RoleFacts> roles;  // the first kMostRoles
  size_t allRoles = 0;
  Traces traces;  // of a run of the job, where there was one

  static JobFacts of(const Job& job);
};

// What an op of the framework is for, by its role; colours are by `style`.
struct Phase {
  int bits;
  const char *name, *style;
};
const Phase& phaseOf(mlir::Operation* op);
llvm::ArrayRef<Phase> phases();

// Calls `visit` for every op of a program that ranks of `where` run, in the order of the text;
// regions after the op that they belong to.
void visitOps(pd::ProgramOp program, dist::SelAttr where,
              llvm::function_ref<void(mlir::Operation*)> visit);

// Whether some rank is in both.
bool meet(dist::SelAttr a, dist::SelAttr b);

// "pp = 0 and dp in {0 to 3}"; "all ranks".
std::string selectorText(dist::SelAttr where);

// "[dp = 2, pp = 4] time [micro = 8]".
std::string meshText(dist::MeshOp mesh);

// Bytes of a variable on one of its ranks: of parts of unequal size what a rank has at most.
Bytes bytesOf(pd::VarOp var, dist::MeshOp mesh);

// "everywhere", or its `dist.at`.
std::string ownerText(pd::VarOp var);

// "R", "dp: P(sum), scale 1/4"; the name where it is another variable's; empty where none is said.
std::string relationText(pd::VarOp var);

}  // namespace dtranspile::page
