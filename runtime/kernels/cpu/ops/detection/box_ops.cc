// Arithmetic of boxes: iou_similarity, box_coder, box_clip, box_decoder_and_assign,
// polygon_box_transform.
#include <cstring>

#include "runtime/kernels/cpu/ops/detection/boxes.h"
#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/rows.h"

namespace dtranspile::kernels {
namespace {

// Centre and sides of a box, or of deltas.
template <typename T>
struct Centred {
  T centre[2], side[2];
};

// `one` is 1 where corners are pixels (a box from 3 to 3 is one pixel wide), 0 where they are
// numbers between 0 and 1.
template <typename T>
Centred<T> CentreOf(const T* box, T one) {
  Centred<T> c;
  for (int axis = 0; axis < 2; ++axis) {
    c.side[axis] = box[axis + 2] - box[axis] + one;
    c.centre[axis] = box[axis] + c.side[axis] / 2;
  }
  return c;
}

// The offsets that a detector learns (Girshick et al. 2014): ((x - x_p) / w_p, (y - y_p) / h_p,
// log(w / w_p), log(h / h_p)), over the variances. The centre of the target does not count the
// pixel, as in the framework's op.
template <typename T>
void Encode(const T* prior, const T* target, const T* variance, T one, T* out) {
  const Centred<T> p = CentreOf(prior, one), t = CentreOf(target, one);
  for (int axis = 0; axis < 2; ++axis) {
    const T middle = (target[axis] + target[axis + 2]) / 2;
    out[axis] = (middle - p.centre[axis]) / p.side[axis];
    out[axis + 2] = std::log(std::fabs(t.side[axis] / p.side[axis]));
  }
  for (int i = 0; variance && i < 4; ++i) out[i] /= variance[i];
}

// The inverse of Encode, with the variances multiplied.
template <typename T>
void Decode(const T* prior, const T* target, const T* variance, T one, T* out) {
  const Centred<T> p = CentreOf(prior, one);
  for (int axis = 0; axis < 2; ++axis) {
    const T shift = variance ? variance[axis] * target[axis] : target[axis],
            grow = variance ? variance[axis + 2] * target[axis + 2] : target[axis + 2];
    const T centre = shift * p.side[axis] + p.centre[axis], side = std::exp(grow) * p.side[axis];
    out[axis] = centre - side / 2;
    out[axis + 2] = centre + side / 2 - one;
  }
}

}  // namespace

// X, Y; box_normalized -> Out
// Out[i, j]: intersection over union of box i of X and box j of Y. Rows keep the LoD of X.
int32_t IouSimilarity(OpCall& call) {
  using A = args::dt_iou_similarity;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  if (!CheckMatrix(call, x, 4) || !CheckMatrix(call, y, 4) || !SameType(call, x, y)) return 1;
  const int64_t rows = Elements(x) / 4, columns = Elements(y) / 4;
  const Lod lod = OpCall::LodOf(x);
  if (!call.Resize(out, {rows, columns})) return 1;
  OpCall::SetLod(out, lod);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T one = call.Bool(A::box_normalized) ? T{0} : T{1};
    for (int64_t i = 0; i < rows * columns; ++i) {
      const T *a = Data<T>(x) + i / columns * 4, *b = Data<T>(y) + i % columns * 4;
      const T width = std::max(std::min(a[2], b[2]) - std::max(a[0], b[0]) + one, T{0}),
              height = std::max(std::min(a[3], b[3]) - std::max(a[1], b[1]) + one, T{0});
      const T common = width * height, both = (a[2] - a[0] + one) * (a[3] - a[1] + one) +
                                              (b[2] - b[0] + one) * (b[3] - b[1] + one) - common;
      Data<T>(out)[i] = common / both;
    }
    return 0;
  });
}

