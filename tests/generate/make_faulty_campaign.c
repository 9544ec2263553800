/* tests/generate/make_faulty_campaign.c - make_faulty_campaign FOLDER SEEDS TRIES: of the network
 * in tests/cli/models */
/* SPDX-License-Identifier: Apache-2.0 */
#include "minimize_helpers.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    judge j = judge_open();
    faulty_campaign(&j, argv[1], atoi(argv[2]), atoi(argv[3]));
    judge_close(&j);
    return 0;
}
