// told_outputs(), of which the last answer for each operation is kept: programs call an operation on the same shapes
// again and again, and to ask costs many checks.
#pragma once

#include <map>
#include <vector>

#include "kernels/contract/told_outputs.h"

namespace ingot {

class KnownOutputs {
 public:
  // As told_outputs().
  Result<std::vector<ToldOutput>> of(const Operation& operation, Invocation& invocation);

 private:
  // What an answer follows from.
  struct Argument {
    bool is_present = false;
    DType dtype = DType::f32;
    Shape shape = {};
    AttributeValue attribute = false;
    bool operator==(const Argument&) const = default;
  };
  struct Answer {
    std::vector<Argument> arguments;
    std::vector<ToldOutput> outputs;
  };
  static std::vector<Argument> arguments_of(const Operation& operation, const Invocation& invocation);

  std::map<const Operation*, Answer> answers_;
};

}  // namespace ingot
