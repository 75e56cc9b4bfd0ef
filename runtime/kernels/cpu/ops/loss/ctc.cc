// warpctc and its gradient: the CTC loss of Graves et al. (Connectionist Temporal Classification,
// ICML 2006, equations 4-16) of logits, in logarithms. Sequences come by LoD, or padded time-major
// [time, sequences, classes] with lengths.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/kernels/cpu/ops/loss/sequence_calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double LogAdd(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

// Rows of the logits of sequence i are first[i] + t * stride, t in [0, length[i]).
struct Frames {
  std::vector<int64_t> first, length;
  int64_t stride = 1, classes = 0, longest = 0;

  int64_t count() const { return static_cast<int64_t>(first.size()); }
};

// With lengths the time is the first dim, so that the rows of one sequence are `sequences` apart;
// by LoD they follow each other.
bool FramesOf(OpCall& call, const DtBuffer& logits, int length_slot, Frames& f) {
  if (call.Has(length_slot)) {
    if (logits.rank != 3)
      return call.Fail("'%s' has %d dims, expected [time, sequences, classes]", logits.name,
                       logits.rank),
             false;
    f.longest = logits.dims[0], f.stride = logits.dims[1], f.classes = logits.dims[2];
    for (int64_t i = 0; i < f.stride; ++i) f.first.push_back(i);
    return LengthsOf(call, call.Arg(length_slot), f.stride, f.longest, f.length);
  }
  Offsets offsets;
  if (!SequencesOf(call, logits, offsets)) return false;
  f.classes = RowSize(logits);
  f.longest = LongestOf(offsets);
  for (int64_t i = 0; i < CountOf(offsets); ++i)
    f.first.push_back(offsets[static_cast<size_t>(i)]), f.length.push_back(LengthAt(offsets, i));
  return true;
}

struct Labels {
  std::vector<int64_t> tokens, first, length;
};

// Slots 1 and 3: Label, LabelLength.
bool LabelsOf(OpCall& call, const Frames& f, int64_t blank, Labels& l) {
  using A = args::dt_warpctc;
  const DtBuffer& label = call.Arg(A::Label);
  if (!IntegersOf(call, label, l.tokens)) return false;
  if (call.Has(A::LabelLength)) {
    if (label.rank < 2 || label.dims[0] != f.count())
      return call.Fail("'%s' must have a row for each of %lld sequences", label.name,
                       static_cast<long long>(f.count())),
             false;
    if (!LengthsOf(call, call.Arg(A::LabelLength), f.count(), RowSize(label), l.length))
      return false;
    for (int64_t i = 0; i < f.count(); ++i) l.first.push_back(i * RowSize(label));
  } else {
    Offsets offsets;
    if (!SequencesOf(call, label, offsets)) return false;
    if (CountOf(offsets) != f.count() || RowSize(label) != 1)
      return call.Fail("'%s' has %lld sequences, expected %lld, one token in a row", label.name,
                       static_cast<long long>(CountOf(offsets)), static_cast<long long>(f.count())),
             false;
    for (int64_t i = 0; i < f.count(); ++i)
      l.first.push_back(offsets[static_cast<size_t>(i)]), l.length.push_back(LengthAt(offsets, i));
  }
  for (size_t i = 0; i < l.first.size(); ++i)
    for (int64_t k = l.first[i]; k < l.first[i] + l.length[i]; ++k) {
      const int64_t token = l.tokens[static_cast<size_t>(k)];
      if (token < 0 || token >= f.classes || token == blank)
        return call.Fail("'%s' has the label %lld, expected 0 to %lld without the blank %lld",
                         label.name, static_cast<long long>(token),
                         static_cast<long long>(f.classes - 1), static_cast<long long>(blank)),
               false;
    }
  return true;
}

// One sequence: labels with blanks around each, S = 2 L + 1 states.
class Lattice {
 public:
  Lattice(const int64_t* label, int64_t length, int64_t blank)
      : states_(static_cast<size_t>(2 * length + 1), blank) {
    for (int64_t k = 0; k < length; ++k) states_[static_cast<size_t>(2 * k + 1)] = label[k];
    for (int64_t k = 1; k < length; ++k) repeats_ += label[k] == label[k - 1];
    needed_ = length + repeats_;
  }

