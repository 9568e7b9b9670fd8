// What a broker tells of itself, in Prometheus' text form.
#pragma once

#include <string>

#include "accelerator/broker.h"

namespace ingot {

std::string broker_metrics_text(const BrokerFigures& figures);

}  // namespace ingot
