// What every block of a program reads and writes of the others: the interface of the region that it
// becomes. The slot lists of block ops are not trusted; the lists are computed from the ops inside
// (docs/dialects/pd.md, "Block ops"). Called by import.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/import/wire.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace dtranspile {

struct BlockInterface {
  llvm::SetVector<Name> captures;  // outer names, in order of appearance
  llvm::SetVector<Name> locals;    // own or forward names read before they are written
  llvm::SetVector<Name> written;   // captures that the block writes
  llvm::SetVector<Name>
      saved;  // own names (and captures of the forward block) that somebody outside asks for
  llvm::DenseSet<Name>
      snapshots;  // written captures of which a loop keeps the value at the beginning of every turn
  llvm::SmallDenseMap<Name, bool, 8> readFirst;  // per capture: is its value at entry read?
};

// Why a program is refused: at an op where `op` is not negative.
struct BlockError {
  int block = 0, op = -1;
  std::string message;  // empty: no error
};

class BlockAnalysis {
 public:
  BlockAnalysis(const WireProgram& program, const Budget& budget);

  // Computes all interfaces; false with `error` on an illegal structure (program-level rules:
  // indices, parents, cycles, depth).
  bool run();
  BlockError error;

  const BlockInterface& interface(int block) const { return interfaces_[block]; }

  // The blocks that an op owns, in the order of its attributes: it is the first op to refer to
  // them.
  llvm::ArrayRef<int> owned(int block, int op) const;

  // Blocks that no op refers to, ascending.
  std::vector<int> orphans() const;

  // The declaration that a name resolves to from `block`, looking outwards; null if there is none.
  // `at` receives its block.
  const WireVar* resolve(int block, Name name, int* at = nullptr) const;
  bool isPersistable(int block, Name name) const;

 private:
  enum class State { New, Running, Done };

  bool checkStructure();
  bool claimBlocks();
  bool claim(int block, int op);
  bool checkContainment();
  bool analyze(int block, int depth);
  void read(int block, Name name, bool strong);
  void write(int block, Name name);
  int forwardOf(int block) const;
  bool isOwn(int block, Name name) const;
  bool comesFromTape(int block, Name name) const;
  bool collectSnapshots(int block);
  bool visitOp(int block, int index, int depth);
  bool spend(int block, size_t names);
  bool collectSaved();
  bool collectWanted(int block, int index, std::vector<llvm::SetVector<Name>>& wanted);
  bool fail(int block, int op, std::string message);

  const WireProgram& program_;
  const Budget& budget_;
  int64_t spent_ = 0;
  std::vector<BlockInterface> interfaces_;
  std::vector<State> states_;
  std::vector<int> owner_, ownerOp_;  // block that holds the owning op; -1: orphan
  std::vector<llvm::DenseMap<Name, const WireVar*>> declared_;
  std::vector<llvm::DenseMap<Name, bool>>
      seen_;  // own names written so far (true) or read first (false); of sub-blocks only
  llvm::DenseMap<llvm::StringRef, Name> nameIndex_;
  std::map<std::pair<int, int>, std::vector<int>> owned_;
};

}  // namespace dtranspile
