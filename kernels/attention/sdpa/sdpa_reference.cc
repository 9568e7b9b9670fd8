// Scalar truth: the scores of a query are written out whole, in double.
#include <vector>

#include "kernels/attention/sdpa/sdpa.h"
#include "kernels/attention/sdpa/sdpa_scores.h"
#include "kernels/attention/softmax/row_softmax.h"

namespace ingot {

void sdpa_reference(const SdpaArguments& a, Context&) {
  const ScoreTruth score(a);
  std::vector<double> scores;
  for (std::int64_t b = 0; b < a.batches(); ++b) {
    for (std::int64_t h = 0; h < a.heads(); ++h) {
      for (std::int64_t i = 0; i < a.queries(); ++i) {
        const KeyRange range = a.keys_of(i);
        scores.clear();
        for (std::int64_t j = range.begin; j < range.end; ++j) scores.push_back(score(b, h, i, j).value);
        const RowSum sum = is_present(a.sinks) ? exponentiate(scores, a.sinks(h)) : exponentiate(scores);
        for (std::int64_t d = 0; d < a.value_dimensions(); ++d) {
          double mixed = 0;
          for (std::int64_t j = range.begin; j < range.end; ++j) {
            mixed += scores[static_cast<std::size_t>(j - range.begin)] * a.v(b, h / a.head_group(), j, d);
          }
          a.y(b, h, i, d) = static_cast<float>(mixed * sum.inverse());
        }
        if (is_present(a.log_sum_exp)) a.log_sum_exp(b, h, i) = static_cast<float>(sum.log_sum_exp());
      }
    }
  }
}

}  // namespace ingot
