#include "compiler/lower/pieces.h"

#include <array>
#include <cstdlib>

#include "compiler/lower/dist_lowering.h"
#include "compiler/lower/op_lowering.h"
#include "compiler/lower/rules.h"
#include "compiler/lower/server_lowering.h"
#include "dialects/dist/changes.h"
#include "dialects/dist/lookup.h"
#include "runtime/exec/layout.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// A piece is a 64th of the whole, which is a quarter of the part of one of 16 servers, and not less
// than a processor's second cache holds.
constexpr int64_t kMostPieces = 64, kLeastBytes = 256 << 10;
// Rows of a part that pieces begin at are multiples of this. So they begin at multiples of the
// alignment that plans ask for, and, in elements, at even ones: normal numbers are drawn in pairs.
constexpr int64_t kStep = 128;

// Rows [begin, begin + rows) of the whole, which lie in the parts from row `local` on, cut by
// `layout`.
struct Piece {
  int64_t begin = 0, rows = 0, local = 0;
  exec::Layout layout;
};

// How an op is asked for a piece: the library call, and which of the op's attributes it takes as
// they are. Without a call: a constant.
struct Maker {
  llvm::StringLiteral type;
  const char* call;
  std::array<llvm::StringLiteral, 5> reals;
};
constexpr Maker kMakers[] = {
    {"fill_constant", nullptr, {"", "", "", "", ""}},
    {"uniform_random", "dt_uniform_random", {"min", "max", "diag_val", "", ""}},
    {"gaussian_random", "dt_gaussian_random", {"mean", "std", "", "", ""}},
    {"truncated_gaussian_random", "dt_truncated_gaussian_random", {"mean", "std", "a", "b", ""}},
};

// Ops whose n-th element does not depend on the extents of the whole: constants and draws from one
// sequence.
const Maker* makerOf(mlir::Operation* op) {
  if (!op || !pd::OpView::isFrameworkOp(op) || op->getNumOperands() != 0 ||
      op->getNumResults() != 1 || op->getNumRegions() != 0)
    return nullptr;
  const pd::OpView view(op);
  const Maker* maker =
      llvm::find_if(kMakers, [&](const Maker& one) { return one.type == view.type(); });
  if (maker == std::end(kMakers)) return nullptr;
  // A diagonal is counted from the first element of the whole.
  const bool diagonal = view.type() == "uniform_random" && view.getInt("diag_num") != 0;
  return diagonal || op->hasAttr(dist::kStreamsAttr) ? nullptr : maker;
}

