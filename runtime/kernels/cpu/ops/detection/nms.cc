// Detections by non-maximum suppression: multiclass_nms, locality_aware_nms (Zhou et al. 2017),
// nms, retinanet_detection_output (Lin et al. 2017). A detection is a row (class, score, box).
#include "runtime/kernels/cpu/ops/detection/nms.h"

#include <string>

#include "runtime/kernels/cpu/ops/detection/boxes.h"
#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/polygon.h"
#include "runtime/kernels/cpu/ops/detection/rows.h"

namespace dtranspile::kernels {
namespace {

// The attributes of multiclass_nms and locality_aware_nms.
template <typename T>
struct Rules {
  using A = args::dt_multiclass_nms;
  using B = args::dt_locality_aware_nms;
  static_assert(A::background_label == B::background_label &&
                A::score_threshold == B::score_threshold && A::nms_top_k == B::nms_top_k &&
                A::nms_threshold == B::nms_threshold && A::nms_eta == B::nms_eta &&
                A::keep_top_k == B::keep_top_k && A::normalized == B::normalized);

  int64_t background, top, keep;
  T score, overlap, eta;
  bool pixels;

  explicit Rules(OpCall& call)
      : background(call.Int(A::background_label)),
        top(call.Int(A::nms_top_k)),
        keep(call.Int(A::keep_top_k)),
        score(Single(call, A::score_threshold)),
        overlap(Single(call, A::nms_threshold)),
        eta(Single(call, A::nms_eta)),
        pixels(!call.Bool(A::normalized)) {}
  // Attributes are float32 in the program: a threshold such as 0.3 must be the float, also where
  // boxes are float64, or comparisons go another way than in the framework.
  static T Single(OpCall& call, int attr) {
    return static_cast<T>(static_cast<float>(call.Real(attr)));
  }
};

// A box that was kept: its class, its number among the boxes of the image, score and coordinates.
template <typename T>
struct Detection {
  int64_t label, index;
  T score;
  const T* box;
};

// All of an image's classes, at most `keep` of the best; class by class, each in the order of
// selection.
template <typename T>
std::vector<Detection<T>> Best(std::vector<Detection<T>> found, int64_t keep) {
  if (keep < 0 || static_cast<int64_t>(found.size()) <= keep) return found;
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return Larger(a.score, b.score); });
  found.resize(static_cast<size_t>(keep));
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.label < b.label; });
  return found;
}

// The rows of all images to Out [rows, 2 + box]; one element of -1 where there are none.
template <typename T>
int32_t Write(OpCall& call, DtBuffer& out, const std::vector<std::vector<Detection<T>>>& images,
              int64_t box) {
  std::vector<int64_t> counts;
  int64_t total = 0;
  for (const auto& image : images)
    counts.push_back(static_cast<int64_t>(image.size())), total += counts.back();
  const bool none = total == 0;
  if (!call.Resize(out, none ? std::vector<int64_t>{1, 1} : std::vector<int64_t>{total, box + 2}))
    return 1;
  OpCall::SetLod(out, none ? Lod{{0, 1}} : LodOfCounts(counts));
  T* to = Data<T>(out);
  if (none) *to = -1;
  for (const auto& image : images)
    for (const Detection<T>& d : image) {
      *to++ = static_cast<T>(d.label);
      *to++ = d.score;
      to = std::copy_n(d.box, box, to);
    }
  return 0;
}

// Overlap of boxes of 4 numbers or of convex polygons; the latter are made once. False with a
// message for others.
template <typename T>
class Overlaps {
 public:
  Overlaps(int64_t size, bool pixels) : size_(size), pixels_(pixels) {}

  static bool Check(OpCall& call, const DtBuffer& boxes, int64_t size) {
    constexpr int64_t kSizes[] = {4, 8, 16, 24, 32};
    if (std::find(std::begin(kSizes), std::end(kSizes), size) == std::end(kSizes))
      return call.Fail("'%s' has boxes of %lld numbers, expected 4, 8, 16, 24 or 32", boxes.name,
                       static_cast<long long>(size)),
             false;
    if (size == 4) return true;
    for (int64_t i = 0; i < Elements(boxes); i += size)
      if (!IsConvex(PolygonOf(Data<T>(boxes) + i, size)))
        return call.Fail("'%s' has a polygon that is not convex: not supported", boxes.name), false;
    return true;
  }

  T operator()(const T* a, const T* b) const {
    return size_ == 4 ? BoxOverlap(a, b, pixels_)
                      : PolygonOverlap(PolygonOf(a, size_), PolygonOf(b, size_));
  }

 private:
  int64_t size_;
  bool pixels_;
};

