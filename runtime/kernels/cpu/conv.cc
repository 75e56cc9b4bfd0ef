// float32 convolutions through oneDNN. A call site makes its primitives at its first call and keeps
// them (dt_keep). The batch is cut into parts; each part is reordered into the formats that oneDNN
// prefers, convolved and reordered back on one thread, while its data is in cache.
#include "runtime/kernels/cpu/conv.h"

#include <algorithm>
#include <atomic>
#include <dnnl.hpp>
#include <exception>
#include <memory>
#include <vector>

#include "runtime/kernels/args/convolution.h"
#include "runtime/kernels/cpu/conv_geometry.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

enum class Kind { kForward, kBackwardData, kBackwardWeights };

// One tensor of a primitive: as the plan has it, as oneDNN wants it, and the way between the two
// (empty when they are the same).
struct Operand {
  Desc plain, inner;
  dnnl::reorder to_inner, to_plain;
  bool same = true;

  void Set(const dnnl::engine& engine, const Desc& inner_desc, bool is_output) {
    inner = inner_desc;
    same = inner == plain;
    if (same) return;
    if (is_output)
      to_plain = dnnl::reorder(dnnl::reorder::primitive_desc(engine, inner, engine, plain));
    else to_inner = dnnl::reorder(dnnl::reorder::primitive_desc(engine, plain, engine, inner));
  }
};

// The primitives for a part of `batch` samples.
struct Part {
  int64_t batch = 0;
  Operand x, f, y;
  dnnl::primitive conv;
  int64_t scratchpad = 0;
};

// Extents of the axes that the tensors have, after `head`.
Dims With(const ConvGeometry& g, Dims head, int64_t ConvAxis::* member, int64_t add = 0) {
  for (int i = 3 - g.axes; i < 3; ++i) head.push_back(g.axis[i].*member + add);
  return head;
}

// oneDNN states dims as N, C, spatial whatever the layout is; the tag says how they lie. `any`
// leaves the choice to the primitive, which prefers blocks of channels.
Desc ImageDesc(const ConvGeometry& g, int64_t batch, int64_t channels, int64_t ConvAxis::* extents,
               bool any) {
  const Tag first = g.axes == 2 ? Tag::nchw : Tag::ncdhw,
            last = g.axes == 2 ? Tag::nhwc : Tag::ndhwc;
  return Desc(With(g, {batch, channels}, extents), dnnl::memory::data_type::f32,
              any               ? Tag::any
              : g.channels_last ? last
                                : first);
}

// Filters are [filters, channels / groups, kernel]; with groups oneDNN wants these as a dim of its
// own, which is the same memory.
Desc FilterDesc(const ConvGeometry& g, bool any) {
  constexpr auto kType = dnnl::memory::data_type::f32;
  const bool flat = g.axes == 2;
  if (g.groups == 1)
    return Desc(With(g, {g.filters, g.channels}, &ConvAxis::kernel), kType,
                any    ? Tag::any
                : flat ? Tag::oihw
                       : Tag::oidhw);
  const Dims head{g.groups, g.filters / g.groups, g.channels / g.groups};
  return Desc(With(g, head, &ConvAxis::kernel), kType,
              any    ? Tag::any
              : flat ? Tag::goihw
                     : Tag::goidhw);
}

// Descriptors and primitives of all three kinds are made alike; only the names of oneDNN's classes
// and their tensors differ.
template <typename Primitive>
void Finish(Part& part, const typename Primitive::primitive_desc& desc) {
  part.conv = Primitive(desc);
  part.scratchpad = static_cast<int64_t>(desc.scratchpad_desc().get_size());
}

