#include "passes/support/sums.h"

namespace dtranspile::passes {

mlir::Operation* resultsOf(dist::AllReduceOp sum) {
  return llvm::isa<dist::PendingType>(sum->getResult(0).getType()) ? *sum->getResult(0).user_begin()
                                                                   : sum.getOperation();
}

// A sum of its own for some members of a bucket, started where the bucket is and awaited where it
// is. The members stay in the old sum, without users, until the caller removes them.
dist::AllReduceOp takeApart(dist::AllReduceOp sum, llvm::ArrayRef<unsigned> members) {
  mlir::Operation* results = resultsOf(sum);
  const bool started = results != sum.getOperation();
  llvm::SmallVector<mlir::Value> values;
  for (unsigned member : members) values.push_back(sum.getInputs()[member]);
  const llvm::SmallVector<mlir::Type> types(mlir::ValueRange(values).getTypes());
  mlir::OpBuilder builder(sum);
  const mlir::TypeRange own = types;
  const mlir::Type pending = dist::PendingType::get(sum.getContext(), types);
  auto part =
      dist::AllReduceOp::create(builder, sum.getLoc(), started ? mlir::TypeRange(pending) : own,
                                sum.getReduceAttr(), values, sum.getCommAttr());
  mlir::Operation* done = part;
  if (started) {
    builder.setInsertionPoint(results);
    done = dist::WaitOp::create(builder, results->getLoc(), own, part.getResult(0));
  }
  for (auto [at, member] : llvm::enumerate(members))
    results->getResult(member).replaceAllUsesWith(done->getResult(at));
  return part;
}

}  // namespace dtranspile::passes
