// Assignment of true boxes to default boxes for training (Liu et al. 2016): bipartite_match,
// target_assign, mine_hard_examples.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/rows.h"

namespace dtranspile::kernels {
namespace {

constexpr double kLeastDistance = 1e-6;

// One image: similarity [rows, columns]; writes for each column its row, or -1, and the similarity.
template <typename T>
struct Matching {
  const T* similarity;
  int64_t rows, columns;
  int32_t* row_of;
  T* value;

  // The most similar pair of a free row and a free column, again and again.
  // O(rows² · columns): every round looks at all free pairs. Ties go to the lowest column, then row
  // order.
  void Bipartite() const {
    std::vector<int64_t> free(static_cast<size_t>(rows));
    std::iota(free.begin(), free.end(), int64_t{0});
    while (!free.empty()) {
      T most = -1;
      int64_t column = -1;
      size_t place = 0;
      for (int64_t c = 0; c < columns; ++c) {
        if (row_of[c] != -1) continue;
        for (size_t i = 0; i < free.size(); ++i) {
          const T s = similarity[free[i] * columns + c];
          if (s < kLeastDistance || !(s > most)) continue;
          most = s, column = c, place = i;
        }
      }
      if (column < 0) return;
      row_of[column] = static_cast<int32_t>(free[place]);
      value[column] = most;
      free.erase(free.begin() + static_cast<int64_t>(place));
    }
  }

  // The same by sorting all pairs, for many rows.
  // O(p log p) for p pairs; the framework changes to it at 130 rows (kManyRows), and ties are
  // decided otherwise there, so the border is kept.
  void BipartiteSorted() const {
    std::vector<int64_t> pairs(static_cast<size_t>(rows * columns));
    std::iota(pairs.begin(), pairs.end(), int64_t{0});
    std::stable_sort(pairs.begin(), pairs.end(),
                     [&](int64_t a, int64_t b) { return Larger(similarity[a], similarity[b]); });
    std::vector<bool> taken(static_cast<size_t>(rows), false);
    for (int64_t pair : pairs) {
      const int64_t row = pair / columns, column = pair % columns;
      if (!(similarity[pair] > 0) || row_of[column] != -1 || taken[static_cast<size_t>(row)])
        continue;
      taken[static_cast<size_t>(row)] = true;
      row_of[column] = static_cast<int32_t>(row);
      value[column] = similarity[pair];
    }
  }

  // Columns without a row get the most similar one, from `least` on.
  // match_type per_prediction: rows may be named more than once.
  void PerColumn(T least) const {
    for (int64_t c = 0; c < columns; ++c) {
      if (row_of[c] != -1) continue;
      T most = -1;
      for (int64_t r = 0; r < rows; ++r) {
        const T s = similarity[r * columns + c];
        if (s < kLeastDistance || s < least || !(s > most)) continue;
        most = s, row_of[c] = static_cast<int32_t>(r);
      }
      if (row_of[c] != -1) value[c] = most;
    }
  }
};

constexpr int64_t kManyRows = 130;

}  // namespace

// DistMat; match_type, dist_threshold -> ColToRowMatchIndices, ColToRowMatchDist
int32_t BipartiteMatch(OpCall& call) {
  using A = args::dt_bipartite_match;
  const DtBuffer& similarity = call.Arg(A::DistMat);
  std::vector<Rows> images;
  if (similarity.rank != 2 || !SequencesOf(call, similarity, images))
    return call.Fail("'%s' must be a matrix", similarity.name);
  const int64_t columns = similarity.dims[1], count = static_cast<int64_t>(images.size());
  Output indices(call, 1, DType::kInt32, {count, columns}),
      values(call, 2, TypeOf(similarity), {count, columns});
  if (!indices.ok() || !values.ok()) return 1;
  return VisitFloat(call.context(), similarity, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(indices.template data<int32_t>(), count * columns, -1);
    std::fill_n(values.template data<T>(), count * columns, T{0});
    for (int64_t n = 0; n < count; ++n) {
      const Rows& rows = images[static_cast<size_t>(n)];
      const Matching<T> m{Data<T>(similarity) + rows.begin * columns, rows.count(), columns,
                          indices.template data<int32_t>() + n * columns,
                          values.template data<T>() + n * columns};
      if (rows.count() < kManyRows) m.Bipartite();
      else m.BipartiteSorted();
      if (call.Text(A::match_type) == "per_prediction")
        m.PerColumn(static_cast<T>(static_cast<float>(call.Real(A::dist_threshold))));
    }
    return 0;
  });
}

