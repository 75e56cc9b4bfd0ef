// Where an op is, in words and for tools; used by all rungs for messages.
#pragma once

#include "compiler/analysis/report.h"
#include "mlir/IR/Operation.h"

namespace dtranspile::dist {
class SelAttr;
}

namespace dtranspile::verify {

// "trainer", "trainer[pp=0]", "trainer[dp=0..2,pp=1]": ranks of a role. `where` may be null.
std::string rankText(llvm::StringRef role, dist::SelAttr where);

// "trainer/main: sgd of `w` (block 0, op 11; train.py:88)"; an op that a pass inserted is described
// by its neighbour: "trainer/main: inserted dist.all_reduce of `w@GRAD`, after mul_grad of `w@GRAD`
// (block 0, op 10)".
std::string positionOf(mlir::Operation* op);

// Type of the op and, for framework ops, without dialect: "sgd", "dist.all_reduce".
std::string typeOf(mlir::Operation* op);

// "`fc_0.w_0@GRAD`", or "a value of <type>" for values without a name.
std::string nameText(mlir::Value value);

// A message at an op: op, position, file, block, index and rank class are filled in.
Message messageAt(mlir::Operation* op, Message::Level level, std::string rule, std::string text,
                  std::string remedy);

// How a site is written in contracts: "#7 batch_norm" (number in the reference, type). Locations do
// not enter: the digest of a job leaves them out, and so must its verdict.
std::string siteName(mlir::Operation* op);

}  // namespace dtranspile::verify
