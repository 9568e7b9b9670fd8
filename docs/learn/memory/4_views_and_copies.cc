// A shallow copy shares what it points to; a deep copy does not. A view is a shallow copy by design.
#include <memory>
#include <vector>

#include "docs/learn/lesson.h"
#include "tensor/rows.h"

using ingot::View;

int main() {
  std::vector<std::shared_ptr<std::vector<int>>> original = {std::make_shared<std::vector<int>>(2, 1)};
  const auto shallow = original;  // copies the outer list; both lists hold the same inner one
  (*shallow[0])[0] = 999;
  fact((*original[0])[0] == 999, "a shallow copy's nested objects are the original's");

  std::vector<std::shared_ptr<std::vector<int>>> deep;
  for (const auto& inner : original) deep.push_back(std::make_shared<std::vector<int>>(*inner));
  (*deep[0])[0] = 5;
  fact((*original[0])[0] == 999, "a deep copy's are its own");

  float storage[12] = {};
  const View<float> matrix(storage, {3, 4});
  const View<float> second_row = matrix[1];
  second_row(2) = 42;
  fact(matrix(1, 2) == 42, "a view writes into the tensor it was taken from");
  fact(sizeof(View<float>) <= 128, "and costs a few words, whatever the tensor's size");

  // A copy is made when bytes must move: a transposed view packed into memory of its own.
  float packed[12];
  const ingot::Rows turned(matrix.transposed(0, 1).value());
  for (std::int64_t row = 0, out = 0; row < turned.count(); ++row) {
    for (std::int64_t i = 0; i < turned.length(); ++i) packed[out++] = turned[row][i * turned.stride()];
  }
  storage[6] = 0;
  fact(packed[2 * 3 + 1] == 42, "the copy keeps what it was given when the original changes");
}
