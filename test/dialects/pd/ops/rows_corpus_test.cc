// Every op of every saved program of the corpora fits its row: slots, number of arguments,
// attributes and their types. A row that forgets something the framework writes fails here by name.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "catch2/catch.hpp"
#include "compiler/program_desc/framework.pb.h"
#include "dialects/pd/op_table.h"
#include "llvm/ADT/STLExtras.h"
#include "test/corpus_path.h"

namespace dtranspile::pd {
namespace {

namespace proto = framework;
using Findings = std::map<std::string, std::string>;  // what is wrong -> first file with it

// Codes of AttrType in framework.proto, in order.
constexpr AttrType kByCode[] = {
    AttrType::Int,     AttrType::Float,  AttrType::String,   AttrType::Ints,  AttrType::Floats,
    AttrType::Strings, AttrType::Bool,   AttrType::Bools,    AttrType::Block, AttrType::Long,
    AttrType::Blocks,  AttrType::Longs,  AttrType::Float64s, AttrType::Var,   AttrType::Vars,
    AttrType::Float64, AttrType::Scalar, AttrType::Scalars,
};

template <typename List>
void checkSlots(const List& given, const std::vector<Slot>& rows, bool inputs,
                const std::string& op, std::set<std::string>& wrong) {
  for (const proto::OpDesc::Var& slot : given) {
    auto row = llvm::find_if(
        rows, [&](const Slot& candidate) { return candidate.name == slot.parameter(); });
    if (row == rows.end()) wrong.insert(op + ": unknown slot " + slot.parameter());
    else if (!row->duplicable && slot.arguments_size() > 1)
      wrong.insert(op + ": several arguments in " + slot.parameter());
  }
  for (const Slot& row : rows) {
    if (row.dispensable || (row.duplicable && !row.nonEmpty)) continue;
    bool found = llvm::any_of(given, [&](const proto::OpDesc::Var& slot) {
      return slot.parameter() == row.name && slot.arguments_size();
    });
    if (!found) wrong.insert(op + ": lacks slot " + row.name);
  }
}

void checkAttributes(const proto::OpDesc& op, const OpSpec& spec, std::set<std::string>& wrong) {
  std::set<std::string> given;
  for (const proto::OpDesc::Attr& attribute : op.attrs()) {
    given.insert(attribute.name());
    const AttrRow* row = spec.attribute(attribute.name());
    if (!row) row = commonAttribute(attribute.name());
    if (!row) wrong.insert(op.type() + ": unknown attribute " + attribute.name());
    else if (attribute.type() < 0 || attribute.type() >= static_cast<int>(std::size(kByCode)) ||
             !llvm::is_contained(row->types, kByCode[attribute.type()]))
      wrong.insert(op.type() + ": attribute " + attribute.name() + " of type code " +
                   std::to_string(attribute.type()));
  }
  for (const AttrRow& row : spec.attributes)
    if (row.required && !given.count(row.name))
      wrong.insert(op.type() + ": lacks attribute " + row.name);
}

void checkProgram(const std::filesystem::path& file, std::set<std::string>& types, size_t& ops,
                  Findings& findings) {
  std::ifstream stream(file, std::ios::binary);
  proto::ProgramDesc program;
  REQUIRE(program.ParseFromIstream(&stream));
  std::set<std::string> wrong;
  for (const proto::BlockDesc& block : program.blocks()) {
    for (const proto::OpDesc& op : block.ops()) {
      ++ops;
      types.insert(op.type());
      const OpSpec* spec = findOp(op.type());
      if (!spec) {
        wrong.insert(op.type() + ": no row");
        continue;
      }
      checkSlots(op.inputs(), spec->inputs, true, op.type(), wrong);
      checkSlots(op.outputs(), spec->outputs, false, op.type(), wrong);
      checkAttributes(op, *spec, wrong);
    }
  }
  for (const std::string& finding : wrong) findings.insert({finding, file.string()});
}

void checkCorpus(const std::string& folder, size_t leastPrograms, size_t leastTypes) {
  std::set<std::string> types;
  size_t ops = 0, programs = 0;
  Findings findings;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(test::CorpusPath(folder))) {
    if (entry.path().extension() != ".pdmodel") continue;
    checkProgram(entry.path(), types, ops, findings);
    ++programs;
  }
  std::ostringstream text;
  for (const auto& [finding, file] : findings) text << finding << "  (" << file << ")\n";
  INFO(text.str());
  CHECK(findings.empty());
  CHECK(programs >= leastPrograms);
  CHECK(types.size() >= leastTypes);
}

TEST_CASE("rows fit the programs of fluid18", "[corpus]") { checkCorpus("fluid18", 64, 120); }
TEST_CASE("rows fit the programs of static26", "[corpus]") { checkCorpus("static26", 32, 60); }
TEST_CASE("rows fit the large programs", "[corpus]") { checkCorpus("large", 20, 60); }
TEST_CASE("rows fit the one-operator programs", "[corpus]") { checkCorpus("ops", 1500, 680); }

}  // namespace
}  // namespace dtranspile::pd
