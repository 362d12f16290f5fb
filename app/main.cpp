#include <iostream>

int main() {
  std::cout << "troupe " TROUPE_VERSION "\n";
  return 0;
}
