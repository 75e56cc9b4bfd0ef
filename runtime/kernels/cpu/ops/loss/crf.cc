// linear_chain_crf, its gradient, and crf_decoding (Viterbi). Transition is [K + 2, K]: row 0 the
// weights of starting with a tag, row 1 those of ending with it, then from tag to tag. Formulas:
// linear_chain_crf_op.cc, crf_decoding_op.cc of the framework.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/kernels/cpu/ops/loss/sequence_calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

// Where the sequences are in [rows, tags]: by LoD, or padded [sequences, extent, tags] with Length.
struct Spans {
  std::vector<int64_t> first, length;
  int64_t rows = 0, tags = 0;
  bool padded = false;

  int64_t count() const { return static_cast<int64_t>(first.size()); }
};

// `emission` has the extents, `ragged` the LoD.
bool SpansOf(OpCall& call, const DtBuffer& emission, const DtBuffer& ragged, int length_slot,
             Spans& s) {
  s.padded = call.Has(length_slot);
  if (emission.rank != (s.padded ? 3 : 2))
    return call.Fail("'%s' has %d dims, expected %d", emission.name, emission.rank,
                     s.padded ? 3 : 2),
           false;
  s.tags = emission.dims[emission.rank - 1];
  s.rows = Elements(emission, 0, emission.rank - 1);
  if (s.tags < 1 || s.tags > INT32_MAX)
    return call.Fail("'%s' has %lld tags", emission.name, static_cast<long long>(s.tags)), false;
  if (s.padded) {
    if (!LengthsOf(call, call.Arg(length_slot), emission.dims[0], emission.dims[1], s.length))
      return false;
    for (int64_t i = 0; i < emission.dims[0]; ++i) s.first.push_back(i * emission.dims[1]);
    return true;
  }
  Offsets offsets;
  if (!SequencesOf(call, ragged, offsets) || !CheckRows(call, emission, offsets.back()))
    return false;
  for (int64_t i = 0; i < CountOf(offsets); ++i)
    s.first.push_back(offsets[static_cast<size_t>(i)]), s.length.push_back(LengthAt(offsets, i));
  return true;
}

// The tags of the label, checked where they belong to a sequence.
bool TagsOf(OpCall& call, const DtBuffer& label, const Spans& s, std::vector<int64_t>& tags) {
  if (!IntegersOf(call, label, tags)) return false;
  if (static_cast<int64_t>(tags.size()) != s.rows)
    return call.Fail("'%s' has %zu tags, expected %lld", label.name, tags.size(),
                     static_cast<long long>(s.rows)),
           false;
  for (int64_t i = 0; i < s.count(); ++i)
    for (int64_t k = s.first[static_cast<size_t>(i)];
         k < s.first[static_cast<size_t>(i)] + s.length[static_cast<size_t>(i)]; ++k) {
      const int64_t tag = tags[static_cast<size_t>(k)];
      if (tag < 0 || tag >= s.tags)
        return call.Fail("'%s' has the tag %lld, expected 0 to %lld", label.name,
                         static_cast<long long>(tag), static_cast<long long>(s.tags - 1)),
               false;
    }
  return true;
}

// [K + 2, K] for K tags, as said above.
bool CheckTransition(OpCall& call, const DtBuffer& transition, int64_t tags) {
  if (transition.rank == 2 && transition.dims[0] == tags + 2 && transition.dims[1] == tags)
    return true;
  return call.Fail("'%s' must be [%lld, %lld]", transition.name, static_cast<long long>(tags + 2),
                   static_cast<long long>(tags)),
         false;
}

// Scales to a sum of one and returns the sum before; 0 where that is not possible.
template <typename T>
T Normalize(T* x, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  if (!(sum > 0)) return 0;
  for (int64_t i = 0; i < n; ++i) x[i] /= sum;
  return sum;
}

