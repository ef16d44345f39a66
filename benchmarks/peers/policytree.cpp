// A program around the search of policytree (grf-labs/policytree), for benchmarks/policies.py.
//
// Arguments: file, rows, tests, actions, depth. The file holds doubles, column by column: the tests
// of all rows, then the rewards of all actions. Prints the processor seconds of the search, the sum
// of the rewards, and the tree in preorder: `test` and `-1 action` for a leaf. A test is true to the
// right.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <vector>

#include "tree_search.h"

static void print(Node* node) {
  if (node->is_leaf()) {
    std::printf(" -1 %zu", node->action_id);
    return;
  }
  std::printf(" %zu", node->index);
  print(node->left_child.get());
  print(node->right_child.get());
}

int main(int count, char** given) {
  if (count != 6) return 2;
  const size_t rows = std::atol(given[2]), tests = std::atol(given[3]), actions = std::atol(given[4]);
  std::vector<double> numbers(rows * (tests + actions));
  FILE* file = std::fopen(given[1], "rb");
  if (!file || std::fread(numbers.data(), 8, numbers.size(), file) != numbers.size()) return 3;
  std::fclose(file);
  const Data data(numbers.data(), numbers.data() + rows * tests, rows, tests, actions);
  const std::clock_t began = std::clock();
  auto root = tree_search(std::atoi(given[5]), 1, 1, &data, []() {}, nullptr);
  std::printf("%.6f %.17g", double(std::clock() - began) / CLOCKS_PER_SEC, root->reward);
  print(root.get());
  std::printf("\n");
  return 0;
}