// X, MatchIndices, NegIndices; mismatch_value -> Out, OutWeight: Out[n, p] = X[row of image n, p],
// weight 1, where p has a row, else mismatch_value and 0; the weight of those in NegIndices is 1.
// MatchIndices are numbers within an image, so the rows of X are found by its LoD. X may have a
// plane per column ([rows, columns, width]) or one for all.
int32_t TargetAssign(OpCall& call) {
  using A = args::dt_target_assign;
  const DtBuffer &x = call.Arg(A::X), &match = call.Arg(A::MatchIndices);
  std::vector<Rows> images;
  std::vector<int64_t> rows_of;
  if (x.rank != 3 || match.rank != 2)
    return call.Fail("'%s' must have three dims and '%s' two", x.name, match.name);
  if (!SequencesOf(call, x, images) || !IntegersOf(call, match, rows_of)) return 1;
  const int64_t count = match.dims[0], columns = match.dims[1], planes = x.dims[1],
                width = x.dims[2];
  if (count != static_cast<int64_t>(images.size()) || planes < 1)
    return call.Fail("'%s' has %zu images, '%s' %lld rows", x.name, images.size(), match.name,
                     static_cast<long long>(count));
  std::vector<Rows> negatives;
  std::vector<int64_t> negative;
  if (call.Has(A::NegIndices) && (!SequencesOf(call, call.Arg(A::NegIndices), negatives) ||
                                  !IntegersOf(call, call.Arg(A::NegIndices), negative)))
    return 1;
  if (call.Has(A::NegIndices) && negatives.size() != images.size())
    return call.Fail("'%s' has %zu images, expected %zu", call.Arg(A::NegIndices).name,
                     negatives.size(), images.size());
  // float32, or float64 in a program that is computed in it.
  const DType real = call.Has(A::OutWeight) && TypeOf(call.Arg(A::OutWeight)) == DType::kFloat64
                         ? DType::kFloat64
                         : DType::kFloat32;
  Output out(call, 3, TypeOf(x), {count, columns, width}),
      weight(call, 4, real, {count, columns, 1});
  if (!out.ok() || !weight.ok()) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const T otherwise = static_cast<T>(call.Int(A::mismatch_value));
    const auto weigh = [&](int64_t at, bool counts) {
      if (real == DType::kFloat64) weight.template data<double>()[at] = counts;
      else weight.template data<float>()[at] = counts;
    };
    for (int64_t i = 0; i < count * columns; ++i) {
      const Rows& image = images[static_cast<size_t>(i / columns)];
      const int64_t row = rows_of[static_cast<size_t>(i)];
      if (row >= image.count())
        return call.Fail("'%s' has the row %lld, the image has %lld", match.name,
                         static_cast<long long>(row), static_cast<long long>(image.count()));
      weigh(i, row >= 0);
      T* to = out.template data<T>() + i * width;
      if (row >= 0)
        std::copy_n(Data<T>(x) + ((image.begin + row) * planes + i % columns % planes) * width,
                    width, to);
      else std::fill_n(to, width, otherwise);
    }
    for (size_t n = 0; n < negatives.size(); ++n)
      for (int64_t i = negatives[n].begin; i < negatives[n].end; ++i) {
        const int64_t column = negative[static_cast<size_t>(i)];
        if (column < 0 || column >= columns)
          return call.Fail("'%s' has the index %lld, out of range for %lld boxes",
                           call.Arg(A::NegIndices).name, static_cast<long long>(column),
                           static_cast<long long>(columns));
        const int64_t at = static_cast<int64_t>(n) * columns + column;
        std::fill_n(out.template data<T>() + at * width, width, otherwise);
        weigh(at, true);
      }
    return 0;
  });
}

