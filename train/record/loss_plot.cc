#include "train/record/loss_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/files/replaced_file.h"
#include "train/record/chart.h"
#include "train/record/run_summary.h"

namespace ingot {

namespace {

constexpr std::size_t most_points = 1000;
constexpr std::size_t most_validations = 200;  // dots need room
constexpr double smoothing_part = 1.0 / 80;    // of all steps

constexpr std::string_view style_html = R"html(<style>
:root{--ink:#1d2129;--soft:#667;--line:#e3e5ea;--paper:#f6f6f7;--card:#fff;--train:#b4541a;--check:#2f6fd0;--rate:#3f8f5f;
--norm:#8a5bb0;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e4e6eb;--soft:#99a;--line:#2c3038;--paper:#14161a;--card:#1b1e24;
--train:#f0894a;--check:#74a9f7;--rate:#6cc091;--norm:#b993dd;--bad:#ff8a80}}
*{box-sizing:border-box}body{margin:0;font:14px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
main{max-width:1040px;margin:0 auto;padding:28px 20px 48px}header{display:flex;align-items:baseline;gap:12px;flex-wrap:wrap}
h1{font-size:22px;margin:0;font-weight:650;overflow-wrap:anywhere}h2{font-size:13px;margin:0 0 6px;font-weight:600}
.state{font-size:12px;color:var(--soft);border:1px solid var(--line);border-radius:99px;padding:1px 10px}
.live{color:var(--train);border-color:currentColor}.warn{color:var(--bad);margin:10px 0 0}
.progress{height:4px;background:var(--line);border-radius:2px;margin:14px 0;overflow:hidden}
.progress i{display:block;height:100%;background:var(--train)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin-bottom:12px}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px}
.tile b{display:block;font-size:20px;font-weight:650;font-variant-numeric:tabular-nums;white-space:nowrap}
.tile span,.key{color:var(--soft);font-size:12px;font-weight:400}.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));
gap:12px;margin-top:12px}.key{float:right}.key i{display:inline-block;width:14px;height:3px;border-radius:2px;margin:0 5px 3px 14px}
svg{display:block;width:100%}.chart{overflow:visible}svg text{font:11px system-ui,sans-serif;fill:var(--soft);
font-variant-numeric:tabular-nums}polyline{fill:none;stroke-linejoin:round;stroke-width:2}
.grid{stroke:var(--line)}.axis{stroke:var(--soft);stroke-opacity:.5}
.train,.raw{stroke:var(--train)}.raw polyline{stroke-opacity:.28;stroke-width:1}
.check{stroke:var(--check)}.check polyline{stroke-width:1.5}.check circle{fill:var(--check);stroke:var(--card)}
.rate{stroke:var(--rate)}.norm,.rawnorm{stroke:var(--norm)}.rawnorm polyline{stroke-opacity:.28;stroke-width:1}
.pointer{stroke:var(--soft);stroke-dasharray:3 3}
#tip{position:fixed;pointer-events:none;display:none;background:var(--card);border:1px solid var(--line);border-radius:8px;
padding:6px 10px;font-size:12px;box-shadow:0 6px 24px #0004;white-space:pre;font-variant-numeric:tabular-nums}
</style>)html";

