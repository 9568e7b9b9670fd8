// POST /v1/embeddings: every input through the model, and one answer when the last is there.
#pragma once

#include "server/body_requests.h"

namespace ingot {

// As answer_request().
protocol::Outcome<void> answer_embeddings(const BodyRequest& request);

}  // namespace ingot
