// Makes C++ of the files runtime/kernels/signatures/*.calls, in the build
// (runtime/kernels/BUILD.bazel):
//
//   call_args names FILE    names of the slots and attributes of every call, for its kernel
//   call_args text FILE...  the files as text, for runtime/kernels/signatures.cc
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>

#include "runtime/kernels/signature.h"

namespace dtranspile::kernels {
namespace {

// "Out@GRAD" is Out_GRAD, "@version" version.
std::string Identifier(std::string name) {
  if (!name.empty() && name[0] == '@') name.erase(0, 1);
  std::replace(name.begin(), name.end(), '@', '_');
  return name;
}

template <typename Specs>
void PrintNames(const Specs& specs, int first) {
  for (const auto& spec : specs)
    std::cout << "  static constexpr int " << Identifier(spec.name) << " = " << first++ << ";\n";
}

void PrintCalls(const std::vector<Signature>& calls) {
  std::cout
      << "// Made by tools/call_args.\n#pragma once\n\nnamespace dtranspile::kernels::args {\n";
  for (const Signature& call : calls) {
    std::cout << "\n// Where " << call.name << " finds its slots and its attributes.\nstruct "
              << call.name << " {\n";
    PrintNames(call.inputs, 0);
    PrintNames(call.outputs, static_cast<int>(call.inputs.size()));
    PrintNames(call.attributes, 0);
    std::cout << "};\n";
  }
  std::cout << "\n}  // namespace dtranspile::kernels::args\n";
}

void PrintText(const std::string& family, const std::string& text) {
  std::cout << "      {\"" << family << "\", R\"calls(" << text << ")calls\"},\n";
}

// Names that C++ could not tell apart.
bool AreDistinct(const Signature& call) {
  std::set<std::string> names;
  size_t count = 0;
  const auto add = [&](const auto& specs) {
    for (const auto& spec : specs) names.insert(Identifier(spec.name)), ++count;
  };
  add(call.inputs), add(call.outputs), add(call.attributes);
  return names.size() == count && call.name.rfind("dt_", 0) == 0;
}

int Run(int argc, char** argv) {
  const bool names = std::string(argv[1]) == "names";
  if (!names)
    std::cout << "#include \"runtime/kernels/signature_text.h\"\n\nnamespace dtranspile::kernels "
                 "{\n\nstd::vector<SignatureText> SignatureTexts() {\n  return {\n";
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::string family = path.substr(path.rfind('/') + 1);
    family = family.substr(0, family.find('.'));
    const auto calls = ParseSignatures(family, text);
    if (!file || !calls.ok()) {
      std::cerr << path << ": " << calls.status().message() << "\n";
      return 1;
    }
    for (const Signature& call : *calls) {
      if (AreDistinct(call)) continue;
      std::cerr << path << ": " << call.name << ": names that differ by '@' only, or no dt_\n";
      return 1;
    }
    if (names) PrintCalls(*calls);
    else PrintText(family, text);
  }
  if (!names) std::cout << "  };\n}\n\n}  // namespace dtranspile::kernels\n";
  return 0;
}

}  // namespace
}  // namespace dtranspile::kernels

int main(int argc, char** argv) {
  if (argc < 3) return std::cerr << "call_args names|text FILE...\n", 2;
  return dtranspile::kernels::Run(argc, argv);
}
