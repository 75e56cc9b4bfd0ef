// Writes the program @main of a server: internal to this folder. Two files: round.cc (variables,
// listen_and_serv, its blocks), round_ops.cc (operations of the round inside of a block).
#pragma once

#include "compiler/export/servers/round_plan.h"
#include "dialects/pd/declarations.h"
#include "mlir/IR/IRMapping.h"

namespace dtranspile {

class RoundWriter {
 public:
  RoundWriter(pd::ProgramOp main, const RoundPlan& plan, const Tables& tables, int64_t server,
              mlir::Location loc)
      : main_(main),
        plan_(plan),
        tables_(tables),
        server_(server),
        loc_(loc),
        builder_(mlir::OpBuilder::atBlockEnd(main.getBodyBlock())) {}
  mlir::LogicalResult run();

 private:
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }
  mlir::NamedAttribute number(llvm::StringRef name, int64_t value) {
    return named(name, builder_.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  mlir::Block* top() { return main_.getBodyBlock(); }
  mlir::FlatSymbolRefAttr symbol(llvm::StringRef name) {
    return mlir::FlatSymbolRefAttr::get(builder_.getContext(), name);
  }
  void declare(llvm::StringRef name, mlir::Type type, bool persistable) {
    declarations_.declare(top(), name, type);
    declarations_.find(top(), name).setPersistable(persistable);
  }
  void declareVariables();
  void addVariable(llvm::StringRef name, mlir::Type type);

  // What trainers send, and what it is merged into.
  void receiveGradients();
  void makeServer();
  mlir::LogicalResult writePart(size_t number, int parent);
  void writeEmpty();
  void endBlock(int parent);

  // The value of the round where this block can take it.
  mlir::Value use(mlir::Value value);
  // Whether a block after this one takes a value.
  bool crosses(mlir::Value value);
  // Leaves a value to later blocks, in a variable of its own.
  void keep(mlir::Value original, mlir::Value here);
  mlir::LogicalResult writeOp(mlir::Operation* op, const Block* block);
  // A cut variable has no meaning outside of the loops over its blocks.
  mlir::LogicalResult checkWholes(mlir::Operation* op);
  // The block of another variable that goes with one of the loop; null after a message.
  const Block* blockOf(mlir::Operation* op, const Table& table, const Block& block);
  mlir::LogicalResult writeGet(pd::GetOp get, const Block* block);
  mlir::LogicalResult writeSet(pd::SetOp set, const Block* block);
  size_t partOf(mlir::Operation* op);
  // What has been read of a variable before `at` sets it stays what it is, here and in later
  // blocks.
  void keepOlder(llvm::StringRef name, mlir::Operation* at);
  // Σ over trainers in the order of their ranks, times 1/N for a mean.
  mlir::LogicalResult writeMerged(dist::MergedOp merged, const Block* block);
  mlir::Value capture(const std::string& name, mlir::Type type);
  // Its body, once for each block of the server.
  mlir::LogicalResult writeLoop(dist::ForeachBlockOp loop);
  mlir::Value constant(mlir::Location loc, int64_t value);
  // Names, types and numbers of blocks as they are on this server.
  void finishCopy(mlir::Operation* original, mlir::Operation* copy, const Block* block);
  static void giveRows(mlir::Operation* op, int64_t rows);
  static bool isSetBehind(mlir::Operation* op, llvm::StringRef name);
  // Results are variables of the server, where they go there; else they have a name that no other
  // block has, for all blocks run in one scope.
  std::string nameHere(mlir::Operation* original, llvm::StringRef name, const Block* block);
  // Blocks of control flow are numbered after the block that they stand in.
  void renumber(mlir::Operation* op, int parent);
  // The schedule of the learning rate is the first block, where that runs alone.
  int scheduleBlock();
  void finishServer();

  pd::ProgramOp main_;
  const RoundPlan& plan_;
  const Tables& tables_;
  int64_t server_;
  mlir::Location loc_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  mlir::Operation* server_op_ = nullptr;
  std::vector<mlir::Value> received_;
  llvm::StringMap<mlir::Value> receivedByName_;
  llvm::DenseMap<mlir::Operation*, size_t> partOf_;
  size_t part_ = 0;                                // the block that is written, among the plan's
  int index_ = 0, nextIndex_ = 1;                  // its number in the program, and the next one
  mlir::IRMapping map_;                            // values of the round in this block
  llvm::DenseMap<mlir::Value, std::string> kept_;  // variables that hand values to later blocks
  llvm::StringSet<> handedOn_;                     // of them, those that ops of the round write
  llvm::StringMap<size_t> ownerOfName_;            // of names that are no variables
  std::vector<std::vector<std::pair<std::string, mlir::Value>>> captured_;
  llvm::SmallVector<mlir::Attribute> described_;
  llvm::SmallVector<int32_t> optimizeBlocks_;
  std::vector<std::string> gradientBlocks_, rowGradients_;
};

}  // namespace dtranspile
