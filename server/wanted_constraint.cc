#include "server/wanted_constraint.h"

#include "model/calls/call_grammar.h"
#include "server/protocol/value_text.h"

namespace ingot {
namespace {

WantedConstraint::Made told(Result<std::shared_ptr<const grammar::Constraint>> made, const std::string& field) {
  if (made.ok()) return std::move(made).value();
  const bool is_full = made.error().code() == ErrorCode::would_block;
  if (is_full) return protocol::unavailable(field + ": " + std::string(made.error().text()), 1);
  return protocol::wrong_field(field, field + ": " + std::string(made.error().text()));
}

}  // namespace

std::optional<WantedConstraint::Made> WantedConstraint::kept(grammar::Constraints& constraints) const {
  auto found = constraints.kept(key, trigger);
  if (!found) return std::nullopt;
  return told(*std::move(found), field);
}

WantedConstraint::Made WantedConstraint::make(grammar::Constraints& constraints) const {
  return told(constraints.of(key, compile, trigger), field);
}

std::optional<WantedConstraint> wanted_shape(const protocol::GenerationRequest& generation) {
  if (!generation.shape) return std::nullopt;
  const grammar::GrammarSource& source = generation.shape->source;
  return WantedConstraint{.field = generation.shape->field, .key = source.key(), .compile = [source] {
                            return grammar::compile_source(source);
                          }};
}

std::optional<WantedConstraint> wanted_calls(const HostedModel& model, const protocol::ChatRequest& chat,
                                             bool begins_in_thought) {
  const protocol::ToolUse& use = chat.tools;
  const std::shared_ptr<const calls::CallFormat>& format = model.call_format();
  if (!use.is_on() || format == nullptr) return std::nullopt;
  // Whoever names a tool gets one call of it, as OpenAI has it.
  const bool is_parallel = use.is_parallel && use.choice != calls::ToolChoice::named;
  const bool is_free_first = use.choice == calls::ToolChoice::automatic;
  // All that the grammar follows from beside the model.
  std::string key = "calls ";
  key += static_cast<char>('0' + static_cast<int>(use.choice));
  key += is_parallel ? 'p' : 's';
  key += begins_in_thought ? 't' : 'w';
  key += use.name + " " + protocol::json_of(calls::tools_value(use.tools));
  return WantedConstraint{
      .field = "tools",
      .key = std::move(key),
      .compile =
          [format, use, is_parallel, begins_in_thought] {
            return calls::call_grammar(*format, use.tools, use.choice, use.name, is_parallel, begins_in_thought);
          },
      .trigger = is_free_first ? calls::call_trigger(*format, begins_in_thought) : grammar::Trigger()};
}

}  // namespace ingot
