#include "server/explanation_answer.h"

#include <algorithm>

#include "engine/explanation_html.h"
#include "engine/explanation_json.h"
#include "machine/peaks_cache.h"
#include "server/http/percent.h"

namespace ingot {
namespace {

constexpr int map_retry_seconds = 10;

// As forms spell it; what is no such text stands for itself.
std::string decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return http::percent_decoded(spaced).value_or(spaced);
}

// Nobody's: what a measurement would find while others compute.
Peaks no_peaks(const Machine&, Workers&) { return {}; }

Result<Explanation> explained(HostedModel& model) {
  Session& session = model.session();
  const Machine machine = Machine::detect();
  Workers& workers = session.context_for_kernels().workers;
  const bool is_idle = model.texts() == nullptr || model.texts()->counts().running == 0;
  const MeasurePeaks measure = is_idle ? measure_peaks : no_peaks;
  Result<Peaks> peaks = cached_peaks_in(default_peaks_folder(), machine, workers, measure);
  if (!peaks.ok() && !is_idle) {
    return Error::of(ErrorCode::would_block,
                     "the machine's peaks, which the map shows, are measured while nobody else ",
                     "computes: ask again later, or run `ingot machine` once");
  }
  return explain(session, {}, machine, TRY(std::move(peaks)), 0);
}

}  // namespace

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    if (part.substr(0, equals) != name) continue;
    return decoded(part.substr(std::min(equals + 1, part.size())));
  }
  return std::nullopt;
}

void answer_explanation(Visit& visit, HostedModel& model) {
  const Result<Explanation> explanation = explained(model);
  if (!explanation.ok()) {
    const Error& error = explanation.error();
    const bool is_later = error.code() == ErrorCode::would_block;
    return visit.refuse(is_later ? protocol::unavailable(std::string(error.text()), map_retry_seconds)
                                 : protocol::engine_error(error, map_retry_seconds));
  }
  if (query_value(visit.request().query, "format") == "json") {
    return visit.answer_json(explanation_json(explanation.value()));
  }
  // Self-contained: its script and style stand in it, and it asks nobody for anything.
  visit.answer(200, "text/html; charset=utf-8", explanation_html(model.id(), explanation.value()),
               {{"Content-Security-Policy",
                 "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
                 "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"},
                {"X-Content-Type-Options", "nosniff"}});
}

}  // namespace ingot