  int64_t size() const { return static_cast<int64_t>(states_.size()); }
  int64_t state(int64_t s) const { return states_[static_cast<size_t>(s)]; }
  int64_t needed() const { return needed_; }  // frames at least
  // Whether a path may go from state s - 2 to s.
  bool skips(int64_t s) const { return s >= 2 && state(s) != state(s - 2) && (s & 1) == 1; }

  // log of the probability of having produced all before and including frame t in state s, `alpha`
  // [T, S].
  void Forward(const double* log_y, int64_t frames, int64_t classes, double* alpha) const {
    const int64_t n = size();
    std::fill_n(alpha, n, kNever);
    for (int64_t s = 0; s < std::min<int64_t>(n, 2); ++s) alpha[s] = log_y[state(s)];
    for (int64_t t = 1; t < frames; ++t) {
      const double* before = alpha + (t - 1) * n;
      for (int64_t s = 0; s < n; ++s) {
        double sum = before[s];
        if (s >= 1) sum = LogAdd(sum, before[s - 1]);
        if (skips(s)) sum = LogAdd(sum, before[s - 2]);
        alpha[t * n + s] = sum + log_y[t * classes + state(s)];
      }
    }
  }

  // The same from the end, without the frame itself; one row at a time.
  void Backward(const double* log_y_next, const double* next, double* beta) const {
    const int64_t n = size();
    for (int64_t s = 0; s < n; ++s) {
      double sum = next[s] + log_y_next[state(s)];
      if (s + 1 < n) sum = LogAdd(sum, next[s + 1] + log_y_next[state(s + 1)]);
      if (s + 2 < n && skips(s + 2)) sum = LogAdd(sum, next[s + 2] + log_y_next[state(s + 2)]);
      beta[s] = sum;
    }
  }

 private:
  std::vector<int64_t> states_;
  int64_t repeats_ = 0, needed_ = 0;
};

// No probability is less than the least normal number of the type (as in warp-ctc), so that a loss
// of large logits ends at 87 per frame in float32.
template <typename T>
void LogSoftmax(const T* x, int64_t classes, double* out) {
  static const double least = std::log(static_cast<double>(std::numeric_limits<T>::min()));
  const double largest = *std::max_element(x, x + classes);
  double sum = 0;
  for (int64_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(x[k]) - largest);
  const double log_sum = largest + std::log(sum);
  for (int64_t k = 0; k < classes; ++k)
    out[k] = std::max(static_cast<double>(x[k]) - log_sum, least);
}

// Loss and its gradient with respect to the logits (rows of `gradient` are `stride` rows apart) of
// one sequence.
template <typename T>
T LossOf(const T* logits, int64_t frames, int64_t stride, int64_t classes, const Lattice& lattice,
         T* gradient, int64_t gradient_stride) {
  // What no path can produce has no loss (warp-ctc's convention).
  if (frames == 0 || lattice.needed() > frames) return 0;
  const int64_t n = lattice.size();
  std::vector<double> log_y(static_cast<size_t>(frames * classes)),
      alpha(static_cast<size_t>(frames * n)), beta(static_cast<size_t>(n), kNever), next;
  for (int64_t t = 0; t < frames; ++t)
    LogSoftmax(logits + t * stride * classes, classes, log_y.data() + t * classes);
  lattice.Forward(log_y.data(), frames, classes, alpha.data());
  const double* last = alpha.data() + (frames - 1) * n;
  const double log_p = n > 1 ? LogAdd(last[n - 1], last[n - 2]) : last[0];
  for (int64_t s = std::max<int64_t>(n - 2, 0); s < n; ++s) beta[static_cast<size_t>(s)] = 0;
  std::vector<double> occupied(static_cast<size_t>(classes));
  for (int64_t t = frames - 1; gradient != nullptr && t >= 0; --t) {
    if (t + 1 < frames) {
      next = beta;
      lattice.Backward(log_y.data() + (t + 1) * classes, next.data(), beta.data());
    }
    std::fill(occupied.begin(), occupied.end(), 0.0);
    for (int64_t s = 0; s < n; ++s)
      occupied[static_cast<size_t>(lattice.state(s))] +=
          std::exp(alpha[static_cast<size_t>(t * n + s)] + beta[static_cast<size_t>(s)] - log_p);
    T* out = gradient + t * gradient_stride * classes;
    for (int64_t k = 0; k < classes; ++k)
      out[k] = static_cast<T>(std::exp(log_y[static_cast<size_t>(t * classes + k)]) -
                              occupied[static_cast<size_t>(k)]);
  }
  return static_cast<T>(-log_p);
}

}  // namespace

