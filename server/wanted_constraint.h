// WantedConstraint: what an answer is to be held to, before it is compiled.
#pragma once

#include <optional>

#include "server/hosted_model.h"
#include "server/protocol/answer_shape.h"
#include "server/protocol/chat_request.h"

namespace ingot {

struct WantedConstraint {
  std::string field;  // of the request, which asks for it
  std::string key;    // equal ones mean equal constraints of a model
  grammar::Constraints::Compile compile;
  grammar::Trigger trigger = {};

  using Made = protocol::Outcome<std::shared_ptr<const grammar::Constraint>>;
  // What was made of it before; nothing where it would have to be compiled.
  std::optional<Made> kept(grammar::Constraints& constraints) const;
  // Compiles where nobody did. Fails where it cannot be enforced.
  Made make(grammar::Constraints& constraints) const;
};

// Nothing where the answer may be any text.
std::optional<WantedConstraint> wanted_shape(const protocol::GenerationRequest& generation);
// Of an answer that may or must call; nothing where it may not.
std::optional<WantedConstraint> wanted_calls(const HostedModel& model, const protocol::ChatRequest& chat,
                                             bool begins_in_thought);

}  // namespace ingot
