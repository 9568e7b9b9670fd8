// The place of a schema in its document, told as a JSON pointer. Names are whoever's sent the schema, and thousands of
// places may lie below one of megabytes: each place holds its own name alone, and shares what is above.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace ingot::grammar {

class SchemaPointer {
 public:
  SchemaPointer() = default;  // of the whole document

  SchemaPointer below(std::string_view name) const;
  bool is_whole() const { return last_ == nullptr; }
  // "/properties/a", "" for the whole.
  std::string text() const;

 private:
  struct Name {
    std::shared_ptr<const Name> above;
    std::string name;
  };

  std::shared_ptr<const Name> last_;
};

}  // namespace ingot::grammar
