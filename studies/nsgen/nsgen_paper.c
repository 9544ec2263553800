/* studies/nsgen/nsgen_paper.c - the numbers of the NSGen paper beyond its Tables 1, 3 and 4 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_paper.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* clang-format off */
const double ng_outputs[FZ_DATASETS][FZ_NETWORKS][FZ_ROWS][NG_COLUMNS] = {
    {
        {
            {564, 1000, 10, 0.9692},
            {334, 1000, 10, 0.9667},
            {367, 1000, 10, 0.964},
            {371, 1000, 10, 0.9748},
            {590, 1000, 10, 0.9714},
            {0, 1, 1, NAN},
            {662, 1000, 10, 0.9695},
            {754, 1000, 10, 0.892},
            {957, 1000, 10, 0.8962},
            {870, 1000, 10, 0.8914},
            {330, 1000, 10, 0.9713},
            {330, 1000, 10, 0.9654},
            {800, 1000, 10, 0.8601},
        },
        {
            {667, 1000, 10, 0.9731},
            {363, 1000, 10, 0.9469},
            {367, 1000, 10, 0.9667},
            {393, 1000, 10, 0.9642},
            {622, 1000, 10, 0.9669},
            {1, 1, 1, NAN},
            {642, 1000, 10, 0.9675},
            {885, 1000, 10, 0.7677},
            {987, 1000, 10, 0.8127},
            {NAN, NAN, NAN, NAN},
            {315, 1000, 10, 0.9592},
            {401, 1000, 10, 0.9352},
            {828, 1000, 10, 0.7734},
        },
        {
            {436, 1000, 10, 0.9781},
            {362, 1000, 10, 0.9546},
            {400, 1000, 10, 0.9703},
            {392, 1000, 10, 0.9582},
            {455, 1000, 10, 0.98},
            {0, 1, 1, NAN},
            {710, 1000, 10, 0.9667},
            {747, 1000, 10, 0.8944},
            {990, 1000, 10, 0.75},
            {826, 1000, 10, 0.8546},
            {397, 1000, 10, 0.9528},
            {388, 1000, 10, 0.9455},
            {861, 1000, 10, 0.8323},
        },
    },
    {
        {
            {723, 1000, 97, NAN},
            {551, 1000, 91, NAN},
            {542, 1000, 91, NAN},
            {538, 1000, 88, NAN},
            {690, 1000, 96, NAN},
            {0, 1, 1, NAN},
            {798, 1000, 96, NAN},
            {777, 1000, 93, NAN},
            {628, 1000, 92, NAN},
            {NAN, NAN, NAN, NAN},
            {557, 1000, 94, NAN},
            {523, 1000, 95, NAN},
            {945, 1000, 96, NAN},
        },
        {
            {725, 1000, 93, NAN},
            {571, 1000, 87, NAN},
            {606, 1000, 90, NAN},
            {626, 1000, 92, NAN},
            {806, 1000, 96, NAN},
            {0, 1, 1, NAN},
            {782, 1000, 92, NAN},
            {675, 1000, 91, NAN},
            {814, 1000, 83, NAN},
            {NAN, NAN, NAN, NAN},
            {531, 1000, 87, NAN},
            {573, 1000, 87, NAN},
            {967, 1000, 91, NAN},
        },
        {
            {642, 1000, 93, NAN},
            {565, 1000, 86, NAN},
            {572, 1000, 88, NAN},
            {575, 1000, 88, NAN},
            {705, 1000, 96, NAN},
            {0, 1, 1, NAN},
            {616, 1000, 90, NAN},
            {627, 1000, 85, NAN},
            {618, 1000, 90, NAN},
            {NAN, NAN, NAN, NAN},
            {555, 1000, 93, NAN},
            {615, 1000, 88, NAN},
            {962, 1000, 89, NAN},
        },
    },
    {
        {
            {539, 1000, 102, 0.9186},
            {408, 1000, 102, 0.9424},
            {393, 1000, 102, 0.9464},
            {417, 1000, 102, 0.945},
            {563, 1000, 101, NAN},
            {0, 1, 1, NAN},
            {417, 1000, 101, NAN},
            {442, 1000, 101, NAN},
            {435, 1000, 102, 0.9478},
            {NAN, NAN, NAN, NAN},
            {362, 1000, 102, 0.9629},
            {384, 1000, 102, 0.9574},
            {587, 1000, 102, 0.9135},
        },
        {
            {625, 1000, 101, NAN},
            {440, 1000, 101, NAN},
            {507, 1000, 101, NAN},
            {552, 1000, 102, 0.9243},
            {512, 1000, 102, 0.9448},
            {1, 1, 1, NAN},
            {443, 1000, 101, NAN},
            {437, 1000, 101, NAN},
            {582, 1000, 102, 0.9333},
            {NAN, NAN, NAN, NAN},
            {NAN, NAN, NAN, NAN},
            {439, 1000, 101, NAN},
            {662, 1000, 102, 0.9079},
        },
        {
            {593, 1000, 102, 0.8972},
            {385, 1000, 101, NAN},
            {395, 1000, 102, 0.9562},
            {391, 1000, 102, 0.9472},
            {566, 1000, 102, 0.8959},
            {0, 1, 1, NAN},
            {371, 1000, 101, NAN},
            {382, 1000, 101, NAN},
            {425, 1000, 101, NAN},
            {NAN, NAN, NAN, NAN},
            {366, 1000, 102, 0.9572},
            {377, 1000, 101, NAN},
            {620, 1000, 102, 0.8849},
        },
    },
    {
        {
            {666, 1000, 339, NAN},
            {533, 1000, 281, NAN},
            {520, 1000, 273, NAN},
            {530, 1000, 294, NAN},
            {633, 1000, 338, NAN},
            {0, 1, 1, NAN},
            {559, 1000, 291, NAN},
            {552, 1000, 279, NAN},
            {546, 1000, 292, NAN},
            {NAN, NAN, NAN, NAN},
            {513, 1000, 287, NAN},
            {503, 1000, 269, NAN},
            {957, 1000, 409, NAN},
        },
        {
            {685, 1000, 344, NAN},
            {527, 1000, 270, NAN},
            {523, 1000, 267, NAN},
            {563, 1000, 291, NAN},
            {669, 1000, 318, NAN},
            {0, 1, 1, NAN},
            {616, 1000, 301, NAN},
            {551, 1000, 273, NAN},
            {595, 1000, 292, NAN},
            {NAN, NAN, NAN, NAN},
            {NAN, NAN, NAN, NAN},
            {540, 1000, 275, NAN},
            {964, 1000, 379, NAN},
        },
        {
            {708, 1000, 385, NAN},
            {584, 1000, 318, NAN},
            {616, 1000, 326, NAN},
            {613, 1000, 341, NAN},
            {750, 1000, 400, NAN},
            {0, 1, 1, NAN},
            {610, 1000, 321, NAN},
            {577, 1000, 324, NAN},
            {652, 1000, 309, NAN},
            {NAN, NAN, NAN, NAN},
            {614, 1000, 331, NAN},
            {609, 1000, 326, NAN},
            {965, 1000, 431, NAN},
        },
    },
};

