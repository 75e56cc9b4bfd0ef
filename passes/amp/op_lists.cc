#include "passes/amp/op_lists.h"

#include <cstdint>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::passes {
namespace {

constexpr int64_t kEver = INT64_MAX;
constexpr DType kFloat16 = DType::kFloat16, kBFloat16 = DType::kBFloat16;

struct ListRow {
  AmpList list;
  DType half;
  int64_t from, until;
  const char* types;
};
struct KeptRow {
  const char *type, *slots;
};

constexpr ListRow kLists[] = {
#define AMP_OPS(list, half, from, until, types) {AmpList::list, half, from, until, types},
#define AMP_KEPT(type, slots)
#include "passes/amp/op_lists.def"
#undef AMP_OPS
#undef AMP_KEPT
};
constexpr KeptRow kKept[] = {
#define AMP_OPS(list, half, from, until, types)
#define AMP_KEPT(type, slots) {type, slots},
#include "passes/amp/op_lists.def"
#undef AMP_OPS
#undef AMP_KEPT
};

// What the framework leaves in float32 whatever the lists say.
constexpr llvm::StringLiteral kUnsupported[] = {"lookup_table", "lookup_table_v2", "scatter"};

llvm::SmallVector<llvm::StringRef> wordsOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  return words;
}

llvm::StringMap<llvm::StringSet<>> keptSlots() {
  llvm::StringMap<llvm::StringSet<>> kept;
  for (const KeptRow& row : kKept)
    for (llvm::StringRef slot : wordsOf(row.slots)) kept[row.type].insert(slot);
  return kept;
}

}  // namespace

// The framework's lists as they stood in the given version, then the user's. A custom list wins
// over the framework's: an op named white there is taken off the list of ops without a
// half-precision kernel, and one named black is put on it.
OpLists::OpLists(int64_t version, DType half, llvm::ArrayRef<std::string> white,
                 llvm::ArrayRef<std::string> black) {
  for (const ListRow& row : kLists)
    if (row.half == half && version >= row.from && version < row.until)
      for (llvm::StringRef type : wordsOf(row.types)) lists_[type] = row.list;
  for (llvm::StringRef type : kUnsupported) single_.insert(type);
  for (const std::string& type : white) lists_[type] = AmpList::White, single_.erase(type);
  for (const std::string& type : black) lists_[type] = AmpList::Black, single_.insert(type);
}

bool OpLists::canBeHalf(llvm::StringRef type) const {
  return lists_.contains(type) && !single_.contains(type);
}

AmpList OpLists::of(llvm::StringRef type) const {
  auto found = lists_.find(type);
  return found == lists_.end() ? AmpList::Black : found->second;
}

bool staysFloat32(llvm::StringRef type, llvm::StringRef slot) {
  static const llvm::StringMap<llvm::StringSet<>> kept = keptSlots();
  auto found = kept.find(type);
  return found != kept.end() && found->second.contains(slot);
}

}  // namespace dtranspile::passes
