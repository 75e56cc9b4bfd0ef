// Batch norm over the whole batch: composites whose bodies exchange statistics. After the passes
// that reduce gradients, before declare-relations.
#include "dialects/pd/types.h"
#include "passes/support/job.h"
#include "passes/sync-batch-norm/pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_SYNCBATCHNORM
#include "passes/sync-batch-norm/pass.h.inc"

namespace {

// Builds the body of one composite from the framework op that it replaces. Inside, values are the
// composite's arguments.
class Body {
 public:
  Body(pd::OpView op, int64_t replicas, mlir::FlatSymbolRefAttr comm,
       pd::Declarations& declarations)
      : op_(op),
        builder_(op.operation()->getContext()),
        replicas_(replicas),
        comm_(comm),
        declarations_(declarations) {
    mlir::RankedTensorType x = pd::tensorOf(op.input("X").getType());
    bool channelsLast = op.getString("data_layout") == "NHWC";
    int64_t channel = channelsLast ? x.getRank() - 1 : 1;
    axis_ = static_cast<int>(channel);
    for (int64_t dim = 0; dim < x.getRank(); ++dim)
      if (dim != channel) dims_.push_back(static_cast<int32_t>(dim));
    channelType_ = op.input("Scale").getType();
    role_ = op.role();
  }

  // The composite in the place of the op, which is erased.
  // `result` gives the value of each output slot, in full precision; none for a slot that nobody
  // computes, which becomes undefined. Names and attributes of the framework op are kept, since
  // exporting puts the op back.
  void replace(llvm::function_ref<mlir::Value(Body&, llvm::StringRef slot)> result) {
    mlir::Operation* old = op_.operation();
    llvm::SmallVector<mlir::Attribute> inputSlots, outputSlots, outputNames;
    llvm::SmallVector<mlir::Value> operands;
    for (const std::string& slot : op_.inputSlots())
      if (mlir::Value value = op_.input(slot)) {
        inputSlots.push_back(builder_.getStringAttr(slot));
        operands.push_back(value);
      }
    for (mlir::OpResult value : old->getResults()) {
      outputSlots.push_back(builder_.getStringAttr(op_.slotOf(value).first));
      outputNames.push_back(builder_.getStringAttr(pd::nameOf(value)));
    }
    builder_.setInsertionPoint(old);
    std::string type = "sync_" + op_.type().str();
    auto composite = dist::CompositeOp::create(
        builder_, old->getLoc(), old->getResultTypes(), builder_.getStringAttr(type),
        builder_.getArrayAttr(inputSlots), operands, builder_.getArrayAttr(outputSlots),
        builder_.getArrayAttr(outputNames), old->getAttrOfType<mlir::DictionaryAttr>("attrs"));
    if (mlir::Attribute source = old->getAttr(dist::kSrcAttr))
      composite->setAttr(dist::kSrcAttr, source);
    mlir::Block* block = builder_.createBlock(&composite.getBody());
    for (auto [slot, value] : llvm::zip(inputSlots, operands))
      inputs_[llvm::cast<mlir::StringAttr>(slot).getValue()] =
          block->addArgument(value.getType(), value.getLoc());
    stem_ = llvm::cast<mlir::StringAttr>(outputNames.front()).getValue().str() + ".sync_bn";
    for (mlir::Attribute slot : inputSlots) {
      mlir::Value& value = inputs_[llvm::cast<mlir::StringAttr>(slot).getValue()];
      value = inFull(value);
    }
    llvm::SmallVector<mlir::Value> results;
    for (auto [slot, value] : llvm::zip(outputSlots, old->getResults())) {
      mlir::Value made = result(*this, llvm::cast<mlir::StringAttr>(slot).getValue());
      if (!made) made = pd::UndefOp::create(builder_, loc(), value.getType(), pd::nameOf(value));
      results.push_back(as(made, value.getType()));
    }
    dist::YieldOp::create(builder_, loc(), results);
    old->replaceAllUsesWith(composite.getResults());
    old->erase();
  }

  // Half precision is widened: statistics are those of float32.
  mlir::Value in(llvm::StringRef slot) { return inputs_.lookup(slot); }
  double attribute(llvm::StringRef name) {
    return attributes_.try_emplace(name, op_.getFloat(name)).first->second;
  }