const double ng_encoders[FZ_DATASETS][FZ_NETWORKS][NG_ENCODERS][NG_COLUMNS] = {
    {
        {
            {3490, 3449, 10, 0.86},
            {1882, 2069, 10, 0.86},
            {4947, 5543, 10, 0.87},
            {8369, 10000, 10, 0.84},
            {6809, 7579, 10, 0.87},
            {8075, 10000, 10, 0.85},
        },
        {
            {9009, 9915, 10, 0.78},
            {7865, 8636, 10, 0.8},
            {8880, 9952, 10, 0.77},
            {8112, 10000, 10, 0.77},
            {9018, 9943, 10, 0.79},
            {8393, 9995, 10, 0.8},
        },
        {
            {1297, 1417, 10, 0.81},
            {822, 879, 10, 0.79},
            {1944, 2150, 10, 0.79},
            {8748, 9990, 10, 0.83},
            {2415, 2626, 10, 0.81},
            {8671, 9997, 10, 0.86},
        },
    },
    {
        {
            {5923, 6323, 98, NAN},
            {4820, 5077, 99, NAN},
            {7281, 10000, 98, NAN},
            {7933, 10000, 99, NAN},
            {9431, 9753, 100, 0.9},
            {9653, 9999, 100, 0.92},
        },
        {
            {6041, 6493, 98, NAN},
            {9150, 9568, 100, 0.88},
            {7287, 10000, 98, NAN},
            {7866, 10000, 99, NAN},
            {9443, 9930, 99, NAN},
            {9644, 9997, 100, 0.89},
        },
        {
            {697, 768, 80, NAN},
            {3896, 4076, 100, 0.84},
            {7381, 10000, 100, NAN},
            {8027, 10000, 99, NAN},
            {1981, 2075, 95, NAN},
            {9654, 10000, 100, 0.85},
        },
    },
    {
        {
            {670, 828, 84, NAN},
            {344, 401, 75, NAN},
            {5670, 10000, 102, 0.91},
            {6605, 10000, 102, 0.87},
            {3854, 4624, 101, NAN},
            {8394, 9990, 102, 0.86},
        },
        {
            {67, 86, 39, NAN},
            {53, 58, 27, NAN},
            {6202, 10000, 102, 0.92},
            {4787, 7052, 101, NAN},
            {744, 1100, 99, NAN},
            {7872, 9175, 102, 0.9},
        },
        {
            {124, 155, 52, NAN},
            {301, 362, 66, NAN},
            {5624, 10000, 102, 0.89},
            {6850, 10000, 102, 0.85},
            {551, 721, 82, NAN},
            {8695, 9981, 102, 0.85},
        },
    },
    {
        {
            {796, 812, 311, NAN},
            {559, 569, 243, NAN},
            {678, 687, 268, NAN},
            {7550, 8060, 703, NAN},
            {1678, 1721, 424, NAN},
            {9815, 9935, 751, NAN},
        },
        {
            {1569, 1607, 376, NAN},
            {1113, 1136, 321, NAN},
            {1677, 1731, 387, NAN},
            {8726, 9421, 691, NAN},
            {3011, 3120, 507, NAN},
            {9665, 10000, 702, NAN},
        },
        {
            {62, 62, 49, NAN},
            {31, 31, 28, NAN},
            {30, 30, 25, NAN},
            {1641, 1660, 433, NAN},
            {125, 125, 76, NAN},
            {8867, 8993, 776, NAN},
        },
    },
};