// Scores [batch, classes, boxes] and BBoxes [batch, boxes, size].
bool DenseFits(OpCall& call, const DtBuffer& boxes, const DtBuffer& scores) {
  if (boxes.rank == 3 && scores.rank == 3 && boxes.dims[0] == scores.dims[0] &&
      boxes.dims[1] == scores.dims[2] && boxes.dtype == scores.dtype)
    return true;
  return call.Fail(
             "'%s' must be [batch, boxes, size] and '%s' [batch, classes, boxes], of one element "
             "type",
             boxes.name, scores.name),
         false;
}

// Boxes of all classes alike.
template <typename T>
std::vector<Detection<T>> DenseImage(const Rules<T>& rules, const Overlaps<T>& overlaps,
                                     const T* boxes, const T* scores, int64_t classes,
                                     int64_t count, int64_t size) {
  std::vector<Detection<T>> found;
  for (int64_t c = 0; c < classes; ++c) {
    if (c == rules.background) continue;
    const T* row = scores + c * count;
    const auto order =
        ByScore(row, count, rules.top, [&](int64_t i) { return row[i] > rules.score; });
    for (int64_t i : Suppress(order, rules.overlap, rules.eta, [&](int64_t a, int64_t b) {
           return overlaps(boxes + a * size, boxes + b * size);
         }))
      found.push_back({c, i, row[i], boxes + i * size});
  }
  return Best(std::move(found), rules.keep);
}

// Boxes [rows, classes, size] and scores [rows, classes] of the image's rows; what stays of a class
// goes by row.
// The best over all classes are taken with the rows in order, so that of equal scores the class
// with the smaller number, and in it the earlier row, stays.
template <typename T>
std::vector<Detection<T>> PerClassImage(const Rules<T>& rules, const Overlaps<T>& overlaps,
                                        const T* boxes, const T* scores, int64_t classes,
                                        const Rows& rows, int64_t size) {
  std::vector<Detection<T>> found;
  std::vector<T> column(static_cast<size_t>(rows.count()));
  const auto by_row = [](const auto& a, const auto& b) {
    return a.label != b.label ? a.label < b.label : a.index < b.index;
  };
  for (int64_t c = 0; c < classes; ++c) {
    if (c == rules.background) continue;
    for (int64_t i = 0; i < rows.count(); ++i)
      column[static_cast<size_t>(i)] = scores[(rows.begin + i) * classes + c];
    const auto box = [&](int64_t i) { return boxes + ((rows.begin + i) * classes + c) * size; };
    const auto order = ByScore(column.data(), rows.count(), rules.top, [&](int64_t i) {
      return column[static_cast<size_t>(i)] > rules.score;
    });
    for (int64_t i : Suppress(order, rules.overlap, rules.eta,
                              [&](int64_t a, int64_t b) { return overlaps(box(a), box(b)); }))
      found.push_back({c, i, column[static_cast<size_t>(i)], box(i)});
  }
  std::stable_sort(found.begin(), found.end(), by_row);
  found = Best(std::move(found), rules.keep);
  std::stable_sort(found.begin(), found.end(), by_row);
  return found;
}

// Neighbours that overlap melt into one box, their scores added; what has melted away is marked.
template <typename T>
std::vector<bool> Melt(const Rules<T>& rules, const Overlaps<T>& overlaps, T* boxes, T* scores,
                       int64_t count, int64_t size) {
  std::vector<bool> gone(static_cast<size_t>(count), true);
  int64_t at = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (at >= 0 && overlaps(boxes + i * size, boxes + at * size) > rules.overlap) {
      for (int64_t k = 0; k < size; ++k)
        boxes[at * size + k] =
            (boxes[i * size + k] * scores[i] + boxes[at * size + k] * scores[at]) /
            (scores[i] + scores[at]);
      scores[at] += scores[i];
      continue;
    }
    if (at >= 0) gone[static_cast<size_t>(at)] = false;
    at = i;
  }
  if (at >= 0) gone[static_cast<size_t>(at)] = false;
  return gone;
}

}  // namespace

