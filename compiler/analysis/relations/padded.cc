#include "compiler/analysis/relations/padded.h"

#include "compiler/analysis/relations/pads.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

bool isFlat(const Axes& axes, const Reading& reading) {
  for (unsigned axis = 0; reading.known && axis < axes.count(); ++axis)
    if (const State& state = reading.states[axis];
        state.isSplit() && state.dim == dist::kFlat && axes.sizes[axis] > 1)
      return true;
  return false;
}

bool isEven(dist::LayoutAttr layout) { return layout.getKind() == dist::LayoutKind::Even; }

// Whether the parts of a value have no pad, along any axis.
bool divides(const Axes& axes, const Reading& reading, mlir::Value whole) {
  mlir::RankedTensorType type =
      whole ? pd::tensorOf(dist::unlocated(whole.getType())) : mlir::RankedTensorType();
  if (!type || !type.hasStaticShape()) return false;
  int64_t elements = type.getNumElements();
  for (unsigned axis = 0; axis < axes.count(); ++axis) {
    const State& state = reading.states[axis];
    if (!state.isSplit()) continue;
    if (state.dim >= type.getRank() || (state.layoutAttr() && !isEven(state.layoutAttr())))
      return false;
    const int64_t extent = state.dim == dist::kFlat ? elements : type.getDimSize(state.dim);
    if (extent % axes.sizes[axis] != 0) return false;
    elements /= axes.sizes[axis];
  }
  return true;
}

// Whether a result that the ranks put together by sum, or by `or`, does not mind the pad of what it
// is the sum of: false is what nothing finite is.
bool minds(const State& result, Pad pad) {
  if (!result.isPartial()) return false;
  return pad > (result.reduce == dist::Reduce::Or ? Pad::Finite : Pad::Zero);
}

}  // namespace

// A sum over all elements of a flat part has its pad among them.
void losePads(const Scene& scene, mlir::Operation* op, mlir::Operation* reference,
              Relation& relation, Reason& reason) {
  const Axes& axes = scene.axes();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const Reading& given = scene.of(operand).reading();
    if (!relation.known() || !isFlat(axes, given)) continue;
    for (unsigned axis = 0; axis < axes.count(); ++axis) {
      const State &mine = given.states[axis], &result = relation.whole.states[axis];
      if (!mine.isSplit() || !minds(result, Pad::Any) ||
          divides(axes, given, reference ? reference->getOperand(i) : mlir::Value()))
        continue;
      const Pad pad = Pads(Pads::Lies::InParts).of(operand);
      if (!minds(result, pad)) continue;
      const bool wrong = pad == Pad::Positive;
      reason = {wrong ? "adds up a flat part whose pad is not zero"
                      : "adds up a flat part whose pad is not known to be zero",
                static_cast<int>(axis), operand, wrong ? "pad" : nullptr};
      relation.whole = relation.parts = {};
      break;
    }
  }
}

}  // namespace dtranspile::verify
