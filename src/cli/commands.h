/* src/cli/commands.h - X(id) per command cli_command_<id>, in the order in which help lists them
 *
 * Commands of the program alone are not in the library: it only knows that they are elsewhere.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_COMMANDS_H
#define PLEXOR_CLI_COMMANDS_H

#define CLI_COMMANDS(X) \
    X(check)            \
    X(info)             \
    X(eval)             \
    X(predict)          \
    X(doctor)           \
    X(run)              \
    X(grad)             \
    X(trace)            \
    X(map)              \
    X(cover)            \
    X(profile)          \
    X(describe)         \
    X(localize)         \
    X(select)           \
    X(index)            \
    X(plan)             \
    X(merge)            \
    X(synthesize)       \
    X(attack)           \
    X(assess)           \
    X(clever)           \
    X(mutate)           \
    X(fuzz)             \
    X(status)           \
    X(export)           \
    X(minimize)         \
    X(replay)           \
    X(train)            \
    X(repair)           \
    X(explain)          \
    X(calibrate)        \
    X(embed)            \
    X(bench)            \
    X(onnx_test)        \
    X(list)             \
    X(help)             \
    X(version)

#define CLI_PROGRAM_COMMANDS(X) X(study)

#endif
