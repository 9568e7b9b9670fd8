// Fields that llama-server knows and this server has nothing for. With a value that switches it off such a field asks
// for nothing, so that programs which send all that they know are answered; any other value is refused by name.
#pragma once

#include "server/protocol/field_reader.h"

namespace ingot::protocol {

void read_neutral_fields(FieldReader& reader);

}  // namespace ingot::protocol
