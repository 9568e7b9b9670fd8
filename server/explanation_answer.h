// GET /explain: the model's map as a page (engine/explanation_html.h), or as JSON with ?format=json.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/explanation.h"
#include "machine/peaks.h"
#include "server/hosted_model.h"
#include "server/passes.h"
#include "server/visit.h"

namespace ingot {

// Maps are drawn between two passes, one at a time, and each once: a model's does not change.
class ExplanationAnswers {
 public:
  // Must outlive it.
  explicit ExplanationAnswers(Passes& passes) : passes_(passes) {}
  // All that are served; before the first request.
  void set_models(std::vector<HostedModel*> models) { models_ = std::move(models); }

  // On the loop's thread. Who asks while another's map is drawn is told to come again, and so is everybody before the
  // machine's peaks, which a map shows, could be measured while nobody computes.
  void begin(const std::shared_ptr<Visit>& visit, HostedModel& model);

 private:
  struct Map {
    std::string page;
    std::string json;
  };

  static void send(Visit& visit, const Map& map);
  // On the thread of passes.
  void answer(Visit& visit, HostedModel& model);
  Result<Map> draw(HostedModel& model);
  Result<PassPeaks> peaks(Session& session);
  Result<Peaks> host_peaks(Session& session);

  Passes& passes_;
  std::vector<HostedModel*> models_;
  std::optional<Peaks> peaks_;  // the thread of passes' own

  std::mutex mutex_;  // of all that follows
  bool is_drawing_ = false;
  std::map<const HostedModel*, Map> maps_;  // which stay as they are
};

}  // namespace ingot
