// Inference and constraints of operators on sequences, tensor arrays and recurrent cells. Rows:
// sequence.cc, tensor_array.cc, recurrent.cc, control_flow.cc.
#include "dialects/pd/ops/infer_sequence.h"

#include "dialects/pd/ops/declared.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::pd {
namespace {

Dims withRows(DimsRef dims, int64_t rows) {
  Dims result(dims.begin(), dims.end());
  if (!result.empty()) result[0] = rows;
  return result;
}

Dims withColumns(DimsRef dims, int64_t columns) { return {dims.empty() ? -1 : dims[0], columns}; }

TensorInfo ofKind(TensorInfo info, Kind kind) {
  info.kind = kind;
  return info;
}

int64_t columnsOf(const TensorInfo& info) { return info.rank() == 2 ? info.dims[1] : -1; }

// Multiple of D that the gates of a cell take: the input has `gates` · D columns.
int64_t hiddenSize(const TensorInfo& weight) { return weight.dims.empty() ? -1 : weight.dims[0]; }

}  // namespace

// A row per sequence: how many there are is not known, and the last level of LoD is gone.
llvm::LogicalResult inferSequencePool(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  TensorInfo out = withDims(*x, withRows(x->dims, -1));
  out.lodLevel = std::max(0, x->lodLevel - 1);
  c.out("Out", out);
  out.dtype = DType::kInt32;
  c.out("MaxIndex", withoutLod(out));
  return llvm::success();
}

llvm::LogicalResult inferSequenceConv(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *filter = require(c, "Filter");
  if (!x || !filter) return llvm::failure();
  c.out("Out", withDims(*x, withColumns(x->dims, columnsOf(*filter))));
  return llvm::success();
}

llvm::LogicalResult inferSequenceExpand(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  // Without LoD in X there is none in Out.
  c.out("Out", withDims(*x, withRows(x->dims, -1)));
  return llvm::success();
}

