// Updates that ask for norms of the whole, of parameters in parts: sums of squares travel, two
// numbers for each parameter.
#include "compiler/analysis/relations/body_builder.h"

namespace dtranspile::verify {
namespace {

class Update {
 public:
  explicit Update(BodyBuilder& body)
      : b(body), legacy_(body.parts().version > 0 && body.parts().version < 2000000) {}

  // You et al. 2020, as the framework has it.
  void lamb() {
    mlir::Value w = b.in("Param"), grad = b.in("Grad");
    const double beta1 = b.number("beta1", 0.9F), beta2 = b.number("beta2", 0.999F);
    const double decay = b.number("weight_decay", 0);
    mlir::Value m = moving(b.in("Moment1"), grad, beta1);
    mlir::Value v = moving(b.in("Moment2"), b.unary("square", grad), beta2);
    b.give("Moment1Out", m);
    b.give("Moment2Out", v);
    mlir::Value mh = corrected(m, "Beta1Pow"), vh = corrected(v, "Beta2Pow");
    mlir::Value u = b.binary("elementwise_div", mh,
                             b.scaled(b.unary("sqrt", vh), 1, b.number("epsilon", 1e-6F)));
    u = b.binary("elementwise_add", u, b.scaled(w, decay));
    mlir::Value rate = b.in("LearningRate");
    if (legacy_ || b.flag("always_adapt", false) || decay > 0) {
      auto [p, q] = norms(w, u);
      mlir::Value both = bothPositive(p, q);
      rate = b.binary("elementwise_mul", rate, chosen(both, b.binary("elementwise_div", p, q)));
    }
    b.give("ParamOut", b.binary("elementwise_sub", w, b.binary("elementwise_mul", u, rate)));
    b.give("Beta1PowOut", b.scaled(b.in("Beta1Pow"), beta1));
    b.give("Beta2PowOut", b.scaled(b.in("Beta2Pow"), beta2));
  }

  // You, Gitman, Ginsburg 2017.
  void lars() {
    mlir::Value w = b.in("Param"), g = b.scaled(b.in("Grad"), b.number("rescale_grad", 1));
    const double decay = b.number("lars_weight_decay", 0.0005F);
    mlir::Value rate = b.in("LearningRate");
    if (legacy_ || decay > 0) {
      auto [p, q] = norms(w, g);
      mlir::Value below =
          b.binary("elementwise_add", q, b.scaled(p, decay, b.number("epsilon", 0)));
      mlir::Value ratio =
          b.binary("elementwise_div", b.scaled(p, b.number("lars_coeff", 0.001F)), below);
      rate = b.binary("elementwise_mul", rate, chosen(bothPositive(p, q), ratio));
    }
    mlir::Value step =
        b.binary("elementwise_mul", b.binary("elementwise_add", g, b.scaled(w, decay)), rate);
    mlir::Value v =
        b.binary("elementwise_add", b.scaled(b.in("Velocity"), b.number("mu", 0)), step);
    b.give("VelocityOut", v);
    b.give("ParamOut", b.binary("elementwise_sub", w, v));
  }

 private:
  mlir::Value moving(mlir::Value before, mlir::Value now, double beta) {
    return b.binary("elementwise_add", b.scaled(before, beta), b.scaled(now, 1 - beta));
  }
  mlir::Value corrected(mlir::Value moment, llvm::StringRef power) {
    if (legacy_) return moment;
    return b.binary("elementwise_div", moment, b.scaled(b.in(power), -1, 1));
  }
  std::pair<mlir::Value, mlir::Value> norms(mlir::Value w, mlir::Value u) {
    auto element = llvm::cast<mlir::RankedTensorType>(w.getType()).getElementType();
    const mlir::Type one = mlir::RankedTensorType::get({1}, element);
    mlir::Value p = b.op("squared_l2_norm", {{"X", {w}}}, one),
                q = b.op("squared_l2_norm", {{"X", {u}}}, one);
    mlir::ResultRange sums = b.overRanks(dist::Reduce::Sum, mlir::ValueRange{p, q});
    return {b.unary("sqrt", sums[0]), b.unary("sqrt", sums[1])};
  }
  // Of numbers that are no less than 0.
  mlir::Value bothPositive(mlir::Value p, mlir::Value q) {
    mlir::Value zero = b.filled(p.getType(), 0);
    mlir::Value yes = b.compare("greater_than", p, zero), also = b.compare("greater_than", q, zero);
    return b.op("logical_and", {{"X", {yes}}, {"Y", {also}}}, yes.getType());
  }
  // The ratio where both norms are there, else 1.
  mlir::Value chosen(mlir::Value both, mlir::Value ratio) {
    return b.op("where",
                {{"Condition", {both}}, {"X", {ratio}}, {"Y", {b.filled(ratio.getType(), 1)}}},
                ratio.getType());
  }

  BodyBuilder& b;
  bool legacy_;
};

}  // namespace

void fillUpdate(BodyBuilder& body, const PartForm& form) {
  Update update(body);
  if (form.type == "lamb") update.lamb();
  else update.lars();
}

}  // namespace dtranspile::verify
