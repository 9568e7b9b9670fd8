// What /v1/models says of the models that are served.
#pragma once

#include <span>
#include <string>

#include "server/hosted_model.h"

namespace ingot {

std::string model_answer(const HostedModel& model);
std::string model_list_answer(std::span<HostedModel* const> models);

}  // namespace ingot
