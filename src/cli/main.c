/* src/cli/main.c - plexor COMMAND [MODEL] [options] */
#include <plexor/call.h>

int main(int argc, char **argv)
{
    return px_main(argc, argv);
}