#define SUBJECT(dataset, network) (FZ_##dataset * FZ_NETWORKS + FZ_##network)
const ng_variant ng_variants[] = {
    {SUBJECT(CIFAR10, MOBILENET), FZ_TOP_FIRST, {8594, 9967, 10, NAN}},
    {SUBJECT(CIFAR10, MOBILENET), FZ_TOP_FIRST + 1, {4189, 4810, 10, NAN}},
    {SUBJECT(IMAGENET, RESNET), FZ_TOP_FIRST, {9614, 9972, 730, NAN}},
    {SUBJECT(IMAGENET, RESNET), FZ_TOP_FIRST + 1, {9815, 9935, 751, NAN}},
    {SUBJECT(IMAGENET, RESNET), FZ_TOP_FIRST + 2, {7202, 7356, 690, NAN}},
    {SUBJECT(IMAGENET, RESNET), FZ_NO_CNS, {948, 955, 330, NAN}},
    {SUBJECT(FLOWERS, MOBILENET), FZ_NO_CNS, {4701, 5277, 99, NAN}},
    {SUBJECT(CIFAR10, VGG), FZ_NO_CNS, {0, 0, 0, NAN}},
    {SUBJECT(CIFAR100, RESNET), FZ_NO_CNS, {1000, 1008, 90, NAN}},
    {SUBJECT(IMAGENET, RESNET), FZ_NO_NLDG, {6925, 10000, 687, NAN}},
    {SUBJECT(FLOWERS, MOBILENET), FZ_NO_NLDG, {5920, 10000, 102, NAN}},
    {SUBJECT(CIFAR10, VGG), FZ_NO_NLDG, {4923, 9999, 10, NAN}},
    {SUBJECT(CIFAR100, RESNET), FZ_NO_NLDG, {7345, 10000, 99, NAN}},
};
#undef SUBJECT
const size_t ng_variant_count = sizeof ng_variants / sizeof *ng_variants;
/* clang-format on */

static const double *paper_row(size_t subject, size_t guide, fz_measure measure)
{
    const size_t dataset = subject / FZ_NETWORKS, network = subject % FZ_NETWORKS;
    if (measure == FZ_BY_OUTPUTS)
        return guide < FZ_ROWS ? ng_outputs[dataset][network][guide] : NULL;
    const size_t first = FZ_ENCODER_LAST + 1 - NG_ENCODERS; /* before them those of plexor */
    if (guide >= first && guide <= FZ_ENCODER_LAST)
        return ng_encoders[dataset][network][guide - first];
    for (size_t i = 0; i < ng_variant_count; i++)
        if (ng_variants[i].subject == subject && ng_variants[i].guide == guide)
            return ng_variants[i].row;
    return NULL;
}

double ng_paper_value(size_t subject, size_t guide, fz_measure measure, const char *name)
{
    static const struct {
        const char *name;
        int table, row; /* columns of fz_tables, and of all others */
    } columns[] = {{"faults", FZ_FAULTS, NG_ROW_FAULTS},
                   {"outputs", FZ_OUTPUTS, NG_ROW_OUTPUTS},
                   {"classes", FZ_CLASSES, NG_ROW_CLASSES},
                   {"oi", FZ_OI, NG_ROW_OI},
                   {"rft", FZ_RFT, -1},
                   {"coverage", FZ_COVERAGE, -1}};
    const double *row = paper_row(subject, guide, measure);
    for (size_t c = 0; c < PX_LEN(columns); c++) {
        if (strcmp(columns[c].name, name) != 0)
            continue;
        if (guide < FZ_ROWS && measure != FZ_BY_OUTPUTS)
            return fz_tables[subject / FZ_NETWORKS][subject % FZ_NETWORKS][guide][columns[c].table];
        if (row && columns[c].row >= 0)
            return row[columns[c].row];
        return row && strcmp(name, "rft") == 0 ? row[NG_ROW_FAULTS] / row[NG_ROW_OUTPUTS]
                                               : (double)NAN;
    }
    return (double)NAN;
}
