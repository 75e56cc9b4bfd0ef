// generate_mask_labels (He et al. 2017): for each region of an object, the object's polygons drawn
// into a grid over the region, in the plane of its class; −1 in the planes of the others. Drawing
// is that of the COCO data set: the outline on a grid five times as fine, columns filled between
// its crossings of their middles (Lin et al. 2014).
#include <cmath>
#include <limits>

#include "runtime/kernels/cpu/ops/detection/boxes.h"
#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/rows.h"

namespace dtranspile::kernels {
namespace {

struct Point {
  int64_t x, y;
};

// Places on the fine grid are cut here: they are far outside of any mask.
constexpr double kFarthest = 1e6;
// How much finer the grid is than that of the mask.
constexpr double kFine = 5;

int64_t OnFineGrid(double value) {
  return static_cast<int64_t>(std::min(std::max(-kFarthest, kFine * value + 0.5), kFarthest));
}

// The outline, point by point.
// Each edge is walked along the axis on which it is longer, one point per step (a digital
// differential analyser), always from its lower end there and given out in the direction of the
// polygon: so an edge has the same points whichever of two neighbouring polygons draws it.
std::vector<Point> Outline(const std::vector<double>& corners) {
  std::vector<Point> points;
  const size_t count = corners.size() / 2;
  for (size_t i = 0; i < count; ++i) {
    const size_t next = (i + 1) % count;
    Point from{OnFineGrid(corners[2 * i]), OnFineGrid(corners[2 * i + 1])},
        to{OnFineGrid(corners[2 * next]), OnFineGrid(corners[2 * next + 1])};
    const int64_t dx = std::abs(to.x - from.x), dy = std::abs(to.y - from.y);
    const bool flip = (dx >= dy && from.x > to.x) || (dx < dy && from.y > to.y);
    if (flip) std::swap(from, to);
    const int64_t steps = std::max(dx, dy);
    const double slope = steps == 0
                             ? 0.0
                             : static_cast<double>(dx >= dy ? to.y - from.y : to.x - from.x) /
                                   static_cast<double>(steps);
    for (int64_t d = 0; d <= steps; ++d) {
      const int64_t t = flip ? steps - d : d;
      const double across = slope * static_cast<double>(t) + 0.5;
      if (dx >= dy)
        points.push_back({from.x + t, static_cast<int64_t>(static_cast<double>(from.y) + across)});
      else
        points.push_back({static_cast<int64_t>(static_cast<double>(from.x) + across), from.y + t});
    }
  }
  return points;
}

// Adds a polygon to a mask of side × side, row by row.
void Draw(const std::vector<double>& corners, int64_t side, std::vector<uint8_t>& mask) {
  const std::vector<Point> points = Outline(corners);
  std::vector<int64_t> crossings;
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i].x == points[i - 1].x) continue;
    const double x =
        (static_cast<double>(points[i].x < points[i - 1].x ? points[i].x : points[i].x - 1) + 0.5) /
            kFine -
        0.5;
    if (std::floor(x) != x || x < 0 || x > static_cast<double>(side - 1)) continue;
    const double y =
        (static_cast<double>(std::min(points[i].y, points[i - 1].y)) + 0.5) / kFine - 0.5;
    crossings.push_back(
        static_cast<int64_t>(x) * side +
        static_cast<int64_t>(std::ceil(std::min(std::max(y, 0.0), static_cast<double>(side)))));
  }
  // Column by column the mask changes at each crossing.
  std::sort(crossings.begin(), crossings.end());
  crossings.push_back(side * side);
  for (size_t i = 0; i + 1 < crossings.size(); i += 2)
    for (int64_t at = crossings[i]; at < crossings[i + 1] && at < side * side; ++at)
      mask[static_cast<size_t>(at % side * side + at / side)] = 1;
}

// Polygons of the objects of a batch: three levels of LoD to images, objects, polygons.
struct Segments {
  const Lod& lod;

