// The number of this Ingot. The build reads this line, too.
#pragma once

namespace ingot {

inline constexpr const char* version = "0.1.0";

}  // namespace ingot
