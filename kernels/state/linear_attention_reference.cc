// Scalar truth. The state of a head is a matrix of doubles for the whole sequence: a float state would round at every
// token, and the reference must be more exact than anything measured against it.
#include <cmath>
#include <vector>

#include "kernels/state/gradient_sum.h"
#include "kernels/state/linear_attention.h"

namespace ingot {
namespace {

using Doubles = std::vector<double>;

Doubles doubles(std::int64_t count) { return Doubles(static_cast<std::size_t>(count), 0.0); }

// One state head of one sequence, and the quantities of one token.
template <class Arguments>
class LinearAttentionHead {
 public:
  LinearAttentionHead(const Arguments& a, std::int64_t batch, std::int64_t head)
      : a_(a),
        sizes_(LinearAttentionSizes::of(a)),
        batch_(batch),
        head_(head),
        state(doubles(sizes_.key_width * sizes_.value_width)),
        error(doubles(sizes_.value_width)),
        update(doubles(sizes_.value_width)) {
    if (!is_present(a.initial_state)) return;
    for (std::int64_t i = 0; i < sizes_.key_width; ++i) {
      for (std::int64_t j = 0; j < sizes_.value_width; ++j) state[at(i, j)] = a.initial_state(batch, head, i, j);
    }
  }

  std::size_t at(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i * sizes_.value_width + j); }
  double key(std::int64_t t, std::int64_t i) const { return a_.key(batch_, t, sizes_.key_head(head_), i); }
  double beta(std::int64_t t) const { return is_present(a_.beta) ? double{a_.beta(batch_, t, head_)} : 1; }
  double factor(std::int64_t t, std::int64_t i) const {
    if (!is_present(a_.decay)) return 1;
    return std::exp(double{a_.decay.rank() == 4 ? a_.decay(batch_, t, head_, i) : a_.decay(batch_, t, head_)});
  }

 private:
  const Arguments& a_;
  LinearAttentionSizes sizes_;
  std::int64_t batch_;
  std::int64_t head_;

 public:
  Doubles state;   // S_t, once advanced to t
  Doubles error;   // value - S'^T key, or value where there is no beta
  Doubles update;  // u

  void advance(std::int64_t t) {
    for (std::int64_t i = 0; i < sizes_.key_width; ++i) {
      for (std::int64_t j = 0; j < sizes_.value_width; ++j) state[at(i, j)] *= factor(t, i);
    }
    for (std::int64_t j = 0; j < sizes_.value_width; ++j) {
      double sum = a_.value(batch_, t, head_, j);
      if (is_present(a_.beta)) {
        for (std::int64_t i = 0; i < sizes_.key_width; ++i) sum -= state[at(i, j)] * key(t, i);
      }
      error[static_cast<std::size_t>(j)] = sum;
      update[static_cast<std::size_t>(j)] = beta(t) * sum;
    }
    for (std::int64_t i = 0; i < sizes_.key_width; ++i) {
      for (std::int64_t j = 0; j < sizes_.value_width; ++j) {
        state[at(i, j)] += key(t, i) * update[static_cast<std::size_t>(j)];
      }
    }
  }
};

}  // namespace

void linear_attention_reference(const LinearAttention::Arguments& a, Context&) {
  const auto sizes = LinearAttentionSizes::of(a);
  for (std::int64_t batch = 0; batch < sizes.batch; ++batch) {
    for (std::int64_t head = 0; head < sizes.heads; ++head) {
      LinearAttentionHead recurrence(a, batch, head);
      for (std::int64_t t = 0; t < sizes.time; ++t) {
        recurrence.advance(t);
        for (std::int64_t shared = 0; shared < sizes.outputs_per_state(); ++shared) {
          const std::int64_t output = head * sizes.outputs_per_state() + shared;
          for (std::int64_t j = 0; j < sizes.value_width; ++j) {
            double sum = 0;
            for (std::int64_t i = 0; i < sizes.key_width; ++i) {
              sum += recurrence.state[recurrence.at(i, j)] * a.query(batch, t, sizes.query_head(output), i);
            }
            a.y(batch, t, output, j) = static_cast<float>(double{a.scale} * sum);
          }
        }
      }
      for (std::int64_t i = 0; i < sizes.key_width; ++i) {
        for (std::int64_t j = 0; j < sizes.value_width; ++j) {
          a.final_state(batch, head, i, j) = static_cast<float>(recurrence.state[recurrence.at(i, j)]);
        }
      }
    }
  }
}

