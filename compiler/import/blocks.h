// What every block of a program reads and writes of the others: the interface of the region that it becomes. The slot lists of
// block ops are not trusted; the lists are computed from the ops inside (docs/dialects/pd.md, "Block ops"). Called by import.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/import/framework.pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace dtranspile {

// Names point into the ProgramDesc.
struct BlockInterface {
  llvm::SetVector<llvm::StringRef> captures;  // outer names, in order of appearance
  llvm::SetVector<llvm::StringRef> locals;    // own or forward names read before they are written
  llvm::SetVector<llvm::StringRef> written;   // captures that the block writes
  llvm::SetVector<llvm::StringRef> saved;     // own names (and captures of the forward block) that somebody outside asks for
  llvm::SmallDenseMap<llvm::StringRef, bool, 8> readFirst;  // per capture: is its value at entry read?
};

class BlockAnalysis {
 public:
  explicit BlockAnalysis(const framework::ProgramDesc& program);

  // Computes all interfaces; false with `error` on an illegal structure (program-level rules: indices, parents, cycles).
  bool run();
  std::string error;

  const BlockInterface& interface(int block) const { return interfaces_[block]; }

  // The blocks that an op owns, in the order of its attributes: it is the first op to refer to them.
  llvm::ArrayRef<int> owned(int block, int op) const;

  // Blocks that no op refers to, ascending.
  std::vector<int> orphans() const;

  // The declaration that a name resolves to from `block`, looking outwards; null if there is none. `at` receives its block.
  const framework::VarDesc* resolve(int block, llvm::StringRef name, int* at = nullptr) const;
  bool isPersistable(int block, llvm::StringRef name) const;

 private:
  enum class State { New, Running, Done };

  bool checkStructure();
  bool claimBlocks();
  bool analyze(int block);
  void read(int block, llvm::StringRef name, bool strong);
  void write(int block, llvm::StringRef name);
  int forwardOf(int block) const;
  bool isOwn(int block, llvm::StringRef name) const;
  bool comesFromTape(int block, llvm::StringRef name) const;
  bool visitOp(int block, int index);
  void collectSaved();

  const framework::ProgramDesc& program_;
  std::vector<BlockInterface> interfaces_;
  std::vector<State> states_;
  std::vector<int> owner_;  // block that holds the owning op; -1: orphan
  std::vector<llvm::StringMap<int>> declared_;
  std::vector<llvm::DenseMap<llvm::StringRef, bool>> seen_;  // own names written so far (true) or read first (false)
  std::map<std::pair<int, int>, std::vector<int>> owned_;
};

}  // namespace dtranspile
