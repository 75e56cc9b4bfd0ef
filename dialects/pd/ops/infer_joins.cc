// Inference and constraints of joins, splits, repetitions and pads. Rows: shape.cc.
//
// An extent of -1 is one that only data say. What is computed of it is not known either: sums and
// products of extents give -1 where an operand is -1 (or where they overflow, which no tensor has),
// so that inference goes on with what it knows instead of giving up on the whole shape.
#include "dialects/pd/ops/declared.h"
#include "dialects/pd/ops/infer_shape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile::pd {
namespace {

int64_t sumOf(int64_t a, int64_t b) {
  int64_t sum;
  return known(a) && known(b) && !llvm::AddOverflow(a, b, sum) ? sum : -1;
}

int64_t productOfTwo(int64_t a, int64_t b) { return productOf({a, b}).value_or(-1); }

// Extents along the axis; nothing when they do not add up.
std::optional<Dims> sectionsOf(InferContext& c, int64_t extent, unsigned outputs) {
  std::optional<Dims> sections = listFrom(c, "SectionsTensorList", "", "sections");
  if (!sections || sections->empty()) {
    int64_t num = std::max<int64_t>(c.op().getInt("num"), outputs);
    if (num <= 0 || (known(extent) && extent % num != 0)) return std::nullopt;
    return Dims(outputs, known(extent) ? extent / num : -1);
  }
  int64_t rest = extent;
  int64_t* open = nullptr;
  for (int64_t& section : *sections) {
    section = orUnknown(section);
    if (!known(section)) {
      rest = open ? -1 : rest;
      open = &section;
    } else if (known(rest)) {
      rest -= section;
      if (rest < 0) return std::nullopt;
    }
  }
  if (!open && known(extent) && rest != 0) return std::nullopt;
  if (open) *open = rest;
  return sections;
}

}  // namespace

// Along the axis extents are added, along all others they must agree, and a known one says what an
// unknown one is.
llvm::LogicalResult inferConcat(InferContext& c) {
  const TensorInfo* first = require(c, "X");
  if (!first) return llvm::failure();
  int64_t axis = numberFrom(c, "AxisTensor", "axis");
  if (axis == kUnknownValue) {
    c.out("Out", withDims(*first, Dims(first->dims.size(), -1)));
    return llvm::success();
  }
  std::optional<int64_t> at = axisOf(axis, first->rank());
  if (!at) return noAxis(c, axis, first->dims);
  Dims dims = first->dims;
  for (unsigned i = 1, n = c.inCount("X"); i < n; ++i) {
    const TensorInfo* x = require(c, "X", i);
    if (!x) return llvm::failure();
    if (x->rank() != first->rank())
      return c.fail("joins X[" + llvm::Twine(i) + "] " + textOf(x->dims) + " to " + textOf(dims));
    for (int64_t d = 0; d < x->rank(); ++d) {
      if (d == *at) dims[d] = sumOf(dims[d], x->dims[d]);
      else if (!agree(dims[d], x->dims[d]))
        return c.fail("joins X[" + llvm::Twine(i) + "] " + textOf(x->dims) + " to " + textOf(dims));
      else if (!known(dims[d])) dims[d] = x->dims[d];
    }
  }
  c.out("Out", withDims(*first, dims));
  return llvm::success();
}

// Rows that are cut lose their sequences; a cut along another axis keeps them.
llvm::LogicalResult inferSplit(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  unsigned outputs = c.outCount("Out");
  int64_t axis = numberFrom(c, "AxisTensor", "axis");
  std::optional<int64_t> at = axis == kUnknownValue ? std::nullopt : axisOf(axis, x->rank());
  if (!at && axis != kUnknownValue) return noAxis(c, axis, x->dims);
  std::optional<Dims> sections;
  if (at) {
    sections = sectionsOf(c, x->dims[*at], outputs);
    if (!sections || sections->size() != outputs)
      return c.fail("cannot split extent " + llvm::Twine(x->dims[*at]) + " into " +
                    llvm::Twine(outputs) + " results");
  }
  for (unsigned i = 0; i < outputs; ++i) {
    Dims dims = at ? x->dims : Dims(x->dims.size(), -1);
    if (at) dims[*at] = (*sections)[i];
    c.out("Out", i, at && *at == 0 ? withoutLod(withDims(*x, dims)) : withDims(*x, dims));
  }
  return llvm::success();
}