// An array declares one type for all of its items: extents in which they differ become unknown.
llvm::LogicalResult inferWriteToArray(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *array = c.in("$Out");
  if (!x) return llvm::failure();
  TensorInfo out = ofKind(*x, Kind::TensorArray);
  // What the array has already may have other extents, unless this is the first write.
  mlir::Operation* before = c.op().input("$Out") ? c.op().input("$Out").getDefiningOp() : nullptr;
  if (array && array->rankKnown && !(before && before->getName().getStringRef() == "pd.undef")) {
    if (array->rank() != out.rank()) out = unknownLike(out);
    for (int64_t d = 0; d < out.rank(); ++d)
      if (out.dims[d] != array->dims[d]) out.dims[d] = -1;
  }
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferReadFromArray(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", ofKind(*x, Kind::Tensor));
  return llvm::success();
}

llvm::LogicalResult inferArrayLength(InferContext& c) {
  c.out("Out", tensorInfo(DType::kInt64, {1}));
  return llvm::success();
}

// Items are joined along an axis, or stacked along a new one.
llvm::LogicalResult inferArrayToTensor(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  const bool stack = c.op().getBool("use_stack");
  const int64_t most = x->rank() + (stack ? 1 : 0), given = c.op().getInt("axis");
  c.out("OutIndex", tensorInfo(DType::kInt32, {-1}));
  TensorInfo out = ofKind(withoutLod(*x), Kind::Tensor);
  // Where nothing is known of the items the call looks at the axis.
  if (!x->rankKnown || (x->dims.empty() && !stack))
    return c.out("Out", unknownLike(out)), llvm::success();
  std::optional<int64_t> axis = axisOf(given, most);
  if (!axis)
    return c.fail("has no axis " + llvm::Twine(given) + " in " + (stack ? "stacked " : "") +
                  "items " + textOf(x->dims));
  if (stack) out.dims.insert(out.dims.begin() + *axis, -1);
  out.dims[*axis] = -1;
  c.out("Out", out);
  return llvm::success();
}

// Rows by a mask: how many go which way is data.
llvm::LogicalResult inferSplitLodTensor(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  for (llvm::StringRef slot : {"OutTrue", "OutFalse"})
    c.out(slot, withDims(*x, withRows(x->dims, -1)));
  return llvm::success();
}

// The rows of two branches put together again; how many there are is data.
llvm::LogicalResult inferMergeLodTensor(InferContext& c) {
  const TensorInfo *x = require(c, "X"),
                   *in = c.in("InTrue") ? c.in("InTrue") : require(c, "InFalse");
  if (!x || !in) return llvm::failure();
  TensorInfo out = withDims(*in, withRows(in->dims, -1));
  out.lodLevel = std::max(x->lodLevel, in->lodLevel);
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferRankTable(InferContext& c) {
  TensorInfo table;
  table.dtype = DType::kInt64;
  table.kind = Kind::RankTable;
  table.rankKnown = false;
  c.out("Out", table);
  return llvm::success();
}

llvm::LogicalResult inferMaxSequenceLength(InferContext& c) {
  c.out("Out", tensorInfo(DType::kInt64, {1}));
  return llvm::success();
}

// lod_tensor_to_array: one item for each place of the sequences, of as many rows as sequences are
// that long.
llvm::LogicalResult inferToArray(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", ofKind(withoutLod(withDims(*x, withRows(x->dims, -1))), Kind::TensorArray));
  return llvm::success();
}

// The inverse; the level of LoD that the array stood for is there again.
llvm::LogicalResult inferFromArray(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  TensorInfo out = ofKind(withDims(*x, withRows(x->dims, -1)), Kind::Tensor);
  out.lodLevel = x->lodLevel + 1;
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferShrinkMemory(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", withDims(*x, withRows(x->dims, -1)));
  return llvm::success();
}

// Which argument is taken is data: the result has what all of them have in common.
llvm::LogicalResult inferSelectInput(InferContext& c) {
  const TensorInfo* first = require(c, "X");
  if (!first) return llvm::failure();
  TensorInfo out = *first;
  for (unsigned i = 1, n = c.inCount("X"); i < n; ++i) {
    const TensorInfo* other = require(c, "X", i);
    if (!other) return llvm::failure();
    if (other->rank() != out.rank()) out = unknownLike(out);
    for (int64_t d = 0; d < out.rank(); ++d)
      if (out.dims[d] != other->dims[d]) out.dims[d] = -1;
  }
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferSelectOutput(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  for (unsigned i = 0, n = c.outCount("Out"); i < n; ++i) c.out("Out", i, *x);
  return llvm::success();
}

// Gates of a step are 4 D wide as the input is, states D. BatchGate and the like are in the order
// of steps (sequence2batch), and have no LoD.
llvm::LogicalResult inferLstm(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *weight = require(c, "Weight");
  if (!input || !weight) return llvm::failure();
  int64_t hidden = hiddenSize(*weight);
  for (llvm::StringRef slot : {"Hidden", "Cell"})
    c.out(slot, withDims(*input, withColumns(input->dims, hidden)));
  c.out("BatchGate", withoutLod(*input));
  c.out("BatchCellPreAct", withoutLod(withDims(*input, withColumns(input->dims, hidden))));
  return llvm::success();
}

llvm::LogicalResult inferLstmp(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *weight = require(c, "Weight"),
                   *projection = require(c, "ProjWeight");
  if (!input || !weight || !projection) return llvm::failure();
  TensorInfo state = withDims(*input, withColumns(input->dims, hiddenSize(*projection)));
  c.out("Projection", withDims(*input, withColumns(input->dims, columnsOf(*projection))));
  c.out("Cell", state);
  c.out("BatchGate", withoutLod(*input));
  for (llvm::StringRef slot : {"BatchCellPreAct", "BatchHidden"}) c.out(slot, withoutLod(state));
  return llvm::success();
}

// Input itself is no input of the gradient; BatchGate has its extents.
llvm::LogicalResult inferLstmpGrad(InferContext& c) {
  for (const std::string& slot : c.op().outputSlots()) {
    llvm::StringRef forward = llvm::StringRef(slot).drop_back(llvm::StringRef("@GRAD").size());
    if (c.outCount(slot) == 0) continue;
    const TensorInfo* info = require(c, forward == "Input" ? "BatchGate" : forward);
    if (!info) return llvm::failure();
    c.out(slot, *info);
  }
  return llvm::success();
}

llvm::LogicalResult inferGru(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *weight = require(c, "Weight");
  if (!input || !weight) return llvm::failure();
  TensorInfo state = withDims(*input, withColumns(input->dims, hiddenSize(*weight)));
  c.out("BatchGate", withoutLod(*input));
  for (llvm::StringRef slot : {"BatchResetHiddenPrev", "BatchHidden"})
    c.out(slot, withoutLod(state));
  c.out("Hidden", state);
  return llvm::success();
}

// Both directions side by side in the last dim of Out; states as they came in.
llvm::LogicalResult inferRnn(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *state = require(c, "PreState");
  if (!input || !state) return llvm::failure();
  if (input->rank() != 3 || state->rank() != 3)
    return c.fail("needs [steps, batch, size] in Input and [layers, batch, size] in PreState");
  int64_t directions = c.op().getBool("is_bidirec") ? 2 : 1;
  int64_t size = productOf({state->dims[2], directions}).value_or(-1);
  c.out("Out", withDims(*input, {input->dims[0], input->dims[1], size}));
  for (unsigned i = 0, n = c.outCount("State"); i < n; ++i)
    if (const TensorInfo* before = c.in("PreState", i)) c.out("State", i, *before);
  c.out("DropoutState", unknownLike(tensorInfo(DType::kUInt8, {})));
  // Gates and two more values for every element of every state
  // (runtime/kernels/cpu/ops/recurrent/rnn.cc).
  std::string mode = c.op().getString("mode");
  int64_t gates = mode == "LSTM" ? 4 : mode == "GRU" ? 3 : 1;
  c.out("Reserve", tensorInfo(input->dtype, {state->dims[0], input->dims[0], input->dims[1],
                                             productOf({state->dims[2], gates + 2}).value_or(-1)}));
  return llvm::success();
}

llvm::LogicalResult inferGruUnit(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *before = require(c, "HiddenPrev");
  if (!input || !before) return llvm::failure();
  c.out("Gate", *input);
  c.out("ResetHiddenPrev", *before);
  c.out("Hidden", *before);
  return llvm::success();
}

llvm::LogicalResult inferLstmUnit(InferContext& c) {
  const TensorInfo* before = require(c, "C_prev");
  if (!before) return llvm::failure();
  c.out("C", *before);
  c.out("H", *before);
  return llvm::success();
}

// Three peepholes of D each stand after the 4 D of the gates' bias.
const Constraint kLstmConstraints[2] = {
    {"C1", "Weight must be [D, 4D]",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> weight = declaredDims(op, "Weight");
       if (!weight) return llvm::success();
       found = "Weight " + textOf(*weight);
       return llvm::success(weight->size() == 2 &&
                            agree(productOf({(*weight)[0], 4}).value_or(-1), (*weight)[1]));
     }},
    {"C2", "Input must have 4D columns, and Bias 4D, or 7D with peepholes",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> input = declaredDims(op, "Input"), weight = declaredDims(op, "Weight"),
                           bias = declaredDims(op, "Bias");
       if (!input || !weight) return llvm::success();
       found = "Input " + textOf(*input) + ", Weight " + textOf(*weight) +
               (bias ? ", Bias " + textOf(*bias) : "");
       if (input->size() != 2 || !agree((*input)[1], (*weight)[1])) return llvm::failure();
       int64_t expected =
           productOf({(*weight)[0], op.getBool("use_peepholes") ? 7 : 4}).value_or(-1);
       return llvm::success(!bias || (bias->size() == 2 && agree((*bias)[1], expected)));
     }},
};

const Constraint kSequenceConvConstraints[1] = {
    {"C1", "Filter must have contextLength times as many rows as X has columns",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X"), filter = declaredDims(op, "Filter");
       if (!x || !filter) return llvm::success();
       found = "X " + textOf(*x) + ", Filter " + textOf(*filter) + ", contextLength " +
               std::to_string(op.getInt("contextLength"));
       return llvm::success(
           x->size() == 2 && filter->size() == 2 &&
           agree(productOf({(*x)[1], op.getInt("contextLength")}).value_or(-1), (*filter)[0]));
     }},
};

}  // namespace dtranspile::pd
