// What feeds have to be for a program to run on them is found by following each feed forward to the
// ops that read it, through ops that move elements without changing them. The table says what an
// operand must be; of several demands the narrowest domain holds, and the lowest bound. Nothing is
// demanded of values that were computed: they are what the reference makes of the feeds, on both
// sides.
#include "compiler/verify/execution/demands.h"

#include <algorithm>
#include <limits>

#include "compiler/analysis/program_info.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {
namespace {

// Where a bound stands: an extent of an operand, or an attribute.
struct Demand {
  llvm::StringLiteral type, slot;
  Domain domain;
  llvm::StringLiteral of = "";  // operand, or attribute where there is no operand of that name
  int dim = 0;                  // extent of the operand, from the end where negative
  bool soft = false;            // with attribute soft_label it is a share of one
};

// op, slot, domain of its values, and for indices the bound: an extent of the operand in the named
// slot (dim, from the end where negative) or the attribute of that name. Real domains keep away
// from poles and borders, where rounding decides the result.
constexpr Demand kDemands[] = {
    {"lookup_table", "Ids", Domain::Index, "W", 0},
    {"lookup_table_v2", "Ids", Domain::Index, "W", 0},
    {"fused_embedding_seq_pool", "Ids", Domain::Index, "W", 0},
    {"cross_entropy", "Label", Domain::Index, "X", -1, true},
    {"cross_entropy2", "Label", Domain::Index, "X", -1, true},
    {"softmax_with_cross_entropy", "Label", Domain::Index, "Logits", -1, true},
    {"c_softmax_with_cross_entropy", "Label", Domain::Index, "Logits", -1},
    {"bpr_loss", "Label", Domain::Index, "X", -1},
    {"nll_loss", "Label", Domain::Index, "X", 1},
    {"nce", "Label", Domain::Index, "num_total_classes"},
    {"sample_logits", "Labels", Domain::Index, "Logits", -1},
    {"hierarchical_sigmoid", "Label", Domain::Index, "num_classes"},
    {"center_loss", "Label", Domain::Index, "Centers", 0},
    {"margin_cross_entropy", "Label", Domain::Index, "Logits", -1},
    {"linear_chain_crf", "Label", Domain::Index, "Emission", -1},
    {"crf_decoding", "Label", Domain::Index, "Emission", -1},
    {"warpctc", "Label", Domain::Index, "Logits", -1},
    {"sigmoid_focal_loss", "Label", Domain::Index, "X", -1},
    {"sigmoid_focal_loss", "FgNum", Domain::Count},
    {"one_hot", "X", Domain::Index, "depth"},
    {"one_hot_v2", "X", Domain::Index, "depth"},
    {"gather", "Index", Domain::Index, "X", 0},
    {"gather_nd", "Index", Domain::Index, "X", 0},
    {"scatter", "Ids", Domain::Index, "X", 0},
    {"index_sample", "Index", Domain::Index, "X", 1},
    {"index_select", "Index", Domain::Index, "X", 0},
    {"multiplex", "Ids", Domain::Binary},
    {"auc", "Label", Domain::Binary},
    {"precision_recall", "Labels", Domain::Index, "class_number"},
    {"mean_iou", "Labels", Domain::Index, "num_classes"},
    {"mean_iou", "Predictions", Domain::Index, "num_classes"},
    {"rank_loss", "Label", Domain::Binary},
    {"hinge_loss", "Labels", Domain::Binary},
    {"modified_huber_loss", "Y", Domain::Binary},
    {"log_loss", "Labels", Domain::Binary},
    {"log_loss", "Predicted", Domain::Unit},
    {"bce_loss", "Label", Domain::Binary},
    {"bce_loss", "X", Domain::Unit},
    {"sigmoid_cross_entropy_with_logits", "Label", Domain::Unit},
    {"kldiv_loss", "Target", Domain::Unit},
    {"teacher_student_sigmoid_loss", "Label", Domain::Unit},
    {"yolov3_loss", "GTBox", Domain::Unit},
    {"yolov3_loss", "GTScore", Domain::Unit},
    {"yolov3_loss", "GTLabel", Domain::Index, "class_num"},
    {"sequence_mask", "X", Domain::Count, "maxlen"},
    {"sequence_unpad", "Length", Domain::Count, "X", 1},
    {"rnn", "SequenceLength", Domain::Count, "Input", 0},
    {"log", "X", Domain::Positive},
    {"log2", "X", Domain::Positive},
    {"log10", "X", Domain::Positive},
    {"log1p", "X", Domain::Positive},
    {"sqrt", "X", Domain::Positive},
    {"rsqrt", "X", Domain::Positive},
    {"reciprocal", "X", Domain::Positive},
    {"pow", "X", Domain::Positive},
    {"elementwise_pow", "X", Domain::Positive},
    {"elementwise_div", "Y", Domain::Positive},
    {"elementwise_mod", "Y", Domain::Count},
    {"elementwise_floordiv", "Y", Domain::Count},
};

// Ops of which every result has elements of this operand only.
constexpr struct {
  llvm::StringLiteral type, slot;
} kMoves[] = {
    {"cast", "X"},
    {"assign", "X"},
    {"reshape", "X"},
    {"reshape2", "X"},
    {"squeeze", "X"},
    {"squeeze2", "X"},
    {"unsqueeze", "X"},
    {"unsqueeze2", "X"},
    {"flatten", "X"},
    {"flatten2", "X"},
    {"transpose", "X"},
    {"transpose2", "X"},
    {"slice", "Input"},
    {"strided_slice", "Input"},
    {"split", "X"},
    {"concat", "X"},
    {"stack", "X"},
    {"unstack", "X"},
    {"expand", "X"},
    {"expand_v2", "X"},
    {"expand_as", "X"},
    {"expand_as_v2", "X"},
    {"tile", "X"},
    {"gather", "X"},
    {"crop", "X"},
    {"reverse", "X"},
    {"flip", "X"},
    {"lod_reset", "X"},
    {"sequence_concat", "X"},
    {"sequence_expand", "X"},
    {"sequence_expand_as", "X"},
    {"sequence_reshape", "X"},
    {"sequence_slice", "X"},
    {"sequence_unpad", "X"},
    {"sequence_reverse", "X"},
    {"im2sequence", "X"},
    {"flatten_contiguous_range", "X"},
    {"sequence_pad", "X"},
};

// The extent or attribute that an index must stay below, as declared; a bound that is not known
// leaves index 0 only.
int64_t boundOf(const Demand& demand, const pd::OpView& op) {
  constexpr int64_t kUnknown = 1;  // an index that every tensor with elements has
  if (demand.of.empty()) return 2;
  if (mlir::Value value = op.input(demand.of)) {
    const pd::TensorInfo info = pd::declaredInfo(value.getType());
    const int64_t dim = demand.dim < 0 ? info.rank() + demand.dim : demand.dim;
    if (dim < 0 || dim >= info.rank() || info.dims[static_cast<size_t>(dim)] < 1) return kUnknown;
    return info.dims[static_cast<size_t>(dim)];
  }
  const pd::OpSpec* spec = op.spec();
  if (!spec || !spec->attribute(demand.of)) return kUnknown;
  return std::max<int64_t>(op.getInt(demand.of), kUnknown);
}

bool moves(const pd::OpView& op, llvm::StringRef slot) {
  return std::any_of(std::begin(kMoves), std::end(kMoves),
                     [&](const auto& row) { return row.type == op.type() && row.slot == slot; });
}

// Follows one feed. Values are visited once, so that this is linear in the uses of what the feed
// reaches unchanged.
class Finder {
 public:
  explicit Finder(FeedDemand& demand) : demand_(demand) {}