  // Element-wise; y is per channel where x is not.
  mlir::Value with(llvm::StringRef type, mlir::Value x, mlir::Value y) {
    return elementwise(builder_, loc(), type, x, y, fresh(), role_, declarations_,
                       x.getType() == y.getType() ? -1 : axis_);
  }
  mlir::Value times(mlir::Value x, double factor, double bias = 0) {
    mlir::Value value = scale(builder_, loc(), x, factor, fresh(), role_, declarations_);
    if (bias != 0)
      pd::OpView(value.getDefiningOp())
          .setAttr("bias", builder_.getF32FloatAttr(static_cast<float>(bias)));
    return value;
  }
  mlir::Value unary(llvm::StringRef type, mlir::Value x) {
    return declarations_
        .create(builder_, loc(), type, {{"X", {x}}}, {{"Out", {{fresh(), x.getType()}}}}, {}, role_)
        .output("Out");
  }
  // Over all dims but the channel's.
  mlir::Value reduced(llvm::StringRef type, mlir::Value x) {
    return declarations_
        .create(builder_, loc(), type, {{"X", {x}}}, {{"Out", {{fresh(), channelType_}}}},
                {builder_.getNamedAttr("dim", builder_.getDenseI32ArrayAttr(dims_)),
                 builder_.getNamedAttr("keep_dim", builder_.getBoolAttr(false)),
                 builder_.getNamedAttr("reduce_all", builder_.getBoolAttr(false))},
                role_)
        .output("Out");
  }
  // Means over the whole batch of two values of which each rank has the mean over its part.
  // One all_reduce for both. Parts of a batch are equally large (cut-batch), so the mean of means
  // is the mean.
  std::pair<mlir::Value, mlir::Value> overBatch(mlir::Value a, mlir::Value b) {
    auto sum = dist::ReduceAttr::get(builder_.getContext(), dist::Reduce::Sum);
    auto op = dist::AllReduceOp::create(builder_, loc(), mlir::TypeRange{a.getType(), b.getType()},
                                        sum, mlir::ValueRange{a, b}, comm_);
    return {times(op.getResult(0), 1.0 / static_cast<double>(replicas_)),
            times(op.getResult(1), 1.0 / static_cast<double>(replicas_))};
  }

 private:
  mlir::Value inFull(mlir::Value value) {
    mlir::RankedTensorType type = pd::tensorOf(value.getType());
    return type ? as(value, type.clone(pd::tensorOf(channelType_).getElementType())) : value;
  }
  mlir::Value as(mlir::Value value, mlir::Type type) {
    mlir::RankedTensorType from = pd::tensorOf(value.getType()), to = pd::tensorOf(type);
    if (!from || !to || from.getElementType() == to.getElementType()) return value;
    const auto code = [&](mlir::RankedTensorType tensor) {
      return builder_.getI32IntegerAttr(
          static_cast<int32_t>(*pd::dtypeOf(tensor.getElementType())));
    };
    return declarations_
        .create(builder_, loc(), "cast", {{"X", {value}}}, {{"Out", {{fresh(), type}}}},
                {builder_.getNamedAttr("in_dtype", code(from)),
                 builder_.getNamedAttr("out_dtype", code(to))},
                role_)
        .output("Out");
  }
  mlir::Location loc() { return op_.operation()->getLoc(); }
  std::string fresh() { return stem_ + "." + std::to_string(count_++); }

