#include "passes/recompute/segments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/GlobPattern.h"

namespace dtranspile::passes {
namespace {

Segments cutAt(const Steps& steps, llvm::ArrayRef<int> cuts) {
  Segments segments(steps.forwards(), -1);
  int from = 0;
  for (auto [segment, to] : llvm::enumerate(cuts)) {
    for (int i = from; i < to; ++i) segments[i] = static_cast<int>(segment);
    from = to;
  }
  return segments;
}

// Sizes of the forward part. Position p is the place before forward step p.
class Sizes {
 public:
  explicit Sizes(const Steps& steps)
      : steps_(steps),
        last_(steps.values().size()),
        read_(steps.values().size()),
        made_(steps.forwards()),
        crossing_(steps.forwards() + 1) {
    for (const StepValue& value : steps.values()) {
      last_[value.storage] = std::max(last_[value.storage], value.lastForward);
      if (value.byGradients) read_[value.storage] = true;
    }
    for (const StepValue& value : steps.values()) {
      if (!counts(value)) continue;
      made_[value.step] += value.bytes;
      const int last = lastOf(value);
      crossing_[value.step + 1] += value.bytes;
      crossing_[last + 1] -= value.bytes;
    }
    for (size_t p = 1; p < crossing_.size(); ++p) crossing_[p] += crossing_[p - 1];
  }

  // What gradients read of all that is computed before p.
  std::vector<int64_t> sums() const {
    std::vector<int64_t> sums = {0};
    for (int64_t bytes : made_) sums.push_back(sums.back() + bytes);
    return sums;
  }
  // What a cut at p keeps.
  int64_t crossing(int p) const { return crossing_[p]; }

  // Memory of a value counts where gradients or later steps read it.
  bool counts(const StepValue& value) const {
    return value.step < steps_.forwards() && steps_.all()[value.step].forward && value.bytes > 0 &&
           (byGradients(value) || lastOf(value) > value.step);
  }
  // Of all views of its memory.
  int lastOf(const StepValue& value) const { return last_[value.storage]; }
  bool byGradients(const StepValue& value) const { return read_[value.storage]; }

 private:
  const Steps& steps_;
  std::vector<int> last_;   // by storage
  std::vector<bool> read_;  // by storage
  std::vector<int64_t> made_, crossing_;
};

// Positions that are worth a cut: those where least is kept, and of equal ones not all.
std::vector<int> candidates(const Steps& steps, const Sizes& sizes, size_t most) {
  std::vector<int> positions;
  for (int p = 1; p < steps.forwards(); ++p)
    if (steps.all()[p - 1].forward && sizes.crossing(p) <= sizes.crossing(p - 1) &&
        sizes.crossing(p) <= sizes.crossing(p + 1))
      positions.push_back(p);
  if (positions.size() > most) {
    std::vector<int64_t> crossing;
    for (int p : positions) crossing.push_back(sizes.crossing(p));
    std::nth_element(crossing.begin(), crossing.begin() + static_cast<int64_t>(most),
                     crossing.end());
    const int64_t bound = crossing[most];
    llvm::erase_if(positions, [&](int p) { return sizes.crossing(p) > bound; });
    const size_t every = (positions.size() + most - 1) / most;
    std::vector<int> some;
    for (size_t i = 0; i < positions.size(); i += every) some.push_back(positions[i]);
    positions = some;
  }
  return positions;
}

// Least memory for a given amount of work. Memory while segment s is computed again is what is
// kept of all before it, and all of its own values; those behind it are gone by then. Work is
// counted in units, so that the table has two dims: places to cut, and units spent.
class Best {
 public:
  Best(const Steps& steps, double budget) : steps_(steps), sizes_(steps) {
    places_ = {0};
    llvm::append_range(places_, candidates(steps, sizes_, kPlaces));
    places_.push_back(steps.forwards());
    unit_ = budget / kUnits;
    const size_t count = places_.size();
    kept_.assign(count, std::vector<int64_t>(count));
    read_ = kept_;
    cost_.assign(count, std::vector<int>(count));
    measure();
  }