  // Whether each level's offsets grow and stay within the level below, so that ForPolygons need not
  // look.
  bool Fit(OpCall& call, const DtBuffer& points, size_t images, int64_t objects) const {
    if (lod.size() != 3 || points.rank != 2 || points.dims[1] != 2)
      return call.Fail("'%s' must have two columns and three levels of LoD", points.name), false;
    const uint64_t ends[] = {static_cast<uint64_t>(objects), lod[2].empty() ? 0 : lod[2].size() - 1,
                             static_cast<uint64_t>(points.dims[0])};
    bool fits = lod[0].size() == images + 1 && lod[1].size() == static_cast<size_t>(objects) + 1;
    for (size_t level = 0; level < 3 && fits; ++level)
      fits = !lod[level].empty() && std::is_sorted(lod[level].begin(), lod[level].end()) &&
             lod[level].back() <= ends[level];
    return fits || (call.Fail("'%s' has a LoD that does not fit %zu images and %lld objects",
                              points.name, images, static_cast<long long>(objects)),
                    false);
  }

  // visit(first point, last point) of each polygon.
  template <typename Visit>
  void ForPolygons(int64_t object, Visit&& visit) const {
    const auto o = static_cast<size_t>(object);
    for (uint64_t p = lod[1][o]; p < lod[1][o + 1]; ++p)
      visit(static_cast<int64_t>(lod[2][p]), static_cast<int64_t>(lod[2][p + 1]));
  }
};

// The box around all polygons of an object. The upper bounds begin at the smallest positive number,
// as in the framework: polygons lie in images, whose coordinates are not negative.
template <typename T>
void BoundsOf(const Segments& segments, const T* points, int64_t object, T* box) {
  box[0] = box[1] = std::numeric_limits<T>::max();
  box[2] = box[3] = std::numeric_limits<T>::min();
  segments.ForPolygons(object, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * 2; i < end * 2; ++i) {
      box[i % 2] = std::min(box[i % 2], points[i]);
      box[2 + i % 2] = std::max(box[2 + i % 2], points[i]);
    }
  });
}

// A mask of the box with side × side cells: 1 where a polygon of the object covers the cell. A
// polygon is moved and stretched such that the box becomes the grid; boxes below a pixel count as
// one.
template <typename T>
std::vector<uint8_t> MaskOf(const Segments& segments, const T* points, int64_t object, const T* box,
                            int64_t side) {
  std::vector<uint8_t> mask(static_cast<size_t>(side * side), 0);
  const T extent[2] = {std::max(box[2] - box[0], T{1}), std::max(box[3] - box[1], T{1})};
  segments.ForPolygons(object, [&](int64_t begin, int64_t end) {
    std::vector<double> corners;
    for (int64_t i = begin * 2; i < end * 2; ++i)
      corners.push_back(
          static_cast<double>((points[i] - box[i % 2]) * static_cast<T>(side) / extent[i % 2]));
    if (!corners.empty()) Draw(corners, side, mask);
  });
  return mask;
}

// What the op gives: rows of regions with a mask, their place within the image, the masks, and how
// many rows each image has.
template <typename T>
struct Masks {
  std::vector<T> rois;
  std::vector<int32_t> places, masks;
  std::vector<int64_t> counts;
};

}  // namespace