// BBoxes, Scores; the rules -> Out
int32_t MulticlassNms(OpCall& call) {
  using A = args::dt_multiclass_nms;
  const DtBuffer &boxes = call.Arg(A::BBoxes), &scores = call.Arg(A::Scores);
  DtBuffer& out = call.Arg(A::Out);
  const bool per_class = scores.rank == 2;
  std::vector<Rows> rows;
  if (!per_class && !DenseFits(call, boxes, scores)) return 1;
  if (per_class && (boxes.rank != 3 || boxes.dims[0] != scores.dims[0] ||
                    boxes.dims[1] != scores.dims[1] || boxes.dtype != scores.dtype))
    return call.Fail(
        "'%s' must be [rows, classes, 4] and '%s' [rows, classes], of one element type", boxes.name,
        scores.name);
  if (per_class && !SequencesOf(call, boxes, rows)) return 1;
  return VisitFloat(call.context(), boxes, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const Rules<T> rules(call);
    const int64_t size = boxes.dims[2], classes = scores.dims[1];
    if (!Overlaps<T>::Check(call, boxes, size) || out.dtype != boxes.dtype) return 1;
    const Overlaps<T> overlaps(size, rules.pixels);
    std::vector<std::vector<Detection<T>>> images;
    for (const Rows& r : rows)
      images.push_back(
          PerClassImage(rules, overlaps, Data<T>(boxes), Data<T>(scores), classes, r, size));
    for (int64_t n = 0; !per_class && n < scores.dims[0]; ++n) {
      const int64_t count = boxes.dims[1];
      images.push_back(DenseImage(rules, overlaps, Data<T>(boxes) + n * count * size,
                                  Data<T>(scores) + n * classes * count, classes, count, size));
    }
    return Write(call, out, images, size);
  });
}

// BBoxes, Scores; the rules -> Out
// Melts neighbours in the order of the boxes first (they come by row of the image, so that boxes of
// one word follow one another), then suppresses as multiclass_nms does.
int32_t LocalityAwareNms(OpCall& call) {
  using A = args::dt_locality_aware_nms;
  const DtBuffer &boxes = call.Arg(A::BBoxes), &scores = call.Arg(A::Scores);
  DtBuffer& out = call.Arg(A::Out);
  if (!DenseFits(call, boxes, scores)) return 1;
  return VisitFloat(call.context(), boxes, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const Rules<T> rules(call);
    const int64_t size = boxes.dims[2], classes = scores.dims[1], count = boxes.dims[1];
    if (!Overlaps<T>::Check(call, boxes, size) || out.dtype != boxes.dtype) return 1;
    const Overlaps<T> overlaps(size, rules.pixels);
    // The classes of an image melt the same boxes, one after the other.
    std::vector<T> melted(Data<T>(boxes), Data<T>(boxes) + Elements(boxes)),
        summed(Data<T>(scores), Data<T>(scores) + Elements(scores));
    std::vector<std::vector<Detection<T>>> images;
    for (int64_t n = 0; n < scores.dims[0]; ++n) {
      std::vector<Detection<T>> found;
      T* image = melted.data() + n * count * size;
      for (int64_t c = 0; c < classes; ++c) {
        if (c == rules.background) continue;
        T* row = summed.data() + (n * classes + c) * count;
        const std::vector<bool> gone = Melt(rules, overlaps, image, row, count, size);
        const auto order = ByScore(row, count, rules.top, [&](int64_t i) {
          return row[i] > rules.score && !gone[static_cast<size_t>(i)];
        });
        for (int64_t i : Suppress(order, rules.overlap, rules.eta, [&](int64_t a, int64_t b) {
               return overlaps(image + a * size, image + b * size);
             }))
          found.push_back({c, i, row[i], image + i * size});
      }
      images.push_back(Best(std::move(found), rules.keep));
    }
    return Write(call, out, images, size);
  });
}

// Boxes, the best first; iou_threshold -> KeepBoxesIdxs
// The boxes are sorted already, so the order of suppression is that of the rows. The overlap here
// is without the pixel that BoxOverlap may add.
int32_t Nms(OpCall& call) {
  using A = args::dt_nms;
  const DtBuffer& boxes = call.Arg(A::Boxes);
  DtBuffer& out = call.Arg(A::KeepBoxesIdxs);
  if (boxes.rank != 2 || !CheckMatrix(call, boxes, 4)) return 1;
  return VisitFloat(call.context(), boxes, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    std::vector<int64_t> order(static_cast<size_t>(boxes.dims[0]));
    std::iota(order.begin(), order.end(), int64_t{0});
    const auto overlap = [&](int64_t i, int64_t j) {
      const T *a = Data<T>(boxes) + i * 4, *b = Data<T>(boxes) + j * 4;
      const T width = std::min(a[2], b[2]) - std::max(a[0], b[0]),
              height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
      if (width <= 0 || height <= 0) return T{0};
      return width * height /
             ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - width * height);
    };
    const auto kept = Suppress(
        order, static_cast<T>(static_cast<float>(call.Real(A::iou_threshold))), T{1}, overlap);
    if (!call.Resize(out, std::vector<int64_t>{static_cast<int64_t>(kept.size())})) return 1;
    if (TypeOf(out) != DType::kInt64) return call.Fail("'%s' must hold int64", out.name);
    std::copy(kept.begin(), kept.end(), Data<int64_t>(out));
    return 0;
  });
}

