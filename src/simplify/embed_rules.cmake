# Turns the rewrite rules into C++ source: the text of each file as a string.
#
# As a script (run at build time):
#   cmake -DOUTPUT=<file.cpp> -DRULES=<a.rules|b.rules|…> -P embed_rules.cmake
# As an include, it defines
#   bromide_embed_rules(<target>)   which generates the source from src/simplify/rules/*.rules and adds it to <target>.

set(BROMIDE_EMBED_RULES_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")
set(BROMIDE_RULES_DIR "${CMAKE_CURRENT_LIST_DIR}/rules")

function(bromide_embed_rules target)
    file(GLOB rules CONFIGURE_DEPENDS "${BROMIDE_RULES_DIR}/*.rules")
    list(SORT rules)
    string(REPLACE ";" "|" joined "${rules}")
    set(output "${CMAKE_CURRENT_BINARY_DIR}/EmbeddedRules.cpp")
    add_custom_command(OUTPUT "${output}"
                       COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DRULES=${joined}"
                               -P "${BROMIDE_EMBED_RULES_SCRIPT}"
                       DEPENDS ${rules} "${BROMIDE_EMBED_RULES_SCRIPT}"
                       COMMENT "Embedding rewrite rules"
                       VERBATIM)
    target_sources(${target} PRIVATE "${output}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND OUTPUT)
    string(REPLACE "|" ";" RULES "${RULES}")
    set(text "// Generated from src/simplify/rules by embed_rules.cmake.\n#include \"simplify/RuleSet.h\"\n\n")
    string(APPEND text "namespace Halide {\nnamespace Internal {\n\n")
    string(APPEND text "const std::vector<std::pair<const char *, const char *>> &RuleSet::sources() {\n")
    string(APPEND text "    static const std::vector<std::pair<const char *, const char *>> files = {\n")
    foreach(rule_file IN LISTS RULES)
        file(READ "${rule_file}" content)
        get_filename_component(name "${rule_file}" NAME)
        string(APPEND text "        {\"${name}\", R\"rules(${content})rules\"},\n")
    endforeach()
    string(APPEND text "    };\n    return files;\n}\n\n}  // namespace Internal\n}  // namespace Halide\n")
    file(WRITE "${OUTPUT}" "${text}")
endif()
