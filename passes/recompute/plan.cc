#include "passes/recompute/plan.h"

#include "llvm/ADT/STLExtras.h"

namespace dtranspile::passes {
namespace {

// Memory from the place where it is written to the last one where it is read.
struct Life {
  int64_t bytes = 0;
  int from = 0, to = 0;
};

}  // namespace

// A value is repeated where nobody outside of its segment reads it, and keeping it would
// take memory. Three rounds, because the first looks at values one by one: readers of other
// segments, views (a view of kept memory costs nothing to keep, so its storage decides for all of
// its views). Then every gradient, in program order, gets the steps that make what it reads and
// that no gradient before it has asked for: as late as possible, so that few repeated values live
// at once, and each step at most once.
Plan::Plan(const Steps& steps, const Segments& segments) : steps_(steps) {
  for (const StepValue& value : steps.values()) {
    const Step& made = steps.all()[value.step];
    const int segment = made.forward ? segments[value.step] : -1;
    // What another segment reads is kept, and what costs nothing to keep.
    bool repeated = segment >= 0 && made.again && !value.byOthers &&
                    segments[value.lastForward] == segment &&
                    (value.bytes > 0 || value.storage != steps.numberOf(value.value));
    repeated_.push_back(repeated);
  }
  // The last reader may be of the same segment and one before it of another.
  for (int i = 0; i < steps.forwards(); ++i)
    for (int read : steps.all()[i].reads)
      if (steps.all()[i].forward && segments[i] != segments[steps.values()[read].step])
        repeated_[read] = false;
  // Nothing is saved where a view of the same memory is kept.
  std::vector<bool> kept(steps.values().size());
  for (auto [number, value] : llvm::enumerate(steps.values()))
    if (!repeated_[number]) kept[value.storage] = true;
  for (auto [number, value] : llvm::enumerate(steps.values()))
    if (kept[value.storage]) repeated_[number] = false;
  std::vector<bool> done(steps.forwards());
  for (int i = 0; i < static_cast<int>(steps.all().size()); ++i) {
    if (!steps.all()[i].gradient) continue;
    std::vector<int> order;
    for (int read : steps.all()[i].reads) repeatFor(read, done, order);
    llvm::sort(order);
    if (!order.empty()) insertions_.push_back({i, std::move(order)});
  }
}

// The step that makes the value, after what that needs in turn. Chains may be long: no recursion.
void Plan::repeatFor(int value, std::vector<bool>& done, std::vector<int>& order) const {
  std::vector<int> work = {value};
  while (!work.empty()) {
    const int one = work.back();
    work.pop_back();
    if (!repeated_[one]) continue;
    const int step = steps_.values()[one].step;
    if (done[step]) continue;
    done[step] = true;
    order.push_back(step);
    llvm::append_range(work, steps_.all()[step].reads);
  }
}

double Plan::work() const {
  double work = 0;
  for (const Insertion& insertion : insertions_)
    for (int step : insertion.repeat) work += steps_.all()[step].work;
  return work;
}

// Every value lives from its step to the last one that reads it, twice if it is repeated: once up
// to the last forward reader, again from its repetition to the last gradient. The sum of the bytes
// alive, by one sweep over the beginnings and ends; views live in their storage. Linear in steps
// and their reads.
int64_t Plan::peak() const {
  const size_t count = steps_.values().size();
  std::vector<Life> first(count), second(count);  // as computed first, and as computed again
  int now = 0;
  const auto read = [&](int value, bool backward) {
    const StepValue& one = steps_.values()[value];
    const bool again = backward && repeated_[value] && repeated_[one.storage];
    (again ? second : first)[one.storage].to = now;
  };
  const auto make = [&](int step, std::vector<Life>& lives) {
    for (int value : steps_.all()[step].makes) {
      const StepValue& one = steps_.values()[value];
      if (one.storage == value) lives[value] = {one.bytes, now, now};
    }
  };
  size_t next = 0;
  for (int i = 0; i < static_cast<int>(steps_.all().size()); ++i) {
    const Step& step = steps_.all()[i];
    if (next < insertions_.size() && insertions_[next].before == i)
      for (int again : insertions_[next++].repeat) {
        for (int value : steps_.all()[again].reads) read(value, true);
        make(again, second);
        ++now;
      }
    for (int value : step.reads) read(value, step.gradient);
    make(i, first);
    ++now;
  }
  std::vector<int64_t> change(now + 2);
  for (const std::vector<Life>* lives : {&first, &second})
    for (const Life& life : *lives)
      change[life.from] += life.bytes, change[life.to + 1] -= life.bytes;
  int64_t alive = 0, most = 0;
  for (int64_t bytes : change) most = std::max(most, alive += bytes);
  return most;
}

}  // namespace dtranspile::passes
