/* src/base/cache_folder.h - where the program keeps what it can make again */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_CACHE_FOLDER_H
#define PXI_BASE_CACHE_FOLDER_H

/* FOLDER/name, where FOLDER is $PLEXOR_CACHE, or plexor/ in $XDG_CACHE_HOME or ~/.cache, and is
 * made if it is not there. The caller frees it; NULL: there is no such folder to be had, or no
 * memory. */
char *pxi_cache_path(const char *name);
/* The same, and no folder is made: NULL where it is not there. */
char *pxi_cache_find(const char *name);

#endif
