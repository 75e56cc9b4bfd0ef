#include "compiler/lower/block_op.h"

#include "dialects/dist/lookup.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::StringRef;
using llvm::success;

namespace {

mlir::DictionaryAttr regionAttributes(mlir::Operation* op) {
  auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
  return blocks && !blocks.empty() ? llvm::dyn_cast<mlir::DictionaryAttr>(blocks[0])
                                   : mlir::DictionaryAttr();
}

}  // namespace

// Arguments of the region are the captures, then the locals. The last value of a name is found once
// for the whole block: lowerings ask for many names of one block.
BlockOp::BlockOp(pd::OpView op) : op_(op) {
  mlir::DictionaryAttr attributes = regionAttributes(op.operation());
  for (const char* list : {"captures", "locals", "written", "saved"}) {
    auto array = attributes ? attributes.getAs<mlir::ArrayAttr>(list) : mlir::ArrayAttr();
    if (!array) continue;
    for (auto name : array.getAsRange<mlir::StringAttr>()) names_[list].push_back(name.str());
  }
  for (const std::string& name : names("written")) written_.insert(name);
  if (op.operation()->getNumRegions() != 1) return;
  unsigned index = 0;
  for (const char* list : {"captures", "locals"})
    for (const std::string& name : names(list))
      if (index < block().getNumArguments())
        arguments_.try_emplace(name, block().getArgument(index++));
  for (mlir::Operation& inner : block())
    for (mlir::Value result : inner.getResults()) inside_[dist::nameOf(result)] = result;
}

LogicalResult BlockOp::check() const {
  if (operation()->getNumRegions() != 1 || !regionAttributes(operation()))
    return unsupported("a number of blocks other than one");
  const std::vector<mlir::Value> captured = op_.inputs("$capture");
  if (captured.size() == names("captures").size() && !llvm::is_contained(captured, mlir::Value()))
    return success();
  return operation()->emitError() << op_.type() << ": the block captures "
                                  << names("captures").size() << " variables, slot '$capture' has "
                                  << llvm::count_if(captured, [](mlir::Value value) {
                                       return static_cast<bool>(value);
                                     });
}

LogicalResult BlockOp::unsupported(const llvm::Twine& what) const {
  return operation()->emitError() << op_.type() << ": " << what << " is not supported natively";
}

const std::vector<std::string>& BlockOp::names(StringRef list) const {
  static const std::vector<std::string> kNone;
  auto found = names_.find(list);
  return found == names_.end() ? kNone : found->second;
}

mlir::Value BlockOp::inside(StringRef name) const {
  mlir::Value last = inside_.lookup(name);
  return last ? last : argument(name);
}

mlir::Value BlockOp::gradientInside(mlir::Value forward, StringRef result) const {
  mlir::Value value = forward ? inside((pd::nameOf(forward) + "@GRAD").str()) : mlir::Value();
  return value ? value : inside(result);
}

}  // namespace dtranspile::lower
