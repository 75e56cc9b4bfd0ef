// Writes HTML and SVG. Whatever comes out of a job goes through `text` or an attribute's value,
// which escape it and make what cannot be seen visible: markup comes from the page's own code
// alone.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace dtranspile::page {

class Html {
 public:
  struct Attribute {
    const char* name;
    std::string value;
  };
  using Attributes = std::initializer_list<Attribute>;

  Html& open(const char* tag, Attributes attributes = {});
  Html& close();                                            // the innermost open element
  Html& leaf(const char* tag, Attributes attributes = {});  // without content
  Html& text(llvm::StringRef text);
  Html& element(const char* tag, Attributes attributes, llvm::StringRef text);
  Html& element(const char* tag, llvm::StringRef text) { return element(tag, {}, text); }

  // A name of the job: cut in the middle where it is long, whole in its tip.
  Html& name(llvm::StringRef name);

  // As it is: the page's own style and script, and sections that are written already.
  Html& own(llvm::StringRef text);

  size_t size() const { return out_.size(); }
  std::string take();  // all elements are closed

 private:
  void start(const char* tag, Attributes attributes);

  std::string out_;
  std::vector<const char*> open_;
};

// Text of a job as people can read it: control characters and the like as \xNN, at most `most`
// characters, of which the last third are those of the end.
std::string shortened(llvm::StringRef text, size_t most);

// "4.7 GiB", "12 B".
std::string bytesText(int64_t bytes);

// "1,234,567".
std::string countText(int64_t count);

// "1 rank", "2,000 ranks", "2 classes".
std::string countOf(int64_t count, const char* noun, const char* ending = "s");

}  // namespace dtranspile::page
