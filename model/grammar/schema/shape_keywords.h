// Keywords that ask something of one value and hold no other schema.
#pragma once

#include "model/grammar/schema/shape.h"

namespace ingot::grammar {

// Narrows the shape. False: nobody knows the keyword.
Result<bool> apply_to_shape(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value,
                            Shape& shape);

// The type of a value, as a bit.
std::uint8_t type_bit(const chat::Value& value);

// Of two bounds the narrower counts.
void narrow_least(NumberLimits& limits, const NumberBound& bound);
void narrow_most(NumberLimits& limits, const NumberBound& bound);

Result<Decimal> decimal(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value);
Result<std::uint32_t> whole_number(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value);
Result<void> add_names(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value,
                       std::vector<std::string>& names);

}  // namespace ingot::grammar
