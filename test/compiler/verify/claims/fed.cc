#include "test/compiler/verify/claims/fed.h"

#include <algorithm>
#include <cstring>

#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "test/compiler/verify/claims/elements.h"

namespace dtranspile::claims {
namespace {

constexpr int kItems = 3;  // of a list

TensorPtr shared(absl::StatusOr<Tensor> tensor) {
  return tensor.ok() ? std::make_shared<const Tensor>(std::move(*tensor)) : nullptr;
}

TensorPtr ofIntegers(const std::vector<int64_t>& values) {
  auto tensor = Tensor::Zeros(DType::kInt64, {static_cast<int64_t>(values.size())});
  if (tensor.ok() && !values.empty())
    std::memcpy(tensor->bytes.data(), values.data(), values.size() * sizeof(int64_t));
  return shared(std::move(tensor));
}

int64_t numbersPerRow(const Tensor& tensor) {
  return tensor.dims.empty() || tensor.dims[0] == 0 ? 0 : countOf(tensor) / tensor.dims[0];
}

bool isZeroRow(const Tensor& tensor, int64_t row) {
  const int64_t width = numbersPerRow(tensor);
  for (int64_t i = 0; i < width; ++i)
    if (number(tensor, row * width + i) != 0) return false;
  return true;
}

// Rows in another order than the tensor's, those of zeros not among them; the first one comes in
// two terms. There are as many as the tensor has and one more, whatever its values: zeros that are
// added to the first one stand for those that are left out.
Feeds rowsOf(const std::string& name, const Tensor& tensor) {
  const int64_t height = tensor.dims.empty() ? 0 : tensor.dims[0], width = numbersPerRow(tensor);
  std::vector<int64_t> rows;
  for (int64_t row = height; row-- > 0;)
    if (!isZeroRow(tensor, row)) rows.push_back(row);
  const int64_t listed = static_cast<int64_t>(rows.size()), first = listed ? rows[0] : 0;
  rows.resize(static_cast<size_t>(height + 1), first);
  std::vector<int64_t> dims = tensor.dims;
  dims[0] = height + 1;
  auto values = Tensor::Zeros(tensor.dtype, dims);
  if (!values.ok()) return {};
  for (int64_t at = 0; at < listed; ++at)
    for (int64_t i = 0; i < width; ++i)
      setNumber(*values, at * width + i, number(tensor, rows[static_cast<size_t>(at)] * width + i));
  // A whole number is a term that every type holds.
  for (int64_t i = 0; listed && i < width; ++i) {
    setNumber(*values, i, number(*values, i) - 2);
    setNumber(*values, height * width + i, 2);
  }
  return {{name, shared(std::move(values))},
          {name + ".rows", ofIntegers(rows)},
          {name + ".table", shared(Tensor::Zeros(tensor.dtype, tensor.dims))}};
}

class Maker {
 public:
  Maker(const Alone& alone, size_t input)
      : value_(alone.inputs[input]),
        input_(llvm::cast<pd::InputOp>(value_.getDefiningOp())),
        name_(input_.getName().str()),
        builder_(input_) {}

  mlir::Value run() {
    mlir::Value made = kindOf(value_) == pd::Kind::SelectedRows ? rows() : list();
    value_.replaceAllUsesWith(made);
    input_.erase();
    return made;
  }

 private:
  mlir::Type typeOf(DType dtype, llvm::ArrayRef<int64_t> dims) const {
    return pd::valueType(builder_.getContext(), static_cast<int>(pd::Kind::Tensor),
                         static_cast<int>(dtype), dims, 0);
  }
  mlir::Value feed(const std::string& name, mlir::Type type) {
    return pd::InputOp::create(builder_, input_.getLoc(), type, builder_.getStringAttr(name))
        .getValue();
  }
  mlir::Value op(llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs, llvm::StringRef slot,
                 const std::string& name, mlir::Type result,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return declarations_
        .create(builder_, input_.getLoc(), type, inputs, {{slot, {{name, result}}}}, attributes,
                pd::kForward)
        .output(slot);
  }
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }

