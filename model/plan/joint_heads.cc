#include "model/plan/joint_heads.h"

#include <algorithm>
#include <span>

#include "kernels/cache/rotated_store.h"

namespace ingot {
namespace {

// A field of one of the two steps, and what it is of the step that takes their place.
struct JoinedField {
  std::string_view of_first, of_second;  // of the joint step
  std::string_view field;                // of each of the two
};

struct JoinRule {
  std::string_view operation, joint;
  std::span<const JoinedField> own;          // different for both
  std::span<const std::string_view> common;  // operands that must be the same; they may be left out
  std::string_view writes;                   // what nobody may touch between the two steps
};

constexpr JoinedField rotated_fields[] = {{"first", "second", "x"}, {"first_y", "second_y", "y"}};
constexpr std::string_view rotation_inputs[] = {"positions", "sections", "frequency_factors"};
constexpr JoinRule rotations = {"position.rope", "position.joint_rope", rotated_fields, rotation_inputs, "y"};

constexpr JoinedField stored_fields[] = {{"keys", "values", "x"}, {"k_pages", "v_pages", "pages"}};
constexpr std::string_view store_inputs[] = {"sequences", "positions", "block_table"};
constexpr JoinRule stores = {"cache.store_paged", "cache.joint_store_paged", stored_fields, store_inputs, "pages"};

bool are_same(const Operand* left, const Operand* right) {
  return left == nullptr || right == nullptr ? left == right : *left == *right;
}

// Attributes are bound in the order of a template's calls, which is the same for both.
bool have_same_attributes(const Step& left, const Step& right) {
  return std::ranges::equal(left.attributes, right.attributes, [](const BoundAttribute& a, const BoundAttribute& b) {
    return a.field == b.field && a.value == b.value;
  });
}

bool touches(const Step& step, int tensor) {
  return std::ranges::any_of(step.operands, [&](const BoundOperand& bound) { return bound.operand.tensor == tensor; });
}

class Joining {
 public:
  Joining(Circuit& circuit, const JoinRule& rule) : circuit_(circuit), rule_(rule) {}

  int run() {
    int count = 0;
    for (std::size_t at = 0; at < circuit_.steps.size(); ++at) {
      if (circuit_.steps[at].operation->name != rule_.operation) continue;
      const std::size_t partner = partner_of(at);
      if (partner == at) continue;
      circuit_.steps[partner] = joined(circuit_.steps[at], circuit_.steps[partner]);
      circuit_.steps.erase(circuit_.steps.begin() + static_cast<std::ptrdiff_t>(at));
      --at;
      ++count;
    }
    return count;
  }

 private:
  // The next step of the same layer and operation that the one at `first` can be done with; `first` itself: none.
  std::size_t partner_of(std::size_t first) const {
    const Step& step = circuit_.steps[first];
    const int written = step.find(rule_.writes)->tensor;
    for (std::size_t at = first + 1; at < circuit_.steps.size() && circuit_.steps[at].layer == step.layer; ++at) {
      const Step& other = circuit_.steps[at];
      if (touches(other, written)) return first;
      if (other.operation->name != rule_.operation) continue;
      const bool fits = have_same_attributes(step, other) && std::ranges::all_of(rule_.common, [&](auto field) {
                          return are_same(step.find(field), other.find(field));
                        });
      return fits ? at : first;
    }
    return first;
  }

  Step joined(const Step& first, const Step& second) const {
    Step step =
        Step::of(rule_.joint, first.name + "+" + second.name.substr(layer_prefix(second.layer).size()), first.layer);
    for (const JoinedField& own : rule_.own) {
      step.bind(own.of_first, *first.find(own.field));
      step.bind(own.of_second, *second.find(own.field));
    }
    for (const std::string_view field : rule_.common) {
      if (const Operand* operand = first.find(field)) step.bind(field, *operand);
    }
    for (const BoundAttribute& bound : first.attributes) {
      step.set(first.operation->fields[static_cast<std::size_t>(bound.field)].name, bound.value);
    }
    return step;
  }

  Circuit& circuit_;
  const JoinRule& rule_;
};

// A joint rotation and the joint store of what it turned, which follows it.
bool go_together(const Step& turn, const Step& store) {
  return turn.operation->name == rotations.joint && store.operation->name == stores.joint &&
         turn.layer == store.layer && *turn.find("second_y") == *store.find("keys") &&
         turn.integer("rotary_dimensions") / 2 <= most_rotated_pairs;
}

Step rotated_store(const Step& turn, const Step& store) {
  // By what it does: the names of all four would not fit a line.
  Step step = Step::of("cache.rotated_store_paged", layer_prefix(turn.layer) + "rotate+store", turn.layer);
  for (const std::string_view field :
       {"first", "second", "positions", "sections", "frequency_factors", "first_y", "second_y"}) {
    if (const Operand* operand = turn.find(field)) step.bind(field, *operand);
  }
  for (const BoundAttribute& bound : turn.attributes) {
    step.set(turn.operation->fields[static_cast<std::size_t>(bound.field)].name, bound.value);
  }
  for (const std::string_view field : {"values", "sequences", "block_table", "k_pages", "v_pages"}) {
    step.bind(field, *store.find(field));
  }
  step.bind("cache_positions", *store.find("positions"));
  return step;
}

}  // namespace

int join_rotations(Circuit& circuit) { return Joining(circuit, rotations).run(); }
int join_stores(Circuit& circuit) { return Joining(circuit, stores).run(); }

int join_rotations_with_stores(Circuit& circuit) {
  int count = 0;
  for (std::size_t at = 0; at + 1 < circuit.steps.size(); ++at) {
    if (!go_together(circuit.steps[at], circuit.steps[at + 1])) continue;
    circuit.steps[at] = rotated_store(circuit.steps[at], circuit.steps[at + 1]);
    circuit.steps.erase(circuit.steps.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    ++count;
  }
  return count;
}

}  // namespace ingot