// Slots: Logits, Label, LogitsLength, LabelLength, WarpCTCGrad [time, sequences, classes], Loss
// [sequences, 1].
int32_t WarpCtc(OpCall& call) {
  using A = args::dt_warpctc;
  const DtBuffer& logits = call.Arg(A::Logits);
  const int64_t blank = call.Int(A::blank);
  Frames f;
  Labels l;
  if (call.Has(A::LogitsLength) != call.Has(A::LabelLength))
    return call.Fail("LogitsLength and LabelLength belong together");
  if (!CheckTypes(call, logits, {A::WarpCTCGrad, A::Loss}) ||
      !FramesOf(call, logits, A::LogitsLength, f))
    return 1;
  if (blank < 0 || blank >= f.classes)
    return call.Fail("blank %lld, expected 0 to %lld", static_cast<long long>(blank),
                     static_cast<long long>(f.classes - 1));
  if (!LabelsOf(call, f, blank, l)) return 1;
  if (call.Has(A::WarpCTCGrad) &&
      !call.Resize(call.Arg(A::WarpCTCGrad), {f.longest, f.count(), f.classes}))
    return 1;
  if (call.Has(A::Loss) && !call.Resize(call.Arg(A::Loss), {f.count(), 1})) return 1;
  return VisitFloat(call.context(), logits, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* gradient = call.Has(A::WarpCTCGrad) ? Data<T>(call.Arg(A::WarpCTCGrad)) : nullptr;
    T* loss = call.Has(A::Loss) ? Data<T>(call.Arg(A::Loss)) : nullptr;
    if (gradient != nullptr) std::fill_n(gradient, f.longest * f.count() * f.classes, T{0});
    Parallel(call.context(), f.count(), 1, [&](int64_t lo, int64_t n) {
      for (int64_t i = lo; i < lo + n; ++i) {
        const auto at = static_cast<size_t>(i);
        const Lattice lattice(l.tokens.data() + l.first[at], l.length[at], blank);
        const T value =
            LossOf(Data<T>(logits) + f.first[at] * f.classes, f.length[at], f.stride, f.classes,
                   lattice, gradient == nullptr ? nullptr : gradient + i * f.classes, f.count());
        if (loss != nullptr) loss[i] = value;
      }
    });
    return 0;
  });
}

// Slots: Logits, LogitsLength, WarpCTCGrad, Loss@GRAD, Logits@GRAD; attribute 0: norm_by_times.
int32_t WarpCtcGrad(OpCall& call) {
  using A = args::dt_warpctc_grad;
  const DtBuffer &logits = call.Arg(A::Logits), &forward = call.Arg(A::WarpCTCGrad),
                 &gradient = call.Arg(A::Loss_GRAD);
  DtBuffer& out = call.Arg(A::Logits_GRAD);
  Frames f;
  if (!CheckTypes(call, logits, {A::WarpCTCGrad, A::Loss_GRAD, A::Logits_GRAD}) ||
      !FramesOf(call, logits, A::LogitsLength, f))
    return 1;
  if (forward.rank != 3 || forward.dims[0] != f.longest || forward.dims[1] != f.count() ||
      forward.dims[2] != f.classes || Elements(gradient) != f.count())
    return call.Fail("'%s' or '%s' has not the extents of the loss of '%s'", forward.name,
                     gradient.name, logits.name);
  if (!call.Resize(out, logits)) return 1;
  OpCall::SetLod(out, OpCall::LodOf(logits));
  return VisitFloat(call.context(), logits, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(Data<T>(out), Elements(out), T{0});
    for (int64_t i = 0; i < f.count(); ++i) {
      const auto at = static_cast<size_t>(i);
      const T scale =
          Data<T>(gradient)[i] /
          (call.Bool(A::norm_by_times) ? static_cast<T>(std::max<int64_t>(f.length[at], 1)) : T{1});
      for (int64_t t = 0; t < f.length[at]; ++t) {
        const T* from = Data<T>(forward) + (t * f.count() + i) * f.classes;
        T* to = Data<T>(out) + (f.first[at] + t * f.stride) * f.classes;
        for (int64_t k = 0; k < f.classes; ++k) to[k] = from[k] * scale;
      }
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
