// A reference is another name for an object; a pointer is an object that holds an address.
#include "docs/learn/lesson.h"

int main() {
  int weight = 5;
  int& alias = weight;
  alias = 6;
  fact(weight == 6, "writing through a reference writes the object it names");
  fact(&alias == &weight, "a reference has no address of its own: & gives the object's");

  int bias = 1;
  int* pointer = &weight;
  fact(*pointer == 6, "* follows a pointer to the object");
  *pointer = 7;
  fact(weight == 7, "writing *pointer changes the object");
  pointer = &bias;
  fact(*pointer == 1 && weight == 7, "writing the pointer itself only changes where it points");
  fact(*&weight == weight, "* undoes &");

  float row[4] = {10, 11, 12, 13};
  float* element = row;
  fact(*(element + 2) == row[2], "row[2] means: go two elements on from the start, then follow");
  fact(reinterpret_cast<char*>(element + 2) - reinterpret_cast<char*>(element) == 2 * sizeof(float),
       "a pointer steps by whole elements: two floats are eight bytes");
}
