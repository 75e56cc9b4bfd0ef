// Discrete Fourier transforms along some axes: fft_c2c, fft_r2c (of reals; `onesided` keeps the
// half that says all), fft_c2r (to reals), of windowed frames of signals (stft) and their
// gradients, which are transforms of the other direction (phi fft_grad_kernel). Lines of any length
// are split by their prime factors (Cooley and Tukey), in float64.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

using Number = std::complex<double>;

// What an op does: the direction of its exponent, the factor, and what is cut or filled up along
// the last of the axes.
struct Transform {
  std::vector<int64_t> axes;
  int sign = -1;
  enum { kNone, kByRoot, kByCount } scale = kNone;
};

// A dense array of numbers.
struct Grid {
  std::vector<int64_t> dims;
  std::vector<Number> data;
};

int64_t CountOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

// out = the transform of n numbers that stand `stride` apart; roots[k] is the k-th power of the
// N-th root of one, of which this level takes every (N / n)-th.
void Line(const Number* in, size_t n, size_t stride, const std::vector<Number>& roots,
          Number* out) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  size_t p = 2;
  while (n % p != 0) p = p * p > n ? n : p + 1;
  const size_t m = n / p, step = roots.size() / n;
  std::vector<Number> parts(n);
  for (size_t r = 0; r < p; ++r) Line(in + r * stride, m, stride * p, roots, parts.data() + r * m);
  for (size_t k = 0; k < n; ++k) {
    Number sum = 0;
    for (size_t r = 0; r < p; ++r) sum += parts[r * m + k % m] * roots[r * k % n * step];
    out[k] = sum;
  }
}

// Transforms all lines along one axis in place; `sign` is that of the exponent. No factor is
// applied.
void Along(Grid& grid, int64_t axis, int sign) {
  const auto at = static_cast<size_t>(axis);
  const auto n = static_cast<size_t>(grid.dims[at]);
  if (n < 2 || grid.data.empty()) return;
  size_t inner = 1;
  for (size_t d = at + 1; d < grid.dims.size(); ++d) inner *= static_cast<size_t>(grid.dims[d]);
  std::vector<Number> roots(n), line(n);
  for (size_t k = 0; k < n; ++k)
    roots[k] = std::polar(1.0, sign * 2 * M_PI * static_cast<double>(k) / static_cast<double>(n));
  for (size_t outer = 0; outer < grid.data.size() / (n * inner); ++outer)
    for (size_t j = 0; j < inner; ++j) {
      Number* first = grid.data.data() + outer * n * inner + j;
      Line(first, n, inner, roots, line.data());
      for (size_t k = 0; k < n; ++k) first[k * inner] = line[k];
    }
}

// The grid with another extent along an axis: cut, filled up with zeros, or with the conjugates of
// what stands at the other end, where the transform of reals has them.
Grid Resized(const Grid& from, int64_t axis, int64_t extent, bool conjugates) {
  Grid to{from.dims, {}};
  const auto at = static_cast<size_t>(axis);
  to.dims[at] = extent;
  to.data.assign(static_cast<size_t>(CountOf(to.dims)), Number(0));
  int64_t inner = 1;
  for (size_t d = at + 1; d < to.dims.size(); ++d) inner *= to.dims[d];
  const int64_t had = from.dims[at],
                outer = extent * inner == 0 ? 0 : CountOf(to.dims) / (extent * inner);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < extent; ++k)
      for (int64_t j = 0; j < inner; ++j) {
        const int64_t place = (o * extent + k) * inner + j;
        if (k < had)
          to.data[static_cast<size_t>(place)] =
              from.data[static_cast<size_t>((o * had + k) * inner + j)];
        else if (conjugates && extent - k < had)
          to.data[static_cast<size_t>(place)] =
              std::conj(from.data[static_cast<size_t>((o * had + extent - k) * inner + j)]);
      }
  return to;
}

template <typename T>
void Load(const DtBuffer& x, bool complex, Grid& grid) {
  for (int64_t i = 0, n = Elements(x); i < n; ++i)
    grid.data.push_back(complex ? Number(Data<std::complex<T>>(x)[i]) : Number(Data<T>(x)[i]));
}

template <typename T>
void Store(const Grid& grid, bool complex, DtBuffer& out) {
  for (size_t i = 0; i < grid.data.size(); ++i)
    if (complex) Data<std::complex<T>>(out)[i] = std::complex<T>(grid.data[i]);
    else Data<T>(out)[i] = static_cast<T>(grid.data[i].real());
}

bool IsComplex(const DtBuffer& x) {
  return TypeOf(x) == DType::kComplex64 || TypeOf(x) == DType::kComplex128;
}
bool IsDouble(const DtBuffer& x) {
  return TypeOf(x) == DType::kComplex128 || TypeOf(x) == DType::kFloat64;
}