  mlir::Value rows() {
    const pd::TensorInfo info = pd::declaredInfo(value_.getType());
    llvm::SmallVector<int64_t> dims(info.dims.begin(), info.dims.end());
    mlir::Value table = feed(name_ + ".table", typeOf(info.dtype, dims));
    dims[0] += 1;
    mlir::Value values = feed(name_, typeOf(info.dtype, dims));
    mlir::Value ids = feed(name_ + ".rows", typeOf(DType::kInt64, {dims[0]}));
    return op("lookup_table_v2_grad", {{"Ids", {ids}}, {"Out@GRAD", {values}}, {"W", {table}}},
              "W@GRAD", name_ + ".made", value_.getType(),
              {named("is_sparse", builder_.getBoolAttr(true)),
               named("padding_idx", builder_.getI64IntegerAttr(-1))});
  }
  mlir::Value list() {
    const pd::TensorInfo info = pd::declaredInfo(value_.getType());
    mlir::Value item = feed(name_, typeOf(info.dtype, info.dims));
    const std::string made = name_ + ".made";
    mlir::Value list = pd::UndefOp::create(builder_, input_.getLoc(), value_.getType(),
                                           builder_.getStringAttr(made))
                           .getValue();
    for (int i = 0; i < kItems; ++i) {
      const std::string at = name_ + ".at" + std::to_string(i);
      mlir::Value place = feed(at, typeOf(DType::kInt64, {1}));
      mlir::Value times = item;
      if (isFloating(info.dtype))
        times = op("scale", {{"X", {item}}}, "Out", at + ".item", item.getType(),
                   {named("scale", builder_.getF32FloatAttr(static_cast<float>(i + 1)))});
      list = op("write_to_array", {{"$Out", {list}}, {"X", {times}}, {"I", {place}}}, "Out", made,
                value_.getType());
    }
    return list;
  }

  mlir::Value value_;
  pd::InputOp input_;
  std::string name_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
};

}  // namespace

pd::Kind kindOf(mlir::Value value) { return pd::declaredInfo(value.getType()).kind; }

bool isMade(pd::Kind kind) {
  return kind == pd::Kind::Tensor || kind == pd::Kind::SelectedRows ||
         kind == pd::Kind::TensorArray;
}

void makeFeedable(Alone& alone) {
  for (size_t i = 0; i < alone.inputs.size(); ++i)
    if (kindOf(alone.inputs[i]) != pd::Kind::Tensor) alone.inputs[i] = Maker(alone, i).run();
}

Feeds feedsOf(const std::string& name, pd::Kind kind, const TensorPtr& tensor) {
  if (kind == pd::Kind::SelectedRows) return rowsOf(name, *tensor);
  Feeds feeds = {{name, tensor}};
  for (int i = 0; kind == pd::Kind::TensorArray && i < kItems; ++i)
    feeds.push_back({name + ".at" + std::to_string(i), ofIntegers({i})});
  return feeds;
}

TensorPtr sumOfRows(const Tensor& values, const std::vector<int64_t>& rows, int64_t height) {
  if (!hasNumbers(values.dtype) || values.dims.empty()) return nullptr;
  std::vector<int64_t> dims = values.dims;
  dims[0] = height;
  auto sum = Tensor::Zeros(values.dtype, dims);
  if (!sum.ok()) return nullptr;
  const int64_t width = numbersPerRow(values);
  for (size_t at = 0; at < rows.size(); ++at)
    for (int64_t i = 0; i < width; ++i) {
      const int64_t to = rows[at] * width + i;
      setNumber(*sum, to, number(*sum, to) + number(values, static_cast<int64_t>(at) * width + i));
    }
  return shared(std::move(sum));
}

TensorPtr sumOfItems(const Tensor& items) {
  if (!hasNumbers(items.dtype) || items.lod.empty() || items.lod[0].size() < 2) return nullptr;
  const auto& ends = items.lod[0];
  std::vector<int64_t> dims = items.dims;
  dims[0] = static_cast<int64_t>(ends[1] - ends[0]);
  auto sum = Tensor::Zeros(items.dtype, dims);
  if (!sum.ok() || items.lod.size() > 1) return nullptr;
  const int64_t count = countOf(*sum);
  for (size_t item = 0; item + 1 < ends.size(); ++item) {
    if (static_cast<int64_t>(ends[item + 1] - ends[item]) != dims[0]) return nullptr;
    for (int64_t i = 0; i < count; ++i)
      setNumber(*sum, i,
                number(*sum, i) + static_cast<double>(item + 1) *
                                      number(items, static_cast<int64_t>(item) * count + i));
  }
  return shared(std::move(sum));
}

}  // namespace dtranspile::claims
