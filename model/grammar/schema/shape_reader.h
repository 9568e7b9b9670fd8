// From schemas to shapes: every keyword is read, or refused by name.
#pragma once

#include <span>
#include <vector>

#include "model/grammar/budget.h"
#include "model/grammar/schema/shape.h"

namespace ingot::grammar {

class ShapeReader {
 public:
  ShapeReader(const SchemaDocument& document, Budget& budget) : document_(document), budget_(budget) {}

  // Refuses words that nobody knows, in all schemas that this one holds or refers to: also where no value comes.
  Result<void> expect_known_words(const SchemaPlace& schema);

  // None: nothing satisfies them.
  Result<std::vector<Shape>> read(const Conjunction& schemas);

  // Whether no value has both shapes, as far as can be told: false may be wrong, true never is.
  bool are_disjoint(const Shape& left, const Shape& right);

 private:
  static constexpr std::size_t most_shapes = 256;
  static constexpr int deepest_schema = 100;

  using Shapes = std::vector<Shape>;
  enum class Sense : bool { plain, negated };
  // Schemas that are being read for one value.
  struct Path {
    std::vector<const chat::Value*> references = {};  // one that comes again never ends
    int depth = 0;
  };

  Result<void> apply(const SchemaPlace& schema, Path& path, Shapes& shapes);
  Result<void> expect_in_dialect(const SchemaPlace& schema) const;
  Result<bool> holds_reference(const SchemaPlace& schema);
  // Before they are copied so many times.
  Result<void> spend_copies(const Shapes& shapes);
  Result<void> apply_keyword(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value,
                             Shapes& shapes);
  Result<void> apply_applicator(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value,
                                Path& path, Shapes& shapes);
  Result<void> apply_reference(const SchemaPlace& schema, const chat::Value& value, Path& path, Shapes& shapes,
                               Sense sense);
  Result<void> apply_condition(const SchemaPlace& schema, Path& path, Shapes& shapes);
  Result<void> apply_alternatives(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value,
                                  Path& path, Shapes& shapes);
  Result<void> expect_disjoint(const SchemaPlace& schema, const std::vector<Shapes>& branches);
  bool are_disjoint(const Shapes& left, const Shapes& right);
  Result<void> exclude_others(const SchemaPlace& schema, const chat::Value& value, Path& path,
                              std::vector<Shapes>& branches);
  Result<void> apply_dependencies(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value,
                                  Path& path, Shapes& shapes);
  // Leaves what does not satisfy the schema, or the keyword.
  Result<void> apply_negated(const SchemaPlace& schema, Path& path, Shapes& shapes);
  Result<void> apply_negated_keyword(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value,
                                     Path& path, Shapes& shapes);
  Result<void> apply_negated_list(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value,
                                  Path& path, Shapes& shapes);
  Result<void> apply_negated_children(const SchemaPlace& schema, std::string_view keyword, const chat::Value& value,
                                      Shapes& shapes);
  Result<void> apply_items(const SchemaPlace& schema, Shapes& shapes);
  Result<void> apply_properties(const SchemaPlace& schema, Shapes& shapes);

  bool are_objects_disjoint(const Shape& left, const Shape& right);
  bool excludes(const Shape& asking, const Shape& other, const std::string& name);

  const SchemaDocument& document_;
  Budget& budget_;
  int looks_ = 0;  // into properties, one inside of the other
};

}  // namespace ingot::grammar