// Descriptors with free layouts ask oneDNN which ones it wants; the plain ones are those of the
// plan, and Operand notes the reorder between both where they differ. Gradients need a forward
// descriptor as a hint. oneDNN counts dilation from 0, the framework from 1. Scratch memory is ours
// (scratchpad_mode::user): a step does not allocate.
Part MakePart(const dnnl::engine& engine, const ConvGeometry& g, Kind kind, int64_t batch) {
  Part part;
  part.batch = batch;
  part.x.plain = ImageDesc(g, batch, g.channels, &ConvAxis::in, false);
  part.y.plain = ImageDesc(g, batch, g.filters, &ConvAxis::out, false);
  part.f.plain = FilterDesc(g, false);
  const Desc x = ImageDesc(g, batch, g.channels, &ConvAxis::in, true);
  const Desc y = ImageDesc(g, batch, g.filters, &ConvAxis::out, true);
  const Desc f = FilterDesc(g, true);
  const Dims strides = With(g, {}, &ConvAxis::stride),
             dilations = With(g, {}, &ConvAxis::dilation, -1);
  const Dims before = With(g, {}, &ConvAxis::before), after = With(g, {}, &ConvAxis::after);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;

  using Forward = dnnl::convolution_forward;
  const auto propagation = kind == Kind::kForward ? dnnl::prop_kind::forward_inference
                                                  : dnnl::prop_kind::forward_training;
  const Forward::primitive_desc forward(
      {propagation, kDirect, x, f, y, strides, dilations, before, after}, attributes, engine);
  if (kind == Kind::kForward) {
    Finish<Forward>(part, forward);
    part.x.Set(engine, forward.src_desc(), false);
    part.f.Set(engine, forward.weights_desc(), false);
    part.y.Set(engine, forward.dst_desc(), true);
  } else if (kind == Kind::kBackwardData) {
    using Backward = dnnl::convolution_backward_data;
    const Backward::primitive_desc desc({kDirect, x, f, y, strides, dilations, before, after},
                                        attributes, engine, forward);
    Finish<Backward>(part, desc);
    part.x.Set(engine, desc.diff_src_desc(), true);
    part.f.Set(engine, desc.weights_desc(), false);
    part.y.Set(engine, desc.diff_dst_desc(), false);
  } else {
    using Backward = dnnl::convolution_backward_weights;
    const Backward::primitive_desc desc({kDirect, x, f, y, strides, dilations, before, after},
                                        attributes, engine, forward);
    Finish<Backward>(part, desc);
    part.x.Set(engine, desc.src_desc(), false);
    part.f.Set(engine, desc.diff_weights_desc(), true);
    part.y.Set(engine, desc.diff_dst_desc(), false);
  }
  return part;
}

// Scratch for the tensor in oneDNN's layout; none where it is used in place.
int64_t InnerBytes(const Operand& operand) {
  return operand.same ? 0 : static_cast<int64_t>(operand.inner.get_size());
}

// Sizes of scratch blocks, so that each starts on a line of its own.
int64_t RoundUp(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// A part of fewer multiplications is not worth a thread.
constexpr double kWorthAPart = 2e6;

// More parts than this leave too little to each. Of weight gradients every part has its own, which
// are written and added up: a part must multiply each weight often enough to make up for that.
double MostParts(const ConvGeometry& g, Kind kind, double work) {
  constexpr double kMost = 8, kLeast = 2, kProductsPerWeight = 128;
  if (kind != Kind::kBackwardWeights) return kMost;
  const auto weights = static_cast<double>(g.filters * (g.channels / g.groups) * g.Taps());
  return std::clamp(work / (weights * kProductsPerWeight), kLeast, kMost);
}

// What a call site keeps.
class Site {
 public:
  Site(const ConvGeometry& g, Kind kind)
      : geometry_(g), kind_(kind), engine_(dnnl::engine::kind::cpu, 0) {
    const double work = g.Work() * static_cast<double>(g.batch);
    const auto wanted =
        static_cast<int64_t>(std::clamp(work / kWorthAPart, 1.0, MostParts(g, kind, work)));
    const int64_t batch = (g.batch + wanted - 1) / wanted;
    count_ = (g.batch + batch - 1) / batch;
    parts_.push_back(MakePart(engine_, g, kind, batch));
    if (const int64_t rest = g.batch - batch * (count_ - 1); rest != batch)
      parts_.push_back(MakePart(engine_, g, kind, rest));
  }

  // x, f, y are X, F, Y or their gradients. False when scratch is not to be had.
  bool Run(DtContext* context, float* x, float* f, float* y);

  const ConvGeometry& geometry() const { return geometry_; }

 private:
  // What a thread uses while it works on a part.
  struct Scratch {
    char* x;
    char* y;
    char* f;
    char* pad;
  };

  const Part& PartAt(int64_t index) const {
    return index == count_ - 1 ? parts_.back() : parts_.front();
  }
  void RunPart(int64_t index, float* x, float* f, float* y, char* inner_filter,
               const Scratch& scratch) const;
  bool MakeInnerFilters(DtContext* context, float* f, std::vector<char*>& inner) const;
  void SumPartials(DtContext* context, const float* partials, float* f) const;
  void Reorder(const dnnl::reorder& reorder, const Desc& from_desc, void* from, const Desc& to_desc,
               void* to) const;

  const ConvGeometry geometry_;
  const Kind kind_;
  dnnl::engine engine_;
  int64_t count_ = 0;
  std::vector<Part> parts_;  // the common one, and the last one where the batch does not divide
};

void Site::Reorder(const dnnl::reorder& reorder, const Desc& from_desc, void* from,
                   const Desc& to_desc, void* to) const {
  dnnl::stream stream(engine_);
  dnnl::memory source(from_desc, engine_, from), target(to_desc, engine_, to);
  reorder.execute(stream, source, target);
}

// `f` is the plain filter, or where this part's plain gradient goes.
void Site::RunPart(int64_t index, float* x, float* f, float* y, char* inner_filter,
                   const Scratch& scratch) const {
  const Part& part = PartAt(index);
  const ConvGeometry& g = geometry_;
  const int64_t start = index * parts_.front().batch;
  char* plain_x = reinterpret_cast<char*>(x + start * g.channels * g.Inputs());
  char* plain_y = reinterpret_cast<char*>(y + start * g.filters * g.Outputs());
  char* inner_x = part.x.same ? plain_x : scratch.x;
  char* inner_y = part.y.same ? plain_y : scratch.y;
  char* plain_f = reinterpret_cast<char*>(f);
  const bool filter_is_output = kind_ == Kind::kBackwardWeights;
  char* inner_f = part.f.same ? plain_f : filter_is_output ? scratch.f : inner_filter;

  if (part.x.to_inner) Reorder(part.x.to_inner, part.x.plain, plain_x, part.x.inner, inner_x);
  if (part.y.to_inner) Reorder(part.y.to_inner, part.y.plain, plain_y, part.y.inner, inner_y);
  const dnnl::memory mx(part.x.inner, engine_, inner_x), mf(part.f.inner, engine_, inner_f),
      my(part.y.inner, engine_, inner_y);
  const dnnl::memory pad(Desc(Dims{part.scratchpad}, dnnl::memory::data_type::u8, Tag::x), engine_,
                         scratch.pad);
  constexpr struct {
    int x, f, y;
  } kArguments[] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                    {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
                    {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}};
  const auto& names = kArguments[static_cast<int>(kind_)];
  dnnl::stream stream(engine_);
  part.conv.execute(stream,
                    {{names.x, mx}, {names.f, mf}, {names.y, my}, {DNNL_ARG_SCRATCHPAD, pad}});
  if (part.x.to_plain) Reorder(part.x.to_plain, part.x.inner, inner_x, part.x.plain, plain_x);
  if (part.y.to_plain) Reorder(part.y.to_plain, part.y.inner, inner_y, part.y.plain, plain_y);
  if (part.f.to_plain) Reorder(part.f.to_plain, part.f.inner, inner_f, part.f.plain, plain_f);
}

// The filter is reordered once per kind of part, not once per part.
bool Site::MakeInnerFilters(DtContext* context, float* f, std::vector<char*>& inner) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].f.to_inner) continue;
    inner[i] = static_cast<char*>(dt_scratch(context, InnerBytes(parts_[i].f)));
    if (inner[i] == nullptr) return false;
    Reorder(parts_[i].f.to_inner, parts_[i].f.plain, f, parts_[i].f.inner, inner[i]);
  }
  return true;
}