// Arrays of all sequences: exp(emission - row_max) and exp(transition), so that the recursion
// multiplies instead of adding logarithms, and the row maxima, which are added back to the
// logarithm. alpha[k, i]: the probability of all paths to tag i at row k, each row scaled to a sum
// of 1.
template <typename T>
struct Tables {
  const T *emission, *transition;
  T *emission_exps, *transition_exps, *alpha, *row_max;
};

// Minus the log-likelihood of one sequence, whose rows begin with `first`; false where
// probabilities vanish.
// The forward algorithm (Lafferty et al. 2001): alpha_k[i] = exp(x_k[i]) sum_j alpha_{k-1}[j]
// exp(w[j, i]), and log Z is the sum of the logarithms that the scaling of every row takes out, so
// that long sequences do not underflow. The loss is log Z minus the score of the labelled path.
// O(length · tags²).
template <typename T>
bool LossOf(const Tables<T>& t, int64_t tags, int64_t first, int64_t length, const int64_t* label,
            T& loss) {
  const T *x = t.emission + first * tags, *exps = t.emission_exps + first * tags,
          *between = t.transition_exps + 2 * tags;
  T* alpha = t.alpha + first * tags;
  T log_z = 0;
  for (int64_t k = 0; k < length; ++k) {
    for (int64_t i = 0; i < tags; ++i) {
      T sum = k == 0 ? t.transition_exps[i] : T{0};
      for (int64_t j = 0; k > 0 && j < tags; ++j)
        sum += alpha[(k - 1) * tags + j] * between[j * tags + i];
      alpha[k * tags + i] = sum * exps[k * tags + i];
    }
    const T sum = Normalize(alpha + k * tags, tags);
    if (!(sum > 0)) return false;
    log_z += t.row_max[first + k] + std::log(sum);
  }
  T end = 0;
  for (int64_t i = 0; i < tags; ++i)
    end += alpha[(length - 1) * tags + i] * t.transition_exps[tags + i];
  log_z += std::log(end);
  T score = t.transition[label[0]] + t.transition[tags + label[length - 1]];
  for (int64_t k = 0; k < length; ++k) score += x[k * tags + label[k]];
  for (int64_t k = 1; k < length; ++k) score += t.transition[(label[k - 1] + 2) * tags + label[k]];
  loss = log_z - score;
  return true;
}

// Values between that the gradient reads are outputs of the op; where nobody reads them, they are
// needed all the same while it runs.
template <typename T>
T* OutputOrScratch(OpCall& call, int slot, const DtBuffer& like) {
  if (!call.Has(slot))
    return static_cast<T*>(dt_scratch(
        call.context(), std::max<int64_t>(Elements(like), 1) * static_cast<int64_t>(sizeof(T))));
  return call.Resize(call.Arg(slot), like) ? Data<T>(call.Arg(slot)) : nullptr;
}

// Gradients of one sequence: to emission (its rows) and, summed up, to transition. `beta` and
// `weighted` are scratch of [length, tags].
template <typename T>
struct BackwardOne {
  const T *exps, *transition_exps, *alpha;
  T *beta, *weighted, *demission, *dtransition;
  const int64_t* label;
  int64_t tags, length;
  T gradient;

  // beta[k, i]: the probability of all continuations from tag i at row k, each row scaled to a sum
  // of 1, by the recursion of LossOf backwards. False where no path is possible.
  bool Betas() const {
    const T* between = transition_exps + 2 * tags;
    std::copy_n(transition_exps + tags, tags, beta + (length - 1) * tags);
    if (!(Normalize(beta + (length - 1) * tags, tags) > 0)) return false;
    for (int64_t k = length - 2; k >= 0; --k) {
      for (int64_t i = 0; i < tags; ++i) {
        T sum = 0;
        for (int64_t j = 0; j < tags; ++j)
          sum += between[i * tags + j] * exps[(k + 1) * tags + j] * beta[(k + 1) * tags + j];
        beta[k * tags + i] = sum;
      }
      if (!(Normalize(beta + k * tags, tags) > 0)) return false;
    }
    return true;
  }

