// What the parts of the lowering of one program share: the buffer of every value, where nodes go,
// what is needed, operations under way. The parts (program_lowering.h, op_lowering.h,
// block_lowering.h, dist_lowering.h) see a program through it and no other part.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/needed.h"
#include "compiler/lower/plan.h"
#include "compiler/lower/tape.h"
#include "compiler/lower/value_infos.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::lower {

struct LoweringRequest {
  std::map<std::string, std::vector<int64_t>>
      feedDims;                      // concrete dims of feeds, where the program says -1
  std::vector<std::string> fetches;  // variables to report, in this order
  std::map<std::string, FeedSplit> splits;
  std::map<std::string, std::string> combine;  // of fetches; "same" where not said
  // The program of the role in the job, with all stages: what a stage receives has the extents that
  // it has there. Null where types say them. feedDims are then those of all its feeds.
  pd::ProgramOp whole = {};
  bool startup = false;  // draws without a seed go on from op to op, as the framework's do
  bool mendDefects =
      false;  // formulas where the framework's kernels depart from them (docs/operators/defects.md)
};

// Persistables of the plan by symbol.
using Variables = llvm::StringMap<size_t>;

class Lowering {
 public:
  Lowering(Plan& plan, const Variables& variables, pd::ProgramOp program,
           const LoweringRequest& request)
      : plan_(plan), variables_(variables), program_(program), request_(request) {}
  virtual ~Lowering() = default;

  Plan& plan() const { return plan_; }
  Buffer& buffer(int id) const { return plan_.buffers[static_cast<size_t>(id)]; }
  pd::ProgramOp program() const { return program_; }
  const LoweringRequest& request() const { return request_; }
  PlanProgram& result() { return result_; }
  // Null where the program has no dense persistable of that name.
  const Persistable* variable(llvm::StringRef name) const;

  // Lowers one op, or the ops of a block that are needed but its terminator, to where nodes go.
  virtual llvm::LogicalResult lower(mlir::Operation& op) = 0;
  llvm::LogicalResult lowerBlock(mlir::Block& block);
  // The same for a task, whose sends are left to the node of the micro-batches.
  llvm::LogicalResult lowerTask(mlir::Block& block);

  //===--- values ---===//

  Needed& needed() { return needed_; }
  bool needed(mlir::Value value) const { return needed_.contains(value); }
  ValueInfos& infos() { return infos_; }
  pd::TensorInfo& info(mlir::Value value) { return infos_[value]; }
  const pd::TensorInfo* findInfo(mlir::Value value) const { return infos_.find(value); }
  int bufferOf(mlir::Value value);  // made on first use
  bool hasBuffer(mlir::Value value) const { return buffers_.count(value) > 0; }
  void setBuffer(mlir::Value value, int buffer) { buffers_[value] = buffer; }
  void bind(mlir::Value value, int buffer, pd::TensorInfo info);
  void bind(mlir::Value value, mlir::Value like);  // the same in the same place, with its tape
  int newBuffer(llvm::StringRef name, const pd::TensorInfo& info);
  // What was said of the values in the regions of an op, which is then lowered again.
  void forget(mlir::Operation* op);
  llvm::DenseMap<mlir::Value, Tape>& tapes() { return tapes_; }
  // What the turns of a loop hand on, as it was when the loop was lowered last.
  std::vector<pd::TensorInfo>& handedOn(mlir::Operation* loop) { return handedOn_[loop]; }

  //===--- nodes ---===//

  Node& add(Node node);
  std::vector<Node>& body() { return *body_; }
  void copy(int from, int to);
  // At once: what is overwritten and still read goes by way of a temporary.
  void copyAll(const std::vector<std::pair<int, int>>& moves);
  // A node with bodies, with the arguments of what is inside.
  void addControl(Node node);
  // Source position of the op that is being lowered.
  const std::string& position() const { return position_; }

  // Nodes go to `nodes` while this lives.
  class Into {
   public:
    Into(Lowering& lowering, std::vector<Node>& nodes)
        : lowering_(lowering), outer_(std::exchange(lowering.body_, &nodes)) {}
    ~Into() { lowering_.body_ = outer_; }
    Into(const Into&) = delete;
    Into& operator=(const Into&) = delete;

   private:
    Lowering& lowering_;
    std::vector<Node>* outer_;
  };

  // Nodes are those of an op at `position` while this lives.
  class At {
   public:
    At(Lowering& lowering, std::string position)
        : lowering_(lowering), outer_(std::exchange(lowering.position_, std::move(position))) {}
    ~At() { lowering_.position_ = std::move(outer_); }
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    Lowering& lowering_;
    std::string outer_;
  };

  //===--- operations under way ---===//

  struct Started {
    std::vector<int> tickets, buffers;  // buffers of the results, in the order of the operands
    std::vector<pd::TensorInfo> infos;
    std::vector<Node> finish;  // what is left to do when they have ended
  };
  llvm::DenseMap<mlir::Operation*, Started>& started() { return started_; }
  int newTicket() { return nextTicket_++; }
  // What the transfers of the job's program move; none until somebody has asked (transfers.h).
  std::optional<std::vector<pd::TensorInfo>>& transfers() { return transfers_; }
  // A send that the end of its block waits for.
  void addSend(int ticket) { openSends_.push_back(ticket); }

  //===--- blocks of variables ---===//

  // What a variable that is cut into blocks stands for inside of a loop over them.
  struct Block {
    const exec::Layout* layout = nullptr;
    int64_t extent = 0, instances = 1;
  };
  // Null outside of such loops.
  const Block* block() const { return block_; }
  class InBlock {
   public:
    InBlock(Lowering& lowering, const Block& block)
        : lowering_(lowering), outer_(std::exchange(lowering.block_, &block)) {}
    ~InBlock() { lowering_.block_ = outer_; }
    InBlock(const InBlock&) = delete;
    InBlock& operator=(const InBlock&) = delete;

   private:
    Lowering& lowering_;
    const Block* outer_;
  };

 private:
  llvm::LogicalResult lowerOps(mlir::Block& block, std::vector<int>& sends);

  Plan& plan_;
  const Variables& variables_;
  pd::ProgramOp program_;
  const LoweringRequest& request_;
  PlanProgram result_;
  std::vector<Node>* body_ = &result_.body;
  std::string position_;
  Needed needed_;
  ValueInfos infos_;
  llvm::DenseMap<mlir::Value, int> buffers_;
  llvm::DenseMap<mlir::Value, Tape> tapes_;  // by the tape value of the forward op
  llvm::DenseMap<mlir::Operation*, std::vector<pd::TensorInfo>> handedOn_;
  llvm::DenseMap<mlir::Operation*, Started> started_;
  int nextTicket_ = 0;
  std::vector<int> openSends_;
  std::optional<std::vector<pd::TensorInfo>> transfers_;
  const Block* block_ = nullptr;
};

// Whether a value is known only at run time in more than its elements: it is no tensor, has LoD, or
// extents of -1.
bool isRunTimeValue(const pd::TensorInfo& info);

}  // namespace dtranspile::lower