// ClsLoss, LocLoss, MatchIndices, MatchDist; neg_pos_ratio, neg_dist_threshold, sample_size,
// mining_type -> NegIndices, UpdatedMatchIndices
// max_negative: of the columns without a row and below neg_dist_threshold those with the largest
// loss, neg_pos_ratio for each positive one. hard_example: the sample_size columns of the largest
// losses of any kind; positives that are not among them lose their row. Ties keep the order of the
// columns; indices are given in rising order.
int32_t MineHardExamples(OpCall& call) {
  using A = args::dt_mine_hard_examples;
  const DtBuffer &loss = call.Arg(A::ClsLoss), &match = call.Arg(A::MatchIndices),
                 &distance = call.Arg(A::MatchDist);
  const std::string_view mining = call.Text(A::mining_type);
  const bool hard = mining == "hard_example";
  if (!hard && mining != "max_negative")
    return call.Fail("unknown mining_type '%s'", std::string(mining).c_str());
  std::vector<int64_t> rows;
  if (match.rank != 2 || TypeOf(match) != DType::kInt32 || !IntegersOf(call, match, rows))
    return call.Fail("'%s' must be a matrix of int32", match.name);
  const int64_t count = match.dims[0], columns = match.dims[1];
  const bool located = hard && call.Has(A::LocLoss);
  if (Elements(loss) != count * columns || !SameShape(distance, match) ||
      distance.dtype != loss.dtype ||
      (located &&
       (!SameShape(call.Arg(A::LocLoss), loss) || call.Arg(A::LocLoss).dtype != loss.dtype)))
    return call.Fail("'%s' and '%s' have not the extents of '%s'", loss.name, distance.name,
                     match.name);
  return VisitFloat(call.context(), loss, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    std::vector<int64_t> chosen, counts;
    for (int64_t n = 0; n < count; ++n) {
      std::vector<std::pair<T, int64_t>> candidates;
      int64_t positives = 0;
      for (int64_t c = n * columns; c < (n + 1) * columns; ++c) {
        const int64_t row = rows[static_cast<size_t>(c)];
        positives += row != -1;
        if (!hard && !(row == -1 && Data<T>(distance)[c] < static_cast<T>(static_cast<float>(
                                                               call.Real(A::neg_dist_threshold)))))
          continue;
        candidates.emplace_back(
            Data<T>(loss)[c] + (located ? Data<T>(call.Arg(A::LocLoss))[c] : T{0}),
            c - n * columns);
      }
      const double most =
          hard ? static_cast<double>(call.Int(A::sample_size))
               : static_cast<double>(positives) *
                     static_cast<double>(static_cast<float>(call.Real(A::neg_pos_ratio)));
      const auto take = static_cast<size_t>(
          std::max(0.0, std::min(most, static_cast<double>(candidates.size()))));
      std::stable_sort(candidates.begin(), candidates.end(),
                       [](const auto& a, const auto& b) { return Larger(a.first, b.first); });
      std::vector<bool> taken(static_cast<size_t>(columns), false);
      for (size_t i = 0; i < take; ++i) taken[static_cast<size_t>(candidates[i].second)] = true;
      const size_t before = chosen.size();
      for (int64_t c = 0; c < columns; ++c) {
        int64_t& row = rows[static_cast<size_t>(n * columns + c)];
        const bool in = taken[static_cast<size_t>(c)];
        if (hard && row > -1) row = in ? row : -1;
        else if (in) chosen.push_back(c);
      }
      counts.push_back(static_cast<int64_t>(chosen.size() - before));
    }
    Output negatives(call, 4, DType::kInt32, {static_cast<int64_t>(chosen.size()), 1},
                     LodOfCounts(counts)),
        updated(call, 5, DType::kInt32, {count, columns});
    if (!negatives.ok() || !updated.ok()) return 1;
    std::copy(chosen.begin(), chosen.end(), negatives.template data<int32_t>());
    std::copy(rows.begin(), rows.end(), updated.template data<int32_t>());
    return 0;
  });
}

}  // namespace dtranspile::kernels