// A new dim at `axis` with one position per argument.
llvm::LogicalResult inferStack(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  Dims dims = x->dims;
  for (unsigned i = 1, n = c.inCount("X"); i < n; ++i) {
    const TensorInfo* other = require(c, "X", i);
    if (!other) return llvm::failure();
    if (!agree(dims, other->dims))
      return c.fail("stacks X[" + llvm::Twine(i) + "] " + textOf(other->dims) + " on " +
                    textOf(dims));
  }
  std::optional<int64_t> at = axisOf(c.op().getInt("axis"), x->rank() + 1);
  if (!at) return noAxis(c, c.op().getInt("axis"), x->dims);
  dims.insert(dims.begin() + *at, c.inCount("X"));
  c.out("Y", withDims(*x, dims));
  return llvm::success();
}

// Each part lacks the stacked dim.
llvm::LogicalResult inferStackGrad(InferContext& c) {
  const TensorInfo* y = require(c, "Y@GRAD");
  if (!y) return llvm::failure();
  std::optional<int64_t> at = axisOf(c.op().getInt("axis"), y->rank());
  if (!at) return noAxis(c, c.op().getInt("axis"), y->dims);
  Dims dims = y->dims;
  dims.erase(dims.begin() + *at);
  for (unsigned i = 0, n = c.outCount("X@GRAD"); i < n; ++i) c.out("X@GRAD", i, withDims(*y, dims));
  return llvm::success();
}

// unstack and unbind, whose outputs have different names.
llvm::LogicalResult inferUnstack(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  std::optional<int64_t> at = axisOf(c.op().getInt("axis"), x->rank());
  if (!at) return noAxis(c, c.op().getInt("axis"), x->dims);
  Dims dims = x->dims;
  dims.erase(dims.begin() + *at);
  for (llvm::StringRef slot : {"Y", "Out"})
    for (unsigned i = 0, n = c.outCount(slot); i < n; ++i)
      c.out(slot, i, withoutLod(withDims(*x, dims)));
  return llvm::success();
}

