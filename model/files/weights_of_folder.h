// Which file of a Hugging Face folder has the weights, or says where they are:
//
//   model.safetensors                         all of them
//   model.safetensors.index.json              a list of shards
//   another *.safetensors.index*.json         the same, of a variant (fp16, ...); it must be the only one that is
//   complete another .safetensors file                 all of them; it must be the only one
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ingot {

inline constexpr std::string_view whole_model_name = "model.safetensors";
inline constexpr std::string_view shard_index_name = "model.safetensors.index.json";

bool is_shard_index(std::string_view path);

std::string inside(const std::string& folder, std::string_view name);
bool exists(const std::string& path);

// Names, in their order. A folder that cannot be read holds none.
std::vector<std::string> names_in(const std::string& folder, const std::function<bool(std::string_view)>& is_wanted);

// The path where one of the two usual names is there.
std::optional<std::string> usual_weights_of(const std::string& folder);
// The path where there is one of another name; nothing where there is none. Several to choose from are an error.
Result<std::optional<std::string>> other_weights_of(const std::string& folder);

// Fails where an index in the file's folder lists it as one of several.
Result<void> require_no_shard(const std::string& path);

}  // namespace ingot