// str_value, where given, holds the exact number. Of whole numbers the rule of the op knows more.
std::optional<double> constantOf(const pd::OpView& op) {
  const std::string text = op.getString("str_value");
  if (text.empty()) return op.getFloat("value");
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

struct Use {
  dist::SliceOp slice;
  pd::SetOp set;
};

// The parts that are taken of a value and the variables that are set to them; nothing where it is
// wanted otherwise, or a variable is touched elsewhere: it is set earlier than it was.
std::optional<std::vector<Use>> usesOf(Lowering& lowering, mlir::Operation* op) {
  llvm::DenseMap<mlir::StringAttr, int> touched;
  lowering.program()->walk([&](mlir::Operation* each) {
    if (auto get = llvm::dyn_cast<pd::GetOp>(each)) touched[get.getVarAttr().getAttr()] += 2;
    if (auto set = llvm::dyn_cast<pd::SetOp>(each)) touched[set.getVarAttr().getAttr()] += 1;
  });
  std::vector<Use> uses;
  for (mlir::Operation* user : op->getUsers()) {
    auto slice = llvm::dyn_cast<dist::SliceOp>(user);
    if (!slice || slice.getDim() != 0) return std::nullopt;
    for (mlir::Operation* taker : slice.getOutput().getUsers()) {
      auto set = llvm::dyn_cast<pd::SetOp>(taker);
      if (!set || set->getBlock() != op->getBlock() ||
          touched.lookup(set.getVarAttr().getAttr()) != 1)
        return std::nullopt;
      uses.push_back({slice, set});
    }
  }
  return uses.empty() ? std::nullopt : std::optional(std::move(uses));
}

exec::Layout layoutOf(Lowering& lowering, dist::SliceOp slice) {
  std::vector<std::string> axes;
  for (auto axis : slice.getAxes().getAsValueRange<mlir::StringAttr>()) axes.push_back(axis.str());
  return lower::layoutOf(slice.getLayout(), 0, axes, lowering.info(slice.getInput()).dims);
}

// Rows of a piece, by the layout over `of` coordinates, and where every piece lies. Empty where
// pieces would be no smaller than the whole, or the layout does not allow for them.
std::vector<Piece> piecesOf(const exec::Layout& layout, int64_t of, int64_t rowBytes) {
  const bool cyclic = layout.kind == exec::LayoutKind::kCyclic;
  if (!cyclic && layout.kind != exec::LayoutKind::kBlocks) return {};
  const int64_t wanted = std::max(llvm::divideCeil(layout.extent, kMostPieces),
                                  llvm::divideCeil(kLeastBytes, std::max<int64_t>(rowBytes, 1)));
  const int64_t step = kStep * (cyclic ? of : 1);
  const int64_t rows = static_cast<int64_t>(llvm::alignTo(wanted, step));
  if (rows >= layout.extent) return {};
  auto piece = [&](int64_t begin, int64_t count, int64_t local) {
    Piece one{begin, count, local, layout};
    one.layout.extent = one.layout.whole[0] = count;
    return one;
  };
  std::vector<Piece> pieces;
  if (cyclic) {
    for (int64_t at = 0; at < layout.extent; at += rows)
      pieces.push_back(piece(at, std::min(rows, layout.extent - at), at / of));
    return pieces;
  }
  const exec::Parts parts(layout, of);
  // Several blocks in a part would lie at rows of their own; pairs of numbers are not torn apart.
  if (parts.blocks() > of || layout.per % kStep != 0) return {};
  if (layout.per <= rows) {
    const int64_t together = rows / layout.per;
    for (int64_t block = 0; block < parts.blocks(); block += together) {
      const int64_t begin = block * layout.per;
      Piece one = piece(begin, std::min(together * layout.per, layout.extent - begin), /*local=*/0);
      one.layout.first = (layout.first + block) % of;
      pieces.push_back(std::move(one));
    }
    return pieces;
  }
  for (int64_t block = 0; block < parts.blocks(); ++block) {
    const exec::Parts::Block whole = parts.block(block);
    for (int64_t at = 0; at < whole.extent; at += rows) {
      Piece one = piece(whole.begin + at, std::min(rows, whole.extent - at), at);
      one.layout.per = one.rows;
      one.layout.first = (layout.first + block) % of;
      pieces.push_back(std::move(one));
    }
  }
  return pieces;
}

// All variables that are set to parts of the value are cut alike; nothing where they are not.
struct Making {
  const Maker* maker = nullptr;
  std::vector<Use> uses;
  std::vector<Piece> pieces;
  exec::Layout layout;
};
// Whether a start-up op makes a large initial value of which this rank keeps only parts. Then the
// whole need not exist: it is made piece by piece, each piece being copied from (or, for constants,
// filled) where it belongs. All uses must cut it along dim 0 by one layout and set variables to
// that, and random ops must be able to skip to a place in their sequence, so that the piece has the
// numbers that the whole has there.
std::optional<Making> makingOf(Lowering& lowering, mlir::Operation* op) {
  const Maker* maker = lowering.request().startup ? makerOf(op) : nullptr;
  if (!maker || op->getBlock() != lowering.program().getBodyBlock()) return std::nullopt;
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getRank() == 0) return std::nullopt;
  const DType dtype = lowering.info(op->getResult(0)).dtype;
  const bool constant = !maker->call;
  if (type.getNumElements() * static_cast<int64_t>(SizeOf(dtype)) <= kLeastBytes ||
      (constant && (!isFloat(scalarOf(dtype)) || !constantOf(pd::OpView(op)))))
    return std::nullopt;
  auto uses = usesOf(lowering, op);
  if (!uses) return std::nullopt;
  dist::SliceOp first = uses->front().slice;
  for (Use& use : *uses) {
    const Persistable* variable = lowering.variable(use.set.getVar());
    if (use.slice.getLayout() != first.getLayout() || use.slice.getAxes() != first.getAxes() ||
        !variable || !isCutLike(lowering, use.slice, *variable))
      return std::nullopt;
  }
  const exec::Layout layout = layoutOf(lowering, first);
  if (layout.extent != type.getDimSize(0)) return std::nullopt;
  const int64_t of = coordinatesOf(dist::meshOf(uses->front().slice), layout.axes);
  const int64_t rowBytes =
      type.getNumElements() / type.getDimSize(0) * static_cast<int64_t>(SizeOf(dtype));
  std::vector<Piece> pieces = piecesOf(layout, of, rowBytes);
  if (pieces.size() < 2) return std::nullopt;
  return Making{maker, std::move(*uses), std::move(pieces), layout};
}

// Whether rows can be made by themselves, when they are first touched (runtime/exec/first_touch.h):
// those of one variable that lies by row numbers, drawn by an engine of 1.x, or constant. Zeros
// need nothing of the kind: their pages are not written either way.
bool isMadeOnTouch(OpLowering& emit, const pd::OpView& op, const Making& making) {
  constexpr int64_t kPaddle2 = 2000000;
  if (making.uses.size() != 1 || making.layout.kind != exec::LayoutKind::kCyclic) return false;
  if (!making.maker->call) return *constantOf(op) != 0;
  return emit.version() > 0 && emit.version() < kPaddle2;
}

