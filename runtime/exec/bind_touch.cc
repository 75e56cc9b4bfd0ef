// Rows of variables that are made when they are first touched (first_touch.h): the node of start-up
// that says what they begin as, and what is done in front of nodes that touch them.
#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/bind.h"

namespace dtranspile::exec {
namespace {

class BoundDraw : public BoundNode {
 public:
  BoundDraw(const Node& node, FirstTouch& rows) : BoundNode(node), rows_(rows) {}
  absl::Status Run(Walk&) override { return rows_.Begin(); }

 private:
  FirstTouch& rows_;
};

// Makes what the node may touch: of the variables in `all` every row, of those in `some` the rows
// of a gradient.
class BoundTouch : public BoundNode {
 public:
  BoundTouch(const Node& node, std::unique_ptr<BoundNode> bound, std::vector<FirstTouch*> all,
             std::vector<FirstTouch*> some, const Value* gradient)
      : BoundNode(node),
        bound_(std::move(bound)),
        all_(std::move(all)),
        some_(std::move(some)),
        gradient_(gradient) {}

  absl::Status Run(Walk& walk) override {
    for (FirstTouch* rows : all_) DT_RETURN_IF_ERROR(rows->TouchAll());
    for (FirstTouch* rows : some_)
      DT_RETURN_IF_ERROR(
          rows->Touch(gradient_->rows.data(), static_cast<int64_t>(gradient_->rows.size())));
    return bound_->Run(walk);
  }
  bool needs_others() const override { return bound_->needs_others(); }

 private:
  const std::unique_ptr<BoundNode> bound_;
  const std::vector<FirstTouch*> all_, some_;
  const Value* const gradient_;
};

// Library calls that update the rows of their gradient and look at no others where the new values
// lie in the place of the old ones (runtime/kernels/cpu/ops/optimizer/rows.cc). The gradient is
// their second argument.
constexpr std::string_view kByRows[] = {"dt_adagrad_rows", "dt_adam_rows", "dt_ftrl_rows",
                                        "dt_sgd_rows"};

// The gradient of such a call; null for other nodes.
const Value* GradientOf(const Node& node, const Binder& binder) {
  const auto* call = node.as<CallNode>();
  if (call == nullptr || call->args.size() < 2 ||
      std::find(std::begin(kByRows), std::end(kByRows), call->callee) == std::end(kByRows))
    return nullptr;
  const Value* value = binder.storage.value(call->args[1]);
  return value != nullptr && value->kind == Value::Kind::kRows ? value : nullptr;
}

// Whether a call takes the variable as it lies: twice, old and new, each from its first row on.
bool UpdatesInPlace(const CallNode& call, const FirstTouch& rows, const Binder& binder) {
  int old = 0, updated = 0;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const int id = call.args[i];
    const std::byte* const at =
        binder.storage.data(id, binder.buffer(id).stride > 0 ? binder.scope.instance : 0);
    if (at < rows.data() || at >= rows.data() + rows.rows() * rows.row_bytes()) continue;
    if (at != rows.data()) return false;
    const bool written = std::find(call.written.begin(), call.written.end(), static_cast<int>(i)) !=
                         call.written.end();
    ++(written ? updated : old);
  }
  return old == 1 && updated == 1;
}

}  // namespace

BindResult Bind(const DrawNode& draw, const Node& node, Binder& binder) {
  FirstTouch* const rows = binder.untouched.Of(draw);
  if (rows == nullptr)
    return absl::InvalidArgumentError("rows are drawn at the top of start-up only");
  return std::make_unique<BoundDraw>(node, *rows);
}

// Of an update by rows of a gradient only these rows are touched; any other node may read or write
// all of them.
std::unique_ptr<BoundNode> TouchFirst(const Node& node, std::unique_ptr<BoundNode> bound,
                                      std::vector<FirstTouch*> touched, const Binder& binder) {
  std::vector<FirstTouch*> some;
  const Value* const gradient = GradientOf(node, binder);
  if (gradient != nullptr) {
    const CallNode& call = *node.as<CallNode>();
    const auto whole = std::stable_partition(
        touched.begin(), touched.end(),
        [&](const FirstTouch* rows) { return !UpdatesInPlace(call, *rows, binder); });
    some.assign(whole, touched.end());
    touched.erase(whole, touched.end());
  }
  return std::make_unique<BoundTouch>(node, std::move(bound), std::move(touched), std::move(some),
                                      gradient);
}

}  // namespace dtranspile::exec
