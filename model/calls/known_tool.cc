#include "model/calls/known_tool.h"

namespace ingot::calls {

KnownTools known_tools(const CallFormat& format, std::span<const Tool> tools) {
  const bool asks_kinds = format.spelling().shape == CallShape::tagged;
  std::vector<KnownTool> known;
  for (const Tool& tool : tools) {
    known.push_back({.name = tool.name, .parameters = asks_kinds ? ParameterKinds(tool.parameters) : ParameterKinds()});
  }
  return std::make_shared<const std::vector<KnownTool>>(std::move(known));
}

}  // namespace ingot::calls
