// What /v1/models and /props say of the models that are served.
#pragma once

#include <span>
#include <string>

#include "server/hosted_model.h"

namespace ingot {

std::string model_answer(const HostedModel& model);
std::string model_list_answer(std::span<HostedModel* const> models);
std::string properties_answer(const HostedModel& model);

}  // namespace ingot
