// The grammar of an answer that calls tools, in the spelling of the model's own format, with the arguments held to the
// tools' schemas.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "model/calls/call_format.h"
#include "model/grammar/grammar.h"
#include "model/grammar/trigger.h"

namespace ingot::calls {

// required, named: the whole answer; a thought may come first, and does where `begins_in_thought`. `name` is the named
// tool's. automatic: from call_trigger() on, before which the text is free; where that is empty, the whole answer,
// which is a call or does not begin as one. Precondition: the choice is not none.
//
// One call, or several where `parallel` and where the format writes several. Errors: no tools, a name that none has, a
// keyword that is not enforced (with the tool's name), a format that cannot hold the schema.
Result<std::shared_ptr<const grammar::Grammar>> call_grammar(const CallFormat& format, std::span<const Tool> tools,
                                                             ToolChoice choice, std::string_view name, bool parallel,
                                                             bool begins_in_thought = false,
                                                             const grammar::CompileLimits& limits = {});

// What switches the grammar of an automatic choice on, outside of thoughts. A mark in brackets does by itself; words,
// which may stand in any text, with all that is always written before the first call.
grammar::Trigger call_trigger(const CallFormat& format, bool begins_in_thought);

}  // namespace ingot::calls
