#include "model/grammar/schema/schema_pointer.h"

#include <vector>

namespace ingot::grammar {

SchemaPointer SchemaPointer::below(std::string_view name) const {
  SchemaPointer pointer;
  pointer.last_ = std::make_shared<const Name>(Name{last_, std::string(name)});
  return pointer;
}

std::string SchemaPointer::text() const {
  std::vector<const Name*> names;
  for (const Name* name = last_.get(); name != nullptr; name = name->above.get()) names.push_back(name);
  std::string text;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    text += '/';
    for (const char character : (*name)->name) {
      if (character == '~') {
        text += "~0";
      } else if (character == '/') {
        text += "~1";
      } else {
        text += character;
      }
    }
  }
  return text;
}

}  // namespace ingot::grammar
