// Kernels of the family `random`, named in random_calls.cc.
#pragma once

#include <optional>
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

// Of a call that may draw a piece of what an op draws: where it begins. Numbers of the attributes.
struct Pieces {
  int continues = -1;  // there, and not 0: where the call before it has stopped
  int begins = -1;     // there: at this state of an engine of 1.x, which nobody else draws from
};
class PieceEngine {
 public:
  PieceEngine(OpCall& call, int version, int64_t seed, Pieces pieces)
      : own_(Begins(call, version, pieces)),
        engine_(own_ ? *own_ : Shared(call, version, seed, pieces)) {}
  random::Engine& operator*() { return engine_; }

 private:
  static std::optional<random::Engine> Begins(OpCall& call, int version, Pieces pieces) {
    if (pieces.begins < 0 || !call.Given(pieces.begins)) return std::nullopt;
    return random::Engine(ReleaseOf(call, version), static_cast<uint64_t>(call.Int(pieces.begins)));
  }
  static random::Engine& Shared(OpCall& call, int version, int64_t seed, Pieces pieces) {
    const bool continues =
        pieces.continues >= 0 && call.Given(pieces.continues) && call.Int(pieces.continues) != 0;
    return continues ? random::Generator::Process().Continued(ReleaseOf(call, version), seed)
                     : EngineOf(call, version, seed);
  }

  std::optional<random::Engine> own_;
  random::Engine& engine_;
};

// Extents from the list of tensors in slot `list`, the tensor in slot `tensor`, or the attribute;
// false with a message where they are none.
bool ShapeOf(OpCall& call, int tensor, int list, int attribute, std::vector<int64_t>& dims);

int32_t Attention(OpCall& call);
int32_t AttentionGrad(OpCall& call);
int32_t Bernoulli(OpCall& call);
int32_t Dirichlet(OpCall& call);
int32_t Dropout(OpCall& call);
int32_t Exponential(OpCall& call);
int32_t GaussianLike(OpCall& call);
int32_t GaussianRandom(OpCall& call);
int32_t GumbelSoftmax(OpCall& call);
int32_t Multinomial(OpCall& call);
int32_t Poisson(OpCall& call);
int32_t Randint(OpCall& call);
int32_t RandomCrop(OpCall& call);
int32_t RandomState(OpCall& call);
int32_t RandomStream(OpCall& call);
int32_t Randperm(OpCall& call);
int32_t Rrelu(OpCall& call);
int32_t SamplingId(OpCall& call);
int32_t Seed(OpCall& call);
int32_t ShuffleBatch(OpCall& call);
int32_t ShuffleBatchGrad(OpCall& call);
int32_t TruncatedGaussianRandom(OpCall& call);
int32_t UniformLike(OpCall& call);
int32_t UniformRandom(OpCall& call);

}  // namespace dtranspile::kernels
