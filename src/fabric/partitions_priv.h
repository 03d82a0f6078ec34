/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions_priv.h - the words that writer and lint share. */
#ifndef CLF_FABRIC_PARTITIONS_PRIV_H
#define CLF_FABRIC_PARTITIONS_PRIV_H

#define CLF_PART_MARKER "# closfold-partitions/1 "
#define CLF_PART_COMMENT                                                                                               \
	"# Written by closfold. An edit here stops it; put partitions of your own into the fabric's include file.\n"
#define CLF_PART_DEFAULT       "Default"
#define CLF_PART_OPEN          "open"
#define CLF_PART_OURS          "closfold_"
#define CLF_PART_FOREIGN_BEGIN "# closfold: foreign section begins"
#define CLF_PART_FOREIGN_END   "# closfold: foreign section ends"
#define CLF_PART_END           "# closfold: end\n" /* a file without it was cut */

#endif