void linear_attention_backward_reference(const LinearAttentionBackward::Arguments& a, Context&) {
  const auto sizes = LinearAttentionSizes::of(a);
  const std::int64_t keys = sizes.key_width;
  const std::int64_t values = sizes.value_width;
  auto index = [](auto number) { return static_cast<std::size_t>(number); };
  GradientSum dquery(a.dquery, a.query.shape());
  GradientSum dkey(a.dkey, a.key.shape());
  for (std::int64_t batch = 0; batch < sizes.batch; ++batch) {
    for (std::int64_t head = 0; head < sizes.heads; ++head) {
      // Forward once more: S_0 .. S_T, and each token's error and update.
      LinearAttentionHead recurrence(a, batch, head);
      std::vector<Doubles> states = {recurrence.state};
      std::vector<Doubles> errors;
      std::vector<Doubles> updates;
      for (std::int64_t t = 0; t < sizes.time; ++t) {
        recurrence.advance(t);
        states.push_back(recurrence.state);
        errors.push_back(recurrence.error);
        updates.push_back(recurrence.update);
      }
      Doubles gradient = doubles(keys * values);  // G
      if (is_present(a.dfinal_state)) {
        for (std::int64_t i = 0; i < keys; ++i) {
          for (std::int64_t j = 0; j < values; ++j) gradient[recurrence.at(i, j)] = a.dfinal_state(batch, head, i, j);
        }
      }
      for (std::int64_t t = sizes.time - 1; t >= 0; --t) {
        const Doubles& before = states[index(t)];
        const Doubles& after = states[index(t + 1)];
        for (std::int64_t shared = 0; shared < sizes.outputs_per_state(); ++shared) {
          const std::int64_t output = head * sizes.outputs_per_state() + shared;
          const std::int64_t query_head = sizes.query_head(output);
          for (std::int64_t i = 0; i < keys; ++i) {
            double sum = 0;
            for (std::int64_t j = 0; j < values; ++j) {
              const double dy = double{a.scale} * a.dy(batch, t, output, j);
              gradient[recurrence.at(i, j)] += a.query(batch, t, query_head, i) * dy;
              sum += after[recurrence.at(i, j)] * dy;
            }
            dquery(batch, t, query_head, i) += sum;
          }
        }
        Doubles dupdate = doubles(values);
        double dbeta = 0;
        for (std::int64_t j = 0; j < values; ++j) {
          for (std::int64_t i = 0; i < keys; ++i) {
            dupdate[index(j)] += gradient[recurrence.at(i, j)] * recurrence.key(t, i);
          }
          a.dvalue(batch, t, head, j) = static_cast<float>(recurrence.beta(t) * dupdate[index(j)]);
          dbeta += dupdate[index(j)] * errors[index(t)][index(j)];
        }
        double ddecay = 0;
        for (std::int64_t i = 0; i < keys; ++i) {
          const double factor = recurrence.factor(t, i);
          double key_sum = 0;
          double decay_sum = 0;
          for (std::int64_t j = 0; j < values; ++j) {
            double& g = gradient[recurrence.at(i, j)];
            const double decayed = factor * before[recurrence.at(i, j)];
            key_sum += g * updates[index(t)][index(j)];
            if (is_present(a.beta)) {
              key_sum -= recurrence.beta(t) * decayed * dupdate[index(j)];
              g -= recurrence.beta(t) * recurrence.key(t, i) * dupdate[index(j)];
            }
            decay_sum += g * decayed;
            g *= factor;
          }
          dkey(batch, t, sizes.key_head(head), i) += key_sum;
          ddecay += decay_sum;
          if (is_present(a.ddecay) && a.ddecay.rank() == 4) {
            a.ddecay(batch, t, head, i) = static_cast<float>(decay_sum);
          }
        }
        if (is_present(a.ddecay) && a.ddecay.rank() == 3) a.ddecay(batch, t, head) = static_cast<float>(ddecay);
        if (is_present(a.dbeta)) a.dbeta(batch, t, head) = static_cast<float>(dbeta);
      }
      if (!is_present(a.dinitial_state)) continue;
      for (std::int64_t i = 0; i < keys; ++i) {
        for (std::int64_t j = 0; j < values; ++j) {
          a.dinitial_state(batch, head, i, j) = static_cast<float>(gradient[recurrence.at(i, j)]);
        }
      }
    }
  }
  dquery.write();
  dkey.write();
}

}  // namespace ingot
