// The pass tool: prints the table of passes, or runs the passes of a golden file.

#include <cstring>
#include <exception>
#include <iostream>

#include "PassRunner.h"
#include "support/Error.h"

int main(int argc, char **argv) {
    try {
        if (argc == 2 && strcmp(argv[1], "passes") == 0) {
            std::cout << bromide::pass_table();
            return 0;
        }
        if (argc == 3 && strcmp(argv[1], "run") == 0) {
            std::cout << bromide::run_golden_case(bromide::read_golden_case(argv[2]));
            return 0;
        }
        std::cerr << "usage: bromide_opt passes | run FILE.ir\n";
    } catch (const Halide::Error &e) {
        std::cerr << e.what();
    } catch (const std::exception &e) {
        std::cerr << e.what() << "\n";
    }
    return 1;
}
