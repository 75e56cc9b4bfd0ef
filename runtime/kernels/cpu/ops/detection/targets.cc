// Which anchors learn what: rpn_target_assign (Ren et al. 2015) and retinanet_target_assign (Lin et
// al. 2017). An anchor is an object's where no other overlaps the object more, or it overlaps one
// enough; background where it overlaps all of them little. Indices count over the anchors of all
// images, one image after the other.
#include <cmath>

#include "runtime/kernels/cpu/ops/detection/boxes.h"
#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/rows.h"
#include "runtime/kernels/cpu/random/generator.h"

namespace dtranspile::kernels {
namespace {

// Sampling: the framework seeds it by chance.
random::Engine& EngineOf() {
  return random::Generator::Process().ForOp(random::Release::kFluid1, 0);
}

// `most` of them: the first ones, or, with an engine, any (Vitter 1985).
void Sample(std::vector<int64_t>& indices, int64_t most, random::Engine* engine) {
  most = std::max<int64_t>(most, 0);
  if (static_cast<int64_t>(indices.size()) <= most) return;
  for (size_t i = static_cast<size_t>(most); engine != nullptr && i < indices.size(); ++i) {
    const auto at =
        static_cast<int64_t>(std::floor(engine->Canonical<float>() * static_cast<float>(i)));
    if (at < most) std::swap(indices[static_cast<size_t>(at)], indices[i]);
  }
  indices.resize(static_cast<size_t>(most));
}

// What both ops ask for; `batch` is negative where all count.
struct Wanted {
  double positive, negative, fraction;
  int64_t batch;
  random::Engine* engine;
};

struct Assigned {
  std::vector<int64_t> located, scored, truth;  // anchors that learn a box (with the row of the
                                                // true one), and anchors that learn a class
  size_t objects = 0;                           // of `scored`, at its beginning
  size_t candidates = 0;
  size_t fakes = 0;  // of `located`, at its beginning: they learn nothing
};

// overlaps [anchors, truths], truths > 0.
template <typename T>
Assigned Assign(const std::vector<T>& overlaps, size_t truths, const Wanted& wanted) {
  constexpr double kSame = 1e-5;
  const size_t anchors = overlaps.size() / truths;
  std::vector<T> best(anchors), best_of_truth(truths, T{0});
  std::vector<int64_t> nearest(anchors), objects, background;
  for (size_t i = 0; i < anchors; ++i)
    for (size_t j = 0; j < truths; ++j) {
      const T overlap = overlaps[i * truths + j];
      if (j == 0 || overlap > best[i]) best[i] = overlap, nearest[i] = static_cast<int64_t>(j);
      best_of_truth[j] = std::max(best_of_truth[j], overlap);
    }
  for (size_t i = 0; i < anchors; ++i) {
    bool object = best[i] >= static_cast<T>(static_cast<float>(wanted.positive));
    for (size_t j = 0; j < truths && !object; ++j)
      object = std::fabs(overlaps[i * truths + j] - best_of_truth[j]) < kSame;
    if (object) objects.push_back(static_cast<int64_t>(i));
    if (best[i] < static_cast<T>(static_cast<float>(wanted.negative)))
      background.push_back(static_cast<int64_t>(i));
  }
  const bool sampled = wanted.fraction > 0 && wanted.batch > 0;
  if (sampled)
    Sample(objects,
           static_cast<int64_t>(static_cast<float>(wanted.fraction) *
                                static_cast<float>(wanted.batch)),
           wanted.engine);
  if (sampled)
    Sample(background, wanted.batch - static_cast<int64_t>(objects.size()), wanted.engine);
  Assigned result;
  result.candidates = objects.size();
  std::vector<int> label(anchors, -1);
  for (int64_t i : objects) label[static_cast<size_t>(i)] = 1;
  // An anchor that is both is background; as many boxes stay, the first object standing in for it
  // without weight.
  for (int64_t i : background) {
    if (label[static_cast<size_t>(i)] == 1 && sampled) result.located.push_back(objects.front());
    label[static_cast<size_t>(i)] = 0;
  }
  result.fakes = result.located.size();
  for (size_t i = 0; i < anchors; ++i)
    if (label[i] == 1)
      result.located.push_back(static_cast<int64_t>(i)),
          result.scored.push_back(static_cast<int64_t>(i));
  result.objects = result.scored.size();
  for (size_t i = 0; i < anchors; ++i)
    if (label[i] == 0) result.scored.push_back(static_cast<int64_t>(i));
  for (int64_t i : result.located) result.truth.push_back(nearest[static_cast<size_t>(i)]);
  return result;
}

// Results of all images.
template <typename T>
struct Targets {
  std::vector<int32_t> location, score, label, objects;
  std::vector<T> box, weight;
  std::vector<int64_t> locations, scores, images;
};

template <typename T, typename Values>
bool WriteRows(OpCall& call, int slot, DType type, const Values& values, int64_t columns,
               const std::vector<int64_t>& counts) {
  const auto rows = static_cast<int64_t>(values.size()) / std::max<int64_t>(columns, 1);
  Output out(call, slot, type,
             columns == 0 ? std::vector<int64_t>{rows} : std::vector<int64_t>{rows, columns},
             LodOfCounts(counts));
  if (out.ok()) std::copy(values.begin(), values.end(), out.template data<T>());
  return out.ok();
}

// Slots of the inputs; `labels` is -1 where objects have no class.
struct Slots {
  int labels, crowd, info, outputs;
};

// Boxes of an image's rows that stand for one object, scaled; and their rows.
template <typename T>
void TruthsOf(OpCall& call, const Slots& at, const Rows& rows, int64_t image, std::vector<T>& boxes,
              std::vector<int64_t>& places) {
  using A = args::dt_retinanet_target_assign;
  static_assert(A::GtBoxes == args::dt_rpn_target_assign::GtBoxes);
  const T scale = Data<T>(call.Arg(at.info))[image * call.Arg(at.info).dims[1] + 2];
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    if (Data<int32_t>(call.Arg(at.crowd))[i] != 0) continue;
    places.push_back(i);
    for (int k = 0; k < 4; ++k) boxes.push_back(Data<T>(call.Arg(A::GtBoxes))[i * 4 + k] * scale);
  }
}

bool InputsFit(OpCall& call, const Slots& at, std::vector<Rows>& images) {
  using A = args::dt_retinanet_target_assign;
  static_assert(A::Anchor == args::dt_rpn_target_assign::Anchor &&
                A::GtBoxes == args::dt_rpn_target_assign::GtBoxes);
  const DtBuffer &anchors = call.Arg(A::Anchor), &truths = call.Arg(A::GtBoxes),
                 &crowd = call.Arg(at.crowd), &info = call.Arg(at.info);
  if (!CheckMatrix(call, anchors, 4) || truths.rank != 2 || !CheckMatrix(call, truths, 4) ||
      info.rank != 2 || !CheckMatrix(call, info, 3) || !SequencesOf(call, truths, images))
    return false;
  if (anchors.dtype != truths.dtype || info.dtype != truths.dtype)
    return call.Fail("'%s', '%s' and '%s' must have one element type", anchors.name, truths.name,
                     info.name),
           false;
  for (int slot : {at.crowd, at.labels})
    if (slot >= 0 &&
        (TypeOf(call.Arg(slot)) != DType::kInt32 || Elements(call.Arg(slot)) != truths.dims[0]))
      return call.Fail("'%s' must hold an int32 for each row of '%s'", call.Arg(slot).name,
                       truths.name),
             false;
  if (static_cast<int64_t>(images.size()) > info.dims[0])
    return call.Fail("'%s' has %zu images, '%s' %lld rows", truths.name, images.size(), info.name,
                     static_cast<long long>(info.dims[0])),
           false;
  return Elements(crowd) == truths.dims[0];
}

// Of one image: leaves out anchors that straddle its border by more than `straddle` (negative:
// none), overlaps the others with the true boxes, assigns, and appends what the anchors are to
// learn.
template <typename T>
bool AssignImage(OpCall& call, const Slots& at, const Rows& rows, int64_t image,
                 const Wanted& wanted, double straddle, Targets<T>& out) {
  using A = args::dt_retinanet_target_assign;
  static_assert(A::Anchor == args::dt_rpn_target_assign::Anchor &&
                A::GtBoxes == args::dt_rpn_target_assign::GtBoxes);
  const DtBuffer& anchors = call.Arg(A::Anchor);
  const T* info = Data<T>(call.Arg(at.info)) + image * 3;
  const int64_t count = Elements(anchors) / 4;
  std::vector<int64_t> inside, places;
  std::vector<T> truths;
  TruthsOf(call, at, rows, image, truths, places);
  if (places.empty())
    return call.Fail("image %lld has no object in '%s'", static_cast<long long>(image),
                     call.Arg(A::GtBoxes).name),
           false;
  for (int64_t i = 0; i < count; ++i) {
    const T* a = Data<T>(anchors) + i * 4;
    const T margin = static_cast<T>(straddle);
    if (straddle < 0 ||
        (a[0] >= -margin && a[1] >= -margin && a[2] < info[1] + margin && a[3] < info[0] + margin))
      inside.push_back(i);
  }
  std::vector<T> overlaps;
  for (int64_t i : inside)
    for (size_t j = 0; j < places.size(); ++j)
      overlaps.push_back(PixelOverlap(Data<T>(anchors) + i * 4, truths.data() + j * 4));
  const Assigned found = Assign(overlaps, places.size(), wanted);
  const auto global = [&](int64_t i) {
    return static_cast<int32_t>(image * count + inside[static_cast<size_t>(i)]);
  };
  for (size_t k = 0; k < found.located.size(); ++k) {
    T delta[4];
    BoxToDelta(Data<T>(anchors) + inside[static_cast<size_t>(found.located[k])] * 4,
               truths.data() + found.truth[k] * 4, delta);
    out.location.push_back(global(found.located[k]));
    out.box.insert(out.box.end(), delta, delta + 4);
    out.weight.insert(out.weight.end(), 4, k < found.fakes ? T{0} : T{1});
  }
  for (size_t k = 0; k < found.scored.size(); ++k) {
    out.score.push_back(global(found.scored[k]));
    const bool object = k < found.objects;
    const int64_t truth = object ? places[static_cast<size_t>(found.truth[found.fakes + k])] : 0;
    out.label.push_back(!object          ? 0
                        : at.labels >= 0 ? Data<int32_t>(call.Arg(at.labels))[truth]
                                         : 1);
  }
  out.locations.push_back(static_cast<int64_t>(found.located.size()));
  out.scores.push_back(static_cast<int64_t>(found.scored.size()));
  out.objects.push_back(static_cast<int32_t>(found.candidates) + 1);
  out.images.push_back(1);
  return true;
}

int32_t AssignAll(OpCall& call, const Slots& at, const Wanted& wanted, double straddle) {
  using A = args::dt_retinanet_target_assign;
  static_assert(A::Anchor == args::dt_rpn_target_assign::Anchor);
  std::vector<Rows> images;
  if (!InputsFit(call, at, images)) return 1;
  return VisitFloat(call.context(), call.Arg(A::Anchor), [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    Targets<T> out;
    for (size_t n = 0; n < images.size(); ++n)
      if (!AssignImage(call, at, images[n], static_cast<int64_t>(n), wanted, straddle, out))
        return 1;
    const DType type = TypeOf(call.Arg(A::Anchor));
    const int slot = at.outputs;
    const bool ok = WriteRows<int32_t>(call, slot, DType::kInt32, out.location, 0, out.locations) &&
                    WriteRows<int32_t>(call, slot + 1, DType::kInt32, out.score, 0, out.scores) &&
                    WriteRows<T>(call, slot + 2, type, out.box, 4, out.locations) &&
                    WriteRows<int32_t>(call, slot + 3, DType::kInt32, out.label, 1, out.scores) &&
                    WriteRows<T>(call, slot + 4, type, out.weight, 4, out.locations) &&
                    (at.labels < 0 ||
                     WriteRows<int32_t>(call, slot + 5, DType::kInt32, out.objects, 1, out.images));
    return ok ? 0 : 1;
  });
}

}  // namespace

