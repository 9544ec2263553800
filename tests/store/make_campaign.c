/* tests/store/make_campaign.c - make_campaign FOLDER COUNT: a campaign without a network */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store_helpers.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    px_error err = {0};
    if (argc != 3)
        return 2;
    if (make_campaign(argv[1], atoll(argv[2]), &err) == PX_OK)
        return 0;
    fprintf(stderr, "make_campaign: %s\n", err.message);
    return 1;
}
