// How evenly the router spreads tokens over experts, and the loss that asks for more evenness (Switch Transformer's,
// with k choices a token).
//
//   counts[e] = how often e was chosen             mean_probability[e] = (1/T) sum_t probabilities[t,e]
//   loss = E sum_e counts[e] / (T k) mean_probability[e]            1 where the load is even; 0 where there are no
//   tokens
//
// C1  probabilities has shape [T, E] with E >= 1
// C2  indices has shape [T, k] with k >= 1 and T k < 2^31, and every index lies in [0, E)
// C3  counts and mean_probability have shape [E], loss has shape [1]
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct LoadMetrics {
  static constexpr std::string_view name = "routing.load_metrics";
  static constexpr std::string_view equation =
      "loss = E sum_e f[e] P[e], f[e] = counts[e] / (T k), P[e] = mean_t probabilities[t,e]";
  static constexpr Backward backward = Backward::by("routing.load_metrics_backward");

  struct Arguments {
    View<const float> probabilities;
    View<const std::int32_t> indices;
    View<std::int32_t> counts;
    View<float> mean_probability;
    View<float> loss;

    static constexpr auto fields() {
      return field_list(input(&Arguments::probabilities, "probabilities"), input(&Arguments::indices, "indices"),
                        output(&Arguments::counts, "counts"), output(&Arguments::mean_probability, "mean_probability"),
                        output(&Arguments::loss, "loss"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<LoadMetrics>> variants();
  static void cases(CaseList<LoadMetrics>& list);
};

// Its backward. Counts have no derivative; the probabilities carry it all.
//
//   dprobabilities[t,e] = (1/T) ( dmean_probability[e] + dloss E counts[e] / (T k) )
//
// C1  dprobabilities has shape [T, E] with E >= 1
// C2  indices has shape [T, k] with k >= 1
// C3  counts and dmean_probability (where given) have shape [E], dloss has shape [1]
struct LoadMetricsBackward {
  static constexpr std::string_view name = "routing.load_metrics_backward";
  static constexpr std::string_view equation =
      "dprobabilities[t,e] = (dmean_probability[e] + dloss E counts[e] / (T k)) / T";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const std::int32_t> indices;
    View<const std::int32_t> counts;
    View<const float> dmean_probability;
    View<const float> dloss;
    View<float> dprobabilities;

    static constexpr auto fields() {
      return field_list(input(&Arguments::indices, "indices"), input(&Arguments::counts, "counts"),
                        optional_input(&Arguments::dmean_probability, "dmean_probability"),
                        input(&Arguments::dloss, "dloss"), output(&Arguments::dprobabilities, "dprobabilities"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<LoadMetricsBackward>> variants();
  static void cases(CaseList<LoadMetricsBackward>& list);
};

void load_metrics_reference(const LoadMetrics::Arguments& arguments, Context& context);
extern const Variant<LoadMetrics> load_metrics_cuda;
void load_metrics_backward_reference(const LoadMetricsBackward::Arguments& arguments, Context& context);

}  // namespace ingot
