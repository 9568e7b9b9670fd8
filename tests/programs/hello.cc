// The least that a C++ program does: it says something, with its arguments, and ends with a status.
// program-test: exit 7
// program-test: arguments one two
// program-test: expect hello: one two
// program-test: log exit 7
#include <iostream>

int main(int count, char** arguments) {
  std::cout << "hello:";
  for (int i = 1; i < count; ++i) std::cout << ' ' << arguments[i];
  std::cout << std::endl;
  return 7;
}
