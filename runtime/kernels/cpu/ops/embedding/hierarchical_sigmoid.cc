// hierarchical_sigmoid and its gradient (Morin, Bengio, "Hierarchical probabilistic neural network
// language model", 2005). A class is a path of binary decisions: by default along the bits of label
// + num_classes from below the highest one (the framework's matrix_bit_code.h), else rows of
// PathTable with the decisions in PathCode, ended by a negative node.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/embedding/calls.h"
#include "runtime/kernels/cpu/ops/rows.h"

namespace dtranspile::kernels {
namespace {

// At an inner node of the tree (a row of W) the path goes right or left.
struct Decision {
  int64_t node;
  bool right;
};

struct Tree {
  int64_t samples = 0, width = 0, depth = 0;
  std::vector<std::vector<Decision>> paths;  // per sample
};

// A complete binary tree: with c = label + classes, bit b of c is the decision at node (c >> (b +
// 1)) - 1, for all bits below the highest. Nodes are [0, classes - 1), and the depth is that of the
// longest path.
bool DefaultPaths(OpCall& call, int64_t classes, const std::vector<int64_t>& labels, Tree& tree) {
  using A = args::dt_hierarchical_sigmoid;
  static_assert(A::Label == args::dt_hierarchical_sigmoid_grad::Label);
  if (classes < 2 || classes > INT32_MAX)
    return call.Fail("%lld classes", static_cast<long long>(classes)), false;
  auto bits = [](int64_t value) {
    int64_t count = 0;
    for (; value > 0; value >>= 1) ++count;
    return count;
  };
  tree.depth = bits(classes - 1);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes)
      return call.Fail("element %zu of '%s' is %lld, expected at least 0 and below %lld", i,
                       call.Arg(A::Label).name, static_cast<long long>(labels[i]),
                       static_cast<long long>(classes)),
             false;
    const int64_t code = labels[i] + classes;
    std::vector<Decision> path;
    for (int64_t bit = 0; bit < bits(code) - 1; ++bit)
      path.push_back({(code >> (bit + 1)) - 1, ((code >> bit) & 1) != 0});
    tree.paths.push_back(std::move(path));
  }
  return true;
}

// Paths may be of different lengths; rows of the table are as long as the longest one.
bool CustomPaths(OpCall& call, Tree& tree) {
  using A = args::dt_hierarchical_sigmoid;
  static_assert(A::PathCode == args::dt_hierarchical_sigmoid_grad::PathCode &&
                A::PathTable == args::dt_hierarchical_sigmoid_grad::PathTable);
  const DtBuffer &table = call.Arg(A::PathTable), &code = call.Arg(A::PathCode);
  std::vector<int64_t> nodes, bits;
  if (!IntegersOf(call, table, nodes) || !IntegersOf(call, code, bits)) return false;
  if (table.rank != 2 || !SameShape(table, code) || table.dims[0] != tree.samples)
    return call.Fail("'%s' and '%s' have not one path for each of %lld samples", table.name,
                     code.name, static_cast<long long>(tree.samples)),
           false;
  tree.depth = table.dims[1];
  for (int64_t i = 0; i < tree.samples; ++i) {
    std::vector<Decision> path;
    for (int64_t k = i * tree.depth; k < (i + 1) * tree.depth && nodes[static_cast<size_t>(k)] >= 0;
         ++k)
      path.push_back({nodes[static_cast<size_t>(k)], bits[static_cast<size_t>(k)] != 0});
    tree.paths.push_back(std::move(path));
  }
  return true;
}

