// tree_conv and its gradient: convolution over trees (Mou et al. 2016). The patch of a node are its
// descendants at a depth below max_depth; a descendant weighs with η_t (by depth), η_l (by its
// place among its siblings) and η_r:
//   η_t = (D − d)/D,   η_l = (1 − η_t)·(i − 1)/(n − 1)  (½ of 1 − η_t for an only child),   η_r =
//   (1 − η_t)·(1 − η_l) Out[p] = Σ_v (η_l·W_l + η_r·W_r + η_t·W_t)ᵀ x_v
// Nodes count from 1; the list of edges of a sample ends at the first with a 0.
#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/kernels/cpu/ops/convolution/calls.h"

namespace dtranspile::kernels {
namespace {

// A node in the patch of another, both counted from 0.
struct Member {
  int64_t patch, node;
  std::array<double, 3> eta;  // left, right, top
};

struct Shape {
  int64_t batch, nodes, features, edges, outputs, depth;  // `outputs`: output size × filters
};

bool Read(OpCall& call, const DtBuffer& nodes, const DtBuffer& edges, const DtBuffer& filter,
          Shape& s) {
  using A = args::dt_tree_conv;
  static_assert(A::max_depth == args::dt_tree_conv_grad::max_depth);
  if (nodes.rank != 3 || edges.rank != 3 || edges.dims[2] != 2 || filter.rank != 4 ||
      filter.dims[1] != 3 || nodes.dims[0] != edges.dims[0] || filter.dims[0] != nodes.dims[2] ||
      nodes.dtype != filter.dtype)
    return call.Fail(
               "'%s' must be [batch, nodes, features], '%s' [batch, edges, 2] and '%s' [features, "
               "3, size, filters]",
               nodes.name, edges.name, filter.name),
           false;
  s = {nodes.dims[0],
       nodes.dims[1],
       nodes.dims[2],
       edges.dims[1],
       filter.dims[2] * filter.dims[3],
       call.Int(A::max_depth)};
  if (TypeOf(edges) != DType::kInt32)
    return call.Fail("'%s' holds %s, expected int32", edges.name, TypeName(edges)), false;
  if (s.depth < 1)
    return call.Fail("max_depth %lld, expected at least 1", static_cast<long long>(s.depth)), false;
  return true;
}

using Children = std::vector<std::vector<int64_t>>;

// Children of the nodes of a sample; their number is that of the edges and one.
bool ChildrenOf(OpCall& call, const DtBuffer& edges, const Shape& s, int64_t sample,
                Children& children) {
  const int32_t* pairs = Data<int32_t>(edges) + sample * s.edges * 2;
  int64_t count = 1;
  for (int64_t e = 0; e < s.edges; ++e) count += pairs[2 * e] != 0 && pairs[2 * e + 1] != 0;
  if (count > s.nodes)
    return call.Fail("'%s' joins %lld nodes, the sample has %lld", edges.name,
                     static_cast<long long>(count), static_cast<long long>(s.nodes)),
           false;
  children.assign(static_cast<size_t>(count), {});
  for (int64_t e = 0; e < s.edges && pairs[2 * e] != 0 && pairs[2 * e + 1] != 0; ++e) {
    const int64_t parent = pairs[2 * e], child = pairs[2 * e + 1];
    if (parent < 1 || parent > count || child < 1 || child > count)
      return call.Fail("'%s' has the edge (%lld, %lld), its nodes are 1 to %lld", edges.name,
                       static_cast<long long>(parent), static_cast<long long>(child),
                       static_cast<long long>(count)),
             false;
    children[static_cast<size_t>(parent - 1)].push_back(child - 1);
  }
  return true;
}

std::array<double, 3> Eta(int64_t place, int64_t siblings, int64_t depth, int64_t most) {
  const double top = static_cast<double>(most - depth) / static_cast<double>(most);
  const double share = siblings == 1
                           ? 0.5
                           : static_cast<double>(place - 1) / static_cast<double>(siblings - 1),
               left = (1 - top) * share;
  return {left, (1 - top) * (1 - left), top};
}

// The members of all patches of a sample.
std::vector<Member> MembersOf(const Children& children, int64_t max_depth) {
  struct Visit {
    int64_t node, depth;
  };
  std::vector<Member> members;
  std::vector<int64_t> seen(children.size(), -1);
  for (int64_t root = 0; root < static_cast<int64_t>(children.size()); ++root) {
    std::vector<Visit> stack = {{root, 0}};
    seen[static_cast<size_t>(root)] = root;
    members.push_back({root, root, Eta(1, 1, 0, max_depth)});
    while (!stack.empty()) {
      const Visit at = stack.back();
      stack.pop_back();
      if (at.depth + 1 >= max_depth) continue;
      const auto& below = children[static_cast<size_t>(at.node)];
      for (size_t i = 0; i < below.size(); ++i) {
        int64_t& mark = seen[static_cast<size_t>(below[i])];
        if (mark == root) continue;
        mark = root;
        stack.push_back({below[i], at.depth + 1});
        members.push_back({root, below[i],
                           Eta(static_cast<int64_t>(i) + 1, static_cast<int64_t>(below.size()),
                               at.depth + 1, max_depth)});
      }
    }
  }
  return members;
}

// visit(factor, side, node's feature, number of that feature, row of Out) for every product of a
// feature with a row of weights.
template <typename Visit>
bool ForProducts(OpCall& call, const DtBuffer& edges, const Shape& s, Visit&& visit) {
  for (int64_t b = 0; b < s.batch; ++b) {
    Children children;
    if (!ChildrenOf(call, edges, s, b, children)) return false;
    for (const Member& m : MembersOf(children, s.depth))
      for (int64_t f = 0; f < s.features; ++f)
        for (int64_t side = 0; side < 3; ++side)
          visit(m.eta[static_cast<size_t>(side)], side, (b * s.nodes + m.node) * s.features + f, f,
                (b * s.nodes + m.patch) * s.outputs);
  }
  return true;
}

void Zero(const DtBuffer& buffer) {
  std::memset(buffer.data, 0, static_cast<size_t>(Elements(buffer) * ElementSize(buffer)));
}

}  // namespace

// NodesVector, EdgeSet, Filter; max_depth -> Out
int32_t TreeConv(OpCall& call) {
  using A = args::dt_tree_conv;
  const DtBuffer &nodes = call.Arg(A::NodesVector), &edges = call.Arg(A::EdgeSet),
                 &filter = call.Arg(A::Filter);
  DtBuffer& out = call.Arg(A::Out);
  Shape s;
  if (!Read(call, nodes, edges, filter, s) ||
      !call.Resize(out, {s.batch, s.nodes, filter.dims[2], filter.dims[3]}))
    return 1;
  return VisitFloat(call.context(), nodes, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Zero(out);
    return ForProducts(call, edges, s,
                       [&](double eta, int64_t side, int64_t node, int64_t f, int64_t to) {
                         const T factor = static_cast<T>(eta) * Data<T>(nodes)[node];
                         for (int64_t k = 0; k < s.outputs; ++k)
                           Data<T>(out)[to + k] +=
                               factor * Data<T>(filter)[(f * 3 + side) * s.outputs + k];
                       })
               ? 0
               : 1;
  });
}

