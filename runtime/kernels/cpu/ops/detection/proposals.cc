// Regions proposed by a network (Ren et al. 2015) and their way through a feature pyramid (Lin et
// al. 2017): generate_proposals and its _v2, distribute_fpn_proposals, collect_fpn_proposals.
#include <cmath>

#include "runtime/kernels/cpu/ops/detection/boxes.h"
#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/nms.h"
#include "runtime/kernels/cpu/ops/detection/rows.h"

namespace dtranspile::kernels {
namespace {

// Attributes pre_nms_topN, post_nms_topN, nms_thresh, min_size, eta, pixel_offset; `scaled`: a
// region's size counts in the image before it was scaled (generate_proposals, whose ImInfo has the
// scale).
template <typename T>
struct Rules {
  int64_t before, after;
  T overlap, least, eta;
  bool pixels, scaled;
};

template <typename T>
struct Proposals {
  std::vector<T> boxes, scores;
  std::vector<int64_t> counts;
};

// One image: scores and deltas stand by channel, row, column; anchors by row, column, anchor.
template <typename T>
struct Map {
  const T *scores, *deltas, *anchors, *variances, *info;
  int64_t anchors_per_cell, cells;

  T Score(int64_t i) const { return scores[i % anchors_per_cell * cells + i / anchors_per_cell]; }
  void Box(int64_t i, bool pixels, T* box) const {
    T delta[4];
    for (int64_t k = 0; k < 4; ++k)
      delta[k] = deltas[(i % anchors_per_cell * 4 + k) * cells + i / anchors_per_cell];
    DeltaToBox(anchors + i * 4, delta, variances + i * 4, static_cast<T>(kMostGrowth), pixels, box);
    const T one = pixels ? T{1} : T{0};
    for (int k = 0; k < 4; ++k) box[k] = std::max(std::min(box[k], info[1 - k % 2] - one), T{0});
  }
};

// Whether a region is large enough, and its centre within the image.
template <typename T>
bool LargeEnough(const Rules<T>& rules, const T* box, const T* info) {
  const T least = std::max(rules.least, T{1}), one = rules.pixels ? T{1} : T{0};
  const T width = box[2] - box[0] + one, height = box[3] - box[1] + one;
  if (!rules.pixels) return width >= least && height >= least;
  const bool inside = box[0] + width / 2 <= info[1] && box[1] + height / 2 <= info[0];
  if (!rules.scaled) return inside && width >= least && height >= least;
  return inside && (box[2] - box[0]) / info[2] + 1 >= least &&
         (box[3] - box[1]) / info[2] + 1 >= least;
}

// The best pre_nms_topN anchors by score, moved by their deltas and cut at the image; those too
// small left out; of the rest, suppressed by overlap, the first post_nms_topN. An image of which
// nothing remains gets one region of zeros with the score 0, as in the framework. A threshold of 0
// or below means no suppression, and then no limit either.
template <typename T>
void ProposeImage(const Rules<T>& rules, const Map<T>& map, Proposals<T>& out) {
  std::vector<T> all(static_cast<size_t>(map.anchors_per_cell * map.cells));
  for (size_t i = 0; i < all.size(); ++i) all[i] = map.Score(static_cast<int64_t>(i));
  const auto order = ByScore(all.data(), static_cast<int64_t>(all.size()),
                             rules.before > 0 ? rules.before : -1, [](int64_t) { return true; });
  std::vector<T> boxes, scores;
  for (int64_t i : order) {
    T box[4];
    map.Box(i, rules.pixels, box);
    if (!LargeEnough(rules, box, map.info)) continue;
    boxes.insert(boxes.end(), box, box + 4);
    scores.push_back(all[static_cast<size_t>(i)]);
  }
  if (scores.empty()) {
    out.boxes.insert(out.boxes.end(), 4, T{0});
    out.scores.push_back(T{0});
    out.counts.push_back(1);
    return;
  }
  std::vector<int64_t> kept(scores.size());
  std::iota(kept.begin(), kept.end(), int64_t{0});
  if (rules.overlap > 0) {
    // Of equal scores the later goes first.
    std::stable_sort(kept.begin(), kept.end(), [&](int64_t a, int64_t b) {
      return Larger(scores[static_cast<size_t>(b)], scores[static_cast<size_t>(a)]);
    });
    std::reverse(kept.begin(), kept.end());
    kept = Suppress(kept, rules.overlap, rules.eta, [&](int64_t a, int64_t b) {
      return BoxOverlap(boxes.data() + a * 4, boxes.data() + b * 4, rules.pixels);
    });
    if (rules.after > 0 && rules.after < static_cast<int64_t>(kept.size()))
      kept.resize(static_cast<size_t>(rules.after));
  }
  for (int64_t i : kept) {
    out.boxes.insert(out.boxes.end(), boxes.begin() + i * 4, boxes.begin() + i * 4 + 4);
    out.scores.push_back(scores[static_cast<size_t>(i)]);
  }
  out.counts.push_back(static_cast<int64_t>(kept.size()));
}

}  // namespace

// Scores, BboxDeltas, ImInfo or ImShape, Anchors, Variances; pre_nms_topN, post_nms_topN,
// nms_thresh, min_size, eta, @type, @version[, pixel_offset]
// -> RpnRois, RpnRoiProbs, RpnRoisNum, RpnRoisLod (where the regions of each image end)
int32_t GenerateProposals(OpCall& call) {
  using A = args::dt_generate_proposals;
  const DtBuffer &scores = call.Arg(A::Scores), &deltas = call.Arg(A::BboxDeltas),
                 &info = call.Arg(A::ImInfo), &anchors = call.Arg(A::Anchors),
                 &variances = call.Arg(A::Variances);
  const bool v2 = call.Text(A::type) == "generate_proposals_v2";
  if (scores.rank != 4 || deltas.rank != 4 || deltas.dims[1] != 4 * scores.dims[1] ||
      deltas.dims[0] != scores.dims[0] || deltas.dims[2] != scores.dims[2] ||
      deltas.dims[3] != scores.dims[3])
    return call.Fail("'%s' must be [batch, anchors, H, W] and '%s' [batch, 4 · anchors, H, W]",
                     scores.name, deltas.name);
  const int64_t batch = scores.dims[0], per_cell = scores.dims[1],
                cells = scores.dims[2] * scores.dims[3];
  if (Elements(anchors) != per_cell * cells * 4 || !SameShape(anchors, variances))
    return call.Fail("'%s' and '%s' must have %lld boxes", anchors.name, variances.name,
                     static_cast<long long>(per_cell * cells));
  if (info.rank != 2 || info.dims[0] < batch || info.dims[1] < (v2 ? 2 : 3))
    return call.Fail("'%s' must have a row for each of %lld images", info.name,
                     static_cast<long long>(batch));
  for (const DtBuffer* other : {&deltas, &info, &anchors, &variances})
    if (other->dtype != scores.dtype)
      return call.Fail("'%s' and '%s' differ in element type", other->name, scores.name);
  return VisitFloat(call.context(), scores, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const auto single = [&](int attr) {
      return static_cast<T>(static_cast<float>(call.Real(attr)));
    };
    const Rules<T> rules{call.Int(A::pre_nms_topN),
                         call.Int(A::post_nms_topN),
                         single(2),
                         single(3),
                         single(4),
                         !v2 || call.Bool(A::pixel_offset),
                         !v2};
    Proposals<T> found;
    for (int64_t n = 0; n < batch; ++n)
      ProposeImage(rules,
                   Map<T>{Data<T>(scores) + n * per_cell * cells,
                          Data<T>(deltas) + n * per_cell * cells * 4, Data<T>(anchors),
                          Data<T>(variances), Data<T>(info) + n * info.dims[1], per_cell, cells},
                   found);
    const auto total = static_cast<int64_t>(found.scores.size());
    // From 2.3 on _v2 tells images by counts alone.
    const Lod lod = v2 && call.Int(A::version) >= 2003000 ? Lod() : LodOfCounts(found.counts);
    Output rois(call, 5, TypeOf(scores), {total, 4}, lod),
        probs(call, 6, TypeOf(scores), {total, 1}, lod);
    if (!rois.ok() || !probs.ok()) return 1;
    std::copy(found.boxes.begin(), found.boxes.end(), rois.template data<T>());
    std::copy(found.scores.begin(), found.scores.end(), probs.template data<T>());
    std::vector<int64_t> ends = found.counts;
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    if (call.Has(A::RpnRoisLod) && !WriteCounts(call, call.Arg(A::RpnRoisLod), ends)) return 1;
    return !call.Has(A::RpnRoisNum) || WriteCounts(call, call.Arg(A::RpnRoisNum), found.counts) ? 0
                                                                                                : 1;
  });
}

