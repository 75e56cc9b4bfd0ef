// One step of a recurrence over a batch: gru_unit (Cho et al. 2014; `origin_mode` keeps the paper's
// update) and lstm_unit (Hochreiter, Schmidhuber 1997), with their gradients. gru_unit's Weight is
// packed: a contiguous [D, 2D] for update and reset gate, then [D, D] for the candidate.
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/ops/recurrent/calls.h"

namespace dtranspile::kernels {
namespace {

enum Activation : int64_t { kIdentity = 0, kSigmoid = 1, kTanh = 2, kRelu = 3 };

template <typename T>
T Activate(int64_t kind, T x) {
  switch (kind) {
    case kSigmoid: return 1 / (1 + std::exp(-x));
    case kTanh: return std::tanh(x);
    case kRelu: return x > 0 ? x : T{0};
    default: return x;
  }
}

// The derivative, by the activated value.
template <typename T>
T Slope(int64_t kind, T y) {
  switch (kind) {
    case kSigmoid: return y * (1 - y);
    case kTanh: return 1 - y * y;
    case kRelu: return y > 0 ? T{1} : T{0};
    default: return T{1};
  }
}

// Rows of the batch and extent of the hidden state.
struct GruShape {
  int64_t n = 0, d = 0;
};

// Checks what both calls share; activations are numbers in this op, names in the others.
bool GruOf(OpCall& call, GruShape& s) {
  using A = args::dt_gru_unit;
  static_assert(A::Bias == args::dt_gru_unit_grad::Bias &&
                A::HiddenPrev == args::dt_gru_unit_grad::HiddenPrev &&
                A::Input == args::dt_gru_unit_grad::Input &&
                A::Weight == args::dt_gru_unit_grad::Weight);
  const DtBuffer &x = call.Arg(A::Input), &h = call.Arg(A::HiddenPrev), &w = call.Arg(A::Weight);
  if (x.rank != 2 || h.rank != 2 || x.dims[0] != h.dims[0] || x.dims[1] != 3 * h.dims[1] ||
      Elements(w) != 3 * h.dims[1] * h.dims[1] || TypeOf(x) != TypeOf(h) || TypeOf(x) != TypeOf(w))
    return call.Fail("'%s', '%s' and '%s' have not the extents [n, 3d], [n, d], [d, 3d]", x.name,
                     h.name, w.name),
           false;
  s = {h.dims[0], h.dims[1]};
  if (call.Has(A::Bias) &&
      (Elements(call.Arg(A::Bias)) != 3 * s.d || TypeOf(call.Arg(A::Bias)) != TypeOf(x)))
    return call.Fail("'%s' has not 3d elements", call.Arg(A::Bias).name), false;
  for (int attr : {0, 1})
    if (call.Int(attr) < kIdentity || call.Int(attr) > kRelu)
      return call.Fail("activation %lld", static_cast<long long>(call.Int(attr))), false;
  return true;
}

// Columns [from, from + width) of rows of `stride`, contiguous.
template <typename T>
std::vector<T> Columns(const T* x, int64_t n, int64_t stride, int64_t from, int64_t width) {
  std::vector<T> out(static_cast<size_t>(n * width));
  for (int64_t i = 0; i < n; ++i) std::copy_n(x + i * stride + from, width, out.data() + i * width);
  return out;
}

}  // namespace

// ... -> Gate, ResetHiddenPrev, Hidden
// u = g(x_u + h W_u + b_u), r likewise, c = a(x_c + (r h) W_c + b_c), then h' = h + u (c - h), or c
// + u (h - c) with origin_mode. Two products: one for both gates, one for the candidate, which
// needs r.
int32_t GruUnit(OpCall& call) {
  using A = args::dt_gru_unit;
  GruShape s;
  if (!GruOf(call, s)) return 1;
  const DtBuffer &x = call.Arg(A::Input), &h = call.Arg(A::HiddenPrev), &w = call.Arg(A::Weight);
  const std::vector<int64_t> wide = {s.n, 3 * s.d}, narrow = {s.n, s.d};
  for (int slot = A::Gate; slot <= A::Hidden; ++slot)
    if (call.Has(slot) && !call.Resize(call.Arg(slot), slot == A::Gate ? wide : narrow)) return 1;
  const int64_t activation = call.Int(A::activation),
                gate_activation = call.Int(A::gate_activation);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *bias = call.Has(A::Bias) ? Data<T>(call.Arg(A::Bias)) : nullptr,
            *previous = Data<T>(h);
    std::vector<T> gates(Data<T>(x), Data<T>(x) + s.n * 3 * s.d),
        product(static_cast<size_t>(s.n * 2 * s.d)), reset(static_cast<size_t>(s.n * s.d));
    if (Multiply(call.context(), TypeOf(x), Contiguous(false, false, s.n, 2 * s.d, s.d), previous,
                 w.data, product.data()) != 0)
      return 1;
    for (int64_t i = 0; i < s.n; ++i)
      for (int64_t j = 0; j < 2 * s.d; ++j) {
        T& gate = gates[static_cast<size_t>(i * 3 * s.d + j)];
        gate = Activate(gate_activation, gate + product[static_cast<size_t>(i * 2 * s.d + j)] +
                                             (bias != nullptr ? bias[j] : T{0}));
        if (j >= s.d)
          reset[static_cast<size_t>(i * s.d + j - s.d)] = gate * previous[i * s.d + j - s.d];
      }
    if (Multiply(call.context(), TypeOf(x), Contiguous(false, false, s.n, s.d, s.d), reset.data(),
                 Data<T>(w) + 2 * s.d * s.d, product.data()) != 0)
      return 1;
    for (int64_t i = 0; i < s.n; ++i)
      for (int64_t j = 0; j < s.d; ++j) {
        T& c = gates[static_cast<size_t>(i * 3 * s.d + 2 * s.d + j)];
        c = Activate(activation, c + product[static_cast<size_t>(i * s.d + j)] +
                                     (bias != nullptr ? bias[2 * s.d + j] : T{0}));
        const T u = gates[static_cast<size_t>(i * 3 * s.d + j)], before = previous[i * s.d + j];
        if (call.Has(A::Hidden))
          Data<T>(call.Arg(A::Hidden))[i * s.d + j] =
              call.Bool(A::origin_mode) ? c + u * (before - c) : before + u * (c - before);
      }
    if (call.Has(A::Gate)) std::copy(gates.begin(), gates.end(), Data<T>(call.Arg(A::Gate)));
    if (call.Has(A::ResetHiddenPrev))
      std::copy(reset.begin(), reset.end(), Data<T>(call.Arg(A::ResetHiddenPrev)));
    return 0;
  });
}

