// Arrays: the first items have schemas of their own, the others are counted.
#include <algorithm>

#include "model/grammar/schema/schema_writer.h"

namespace ingot::grammar {

namespace {

constexpr std::size_t most_first_items = 256;

std::uint32_t less(std::uint32_t bound, std::uint32_t count) {
  return bound == unbounded ? unbounded : bound - std::min(bound, count);
}

}  // namespace

Conjunction SchemaWriter::item_schemas(const Shape& shape, std::size_t index) const {
  Conjunction schemas;
  for (const ArrayClause& clause : shape.arrays) {
    if (index < clause.first.size()) {
      schemas.push_back(clause.first[index]);
    } else if (clause.others) {
      schemas.push_back(*clause.others);
    }
  }
  return schemas;
}

Result<ExpressionId> SchemaWriter::write_array(const Shape& shape) {
  if (!shape.contained.empty()) return write_containing(shape);
  if (shape.least_items > shape.most_items) return expressions_.never();
  std::size_t first = 0;
  for (const ArrayClause& clause : shape.arrays) first = std::max(first, clause.first.size());
  if (first > most_first_items) {
    return error_at(shape.arrays[0].first[0], "prefixItems", "at most 256 items with a schema of their own");
  }
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(first, shape.most_items));
  const ExpressionId other = value_of(item_schemas(shape, first));
  const ExpressionId next = expressions_.sequence({comma_, other});
  // From the last backwards: an array may end before each item that it need not have.
  ExpressionId rest = expressions_.empty();
  if (count == 0) {
    const ExpressionId more = expressions_.repeat(next, less(shape.least_items, 1), less(shape.most_items, 1));
    rest = shape.most_items == 0 ? expressions_.empty() : expressions_.sequence({other, more, space_});
    if (shape.least_items == 0) rest = expressions_.optional(rest);
  } else {
    rest = expressions_.sequence(
        {expressions_.repeat(next, less(shape.least_items, count), less(shape.most_items, count)), space_});
    for (std::uint32_t index = count; index-- > 0;) {
      const ExpressionId item = value_of(item_schemas(shape, index));
      const ExpressionId comma = index == 0 ? expressions_.empty() : comma_;
      rest = expressions_.sequence({comma, item, rest});
      if (index >= shape.least_items) {
        rest = expressions_.alternatives({rest, index == 0 ? expressions_.empty() : space_});
      }
    }
  }
  return expressions_.sequence({expressions_.text("["), space_, rest, expressions_.text("]")});
}

// Items of any kind, and among them so many of one.
Result<ExpressionId> SchemaWriter::write_containing(const Shape& shape) {
  const Shape::Contained& contained = shape.contained[0];
  const bool has_first =
      std::ranges::any_of(shape.arrays, [](const ArrayClause& clause) { return !clause.first.empty(); });
  if (shape.contained.size() > 1 || has_first || shape.most_items != unbounded || shape.least_items > contained.least) {
    return error_at(contained.schema, "contains", "no other bound of the array beside it");
  }
  Conjunction schemas = item_schemas(shape, 0);
  const ExpressionId any = value_of(schemas);
  schemas.push_back(contained.schema);
  const ExpressionId one = value_of(schemas);
  const ExpressionId before = expressions_.repeat(expressions_.sequence({any, comma_}), 0, unbounded);
  const ExpressionId again = expressions_.sequence({comma_, before, one});
  const ExpressionId after = expressions_.repeat(expressions_.sequence({comma_, any}), 0, unbounded);
  return expressions_.sequence({expressions_.text("["), space_, before, one,
                                expressions_.repeat(again, contained.least - 1, contained.least - 1), after, space_,
                                expressions_.text("]")});
}

}  // namespace ingot::grammar
