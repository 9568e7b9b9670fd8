#include "server/explanation_answer.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "engine/explanation_html.h"
#include "engine/explanation_json.h"
#include "machine/peaks_cache.h"
#include "profile/device_peaks.h"
#include "server/query.h"

namespace ingot {
namespace {

constexpr int map_retry_seconds = 10;

// Nobody's: what a measurement would find while others compute.
Peaks no_peaks(const Machine&, Workers&) { return {}; }

bool is_idle(const HostedModel* model) {
  if (model->texts() == nullptr) return model->embeddings()->counts().waiting == 0;
  const ServiceCounts counts = model->texts()->counts();
  return counts.running == 0 && counts.waiting == 0;
}

}  // namespace

void ExplanationAnswers::begin(const std::shared_ptr<Visit>& visit, HostedModel& model) {
  const Map* kept = nullptr;
  bool is_taken = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = maps_.find(&model);
    if (found != maps_.end()) kept = &found->second;
    is_taken = kept == nullptr && !std::exchange(is_drawing_, true);
  }
  if (kept != nullptr) return send(*visit, *kept);
  if (!is_taken) {
    return visit->refuse(protocol::unavailable("a model's map is being drawn: ask again", map_retry_seconds));
  }
  const auto is_gone = std::make_shared<std::atomic<bool>>(false);
  visit->on_pace([is_gone](http::Pace pace) { *is_gone = pace == http::Pace::gone; });
  passes_.post([this, visit, is_gone, &model] {
    if (*is_gone) {
      visit->abandon();
    } else {
      answer(*visit, model);
    }
    const std::lock_guard lock(mutex_);
    is_drawing_ = false;
  });
}

void ExplanationAnswers::answer(Visit& visit, HostedModel& model) {
  Result<Map> drawn = draw(model);
  if (!drawn.ok()) {
    const Error& error = drawn.error();
    const bool is_later = error.code() == ErrorCode::would_block;
    return visit.refuse(is_later ? protocol::unavailable(std::string(error.text()), map_retry_seconds)
                                 : protocol::engine_error(error, map_retry_seconds));
  }
  const Map* kept = nullptr;
  {
    const std::lock_guard lock(mutex_);
    kept = &(maps_[&model] = std::move(drawn).value());
  }
  send(visit, *kept);
}

Result<ExplanationAnswers::Map> ExplanationAnswers::draw(HostedModel& model) {
  Session& session = model.session();
  const PassPeaks of_processor = TRY(peaks(session));
  const Explanation explanation = TRY(explain(session, {}, Machine::detect(), of_processor, 0));
  return Map{explanation_html(model.id(), explanation), explanation_json(explanation)};
}

// A device's are measured between two passes, and in less than a second.
Result<PassPeaks> ExplanationAnswers::peaks(Session& session) {
  const DeviceSide* const side = session.device_side();
  if (side == nullptr) return PassPeaks(TRY(host_peaks(session)));
  if (side->takes_calls()) {
    return Error::of(ErrorCode::unsupported, "expected passes of this program's rows to explain, found that ",
                     std::string_view(side->device().information().name), " chooses its own");
  }
  const DevicePeaks of_device = TRY(measure_device_peaks(side->device(), side->queue()));
  PassPeaks peaks(of_device.rates);
  peaks.upload_bytes_per_second = of_device.upload_bytes_per_second;
  if (session.host_layers() > 0) peaks.of_host = TRY(host_peaks(session));
  return peaks;
}

Result<Peaks> ExplanationAnswers::host_peaks(Session& session) {
  if (peaks_) return *peaks_;
  const bool are_idle = std::ranges::all_of(models_, is_idle);
  const MeasurePeaks measure = are_idle ? measure_peaks : no_peaks;
  const Result<Peaks> found =
      cached_peaks_in(default_peaks_folder(), Machine::detect(), session.context_for_kernels().workers, measure);
  if (found.ok()) {
    peaks_ = found.value();
    return *peaks_;
  }
  if (are_idle) return found.error();
  return Error::of(ErrorCode::would_block, "the machine's peaks, which the map shows, are measured while nobody else ",
                   "computes: ask again later, or run `ingot machine` once");
}

void ExplanationAnswers::send(Visit& visit, const Map& map) {
  if (query_value(visit.request().query, "format") == "json") return visit.answer_json(map.json);
  // Self-contained: its script and style stand in it, and it asks nobody for anything.
  visit.answer(200, "text/html; charset=utf-8", map.page,
               {{"Content-Security-Policy",
                 "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
                 "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"},
                {"X-Content-Type-Options", "nosniff"}});
}

}  // namespace ingot
