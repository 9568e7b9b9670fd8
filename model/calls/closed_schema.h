// Schemas of arguments, which say what a function takes: what they do not declare is not called for.
#pragma once

#include "model/chat/value.h"

namespace ingot::calls {

// The same schema, whose objects have declared properties alone unless it says what others may be. JSON Schema lets
// anything else stand beside them, and a model that may write anything hardly comes to an end. Where schemas are put
// together of several that tell of one object (allOf and the like), each would forbid what the others declare: they
// stay as they are.
chat::Value closed_schema(const chat::Value& schema);

}  // namespace ingot::calls
