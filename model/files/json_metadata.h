// A JSON configuration as Metadata: nested keys are joined by '.', so {"rope_scaling": {"factor": 2}} becomes
// "rope_scaling.factor". Integers become i64 (u64 where they must), other numbers f64. A list of one kind stays a list;
// the elements of any other list get their index as key ("layers.0.type"). null is as good as absent,
// but for Metadata::is_null().
// The bare words Infinity, -Infinity and NaN, which Python writes, become a text under "<key>.__float__".
#pragma once

#include <string_view>

#include "model/files/metadata.h"

namespace ingot {

// The top value must be an object. The result keeps copies: `json` need not outlive it.
Result<Metadata> metadata_from_json(std::string_view json);

}  // namespace ingot