  pd::OpView op_;
  mlir::OpBuilder builder_;
  int64_t replicas_;
  mlir::FlatSymbolRefAttr comm_;
  pd::Declarations& declarations_;
  llvm::StringMap<mlir::Value> inputs_;
  llvm::StringMap<double> attributes_;
  llvm::SmallVector<int32_t> dims_;
  mlir::Type channelType_;
  std::string stem_;
  int axis_ = 1, role_ = 0, count_ = 0;
};

// With E over the batch and its places, per channel: m = E[x], v = E[x²] − m², r = 1/√(v + ε), Y =
// (x − m) r · Scale + Bias. The second moment is exchanged rather than the variance, so that one
// exchange does; running statistics are momentum · old + (1 − momentum) · new.
void rewriteForward(pd::OpView op, int64_t replicas, mlir::FlatSymbolRefAttr comm,
                    pd::Declarations& declarations) {
  mlir::Value mean, variance, inverse;
  Body(op, replicas, comm, declarations).replace([&](Body& b, llvm::StringRef slot) -> mlir::Value {
    if (!mean) {
      mlir::Value x = b.in("X");
      auto [m, q] =
          b.overBatch(b.reduced("reduce_mean", x), b.reduced("reduce_mean", b.unary("square", x)));
      mean = m;
      variance = b.with("elementwise_sub", q, b.unary("square", m));
      inverse = b.unary("rsqrt", b.times(variance, 1, b.attribute("epsilon")));
    }
    double momentum = b.attribute("momentum");
    auto running = [&](mlir::Value old, mlir::Value now) {
      return b.with("elementwise_add", b.times(old, momentum), b.times(now, 1 - momentum));
    };
    if (slot == "Y") {
      mlir::Value normal =
          b.with("elementwise_mul", b.with("elementwise_sub", b.in("X"), mean), inverse);
      return b.with("elementwise_add", b.with("elementwise_mul", normal, b.in("Scale")),
                    b.in("Bias"));
    }
    if (slot == "MeanOut") return running(b.in("Mean"), mean);
    if (slot == "VarianceOut") return running(b.in("Variance"), variance);
    if (slot == "SavedMean") return mean;
    if (slot == "SavedVariance")
      return inverse;  // the framework keeps 1/sqrt(variance + epsilon) under this name
    return {};         // ReserveSpace: scratch of another library
  });
}

// With n = (x − m) r, as the forward pass has saved m and r: dX = Scale · r · (dY − E[dY] − n ·
// E[dY · n]). The two means are of the whole batch; gradients of Scale and Bias are sums over the
// rank's part, which are added up with all other gradients.
void rewriteBackward(pd::OpView op, int64_t replicas, mlir::FlatSymbolRefAttr comm,
                     pd::Declarations& declarations) {
  mlir::Value dy, normal, perScale;
  Body(op, replicas, comm, declarations).replace([&](Body& b, llvm::StringRef slot) -> mlir::Value {
    if (!dy) {
      dy = b.in("Y@GRAD");
      normal = b.with("elementwise_mul", b.with("elementwise_sub", b.in("X"), b.in("SavedMean")),
                      b.in("SavedVariance"));
      perScale = b.with("elementwise_mul", dy, normal);
    }
    if (slot == "X@GRAD") {
      auto [meanDy, meanScaled] =
          b.overBatch(b.reduced("reduce_mean", dy), b.reduced("reduce_mean", perScale));
      mlir::Value inner = b.with("elementwise_sub", b.with("elementwise_sub", dy, meanDy),
                                 b.with("elementwise_mul", normal, meanScaled));
      return b.with("elementwise_mul", inner,
                    b.with("elementwise_mul", b.in("Scale"), b.in("SavedVariance")));
    }
    if (slot == "Scale@GRAD") return b.reduced("reduce_sum", perScale);
    if (slot == "Bias@GRAD") return b.reduced("reduce_sum", dy);
    return {};
  });
}

class SyncBatchNorm : public impl::SyncBatchNormBase<SyncBatchNorm> {
 public:
  using SyncBatchNormBase::SyncBatchNormBase;

  // Batch norms on stored statistics do not couple samples and are left alone. All are checked
  // before the first one is rewritten.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    auto comms = commsCarrying(getOperation(), kStatistics, job->axes);
    if (mlir::failed(comms)) return signalPassFailure();
    std::vector<pd::OpView> forward, backward;
    mlir::LogicalResult ok = mlir::success();
    job->main.walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      pd::OpView view(op);
      if (view.type() != "batch_norm" && view.type() != "batch_norm_grad") return;
      if (view.getBool("is_test") || view.getBool("use_global_stats")) return;
      if (mlir::failed(check(view, job->main))) ok = mlir::failure();
      (view.type() == "batch_norm" ? forward : backward).push_back(view);
    });
    if (mlir::failed(ok)) return signalPassFailure();
    pd::Declarations declarations;
    for (pd::OpView op : forward)
      rewriteForward(op, job->ranks, symbolOf(comms->front()), declarations);
    for (pd::OpView op : backward)
      rewriteBackward(op, job->ranks, symbolOf(comms->front()), declarations);
  }

 private:
  static mlir::LogicalResult check(pd::OpView op, pd::ProgramOp main) {
    mlir::Operation* operation = op.operation();
    if (operation->getBlock() != main.getBodyBlock())
      return operation->emitError(
          "sync-batch-norm: batch norm inside a sub-block is not supported");
    mlir::RankedTensorType x =
        op.input("X") ? pd::tensorOf(op.input("X").getType()) : mlir::RankedTensorType();
    if (!x || x.getRank() < 2)
      return operation->emitError("sync-batch-norm: X is no tensor of at least two dims");
    if (op.input("MomentumTensor"))
      return operation->emitError("sync-batch-norm: a momentum given as a tensor is not supported");
    mlir::Value scale = op.input("Scale");
    const auto isFloat = [](mlir::Type type) { return llvm::isa<mlir::FloatType>(type); };
    if (!scale || !isFloat(pd::tensorOf(scale.getType()).getElementType()) ||
        pd::tensorOf(scale.getType()).getElementTypeBitWidth() < x.getElementTypeBitWidth())
      return operation->emitError(
          "sync-batch-norm: statistics of less precision than X are not supported");
    if (op.type() == "batch_norm_grad" && (!op.input("SavedMean") || !op.input("SavedVariance")))
      return operation->emitError(
          "sync-batch-norm: the gradient does not read the saved statistics");
    return mlir::success();
  }
};

}  // namespace
}  // namespace dtranspile::passes
