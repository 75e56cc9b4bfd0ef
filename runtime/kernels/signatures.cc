#include "runtime/kernels/signatures.h"

#include <unordered_map>

#include "runtime/kernels/signature_text.h"

namespace dtranspile::kernels {

const std::vector<Signature>& AllSignatures() {
  static const auto* all = [] {
    auto* signatures = new std::vector<Signature>();
    for (const SignatureText& family : SignatureTexts()) {
      auto parsed = ParseSignatures(family.family, family.text).value();
      signatures->insert(signatures->end(), parsed.begin(), parsed.end());
    }
    return signatures;
  }();
  return *all;
}

const Signature* FindSignature(std::string_view name) {
  static const auto* index = [] {
    auto* map = new std::unordered_map<std::string_view, const Signature*>();
    for (const Signature& signature : AllSignatures()) map->emplace(signature.name, &signature);
    return map;
  }();
  const auto found = index->find(name);
  return found == index->end() ? nullptr : found->second;
}

}  // namespace dtranspile::kernels
