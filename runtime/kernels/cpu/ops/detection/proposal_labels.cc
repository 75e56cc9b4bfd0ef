// generate_proposal_labels (Girshick 2015): samples of the proposed regions and the true boxes,
// with their classes and what takes them to their box. A region is an object's from an overlap of
// fg_thresh on, background in [bg_thresh_lo, bg_thresh_hi).
#include <cmath>

#include "runtime/kernels/cpu/ops/detection/boxes.h"
#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/rows.h"
#include "runtime/kernels/cpu/random/generator.h"

namespace dtranspile::kernels {
namespace {

struct Rules {
  int64_t batch, classes;
  float fraction, object, background_high, background_low;
  absl::Span<const double> weights;
  bool agnostic;
  random::Engine* engine;
};

// A sample: which box (of the true ones and the regions), which true box it is to become, and their
// overlap.
struct Chosen {
  int64_t region, truth;  // truth: -1 for background
  double overlap;
};

// Cuts `chosen` to `most`; with an engine by reservoir sampling (Vitter 1985), where item i takes a
// place drawn from [0, i). A place from `replace` on counts as not taken: the framework bounds the
// places of the background by the number of objects found.
void Sample(std::vector<Chosen>& chosen, int64_t most, int64_t replace, random::Engine* engine) {
  most = std::max<int64_t>(most, 0);
  if (static_cast<int64_t>(chosen.size()) <= most) return;
  for (size_t i = static_cast<size_t>(most); engine != nullptr && i < chosen.size(); ++i) {
    const auto at =
        static_cast<int64_t>(std::floor(engine->Canonical<float>() * static_cast<float>(i)));
    if (at < std::min(replace, most)) std::swap(chosen[static_cast<size_t>(at)], chosen[i]);
  }
  chosen.resize(static_cast<size_t>(most));
}

// boxes: the true ones first, all in the image before it was scaled.
// True boxes are regions too, so that each object has at least one candidate; crowds are none. At
// most batch · fraction objects, and background up to the whole batch.
template <typename T>
std::vector<Chosen> Choose(const Rules& rules, const std::vector<T>& boxes, size_t truths,
                           const int32_t* crowd) {
  std::vector<Chosen> objects, background;
  for (size_t i = 0; i * 4 < boxes.size(); ++i) {
    Chosen c{static_cast<int64_t>(i), 0, 0};
    for (size_t j = 0; j < truths; ++j) {
      const auto overlap =
          static_cast<double>(PixelOverlap(boxes.data() + i * 4, boxes.data() + j * 4));
      if (overlap > c.overlap) c.overlap = overlap, c.truth = static_cast<int64_t>(j);
    }
    if (i < truths && crowd[i] != 0) c.overlap = -1;
    const auto overlap = static_cast<T>(c.overlap);
    if (truths > 0 && overlap >= static_cast<T>(rules.object)) objects.push_back(c);
    else if (overlap >= static_cast<T>(rules.background_low) &&
             overlap < static_cast<T>(rules.background_high))
      background.push_back({c.region, -1, c.overlap});
  }
  const auto wanted =
      static_cast<int64_t>(std::floor(static_cast<float>(rules.batch) * rules.fraction));
  Sample(objects, wanted, wanted, rules.engine);
  const auto found = static_cast<int64_t>(objects.size());
  Sample(background, rules.batch - found, found, rules.engine);
  objects.insert(objects.end(), background.begin(), background.end());
  return objects;
}

// What the op gives, row by row of all images; `targets` and `weights` have four columns per class.
template <typename T>
struct Labels {
  std::vector<T> rois, targets, weights, overlaps;
  std::vector<int32_t> labels;
  std::vector<int64_t> counts;
};

// Rows of one image. What takes a region to its box stands in the columns of its class (of class 1
// where all classes share them), with the weight 1; everything else is 0 and has no weight.
template <typename T>
void Append(const Rules& rules, const std::vector<Chosen>& chosen, const std::vector<T>& boxes,
            const int32_t* classes, T scale, Labels<T>& out) {
  const int64_t width = 4 * rules.classes;
  for (const Chosen& c : chosen) {
    const int32_t label = c.truth < 0 ? 0 : classes[c.truth];
    for (int k = 0; k < 4; ++k)
      out.rois.push_back(boxes[static_cast<size_t>(c.region * 4 + k)] * scale);
    out.labels.push_back(label);
    out.overlaps.push_back(static_cast<T>(c.overlap));
    out.targets.resize(out.targets.size() + static_cast<size_t>(width), T{0});
    out.weights.resize(out.targets.size(), T{0});
    if (label <= 0) continue;
    T delta[4];
    BoxToDelta(boxes.data() + c.region * 4, boxes.data() + c.truth * 4, delta);
    const size_t at = out.targets.size() - static_cast<size_t>(width) +
                      static_cast<size_t>(4 * (rules.agnostic ? 1 : label));
    for (size_t k = 0; k < 4; ++k) {
      out.targets[at + k] = rules.weights.empty()
                                ? delta[k]
                                : delta[k] / static_cast<T>(static_cast<float>(rules.weights[k]));
      out.weights[at + k] = 1;
    }
  }
  out.counts.push_back(static_cast<int64_t>(chosen.size()));
}

template <typename T, typename Values>
bool Write(OpCall& call, int slot, DType type, const Values& values, int64_t columns,
           const Lod& lod) {
  Output out(call, slot, type, {static_cast<int64_t>(values.size()) / columns, columns}, lod);
  if (out.ok()) std::copy(values.begin(), values.end(), out.template data<T>());
  return out.ok();
}

// Sampling: the framework seeds it by chance.
random::Engine& EngineOf() {
  return random::Generator::Process().ForOp(random::Release::kFluid1, 0);
}

}  // namespace

// RpnRois, GtClasses, IsCrowd, GtBoxes, ImInfo; batch_size_per_im, fg_fraction, fg_thresh,
// bg_thresh_hi, bg_thresh_lo, bbox_reg_weights, class_nums, use_random, is_cascade_rcnn,
// is_cls_agnostic
// -> Rois, LabelsInt32, BboxTargets, BboxInsideWeights, BboxOutsideWeights, MaxOverlapWithGT
int32_t GenerateProposalLabels(OpCall& call) {
  using A = args::dt_generate_proposal_labels;
  const DtBuffer &rois = call.Arg(A::RpnRois), &classes = call.Arg(A::GtClasses),
                 &crowd = call.Arg(A::IsCrowd), &truths = call.Arg(A::GtBoxes),
                 &info = call.Arg(A::ImInfo);
  if (call.Bool(A::is_cascade_rcnn)) return call.Fail("is_cascade_rcnn is not supported");
  const auto single = [&](int attr) { return static_cast<float>(call.Real(attr)); };
  const Rules rules{call.Int(A::batch_size_per_im),
                    call.Int(A::class_nums),
                    single(1),
                    single(2),
                    single(3),
                    single(4),
                    call.Reals(A::bbox_reg_weights),
                    call.Bool(A::is_cls_agnostic),
                    call.Bool(A::use_random) ? &EngineOf() : nullptr};
  constexpr int64_t kMostClasses = int64_t{1} << 24;
  if (rules.classes < (rules.agnostic ? 2 : 1) || rules.classes > kMostClasses ||
      (!rules.weights.empty() && rules.weights.size() != 4))
    return call.Fail("class_nums %lld and %zu weights", static_cast<long long>(rules.classes),
                     rules.weights.size());
  std::vector<Rows> images, truth_rows;
  if (rois.rank != 2 || truths.rank != 2 || !CheckMatrix(call, rois, 4) ||
      !CheckMatrix(call, truths, 4) || !CheckMatrix(call, info, 3))
    return 1;
  if (!SequencesOf(call, rois, images) || !SequencesOf(call, truths, truth_rows)) return 1;
  if (images.size() != truth_rows.size() ||
      Elements(info) < 3 * static_cast<int64_t>(images.size()))
    return call.Fail("'%s' has %zu images, '%s' %zu", rois.name, images.size(), truths.name,
                     truth_rows.size());
  for (const DtBuffer* integers : {&classes, &crowd})
    if (TypeOf(*integers) != DType::kInt32 || Elements(*integers) != truths.dims[0])
      return call.Fail("'%s' must hold an int32 for each row of '%s'", integers->name, truths.name);
  for (int64_t i = 0; i < truths.dims[0]; ++i)
    if (!rules.agnostic && Data<int32_t>(classes)[i] >= rules.classes)
      return call.Fail("'%s' has the class %d of %lld", classes.name, Data<int32_t>(classes)[i],
                       static_cast<long long>(rules.classes));
  if (rois.dtype != truths.dtype || info.dtype != truths.dtype)
    return call.Fail("'%s', '%s' and '%s' must have one element type", rois.name, truths.name,
                     info.name);
  return VisitFloat(call.context(), rois, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    Labels<T> out;
    for (size_t n = 0; n < images.size(); ++n) {
      const T scale = Data<T>(info)[n * 3 + 2];
      std::vector<T> boxes(Data<T>(truths) + truth_rows[n].begin * 4,
                           Data<T>(truths) + truth_rows[n].end * 4);
      for (int64_t i = images[n].begin * 4; i < images[n].end * 4; ++i)
        boxes.push_back(Data<T>(rois)[i] / scale);
      const auto chosen = Choose(rules, boxes, static_cast<size_t>(truth_rows[n].count()),
                                 Data<int32_t>(crowd) + truth_rows[n].begin);
      Append(rules, chosen, boxes, Data<int32_t>(classes) + truth_rows[n].begin, scale, out);
    }
    const Lod lod = LodOfCounts(out.counts);
    const DType type = TypeOf(rois);
    const int64_t width = 4 * rules.classes;
    const bool ok = Write<T>(call, A::Rois, type, out.rois, 4, lod) &&
                    Write<int32_t>(call, A::LabelsInt32, DType::kInt32, out.labels, 1, lod) &&
                    Write<T>(call, A::BboxTargets, type, out.targets, width, lod) &&
                    Write<T>(call, A::BboxInsideWeights, type, out.weights, width, lod) &&
                    Write<T>(call, A::BboxOutsideWeights, type, out.weights, width, lod);
    if (!ok || !call.Has(A::MaxOverlapWithGT)) return ok ? 0 : 1;
    Output overlaps(call, 10, type, {static_cast<int64_t>(out.overlaps.size())}, lod);
    if (overlaps.ok())
      std::copy(out.overlaps.begin(), out.overlaps.end(), overlaps.template data<T>());
    return overlaps.ok() ? 0 : 1;
  });
}

}  // namespace dtranspile::kernels
