#include "passes/support/branch.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"

namespace dtranspile::passes {
namespace {

// Blocks of a program are numbered, the program's own is 0; the new one is the last.
int32_t nextBlock(pd::ProgramOp program) {
  int32_t last = 0;
  program.walk([&](mlir::Operation* op) {
    auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
    if (!blocks) return;
    for (auto entry : blocks.getAsRange<mlir::DictionaryAttr>())
      if (auto index = entry.getAs<mlir::IntegerAttr>("idx"))
        last = std::max(last, static_cast<int32_t>(index.getInt()));
  });
  return last + 1;
}

mlir::DictionaryAttr blockOf(mlir::Operation* op) {
  return llvm::cast<mlir::DictionaryAttr>(op->getAttrOfType<mlir::ArrayAttr>("blocks")[0]);
}
int32_t numberOf(mlir::Operation* op) {
  return static_cast<int32_t>(blockOf(op).getAs<mlir::IntegerAttr>("idx").getInt());
}

}  // namespace

// The op as the importer would have read it from a file: block described in `blocks`, captured
// values both in $capture and in Input (the framework asks for the second), one region with an
// argument per capture. The step scope is declared and never read.
mlir::Operation* addBranch(pd::ProgramOp program, mlir::Value condition, llvm::StringRef scope,
                           pd::Declarations& declarations, llvm::ArrayRef<mlir::Value> captures) {
  mlir::MLIRContext* context = program.getContext();
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(program.getBodyBlock());
  const int32_t index = nextBlock(program);
  const auto slot = [&](llvm::StringRef name, llvm::ArrayRef<mlir::StringAttr> arguments) {
    return pd::SlotAttr::get(context, builder.getStringAttr(name), arguments);
  };
  const auto tape = pd::TapeType::get(context);
  const mlir::StringAttr value = builder.getStringAttr("");
  declarations.declare(program.getBodyBlock(), scope, tape);

  mlir::NamedAttrList attributes;
  attributes.set("is_scalar_condition", builder.getBoolAttr(true));
  attributes.set("op_role", builder.getI32IntegerAttr(pd::kOptimize));
  attributes.set("sub_block", pd::BlockAttr::get(context, index));
  mlir::NamedAttrList block;
  block.set("idx", builder.getI32IntegerAttr(index));
  block.set("parent", builder.getI32IntegerAttr(0));
  for (llvm::StringRef list : {"locals", "saved", "written"})
    block.set(list, builder.getArrayAttr({}));
  const llvm::SmallVector<mlir::StringAttr> each(captures.size(), value);
  llvm::SmallVector<mlir::Attribute> names;
  for (mlir::Value capture : captures)
    names.push_back(builder.getStringAttr(dist::nameOf(capture)));
  block.set("captures", builder.getArrayAttr(names));

  mlir::OperationState state(program.getLoc(), "pd.conditional_block");
  llvm::append_range(state.operands, captures);
  state.operands.push_back(condition);
  llvm::append_range(state.operands, captures);
  state.types.push_back(tape);
  state.addAttribute("attrs", attributes.getDictionary(context));
  state.addAttribute("ins", builder.getArrayAttr({slot("$capture", each), slot("Cond", {value}),
                                                  slot("Input", each)}));
  state.addAttribute("outs", builder.getArrayAttr(
                                 {slot("Out", {}), slot("Scope", {builder.getStringAttr(scope)})}));
  state.addAttribute("blocks", builder.getArrayAttr({block.getDictionary(context)}));
  auto* body = new mlir::Block();
  for (mlir::Value capture : captures) body->addArgument(capture.getType(), capture.getLoc());
  state.addRegion()->push_back(body);
  return builder.create(state);
}

mlir::Value constant(mlir::OpBuilder& builder, mlir::Location loc, mlir::RankedTensorType type,
                     double value, llvm::StringRef name, int role, pd::Declarations& declarations) {
  const auto dtype = static_cast<int32_t>(*pd::dtypeOf(type.getElementType()));
  return declarations
      .create(builder, loc, "fill_constant", {}, {{"Out", {{name.str(), type}}}},
              {builder.getNamedAttr("dtype", builder.getI32IntegerAttr(dtype)),
               builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(type.getShape())),
               builder.getNamedAttr("value", builder.getF32FloatAttr(static_cast<float>(value)))},
              role)
      .output("Out");
}