// FpnRois, RoisNum; min_level, max_level, refer_level, refer_scale, pixel_offset -> MultiFpnRois*,
// RestoreIndex, MultiLevelRoIsNum*: a region of side s goes to level ⌊refer_level + log2(s /
// refer_scale)⌋; RestoreIndex says where in the levels, one after the other, it stands.
// Levels are cut at min_level and max_level. The order within a level is that of the regions, image
// by image, so that levels keep one count per image.
int32_t DistributeFpnProposals(OpCall& call) {
  using A = args::dt_distribute_fpn_proposals;
  const DtBuffer& rois = call.Arg(A::FpnRois);
  const int64_t low = call.Int(A::min_level), high = call.Int(A::max_level),
                levels = high - low + 1;
  std::vector<Rows> images;
  constexpr int64_t kMostLevels = 64;
  if (levels < 1 || levels > kMostLevels || call.Int(A::refer_scale) < 1)
    return call.Fail("levels %lld to %lld at a scale of %lld", static_cast<long long>(low),
                     static_cast<long long>(high),
                     static_cast<long long>(call.Int(A::refer_scale)));
  if (rois.rank != 2 || !CheckMatrix(call, rois, 4) || !SequencesOf(call, rois, A::RoisNum, images))
    return 1;
  return VisitFloat(call.context(), rois, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    std::vector<std::vector<int64_t>> rows(static_cast<size_t>(levels)),
        counts(static_cast<size_t>(levels));
    for (const Rows& image : images) {
      for (auto& count : counts) count.push_back(0);
      for (int64_t i = image.begin; i < image.end; ++i) {
        const T side = std::sqrt(BoxArea(Data<T>(rois) + i * 4, call.Bool(A::pixel_offset)));
        const double level = std::floor(static_cast<double>(
            std::log2(side / static_cast<T>(call.Int(A::refer_scale)) + static_cast<T>(1e-6)) +
            static_cast<T>(call.Int(A::refer_level))));
        const auto at = static_cast<size_t>(
            std::min(std::max(static_cast<double>(low), level), static_cast<double>(high)) -
            static_cast<double>(low));
        rows[at].push_back(i);
        ++counts[at].back();
      }
    }
    Output restore(call, 3, DType::kInt32, {rois.dims[0], 1});
    if (!restore.ok()) return 1;
    int32_t place = 0;
    for (size_t l = 0; l < rows.size(); ++l) {
      for (int64_t i : rows[l]) restore.template data<int32_t>()[i] = place++;
      if (call.Has(A::MultiFpnRois, static_cast<int>(l))) {
        DtBuffer& out = call.Arg(A::MultiFpnRois, static_cast<int>(l));
        if (!call.Resize(out, {static_cast<int64_t>(rows[l].size()), 4})) return 1;
        OpCall::SetLod(out, LodOfCounts(counts[l]));
        for (size_t i = 0; i < rows[l].size(); ++i)
          std::copy_n(Data<T>(rois) + rows[l][i] * 4, 4, Data<T>(out) + i * 4);
      }
      if (call.Has(A::MultiLevelRoIsNum, static_cast<int>(l)) &&
          !WriteCounts(call, call.Arg(A::MultiLevelRoIsNum, static_cast<int>(l)), counts[l]))
        return 1;
    }
    return 0;
  });
}

