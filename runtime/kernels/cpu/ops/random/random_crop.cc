// random_crop (the framework's random_crop op): a window of the last dims, at another place for
// each instance; the seed is a variable that the op moves on. Row:
// runtime/kernels/signatures/random.calls.
#include <cstring>

#include "runtime/kernels/cpu/ops/random/calls.h"

namespace dtranspile::kernels {
namespace {

// Copies the window `to` of `from`; dims [d, rank) are left, `bytes` is the size of an element.
void CopyWindow(const char* from, char* to, absl::Span<const int64_t> source,
                absl::Span<const int64_t> target, const int64_t* offsets, int64_t bytes) {
  int64_t from_step = bytes, to_step = bytes;
  for (size_t d = 1; d < source.size(); ++d) from_step *= source[d], to_step *= target[d];
  if (source.size() == 1)
    return static_cast<void>(
        std::memcpy(to, from + *offsets * bytes, static_cast<size_t>(target[0] * bytes)));
  for (int64_t i = 0; i < target[0]; ++i)
    CopyWindow(from + (*offsets + i) * from_step, to + i * to_step, source.subspan(1),
               target.subspan(1), offsets + 1, bytes);
}

}  // namespace

// Windows are drawn by engines that have skipped ahead to the numbers of their instance, so that
// the result is that of the framework's loop.
int32_t RandomCrop(OpCall& call) {
  using A = args::dt_random_crop;
  const DtBuffer& x = call.Arg(A::X);
  const auto window = call.Ints(A::shape);
  std::vector<int64_t> seed;
  if (!IntegersOf(call, call.Arg(A::Seed), seed)) return 1;
  if (seed.size() != 1) return call.Fail("'%s' is no seed", call.Arg(A::Seed).name);
  const auto cropped = static_cast<int32_t>(window.size()), batch = x.rank - cropped;
  if (batch < 0 || cropped == 0)
    return call.Fail("a window of %d dims of '%s', which has %d", cropped, x.name, x.rank);
  std::vector<int64_t> dims(x.dims, x.dims + batch);
  for (int32_t d = 0; d < cropped; ++d) {
    const int64_t extent = window[static_cast<size_t>(d)];
    if (extent < 1 || extent > x.dims[batch + d])
      return call.Fail("a window of %lld out of the %lld of dim %d of '%s'",
                       static_cast<long long>(extent), static_cast<long long>(x.dims[batch + d]),
                       batch + d, x.name);
    dims.push_back(extent);
  }
  const int64_t instances = Elements(x, 0, batch), bytes = ElementSize(x);
  // Every instance has numbers of its own: the engine of 1.x in all releases, moved on by one for
  // each dim. A variable that nobody has set yet is 0, which the engine never gives.
  random::Engine engine(random::Release::kFluid1,
                        static_cast<uint64_t>(seed[0] != 0 ? seed[0] : call.Int(A::startup_seed)));
  if (call.Has(A::Out)) {
    DtBuffer& out = call.Arg(A::Out);
    if (!call.Resize(out, dims)) return 1;
    const int64_t from_step = Elements(x, batch, x.rank) * bytes,
                  to_step = Elements(out, batch, out.rank) * bytes;
    std::vector<int64_t> offsets(window.size());
    for (int64_t i = 0; i < instances; ++i) {
      random::Engine own = engine;
      own.Skip(static_cast<uint64_t>(i * cropped));
      for (int32_t d = 0; d < cropped; ++d)
        offsets[static_cast<size_t>(d)] =
            own.Integer(0, x.dims[batch + d] - window[static_cast<size_t>(d)]);
      CopyWindow(Data<char>(x) + i * from_step, Data<char>(out) + i * to_step,
                 {x.dims + batch, window.size()}, window, offsets.data(), bytes);
    }
  }
  if (!call.Has(A::SeedOut)) return 0;
  const int64_t one[] = {1};
  if (call.Arg(A::SeedOut).value != nullptr && !call.Resize(call.Arg(A::SeedOut), one)) return 1;
  if (TypeOf(call.Arg(A::SeedOut)) != DType::kInt64 || Elements(call.Arg(A::SeedOut)) != 1)
    return call.Fail("output '%s' is no int64 of one element", call.Arg(A::SeedOut).name);
  engine.Skip(static_cast<uint64_t>(instances * cropped));
  *Data<int64_t>(call.Arg(A::SeedOut)) = static_cast<int64_t>(engine.Next());
  return 0;
}

}  // namespace dtranspile::kernels