  // Follows a feed to the ops that read it, into the blocks of control flow too; `meet` takes the
  // demand of the op, and goes on behind ops that only move elements.
  void follow(mlir::Value value) {
    if (!seen_.insert(value).second) return;
    for (mlir::OpOperand& use : value.getUses()) {
      mlir::Operation* op = use.getOwner();
      if (!pd::OpView::isFrameworkOp(op)) continue;
      const pd::OpView view(op);
      for (const std::string& slot : view.inputSlots())
        if (llvm::is_contained(view.inputs(slot), value)) meet(view, slot);
      // Blocks take what they read as arguments, in the order of the operands.
      for (mlir::Region& region : op->getRegions())
        if (!region.empty() && region.getNumArguments() == op->getNumOperands())
          follow(region.getArgument(use.getOperandNumber()));
    }
  }

 private:
  void meet(const pd::OpView& op, llvm::StringRef slot) {
    for (const Demand& row : kDemands)
      if (row.type == op.type() && row.slot == slot) narrow(row, op);
    if (moves(op, slot))
      for (mlir::Value result : op.operation()->getResults()) follow(result);
  }

  // Later rows of Domain are narrower; of two bounds the lower one holds.
  void narrow(const Demand& row, const pd::OpView& op) {
    const bool soft = row.soft && op.getBool("soft_label");
    const Domain domain = soft ? Domain::Unit : row.domain;
    const bool bounded = domain == Domain::Index || domain == Domain::Count;
    const int64_t bound = bounded ? boundOf(row, op) : 2;
    if (bounded && bounded_) demand_.bound = std::min(demand_.bound, bound);
    else if (bounded) demand_.bound = bound;
    bounded_ |= bounded;
    demand_.domain = std::max(demand_.domain, domain);
  }

  FeedDemand& demand_;
  bool bounded_ = false;
  llvm::DenseSet<mlir::Value> seen_;
};

}  // namespace

// One entry per feed, in the order of the program: element type, declared dims (-1 for those that a
// run chooses), levels of sequences, and what its values must be.
std::vector<FeedDemand> demandsOn(pd::ProgramOp program) {
  std::vector<FeedDemand> demands;
  for (pd::InputOp input : inputsOf(program)) {
    const pd::TensorInfo info = pd::declaredInfo(input.getValue().getType());
    FeedDemand& demand = demands.emplace_back();
    demand.name = input.getName().str();
    demand.dtype = info.dtype;
    demand.dims.assign(info.dims.begin(), info.dims.end());
    demand.lodLevel = info.lodLevel;
    Finder(demand).follow(input.getValue());
  }
  return demands;
}

}  // namespace dtranspile::verify
