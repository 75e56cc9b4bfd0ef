// yolov3_loss and its gradient. Every true box is learnt by one box: that of the cell in which its
// centre lies and of the anchor whose shape is nearest, if the op's mask has that anchor. Positions
// cost a cross entropy (x, y) or a distance (w, h), classes a cross entropy each. Of all other
// boxes only the objectness counts, as background, unless they overlap a true box by more than
// ignore_thresh.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/cpu/ops/detection/rows.h"
#include "runtime/kernels/cpu/ops/detection/yolo.h"

namespace dtranspile::kernels {
namespace {

// Intersection over union of boxes given by centre and sides.
template <typename T>
T CentredOverlap(const CentredBox<T>& a, const CentredBox<T>& b) {
  const auto common = [](T c1, T s1, T c2, T s2) {
    return std::min(c1 + s1 / 2, c2 + s2 / 2) - std::max(c1 - s1 / 2, c2 - s2 / 2);
  };
  const T w = common(a.x, a.w, b.x, b.w), h = common(a.y, a.h, b.y, b.h),
          inner = w < 0 || h < 0 ? T{0} : w * h;
  return inner / (a.w * a.h + b.w * b.h - inner);
}

// Sigmoid cross entropy on the logit x: -label log s(x) - (1 - label) log(1 - s(x)), in the form
// that neither overflows nor loses digits.
template <typename T>
T CrossEntropy(T x, T label) {
  return std::max(x, T{0}) - x * label + std::log1p(std::exp(-std::fabs(x)));
}

// Slots X, GTBox, GTLabel, GTScore; attributes anchors, anchor_mask, class_num, ignore_thresh,
// downsample_ratio, use_label_smooth, scale_x_y.
struct Loss {
  YoloCells cells;
  absl::Span<const int64_t> mask;
  int64_t truths;  // per image
  double positive, negative;
};

// Checks shapes of the truths against X. With use_label_smooth the targets of classes are 1 - δ and
// δ, δ = min(1 / classes, 1 / 40), as in the framework.
bool ReadLoss(OpCall& call, Loss& l) {
  using A = args::dt_yolo_loss;
  static_assert(A::GTBox == args::dt_yolo_loss_grad::GTBox &&
                A::GTLabel == args::dt_yolo_loss_grad::GTLabel &&
                A::GTScore == args::dt_yolo_loss_grad::GTScore &&
                A::X == args::dt_yolo_loss_grad::X &&
                A::anchor_mask == args::dt_yolo_loss_grad::anchor_mask &&
                A::anchors == args::dt_yolo_loss_grad::anchors &&
                A::class_num == args::dt_yolo_loss_grad::class_num &&
                A::downsample_ratio == args::dt_yolo_loss_grad::downsample_ratio &&
                A::scale_x_y == args::dt_yolo_loss_grad::scale_x_y &&
                A::use_label_smooth == args::dt_yolo_loss_grad::use_label_smooth);
  const DtBuffer &x = call.Arg(A::X), &box = call.Arg(A::GTBox), &label = call.Arg(A::GTLabel);
  l.mask = call.Ints(A::anchor_mask);
  if (!ReadYoloCells(call, x, static_cast<int64_t>(l.mask.size()), call.Int(A::class_num),
                     call.Int(A::downsample_ratio), call.Ints(A::anchors), call.Real(A::scale_x_y),
                     false, l.cells))
    return false;
  for (int64_t m : l.mask)
    if (m < 0 || 2 * m + 1 >= static_cast<int64_t>(l.cells.anchors.size()))
      return call.Fail("anchor_mask has %lld, there are %zu anchors", static_cast<long long>(m),
                       l.cells.anchors.size() / 2),
             false;
  if (box.rank != 3 || box.dims[0] != x.dims[0] || box.dims[2] != 4 || box.dtype != x.dtype)
    return call.Fail("'%s' must be [%lld, boxes, 4] of the type of '%s'", box.name,
                     static_cast<long long>(x.dims[0]), x.name),
           false;
  l.truths = box.dims[1];
  if (TypeOf(label) != DType::kInt32 || Elements(label) != x.dims[0] * l.truths)
    return call.Fail("'%s' must hold an int32 for each box of '%s'", label.name, box.name), false;
  if (call.Has(A::GTScore) && (Elements(call.Arg(A::GTScore)) != x.dims[0] * l.truths ||
                               call.Arg(A::GTScore).dtype != x.dtype))
    return call.Fail("'%s' must hold a number for each box of '%s'", call.Arg(A::GTScore).name,
                     box.name),
           false;
  const double smooth = std::min(1.0 / static_cast<double>(l.cells.classes), 1.0 / 40);
  l.positive = call.Bool(A::use_label_smooth) ? 1 - smooth : 1;
  l.negative = call.Bool(A::use_label_smooth) ? smooth : 0;
  return true;
}

// Images have fewer true boxes than rows; the rest are padded with boxes without extent.
template <typename T>
bool Valid(const CentredBox<T>& truth) {
  constexpr double kLeast = 1e-6;
  return truth.w >= kLeast && truth.h >= kLeast;
}

// The anchor whose box at the origin overlaps most.
template <typename T>
int64_t BestAnchor(const YoloCells& c, const CentredBox<T>& truth) {
  int64_t best = 0;
  T most = 0;
  for (size_t a = 0; a + 1 < c.anchors.size(); a += 2) {
    const CentredBox<T> anchor{0, 0, static_cast<T>(c.anchors[a]) / static_cast<T>(c.input_h),
                               static_cast<T>(c.anchors[a + 1]) / static_cast<T>(c.input_h)};
    const T overlap = CentredOverlap(anchor, CentredBox<T>{0, 0, truth.w, truth.h});
    if (overlap > most) most = overlap, best = static_cast<int64_t>(a / 2);
  }
  return best;
}

// A true box and the cell and box that learn it; `box` is -1 where none does.
template <typename T>
struct Match {
  CentredBox<T> truth;
  int64_t box, anchor, cell, label;
  T score;
};

// False with a message where the centre or the label are out of range.
template <typename T>
bool MatchOf(OpCall& call, const Loss& l, int64_t n, int64_t t, Match<T>& m) {
  using A = args::dt_yolo_loss;
  static_assert(A::GTBox == args::dt_yolo_loss_grad::GTBox &&
                A::GTLabel == args::dt_yolo_loss_grad::GTLabel &&
                A::GTScore == args::dt_yolo_loss_grad::GTScore);
  const T* truth = Data<T>(call.Arg(A::GTBox)) + (n * l.truths + t) * 4;
  m = {{truth[0], truth[1], truth[2], truth[3]},
       -1,
       0,
       0,
       0,
       call.Has(A::GTScore) ? Data<T>(call.Arg(A::GTScore))[n * l.truths + t] : T{1}};
  if (!Valid(m.truth)) return true;
  m.anchor = BestAnchor(l.cells, m.truth);
  const auto found = std::find(l.mask.begin(), l.mask.end(), m.anchor);
  if (found == l.mask.end()) return true;
  m.label = Data<int32_t>(call.Arg(A::GTLabel))[n * l.truths + t];
  if (!(m.truth.x >= 0 && m.truth.x < 1 && m.truth.y >= 0 && m.truth.y < 1))
    return call.Fail("'%s' has a box around (%g, %g), outside of the image",
                     call.Arg(A::GTBox).name, static_cast<double>(m.truth.x),
                     static_cast<double>(m.truth.y)),
           false;
  if (m.label < 0 || m.label >= l.cells.classes)
    return call.Fail("'%s' has the label %lld of %lld classes", call.Arg(A::GTLabel).name,
                     static_cast<long long>(m.label), static_cast<long long>(l.cells.classes)),
           false;
  m.box = found - l.mask.begin();
  const auto column =
      std::min(static_cast<int64_t>(m.truth.x * static_cast<T>(l.cells.width)), l.cells.width - 1);
  m.cell = std::min(static_cast<int64_t>(m.truth.y * static_cast<T>(l.cells.height)),
                    l.cells.height - 1) *
               l.cells.width +
           column;
  return true;
}

// What x, y, w, h of the box should be, and what a difference costs. One grid size and input size,
// the height's, serve both axes.
template <typename T>
struct Targets {
  T value[4], scale;
};

// The inverse of how a box is read from X (yolo_box): places within the cell, logarithms of the
// sides over the anchor's. Small boxes cost more: the scale is 2 - w h, times the score of the
// truth.
template <typename T>
Targets<T> TargetsOf(const Loss& l, const Match<T>& m) {
  const T grid = static_cast<T>(l.cells.height), input = static_cast<T>(l.cells.input_h);
  const auto anchor = [&](int64_t i) {
    return static_cast<T>(l.cells.anchors[static_cast<size_t>(2 * m.anchor + i)]);
  };
  return {{m.truth.x * grid - static_cast<T>(m.cell % l.cells.width),
           m.truth.y * grid - static_cast<T>(m.cell / l.cells.width),
           std::log(m.truth.w * input / anchor(0)), std::log(m.truth.h * input / anchor(1))},
          (2 - m.truth.w * m.truth.h) * m.score};
}

// Boxes that overlap a true one enough are neither objects nor background: -1.
template <typename T>
void MarkIgnored(const Loss& l, const T* x, const T* truths, int64_t n, double threshold,
                 T* objectness) {
  const YoloCells& c = l.cells;
  for (int64_t i = 0; i < c.boxes * c.Plane(); ++i) {
    const int64_t box = i / c.Plane(), cell = i % c.Plane();
    const CentredBox<T> predicted = YoloBoxAt(c, x, n, box, cell, l.mask[static_cast<size_t>(box)],
                                              c.height, c.height, c.input_h, c.input_h);
    T most = 0;
    for (int64_t t = 0; t < l.truths; ++t) {
      const T* truth = truths + (n * l.truths + t) * 4;
      const CentredBox<T> b{truth[0], truth[1], truth[2], truth[3]};
      if (Valid(b)) most = std::max(most, CentredOverlap(predicted, b));
    }
    objectness[n * c.boxes * c.Plane() + i] =
        most > static_cast<T>(static_cast<float>(threshold)) ? T{-1} : T{0};
  }
}

constexpr double kObject = 1e-5, kIgnored = -0.5;  // an objectness above the one is an object's,
                                                   // one below the other does not count

// The loss of image n. `objectness` receives per box the score of the truth that it learns, 0 for
// background, -1 for what does not count, and is an output that the gradient reads; `matches` the
// box of each truth. Objectness is summed last, since a later truth may claim a box that an earlier
// one marked.
template <typename T>
bool SampleLoss(OpCall& call, const Loss& l, int64_t n, T* loss, T* objectness, int32_t* matches) {
  using A = args::dt_yolo_loss;
  const YoloCells& c = l.cells;
  const T* x = Data<T>(call.Arg(A::X));
  MarkIgnored(l, x, Data<T>(call.Arg(A::GTBox)), n, call.Real(A::ignore_thresh), objectness);
  T sum = 0;
  for (int64_t t = 0; t < l.truths; ++t) {
    Match<T> m;
    if (!MatchOf(call, l, n, t, m)) return false;
    matches[n * l.truths + t] = static_cast<int32_t>(m.box);
    if (m.box < 0) continue;
    const Targets<T> targets = TargetsOf(l, m);
    for (int64_t e = 0; e < 4; ++e) {
      const T value = x[c.At(n, m.box, m.cell, e)];
      sum += (e < 2 ? CrossEntropy(value, targets.value[e]) : std::fabs(targets.value[e] - value)) *
             targets.scale;
    }
    objectness[(n * c.boxes + m.box) * c.Plane() + m.cell] = m.score;
    for (int64_t k = 0; k < c.classes; ++k)
      sum += CrossEntropy(x[c.At(n, m.box, m.cell, kYoloBoxEntries + k)],
                          static_cast<T>(k == m.label ? l.positive : l.negative)) *
             m.score;
  }
  for (int64_t i = 0; i < c.boxes * c.Plane(); ++i) {
    const T object = objectness[n * c.boxes * c.Plane() + i],
            value = x[c.At(n, i / c.Plane(), i % c.Plane(), 4)];
    if (object > kObject) sum += CrossEntropy(value, T{1}) * object;
    else if (object > kIgnored) sum += CrossEntropy(value, T{0});
  }
  loss[n] = sum;
  return true;
}

// d cross entropy / d x = s(x) - label; d |t - x| / d x is the sign. Entries are set, not added, as
// in the framework: of two truths that one box learns the last one counts.
template <typename T>
bool SampleGrad(OpCall& call, const Loss& l, int64_t n, const T* objectness, T dloss, T* dx) {
  using A = args::dt_yolo_loss_grad;
  const YoloCells& c = l.cells;
  const T* x = Data<T>(call.Arg(A::X));
  const auto by_entropy = [&](int64_t at, T label) { return YoloSigmoid(x[at]) - label; };
  for (int64_t t = 0; t < l.truths; ++t) {
    Match<T> m;
    if (!MatchOf(call, l, n, t, m)) return false;
    if (m.box < 0) continue;
    const Targets<T> targets = TargetsOf(l, m);
    for (int64_t e = 0; e < 4; ++e) {
      const int64_t at = c.At(n, m.box, m.cell, e);
      dx[at] = (e < 2                      ? by_entropy(at, targets.value[e])
                : x[at] > targets.value[e] ? T{1}
                                           : T{-1}) *
               targets.scale * dloss;
    }
    for (int64_t k = 0; k < c.classes; ++k) {
      const int64_t at = c.At(n, m.box, m.cell, kYoloBoxEntries + k);
      dx[at] =
          by_entropy(at, static_cast<T>(k == m.label ? l.positive : l.negative)) * m.score * dloss;
    }
  }
  for (int64_t i = 0; i < c.boxes * c.Plane(); ++i) {
    const T object = objectness[n * c.boxes * c.Plane() + i];
    const int64_t at = c.At(n, i / c.Plane(), i % c.Plane(), 4);
    if (object > kObject) dx[at] = by_entropy(at, T{1}) * object * dloss;
    else if (object > kIgnored) dx[at] = by_entropy(at, T{0}) * dloss;
  }
  return true;
}

}  // namespace

// … -> Loss, ObjectnessMask, GTMatchMask
int32_t YoloLoss(OpCall& call) {
  using A = args::dt_yolo_loss;
  Loss l;
  if (!ReadLoss(call, l)) return 1;
  const YoloCells& c = l.cells;
  const DType type = TypeOf(call.Arg(A::X));
  Output loss(call, 4, type, {c.batch}),
      objectness(call, 5, type, {c.batch, c.boxes, c.height, c.width}),
      matches(call, 6, DType::kInt32, {c.batch, l.truths});
  if (!loss.ok() || !objectness.ok() || !matches.ok()) return 1;
  return VisitFloat(call.context(), call.Arg(A::X), [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    for (int64_t n = 0; n < c.batch; ++n)
      if (!SampleLoss(call, l, n, loss.template data<T>(), objectness.template data<T>(),
                      matches.template data<int32_t>()))
        return 1;
    return 0;
  });
}

// …, ObjectnessMask, Loss@GRAD -> X@GRAD
int32_t YoloLossGrad(OpCall& call) {
  using A = args::dt_yolo_loss_grad;
  Loss l;
  const DtBuffer &objectness = call.Arg(A::ObjectnessMask), &gradient = call.Arg(A::Loss_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  if (!ReadLoss(call, l) || !call.Resize(dx, call.Arg(A::X))) return 1;
  if (Elements(objectness) != l.cells.batch * l.cells.boxes * l.cells.Plane() ||
      Elements(gradient) != l.cells.batch || gradient.dtype != dx.dtype ||
      objectness.dtype != dx.dtype)
    return call.Fail("'%s' or '%s' has not the extents and type of the forward result",
                     objectness.name, gradient.name);
  return VisitFloat(call.context(), dx, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    std::fill_n(Data<T>(dx), Elements(dx), T{0});
    for (int64_t n = 0; n < l.cells.batch; ++n)
      if (!SampleGrad(call, l, n, Data<T>(objectness), Data<T>(gradient)[n], Data<T>(dx))) return 1;
    return 0;
  });
}

}  // namespace dtranspile::kernels