// Reads the curves back from the drawing, so that the page holds every point once.
constexpr std::string_view script_html = R"html(<div id="tip"></div><script>
'use strict';
const tip=document.getElementById('tip'),number=v=>v.toLocaleString('en',{maximumSignificantDigits:4});
for(const svg of document.querySelectorAll('svg.chart')){
 const [first,last,low,high,left,right,bottom,top]=svg.dataset.bounds.split(' ').map(Number);
 const curves=[...svg.querySelectorAll('polyline[data-label]')].map(p=>({label:p.dataset.label,
  points:p.getAttribute('points').split(' ').map(s=>s.split(',').map(Number))}));
 const pointer=svg.appendChild(document.createElementNS(svg.namespaceURI,'line'));
 pointer.setAttribute('class','pointer');pointer.setAttribute('y1',top);pointer.setAttribute('y2',bottom);
 const hide=()=>{tip.style.display=pointer.style.display='none'};hide();
 svg.addEventListener('pointerleave',hide);
 svg.addEventListener('pointermove',e=>{const box=svg.getBoundingClientRect();
  const x=(e.clientX-box.left)*svg.viewBox.baseVal.width/box.width;
  if(x<left||x>right){hide();return}
  pointer.setAttribute('x1',x);pointer.setAttribute('x2',x);pointer.style.display='';
  const step=Math.round(first+(x-left)/(right-left)*(last-first));let text='step '+step.toLocaleString('en');
  for(const c of curves){let best=c.points[0];
   for(const p of c.points)if(Math.abs(p[0]-x)<Math.abs(best[0]-x))best=p;
   text+='\n'+c.label+' '+number(low+(bottom-best[1])/(bottom-top)*(high-low))}
  tip.textContent=text;tip.style.display='block';
  tip.style.left=Math.min(e.clientX+14,innerWidth-tip.offsetWidth-8)+'px';tip.style.top=e.clientY+14+'px'})}
</script>)html";

std::string escaped_html(std::string_view text) {
  std::string escaped;
  for (char character : text) {
    switch (character) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += character;
    }
  }
  return escaped;
}

std::string tile(const std::string& value, const std::string& name) {
  return "<div class=\"card tile\"><b>" + value + "</b><span>" + name + "</span></div>\n";
}

std::string number_or_dash(const std::optional<double>& value) { return value ? short_number(*value) : "\u2013"; }

template <class Value>
std::vector<CurvePoint> finite_points(std::span<const RunStep> steps, Value value) {
  std::vector<CurvePoint> points;
  points.reserve(steps.size());
  for (const RunStep& step : steps) {
    const double y = value(step);
    if (std::isfinite(y)) points.push_back({static_cast<double>(step.step), y});
  }
  return points;
}

std::vector<CurvePoint> mean_curve(std::span<const CurvePoint> points) {
  return smoothed(points, std::max(1.0, smoothing_part * static_cast<double>(points.size())));
}

double highest(std::span<const CurvePoint> points) { return std::ranges::max(points, {}, &CurvePoint::y).y; }
double lowest(std::span<const CurvePoint> points) { return std::ranges::min(points, {}, &CurvePoint::y).y; }

Chart chart_over(std::span<const RunStep> steps) {
  Chart chart;
  chart.first = 0;
  chart.last = static_cast<double>(std::max<std::int64_t>(steps.back().step, 1));
  return chart;
}

// The first few steps and single spikes may leave the drawing: what is to be seen would lie flat at the bottom of it.
constexpr double drawn_part = 0.98;

std::string loss_card(std::span<const RunStep> steps) {
  Chart chart = chart_over(steps);
  const std::vector<CurvePoint> raw = finite_points(steps, [](const RunStep& step) { return step.loss; });
  const std::vector<CurvePoint> mean = mean_curve(raw);
  const std::vector<CurvePoint> validation = finite_points(steps, [](const RunStep& step) {
    return step.validation_loss.value_or(std::numeric_limits<double>::quiet_NaN());
  });
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  if (!raw.empty()) {
    low = std::min(lowest(mean), quantile(raw, 1 - drawn_part));
    high = std::max(quantile(mean, drawn_part), quantile(raw, drawn_part));
  }
  if (!validation.empty()) {
    low = std::min(low, lowest(validation));
    high = std::max(high, highest(validation));
  }
  if (low <= high) set_bounds(chart, low, high);
  chart.curves = {{"raw", "", thinned(raw, most_points), false},
                  {"train", "training", thinned(mean, most_points), false},
                  {"check", "validation", thinned(validation, most_validations), true}};
  return "<div class=\"card\"><h2>Loss<span class=\"key\"><i style=\"background:var(--train)\"></i>training, smoothed"
         "<i style=\"background:var(--check)\"></i>validation</span></h2>" +
         chart_svg(chart) + "</div>\n";
}

std::string small_card(std::string_view title, Chart chart) {
  chart.width = 470;
  chart.height = 190;
  return "<div class=\"card\"><h2>" + std::string(title) + "</h2>" + chart_svg(chart) + "</div>\n";
}