// ..., Gate, ResetHiddenPrev, Hidden@GRAD -> Input@GRAD, HiddenPrev@GRAD, Weight@GRAD, Bias@GRAD
// The equations of GruUnit backwards: from the new state to u and c, through the candidate's
// product to r h, from there to r, then through the gates' product; contributions to the previous
// state are added in that order. Every derivative of an activation is taken at its value (Slope),
// so inputs are not read again.
int32_t GruUnitGrad(OpCall& call) {
  using A = args::dt_gru_unit_grad;
  GruShape s;
  if (!GruOf(call, s)) return 1;
  const DtBuffer &x = call.Arg(A::Input), &h = call.Arg(A::HiddenPrev), &w = call.Arg(A::Weight),
                 &gate = call.Arg(A::Gate), &reset = call.Arg(A::ResetHiddenPrev),
                 &gradient = call.Arg(A::Hidden_GRAD);
  if (!SameShape(gate, x) || !SameShape(reset, h) || !SameShape(gradient, h) ||
      TypeOf(gate) != TypeOf(x) || TypeOf(reset) != TypeOf(x) || TypeOf(gradient) != TypeOf(x))
    return call.Fail("'%s', '%s' and '%s' do not fit '%s'", gate.name, reset.name, gradient.name,
                     h.name);
  constexpr int kDx = A::Input_GRAD, kDh = A::HiddenPrev_GRAD, kDw = A::Weight_GRAD,
                kDb = A::Bias_GRAD;
  const DtBuffer* like[] = {&x, &h, &w};
  for (int slot = kDx; slot <= kDw; ++slot)
    if (call.Has(slot) && !call.Resize(call.Arg(slot), *like[slot - kDx])) return 1;
  if (call.Has(kDb) && !call.Resize(call.Arg(kDb), {1, 3 * s.d})) return 1;
  const int64_t activation = call.Int(A::activation),
                gate_activation = call.Int(A::gate_activation);
  const bool origin = call.Bool(A::origin_mode);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    DtContext* context = call.context();
    std::vector<T> d_gates(static_cast<size_t>(s.n * 3 * s.d)),
        d_previous(static_cast<size_t>(s.n * s.d)), d_reset(d_previous.size());
    auto each = [&](auto&& body) {
      for (int64_t i = 0; i < s.n; ++i)
        for (int64_t j = 0; j < s.d; ++j) body(i * s.d + j, i * 3 * s.d + j);
    };
    const T *gates = Data<T>(gate), *previous = Data<T>(h), *dh = Data<T>(gradient);
    each([&](int64_t at, int64_t u_at) {
      const T u = gates[u_at], c = gates[u_at + 2 * s.d];
      const T du = dh[at] * (origin ? previous[at] - c : c - previous[at]),
              dc = dh[at] * (origin ? 1 - u : u);
      d_previous[static_cast<size_t>(at)] = dh[at] * (origin ? u : 1 - u);
      d_gates[static_cast<size_t>(u_at)] = du * Slope(gate_activation, u);
      d_gates[static_cast<size_t>(u_at + 2 * s.d)] = dc * Slope(activation, c);
    });
    const std::vector<T> d_candidate = Columns(d_gates.data(), s.n, 3 * s.d, 2 * s.d, s.d);
    if (Multiply(context, TypeOf(x), Contiguous(false, true, s.n, s.d, s.d), d_candidate.data(),
                 Data<T>(w) + 2 * s.d * s.d, d_reset.data()) != 0)
      return 1;
    each([&](int64_t at, int64_t u_at) {
      const T r = gates[u_at + s.d], dr = d_reset[static_cast<size_t>(at)];
      d_gates[static_cast<size_t>(u_at + s.d)] = dr * previous[at] * Slope(gate_activation, r);
      d_previous[static_cast<size_t>(at)] += dr * r;
    });
    const std::vector<T> d_update = Columns(d_gates.data(), s.n, 3 * s.d, 0, 2 * s.d);
    if (Multiply(context, TypeOf(x), Contiguous(false, true, s.n, s.d, 2 * s.d, 1), d_update.data(),
                 w.data, d_previous.data()) != 0)
      return 1;
    if (call.Has(kDw) &&
        (Multiply(context, TypeOf(x), Contiguous(true, false, s.d, 2 * s.d, s.n), previous,
                  d_update.data(), call.Arg(kDw).data) != 0 ||
         Multiply(context, TypeOf(x), Contiguous(true, false, s.d, s.d, s.n), reset.data,
                  d_candidate.data(), Data<T>(call.Arg(kDw)) + 2 * s.d * s.d) != 0))
      return 1;
    if (call.Has(kDx)) std::copy(d_gates.begin(), d_gates.end(), Data<T>(call.Arg(kDx)));
    if (call.Has(kDh)) std::copy(d_previous.begin(), d_previous.end(), Data<T>(call.Arg(kDh)));
    for (int64_t j = 0; call.Has(kDb) && j < 3 * s.d; ++j) {
      T sum = 0;
      for (int64_t i = 0; i < s.n; ++i) sum += d_gates[static_cast<size_t>(i * 3 * s.d + j)];
      Data<T>(call.Arg(kDb))[j] = sum;
    }
    return 0;
  });
}

