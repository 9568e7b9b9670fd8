// What is asked by a JSON body: texts, embeddings, tokens. On a helper's thread.
#pragma once

#include "model/chat/dictionary.h"
#include "server/helpers.h"
#include "server/hosted_model.h"
#include "server/routes.h"
#include "server/text_answer.h"
#include "server/visit.h"

namespace ingot {

struct BodyRequest {
  std::shared_ptr<Visit> visit;
  const chat::Dictionary& body;
  HostedModel& model;
  Helpers& helpers;
  std::optional<double> deadline_seconds = {};

  std::optional<Visit::Clock::time_point> deadline() const;
};

// Answers it, now or later; where an error is returned, nothing was answered.
protocol::Outcome<void> answer_request(const BodyRequest& request, Endpoint endpoint, TextAnswers& texts);

}  // namespace ingot
