// What an answer is read by: the names of the tools, and how values of their parameters are written.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/calls/call_format.h"
#include "model/calls/parameter_kind.h"

namespace ingot::calls {

struct KnownTool {
  std::string name;
  ParameterKinds parameters = {};
};

// One list for all answers of a request, each of which is read while others are computed.
using KnownTools = std::shared_ptr<const std::vector<KnownTool>>;

// Never null. Schemas are looked at where the format writes values without quotes, and kept in no case.
KnownTools known_tools(const CallFormat& format, std::span<const Tool> tools);

}  // namespace ingot::calls
