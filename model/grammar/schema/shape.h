// What a conjunction of schemas asks of a value, by the value's type. Alternatives (anyOf, and whatever is one) are
// several shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/grammar/schema/number_language.h"
#include "model/grammar/schema/schema_document.h"
#include "model/grammar/schema/text_language.h"

namespace ingot::grammar {

// A value satisfies all of them. Empty: anything.
using Conjunction = std::vector<SchemaPlace>;

enum TypeBits : std::uint8_t {
  null_type = 1,
  boolean_type = 2,
  number_type = 4,
  text_type = 8,
  array_type = 16,
  object_type = 32,
  all_types = 63,
};

// Those that may all come next are as many threads.
constexpr std::size_t most_names = 4000;

// One schema's say about items: these first, then the others.
struct ArrayClause {
  std::vector<SchemaPlace> first;
  std::optional<SchemaPlace> others;
};

// One schema's say about properties. What `others` applies to depends on the names and patterns of the same schema.
struct ObjectClause {
  struct Property {
    std::string name;
    SchemaPlace schema;
  };
  std::vector<Property> properties = {};
  std::vector<Property> patterns = {};
  std::optional<SchemaPlace> others = {};
  std::optional<SchemaPlace> declared = {};  // the dictionary of the properties, to look one up
};

struct Shape {
  std::uint8_t types = all_types;
  std::optional<std::vector<chat::Value>> values = {};  // enum and const
  NumberLimits number = {};
  TextLimits text = {};

  std::uint32_t least_items = 0, most_items = unbounded;
  std::vector<ArrayClause> arrays = {};
  struct Contained {
    SchemaPlace schema;
    std::uint32_t least;
  };
  std::vector<Contained> contained = {};

  std::uint32_t least_properties = 0, most_properties = unbounded;
  SchemaPointer least_properties_pointer = {};
  std::vector<ObjectClause> objects = {};
  std::vector<ObjectClause::Property> single = {};  // of one property each, whatever else is said of it
  std::vector<std::string> required = {};
  std::vector<std::string> absent = {};
  std::vector<SchemaPlace> names = {};

  // Nothing is asked but the type.
  bool is_plain() const {
    return !values && number.is_plain() && !number.is_whole && text.is_plain() && is_array_plain() && is_object_plain();
  }
  bool is_array_plain() const {
    return least_items == 0 && most_items == unbounded && arrays.empty() && contained.empty();
  }
  bool is_object_plain() const {
    return least_properties == 0 && most_properties == unbounded && objects.empty() && single.empty() &&
           required.empty() && absent.empty() && names.empty();
  }
  // Of an object nothing is asked but what its properties are and which of them must be there.
  bool asks_declared_alone() const {
    Shape others = *this;
    others.objects.clear();
    others.required.clear();
    return others.is_object_plain();
  }
};

// What a copy takes, about. Names count with their length: one of megabytes may be copied for every alternative.
std::size_t size_in_bytes(const ObjectClause& clause);
std::size_t size_in_bytes(const Shape& shape);

}  // namespace ingot::grammar