  // Segments with which no more than `bound` bytes are alive; empty where there are none.
  // A table over places and units spent: the least that can be kept before a place, for every
  // number of units. A step from place i goes to the next one with nothing repeated, or to any
  // later one with all between them as one segment. O(places² · units), which kPlaces and kUnits
  // bound. Of the ways that reach the end the cheapest one is taken.
  Segments within(int64_t bound) const {
    const size_t count = places_.size();
    constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
    // By place and units: the least that is kept of what is before it, and where from.
    std::vector<std::vector<int64_t>> least(count, std::vector<int64_t>(kUnits + 1, kNone));
    std::vector<std::vector<std::pair<int, bool>>> from(
        count, std::vector<std::pair<int, bool>>(kUnits + 1, {-1, false}));
    least[0][0] = 0;
    for (size_t i = 0; i + 1 < count; ++i)
      for (int spent = 0; spent <= kUnits; ++spent) {
        const int64_t before = least[i][spent];
        if (before == kNone) continue;
        const auto reach = [&](size_t j, int units, int64_t kept, bool again) {
          const int64_t after = before + kept;
          if (spent + units > kUnits || before + kept_[i][j] + read_[i][j] > bound ||
              after >= least[j][spent + units])
            return;
          least[j][spent + units] = after;
          from[j][spent + units] = {static_cast<int>(i), again};
        };
        reach(i + 1, 0, kept_[i][i + 1] + read_[i][i + 1], false);
        for (size_t j = i + 1; j < count; ++j) reach(j, cost_[i][j], kept_[i][j], true);
      }
    const auto end = llvm::find_if(least.back(), [](int64_t bytes) { return bytes != kNone; });
    if (end == least.back().end()) return {};
    Segments segments(steps_.forwards(), -1);
    int units = static_cast<int>(end - least.back().begin()), number = 0;
    for (size_t j = count - 1; j > 0;) {
      const auto [i, again] = from[j][units];
      for (int p = places_[i]; again && p < places_[j]; ++p) segments[p] = number;
      number += again;
      units -= again ? cost_[i][j] : 0;
      j = static_cast<size_t>(i);
    }
    // Found from the back on.
    for (int& segment : segments)
      if (segment >= 0) segment = number - 1 - segment;
    return segments;
  }

  int64_t all() const { return sizes_.sums().back(); }

 private:
  static constexpr size_t kPlaces = 256;
  static constexpr int kUnits = 60;

  // Of every pair of places: bytes that are made between them and read behind the second one, bytes
  // that only gradients read, and the work of computing them again.
  // kept_[i][j] and read_[i][j] are sums over all places from i on: a suffix sum for each j, so
  // that a segment [i, j) is looked up in constant time. Costs are rounded up to units of the
  // budget; the search is over whole numbers of them, and never exceeds it.
  void measure() {
    const size_t count = places_.size();
    std::vector<size_t> placeOf(steps_.forwards());  // the last one at or before a step
    for (size_t i = 0; i + 1 < count; ++i)
      for (int p = places_[i]; p < places_[i + 1]; ++p) placeOf[p] = i;
    std::vector<std::vector<int64_t>> read(count, std::vector<int64_t>(count)), kept = read;
    std::vector<double> work(count);
    for (const StepValue& value : steps_.values()) {
      if (!sizes_.counts(value)) continue;
      const size_t at = placeOf[value.step], last = placeOf[sizes_.lastOf(value)];
      // A segment that ends at place j keeps it where it is read behind j.
      for (size_t j = at + 1; j < count; ++j)
        (j <= last ? kept : read)[at][j] +=
            j <= last || sizes_.byGradients(value) ? value.bytes : 0;
    }
    // Some ops are never needed again, wherever the cuts are.
    const Plan whole(steps_, Segments(steps_.forwards(), 0));
    for (const Plan::Insertion& insertion : whole.insertions())
      for (int p : insertion.repeat) work[placeOf[p]] += steps_.all()[p].work;
    for (size_t j = 1; j < count; ++j) {
      double sum = 0;
      for (size_t i = j; i-- > 0;) {
        kept_[i][j] = kept[i][j] + (i + 1 < j ? kept_[i + 1][j] : 0);
        read_[i][j] = read[i][j] + (i + 1 < j ? read_[i + 1][j] : 0);
        sum += work[i];
        cost_[i][j] = unit_ > 0 ? static_cast<int>(std::min(std::ceil(sum / unit_), kUnits + 1.0))
                                : kUnits + 1;
      }
    }
  }

