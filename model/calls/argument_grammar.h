// The arguments of a call, held to the tool's schema, in a format's spelling.
#pragma once

#include "model/calls/call_format.h"
#include "model/grammar/expression.h"

namespace ingot::calls {

// JSON where the format has it. Where it writes arguments one by one, the schema must be one object whose properties
// are declared; then no others come, and they come in the schema's order.
Result<grammar::ExpressionId> write_arguments(const Tool& tool, const CallSpelling& spelling,
                                              grammar::Expressions& expressions);

}  // namespace ingot::calls