// Anchor, GtBoxes, IsCrowd, ImInfo; rpn_batch_size_per_im, rpn_straddle_thresh,
// rpn_positive_overlap, rpn_negative_overlap, rpn_fg_fraction, use_random -> LocationIndex,
// ScoreIndex, TargetBBox, TargetLabel, BBoxInsideWeight
int32_t RpnTargetAssign(OpCall& call) {
  using A = args::dt_rpn_target_assign;
  return AssignAll(call, {-1, 2, 3, 4},
                   {call.Real(A::rpn_positive_overlap), call.Real(A::rpn_negative_overlap),
                    call.Real(A::rpn_fg_fraction), call.Int(A::rpn_batch_size_per_im),
                    call.Bool(A::use_random) ? &EngineOf() : nullptr},
                   call.Real(A::rpn_straddle_thresh));
}

// Anchor, GtBoxes, GtLabels, IsCrowd, ImInfo; positive_overlap, negative_overlap -> the same,
// ForegroundNumber (of an image, and 1)
int32_t RetinanetTargetAssign(OpCall& call) {
  using A = args::dt_retinanet_target_assign;
  return AssignAll(
      call, {2, 3, 4, 5},
      {call.Real(A::positive_overlap), call.Real(A::negative_overlap), -1, -1, nullptr}, -1);
}

}  // namespace dtranspile::kernels
