/* studies/deepsensor/deepsensor_paper.c - the numbers of the DeepSensor paper */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_paper.h"

#include <math.h>

/* clang-format off */
const ds_subject ds_subjects[DS_SUBJECTS] = {
    {"mnist", "lenet1", "lenet1", "lenet1", "LeNet-1 on MNIST", 7206, 7, 52, 98.40},
    {"mnist", "lenet4", "lenet4", "lenet4", "LeNet-4 on MNIST", 69362, 8, 148, 98.90},
    {"mnist", "lenet5", "lenet5", "lenet5", "LeNet-5 on MNIST", 107786, 9, 268, 98.90},
    {"cifar-10", "resnet20", "resnet20", "resnet20", "ResNet-20 on CIFAR-10", 273066, 71, 1882, 91.70},
    {"cifar-10", "vgg16", "vgg16", NULL, "VGG16 on CIFAR-10", 33663070, 17, 12426, 90.80},
    {"imagenet", "mobilenet", "imagenet/mobilenet", NULL, "MobileNet on ImageNet", 4231976, 87, 38904, 87.10},
    {"imagenet", "resnet50", "imagenet/resnet50", NULL, "ResNet-50 on ImageNet", 25583592, 176, 94059, 92.90},
    {"vctk", "resnet34", "vctk/resnet34", "resnet34-audio", "ResNet-34 on VCTK", 21315166, 158, 36254, 97.27},
    {"vctk", "deepspeaker", "vctk/deepspeaker", "deepspeaker", "Deep Speaker on VCTK", 24201118, 101, 28190, 98.75},
    {"fsdd", "resnet34", "fsdd/resnet34", "resnet34-audio", "ResNet-34 on FSDD", NAN, NAN, NAN, NAN},
    {"fsdd", "deepspeaker", "fsdd/deepspeaker", "deepspeaker", "Deep Speaker on FSDD", NAN, NAN, NAN, NAN},
    {"fsdd", "speaker-small", "fsdd/speaker-small", "speaker-small", "a small network on FSDD", NAN, NAN, NAN, NAN},
};

const char *const ds_paper_methods[DS_PAPER_METHODS] = {"DeepXplore", "DLFuzz", "DeepHunter", "DeepSensor"};

const double ds_table3[DS_PAPER_SUBJECTS][DS_PAPER_METHODS][DS_COUNTS] = {
    {{17528, 2667}, {17490, 1682}, {18124, 2682}, {18747, 3168}},
    {{18474, 2379}, {16809, 1473}, {18420, 2489}, {18771, 2868}},
    {{18076, 2224}, {16914, 1509}, {18323, 2469}, {18349, 2906}},
    {{16723, 1162}, {15989, 1336}, {17384, 1549}, {18025, 2024}},
    {{16759, 1007}, {15567, 1107}, {17693, 1680}, {17784, 1964}},
    {{13974, 689}, {14046, 1974}, {15120, 2287}, {15524, 2994}},
    {{11894, 673}, {12271, 1281}, {12985, 1590}, {13042, 2010}},
    {{15716, 2766}, {16962, 3194}, {17314, 3065}, {18550, 3997}},
    {{14793, 3012}, {16034, 3721}, {16787, 3684}, {18016, 4250}},
};

const ds_state ds_states[DS_STATES] = {
    {"clean", "well trained", 0.0},
    {"polluted10", "10% polluted", 0.1},
    {"polluted20", "20% polluted", 0.2},
    {"polluted30", "30% polluted", 0.3},
    {"under", "under-trained", 0.0},
    {"over", "over-trained", 0.0},
};

const ds_faulty ds_faulty_ways[DS_FAULTY] = {
    {DS_LENET5, 1, 6, 1, "1", 10, 32, 60000, {97.4, 98.3, 97.2}, 30, 32, 99.91, 1, 512, 79.32},
    {DS_VGG16, 3, 8, 2, "bird", 80, 64, 60000, {89.8, 88.9, 89.4}, 120, 64, 98.20, 5, 64, 76.03},
    {DS_RESNET50, 10, 15, -1, "siberian husky", 80, 64, 20000, {91.2, 90.7, 90.4}, 120, 64, 98.74, 30, 64, 79.32},
    {DS_SPEAKER, NAN, NAN, -1, NULL, NAN, 20, NAN, {NAN, NAN, NAN}, 80, 20, 76.26, 5, 20, 71.16},
};

const double ds_table4[DS_FAULTY_SPEAKER][3][DS_PAPER_METHODS] = {
    {{74, 204, 192, 757}, {79, 164, 181, 723}, {72, 172, 185, 784}},
    {{64, 91, 101, 590}, {60, 127, 92, 562}, {62, 121, 147, 599}},
    {{42, 83, 64, 511}, {58, 64, 101, 648}, {50, 61, 77, 639}},
};

const double ds_table5[DS_FAULTY][DS_TRAININGS][DS_PAPER_METHODS] = {
    {{880, 814, 891, 981}, {894, 845, 906, 937}, {837, 826, 898, 979}},
    {{813, 790, 853, 949}, {831, 791, 858, 901}, {820, 808, 829, 958}},
    {{513, 600, 520, 796}, {525, 604, 627, 672}, {545, 580, 611, 805}},
    {{762, 815, 810, 983}, {739, 811, 827, 900}, {744, 800, 823, 967}},
};

const double ds_seconds[DS_FAULTY_SPEAKER][2] = {{259.7, 167.8}, {1081.4, 889.1}, {1377.3, 1084.4}};
