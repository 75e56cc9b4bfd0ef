// matrix_nms (Wang et al. 2020): scores of a class fall with the overlap of a box with better ones,
// relative to how much these overlap still better ones; nothing is left out greedily.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/kernels/cpu/ops/detection/boxes.h"
#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/nms.h"
#include "runtime/kernels/cpu/ops/detection/rows.h"

namespace dtranspile::kernels {
namespace {

template <typename T>
struct Decay {
  T score, after, sigma;
  bool gaussian, pixels;
  int64_t top;

  T operator()(T overlap, T most) const {
    return gaussian ? std::exp((most * most - overlap * overlap) * sigma)
                    : static_cast<T>((1.0 - overlap) / (1.0 - most));
  }
};

template <typename T>
struct Found {
  int64_t label, index;
  T score;
};

// The `most` largest of `order` first (all where it is negative), by falling score, what is left
// dropped. Equal scores come in the order that a heap of them gives, which is that of the
// framework: the same algorithm over the same positions.
template <typename T, typename Index>
void LargestFirst(std::vector<Index>& order, const T* scores, int64_t most) {
  const auto size = static_cast<int64_t>(order.size());
  const auto end = order.begin() + (most < 0 ? size : std::min(most, size));
  std::partial_sort(order.begin(), end, order.end(),
                    [&](Index a, Index b) { return scores[a] > scores[b]; });
  order.erase(end, order.end());
}

// In the order of falling scores: box i decays by the least, over better boxes j, of
// decay(overlap(i, j)) / decay(largest overlap of j with boxes better than j).
template <typename T>
void OneClass(const Decay<T>& rules, const T* boxes, int64_t size, const T* scores, int64_t count,
              int64_t label, std::vector<Found<T>>& found) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i)
    if (!(scores[i] <= rules.score)) order.push_back(i);
  LargestFirst(order, scores, rules.top);
  std::vector<T> most(order.size(), T{0}), overlaps(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    T factor = 1;
    for (size_t j = 0; j < i; ++j) {
      const T overlap = BoxOverlap(boxes + order[i] * size, boxes + order[j] * size, rules.pixels);
      most[i] = std::max(most[i], overlap);
      factor = std::min(factor, rules(overlap, most[j]));
    }
    const T score = i == 0 ? scores[order[i]] : factor * scores[order[i]];
    if (i == 0 ? score > rules.after : !(score <= rules.after))
      found.push_back({label, order[i], score});
  }
}

}  // namespace

// BBoxes, Scores; background_label, score_threshold, post_threshold, nms_top_k, keep_top_k,
// normalized, use_gaussian, gaussian_sigma, @version
// -> Out, Index, RoisNum
int32_t MatrixNms(OpCall& call) {
  using A = args::dt_matrix_nms;
  const DtBuffer &boxes = call.Arg(A::BBoxes), &scores = call.Arg(A::Scores);
  if (boxes.rank != 3 || scores.rank != 3 || boxes.dims[0] != scores.dims[0] ||
      boxes.dims[1] != scores.dims[2] || boxes.dims[2] < 4 || boxes.dtype != scores.dtype)
    return call.Fail(
        "'%s' must be [batch, boxes, 4] and '%s' [batch, classes, boxes], of one element type",
        boxes.name, scores.name);
  return VisitFloat(call.context(), boxes, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const auto single = [&](int attr) {
      return static_cast<T>(static_cast<float>(call.Real(attr)));
    };
    const Decay<T> rules{single(1),
                         single(2),
                         single(7),
                         call.Bool(A::use_gaussian),
                         !call.Bool(A::normalized),
                         call.Int(A::nms_top_k)};
    const int64_t count = boxes.dims[1], size = boxes.dims[2], classes = scores.dims[1];
    std::vector<T> rows;
    std::vector<int64_t> places, counts;
    for (int64_t n = 0; n < boxes.dims[0]; ++n) {
      std::vector<Found<T>> found;
      for (int64_t c = 0; c < classes; ++c)
        if (c != call.Int(A::background_label))
          OneClass(rules, Data<T>(boxes) + n * count * size, size,
                   Data<T>(scores) + (n * classes + c) * count, count, c, found);
      std::vector<T> decayed;
      for (const Found<T>& f : found) decayed.push_back(f.score);
      std::vector<size_t> order(found.size());
      std::iota(order.begin(), order.end(), size_t{0});
      LargestFirst(order, decayed.data(), call.Int(A::keep_top_k));
      for (size_t place : order) {
        const Found<T>& f = found[place];
        places.push_back(n * count + f.index);
        rows.insert(rows.end(), {static_cast<T>(f.label), f.score});
        rows.insert(rows.end(), Data<T>(boxes) + places.back() * size,
                    Data<T>(boxes) + (places.back() + 1) * size);
      }
      counts.push_back(static_cast<int64_t>(order.size()));
    }
    const auto total = static_cast<int64_t>(places.size());
    // From 2.3 on images are told by counts alone.
    const Lod lod = call.Int(A::version) >= 2003000 ? Lod() : LodOfCounts(counts);
    if (call.Has(A::Out)) {
      DtBuffer& out = call.Arg(A::Out);
      if (!call.Resize(out, {total, size + 2})) return 1;
      OpCall::SetLod(out, lod);
      std::copy(rows.begin(), rows.end(), Data<T>(out));
    }
    if (call.Has(A::Index)) {
      DtBuffer& index = call.Arg(A::Index);
      if (!call.Resize(index, {total, 1})) return 1;
      OpCall::SetLod(index, lod);
      const int32_t failed = VisitIndex(call.context(), index, [&](auto kind) {
        return std::copy(places.begin(), places.end(), Data<typename decltype(kind)::type>(index)),
               0;
      });
      if (failed != 0) return failed;
    }
    return !call.Has(A::RoisNum) || WriteCounts(call, call.Arg(A::RoisNum), counts) ? 0 : 1;
  });
}

}  // namespace dtranspile::kernels