// Reads axes, direction and factor; a gradient goes the other way with the same factor.
bool TransformOf(OpCall& call, const DtBuffer& x, bool back, Transform& t) {
  using A = args::dt_fft;
  for (int64_t axis : call.Ints(A::axes)) {
    if (!NormalAxis(call, x, axis)) return false;
    t.axes.push_back(axis);
  }
  if (t.axes.empty()) return call.Fail("no axis to transform '%s' along", x.name), false;
  const bool forward = call.Bool(A::forward);
  const std::string_view norm = call.Text(A::normalization);
  if (norm == "ortho") t.scale = Transform::kByRoot;
  else if (norm == "forward" || norm == "backward")
    t.scale = (norm == "forward") == forward ? Transform::kByCount : Transform::kNone;
  else
    return call.Fail("'%.*s' is no normalization", static_cast<int>(norm.size()), norm.data()),
           false;
  t.sign = forward != back ? -1 : 1;
  return true;
}

void Scale(const Transform& t, Grid& grid, int64_t count) {
  if (t.scale == Transform::kNone || count == 0) return;
  const double factor =
      t.scale == Transform::kByCount ? 1.0 / static_cast<double>(count) : 1.0 / std::sqrt(count);
  for (Number& value : grid.data) value *= factor;
}

}  // namespace

// X, Like; axes, normalization, forward, onesided, last_dim_size, @type -> Out. Like: of the
// gradient of fft_r2c the forward input, whose extents it has.
int32_t Fft(OpCall& call) {
  using A = args::dt_fft;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const std::string_view type = call.Text(A::type);
  const bool back = type.ends_with("_grad"), toReal = type == "fft_c2r", ofReal = type == "fft_r2c",
             halves = type == "fft_c2r_grad", fromHalf = type == "fft_r2c_grad";
  const bool complexIn = !ofReal && !halves, complexOut = !toReal && !fromHalf;
  if (IsComplex(x) != complexIn || IsComplex(out) != complexOut || IsDouble(x) != IsDouble(out))
    return call.Fail("'%s' is %s and '%s' is %s, which do not fit %.*s", x.name, TypeName(x),
                     out.name, TypeName(out), static_cast<int>(type.size()), type.data());
  Transform t;
  if (!TransformOf(call, x, back, t)) return 1;
  const bool half = halves || ((ofReal || fromHalf) && call.Bool(A::onesided));
  const int64_t last = t.axes.back();
  Grid grid{{x.dims, x.dims + x.rank}, {}};
  if (IsDouble(x)) Load<double>(x, complexIn, grid);
  else Load<float>(x, complexIn, grid);
  if (fromHalf && half) {
    if (!call.Has(A::Like) || call.Arg(A::Like).rank != x.rank ||
        call.Arg(A::Like).dims[last] / 2 + 1 != x.dims[last])
      return call.Fail("'%s' has not half of the extents of the forward input", x.name);
    grid = Resized(grid, last, call.Arg(A::Like).dims[last], false);
  }
  // Along the last axis last: its other half is known when the others are transformed.
  for (size_t i = 0; i + 1 < t.axes.size(); ++i) Along(grid, t.axes[i], t.sign);
  if (toReal) {
    const int64_t asked = call.Int(A::last_dim_size),
                  extent = asked > 0 ? asked : 2 * (x.dims[last] - 1);
    if (extent < 1 || extent / 2 + 1 != x.dims[last])
      return call.Fail("'%s' has not half of %lld elements along axis %lld", x.name,
                       static_cast<long long>(extent), static_cast<long long>(last));
    grid = Resized(grid, last, extent, true);
  }
  Along(grid, last, t.sign);
  int64_t count = 1;
  for (int64_t axis : t.axes) count *= grid.dims[static_cast<size_t>(axis)];
  Scale(t, grid, count);
  if (half && complexOut) {
    const int64_t whole = grid.dims[static_cast<size_t>(last)];
    grid = Resized(grid, last, whole / 2 + 1, false);
    // Of the gradient: what the other half would have been counts here.
    for (size_t i = 0, inner = 1; halves && i < grid.data.size(); ++i) {
      if (i == 0)
        for (size_t d = static_cast<size_t>(last) + 1; d < grid.dims.size(); ++d)
          inner *= static_cast<size_t>(grid.dims[d]);
      const auto k = static_cast<int64_t>(i / inner) % grid.dims[static_cast<size_t>(last)];
      if (k >= 1 && k <= whole - (whole / 2 + 1)) grid.data[i] *= 2;
    }
  }
  if (!call.Resize(out, grid.dims)) return 1;
  if (IsDouble(out)) Store<double>(grid, complexOut, out);
  else Store<float>(grid, complexOut, out);
  return 0;
}