// Adds up the weight gradients of the parts, always in the order of the parts: the sum does not
// depend on which thread made which. Threads share the elements.
void Site::SumPartials(DtContext* context, const float* partials, float* f) const {
  const int64_t elements =
      geometry_.filters * (geometry_.channels / geometry_.groups) * geometry_.Taps();
  Parallel(context, elements, GrainFor(4 * (count_ + 1)), [&](int64_t lo, int64_t n) {
    std::copy_n(partials + lo, n, f + lo);
    for (int64_t part = 1; part < count_; ++part) {
      const float* from = partials + part * elements;
      for (int64_t i = lo; i < lo + n; ++i) f[i] += from[i];
    }
  });
}

// One set of scratch blocks per thread, as large as the larger of both kinds of part needs, then
// the parts in any order on the pool. Weight gradients of several parts go to arrays of their own
// and are summed; the others write disjoint samples. oneDNN reports by exceptions, which must not
// leave a thread of the pool.
bool Site::Run(DtContext* context, float* x, float* f, float* y) {
  const bool weights = kind_ == Kind::kBackwardWeights;
  int64_t bytes_x = 0, bytes_y = 0, bytes_f = 0, bytes_pad = 0;
  for (const Part& part : parts_) {
    bytes_x = std::max(bytes_x, RoundUp(InnerBytes(part.x)));
    bytes_y = std::max(bytes_y, RoundUp(InnerBytes(part.y)));
    bytes_f = std::max(bytes_f, weights ? RoundUp(InnerBytes(part.f)) : 0);
    bytes_pad = std::max(bytes_pad, RoundUp(part.scratchpad));
  }
  const int64_t per_thread = bytes_x + bytes_y + bytes_f + bytes_pad;
  char* scratch = static_cast<char*>(dt_scratch(context, per_thread * dt_threads(context)));
  const auto filter_elements =
      static_cast<int64_t>(parts_.front().f.plain.get_size() / sizeof(float));
  float* partials = f;
  if (weights && count_ > 1)
    partials = static_cast<float*>(
        dt_scratch(context, count_ * filter_elements * static_cast<int64_t>(sizeof(float))));
  std::vector<char*> inner(parts_.size(), nullptr);
  if (scratch == nullptr || partials == nullptr ||
      (!weights && !MakeInnerFilters(context, f, inner)))
    return false;

  std::atomic<bool> ok{true};
  Parallel(context, count_, 1, [&](int64_t lo, int64_t n) {
    char* at = scratch + dt_thread(context) * per_thread;
    const Scratch mine{at, at + bytes_x, at + bytes_x + bytes_y, at + bytes_x + bytes_y + bytes_f};
    try {
      for (int64_t i = lo; i < lo + n; ++i)
        RunPart(i, x, weights ? partials + i * filter_elements : f, y,
                i == count_ - 1 ? inner.back() : inner.front(), mine);
    } catch (const std::exception&) {
      ok = false;
    }
  });
  if (weights && count_ > 1) SumPartials(context, partials, f);
  return ok;
}

