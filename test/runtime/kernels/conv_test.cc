#include <catch2/catch.hpp>
#include <cmath>

#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

struct Case {
  int64_t n, c, h, w, o, kh, kw, sh, sw, top, bottom, left, right, dh, dw, groups;

  int64_t P() const { return (h + top + bottom - dh * (kh - 1) - 1) / sh + 1; }
  int64_t Q() const { return (w + left + right - dw * (kw - 1) - 1) / sw + 1; }
  void AddTo(SlotCall& call, bool nhwc) const {
    call.Ints({sh, sw}).Ints({top, bottom, left, right}).Ints({dh, dw}).Ints({groups});
    call.Ints({nhwc});
  }
};

const Case kCases[] = {
    {1, 1, 5, 5, 1, 3, 3, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {3, 4, 9, 8, 6, 3, 2, 2, 1, 1, 0, 2, 1, 1, 1, 2},
    {5, 6, 12, 12, 6, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2, 6},
    {9, 16, 14, 14, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {10, 16, 16, 16, 48, 1, 1, 2, 2, 0, 0, 0, 0, 1, 1, 1},
    {8, 1, 28, 28, 6, 5, 5, 1, 1, 2, 2, 2, 2, 1, 1, 1},
};

// Position of element (n, c, h, w).
int64_t At(bool nhwc, int64_t channels, int64_t height, int64_t width, int64_t n, int64_t c,
           int64_t h, int64_t w) {
  return nhwc ? ((n * height + h) * width + w) * channels + c
              : ((n * channels + c) * height + h) * width + w;
}

// Calls visit(index in X, index in F, index in Y) for every product of the convolution.
template <typename Visit>
void ForProducts(const Case& s, bool nhwc, Visit&& visit) {
  const int64_t depth = s.c / s.groups, per_group = s.o / s.groups;
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t o = 0; o < s.o; ++o)
      for (int64_t p = 0; p < s.P(); ++p)
        for (int64_t q = 0; q < s.Q(); ++q)
          for (int64_t c = 0; c < depth; ++c)
            for (int64_t i = 0; i < s.kh; ++i)
              for (int64_t j = 0; j < s.kw; ++j) {
                const int64_t h = p * s.sh - s.top + i * s.dh, w = q * s.sw - s.left + j * s.dw;
                if (h < 0 || h >= s.h || w < 0 || w >= s.w) continue;
                visit(At(nhwc, s.c, s.h, s.w, n, o / per_group * depth + c, h, w),
                      ((o * depth + c) * s.kh + i) * s.kw + j,
                      At(nhwc, s.o, s.P(), s.Q(), n, o, p, q));
              }
}

template <typename T>
void RequireClose(const Tensor<T>& actual, const std::vector<double>& expected, double tolerance) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(static_cast<double>(actual.data[i]) - expected[i]) <=
          tolerance * (1 + std::abs(expected[i]))))
      FAIL("element " << i << ": " << actual.data[i] << " instead of " << expected[i]);
}

// Runs a call with one and two threads; the results must have the same bits.
template <typename T>
Tensor<T> RunBoth(const char* name, const Case& s, bool nhwc, Tensor<T>& first, Tensor<T>& second,
                  std::vector<int64_t> dims) {
  Tensor<T> one(dims, T{7}), two(dims, T{8});
  for (Tensor<T>* result : {&one, &two}) {
    SlotCall call(name);
    call.In(first).In(second);
    if (std::string(name) == "dt_conv_bwd_data") call.Slot();  // extents are those of the plan
    call.In(*result);
    s.AddTo(call, nhwc);
    const absl::Status status = call.Run(result == &one ? 1 : 2, 2);
    INFO(status.ToString());
    REQUIRE(status.ok());
  }
  REQUIRE(one.data == two.data);
  return one;
}

template <typename T>
void Check(const Case& s, bool nhwc, double tolerance) {
  const std::vector<int64_t> xd =
      nhwc ? std::vector<int64_t>{s.n, s.h, s.w, s.c} : std::vector<int64_t>{s.n, s.c, s.h, s.w};
  const std::vector<int64_t> yd = nhwc ? std::vector<int64_t>{s.n, s.P(), s.Q(), s.o}
                                       : std::vector<int64_t>{s.n, s.o, s.P(), s.Q()};
  const std::vector<int64_t> fd{s.o, s.c / s.groups, s.kh, s.kw};
  auto x = Noise<T>(xd, 1), f = Noise<T>(fd, 2), dy = Noise<T>(yd, 3);
  std::vector<double> y(dy.data.size(), 0), dx(x.data.size(), 0), df(f.data.size(), 0);
  ForProducts(s, nhwc, [&](int64_t ix, int64_t jf, int64_t ky) {
    y[static_cast<size_t>(ky)] += static_cast<double>(x[ix]) * static_cast<double>(f[jf]);
    dx[static_cast<size_t>(ix)] += static_cast<double>(f[jf]) * static_cast<double>(dy[ky]);
    df[static_cast<size_t>(jf)] += static_cast<double>(x[ix]) * static_cast<double>(dy[ky]);
  });
  RequireClose(RunBoth<T>("dt_conv", s, nhwc, x, f, yd), y, tolerance);
  RequireClose(RunBoth<T>("dt_conv_bwd_data", s, nhwc, f, dy, xd), dx, tolerance);
  RequireClose(RunBoth<T>("dt_conv_bwd_weights", s, nhwc, x, dy, fd), df, tolerance);
}

}  // namespace

TEST_CASE("convolutions and their gradients agree with plain loops, for any number of threads") {
  for (const Case& s : kCases)
    for (bool nhwc : {false, true}) {
      CAPTURE(s.n, s.c, s.h, s.w, s.o, s.kh, s.groups, nhwc);
      Check<float>(s, nhwc, 1e-4);
      Check<double>(s, nhwc, 1e-12);
    }
}

TEST_CASE("convolutions whose extents do not fit are refused") {
  auto x = Noise<float>({1, 2, 5, 5}, 1), f = Noise<float>({2, 2, 3, 3}, 2),
       y = Noise<float>({1, 2, 3, 3}, 3);
  const auto message = [&](std::vector<int64_t> strides, std::vector<int64_t> paddings,
                           int64_t groups) {
    SlotCall call("dt_conv");
    call.In(x).In(f).In(y).Ints(std::move(strides)).Ints(std::move(paddings)).Ints({1, 1});
    return std::string(call.Ints({groups}).Ints({0}).Run(1).message());
  };
  CHECK(message({1, 1}, {0, 0, 0, 0}, 1).empty());
  CHECK(message({1, 1}, {1, 1, 0, 0}, 1).find("do not fit") != std::string::npos);
  CHECK(message({0, 1}, {0, 0, 0, 0}, 1).find("out of range") != std::string::npos);
  CHECK(message({1, 1}, {0, 0, 0, 0}, 2).find("2 groups") != std::string::npos);
  CHECK(message({1, 1}, {-1, 0, 0, 0}, 1).find("out of range") != std::string::npos);
  CHECK(message({1}, {0, 0}, 1).find("1 strides, 2 paddings and 2 dilations for 2 axes") !=
        std::string::npos);
}

}  // namespace dtranspile::kernels
