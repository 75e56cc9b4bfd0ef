// Samples of the classes for losses over a part of them (nce.cc, sample_logits.cc). Samplers are
// the framework's (its sampler.cc): a 64-bit Mersenne Twister seeded with the attribute, uniform,
// log-uniform or by an alias table (Walker 1977); what it takes from the hardware with seed 0 comes
// from the process's generator here.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "runtime/kernels/cpu/ops/embedding/calls.h"

namespace dtranspile::kernels {

// `version` is that of the program: releases 1.x draw seeds otherwise.
std::mt19937_64 SamplerEngine(int64_t seed, int64_t version);

enum class SamplerKind : int64_t { kUniform = 0, kLogUniform = 1, kCustom = 2 };

// Classes 0 … range, by the probabilities of `kind`.
class Sampler {
 public:
  Sampler(SamplerKind kind, int64_t range, std::mt19937_64 engine)
      : kind_(kind),
        range_(range),
        log_range_(std::log(static_cast<double>(range + 1))),
        engine_(engine) {}

  // The tables of kCustom: probability, alias, probability of not taking the alias.
  void SetTables(const float* probability, const int32_t* alias, const float* own) {
    probability_ = probability, alias_ = alias, own_ = own;
  }

  int64_t Draw() {
    if (kind_ == SamplerKind::kUniform) return Integer();
    if (kind_ == SamplerKind::kLogUniform)
      return (static_cast<int64_t>(std::exp(Real() * log_range_)) - 1) %
             std::max<int64_t>(range_, 1);
    const int64_t place = Integer();
    const int64_t alias = alias_[place];
    return Real() > static_cast<double>(own_[place]) && alias >= 0 ? alias : place;
  }

  double Probability(int64_t value) const {
    if (kind_ == SamplerKind::kUniform) return 1.0 / static_cast<double>(range_ + 1);
    if (kind_ == SamplerKind::kLogUniform)
      return std::log((static_cast<double>(value) + 2) / (static_cast<double>(value) + 1)) /
             log_range_;
    return static_cast<double>(probability_[value]);
  }

 private:
  int64_t Integer() {
    return std::uniform_int_distribution<int>(0, static_cast<int>(range_))(engine_);
  }
  double Real() { return std::uniform_real_distribution<>(0, 1)(engine_); }

  SamplerKind kind_;
  int64_t range_;
  double log_range_;
  std::mt19937_64 engine_;
  const float* probability_ = nullptr;
  const int32_t* alias_ = nullptr;
  const float* own_ = nullptr;
};

// Whether all are classes; false with a message that calls them elements of `name`.
bool ClassesInRange(OpCall& call, const char* name, const std::vector<int64_t>& values,
                    int64_t classes);

}  // namespace dtranspile::kernels