  // d loss / d x_k[i] = P(tag i at row k) - [i is the label]; the probability is alpha · beta,
  // scaled to a sum of 1 over the tags.
  void Emission() const {
    for (int64_t k = 0; k < length; ++k) {
      T* out = demission + k * tags;
      for (int64_t i = 0; i < tags; ++i) out[i] = alpha[k * tags + i] * beta[k * tags + i];
      Normalize(out, tags);
      for (int64_t i = 0; i < tags; ++i) out[i] *= gradient;
      out[label[k]] -= gradient;
    }
  }

  // d loss / d w[i, j] = sum over k of P(i at k - 1, j at k) - [both are the labels]; the pair's
  // probability is alpha_{k-1}[i] exp(w[i, j]) exp(x_k[j]) beta_k[j], scaled to a sum of 1 over all
  // pairs. The weights of start and end have the gradient of the first and the last row.
  void Transition() const {
    for (int64_t i = 0; i < tags; ++i) {
      dtransition[i] += demission[i];
      dtransition[tags + i] += demission[(length - 1) * tags + i];
    }
    for (int64_t k = 1; k < length; ++k) {
      T* next = weighted;
      for (int64_t j = 0; j < tags; ++j) next[j] = beta[k * tags + j] * exps[k * tags + j];
      Normalize(next, tags);
      T sum = 0;
      for (int64_t i = 0; i < tags; ++i)
        for (int64_t j = 0; j < tags; ++j)
          sum += transition_exps[(i + 2) * tags + j] * alpha[(k - 1) * tags + i] * next[j];
      const T scale = sum > 0 ? gradient / sum : T{0};
      for (int64_t i = 0; i < tags; ++i)
        for (int64_t j = 0; j < tags; ++j)
          dtransition[(i + 2) * tags + j] +=
              scale * transition_exps[(i + 2) * tags + j] * alpha[(k - 1) * tags + i] * next[j];
      dtransition[(label[k - 1] + 2) * tags + label[k]] -= gradient;
    }
  }
};

// The best path of one sequence; `score` and `from` are scratch of [length, tags].
// score[k, i]: the best score of a path that ends with tag i at row k, from[k, i] the tag before it
// there; the path is read backwards from the best end. The first of equal tags wins. O(length ·
// tags²).
template <typename T>
void Viterbi(const T* x, const T* w, int64_t tags, int64_t length, T* score, int32_t* from,
             int64_t* path) {
  for (int64_t i = 0; i < tags; ++i) score[i] = w[i] + x[i];
  for (int64_t k = 1; k < length; ++k)
    for (int64_t i = 0; i < tags; ++i) {
      T best = -std::numeric_limits<T>::max();
      int32_t at = 0;
      for (int64_t j = 0; j < tags; ++j) {
        const T candidate = score[(k - 1) * tags + j] + w[(j + 2) * tags + i];
        if (candidate > best) best = candidate, at = static_cast<int32_t>(j);
      }
      score[k * tags + i] = best + x[k * tags + i];
      from[k * tags + i] = at;
    }
  T best = -std::numeric_limits<T>::max();
  int64_t at = 0;
  for (int64_t i = 0; i < tags; ++i) {
    const T candidate = score[(length - 1) * tags + i] + w[tags + i];
    if (candidate > best) best = candidate, at = i;
  }
  for (int64_t k = length - 1; k >= 0; --k) {
    path[k] = at;
    if (k > 0) at = from[k * tags + at];
  }
}

}  // namespace