// X, F and Y of a call, or their gradients.
struct Tensors {
  DtBuffer &x, &f, &y;
};

using Direct = void (*)(DtContext*, const ConvGeometry&, const Tensors&);

// What a call site has for a batch; a site whose batch changes from step to step keeps a few.
struct Sites {
  std::vector<std::unique_ptr<Site>> by_batch;
  size_t next = 0;

  Site& For(const ConvGeometry& g, Kind kind) {
    constexpr size_t kMost = 8;
    for (const auto& site : by_batch)
      if (site->geometry() == g) return *site;
    auto made = std::make_unique<Site>(g, kind);
    if (by_batch.size() < kMost) return by_batch.push_back(std::move(made)), *by_batch.back();
    auto& place = by_batch[next++ % kMost];
    place = std::move(made);
    return *place;
  }
};

// float64 runs the direct loops (conv_direct.cc), which oneDNN does not have; it serves
// verification, not speed. float32 keeps its primitives in the state of the call site, freed with
// the plan.
int32_t Convolve(OpCall& call, Kind kind, const Tensors& t, Direct direct) {
  ConvGeometry g;
  if (!SameType(call, t.x, t.f) || !SameType(call, t.x, t.y) || !ReadConv(call, t.x, t.f, t.y, g))
    return 1;
  if (TypeOf(t.x) == DType::kFloat64) return direct(call.context(), g, t), 0;
  if (TypeOf(t.x) != DType::kFloat32)
    return call.Fail("element type %s, expected float32 or float64", TypeName(t.x));
  if (g.batch == 0 || g.channels == 0 || g.filters == 0)
    return call.Fail("a tensor has no elements");
  try {
    auto* sites = static_cast<Sites*>(*call.raw()->state);
    if (sites == nullptr) {
      *call.raw()->state = sites = new Sites;
      dt_keep(call.context(), sites, [](void* state) { delete static_cast<Sites*>(state); });
    }
    if (sites->For(g, kind).Run(call.context(), Data<float>(t.x), Data<float>(t.f),
                                Data<float>(t.y)))
      return 0;
    return call.Fail("oneDNN failed, or there is no memory for its scratch");
  } catch (const std::exception& error) {
    return call.Fail("oneDNN: %s", error.what());
  }
}

}  // namespace

int32_t Conv(OpCall& call) {
  using A = args::dt_conv;
  const Tensors t{call.Arg(A::Input), call.Arg(A::Filter), call.Arg(A::Output)};
  std::vector<int64_t> dims;
  if (t.y.value != nullptr && (!ConvOutDims(call, t.x, t.f, dims) || !call.Resize(t.y, dims)))
    return 1;
  return Convolve(
      call, Kind::kForward, t, [](DtContext* context, const ConvGeometry& g, const Tensors& v) {
        DirectForward(context, g, Data<double>(v.x), Data<double>(v.f), Data<double>(v.y));
      });
}

int32_t ConvBwdData(OpCall& call) {
  using A = args::dt_conv_bwd_data;
  const Tensors t{call.Arg(A::Input_GRAD), call.Arg(A::Filter), call.Arg(A::Output_GRAD)};
  if (call.Has(A::Input) && !call.Resize(t.x, call.Arg(A::Input))) return 1;
  return Convolve(call, Kind::kBackwardData, t,
                  [](DtContext* context, const ConvGeometry& g, const Tensors& v) {
                    DirectBackwardData(context, g, Data<double>(v.f), Data<double>(v.y),
                                       Data<double>(v.x));
                  });
}

int32_t ConvBwdWeights(OpCall& call) {
  using A = args::dt_conv_bwd_weights;
  const Tensors t{call.Arg(A::Input), call.Arg(A::Filter_GRAD), call.Arg(A::Output_GRAD)};
  return Convolve(call, Kind::kBackwardWeights, t,
                  [](DtContext* context, const ConvGeometry& g, const Tensors& v) {
                    DirectBackwardWeights(context, g, Data<double>(v.x), Data<double>(v.y),
                                          Data<double>(v.f));
                  });
}

}  // namespace dtranspile::kernels