std::string rate_card(std::span<const RunStep> steps) {
  Chart chart = chart_over(steps);
  const std::vector<CurvePoint> rates = finite_points(steps, [](const RunStep& step) { return step.learning_rate; });
  if (!rates.empty()) set_bounds(chart, 0, highest(rates));
  chart.curves = {{"rate", "learning rate", thinned(rates, most_points), false}};
  return small_card("Learning rate", std::move(chart));
}

std::string norm_card(std::span<const RunStep> steps) {
  Chart chart = chart_over(steps);
  const std::vector<CurvePoint> raw = finite_points(steps, [](const RunStep& step) { return step.gradient_norm; });
  const std::vector<CurvePoint> mean = mean_curve(raw);
  if (!raw.empty()) set_bounds(chart, 0, std::max(quantile(mean, drawn_part), quantile(raw, drawn_part)));
  chart.curves = {{"rawnorm", "", thinned(raw, most_points), false},
                  {"norm", "gradient norm", thinned(mean, most_points), false}};
  return small_card("Gradient norm, before clipping", std::move(chart));
}

std::string head_html(const RunHeading& heading) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
  if (heading.state == RunState::live) html += "<meta http-equiv=\"refresh\" content=\"5\">\n";
  html += "<title>" + escaped_html(heading.title) + "</title>";
  html += style_html;
  return html + "</head><body><main>\n";
}

std::string heading_html(const RunHeading& heading, const RunSummary& summary) {
  const double part = heading.steps > 0 ? static_cast<double>(summary.step) / static_cast<double>(heading.steps) : 0;
  const std::string percent = short_number(std::floor(1000 * std::clamp(part, 0.0, 1.0)) / 10) + "%";
  std::string html = "<header><h1>" + escaped_html(heading.title) + "</h1>";
  switch (heading.state) {
    case RunState::live: html += "<span class=\"state live\">\u25cf live</span>"; break;
    case RunState::finished: html += "<span class=\"state\">finished</span>"; break;
    case RunState::stopped: html += "<span class=\"state\">stopped</span>"; break;
  }
  html += "</header>\n<div class=\"progress\"><i style=\"width:" + percent + "\"></i></div>\n<div class=\"tiles\">\n";
  html += tile(short_number(static_cast<double>(summary.step)),
               "of " + short_number(static_cast<double>(heading.steps)) + " steps, " + percent);
  html += tile(number_or_dash(summary.loss), "training loss, last steps");
  html += tile(number_or_dash(summary.validation_loss),
               summary.best_validation_loss ? "validation loss, best " + short_number(*summary.best_validation_loss)
                                            : "validation loss");
  html += tile(number_or_dash(summary.tokens_per_second),
               "tokens a second, " + short_number(static_cast<double>(summary.tokens)) + " in all");
  if (heading.state == RunState::live) {
    html += tile(summary.seconds_left ? duration_text(*summary.seconds_left) : "\u2013", "left");
  }
  html += "</div>\n";
  if (summary.unusable > 0) {
    html += "<p class=\"warn\">" + short_number(static_cast<double>(summary.unusable)) +
            " steps had a loss that is not a finite number; the curves leave them out.</p>\n";
  }
  return html;
}

}  // namespace

std::string loss_plot_html(const RunHeading& heading, std::span<const RunStep> steps) {
  std::string html = head_html(heading) + heading_html(heading, summary_of(steps, heading.steps));
  if (steps.empty()) {
    html += "<div class=\"card\">No step is done yet.</div>\n";
  } else {
    html += loss_card(steps) + "<div class=\"pair\">\n" + rate_card(steps) + norm_card(steps) + "</div>\n";
  }
  html += "</main>";
  html += script_html;
  return html + "</body></html>\n";
}

Result<void> write_loss_plot(const std::string& path, const RunHeading& heading, std::span<const RunStep> steps) {
  const std::string page = loss_plot_html(heading, steps);
  ReplacedFile file = TRY(ReplacedFile::create(path));
  TRY(file.write(std::as_bytes(std::span(page))));
  return file.commit();
}

}  // namespace ingot
