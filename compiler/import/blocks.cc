#include "compiler/import/blocks.h"

#include "compiler/program_desc/framework.pb.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/op_table.h"

namespace dtranspile {

BlockAnalysis::BlockAnalysis(const WireProgram& program, const Budget& budget)
    : program_(program),
      budget_(budget),
      interfaces_(program.blocks.size()),
      states_(program.blocks.size(), State::New),
      owner_(program.blocks.size(), -1),
      ownerOp_(program.blocks.size(), -1),
      declared_(program.blocks.size()),
      seen_(program.blocks.size()) {}

bool BlockAnalysis::fail(int block, int op, std::string message) {
  if (error.message.empty()) error = {block, op, std::move(message)};
  return false;
}

bool BlockAnalysis::run() {
  if (!checkStructure() || !claimBlocks() || !checkContainment()) return false;
  for (int block = 0; block < static_cast<int>(program_.blocks.size()); ++block)
    if (!analyze(block, 0)) return false;
  return collectSaved();
}

// Parents come before their blocks, so the list is a tree rooted in block 0, and every walk from a
// block outwards ends.
bool BlockAnalysis::checkStructure() {
  if (program_.blocks.empty()) return fail(0, -1, "the program has no block");
  std::vector<int> depth(program_.blocks.size(), 0);
  for (int k = 0; k < static_cast<int>(program_.blocks.size()); ++k) {
    const WireBlock& block = program_.blocks[k];
    std::string where = "block " + std::to_string(k);
    if (block.idx != k)
      return fail(k, -1, where + " says that its index is " + std::to_string(block.idx));
    if (k == 0 ? block.parent >= 0 : (block.parent < 0 || block.parent >= k))
      return fail(k, -1,
                  where + " has parent " + std::to_string(block.parent) +
                      (k == 0 ? ", but is the root" : ", which is no earlier block"));
    if (k > 0) depth[k] = depth[block.parent] + 1;
    if (depth[k] > budget_.maxDepth)
      return fail(
          k, -1,
          where + " has more than " + std::to_string(budget_.maxDepth) + " blocks around it");
    if (block.forward && *block.forward > k)
      return fail(k, -1,
                  where + " says that it is the gradient of block " +
                      std::to_string(*block.forward) + ", which is no earlier block");
    declared_[k].reserve(block.vars.size());
    for (const WireVar& var : block.vars) declared_[k].try_emplace(var.name, &var);
  }
  return true;
}

bool BlockAnalysis::claimBlocks() {
  for (int k = 0; k < static_cast<int>(program_.blocks.size()); ++k)
    for (int i = 0; i < static_cast<int>(program_.blocks[k].ops.size()); ++i)
      if (!claim(k, i)) return false;
  return true;
}

// An op owns the blocks that its attributes name and no op before it has named: a gradient op names
// the block of its forward op too, which that one owns.
bool BlockAnalysis::claim(int block, int op) {
  for (const WireAttr& attribute : program_.blocks[block].ops[op].attrs) {
    for (int target : attribute.blocks) {
      if (target <= 0 || target >= static_cast<int>(program_.blocks.size()))
        return fail(block, op,
                    "refers to block " + std::to_string(target) + " in attribute '" +
                        attribute.name.str() + "'; the program has blocks 0 to " +
                        std::to_string(program_.blocks.size() - 1) +
                        " and the root cannot be referred to");
      if (target == block) return fail(block, op, "refers to the block that it stands in");
      if (owner_[target] >= 0) continue;
      owner_[target] = block;
      ownerOp_[target] = op;
      owned_[{block, op}].push_back(target);
    }
  }
  return true;
}

// The owners must form trees, else a region would contain itself.
bool BlockAnalysis::checkContainment() {
  std::vector<int> depth(owner_.size(), 0), visit(owner_.size(), 0);
  for (int k = 1; k < static_cast<int>(owner_.size()); ++k) {
    std::vector<int> path;
    int up = k;
    for (; owner_[up] >= 0 && depth[up] == 0; up = owner_[up]) {
      if (visit[up] == k)
        return fail(k, -1, "block " + std::to_string(k) + " is contained in itself");
      visit[up] = k;
      path.push_back(up);
    }
    int level = depth[up];
    for (auto block = path.rbegin(); block != path.rend(); ++block) depth[*block] = ++level;
    if (level > budget_.maxDepth)
      return fail(k, -1,
                  "block " + std::to_string(k) + " has more than " +
                      std::to_string(budget_.maxDepth) + " ops with blocks around it");
  }
  return true;
}

llvm::ArrayRef<int> BlockAnalysis::owned(int block, int op) const {
  if (owned_.empty()) return {};
  auto found = owned_.find({block, op});
  return found == owned_.end() ? llvm::ArrayRef<int>() : llvm::ArrayRef<int>(found->second);
}

std::vector<int> BlockAnalysis::orphans() const {
  std::vector<int> blocks;
  for (int k = 1; k < static_cast<int>(owner_.size()); ++k)
    if (owner_[k] < 0) blocks.push_back(k);
  return blocks;
}

// The innermost declaration around a block, as the framework's scopes find it; `at`: the block that
// has it.
const WireVar* BlockAnalysis::resolve(int block, Name name, int* at) const {
  for (int k = block; k >= 0; k = program_.blocks[k].parent) {
    auto found = declared_[k].find(name);
    if (found == declared_[k].end()) continue;
    if (at) *at = k;
    return found->second;
  }
  return nullptr;
}

bool BlockAnalysis::isPersistable(int block, Name name) const {
  const WireVar* var = resolve(block, name);
  return var && var->persistable.value_or(false);
}

// The block whose gradient this one is; -1 for none. Programs are seen that name the root or the
// block itself.
int BlockAnalysis::forwardOf(int block) const {
  int forward = program_.blocks[block].forward.value_or(-1);
  return forward > 0 && forward != block ? forward : -1;
}

// A name belongs to the block when the block declares it or nobody around it does. A gradient block
// runs in the scope of its forward block's turn: within another gradient block, names of blocks
// around the forward one are outside.
bool BlockAnalysis::isOwn(int block, Name name) const {
  int declaredIn = -1;
  if (owner_[block] < 0) return true;
  if (resolve(block, name, &declaredIn)) return declaredIn == block;
  int forward = forwardOf(block);
  return owner_[block] == 0 || forward < 0 || !resolve(forward, name, &declaredIn) ||
         declaredIn == forward;
}

// In a gradient block: captures of the forward block that it does not write, or snapshots of that
// turn; they come from the tape.
bool BlockAnalysis::comesFromTape(int block, Name name) const {
  int forward = forwardOf(block);
  if (forward < 0) return false;
  const BlockInterface& interface = interfaces_[forward];
  return interface.captures.contains(name) &&
         (!interface.written.contains(name) || interface.snapshots.contains(name));
}

// `while` copies the tensors of its X into the scope of each turn, but for those that an op of the
// block updates in place (while_op.cc).
bool BlockAnalysis::collectSnapshots(int block) {
  if (owner_[block] < 0) return true;
  const WireOp& owner = program_.blocks[owner_[block]].ops[ownerOp_[block]];
  if (owner.type != "while") return true;
  llvm::DenseSet<Name> inPlace;
  for (const WireOp& op : program_.blocks[block].ops) {
    llvm::DenseSet<Name> inputs;
    for (const WireSlot& slot : op.inputs)
      inputs.insert(slot.arguments.begin(), slot.arguments.end());
    for (const WireSlot& slot : op.outputs)
      for (Name name : slot.arguments)
        if (inputs.contains(name)) inPlace.insert(name);
  }
  framework::VarType type;
  for (const WireSlot& slot : owner.inputs) {
    if (slot.parameter != "X") continue;
    if (!spend(block, slot.arguments.size())) return false;  // a `while` may own many blocks
    for (Name name : slot.arguments) {
      const WireVar* var = resolve(block, name);
      if (!var || !interfaces_[block].written.contains(name) || inPlace.contains(name)) continue;
      if (!type.ParsePartialFromArray(var->type.data(), static_cast<int>(var->type.size())) ||
          type.type() != static_cast<int>(pd::Kind::Tensor))
        continue;
      interfaces_[block].snapshots.insert(name);
    }
  }
  return true;
}

// A name that is not the block's own is captured from around it, and from where: the first time it
// is met decides whether its value at entry counts (`strong`: read by an op, not merely updated).
// Of its own names only those matter that are read before they are written: they hold what a turn
// before has left, or the tape.
void BlockAnalysis::read(int block, Name name, bool strong) {
  if (block == 0 || name == kEmptyName || isPersistable(block, name)) return;
  BlockInterface& interface = interfaces_[block];
  if (!isOwn(block, name) && !comesFromTape(block, name)) {
    if (!interface.captures.insert(name)) return;
    interface.readFirst[name] = strong;
    ++spent_;
    return;
  }
  if (seen_[block].try_emplace(name, false).second && strong)
    spent_ += interface.locals.insert(name);
}

// A name from outside that the block writes is captured as well, since a block that does not run,
// or no turn of it, leaves it as it was.
void BlockAnalysis::write(int block, Name name) {
  if (block == 0 || name == kEmptyName || isPersistable(block, name)) return;
  BlockInterface& interface = interfaces_[block];
  if (isOwn(block, name)) {
    seen_[block][name] = true;
    return;
  }
  if (interface.captures.insert(name)) interface.readFirst[name] = false;
  spent_ += 1 + interface.written.insert(name);
}

// Names that blocks exchange become operands and results: a file of nested blocks that all capture
// everything would make of n names n times their number of blocks.
bool BlockAnalysis::spend(int block, size_t names) {
  spent_ += static_cast<int64_t>(names);
  return spent_ <= budget_.maxInterfaceNames ||
         fail(block, -1,
              "the sub-blocks exchange more than " + std::to_string(budget_.maxInterfaceNames) +
                  " names with the blocks around them");
}

// What one op reads, then what its blocks do (their captures are read here, what they write is
// written here), then what it writes. Outputs that the op updates in place count as read, but not
// strongly.
bool BlockAnalysis::visitOp(int block, int index, int depth) {
  llvm::ArrayRef<int> children = owned(block, index);
  if (block == 0 && children.empty()) return true;
  const WireOp& op = program_.blocks[block].ops[index];
  const pd::OpSpec* spec = pd::findOp(op.type);
  for (const WireSlot& slot : op.inputs)
    for (Name name : slot.arguments) read(block, name, true);
  for (const WireAttr& attribute : op.attrs)
    for (Name name : attribute.references) read(block, name, true);
  for (const WireSlot& slot : op.outputs) {
    const pd::Slot* row = spec ? spec->output(slot.parameter) : nullptr;
    if (row && row->updates)
      for (Name name : slot.arguments) read(block, name, false);
  }
  for (int child : children) {
    if (!analyze(child, depth + 1)) return false;
    const BlockInterface& inner = interfaces_[child];
    if (!spend(child, inner.captures.size())) return false;
    for (Name name : inner.captures) read(block, name, inner.readFirst.lookup(name));
    for (Name name : inner.written) write(block, name);
  }
  for (const WireSlot& slot : op.outputs)
    for (Name name : slot.arguments) write(block, name);
  return spend(block, 0);
}

// The interface of a block: its forward block's first, whose names it may take from the tape. A
// chain of gradients of gradients is as long as the nesting that allows it; a longer one is a file
// that somebody made up.
bool BlockAnalysis::analyze(int block, int depth) {
  if (states_[block] == State::Done) return true;
  if (states_[block] == State::Running)
    return fail(block, -1, "block " + std::to_string(block) + " is part of its own forward block");
  if (depth > 2 * budget_.maxDepth)
    return fail(
        block, -1,
        "block " + std::to_string(block) + " is the gradient of too long a chain of gradients");
  states_[block] = State::Running;
  if (forwardOf(block) >= 0 && !analyze(forwardOf(block), depth + 1)) return false;
  for (int i = 0; i < static_cast<int>(program_.blocks[block].ops.size()); ++i)
    if (!visitOp(block, i, depth)) return false;
  if (!collectSnapshots(block)) return false;
  states_[block] = State::Done;
  return true;
}

// What an op asks of the blocks that it owns: names among its outputs and in attributes that hold
// names (`states` of recurrent).
bool BlockAnalysis::collectWanted(int block, int index,
                                  std::vector<llvm::SetVector<Name>>& wanted) {
  const WireOp& op = program_.blocks[block].ops[index];
  std::vector<Name> names;
  framework::OpDesc::Attr parsed;
  for (const WireAttr& attribute : op.attrs) {
    if (!pd::isNameAttribute(op.type, attribute.name) ||
        !parsed.ParsePartialFromArray(attribute.bytes.data(),
                                      static_cast<int>(attribute.bytes.size())))
      continue;
    for (const std::string& text : parsed.strings()) {
      auto found = nameIndex_.find(text);
      if (found != nameIndex_.end()) names.push_back(found->second);
    }
  }
  for (const WireSlot& slot : op.outputs)
    names.insert(names.end(), slot.arguments.begin(), slot.arguments.end());
  for (int child : owned(block, index)) {
    if (!spend(child, names.size())) return false;
    wanted[child].insert(names.begin(), names.end());
  }
  return true;
}

// Who asks for a block's own names: gradient blocks (their locals), and the owning op.
// A block keeps what is asked for from outside after a turn has ended: own names, and captures that
// it did not write.
bool BlockAnalysis::collectSaved() {
  std::vector<llvm::SetVector<Name>> wanted(interfaces_.size());
  for (int k = 1; k < static_cast<int>(interfaces_.size()); ++k) {
    if (forwardOf(k) < 0) continue;
    if (!spend(k, interfaces_[k].locals.size())) return false;
    BlockInterface& forward = interfaces_[forwardOf(k)];
    for (Name name : interfaces_[k].locals) {
      wanted[forwardOf(k)].insert(name);
      if (forward.snapshots.contains(name)) forward.saved.insert(name);
    }
  }
  if (!owned_.empty())
    for (auto [number, name] : llvm::enumerate(program_.names))
      nameIndex_.try_emplace(name, static_cast<Name>(number));
  for (auto& [position, children] : owned_)
    if (!collectWanted(position.first, position.second, wanted)) return false;
  for (int k = 1; k < static_cast<int>(interfaces_.size()); ++k) {
    BlockInterface& interface = interfaces_[k];
    for (Name name : wanted[k])
      if (seen_[k].contains(name) ||
          (interface.captures.contains(name) && !interface.written.contains(name)))
        interface.saved.insert(name);
  }
  return true;
}

}  // namespace dtranspile
