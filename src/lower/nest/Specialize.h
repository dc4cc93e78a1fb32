#pragma once

#include "func/Function.h"

#include <map>
#include <string>

namespace Halide {
namespace Internal {

/// Uses the condition of each specialization to simplify its copy of the stage (equalities substituted, the
/// condition itself replaced by true), and the conditions known false to simplify later ones. Specializations that can never
/// be reached are dropped.
void simplify_specializations(std::map<std::string, Function> &env);

}  // namespace Internal
}  // namespace Halide
