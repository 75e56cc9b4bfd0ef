#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

struct Case {
  const char* kind;
  int64_t n, c, h, w, p, q, kh, kw, sh, sw, top, left;
  bool exclusive, adaptive;

  SlotCall& AddTo(SlotCall& call, bool nhwc) const {
    call.Ints({kh, kw}).Ints({sh, sw}).Ints({top, left}).Ints({exclusive}).Ints({adaptive});
    return call.Ints({nhwc}).Ints({}).Text(kind);
  }
};

const Case kCases[] = {
    {"max", 2, 3, 6, 6, 3, 3, 2, 2, 2, 2, 0, 0, true, false},
    {"max", 2, 3, 7, 5, 4, 3, 3, 3, 2, 2, 1, 1, true, false},
    {"avg", 2, 3, 7, 5, 4, 3, 3, 3, 2, 2, 1, 1, true, false},
    {"avg", 2, 3, 7, 5, 4, 3, 3, 3, 2, 2, 1, 1, false, false},
    {"avg", 1, 5, 7, 7, 3, 2, 0, 0, 0, 0, 0, 0, true, true},
    {"max", 1, 5, 7, 7, 3, 2, 0, 0, 0, 0, 0, 0, true, true},
    {"avg", 4, 2, 4, 4, 1, 1, 4, 4, 1, 1, 0, 0, true, false},
    {"max", 3, 16, 17, 17, 9, 9, 2, 2, 2, 2, 0, 0, true, false},
};

struct Window {
  int64_t h0, h1, w0, w1;
};

// Straight from the text of the operator: floor and ceil for adaptive cells, else the kernel
// clipped to the input.
Window WindowAt(const Case& s, int64_t p, int64_t q) {
  const auto first = [](int64_t i, int64_t in, int64_t out) {
    return static_cast<int64_t>(std::floor(double(i) * double(in) / double(out)));
  };
  const auto last = [](int64_t i, int64_t in, int64_t out) {
    return static_cast<int64_t>(std::ceil(double(i + 1) * double(in) / double(out)));
  };
  if (s.adaptive)
    return {first(p, s.h, s.p), last(p, s.h, s.p), first(q, s.w, s.q), last(q, s.w, s.q)};
  const int64_t h = p * s.sh - s.top, w = q * s.sw - s.left;
  return {std::max<int64_t>(h, 0), std::min(h + s.kh, s.h), std::max<int64_t>(w, 0),
          std::min(w + s.kw, s.w)};
}

template <typename T>
void Check(const Case& s, bool nhwc) {
  const auto dims = [&](int64_t h, int64_t w) {
    return nhwc ? std::vector<int64_t>{s.n, h, w, s.c} : std::vector<int64_t>{s.n, s.c, h, w};
  };
  const auto at = [&](int64_t height, int64_t width, int64_t n, int64_t c, int64_t h, int64_t w) {
    return nhwc ? ((n * height + h) * width + w) * s.c + c
                : ((n * s.c + c) * height + h) * width + w;
  };
  auto x = Noise<T>(dims(s.h, s.w), 1), dy = Noise<T>(dims(s.p, s.q), 2);
  for (T& value : x.data) value = std::round(value * 8) / 8;  // ties
  Tensor<T> y(dims(s.p, s.q)), dx(dims(s.h, s.w)), expected_y = y, expected_dx = dx;
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t c = 0; c < s.c; ++c)
      for (int64_t p = 0; p < s.p; ++p)
        for (int64_t q = 0; q < s.q; ++q) {
          const Window v = WindowAt(s, p, q);
          const int64_t out = at(s.p, s.q, n, c, p, q);
          T best = std::numeric_limits<T>::lowest(), sum = 0;
          int64_t where = -1;
          for (int64_t h = v.h0; h < v.h1; ++h)
            for (int64_t w = v.w0; w < v.w1; ++w) {
              const int64_t in = at(s.h, s.w, n, c, h, w);
              sum += x[in];
              if (x[in] > best) best = x[in], where = in;
            }
          const int64_t clipped = (v.h1 - v.h0) * (v.w1 - v.w0);
          const T divisor = static_cast<T>(s.exclusive || s.adaptive ? clipped : s.kh * s.kw);
          const bool max = std::string(s.kind) == "max";
          expected_y[out] = max ? best : sum / divisor;
          if (max) expected_dx[where] += dy[out];
          else
            for (int64_t h = v.h0; h < v.h1; ++h)
              for (int64_t w = v.w0; w < v.w1; ++w)
                expected_dx[at(s.h, s.w, n, c, h, w)] += dy[out] / divisor;
        }
  for (int threads : {1, 2}) {
    SlotCall forward("dt_pool"), backward("dt_pool_bwd");
    REQUIRE(s.AddTo(forward.In(x).In(y), nhwc).Run(threads).ok());
    REQUIRE(s.AddTo(backward.In(x).In(y).In(dy).In(dx), nhwc).Run(threads).ok());
    REQUIRE(y.data == expected_y.data);
    REQUIRE(dx.data == expected_dx.data);
  }
}

}  // namespace

TEST_CASE("pooling agrees with plain loops, for any number of threads") {
  for (const Case& s : kCases)
    for (bool nhwc : {false, true}) {
      CAPTURE(s.kind, s.h, s.p, s.exclusive, s.adaptive, nhwc);
      Check<float>(s, nhwc);
      Check<double>(s, nhwc);
    }
}

TEST_CASE("pooling with wrong parameters is refused") {
  auto x = Noise<float>({1, 2, 4, 4}, 1), y = Noise<float>({1, 2, 2, 2}, 2),
       other = Noise<float>({1, 3, 2, 2}, 2);
  const auto message = [&](std::vector<int64_t> strides, const char* kind, auto& out) {
    SlotCall call("dt_pool");
    call.In(x).In(out).Ints({2, 2}).Ints(std::move(strides)).Ints({0, 0}).Ints({1}).Ints({0});
    return std::string(call.Ints({0}).Ints({}).Text(kind).Run(1).message());
  };
  CHECK(message({2, 2}, "max", y).empty());
  CHECK(message({2, 2}, "sum", y).find("'sum'") != std::string::npos);
  CHECK(message({0, 2}, "max", y).find("out of range") != std::string::npos);
  CHECK(message({2}, "max", y).find("for 2 axes") != std::string::npos);
  CHECK(message({2, 2}, "max", other).find("channels") != std::string::npos);
}

}  // namespace dtranspile::kernels