// Slots: Emission, Transition, Label, Length, Alpha, EmissionExps, TransitionExps, LogLikelihood.
int32_t LinearChainCrf(OpCall& call) {
  using A = args::dt_linear_chain_crf;
  const DtBuffer &emission = call.Arg(A::Emission), &transition = call.Arg(A::Transition),
                 &label = call.Arg(A::Label);
  Spans s;
  std::vector<int64_t> tags;
  if (!CheckTypes(
          call, emission,
          {A::Transition, A::Alpha, A::EmissionExps, A::TransitionExps, A::LogLikelihood}) ||
      !SpansOf(call, emission, label, A::Length, s) || !CheckTransition(call, transition, s.tags) ||
      !TagsOf(call, label, s, tags))
    return 1;
  const bool read = call.Has(A::LogLikelihood);
  if (read && !call.Resize(call.Arg(A::LogLikelihood), {s.count(), 1})) return 1;
  return VisitFloat(call.context(), emission, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Tables<T> t{Data<T>(emission),
                Data<T>(transition),
                OutputOrScratch<T>(call, A::EmissionExps, emission),
                OutputOrScratch<T>(call, A::TransitionExps, transition),
                OutputOrScratch<T>(call, A::Alpha, emission),
                static_cast<T*>(dt_scratch(call.context(), std::max<int64_t>(s.rows, 1) *
                                                               static_cast<int64_t>(sizeof(T))))};
    if (t.emission_exps == nullptr || t.transition_exps == nullptr || t.alpha == nullptr) return 1;
    for (int64_t i = 0; i < Elements(transition); ++i)
      t.transition_exps[i] = std::exp(t.transition[i]);
    for (int64_t k = 0; k < s.rows; ++k) {
      const T* x = t.emission + k * s.tags;
      t.row_max[k] = *std::max_element(x, x + s.tags);
      for (int64_t i = 0; i < s.tags; ++i)
        t.emission_exps[k * s.tags + i] = std::exp(x[i] - t.row_max[k]);
    }
    std::fill_n(t.alpha, Elements(emission), T{0});
    for (int64_t i = 0; i < s.count(); ++i) {
      const int64_t first = s.first[static_cast<size_t>(i)],
                    length = s.length[static_cast<size_t>(i)];
      T unread = 0;
      T& out = read ? Data<T>(call.Arg(A::LogLikelihood))[i] : unread;
      out = 0;
      if (length > 0 && !LossOf(t, s.tags, first, length, tags.data() + first, out))
        return call.Fail("all paths of sequence %lld of '%s' have the probability 0",
                         static_cast<long long>(i), emission.name);
    }
    return 0;
  });
}

// Slots: Emission, Transition, Label, Length, Alpha, EmissionExps, TransitionExps,
// LogLikelihood@GRAD, Emission@GRAD, Transition@GRAD.
int32_t LinearChainCrfGrad(OpCall& call) {
  using A = args::dt_linear_chain_crf_grad;
  const DtBuffer &label = call.Arg(A::Label), &alpha = call.Arg(A::Alpha),
                 &exps = call.Arg(A::EmissionExps), &transition = call.Arg(A::TransitionExps),
                 &gradient = call.Arg(A::LogLikelihood_GRAD);
  Spans s;
  std::vector<int64_t> tags;
  if (!CheckTypes(call, exps,
                  {A::Alpha, A::TransitionExps, A::LogLikelihood_GRAD, A::Emission_GRAD,
                   A::Transition_GRAD}) ||
      !SpansOf(call, exps, label, A::Length, s) || !CheckTransition(call, transition, s.tags) ||
      !TagsOf(call, label, s, tags))
    return 1;
  if (!SameShape(alpha, exps) || Elements(gradient) != s.count())
    return call.Fail("'%s' or '%s' has not the extents of the forward values", alpha.name,
                     gradient.name);
  return VisitFloat(call.context(), exps, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto scratch = [&](int64_t n) {
      return static_cast<T*>(
          dt_scratch(call.context(), std::max<int64_t>(n, 1) * static_cast<int64_t>(sizeof(T))));
    };
    T* demission = OutputOrScratch<T>(call, A::Emission_GRAD, exps);
    T* dtransition = OutputOrScratch<T>(call, A::Transition_GRAD, transition);
    if (demission == nullptr || dtransition == nullptr) return 1;
    if (call.Has(A::Emission_GRAD) && !s.padded)
      OpCall::SetLod(call.Arg(A::Emission_GRAD),
                     OpCall::LodOf(call.Has(A::Emission) ? call.Arg(A::Emission) : label));
    std::fill_n(demission, Elements(exps), T{0});
    std::fill_n(dtransition, Elements(transition), T{0});
    T *beta = scratch(Elements(exps)), *weighted = scratch(s.tags);
    for (int64_t i = 0; i < s.count(); ++i) {
      const int64_t first = s.first[static_cast<size_t>(i)],
                    length = s.length[static_cast<size_t>(i)], at = first * s.tags;
      if (length == 0) continue;
      const BackwardOne<T> one{
          Data<T>(exps) + at,  Data<T>(transition), Data<T>(alpha) + at, beta + at, weighted,
          demission + at,      dtransition,         tags.data() + first, s.tags,    length,
          Data<T>(gradient)[i]};
      if (!one.Betas())
        return call.Fail("all paths of sequence %lld have the probability 0",
                         static_cast<long long>(i));
      one.Emission();
      one.Transition();
    }
    return 0;
  });
}