// MultiLevelRois+, MultiLevelScores+, MultiLevelRoIsNum*; post_nms_topN -> FpnRois, RoisNum: the
// best regions of all levels, image by image.
// Two stable sorts: by score, cut to the best over all images together; then by image, which keeps
// the order by score within each. Equal scores stay in the order of levels.
int32_t CollectFpnProposals(OpCall& call) {
  using A = args::dt_collect_fpn_proposals;
  const int levels = call.Count(A::MultiLevelRois);
  if (levels < 1 || call.Count(A::MultiLevelScores) != levels ||
      (call.Count(A::MultiLevelRoIsNum) != 0 && call.Count(A::MultiLevelRoIsNum) != levels))
    return call.Fail("%d levels of regions, %d of scores", levels, call.Count(A::MultiLevelScores));
  const DtBuffer& first = call.Arg(A::MultiLevelRois);
  return VisitFloat(call.context(), first, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    struct Region {
      T score;
      size_t image;
      const T* box;
    };
    std::vector<Region> regions;
    size_t images = 0;
    for (int l = 0; l < levels; ++l) {
      const DtBuffer &rois = call.Arg(A::MultiLevelRois, l),
                     &scores = call.Arg(A::MultiLevelScores, l);
      if (rois.rank != 2 || rois.dims[1] != 4 || Elements(scores) != rois.dims[0] ||
          rois.dtype != first.dtype || scores.dtype != first.dtype)
        return call.Fail("'%s' must have four columns, and '%s' a score for each row", rois.name,
                         scores.name);
      std::vector<Rows> rows;
      if (call.Count(A::MultiLevelRoIsNum) > 0) {
        std::vector<int64_t> counts;
        if (!IntegersOf(call, call.Arg(A::MultiLevelRoIsNum, l), counts)) return 1;
        int64_t at = 0;
        for (int64_t count : counts) {
          if (count < 0 || count > rois.dims[0] - at)
            return call.Fail("'%s' has the count %lld, '%s' has %lld rows",
                             call.Arg(A::MultiLevelRoIsNum, l).name, static_cast<long long>(count),
                             rois.name, static_cast<long long>(rois.dims[0]));
          rows.push_back({at, at + count});
          at += count;
        }
      } else if (!SequencesOf(call, rois, rows)) {
        return 1;
      }
      images = std::max(images, rows.size());
      for (size_t n = 0; n < rows.size(); ++n)
        for (int64_t i = rows[n].begin; i < rows[n].end; ++i)
          regions.push_back({Data<T>(scores)[i], n, Data<T>(rois) + i * 4});
    }
    std::stable_sort(regions.begin(), regions.end(),
                     [](const Region& a, const Region& b) { return Larger(a.score, b.score); });
    const int64_t most = call.Int(A::post_nms_topN);
    if (most >= 0 && most < static_cast<int64_t>(regions.size()))
      regions.resize(static_cast<size_t>(most));
    std::stable_sort(regions.begin(), regions.end(),
                     [](const Region& a, const Region& b) { return a.image < b.image; });
    std::vector<int64_t> counts(images, 0);
    for (const Region& r : regions) ++counts[r.image];
    Output out(call, 3, TypeOf(first), {static_cast<int64_t>(regions.size()), 4},
               LodOfCounts(counts));
    if (!out.ok()) return 1;
    for (size_t i = 0; i < regions.size(); ++i)
      std::copy_n(regions[i].box, 4, out.template data<T>() + i * 4);
    return !call.Has(A::RoisNum) || WriteCounts(call, call.Arg(A::RoisNum), counts) ? 0 : 1;
  });
}

}  // namespace dtranspile::kernels
