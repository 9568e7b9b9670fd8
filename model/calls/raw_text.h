// Texts as they are, up to a mark that ends them.
#pragma once

#include <string_view>

#include "model/grammar/expression.h"
#include "model/grammar/schema/shape.h"

namespace ingot::calls {

struct RawText {
  std::string_view mark;        // ends the text, which has none in it
  std::string_view end;         // what is written behind the text: the mark with white space around it
  std::string_view other = {};  // is in no text either; may be empty
};

// A text without the mark, and its end. UTF-8 without control characters but white space.
Result<grammar::ExpressionId> raw_text(grammar::Expressions& expressions, const RawText& raw);

// The same for a text that a schema bounds. Precondition: the shape's types are texts alone.
Result<grammar::ExpressionId> bounded_raw_text(grammar::Expressions& expressions, const grammar::Shape& shape,
                                               const RawText& raw);

}  // namespace ingot::calls