// Slots: Emission, Transition, Label, Length, ViterbiPath. With a label the path says where it
// agrees with it.
int32_t CrfDecoding(OpCall& call) {
  using A = args::dt_crf_decoding;
  const DtBuffer &emission = call.Arg(A::Emission), &transition = call.Arg(A::Transition);
  DtBuffer& path = call.Arg(A::ViterbiPath);
  Spans s;
  std::vector<int64_t> label;
  if (!CheckTypes(call, emission, {A::Transition}) ||
      !CheckTypes(call, DType::kInt64, {A::ViterbiPath}) ||
      !SpansOf(call, emission, emission, A::Length, s) ||
      !CheckTransition(call, transition, s.tags))
    return 1;
  if (call.Has(A::Label) && !IntegersOf(call, call.Arg(A::Label), label)) return 1;
  if (call.Has(A::Label) && static_cast<int64_t>(label.size()) != s.rows)
    return call.Fail("'%s' has %zu tags, expected %lld", call.Arg(A::Label).name, label.size(),
                     static_cast<long long>(s.rows));
  if (!call.Resize(path, {s.padded ? emission.dims[0] : s.rows, s.padded ? emission.dims[1] : 1}))
    return 1;
  if (!s.padded) OpCall::SetLod(path, OpCall::LodOf(emission));
  std::fill_n(Data<int64_t>(path), s.rows, 0);
  return VisitFloat(call.context(), emission, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t elements = std::max<int64_t>(Elements(emission), 1);
    T* score =
        static_cast<T*>(dt_scratch(call.context(), elements * static_cast<int64_t>(sizeof(T))));
    auto* from = static_cast<int32_t*>(
        dt_scratch(call.context(), elements * static_cast<int64_t>(sizeof(int32_t))));
    Parallel(call.context(), s.count(), 1, [&](int64_t lo, int64_t n) {
      for (int64_t i = lo; i < lo + n; ++i) {
        const int64_t first = s.first[static_cast<size_t>(i)],
                      length = s.length[static_cast<size_t>(i)], at = first * s.tags;
        int64_t* out = Data<int64_t>(path) + first;
        if (length == 0) continue;
        Viterbi(Data<T>(emission) + at, Data<T>(transition), s.tags, length, score + at, from + at,
                out);
        for (int64_t k = 0; call.Has(A::Label) && k < length; ++k)
          out[k] = out[k] == label[static_cast<size_t>(first + k)] ? 1 : 0;
      }
    });
    return 0;
  });
}

}  // namespace dtranspile::kernels