// BBoxes+, Scores+, Anchors+, ImInfo; score_threshold, nms_top_k, nms_threshold, nms_eta,
// keep_top_k -> Out. Of each level the best pairs of box and class are decoded; all of an image's
// levels are suppressed together. Classes count from 1 in Out.
int32_t RetinanetDetectionOutput(OpCall& call) {
  using A = args::dt_retinanet_detection_output;
  const int levels = call.Count(A::BBoxes);
  const DtBuffer& info = call.Arg(A::ImInfo);
  DtBuffer& out = call.Arg(A::Out);
  if (levels < 1 || call.Count(A::Scores) != levels || call.Count(A::Anchors) != levels ||
      !CheckMatrix(call, info, 3))
    return call.Fail("needs as many of BBoxes, Scores and Anchors");
  const int64_t batch = call.Arg(A::BBoxes).dims[0],
                classes = call.Arg(A::Scores).rank == 3 ? call.Arg(A::Scores).dims[2] : 0;
  for (int l = 0; l < levels; ++l) {
    const DtBuffer &boxes = call.Arg(A::BBoxes, l), &scores = call.Arg(A::Scores, l),
                   &anchors = call.Arg(A::Anchors, l);
    if (boxes.rank != 3 || scores.rank != 3 || boxes.dims[0] != batch || scores.dims[0] != batch ||
        boxes.dims[1] != scores.dims[1] || boxes.dims[2] != 4 || scores.dims[2] != classes ||
        Elements(anchors) != boxes.dims[1] * 4 || boxes.dtype != scores.dtype ||
        anchors.dtype != scores.dtype || info.dtype != scores.dtype || info.dims[0] < batch)
      return call.Fail("'%s', '%s' and '%s' do not fit each other", boxes.name, scores.name,
                       anchors.name);
  }
  return VisitFloat(call.context(), info, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const auto single = [&](int attr) {
      return static_cast<T>(static_cast<float>(call.Real(attr)));
    };
    std::vector<int64_t> counts;
    std::vector<T> rows;
    for (int64_t n = 0; n < batch; ++n) {
      const T* image = Data<T>(info) + n * 3;
      const T scale = image[2],
              most[2] = {std::round(image[1] / scale) - 1, std::round(image[0] / scale) - 1};
      std::vector<std::vector<T>> decoded(static_cast<size_t>(classes));  // rows of box and score
      for (int l = 0; l < levels; ++l) {
        const int64_t count = call.Arg(A::BBoxes, l).dims[1];
        const T* scores = Data<T>(call.Arg(A::Scores, l)) + n * count * classes;
        const T least = l + 1 < levels ? single(0) : T{0};
        for (int64_t i : ByScore(scores, count * classes, call.Int(A::nms_top_k),
                                 [&](int64_t k) { return scores[k] > least; })) {
          T box[4];
          DeltaToBox(Data<T>(call.Arg(A::Anchors, l)) + i / classes * 4,
                     Data<T>(call.Arg(A::BBoxes, l)) + (n * count + i / classes) * 4,
                     static_cast<const T*>(nullptr), static_cast<T>(1e30), true, box);
          auto& to = decoded[static_cast<size_t>(i % classes)];
          for (int k = 0; k < 4; ++k)
            to.push_back(std::max(std::min(box[k] / scale, most[k % 2]), T{0}));
          to.push_back(scores[i]);
        }
      }
      std::vector<std::pair<int64_t, const T*>> found;
      for (int64_t c = 0; c < classes; ++c) {
        const auto& of_class = decoded[static_cast<size_t>(c)];
        const auto box = [&](int64_t i) { return of_class.data() + i * 5; };
        std::vector<T> scores;
        for (size_t i = 4; i < of_class.size(); i += 5) scores.push_back(of_class[i]);
        const auto order = ByScore(scores.data(), static_cast<int64_t>(scores.size()), -1,
                                   [](int64_t) { return true; });
        for (int64_t i : Suppress(order, single(2), single(3), [&](int64_t a, int64_t b) {
               return BoxOverlap(box(a), box(b), true);
             }))
          found.emplace_back(c, box(i));
      }
      std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return Larger(a.second[4], b.second[4]);
      });
      if (static_cast<int64_t>(found.size()) > call.Int(A::keep_top_k))
        found.resize(static_cast<size_t>(std::max<int64_t>(call.Int(A::keep_top_k), 0)));
      for (const auto& [label, box] : found) {
        rows.insert(rows.end(), {static_cast<T>(label + 1), box[4]});
        rows.insert(rows.end(), box, box + 4);
      }
      counts.push_back(static_cast<int64_t>(found.size()));
    }
    if (!call.Resize(out, std::vector<int64_t>{static_cast<int64_t>(rows.size() / 6), 6})) return 1;
    OpCall::SetLod(out, LodOfCounts(counts));
    std::copy(rows.begin(), rows.end(), Data<T>(out));
    return 0;
  });
}

}  // namespace dtranspile::kernels
