#include "compiler/analysis/position.h"

#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/position.h"
#include "mlir/IR/SymbolTable.h"

namespace dtranspile::verify {
namespace {

// "trainer/main", or the program alone.
std::string programOf(mlir::Operation* op) {
  auto program = llvm::dyn_cast<pd::ProgramOp>(op);
  if (!program) program = op->getParentOfType<pd::ProgramOp>();
  auto role = op->getParentOfType<dist::RoleOp>();
  std::string text = role ? role.getSymName().str() : "";
  if (program) text += (text.empty() ? "" : "/") + program.getSymName().str();
  return text;
}

// The name of what the op computes or, for ops without results, takes.
std::string subject(mlir::Operation* op) {
  llvm::StringRef name;
  if (op->getNumResults()) name = dist::nameOf(op->getResult(0));
  if (name.empty() && op->getNumOperands()) name = dist::nameOf(op->getOperand(0));
  return name.empty() ? "" : " of `" + name.str() + "`";
}

std::string symbolOf(mlir::Operation* op) {
  auto symbol = op->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
  return symbol ? symbol.str() : "";
}

// Inserted ops have no source position of their own, or that of the op which they were inserted
// for.
bool isInserted(mlir::Operation* op) {
  return !llvm::isa<mlir::NameLoc>(op->getLoc()) ||
         (op->getParentOfType<dist::RoleOp>() && pd::OpView::isFrameworkOp(op) &&
          !op->hasAttr(dist::kSrcAttr)) ||
         llvm::isa<dist::DistDialect>(op->getDialect());
}

}  // namespace

std::string rankText(llvm::StringRef role, dist::SelAttr where) {
  std::string text;
  if (where)
    for (dist::AxisSetAttr set : where.getSets()) {
      text += (text.empty() ? "[" : ",") + set.getAxis().getValue().str() + "=";
      llvm::ArrayRef<int64_t> bounds = set.getBounds();
      for (size_t i = 0; i < bounds.size(); i += 2) {
        text += (i ? "+" : "") + std::to_string(bounds[i]);
        if (bounds[i + 1] - 1 > bounds[i]) text += ".." + std::to_string(bounds[i + 1] - 1);
      }
    }
  return role.str() + text + (text.empty() ? "" : "]");
}

std::string typeOf(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) ? pd::OpView(op).type().str()
                                       : op->getName().getStringRef().str();
}

std::string nameText(mlir::Value value) {
  llvm::StringRef name = dist::nameOf(value);
  if (!name.empty()) return "`" + name.str() + "`";
  mlir::Operation* op = value.getDefiningOp();
  return op ? "a result of " + typeOf(op) : "an argument";
}

// Ops of the reference are described by themselves; an inserted op has no place in the source, and
// is described by the last op of the reference before it.
std::string positionOf(mlir::Operation* op) {
  std::string program = programOf(op);
  std::string text = program.empty() ? "" : program + ": ";
  if (auto var = llvm::dyn_cast<pd::VarOp>(op))
    return text + "variable `" + var.getSymName().str() + "`";
  if (llvm::isa<pd::ProgramOp>(op)) return program;
  // What holds programs stands in none, and has no neighbours to be described by.
  if (program.empty())
    return op->getParentOp() ? typeOf(op) + (symbolOf(op).empty() ? "" : " @" + symbolOf(op))
                             : "the job";
  if (!isInserted(op)) return text + pd::describe(op);
  text += "inserted " + typeOf(op) + subject(op);
  if (auto on = llvm::dyn_cast<dist::OnOp>(op)) {
    llvm::raw_string_ostream stream(text);
    stream << " <";
    on.getWhere().printInline(stream);
    stream << ">";
  }
  for (mlir::Operation* before = op->getPrevNode(); before; before = before->getPrevNode())
    if (!isInserted(before) && pd::OpView::isFrameworkOp(before))
      return text + ", after " + pd::describe(before);
  return text;
}

Message messageAt(mlir::Operation* op, Message::Level level, std::string rule, std::string text,
                  std::string remedy) {
  Message message;
  message.level = level;
  message.rule = std::move(rule);
  message.op = typeOf(op);
  message.position = positionOf(op);
  message.text = std::move(text);
  message.remedy = std::move(remedy);
  // An inserted op may have a fused location, which names the op that it was inserted for.
  if (llvm::isa<mlir::NameLoc>(op->getLoc())) {
    pd::Position position = pd::positionOf(op);
    message.file = position.file;
    if (position.block >= 0) {
      message.block = position.block;
      message.index = position.index;
    }
  }
  auto role = llvm::dyn_cast<dist::RoleOp>(op);
  if (!role) role = op->getParentOfType<dist::RoleOp>();
  if (role) message.rankClass = rankText(role.getSymName(), dist::guardOf(op).where);
  return message;
}

std::string siteName(mlir::Operation* op) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
  return "#" + std::to_string(number ? number.getInt() : -1) + " " + typeOf(op);
}

}  // namespace dtranspile::verify
