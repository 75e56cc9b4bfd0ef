#include "compiler/analysis/relations/relation.h"

#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {

int Axes::indexOf(llvm::StringRef name) const {
  for (unsigned i = 0; i < count(); ++i)
    if (name == names[i]) return static_cast<int>(i);
  return -1;
}

State State::split(int64_t dim, dist::LayoutAttr layout) {
  const bool even = !layout || layout.getKind() == dist::LayoutKind::Even;
  return {dist::StateKind::Split, dist::Reduce::Sum, static_cast<int32_t>(dim),
          even ? nullptr : layout.getAsOpaquePointer()};
}

mlir::StringAttr State::tagAttr() const {
  return isDifferent() && detail
             ? llvm::cast<mlir::StringAttr>(mlir::Attribute::getFromOpaquePointer(detail))
             : mlir::StringAttr();
}

dist::LayoutAttr State::layoutAttr() const {
  return isSplit() && detail
             ? llvm::cast<dist::LayoutAttr>(mlir::Attribute::getFromOpaquePointer(detail))
             : dist::LayoutAttr();
}

// As the assembly of dialect dist writes a state: R, S(dim), S(dim, layout), S(flat), P(reduction),
// X(tag).
std::string State::text() const {
  switch (kind) {
    case dist::StateKind::Split: {
      std::string text = dim == dist::kFlat ? "S(flat" : "S(" + std::to_string(dim);
      llvm::raw_string_ostream stream(text);
      if (dist::LayoutAttr layout = layoutAttr()) {
        stream << ", ";
        layout.printInline(stream);
      }
      stream << ")";
      return text;
    }
    case dist::StateKind::Partial: return "P(" + dist::stringifyReduce(reduce).str() + ")";
    case dist::StateKind::Different: return "X(" + (detail ? tagAttr().getValue().str() : "") + ")";
    default: return dist::stringifyStateKind(kind).str();
  }
}

bool Reading::isReplicated() const {
  return known && llvm::all_of(states, [](const State& state) { return state.isReplicated(); });
}

bool Reading::operator==(const Reading& other) const {
  return known == other.known && (!known || (states == other.states && scale == other.scale));
}

// A sorted set, so that equal relations have equal lists.
void Relation::addTags(llvm::ArrayRef<mlir::StringAttr> more) {
  for (mlir::StringAttr tag : more) {
    auto at = llvm::lower_bound(tags, tag, [](mlir::StringAttr a, mlir::StringAttr b) {
      return a.getValue() < b.getValue();
    });
    if (at == tags.end() || *at != tag) tags.insert(at, tag);
  }
}

bool Relation::hasTag(llvm::StringRef tag) const {
  return llvm::any_of(tags, [&](mlir::StringAttr one) { return one.getValue() == tag; });
}

std::string gradientSumText(const Rational& times) {
  return "the gradient of the loss is not divided by the number of ranks: gradients are " +
         times.text() + " times those of the reference";
}

// "dp: S(0), mp: P(sum), scale 1/2"; axes along which the value is replicated are left out, and "R"
// stands where none is left.
std::string textOf(const Reading& reading, const Axes& axes) {
  if (!reading.known) return "?";
  std::string text;
  for (unsigned a = 0; a < axes.count(); ++a)
    if (!reading.states[a].isReplicated())
      text += (text.empty() ? "" : ", ") + axes.names[a] + ": " + reading.states[a].text();
  if (text.empty()) text = "R";
  return reading.scale.isOne() ? text : text + ", scale " + reading.scale.text();
}

// An attribute as a reading of a place: axes that the place does not have are skipped, and along an
// axis of one coordinate every state is R, since there a part is the whole.
Reading readingOf(dist::RelAttr attribute, const Axes& axes) {
  Reading reading = Reading::replicated(axes);
  reading.scale = Rational(attribute.getNumerator(), attribute.getDenominator());
  for (dist::AxisRelAttr one : attribute.getAxes()) {
    int axis = axes.indexOf(one.getAxis().getValue());
    if (axis < 0) continue;
    if (one.getState() == dist::StateKind::Unknown) reading.known = false;
    if (axes.sizes[axis] == 1) continue;
    State& state = reading.states[axis];
    state.kind = one.getState();
    if (state.isSplit()) state = State::split(one.getDim(), one.getLayout());
    if (state.isPartial()) state.reduce = one.getReduce();
    if (state.isDifferent() && one.getTag()) state.detail = one.getTag().getAsOpaquePointer();
  }
  return reading;
}

}  // namespace dtranspile::verify