namespace {

// X [n, 4d]: input, forget, output gate, candidate; C_prev [n, d]. The gates, activated.
template <typename T>
struct LstmGates {
  T i, f, o, g;
};

// Gates are not an output of the op: the gradient computes them again from X.
template <typename T>
LstmGates<T> GatesAt(const T* row, int64_t d, int64_t j, T forget_bias) {
  return {Activate<T>(kSigmoid, row[j]), Activate<T>(kSigmoid, row[d + j] + forget_bias),
          Activate<T>(kSigmoid, row[2 * d + j]), Activate<T>(kTanh, row[3 * d + j])};
}

bool LstmFits(OpCall& call, const DtBuffer& x, const DtBuffer& c) {
  if (x.rank == 2 && c.rank == 2 && x.dims[0] == c.dims[0] && x.dims[1] == 4 * c.dims[1] &&
      TypeOf(x) == TypeOf(c))
    return true;
  return call.Fail("'%s' and '%s' have not the extents [n, 4d] and [n, d]", x.name, c.name), false;
}

}  // namespace

// X, C_prev; forget_bias -> C, H
// C = f C_prev + i g, H = o tanh(C).
int32_t LstmUnit(OpCall& call) {
  using A = args::dt_lstm_unit;
  const DtBuffer &x = call.Arg(A::X), &previous = call.Arg(A::C_prev);
  if (!LstmFits(call, x, previous)) return 1;
  for (int slot = 2; slot < 4; ++slot)
    if (call.Has(slot) && !call.Resize(call.Arg(slot), previous)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t n = previous.dims[0], d = previous.dims[1];
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < d; ++j) {
        const LstmGates<T> gates =
            GatesAt(Data<T>(x) + i * 4 * d, d, j, static_cast<T>(call.Real(A::forget_bias)));
        const T c = gates.f * Data<T>(previous)[i * d + j] + gates.i * gates.g;
        if (call.Has(A::C)) Data<T>(call.Arg(A::C))[i * d + j] = c;
        if (call.Has(A::H)) Data<T>(call.Arg(A::H))[i * d + j] = gates.o * std::tanh(c);
      }
    return 0;
  });
}

