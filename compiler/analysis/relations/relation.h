// The relation of a local value to a value of the reference program, and the axes that it speaks
// about. Vocabulary and theory: docs/verification.md. Rules (rule.h) compute relations, analysis.h
// keeps them, requirements compare them.
#pragma once

#include <string>

#include "compiler/analysis/relations/rational.h"
#include "dialects/dist/dist.h"
#include "llvm/ADT/SmallVector.h"

namespace dtranspile::verify {

// The axes of a role's mesh, rank axes first, then time axes, as the ops of one place see them: a
// guard leaves some coordinates of an axis, and a time axis has coordinates inside its loop only. A
// data axis is one that some feed is cut over.
struct Axes {
  llvm::SmallVector<std::string, 4> names;
  llvm::SmallVector<int64_t, 4> sizes;      // coordinates that are here
  llvm::SmallVector<int64_t, 4> meshSizes;  // those of the mesh; 1 outside of a time axis's loop
  llvm::SmallVector<bool, 4> isData;

  unsigned count() const { return names.size(); }
  int indexOf(llvm::StringRef name) const;  // -1 where there is none
};

// Tags: draws that differ between ranks; what depends on a rank's own update of parameters.
inline constexpr llvm::StringLiteral kRandomTag = "random";
inline constexpr llvm::StringLiteral kLocalSgdTag = "local_sgd";
// Contract of gradients that are not divided by the number of ranks.
inline constexpr llvm::StringLiteral kGradientSumTag = "gradient_sum";

// State along one axis (docs/dialects/dist.md, Relations).
struct State {
  dist::StateKind kind = dist::StateKind::Replicated;
  dist::Reduce reduce = dist::Reduce::Sum;  // of Partial
  int32_t dim = 0;                          // of Split; dist::kFlat: the flattened tensor
  const void* detail = nullptr;  // opaque pointer of an attribute. Of Different: its tag, a
                                 // StringAttr; of Split: its LayoutAttr, null for even parts

  static State replicated() { return {}; }
  static State split(int64_t dim, dist::LayoutAttr layout = {});
  static State partial(dist::Reduce reduce) {
    return {dist::StateKind::Partial, reduce, 0, nullptr};
  }
  static State parts() { return {dist::StateKind::Parts, dist::Reduce::Sum, 0, nullptr}; }
  static State different(mlir::StringAttr tag) {
    return {dist::StateKind::Different, dist::Reduce::Sum, 0, tag.getAsOpaquePointer()};
  }

  bool isReplicated() const { return kind == dist::StateKind::Replicated; }
  bool isSplit() const { return kind == dist::StateKind::Split; }
  bool isPartial() const { return kind == dist::StateKind::Partial; }
  bool isParts() const { return kind == dist::StateKind::Parts; }
  bool isDifferent() const { return kind == dist::StateKind::Different; }
  mlir::StringAttr tagAttr() const;
  dist::LayoutAttr layoutAttr() const;  // null for even parts
  bool operator==(const State& other) const {
    return kind == other.kind && reduce == other.reduce && dim == other.dim &&
           detail == other.detail;
  }
  std::string text() const;  // "P(sum)"
};

// One way to read a value: a state per axis and a scale. `known` is false where no rule gives one.
struct Reading {
  bool known = false;
  llvm::SmallVector<State, 2> states;
  Rational scale;

  static Reading replicated(const Axes& axes) {
    return {true, llvm::SmallVector<State, 2>(axes.count()), Rational()};
  }
  bool isReplicated() const;
  bool operator==(const Reading& other) const;
};

// A value is read as a whole (its parts, put together, are scale × the reference value) and in
// parts (on data axes each rank has scale × what the reference's ops give on that rank's share of
// the batch). Either may be lost. After a site the whole reading speaks of the reference with its
// sites evaluated per share (docs/verification.md), and state Parts is one value per share.
struct Relation {
  int reference = -1;   // number of the reference value (reference.h); -1: none known
  mlir::Value minuend;  // not null: the value is a difference, scale × (minuend − v), and v is what
                        // the rest of the relation speaks of
  mlir::Value draw;  // not null: it follows from one of several draws, which the communication that
                     // gives this value chose. Another choice is another value of the same number
  bool isZero = false;    // the constant 0: fits every relation in a sum
  bool perShare = false;  // depends on a site
  bool gradient = false;  // made from the seed of the backward part
  bool summed = false;    // depends on a sum of shares in the forward part: what a rank has is none
                          // of its share alone, and the reading in parts is overRanks' (below)
  bool uneven = false;    // its parts may differ in extent: rows of sequences, or those that data
                          // choose
  uint32_t ofShare = 0;   // a bit per dim whose extent is that of a rank's share: all pairs of the
                          // samples of a share have it along a dim that is not put together
  Reading whole, parts;
  llvm::SmallVector<mlir::StringAttr, 1> tags;  // contracts met on the way, sorted

  bool known() const { return whole.known; }
  // Says the same of a value. (What it met on the way does not change what it is.)
  bool operator==(const Relation& other) const {
    return sameValue(other) && whole == other.whole && parts == other.parts;
  }
  // What it stands for, apart from how it lies on the ranks.
  bool sameValue(const Relation& other) const {
    return reference == other.reference && minuend == other.minuend && draw == other.draw;
  }
  bool standsFor(int number) const { return reference == number && !minuend; }
  // What is as good as known of it: the whole reading, else the one in parts.
  const Reading& reading() const { return whole.known ? whole : parts; }
  // Takes over what goes along with a value through ops that keep what it stands for.
  void follow(const Relation& other) {
    reference = other.reference;
    minuend = other.minuend;
    draw = other.draw;
    perShare = perShare || other.perShare;
    summed = summed || other.summed;
    gradient = other.gradient;
  }
  void addTags(llvm::ArrayRef<mlir::StringAttr> more);
  bool hasTag(llvm::StringRef tag) const;
};

// What a value that depends on a sum of shares is taken for on one rank: scale × the value of the
// reference, in the mean over the data axes. Equal values and parts are what they are; of a sum of
// terms a rank's term counts n times.
Reading overRanks(const Reading& whole, const Axes& axes);

// What contract gradient_sum says where gradients are that many times the reference's.
std::string gradientSumText(const Rational& times);

// "dp: P(sum), scale 1/4"; "R" where replicated on every axis; "?" for an unknown one.
std::string textOf(const Reading& reading, const Axes& axes);

// The reading that an attribute claims or declares on the ranks of `axes`; not known where it says
// `?`.
Reading readingOf(dist::RelAttr attribute, const Axes& axes);

}  // namespace dtranspile::verify
