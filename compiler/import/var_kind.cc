#include "compiler/import/var_kind.h"

#include "compiler/program_desc/framework.pb.h"
#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

// The description that belongs to a variable's kind; null where the kind has none.
const framework::TensorDesc* descriptionOf(const framework::VarType& type,
                                           const framework::LoDTensorDesc** withLod) {
  if (type.type() == 7 && type.has_lod_tensor()) *withLod = &type.lod_tensor();
  if (type.type() == 13 && type.has_tensor_array()) *withLod = &type.tensor_array();
  if (*withLod) return &(*withLod)->tensor();
  return type.type() == 8 && type.has_selected_rows() ? &type.selected_rows() : nullptr;
}

// Does the type hold anything that pd.decl has no field for?
bool hasMore(const framework::VarType& type, const framework::TensorDesc* description,
             const framework::LoDTensorDesc* withLod) {
  int present = type.has_selected_rows() + type.has_lod_tensor() + type.has_tensor_array() +
                type.has_reader() + type.has_tuple() + type.has_string() + type.has_strings() +
                type.has_vocab() + type.has_sparse_coo() + type.has_sparse_csr();
  return present != (description != nullptr) || !type.unknown_fields().empty() ||
         (description && !description->unknown_fields().empty()) ||
         (withLod && !withLod->unknown_fields().empty());
}

}  // namespace

// What declarations with the same VarType have in common, made once per distinct bytes. `more`:
// there are fields that attributes do not keep, so that the bytes are kept too.
VarKind makeVarKind(mlir::Builder& builder, llvm::StringRef bytes) {
  framework::VarType type;
  type.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
  const framework::LoDTensorDesc* withLod = nullptr;
  const framework::TensorDesc* description = descriptionOf(type, &withLod);
  VarKind made;
  made.kind = builder.getI32IntegerAttr(type.type());
  made.more = hasMore(type, description, withLod);
  std::optional<int> dtype;
  llvm::SmallVector<int64_t> dims;
  if (description) {
    dtype = description->data_type();
    dims.assign(description->dims().begin(), description->dims().end());
    made.dtype = builder.getI32IntegerAttr(*dtype);
    made.dims = builder.getDenseI64ArrayAttr(dims);
  }
  if (withLod && withLod->has_lod_level())
    made.lod = builder.getI32IntegerAttr(withLod->lod_level());
  made.type = pd::valueType(builder.getContext(), type.type(), dtype, dims,
                            withLod ? withLod->lod_level() : 0);
  return made;
}

}  // namespace dtranspile