// A piece of a variable's part: `local` rows after the beginning, of the rows that there may be.
int partOf(Lowering& lowering, const Persistable& variable, const Piece& piece, int64_t of) {
  Plan& plan = lowering.plan();
  const int view = plan.addView(variable.buffer, variable.name + ".piece",
                                exec::Parts(piece.layout, of).room_dims());
  Buffer& buffer = lowering.buffer(view);
  const int64_t rows = std::max<int64_t>(buffer.dims[0], 1);
  buffer.within = buffer.bytes() / rows * piece.local;
  return view;
}

// Writes the nodes that make one value in pieces; see makingOf.
class PieceWriter {
 public:
  PieceWriter(Lowering& lowering, pd::OpView op, Making making)
      : lowering_(lowering),
        op_(op),
        rule_(*findRule(op.type())),
        emit_(lowering, op, rule_),
        making_(std::move(making)) {}

  LogicalResult run() {
    const DType dtype = lowering_.info(op_.operation()->getResult(0)).dtype;
    const bool floats = dtype == DType::kFloat32 || dtype == DType::kFloat64;
    if (floats && isMadeOnTouch(emit_, op_, making_)) return makeOnTouch(dtype);
    for (const Piece& piece : making_.pieces) {
      if (failed(make(piece))) return llvm::failure();
      for (const Use& use : making_.uses) take(piece, use);
    }
    return llvm::success();
  }

 private:
  // A constant is made once: of all pieces but the last the extents are the same.
  LogicalResult make(const Piece& piece) {
    const bool same = whole_ && whole_->dims == piece.layout.whole;
    if (same && !making_.maker->call) return llvm::success();
    whole_ = emit_.temporary("piece", lowering_.info(op_.operation()->getResult(0)).dtype,
                             piece.layout.whole);
    return making_.maker->call ? draw(piece) : fill();
  }

  LogicalResult fill() {
    return emit_.formula("Out = constant", {.tensors = {{"Out", *whole_}},
                                            .numbers = {{"constant", *constantOf(op_)}}});
  }

  // The call is that of the whole, and stands for itself nowhere.
  LogicalResult makeOnTouch(DType dtype) {
    DrawNode draws{.layout = making_.layout, .call = {}};
    if (making_.maker->call) {
      std::vector<Node> nodes;
      const Lowering::Into into(lowering_, nodes);
      whole_ = emit_.temporary("rows", dtype, making_.layout.whole);
      emit_.call(making_.maker->call, callOf(making_.layout.whole));
      draws.call = *nodes.back().as<CallNode>();
    } else {
      draws.call.callee = exec::kConstantRows;
      draws.call.reals = {*constantOf(op_)};
    }
    Use use = making_.uses.front();
    const Persistable& variable = *lowering_.variable(use.set.getVar());
    lowering_.add({.op = lowering_.position(),
                   .args = {variable.buffer},
                   .writes = {true},
                   .reads = {true},
                   .keep = true,
                   .what = std::move(draws)});
    return llvm::success();
  }

  LogicalResult draw(const Piece& piece) {
    OpLowering::CallArguments call = callOf(piece.layout.whole);
    call.attributes.emplace_back("continues", int64_t{piece.begin > 0});
    emit_.call(making_.maker->call, call);
    return llvm::success();
  }

  // The call of the whole op with another shape: its attributes, seed and the version of the
  // program stay.
  OpLowering::CallArguments callOf(const std::vector<int64_t>& shape) {
    OpLowering::CallArguments call{.tensors = {{"Out", *whole_}}, .keep = true};
    for (llvm::StringRef name : making_.maker->reals)
      if (!name.empty()) call.attributes.emplace_back(name, op_.getFloat(name));
    call.attributes.emplace_back("shape", shape);
    call.attributes.emplace_back("seed", op_.getInt("seed"));
    call.attributes.emplace_back("@version", emit_.version());
    if (op_.type() == "uniform_random") {
      call.attributes.emplace_back("diag_num", int64_t{0});
      call.attributes.emplace_back("diag_step", op_.getInt("diag_step"));
    }
    return call;
  }

  // What other pieces have left in the variable stays.
  void take(const Piece& piece, Use use) {
    const Persistable& variable = *lowering_.variable(use.set.getVar());
    const int64_t of = coordinatesOf(dist::meshOf(use.slice), piece.layout.axes);
    lowering_.add({.op = lowering_.position(),
                   .args = {whole_->buffer, partOf(lowering_, variable, piece, of)},
                   .writes = {false, true},
                   .reads = {true, true},
                   .what = SliceNode{piece.layout}});
  }

  Lowering& lowering_;
  const pd::OpView op_;
  const LoweringRule& rule_;
  OpLowering emit_;
  const Making making_;
  std::optional<TensorRef> whole_;
};

}  // namespace

bool isMadeInPieces(Lowering& lowering, mlir::Operation* op) {
  return makingOf(lowering, op).has_value();
}

LogicalResult lowerInPieces(Lowering& lowering, pd::OpView op) {
  return PieceWriter(lowering, op, *makingOf(lowering, op.operation())).run();
}

}  // namespace dtranspile::lower
