#include "model/grammar/schema/shape.h"

namespace ingot::grammar {

std::size_t size_in_bytes(const ObjectClause& clause) {
  std::size_t bytes = sizeof(clause);
  for (const auto* list : {&clause.properties, &clause.patterns}) {
    for (const auto& property : *list) bytes += sizeof(property) + property.name.size();
  }
  return bytes;
}

std::size_t size_in_bytes(const Shape& shape) {
  std::size_t bytes = sizeof(shape) + (shape.values ? shape.values->size() * sizeof(chat::Value) : 0);
  for (const ObjectClause& clause : shape.objects) bytes += size_in_bytes(clause);
  for (const ArrayClause& clause : shape.arrays) bytes += sizeof(clause) + clause.first.size() * sizeof(SchemaPlace);
  for (const auto* texts : {&shape.required, &shape.absent, &shape.text.excluded}) {
    for (const std::string& text : *texts) bytes += sizeof(std::string) + text.size();
  }
  for (const auto& pattern : shape.text.patterns) bytes += sizeof(pattern) + pattern.text.size();
  for (const auto& property : shape.single) bytes += sizeof(property) + property.name.size();
  return bytes;
}

}  // namespace ingot::grammar