// ImInfo, GtClasses, IsCrowd, GtSegms, Rois, LabelsInt32; num_classes, resolution -> MaskRois,
// RoiHasMaskInt32, MaskInt32
// A region takes the mask of the object whose box overlaps it most; crowds and background are no
// objects. Masks of an image without regions of objects are ignored by the loss (−1 everywhere).
int32_t GenerateMaskLabels(OpCall& call) {
  using A = args::dt_generate_mask_labels;
  const DtBuffer &info = call.Arg(A::ImInfo), &classes = call.Arg(A::GtClasses),
                 &crowd = call.Arg(A::IsCrowd), &points = call.Arg(A::GtSegms),
                 &rois = call.Arg(A::Rois), &labels = call.Arg(A::LabelsInt32);
  const int64_t class_count = call.Int(A::num_classes), side = call.Int(A::resolution),
                plane = side * side;
  constexpr int64_t kMostSide = 1 << 12, kMostClasses = 1 << 16;
  if (side < 1 || side > kMostSide || class_count < 1 || class_count > kMostClasses)
    return call.Fail("num_classes %lld, resolution %lld", static_cast<long long>(class_count),
                     static_cast<long long>(side));
  std::vector<Rows> images, objects;
  if (!CheckMatrix(call, info, 3) || rois.rank != 2 || !CheckMatrix(call, rois, 4) ||
      !SequencesOf(call, rois, images) || !SequencesOf(call, classes, objects))
    return 1;
  for (const DtBuffer* integers : {&classes, &crowd, &labels})
    if (TypeOf(*integers) != DType::kInt32)
      return call.Fail("'%s' holds %s, expected int32", integers->name, TypeName(*integers));
  if (images.size() != objects.size() || Elements(info) < 3 * static_cast<int64_t>(images.size()) ||
      Elements(crowd) != Elements(classes) || Elements(labels) != rois.dims[0] ||
      rois.dtype != points.dtype || info.dtype != points.dtype)
    return call.Fail("'%s', '%s', '%s' and '%s' do not fit each other", info.name, classes.name,
                     rois.name, labels.name);
  const Segments segments{OpCall::LodOf(points)};
  if (!segments.Fit(call, points, images.size(), Elements(classes))) return 1;
  return VisitFloat(call.context(), rois, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    Masks<T> out;
    for (size_t n = 0; n < images.size(); ++n) {
      const T scale = Data<T>(info)[n * 3 + 2];
      std::vector<T> bounds;
      std::vector<int64_t> drawn;
      for (int64_t o = objects[n].begin; o < objects[n].end; ++o) {
        if (Data<int32_t>(classes)[o] <= 0 || Data<int32_t>(crowd)[o] != 0) continue;
        bounds.resize(bounds.size() + 4);
        BoundsOf(segments, Data<T>(points), o, bounds.data() + bounds.size() - 4);
        drawn.push_back(o);
      }
      std::vector<int64_t> regions;
      for (int64_t i = images[n].begin; i < images[n].end; ++i)
        if (Data<int32_t>(labels)[i] > 0) regions.push_back(i);
      const bool none = regions.empty();
      // Something must come out of an image with regions: its first background, all ignored.
      for (int64_t i = images[n].begin; none && i < images[n].end && regions.empty(); ++i)
        if (Data<int32_t>(labels)[i] == 0) regions.push_back(i);
      if (!none && drawn.empty())
        return call.Fail("image %zu has regions of objects in '%s', but no object in '%s'", n,
                         labels.name, classes.name);
      for (int64_t i : regions) {
        const int32_t label = Data<int32_t>(labels)[i];
        if (label >= class_count)
          return call.Fail("'%s' has the class %d of %lld", labels.name, label,
                           static_cast<long long>(class_count));
        T box[4];
        for (int k = 0; k < 4; ++k)
          box[k] = Data<T>(rois)[i * 4 + k] / scale, out.rois.push_back(box[k] * scale);
        out.places.push_back(static_cast<int32_t>(i - images[n].begin));
        out.masks.resize(out.masks.size() + static_cast<size_t>(class_count * plane), -1);
        if (none) continue;
        size_t best = 0;
        T most = std::numeric_limits<T>::min();
        for (size_t o = 0; o < drawn.size(); ++o) {
          const T overlap = PixelOverlap(box, bounds.data() + o * 4);
          if (overlap > most) most = overlap, best = o;
        }
        const std::vector<uint8_t> mask = MaskOf(segments, Data<T>(points), drawn[best], box, side);
        std::copy(mask.begin(), mask.end(), out.masks.end() - (class_count - label) * plane);
      }
      out.counts.push_back(static_cast<int64_t>(regions.size()));
    }
    const Lod lod = LodOfCounts(out.counts);
    const auto count = static_cast<int64_t>(out.places.size());
    Output mask_rois(call, 6, TypeOf(rois), {count, 4}, lod),
        places(call, 7, DType::kInt32, {count, 1}, lod),
        masks(call, 8, DType::kInt32, {count, class_count * plane}, lod);
    if (!mask_rois.ok() || !places.ok() || !masks.ok()) return 1;
    std::copy(out.rois.begin(), out.rois.end(), mask_rois.template data<T>());
    std::copy(out.places.begin(), out.places.end(), places.template data<int32_t>());
    std::copy(out.masks.begin(), out.masks.end(), masks.template data<int32_t>());
    return 0;
  });
}

}  // namespace dtranspile::kernels