// Numbers of repetitions of expand (v1) and tile, which may have more axes than X.
llvm::LogicalResult inferExpand(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  bool tile = c.op().type() == "tile";
  std::optional<Dims> times =
      tile ? listFrom(c, "repeat_times_tensor", "RepeatTimes", "repeat_times")
           : listFrom(c, "expand_times_tensor", "ExpandTimes", "expand_times");
  if (!times) {
    c.out("Out", unknownLike(*x));
    return llvm::success();
  }
  for (int64_t time : *times)
    if (time != kUnknownValue && time != -1 && time < (tile ? 0 : 1))
      return c.fail("repeats X " + textOf(x->dims) + " by " + textOf(*times));
  if (!tile && times->size() != x->dims.size())
    return c.fail("has " + llvm::Twine(times->size()) + " numbers of repetitions for X " +
                  textOf(x->dims));
  Dims dims = x->dims;
  if (dims.size() < times->size()) dims.insert(dims.begin(), times->size() - dims.size(), 1);
  if (times->size() < dims.size()) times->insert(times->begin(), dims.size() - times->size(), 1);
  for (auto [extent, time] : llvm::zip(dims, *times))
    extent = productOfTwo(extent, orUnknown(time));
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

// Broadcasting to a shape: -1 keeps an extent, and is not allowed for a dim that X lacks.
llvm::LogicalResult inferExpandV2(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  std::optional<Dims> shape = listFrom(c, "expand_shapes_tensor", "Shape", "shape");
  if (!shape) {
    c.out("Out", unknownLike(*x));
    return llvm::success();
  }
  int64_t lead = static_cast<int64_t>(shape->size()) - x->rank();
  if (lead < 0) return c.fail("cannot expand X " + textOf(x->dims) + " to " + textOf(*shape));
  Dims dims;
  for (auto [i, target] : llvm::enumerate(*shape)) {
    int64_t own = static_cast<int64_t>(i) < lead ? 1 : x->dims[i - lead];
    bool keeps = target == -1;
    if ((keeps && static_cast<int64_t>(i) < lead) || (target != kUnknownValue && target < -1) ||
        (!keeps && target != kUnknownValue && known(own) && own != 1 && own != target))
      return c.fail("cannot expand X " + textOf(x->dims) + " to " + textOf(*shape));
    dims.push_back(keeps ? own : orUnknown(target));
  }
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

// Like a tensor, or like the shape that the framework has noted from it.
llvm::LogicalResult inferExpandAs(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  std::vector<int64_t> shape = c.op().getInts("target_shape");
  // The shape counts where there are both and all of it is known.
  const bool told = !shape.empty() && llvm::all_of(shape, [](int64_t n) { return n >= 0; });
  for (llvm::StringRef slot : {"target_tensor", "Y"}) {
    if (const TensorInfo* target = told ? nullptr : c.in(slot)) {
      c.out("Out", withDims(*x, target->dims));
      return llvm::success();
    }
  }
  c.out("Out", withDims(*x, Dims(shape.begin(), shape.end())));
  return llvm::success();
}

// Two numbers per dim, before and after.
llvm::LogicalResult inferPad(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  std::vector<int64_t> paddings = c.op().getInts("paddings");
  if (paddings.size() != 2 * x->dims.size())
    return c.fail("has " + llvm::Twine(paddings.size()) + " paddings for X " + textOf(x->dims));
  Dims dims = x->dims;
  for (auto [i, extent] : llvm::enumerate(dims))
    extent = sumOf(extent, sumOf(paddings[2 * i], paddings[2 * i + 1]));
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

// The older op puts the depth in place of a trailing 1, the newer one appends it.
llvm::LogicalResult inferOneHot(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  std::optional<DType> dtype = dtypeAttr(c, "dtype");
  if (!x || !dtype) return llvm::failure();
  int64_t depth = orUnknown(numberFrom(c, "depth_tensor", "depth"));
  if (!c.in("depth_tensor") && depth < 1)
    return c.fail("wants a positive depth, found " + llvm::Twine(c.op().getInt("depth")));
  Dims dims = x->dims;
  if (c.op().type() == "one_hot_v2") dims.push_back(depth);
  else if (dims.empty() || !agree(dims.back(), 1))
    return c.fail("needs an extent of 1 at the end of X " + textOf(x->dims));
  else dims.back() = depth;
  TensorInfo out = withDims(*x, dims);
  out.dtype = *dtype;
  c.out("Out", out);
  return llvm::success();
}

// The flat buffer has room for every argument rounded up to the alignment (256 bytes where the
// attribute says nothing), as the framework's memory has.
llvm::LogicalResult inferCoalesce(InferContext& c) {
  std::optional<DType> dtype = dtypeAttr(c, "dtype");
  if (!dtype || failed(inferSameAs(c, "Input", "Output"))) return llvm::failure();
  int64_t element = SizeOf(*dtype);
  int64_t alignment = c.op().getInt("align_size") > 0 ? c.op().getInt("align_size") : 256;
  bool aligned = c.op().getBool("use_align");
  int64_t total = 0;
  for (unsigned i = 0, n = c.inCount("Input"); i < n; ++i) {
    const TensorInfo* input = require(c, "Input", i);
    if (!input) return llvm::failure();
    int64_t bytes = productOfTwo(input->elements(), element);
    if (aligned && known(bytes)) bytes = llvm::alignTo(bytes, alignment);
    total = sumOf(total, known(bytes) ? bytes / element : -1);
  }
  c.out("FusedOutput", tensorInfo(*dtype, {total}));
  return llvm::success();
}

// C2 is looked at only where C1 holds: constraints are tested in their order, and the first
// violation ends it.
const Constraint kConcatConstraints[2] = {
    {"C1", "axis must be an axis of the operands",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X");
       if (!x || op.hasInput("AxisTensor") || axisOf(op.getInt("axis"), x->size()))
         return llvm::success();
       found = "axis " + std::to_string(op.getInt("axis")) + " of X[0] " + textOf(*x);
       return llvm::failure();
     }},
    {"C2", "operands must agree in rank and in all extents but that of axis",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> first = declaredDims(op, "X");
       if (!first || op.hasInput("AxisTensor")) return llvm::success();
       int64_t axis = *axisOf(op.getInt("axis"), first->size());
       for (unsigned i = 1, n = op.inputCount("X"); i < n; ++i) {
         std::optional<Dims> x = declaredDims(op, "X", i);
         if (!x) continue;
         if (x->size() == first->size()) (*x)[axis] = (*first)[axis];
         if (agree(*x, *first)) continue;
         found = "X[" + std::to_string(i) + "] " + textOf(*declaredDims(op, "X", i)) +
                 " beside X[0] " + textOf(*first);
         return llvm::failure();
       }
       return llvm::success();
     }},
};

const Constraint kSplitConstraints[1] = {
    {"C1", "axis must be an axis of X",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X");
       if (!x || op.hasInput("AxisTensor") || axisOf(op.getInt("axis"), x->size()))
         return llvm::success();
       found = "axis " + std::to_string(op.getInt("axis")) + " of X " + textOf(*x);
       return llvm::failure();
     }},
};

}  // namespace dtranspile::pd