// A counter that is incremented in every step and never set back: (counter + 1) mod `steps` is 0 in
// every so-many-th step, of a job that starts as of one that goes on from a checkpoint, since the
// counter is saved like any variable. 64 bits do not run over.
mlir::Operation* addBranchEvery(int64_t steps, llvm::StringRef stem, pd::ProgramOp main,
                                pd::ProgramOp startup, pd::Declarations& declarations) {
  mlir::Block* block = main.getBodyBlock();
  const mlir::Location loc = main.getLoc();
  mlir::OpBuilder builder(main);
  const auto number = mlir::RankedTensorType::get({1}, builder.getI64Type());
  const auto flag = mlir::RankedTensorType::get({1}, builder.getI1Type());
  const auto fresh = [&](llvm::StringRef ending) {
    return declarations.freshName(block, stem.str() + ending.str());
  };
  const mlir::StringAttr counter = builder.getStringAttr(fresh("_step"));
  const auto symbol = mlir::FlatSymbolRefAttr::get(counter);
  pd::VarOp::create(builder, loc, counter, mlir::TypeAttr::get(number), mlir::UnitAttr());
  for (pd::ProgramOp program : {main, startup}) {
    declarations.declare(program.getBodyBlock(), counter.getValue(), number);
    declarations.find(program.getBodyBlock(), counter.getValue()).setPersistable(true);
  }
  builder.setInsertionPointToEnd(startup.getBodyBlock());
  pd::SetOp::create(
      builder, loc, symbol,
      constant(builder, loc, number, 0, counter.getValue(), pd::kForward, declarations));

  builder.setInsertionPointToEnd(block);
  const auto create = [&](llvm::StringRef type, std::vector<pd::InputSlot> inputs, std::string name,
                          mlir::Type result, mlir::NamedAttribute attribute) {
    return declarations
        .create(builder, loc, type, inputs, {{"Out", {{std::move(name), result}}}}, {attribute},
                pd::kOptimize)
        .output("Out");
  };
  const auto axis = builder.getNamedAttr("axis", builder.getI32IntegerAttr(-1));
  mlir::Value step = pd::GetOp::create(builder, loc, number, symbol);
  mlir::Value next = create("increment", {{"X", {step}}}, counter.str(), number,
                            builder.getNamedAttr("step", builder.getF32FloatAttr(1)));
  pd::SetOp::create(builder, loc, symbol, next);
  mlir::Value every = constant(builder, loc, number, static_cast<double>(steps), fresh("_k"),
                               pd::kOptimize, declarations);
  mlir::Value rest =
      create("elementwise_mod", {{"X", {next}}, {"Y", {every}}}, fresh("_rest"), number, axis);
  mlir::Value zero = constant(builder, loc, number, 0, fresh("_zero"), pd::kOptimize, declarations);
  mlir::Value due = create("equal", {{"X", {rest}}, {"Y", {zero}}}, fresh("_cond"), flag, axis);
  return addBranch(main, due, fresh("_scope"), declarations);
}

// A conditional of the update that gives no results and takes no values of the block around it
// except by captures: it communicates with the program by variables alone.
bool isBranchOfUpdate(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op) || op->getNumRegions() != 1 || op->getRegion(0).empty())
    return false;
  const pd::OpView view(op);
  if (view.type() != "conditional_block" || !(view.role() & pd::kOptimize)) return false;
  mlir::Region& region = op->getRegion(0);
  if (view.outputCount("Out") || region.front().getTerminator()->getNumOperands()) return false;
  return !region
              .walk([&](mlir::Operation* inner) {
                const bool inside = llvm::all_of(inner->getOperands(), [&](mlir::Value operand) {
                  return region.isAncestor(operand.getParentRegion());
                });
                return inside ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
              })
              .wasInterrupted();
}

// Outer blocks must have smaller numbers than those within: the numbers that are there are given
// out again in preorder, so that none is used that belongs to a block elsewhere.
void renumberWithin(mlir::Operation* branch) {
  llvm::SmallVector<mlir::Operation*> owners;  // outer ones first
  llvm::SmallVector<int32_t> numbers;
  branch->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (!op->hasAttr("blocks")) return;
    owners.push_back(op);
    numbers.push_back(numberOf(op));
  });
  llvm::sort(numbers);
  for (auto [op, number] : llvm::zip_equal(owners, numbers)) {
    mlir::Operation* around = op->getParentOp();
    const bool outermost = op == branch;
    mlir::Builder builder(op->getContext());
    mlir::NamedAttrList block(blockOf(op));
    block.set("idx", builder.getI32IntegerAttr(number));
    if (!outermost) block.set("parent", builder.getI32IntegerAttr(numberOf(around)));
    op->setAttr("blocks", builder.getArrayAttr({block.getDictionary(op->getContext())}));
    pd::OpView(op).setAttr("sub_block", pd::BlockAttr::get(op->getContext(), number));
  }
}

}  // namespace dtranspile::passes
