#include "compiler/import/blocks.h"

#include "dialects/pd/op_table.h"
#include "dialects/pd/pd.h"

namespace dtranspile {
namespace {

using framework::BlockDesc;
using framework::OpDesc;

constexpr int kBlockAttr = 8, kBlocksAttr = 10, kVarAttr = 13, kVarsAttr = 14;

std::vector<int> blocksOf(const OpDesc& op) {
  std::vector<int> blocks;
  for (const OpDesc::Attr& attribute : op.attrs()) {
    if (attribute.type() == kBlockAttr) blocks.push_back(attribute.block_idx());
    if (attribute.type() == kBlocksAttr) blocks.insert(blocks.end(), attribute.blocks_idx().begin(), attribute.blocks_idx().end());
  }
  return blocks;
}

std::string at(int block, int op, const OpDesc& desc) {
  return "block " + std::to_string(block) + ", op " + std::to_string(op) + " (" + desc.type() + ")";
}

}  // namespace

BlockAnalysis::BlockAnalysis(const framework::ProgramDesc& program)
    : program_(program), interfaces_(program.blocks_size()), states_(program.blocks_size(), State::New), owner_(program.blocks_size(), -1),
      declared_(program.blocks_size()), seen_(program.blocks_size()) {}

bool BlockAnalysis::run() {
  if (!checkStructure() || !claimBlocks()) return false;
  for (int block = 0; block < program_.blocks_size(); ++block)
    if (!analyze(block)) return false;
  collectSaved();
  return true;
}

bool BlockAnalysis::checkStructure() {
  if (program_.blocks_size() == 0) return error = "the program has no block", false;
  for (int k = 0; k < program_.blocks_size(); ++k) {
    const BlockDesc& block = program_.blocks(k);
    std::string where = "block " + std::to_string(k);
    if (block.idx() != k) return error = where + " says that its index is " + std::to_string(block.idx()), false;
    if (k == 0 ? block.parent_idx() >= 0 : (block.parent_idx() < 0 || block.parent_idx() >= k))
      return error = where + " has parent " + std::to_string(block.parent_idx()) + (k == 0 ? ", but is the root" : ", which is no earlier block"), false;
    if (block.has_forward_block_idx() && block.forward_block_idx() > k)
      return error = where + " says that it is the gradient of block " + std::to_string(block.forward_block_idx()) + ", which is no earlier block", false;
    for (int i = 0; i < block.vars_size(); ++i) declared_[k].try_emplace(block.vars(i).name(), i);
  }
  return true;
}

bool BlockAnalysis::claimBlocks() {
  for (int k = 0; k < program_.blocks_size(); ++k) {
    for (int i = 0; i < program_.blocks(k).ops_size(); ++i) {
      const OpDesc& op = program_.blocks(k).ops(i);
      for (int target : blocksOf(op)) {
        if (target <= 0 || target >= program_.blocks_size())
          return error = at(k, i, op) + " refers to block " + std::to_string(target) + "; the program has blocks 0 to " +
                         std::to_string(program_.blocks_size() - 1) + " and the root cannot be referred to", false;
        if (target == k) return error = at(k, i, op) + " refers to the block that it stands in", false;
        if (owner_[target] >= 0) continue;
        owner_[target] = k;
        owned_[{k, i}].push_back(target);
      }
    }
  }
  // The owners must form a tree, else a region would contain itself.
  for (int k = 1; k < program_.blocks_size(); ++k) {
    int steps = 0;
    for (int up = k; owner_[up] >= 0; up = owner_[up])
      if (++steps > program_.blocks_size()) return error = "block " + std::to_string(k) + " is contained in itself", false;
  }
  return true;
}

llvm::ArrayRef<int> BlockAnalysis::owned(int block, int op) const {
  auto found = owned_.find({block, op});
  return found == owned_.end() ? llvm::ArrayRef<int>() : llvm::ArrayRef<int>(found->second);
}

std::vector<int> BlockAnalysis::orphans() const {
  std::vector<int> blocks;
  for (int k = 1; k < static_cast<int>(owner_.size()); ++k)
    if (owner_[k] < 0) blocks.push_back(k);
  return blocks;
}

const framework::VarDesc* BlockAnalysis::resolve(int block, llvm::StringRef name, int* at) const {
  for (int k = block; k >= 0; k = program_.blocks(k).parent_idx()) {
    auto found = declared_[k].find(name);
    if (found == declared_[k].end()) continue;
    if (at) *at = k;
    return &program_.blocks(k).vars(found->second);
  }
  return nullptr;
}

bool BlockAnalysis::isPersistable(int block, llvm::StringRef name) const {
  const framework::VarDesc* var = resolve(block, name);
  return var && var->persistable();
}

// The block whose gradient this one is; -1 for none. Programs are seen that name the root or the block itself.
int BlockAnalysis::forwardOf(int block) const {
  int forward = program_.blocks(block).has_forward_block_idx() ? program_.blocks(block).forward_block_idx() : -1;
  return forward > 0 && forward != block ? forward : -1;
}

// A name belongs to the block when the block declares it or nobody around it does.
bool BlockAnalysis::isOwn(int block, llvm::StringRef name) const {
  int declaredIn = -1;
  return !resolve(block, name, &declaredIn) || declaredIn == block || owner_[block] < 0;
}

// In a gradient block: captures of the forward block that it does not write are snapshots of that step; they come from the tape.
bool BlockAnalysis::comesFromTape(int block, llvm::StringRef name) const {
  int forward = forwardOf(block);
  if (forward < 0) return false;
  const BlockInterface& interface = interfaces_[forward];
  return interface.captures.contains(name) && !interface.written.contains(name);
}

void BlockAnalysis::read(int block, llvm::StringRef name, bool strong) {
  if (name == pd::kEmptyArgument || isPersistable(block, name)) return;
  BlockInterface& interface = interfaces_[block];
  if (block != 0 && !isOwn(block, name) && !comesFromTape(block, name)) {
    if (interface.captures.insert(name)) interface.readFirst[name] = strong;
    return;
  }
  if (seen_[block].try_emplace(name, false).second && strong && block != 0) interface.locals.insert(name);
}

void BlockAnalysis::write(int block, llvm::StringRef name) {
  if (name == pd::kEmptyArgument || isPersistable(block, name)) return;
  BlockInterface& interface = interfaces_[block];
  if (block != 0 && !isOwn(block, name)) {
    if (interface.captures.insert(name)) interface.readFirst[name] = false;
    interface.written.insert(name);
    return;
  }
  seen_[block][name] = true;
}

bool BlockAnalysis::visitOp(int block, int index) {
  const OpDesc& op = program_.blocks(block).ops(index);
  const pd::OpSpec* spec = pd::findOp(op.type());
  for (const OpDesc::Var& slot : op.inputs())
    for (const std::string& name : slot.arguments()) read(block, name, true);
  for (const OpDesc::Attr& attribute : op.attrs()) {
    if (attribute.type() == kVarAttr) read(block, attribute.var_name(), true);
    if (attribute.type() == kVarsAttr)
      for (const std::string& name : attribute.vars_name()) read(block, name, true);
  }
  for (const OpDesc::Var& slot : op.outputs()) {
    const pd::Slot* row = spec ? spec->output(slot.parameter()) : nullptr;
    if (row && row->updates)
      for (const std::string& name : slot.arguments()) read(block, name, false);
  }
  for (int child : owned(block, index)) {
    if (!analyze(child)) return false;
    const BlockInterface& inner = interfaces_[child];
    for (llvm::StringRef name : inner.captures) read(block, name, inner.readFirst.lookup(name));
    for (llvm::StringRef name : inner.written) write(block, name);
  }
  for (const OpDesc::Var& slot : op.outputs())
    for (const std::string& name : slot.arguments()) write(block, name);
  return true;
}

bool BlockAnalysis::analyze(int block) {
  if (states_[block] == State::Done) return true;
  if (states_[block] == State::Running) return error = "block " + std::to_string(block) + " is part of its own forward block", false;
  states_[block] = State::Running;
  const BlockDesc& desc = program_.blocks(block);
  if (forwardOf(block) >= 0 && !analyze(forwardOf(block))) return false;
  for (int i = 0; i < desc.ops_size(); ++i)
    if (!visitOp(block, i)) return false;
  states_[block] = State::Done;
  return true;
}

// Who asks for a block's own names: gradient blocks (their locals), and the owning op by its outputs and by attributes that hold names
// (`states` of recurrent).
void BlockAnalysis::collectSaved() {
  std::vector<llvm::SetVector<llvm::StringRef>> wanted(interfaces_.size());
  for (int k = 1; k < program_.blocks_size(); ++k) {
    if (forwardOf(k) >= 0)
      for (llvm::StringRef name : interfaces_[k].locals) wanted[forwardOf(k)].insert(name);
  }
  for (auto& [position, children] : owned_) {
    const OpDesc& op = program_.blocks(position.first).ops(position.second);
    for (int child : children) {
      for (const OpDesc::Attr& attribute : op.attrs())
        if (pd::isNameAttribute(op.type(), attribute.name()))
          for (const std::string& name : attribute.strings()) wanted[child].insert(name);
      for (const OpDesc::Var& slot : op.outputs())
        for (const std::string& name : slot.arguments()) wanted[child].insert(name);
    }
  }
  for (int k = 1; k < program_.blocks_size(); ++k) {
    BlockInterface& interface = interfaces_[k];
    for (llvm::StringRef name : wanted[k])
      if (seen_[k].contains(name) || (interface.captures.contains(name) && !interface.written.contains(name))) interface.saved.insert(name);
  }
}

}  // namespace dtranspile
