// GET /explain: the model's map as a page (engine/explanation_html.h), or as JSON with ?format=json.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/hosted_model.h"
#include "server/visit.h"

namespace ingot {

// Of a query such as model=tales&format=json, its %xx decoded; nothing where the name is not there.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

// On the thread of passes. The machine's peaks are measured once; where that was not done yet and others are waiting
// for tokens, the client is told to come again.
void answer_explanation(Visit& visit, HostedModel& model);

}  // namespace ingot