// PriorBox, PriorBoxVar, TargetBox; code_type, box_normalized, axis, variance -> OutputBox
// Encoding makes all pairs [targets, priors, 4]. Decoding takes [rows, columns, 4] and has the
// priors along the dim that `axis` does not name. Variances come per prior, or four for all, or are
// 1.
int32_t BoxCoder(OpCall& call) {
  using A = args::dt_box_coder;
  const DtBuffer &prior = call.Arg(A::PriorBox), &target = call.Arg(A::TargetBox);
  DtBuffer& out = call.Arg(A::OutputBox);
  const std::string_view kind = call.Text(A::code_type);
  const bool encode = kind == "encode_center_size";
  if (!encode && kind != "decode_center_size")
    return call.Fail("unknown code_type '%s'", std::string(kind).c_str());
  if (!CheckMatrix(call, prior, 4) || !CheckMatrix(call, target, 4) ||
      !SameType(call, prior, target) || prior.rank != 2)
    return 1;
  const int64_t axis = call.Int(A::axis), priors = prior.dims[0], rows = target.dims[0];
  if (axis != 0 && axis != 1)
    return call.Fail("axis %lld, expected 0 or 1", static_cast<long long>(axis));
  if (encode ? target.rank != 2 : target.rank != 3 || target.dims[axis == 0 ? 1 : 0] != priors)
    return call.Fail("'%s' does not fit the %lld boxes of '%s'", target.name,
                     static_cast<long long>(priors), prior.name);
  const int64_t columns = encode ? priors : target.dims[1];
  const bool given = call.Has(A::PriorBoxVar);
  if (given && (!SameShape(call.Arg(A::PriorBoxVar), prior) ||
                !SameType(call, call.Arg(A::PriorBoxVar), prior)))
    return call.Fail("'%s' has not the extents of '%s'", call.Arg(A::PriorBoxVar).name, prior.name);
  const auto constant = call.Reals(A::variance);
  if (!constant.empty() && constant.size() != 4)
    return call.Fail("%zu variances, expected 4", constant.size());
  const Lod lod = OpCall::LodOf(target);
  if (!call.Resize(out, {rows, columns, 4})) return 1;
  OpCall::SetLod(out, lod);
  return VisitFloat(call.context(), prior, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    if (!SameType(call, out, prior)) return 1;
    T variances[4];
    for (size_t i = 0; i < constant.size(); ++i) variances[i] = static_cast<T>(constant[i]);
    const T one = call.Bool(A::box_normalized) ? T{0} : T{1};
    for (int64_t i = 0; i < rows * columns; ++i) {
      const int64_t p = encode || axis == 0 ? i % columns : i / columns;
      const T* variance = given              ? Data<T>(call.Arg(A::PriorBoxVar)) + p * 4
                          : constant.empty() ? nullptr
                                             : variances;
      if (encode)
        Encode(Data<T>(prior) + p * 4, Data<T>(target) + i / columns * 4, variance, one,
               Data<T>(out) + i * 4);
      else
        Decode(Data<T>(prior) + p * 4, Data<T>(target) + i * 4, variance, one,
               Data<T>(out) + i * 4);
    }
    return 0;
  });
}

// Input, ImInfo -> Output: boxes moved into their image of height, width = ImInfo/scale.
int32_t BoxClip(OpCall& call) {
  using A = args::dt_box_clip;
  const DtBuffer &input = call.Arg(A::Input), &info = call.Arg(A::ImInfo);
  DtBuffer& out = call.Arg(A::Output);
  std::vector<Rows> images;
  if (!CheckMatrix(call, info, 3) || !SameType(call, input, info) ||
      !SequencesOf(call, input, images))
    return 1;
  if (static_cast<int64_t>(images.size()) > info.dims[0])
    return call.Fail("'%s' has %zu images, '%s' %lld rows", input.name, images.size(), info.name,
                     static_cast<long long>(info.dims[0]));
  if (input.rank < 1 || input.dims[input.rank - 1] % 4 != 0)
    return call.Fail("'%s' must have a multiple of four columns", input.name);
  const Lod lod = OpCall::LodOf(input);
  if (!call.Resize(out, input)) return 1;
  OpCall::SetLod(out, lod);
  return VisitFloat(call.context(), input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t width = Elements(input, 1, input.rank);
    for (size_t n = 0; n < images.size(); ++n) {
      const T* row = Data<T>(info) + n * 3;
      const T most[2] = {std::round(row[1] / row[2]) - 1, std::round(row[0] / row[2]) - 1};
      for (int64_t i = images[n].begin * width; i < images[n].end * width; ++i)
        Data<T>(out)[i] = std::max(std::min(Data<T>(input)[i], most[i % 2]), T{0});
    }
    return 0;
  });
}