// X, C_prev, C, C@GRAD, H@GRAD; forget_bias -> X@GRAD, C_prev@GRAD
// H reads C, so the gradient of C is that given plus dH o (1 - tanh²(C)).
int32_t LstmUnitGrad(OpCall& call) {
  using A = args::dt_lstm_unit_grad;
  const DtBuffer &x = call.Arg(A::X), &previous = call.Arg(A::C_prev), &cell = call.Arg(A::C);
  if (!LstmFits(call, x, previous)) return 1;
  for (int slot = 2; slot < 5; ++slot)
    if (call.Has(slot) &&
        (!SameShape(call.Arg(slot), previous) || TypeOf(call.Arg(slot)) != TypeOf(x)))
      return call.Fail("'%s' does not fit '%s'", call.Arg(slot).name, previous.name);
  if (call.Has(A::X_GRAD) && !call.Resize(call.Arg(A::X_GRAD), x)) return 1;
  if (call.Has(A::C_prev_GRAD) && !call.Resize(call.Arg(A::C_prev_GRAD), previous)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t n = previous.dims[0], d = previous.dims[1];
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < d; ++j) {
        const int64_t at = i * d + j;
        const LstmGates<T> gates =
            GatesAt(Data<T>(x) + i * 4 * d, d, j, static_cast<T>(call.Real(A::forget_bias)));
        const T squashed = std::tanh(Data<T>(cell)[at]),
                dh = call.Has(A::H_GRAD) ? Data<T>(call.Arg(A::H_GRAD))[at] : T{0};
        const T dc = (call.Has(A::C_GRAD) ? Data<T>(call.Arg(A::C_GRAD))[at] : T{0}) +
                     dh * gates.o * (1 - squashed * squashed);
        if (call.Has(A::C_prev_GRAD)) Data<T>(call.Arg(A::C_prev_GRAD))[at] = dc * gates.f;
        if (!call.Has(A::X_GRAD)) continue;
        T* dx = Data<T>(call.Arg(A::X_GRAD)) + i * 4 * d + j;
        dx[0] = dc * gates.g * Slope(kSigmoid, gates.i);
        dx[d] = dc * Data<T>(previous)[at] * Slope(kSigmoid, gates.f);
        dx[2 * d] = dh * squashed * Slope(kSigmoid, gates.o);
        dx[3 * d] = dc * gates.i * Slope(kTanh, gates.g);
      }
    return 0;
  });
}

}  // namespace dtranspile::kernels
