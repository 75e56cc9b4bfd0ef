// Ops that own blocks, to loop and branch nodes of the plan: while, conditional_block, recurrent
// and their gradients. Called by program_lowering.cc; the regions are described in
// docs/dialects/pd.md, "Block ops", what becomes of them in docs/lowering.md.
//
// Loop-carried values have one buffer, copied into before the loop and at the end of every turn;
// lists are updated in place. The tape is a list per saved value: the forward loop pushes at the
// end of a turn, the gradient loop pops at the beginning; the tape of a block within a loop is
// pushed likewise, list by list. Gradients of what every turn reads are summed over the turns.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/lower/lowering.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::lower {

// Whether the op type is lowered here.
bool isBlockOp(llvm::StringRef type);

// Whether the op type runs natively: it has a rule (rules.h), or it is lowered here. What
// `dtranspile ops` and the tests ask.
bool isNative(llvm::StringRef type);

class BlockLowering {
 public:
  BlockLowering(Lowering& program, pd::OpView op);
  llvm::LogicalResult run();

 private:
  // block_lowering.cc: branches; loop_lowering.cc: while; recurrent_lowering.cc: recurrent.
  llvm::LogicalResult lowerBranch();
  llvm::LogicalResult lowerBranchGrad();
  llvm::LogicalResult lowerWhile();
  llvm::LogicalResult lowerWhileGrad();
  llvm::LogicalResult lowerRecurrent();
  llvm::LogicalResult lowerRecurrentGrad();

  // The region. Names are those of the four lists captures, locals, written, saved.
  mlir::Block& block() const;
  const std::vector<std::string>& names(llvm::StringRef list) const;
  bool isWritten(llvm::StringRef name) const { return written_.contains(name); }
  mlir::Value argument(llvm::StringRef name) const;  // of the region; null
  mlir::Value inside(
      llvm::StringRef name) const;  // the last value of that name in the region; null
  mlir::Value gradientInside(mlir::Value forward, llvm::StringRef result) const;

  // Buffers.
  pd::TensorInfo& info(mlir::Value value) const;
  int bufferOf(mlir::Value value) const;
  int fresh(llvm::StringRef name, const pd::TensorInfo& info) const;
  int flag() const;     // a bool of one element
  int counter() const;  // an int64 of one element
  int list(llvm::StringRef name) const;
  bool isList(mlir::Value value) const { return info(value).kind == pd::Kind::TensorArray; }
  void bind(mlir::Value value, int buffer, pd::TensorInfo info);
  void bindCaptures();
  llvm::LogicalResult merge(pd::TensorInfo& into, const pd::TensorInfo& other, llvm::StringRef name,
                            bool& changed) const;

  // Nodes.
  void call(llvm::StringRef function, const std::vector<int>& inputs,
            const std::vector<int>& outputs, const std::vector<int64_t>& ints = {});
  void callOnList(llvm::StringRef function, const std::vector<int>& inputs, int output);
  void addBranch(int condition, std::vector<Node> then, std::vector<Node> otherwise);
  void addLoop(int condition, std::vector<Node> body);
  using Part = llvm::function_ref<llvm::LogicalResult()>;
  llvm::LogicalResult lowerBody(std::vector<Node>& body, Part before, Part after);

  // Values that turns hand on.
  struct Carried {
    std::string name;
    mlir::Value initial;   // null: none, or nobody has written it
    mlir::Value argument;  // of the region
    pd::TensorInfo info;
    int buffer = -1;
    std::string next;  // name of the value handed on; empty: `name`
  };
  void addCaptured(std::vector<Carried>& carried);
  llvm::LogicalResult lowerTurns(std::vector<Carried>& carried, std::vector<Node>& body,
                                 Part before, Part after);
  void recall(std::vector<Carried>& carried) const;
  llvm::LogicalResult widen(std::vector<Carried>& carried, bool& changed);
  void bindArguments(std::vector<Carried>& carried);
  void bindCarried(const std::vector<Carried>& carried, mlir::ValueRange results);
  void initialise(const std::vector<Carried>& carried);
  void moveCarried(const std::vector<Carried>& carried);

  // block_tape.cc
  bool isTapeRead(llvm::StringRef slot) const;
  Tape savedNow();
  Tape pushTape(Tape now);
  void clearTape(Tape& lists);
  std::optional<Tape> tapeOf(llvm::StringRef slot) const;
  Tape popTape(Tape lists);
  void bindLocals(const Tape& tape);

  // Sums over turns: a buffer that starts as zeros like the forward value.
  struct Sum {
    mlir::Value result, forward, value;
    int buffer = -1;
  };
  llvm::LogicalResult findSums(llvm::StringRef forwardSlot, llvm::StringRef resultSlot,
                               const std::vector<Carried>& carried, std::vector<Sum>& sums);
  void startSums(std::vector<Sum>& sums);
  void addSums(const std::vector<Sum>& sums);
  void finishSums(const std::vector<Sum>& sums);

  // A gradient loop: while `more`, a turn gets what it reads from `lists`; gradients of `slot` are
  // summed. `begin` goes before the loop.
  llvm::LogicalResult lowerGradientLoop(const char* slot, const Tape& lists,
                                        std::vector<Carried>& carried, int more, Part before,
                                        Part after, Part begin);

  int branchCondition();
  bool losesGradient(mlir::Value forward) const;
  llvm::LogicalResult unsupported(const llvm::Twine& what) const;

  Lowering& program_;
  pd::OpView op_;
  llvm::StringSet<> written_;
  // Of the region: its lists of names, its arguments and its last results by name.
  llvm::StringMap<std::vector<std::string>> names_;
  llvm::StringMap<mlir::Value> arguments_, inside_;
};

}  // namespace dtranspile::lower
