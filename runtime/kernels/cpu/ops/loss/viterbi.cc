// The best path of tags through each sequence of a padded batch (Viterbi 1967; phi
// viterbi_decode_kernel). Rows: runtime/kernels/signatures/loss.calls.
#include <algorithm>
#include <vector>

#include "runtime/kernels/cpu/ops/loss/calls.h"

namespace dtranspile::kernels {

// Input [batch, time, tags], Transition [from, to], Length; include_bos_eos_tag -> Scores, Path (0
// behind the end of a sequence). With it the last row of Transition leads from the start to the
// first tag, and the row before it is added to the last one.
int32_t Viterbi(OpCall& call) {
  using A = args::dt_viterbi;
  const DtBuffer &input = call.Arg(A::Input), &transition = call.Arg(A::Transition);
  const int64_t batch = input.dims[0], time = input.dims[1], tags = input.dims[2];
  const bool ends = call.Bool(A::include_bos_eos_tag);
  std::vector<int64_t> lengths;
  if (!IntegersOf(call, call.Arg(A::Length), lengths)) return 1;
  if (transition.dims[0] != tags || transition.dims[1] != tags)
    return call.Fail("'%s' has not the tags of '%s'", transition.name, input.name);
  if (static_cast<int64_t>(lengths.size()) != batch || batch < 1 || tags < (ends ? 2 : 1) ||
      time < 1)
    return call.Fail("'%s' has not one length for each sequence of '%s'", call.Arg(A::Length).name,
                     input.name);
  for (int64_t length : lengths)
    if (length < 0 || length > time)
      return call.Fail("'%s' has the length %lld, expected 0 to %lld", call.Arg(A::Length).name,
                       static_cast<long long>(length), static_cast<long long>(time));
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const int64_t scoreDims[] = {batch}, pathDims[] = {batch, longest};
  DtBuffer *scores = call.Has(A::Scores) ? &call.Arg(A::Scores) : nullptr,
           *path = call.Has(A::Path) ? &call.Arg(A::Path) : nullptr;
  if ((scores != nullptr && !call.Resize(*scores, scoreDims)) ||
      (path != nullptr && !call.Resize(*path, pathDims)))
    return 1;
  return VisitFloat(call.context(), input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *from = Data<T>(transition), *start = from + (tags - 1) * tags,
            *stop = start - (ends ? tags : 0);
    std::vector<T> alpha(static_cast<size_t>(tags)), next(alpha.size());
    std::vector<int64_t> before(static_cast<size_t>(std::max<int64_t>(longest, 1) * tags));
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = lengths[static_cast<size_t>(b)];
      const T* logits = Data<T>(input) + b * time * tags;
      auto finish = [&](int64_t step) {
        for (int64_t j = 0; ends && step + 1 == length && j < tags; ++j)
          alpha[static_cast<size_t>(j)] += stop[j];
      };
      for (int64_t j = 0; j < tags; ++j)
        alpha[static_cast<size_t>(j)] = ends ? logits[j] + start[j] : logits[j];
      finish(0);
      for (int64_t t = 1; t < length; ++t) {
        for (int64_t j = 0; j < tags; ++j) {
          int64_t best = 0;
          for (int64_t i = 1; i < tags; ++i)
            if (alpha[static_cast<size_t>(i)] + from[i * tags + j] >
                alpha[static_cast<size_t>(best)] + from[best * tags + j])
              best = i;
          before[static_cast<size_t>(t * tags + j)] = best;
          next[static_cast<size_t>(j)] =
              alpha[static_cast<size_t>(best)] + from[best * tags + j] + logits[t * tags + j];
        }
        alpha.swap(next);
        finish(t);
      }
      const auto best = std::max_element(alpha.begin(), alpha.end());
      if (scores != nullptr) Data<T>(*scores)[b] = *best;
      if (path == nullptr) continue;
      int64_t* places = Data<int64_t>(*path) + b * longest;
      std::fill(places, places + longest, 0);
      int64_t at = best - alpha.begin();
      for (int64_t t = length; t-- > 0;) {
        places[t] = at;
        at = before[static_cast<size_t>(t * tags + at)];
      }
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
