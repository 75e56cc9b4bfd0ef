// Kernels of the family `random`, named in random_calls.cc.
#pragma once

#include <vector>

#include "runtime/kernels/args/random.h"
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/random/generator.h"

namespace dtranspile::kernels {

// The release whose numbers a program of the version that attribute `version` gives has; a file
// without version is a new one.
inline random::Release ReleaseOf(OpCall& call, int version) {
  const int64_t number = call.Int(version);
  return number > 0 && number < 2000000 ? random::Release::kFluid1 : random::Release::kPaddle2;
}

// The engine of an op with this seed.
inline random::Engine& EngineOf(OpCall& call, int version, int64_t seed) {
  return random::Generator::Process().ForOp(ReleaseOf(call, version), seed);
}

// Of one that may draw on for the op before it: attribute `continues` is there, and not 0.
inline random::Engine& EngineOf(OpCall& call, int version, int64_t seed, int continues) {
  random::Generator& generator = random::Generator::Process();
  return call.Given(continues) && call.Int(continues) != 0
             ? generator.Continued(ReleaseOf(call, version), seed)
             : generator.ForOp(ReleaseOf(call, version), seed);
}

// Extents from the list of tensors in slot `list`, the tensor in slot `tensor`, or the attribute;
// false with a message where they are none.
bool ShapeOf(OpCall& call, int tensor, int list, int attribute, std::vector<int64_t>& dims);

int32_t Bernoulli(OpCall& call);
int32_t Dropout(OpCall& call);
int32_t GaussianLike(OpCall& call);
int32_t GaussianRandom(OpCall& call);
int32_t Multinomial(OpCall& call);
int32_t Randint(OpCall& call);
int32_t RandomCrop(OpCall& call);
int32_t RandomStream(OpCall& call);
int32_t Randperm(OpCall& call);
int32_t SamplingId(OpCall& call);
int32_t Seed(OpCall& call);
int32_t TruncatedGaussianRandom(OpCall& call);
int32_t UniformLike(OpCall& call);
int32_t UniformRandom(OpCall& call);

}  // namespace dtranspile::kernels