// Attribute 0 is num_classes.
// Makes the paths and checks every node against the rows of W, so that the loops need not.
bool TreeOf(OpCall& call, Tree& tree) {
  using A = args::dt_hierarchical_sigmoid;
  static_assert(A::Bias == args::dt_hierarchical_sigmoid_grad::Bias &&
                A::Label == args::dt_hierarchical_sigmoid_grad::Label &&
                A::PathCode == args::dt_hierarchical_sigmoid_grad::PathCode &&
                A::PathTable == args::dt_hierarchical_sigmoid_grad::PathTable &&
                A::W == args::dt_hierarchical_sigmoid_grad::W &&
                A::X == args::dt_hierarchical_sigmoid_grad::X);
  static_assert(A::num_classes == args::dt_hierarchical_sigmoid_grad::num_classes);
  const DtBuffer &x = call.Arg(A::X), &w = call.Arg(A::W);
  if (x.rank != 2 || w.rank != 2 || x.dims[1] != w.dims[1] || TypeOf(x) != TypeOf(w))
    return call.Fail("'%s' and '%s' are no matrices of one width", x.name, w.name), false;
  tree.samples = x.dims[0], tree.width = x.dims[1];
  std::vector<int64_t> labels;
  if (!IntegersOf(call, call.Arg(A::Label), labels)) return false;
  if (static_cast<int64_t>(labels.size()) != tree.samples)
    return call.Fail("'%s' has not one label per sample", call.Arg(A::Label).name), false;
  if (!(call.Has(A::PathTable) && call.Has(A::PathCode)
            ? CustomPaths(call, tree)
            : DefaultPaths(call, call.Int(A::num_classes), labels, tree)))
    return false;
  if (call.Has(A::Bias) &&
      (Elements(call.Arg(A::Bias)) < w.dims[0] || TypeOf(call.Arg(A::Bias)) != TypeOf(x)))
    return call.Fail("'%s' has not one element per node", call.Arg(A::Bias).name), false;
  for (const auto& path : tree.paths)
    for (const Decision& d : path)
      if (d.node >= w.dims[0])
        return call.Fail("node %lld of '%s', which has %lld rows", static_cast<long long>(d.node),
                         w.name, static_cast<long long>(w.dims[0])),
               false;
  return true;
}

}  // namespace

// ...; num_classes -> Out, PreOut, W_Out. PreOut is log(1 + exp(score)) with scores clipped to ±40.
// Places after the end of a path have the score 0 and count, as in the framework.
int32_t HierarchicalSigmoid(OpCall& call) {
  using A = args::dt_hierarchical_sigmoid;
  Tree tree;
  if (!TreeOf(call, tree)) return 1;
  const DtBuffer &x = call.Arg(A::X), &w = call.Arg(A::W);
  constexpr double kClip = 40;
  if (call.Has(A::Out) && !call.Resize(call.Arg(A::Out), {tree.samples, 1})) return 1;
  if (call.Has(A::PreOut) && !call.Resize(call.Arg(A::PreOut), {tree.samples, tree.depth}))
    return 1;
  if (call.Has(A::W_Out)) {
    if (!call.Resize(call.Arg(A::W_Out), w)) return 1;
    std::memmove(call.Arg(A::W_Out).data, w.data,
                 static_cast<size_t>(Elements(w) * ElementSize(w)));
  }
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* bias = call.Has(A::Bias) ? Data<T>(call.Arg(A::Bias)) : nullptr;
    for (int64_t i = 0; i < tree.samples; ++i) {
      const auto& path = tree.paths[static_cast<size_t>(i)];
      T cost = 0;
      for (size_t k = 0; k < static_cast<size_t>(tree.depth); ++k) {
        T score = 0;
        if (k < path.size()) {
          if (bias != nullptr) score = bias[path[k].node];
          for (int64_t j = 0; j < tree.width; ++j)
            score += Data<T>(w)[path[k].node * tree.width + j] * Data<T>(x)[i * tree.width + j];
          score = std::clamp(score, static_cast<T>(-kClip), static_cast<T>(kClip));
          if (path[k].right) cost -= score;
        }
        const T soft = std::log(1 + std::exp(score));
        cost += soft;
        if (call.Has(A::PreOut))
          Data<T>(call.Arg(A::PreOut))[i * tree.depth + static_cast<int64_t>(k)] = soft;
      }
      if (call.Has(A::Out)) Data<T>(call.Arg(A::Out))[i] = cost;
    }
    return 0;
  });
}

