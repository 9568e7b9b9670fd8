// Nodes that Ingot has no operation for, and why.
#include "tests/outside/trial.h"

namespace ingot::outside {

std::string_view reason_for_no_adapter(std::string_view operation) {
  struct Reason {
    std::string_view operation;
    std::string_view text;
  };
  static constexpr Reason reasons[] = {
      {"CumProd", "running products are no part of a model's circuit"},
      {"CumSum", "running sums occur only inside the state family's recurrences"},
      {"Einsum", "a circuit names its products; it has no formula to interpret"},
      {"GRU", "recurrent cells have no operation of their own"},
      {"Hardmax", "a one-hot of the maximum has no operation; elementwise.argmax gives the index"},
      {"LSTM", "recurrent cells have no operation of their own"},
      {"OneHot", "class losses take indices, so nothing makes one-hot rows"},
      {"RNN", "recurrent cells have no operation of their own"},
      {"Scan", "a circuit has no loops over subgraphs"},
      {"Shrink", "no model in use has this activation"},
  };
  for (const Reason& reason : reasons) {
    if (reason.operation == operation) return reason.text;
  }
  return {};
}

}  // namespace ingot::outside