namespace {

// Frames of a batch of signals, and the frequencies of each that are kept.
struct Frames {
  int64_t batch = 0, length = 0, size = 0, hop = 0, count = 0, kept = 0;
  double factor = 1;
};

// Frames begin every `hop` places as long as they fit; with `onesided` the size/2 + 1 frequencies
// of reals are kept.
bool FramesOf(OpCall& call, const DtBuffer& x, const DtBuffer& window, int size, int hop,
              int normalized, int onesided, Frames& frames) {
  frames = {x.dims[0], x.dims[1], call.Int(size), call.Int(hop)};
  if (frames.size < 1 || frames.hop < 1 || frames.size > frames.length)
    return call.Fail("frames of %lld places, one every %lld, of signals of %lld",
                     static_cast<long long>(frames.size), static_cast<long long>(frames.hop),
                     static_cast<long long>(frames.length)),
           false;
  if (window.dims[0] != frames.size)
    return call.Fail("'%s' has %lld numbers for frames of %lld places", window.name,
                     static_cast<long long>(window.dims[0]), static_cast<long long>(frames.size)),
           false;
  frames.count = (frames.length - frames.size) / frames.hop + 1;
  frames.kept = call.Bool(onesided) ? frames.size / 2 + 1 : frames.size;
  if (call.Bool(normalized)) frames.factor = 1 / std::sqrt(static_cast<double>(frames.size));
  return true;
}

std::vector<Number> Roots(int64_t n, int sign) {
  std::vector<Number> roots(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k)
    roots[static_cast<size_t>(k)] =
        std::polar(1.0, sign * 2 * M_PI * static_cast<double>(k) / static_cast<double>(n));
  return roots;
}

}  // namespace

// X, Window; n_fft, hop_length, normalized, onesided -> Out [batch, frequencies, frames]
int32_t Stft(OpCall& call) {
  using A = args::dt_stft;
  const DtBuffer &x = call.Arg(A::X), &window = call.Arg(A::Window);
  DtBuffer& out = call.Arg(A::Out);
  Frames f;
  if (!FramesOf(call, x, window, A::n_fft, A::hop_length, A::normalized, A::onesided, f)) return 1;
  const int64_t dims[] = {f.batch, f.kept, f.count};
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::vector<Number> roots = Roots(f.size, -1);
    std::vector<Number> line(roots.size()), spectrum(roots.size());
    for (int64_t b = 0; b < f.batch; ++b)
      for (int64_t j = 0; j < f.count; ++j) {
        const T* from = Data<T>(x) + b * f.length + j * f.hop;
        for (int64_t i = 0; i < f.size; ++i)
          line[static_cast<size_t>(i)] = static_cast<double>(from[i] * Data<T>(window)[i]);
        Line(line.data(), line.size(), 1, roots, spectrum.data());
        for (int64_t k = 0; k < f.kept; ++k)
          Data<std::complex<T>>(out)[(b * f.kept + k) * f.count + j] =
              std::complex<T>(spectrum[static_cast<size_t>(k)] * f.factor);
      }
    return 0;
  });
}

// X, Window, Out@GRAD; n_fft, hop_length, normalized, onesided -> X@GRAD. Frequencies that are not
// kept have no gradient.
int32_t StftGrad(OpCall& call) {
  using A = args::dt_stft_grad;
  const DtBuffer &x = call.Arg(A::X), &window = call.Arg(A::Window),
                 &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Frames f;
  if (!FramesOf(call, x, window, A::n_fft, A::hop_length, A::normalized, A::onesided, f)) return 1;
  const int64_t dims[] = {f.batch, f.kept, f.count};
  if (OpCall::Dims(gradient) != absl::MakeConstSpan(dims))
    return call.Fail("'%s' has not the extents of the frequencies of '%s'", gradient.name, x.name);
  if (!call.Resize(dx, x)) return 1;
  return VisitFloat(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::vector<Number> roots = Roots(f.size, 1);
    std::vector<Number> spectrum(roots.size()), line(roots.size());
    std::vector<double> sums(static_cast<size_t>(f.length));
    for (int64_t b = 0; b < f.batch; ++b) {
      std::fill(sums.begin(), sums.end(), 0);
      for (int64_t j = 0; j < f.count; ++j) {
        for (int64_t k = 0; k < f.kept; ++k)
          spectrum[static_cast<size_t>(k)] =
              Data<std::complex<T>>(gradient)[(b * f.kept + k) * f.count + j];
        Line(spectrum.data(), spectrum.size(), 1, roots, line.data());
        for (int64_t i = 0; i < f.size; ++i)
          sums[static_cast<size_t>(j * f.hop + i)] += line[static_cast<size_t>(i)].real() *
                                                      f.factor *
                                                      static_cast<double>(Data<T>(window)[i]);
      }
      for (int64_t i = 0; i < f.length; ++i)
        Data<T>(dx)[b * f.length + i] = static_cast<T>(sums[static_cast<size_t>(i)]);
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
