// Lookups in variables of servers: composites whose body is one request. By its ids, table and
// padding the request is the op of the reference on the whole table; what that gives says the op's
// own rule.
#include "compiler/analysis/relations/composite_body.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// The operand in a slot; null where there is none, or several.
mlir::Value inSlot(dist::CompositeOp composite, llvm::StringRef slot) {
  mlir::Value found;
  for (auto [name, value] : llvm::zip(composite.getInputSlots().getAsValueRange<mlir::StringAttr>(),
                                      composite.getInputs()))
    if (name == slot) {
      if (found) return {};
      found = value;
    }
  return found;
}

mlir::Value insideOf(dist::CompositeOp composite, mlir::Value operand) {
  for (auto [argument, input] :
       llvm::zip(composite.getBody().front().getArguments(), composite.getInputs()))
    if (input == operand) return argument;
  return {};
}

// No id is padded where the op says -1.
std::optional<int64_t> paddingOf(dist::CompositeOp composite) {
  auto padding = composite.getAttrs().getAs<mlir::IntegerAttr>("padding_idx");
  if (!padding || padding.getInt() == -1) return std::nullopt;
  return padding.getInt();
}

std::string textOf(std::optional<int64_t> padding) {
  return padding ? "padding " + std::to_string(*padding) : "no padding";
}

}  // namespace

bool isLookup(dist::CompositeOp composite) {
  return composite.getOp() == "lookup_table" || composite.getOp() == "lookup_table_v2";
}

// The one request of a composite that looks rows up on servers. It must ask for the composite's own
// ids in the variable that its slot W reads, with the padding index of its op, and give nothing but
// the rows it gets: then the composite is the reference's lookup in the whole table.
dist::LookupOp requestOf(dist::CompositeOp composite, std::string& why) {
  mlir::Block& body = composite.getBody().front();
  auto request = body.empty() ? dist::LookupOp() : llvm::dyn_cast<dist::LookupOp>(body.front());
  auto yield = llvm::cast<dist::YieldOp>(body.getTerminator());
  const bool alone = request && request->getNextNode() == yield && yield.getNumOperands() == 1 &&
                     yield.getOperand(0) == request.getOutput();
  if (!alone) return why = "is no single dist.lookup whose rows it gives", dist::LookupOp();
  const mlir::Value ids = inSlot(composite, "Ids"), table = inSlot(composite, "W");
  if (!ids || request.getIds() != insideOf(composite, ids))
    return why = "does not look its own Ids up", dist::LookupOp();
  auto remote = table ? table.getDefiningOp<dist::RemoteOp>() : dist::RemoteOp();
  if (!remote || remote.getVar() != request.getVar()) {
    llvm::raw_string_ostream(why) << "looks rows of " << request.getVar()
                                  << " up, which is not the variable in its slot W";
    return {};
  }
  std::optional<int64_t> mine;
  if (request.getPadding()) mine = static_cast<int64_t>(*request.getPadding());
  if (mine != paddingOf(composite))
    return why =
               "looks up with " + textOf(mine) + ", and its op has " + textOf(paddingOf(composite)),
           dist::LookupOp();
  return request;
}

}  // namespace dtranspile::verify
