// What /v1/models, /lora-adapters and /props say of the models that are served.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "server/hosted_model.h"

namespace ingot {

// `adapter`: of the model with this one.
std::string model_answer(const HostedModel& model, std::optional<std::size_t> adapter = {});
// As llama-server tells its adapters, with their names.
std::string adapters_answer(const HostedModel& model);
std::string model_list_answer(std::span<HostedModel* const> models);
std::string properties_answer(const HostedModel& model);

}  // namespace ingot