// PriorBox, PriorBoxVar, TargetBox, BoxScore; box_clip -> DecodeBox, OutputAssignBox
// Decodes a box per class, then gives each prior that of its best class; class 0 is the background
// and keeps the prior.
int32_t BoxDecoderAndAssign(OpCall& call) {
  using A = args::dt_box_decoder_and_assign;
  const DtBuffer &prior = call.Arg(A::PriorBox), &target = call.Arg(A::TargetBox),
                 &score = call.Arg(A::BoxScore);
  if (!CheckMatrix(call, prior, 4) || target.rank != 2 || score.rank != 2)
    return call.Fail("'%s' and '%s' must be matrices", target.name, score.name);
  const int64_t rows = prior.dims[0], classes = score.dims[1];
  if (target.dims[0] != rows || score.dims[0] != rows || target.dims[1] != classes * 4 ||
      prior.rank != 2)
    return call.Fail("'%s', '%s' and '%s' do not fit each other", prior.name, target.name,
                     score.name);
  if (!SameType(call, prior, target) || !SameType(call, prior, score)) return 1;
  const bool given = call.Has(A::PriorBoxVar);
  if (given &&
      (Elements(call.Arg(A::PriorBoxVar)) != 4 || !SameType(call, call.Arg(A::PriorBoxVar), prior)))
    return call.Fail("'%s' must have four elements", call.Arg(A::PriorBoxVar).name);
  const Lod lod = OpCall::LodOf(prior);
  Output decoded(call, 4, TypeOf(prior), OpCall::Dims(target), lod),
      assigned(call, 5, TypeOf(prior), OpCall::Dims(prior), lod);
  if (!decoded.ok() || !assigned.ok()) return 1;
  return VisitFloat(call.context(), prior, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* variance = given ? Data<T>(call.Arg(A::PriorBoxVar)) : nullptr;
    const T most = static_cast<T>(call.Real(A::box_clip));
    for (int64_t r = 0; r < rows; ++r) {
      const T* scores = Data<T>(score) + r * classes;
      int64_t best = 0;
      T top = -1;
      for (int64_t c = 0; c < classes; ++c) {
        DeltaToBox(Data<T>(prior) + r * 4, Data<T>(target) + (r * classes + c) * 4, variance, most,
                   true, decoded.template data<T>() + (r * classes + c) * 4);
        if (c > 0 && scores[c] > top) top = scores[c], best = c;
      }
      const T* from =
          best > 0 ? decoded.template data<T>() + (r * classes + best) * 4 : Data<T>(prior) + r * 4;
      std::copy_n(from, 4, assigned.template data<T>() + r * 4);
    }
    return 0;
  });
}

// Input -> Output: offsets of corners in cells of 4 pixels to places: 4 · column − x in even
// channels, 4 · row − y in odd ones.
int32_t PolygonBoxTransform(OpCall& call) {
  using A = args::dt_polygon_box_transform;
  const DtBuffer& input = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Output);
  if (input.rank != 4) return call.Fail("'%s' has %d dims, expected 4", input.name, input.rank);
  if (!call.Resize(out, input)) return 1;
  return VisitFloat(call.context(), input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t height = input.dims[2], width = input.dims[3];
    for (int64_t i = 0, n = Elements(input); i < n; ++i) {
      const int64_t channel = i / (height * width) % input.dims[1],
                    place = channel % 2 == 0 ? i % width : i / width % height;
      Data<T>(out)[i] = static_cast<T>(place * 4) - Data<T>(input)[i];
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
