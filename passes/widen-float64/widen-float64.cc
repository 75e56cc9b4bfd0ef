// float32 becomes float64 throughout.
#include "compiler/analysis/relations/rational.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/widen-float64/pass.h"
#include "runtime/base/dtype.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_WIDENFLOAT64
#include "passes/widen-float64/pass.h.inc"

namespace {

bool isFloat32(mlir::Attribute code) {
  auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(code);
  return number && number.getInt() == static_cast<int64_t>(DType::kFloat32);
}

mlir::IntegerAttr float64Code(mlir::Attribute like) {
  return mlir::IntegerAttr::get(llvm::cast<mlir::IntegerAttr>(like).getType(),
                                static_cast<int64_t>(DType::kFloat64));
}

// The attributes of a framework op that hold the code of a data type; some rows have float32 as
// their default.
constexpr llvm::StringLiteral kTypeAttributes[] = {"dtype", "in_dtype", "out_dtype"};

void widenAttributes(pd::OpView op) {
  for (llvm::StringRef name : kTypeAttributes) {
    const pd::AttrRow* row = op.spec() ? op.spec()->attribute(name) : nullptr;
    mlir::Attribute code = op.attr(name);
    if (!code && row && !row->required && op.getInt(name) == static_cast<int64_t>(DType::kFloat32))
      code = mlir::IntegerAttr::get(mlir::IntegerType::get(op.operation()->getContext(), 32),
                                    static_cast<int64_t>(DType::kFloat32));
    if (isFloat32(code)) op.setAttr(name, float64Code(code));
  }
}

// The mean of parameters over ranks, which local steps set or take from a copy. A mean of merged
// steps, which an update takes, stands in the reference too.
bool isMeanOfParameters(const pd::OpView& op) {
  mlir::Value x = op.input("X"), out = op.output("Out");
  return x && out && llvm::isa_and_nonnull<dist::AllReduceOp, dist::WaitOp>(x.getDefiningOp()) &&
         llvm::all_of(out.getUsers(), [](mlir::Operation* user) {
           return llvm::isa<pd::SetOp>(user) ||
                  (pd::OpView::isFrameworkOp(user) && pd::OpView(user).type() == "elementwise_sub");
         });
}

// A factor such as 1/3 is meant as the fraction, and no float32 is it: 3 ranks that take a third
// each would be 3e-8 away from the whole. Factors of an update stay what they are unless they
// average parameters: 0.1 may have to agree with the 0.1 that is an attribute of another op.
void widenFactor(pd::OpView op) {
  auto factor = llvm::dyn_cast_or_null<mlir::FloatAttr>(op.attr("scale"));
  if (op.type() != "scale" || !factor || !factor.getType().isF32()) return;
  const bool isOfUpdate = (op.role() & ~(pd::kBackward | pd::kLoss)) != 0;
  if (isOfUpdate && !isMeanOfParameters(op)) return;
  const verify::Rational fraction = verify::Rational::ofFloat(factor.getValueAsDouble());
  if (fraction.isLost() || fraction.numerator() != 1) return;
  op.setAttr("scale", mlir::FloatAttr::get(mlir::Float64Type::get(factor.getContext()),
                                           1 / static_cast<double>(fraction.denominator())));
}

struct WidenFloat64 : impl::WidenFloat64Base<WidenFloat64> {
  // For the trial run of verification, where rounding must not hide or show differences: types,
  // declarations and attributes that hold a code of a data type all become float64.
  void runOnOperation() override {
    mlir::AttrTypeReplacer replacer;
    replacer.addReplacement([](mlir::FloatType type) -> mlir::Type {
      return type.isF32() ? mlir::Float64Type::get(type.getContext()) : type;
    });
    getOperation().walk([&](mlir::Operation* op) {
      replacer.replaceElementsIn(op, /*replaceAttrs=*/false, /*replaceLocs=*/false,
                                 /*replaceTypes=*/true);
      if (pd::OpView::isFrameworkOp(op)) {
        widenAttributes(pd::OpView(op));
        widenFactor(pd::OpView(op));
      }
      if (auto var = llvm::dyn_cast<pd::VarOp>(op)) var.setType(replacer.replace(var.getType()));
      if (auto decl = llvm::dyn_cast<pd::DeclOp>(op); decl && isFloat32(decl.getDtypeAttr()))
        decl.setDtypeAttr(float64Code(decl.getDtypeAttr()));
    });
  }
};

}  // namespace
}  // namespace dtranspile::passes
