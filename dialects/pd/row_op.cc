// One op model for all framework operators: a row of the operator table becomes a registered op of
// dialect pd, with one assembly format (row_assembly.cc), one verifier (row_verifier.cc) and its
// effects. op_view.h is how everybody else reads such ops.
#include "dialects/pd/row_op.h"

#include <mutex>

#include "dialects/pd/form_only.h"
#include "dialects/pd/op_table.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"

namespace dtranspile::pd {
namespace {

using mlir::Attribute;
using mlir::NamedAttrList;
using mlir::Operation;
using mlir::OperationName;

// Row ops answer MemoryEffectsOpInterface from their row. Ops with regions keep the conservative
// answer: what their blocks do.
struct RowEffects : mlir::MemoryEffectOpInterface::FallbackModel<RowEffects> {
  void getEffects(Operation* op,
                  llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance>& effects) const {
    const OpSpec* spec = OpView(op).spec();
    unsigned what = spec ? spec->effects : kHost;
    auto touch = [&](mlir::SideEffects::Resource* resource) {
      effects.emplace_back(mlir::MemoryEffects::Read::get(), resource);
      effects.emplace_back(mlir::MemoryEffects::Write::get(), resource);
    };
    if (what & kRandom) touch(RandomResource::get());
    if ((what & (kHost | kCommunicates)) || op->getNumRegions()) touch(HostResource::get());
  }
};

// What MLIR asks of a registered op, for ops that no C++ class stands for: neither folds nor
// patterns nor traits nor properties.
class RowOpModel : public OperationName::Impl {
 public:
  RowOpModel(llvm::StringRef name, mlir::Dialect* dialect, mlir::TypeID id,
             mlir::detail::InterfaceMap interfaces, const OpSpec* spec)
      : Impl(name, dialect, id, std::move(interfaces)), spec_(spec) {}

  llvm::LogicalResult foldHook(Operation*, llvm::ArrayRef<Attribute>,
                               llvm::SmallVectorImpl<mlir::OpFoldResult>&) final {
    return mlir::failure();
  }
  void getCanonicalizationPatterns(mlir::RewritePatternSet&, mlir::MLIRContext*) final {}
  bool hasTrait(mlir::TypeID) final { return false; }
  OperationName::ParseAssemblyFn getParseAssemblyFn() final { return &parseRowOp; }
  void populateDefaultAttrs(const OperationName&, NamedAttrList&) final {}
  void printAssembly(Operation* op, mlir::OpAsmPrinter& printer, llvm::StringRef) final {
    printer << op->getName();
    printRowOp(op, printer);
  }
  llvm::LogicalResult verifyInvariants(Operation* op) final {
    if (mlir::failed(verifyStructure(op))) return mlir::failure();
    if (!spec_) return mlir::success();
    return op->getDialect()->getRegisteredInterface<FormOnly>() ? verifyAttributeTypes(op)
                                                                : verifyRow(op, *spec_);
  }
  llvm::LogicalResult verifyRegionInvariants(Operation*) final { return mlir::success(); }

  // No properties: all attributes are in the op's dictionary.
  std::optional<Attribute> getInherentAttr(Operation*, llvm::StringRef) final {
    return std::nullopt;
  }
  void setInherentAttr(Operation*, mlir::StringAttr, Attribute) final {}
  void populateInherentAttrs(Operation*, NamedAttrList&) final {}
  llvm::LogicalResult verifyInherentAttrs(OperationName, NamedAttrList&,
                                          llvm::function_ref<mlir::InFlightDiagnostic()>) final {
    return mlir::success();
  }
  int getOpPropertyByteSize() final { return 0; }
  void initProperties(OperationName, mlir::OpaqueProperties, mlir::OpaqueProperties) final {}
  void deleteProperties(mlir::OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, mlir::OpaqueProperties) final {}
  llvm::LogicalResult setPropertiesFromAttr(OperationName, mlir::OpaqueProperties, Attribute,
                                            llvm::function_ref<mlir::InFlightDiagnostic()>) final {
    return mlir::success();
  }
  Attribute getPropertiesAsAttr(Operation*) final { return {}; }
  void copyProperties(mlir::OpaqueProperties, mlir::OpaqueProperties) final {}
  bool compareProperties(mlir::OpaqueProperties, mlir::OpaqueProperties) final { return true; }
  llvm::hash_code hashProperties(mlir::OpaqueProperties) final { return {}; }

 private:
  const OpSpec* spec_;  // null: pd.opaque, pd.orphan_block
};

void registerRowOp(PdDialect* dialect, llvm::StringRef type, const OpSpec* spec) {
  // A type id per row, the same in every context; contexts may be made from several threads.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  static mlir::SelfOwningTypeID* ids = new mlir::SelfOwningTypeID[1024];
  static llvm::StringMap<mlir::TypeID>* known = new llvm::StringMap<mlir::TypeID>();
  auto found = known->find(type);
  if (found == known->end()) {
    assert(known->size() < 1024 && "more rows than type ids");
    found = known->insert({type, ids[known->size()]}).first;
  }
  mlir::detail::InterfaceMap interfaces;
  interfaces.insertModels<RowEffects>();
  std::string name = ("pd." + type).str();
  mlir::RegisteredOperationName::insert(
      std::make_unique<RowOpModel>(name, dialect, found->second, std::move(interfaces), spec), {});
}

}  // namespace

void PdDialect::registerRowOps() {
  registerRowOp(this, "opaque", nullptr);
  registerRowOp(this, "orphan_block", nullptr);
  for (const OpSpec& spec : builtinOps()) registerRowOp(this, spec.type, &spec);
}

}  // namespace dtranspile::pd
