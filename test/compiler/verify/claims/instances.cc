#include "test/compiler/verify/claims/instances.h"

#include <filesystem>
#include <stdexcept>

#include "dialects/dist/dist.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "runtime/io/tensor_record.h"
#include "runtime/tensor/widen.h"
#include "test/compiler/verify/claims/elements.h"

namespace dtranspile::claims {
namespace {

namespace fs = std::filesystem;

std::optional<DType> dtypeOf(mlir::Type type) {
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  return tensor ? pd::dtypeOf(tensor.getElementType()) : std::nullopt;
}

TensorPtr shared(absl::StatusOr<Tensor> tensor, mlir::Type type) {
  if (tensor.ok() && dtypeOf(type)) tensor = Widened(std::move(*tensor), *dtypeOf(type));
  if (!tensor.ok()) throw std::runtime_error(std::string(tensor.status().message()));
  return std::make_shared<const Tensor>(std::move(*tensor));
}

class CaseWalk {
 public:
  CaseWalk(const std::string& name, Native& native, const Visitor& visitor)
      : name_(name), case_(name), native_(native), visitor_(visitor) {
    if (!case_.load() || !case_.widen()) throw std::runtime_error(name + ": " + case_.errors);
  }

  void run() {
    case_.program()->getContext()->loadDialect<dist::DistDialect>();
    if (llvm::none_of(*case_.program().getBodyBlock(), [&](mlir::Operation& op) {
          return pd::OpView::isFrameworkOp(&op) && visitor_.wanted(pd::OpView(&op).type());
        }))
      return;
    for (mlir::Operation& op : *case_.program().getBodyBlock()) {
      if (auto input = llvm::dyn_cast<pd::InputOp>(op))
        values_[input.getValue()] = shared(case_.feed(input.getName().str(), 0), input.getType());
      else if (auto get = llvm::dyn_cast<pd::GetOp>(op)) values_[get.getValue()] = held(get);
      else if (auto set = llvm::dyn_cast<pd::SetOp>(op))
        held_[set.getVar()] = values_.lookup(set.getValue());
      else if (pd::OpView::isFrameworkOp(&op)) visit(op);
    }
  }

 private:
  // What start-up left, zeros where that is nothing.
  TensorPtr held(pd::GetOp get) {
    auto [found, fresh] = held_.try_emplace(get.getVar());
    if (!fresh) return found->second;
    const std::string file = case_.folder() + "/init/" + get.getVar().str();
    mlir::RankedTensorType type = pd::tensorOf(get.getType());
    if (fs::exists(file)) found->second = shared(io::ReadTensorFile(file), get.getType());
    else if (type && type.hasStaticShape() && dtypeOf(type))
      found->second = shared(
          Tensor::Zeros(*dtypeOf(type), {type.getShape().begin(), type.getShape().end()}), type);
    return found->second;
  }

  void visit(mlir::Operation& op) {
    const OneOp one(&op);
    const llvm::StringRef type = one.view().type();
    if (op.getNumRegions()) return visitor_.leave(type, "has blocks");
    Tensors operands;
    for (mlir::Value value : one.values) {
      operands.push_back(values_.lookup(value));
      if (operands.back() && isHalf(operands.back()->dtype))
        operands.back() = onGrid(*operands.back(), operands.back()->dtype);
      if (!operands.back()) return visitor_.leave(type, "takes what is no tensor");
    }
    absl::StatusOr<Tensors> results = native_.run(one, operands);
    if (!results.ok()) return visitor_.leave(type, std::string(results.status().message()));
    for (auto [result, tensor] : llvm::zip(op.getResults(), *results)) values_[result] = tensor;
    visitor_.visit({one, std::move(operands), std::move(*results), name_});
  }

  std::string name_;
  lower::ProgramCase case_;
  Native& native_;
  const Visitor& visitor_;
  llvm::DenseMap<mlir::Value, TensorPtr> values_;
  llvm::StringMap<TensorPtr> held_;
};

}  // namespace

void visitCase(const std::string& name, Native& native, const Visitor& visitor) {
  CaseWalk(name, native, visitor).run();
}

}  // namespace dtranspile::claims