  const Steps& steps_;
  Sizes sizes_;
  double unit_ = 0;
  std::vector<int> places_;
  std::vector<std::vector<int64_t>> kept_, read_;  // by first and last place
  std::vector<std::vector<int>> cost_;
};

}  // namespace

// A segment ends behind the op that last gives a value of a checkpoint's name. A checkpoint that
// names nothing is an error, unless it is a feed, which is kept anyway.
mlir::FailureOr<Segments> segmentsAt(const Steps& steps, llvm::ArrayRef<std::string> checkpoints,
                                     pd::ProgramOp main) {
  std::vector<int> cuts;
  bool good = true;
  for (const std::string& entry : checkpoints) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(entry);
    if (!pattern) {
      main.emitError("recompute: checkpoint '")
          << entry << "' is no pattern: " << llvm::toString(pattern.takeError());
      good = false;
      continue;
    }
    llvm::SmallVector<llvm::StringRef> names;
    bool fed = false;
    for (auto input : main.getBodyBlock()->getOps<pd::InputOp>())
      fed |= pattern->match(input.getName());
    for (const StepValue& value : steps.values())
      if (value.step < steps.forwards() && steps.all()[value.step].forward &&
          pattern->match(pd::nameOf(value.value)))
        names.push_back(pd::nameOf(value.value));
    for (llvm::StringRef name : names)
      cuts.push_back(steps.values()[steps.lastNamed(name)].step + 1);
    if (!names.empty() || fed) continue;
    main.emitError("recompute: no value of the forward part is called '")
        << entry << "'; checkpoints are names or patterns of such values, or sqrt or auto alone";
    good = false;
  }
  if (!good) return mlir::failure();
  llvm::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cutAt(steps, cuts);
}

// With n values of equal size and k segments, k boundaries are kept and n/k values are repeated at
// a time: k + n/k is least for k = √n. Values are not equal: n is all bytes by the fewest bytes
// that a cut in the middle half keeps, and each cut goes to the cheapest place within half a
// segment of where equal parts would end.
Segments squareRootSegments(const Steps& steps) {
  const Sizes sizes(steps);
  const std::vector<int64_t> sums = sizes.sums();
  const auto all = static_cast<double>(sums.back());
  const std::vector<int> places = candidates(steps, sizes, steps.forwards());
  // What a cut in the middle half keeps.
  int64_t least = 0;
  for (int p : places)
    if (const auto at = static_cast<double>(sums[p]); at > all / 4 && at < all * 3 / 4 &&
                                                      sizes.crossing(p) > 0 &&
                                                      (least == 0 || sizes.crossing(p) < least))
      least = sizes.crossing(p);
  if (least == 0) return Segments(steps.forwards(), -1);
  const int count =
      std::max(2, static_cast<int>(std::lround(std::sqrt(all / static_cast<double>(least)))));
  std::vector<int> cuts;
  for (int k = 1; k < count; ++k) {
    // The cheapest place near the k-th part of all, the nearest of equal ones.
    const double aim = all * k / count, near = all / count / 2;
    const auto far = [&](int p) { return std::abs(static_cast<double>(sums[p]) - aim); };
    int best = -1;
    for (int p : places) {
      if (far(p) > near) continue;
      if (best < 0 ||
          std::pair(sizes.crossing(p), far(p)) < std::pair(sizes.crossing(best), far(best)))
        best = p;
    }
    if (best >= 0 && (cuts.empty() || cuts.back() < best)) cuts.push_back(best);
  }
  return cutAt(steps, cuts);
}

// By bisection over the bytes that may be alive at once: for each bound the segments of least work
// (Best::within). Bounds for which there are none raise the lower end.
Segments bestSegments(const Steps& steps, double percent) {
  const double budget = steps.work() * percent / 100;
  const Best best(steps, budget);
  Segments chosen(steps.forwards(), -1);
  int64_t peak = Plan(steps, chosen).peak();
  // The model leaves out gradients and what is alive within an op: of the bounds that can be kept,
  // the one whose plan has the lowest peak as counted value by value.
  int64_t low = 0, high = best.all();
  for (int round = 0; round < 24 && low < high; ++round) {
    const int64_t bound = low + (high - low) / 2;
    Segments segments = best.within(bound);
    if (segments.empty()) {
      low = bound + 1;
      continue;
    }
    high = bound;
    const Plan plan(steps, segments);
    if (plan.work() > budget) continue;
    if (const int64_t bytes = plan.peak(); bytes < peak) peak = bytes, chosen = segments;
  }
  return chosen;
}

}  // namespace dtranspile::passes