namespace {

// The gradient of W as a dense tensor, or as the rows of the nodes on the paths, each once,
// ascending.
bool ResizeTable(OpCall& call, DtBuffer& out, const DtBuffer& w, const Tree& tree) {
  const exec::Value* value = OpCall::ValueOf(out);
  if (value == nullptr || value->kind != exec::Value::Kind::kRows) return call.Resize(out, w);
  std::vector<int64_t> nodes;
  for (const auto& path : tree.paths)
    for (const Decision& d : path) nodes.push_back(d.node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (!call.ResizeRows(out, static_cast<int64_t>(nodes.size()), w.dims[0], {w.dims[1]}))
    return false;
  OpCall::ValueOf(out)->rows = std::move(nodes);
  return true;
}

// The row of the gradient that belongs to a node: itself in a dense tensor, found by binary search
// among the rising rows of a sparse one.
int64_t PlaceOf(const DtBuffer& out, int64_t node) {
  const exec::Value* value = OpCall::ValueOf(out);
  if (value == nullptr || value->kind != exec::Value::Kind::kRows) return node;
  return std::lower_bound(value->rows.begin(), value->rows.end(), node) - value->rows.begin();
}

}  // namespace

// ..., PreOut, Out@GRAD; num_classes -> X@GRAD, W@GRAD, Bias@GRAD
// A node with the score s costs log(1 + exp(s)) - right · s; by s that is sigmoid(s) - right, and
// sigmoid(s) = 1 - exp(-PreOut). Places after the end of a path depend on nothing and have no
// gradient.
int32_t HierarchicalSigmoidGrad(OpCall& call) {
  using A = args::dt_hierarchical_sigmoid_grad;
  Tree tree;
  if (!TreeOf(call, tree)) return 1;
  const DtBuffer &x = call.Arg(A::X), &w = call.Arg(A::W), &soft = call.Arg(A::PreOut),
                 &gradient = call.Arg(A::Out_GRAD);
  constexpr int kDx = A::X_GRAD, kDw = A::W_GRAD, kDb = A::Bias_GRAD;
  if (Elements(soft) != tree.samples * tree.depth || Elements(gradient) != tree.samples ||
      TypeOf(soft) != TypeOf(x) || TypeOf(gradient) != TypeOf(x))
    return call.Fail("'%s' and '%s' do not fit '%s'", soft.name, gradient.name, x.name);
  if (call.Has(kDx) && !call.Resize(call.Arg(kDx), x)) return 1;
  if (call.Has(kDw) && !ResizeTable(call, call.Arg(kDw), w, tree)) return 1;
  if (call.Has(kDb) && call.Has(A::Bias) && !call.Resize(call.Arg(kDb), call.Arg(A::Bias)))
    return 1;
  for (int slot = kDx; slot <= kDb; ++slot)
    if (call.Has(slot) && Elements(call.Arg(slot)) > 0)
      std::memset(call.Arg(slot).data, 0,
                  static_cast<size_t>(Elements(call.Arg(slot)) * ElementSize(x)));
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < tree.samples; ++i)
      for (size_t k = 0; k < tree.paths[static_cast<size_t>(i)].size(); ++k) {
        const Decision d = tree.paths[static_cast<size_t>(i)][k];
        const T sigmoid = 1 - std::exp(-Data<T>(soft)[i * tree.depth + static_cast<int64_t>(k)]);
        const T g = (sigmoid - (d.right ? 1 : 0)) * Data<T>(gradient)[i];
        if (call.Has(kDb)) Data<T>(call.Arg(kDb))[d.node] += g;
        T* dw = call.Has(kDw) ? Data<T>(call.Arg(kDw)) + PlaceOf(call.Arg(kDw), d.node) * tree.width
                              : nullptr;
        T* dx = call.Has(kDx) ? Data<T>(call.Arg(kDx)) + i * tree.width : nullptr;
        for (int64_t j = 0; j < tree.width; ++j) {
          if (dw != nullptr) dw[j] += g * Data<T>(x)[i * tree.width + j];
          if (dx != nullptr) dx[j] += g * Data<T>(w)[d.node * tree.width + j];
        }
      }
    return 0;
  });
}

}  // namespace dtranspile::kernels