// NodesVector, EdgeSet, Filter, Out@GRAD; max_depth -> NodesVector@GRAD, Filter@GRAD. For the first
// the framework takes the weights of a feature to stand output by output, each with its three
// sides, although they stand side by side; a model trained with it has learnt so.
int32_t TreeConvGrad(OpCall& call) {
  using A = args::dt_tree_conv_grad;
  const DtBuffer &nodes = call.Arg(A::NodesVector), &edges = call.Arg(A::EdgeSet),
                 &filter = call.Arg(A::Filter), &gradient = call.Arg(A::Out_GRAD);
  Shape s;
  if (!Read(call, nodes, edges, filter, s)) return 1;
  if (Elements(gradient) != s.batch * s.nodes * s.outputs || gradient.dtype != nodes.dtype)
    return call.Fail("'%s' has not the extents and type of the output", gradient.name);
  const bool to_nodes = call.Has(A::NodesVector_GRAD), to_filter = call.Has(A::Filter_GRAD);
  if ((to_nodes && !call.Resize(call.Arg(A::NodesVector_GRAD), nodes)) ||
      (to_filter && !call.Resize(call.Arg(A::Filter_GRAD), filter)))
    return 1;
  return VisitFloat(call.context(), nodes, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (to_nodes) Zero(call.Arg(A::NodesVector_GRAD));
    if (to_filter) Zero(call.Arg(A::Filter_GRAD));
    T *dnodes = to_nodes ? Data<T>(call.Arg(A::NodesVector_GRAD)) : nullptr,
      *dfilter = to_filter ? Data<T>(call.Arg(A::Filter_GRAD)) : nullptr;
    return ForProducts(call, edges, s,
                       [&](double eta, int64_t side, int64_t node, int64_t f, int64_t from) {
                         const T *g = Data<T>(gradient) + from,
                                 *weights = Data<T>(filter) + f * 3 * s.outputs,
                                 factor = static_cast<T>(eta) * Data<T>(nodes)[node];
                         T sum = 0;
                         for (int64_t k = 0; k < s.outputs; ++k)
                           sum += g[k] * weights[k * 3 + side];
                         if (to_nodes) dnodes[node] += static_cast<T>(eta) * sum;
                         for (int64_t k = 0; to_filter && k < s.outputs; ++k)
                           dfilter[(f * 3 + side) * s.outputs + k] += factor * g[k];
                       })
               ? 0
               : 1;
  });
}

}  // namespace dtranspile::kernels
