/* studies/revisit/revisit_paper.c - the numbers of Yang, Shi, Asyrofi and Lo, and of their package
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_paper.h"

const char *const rv_set_ids[RV_SETS] = {"benign", "dhd", "dhn", "dh", "fgsm", "pgd"};
const char *const rv_set_titles[RV_SETS] = {"benign", "DH-D", "DH-N", "DH", "FGSM", "PGD"};

/* clang-format off */
const rv_metric rv_metrics[RV_METRICS] = {
    {"mr", "mr", "MR", 0.245, 71.5},
    {"acac", "acac", "ACAC", 0.100, 80.5},
    {"actc", "actc", "ACTC", 0.487, 61.5},
    {"ald_0", "ald0", "ALD_L0", 0.079, 82.5},
    {"ald_2", "ald2", "ALD_L2", 0.139, 77.5},
    {"ald_inf", "aldinf", "ALD_Linf", 0.188, 74.5},
    {"ass", "ass", "ASS", 0.206, 73.5},
    {"psd", "psd", "PSD", 0.139, 77.5},
    {"nte", "nte", "NTE", 0.079, 82.5},
    {"rgb", "rgb", "RGB", 0.139, 77.5},
    {"ric", "ric", "RIC", 0.245, 71.5},
};

const rv_coverage rv_coverages[RV_COVERAGES] = {
    {"cov_nc1", "NC 0.1"}, {"cov_nc3", "NC 0.3"}, {"cov_nc5", "NC 0.5"}, {"cov_nc7", "NC 0.7"},
    {"cov_nc9", "NC 0.9"}, {"cov_kmnc", "KMNC"}, {"cov_nbc", "NBC"}, {"cov_snac", "SNAC"},
    {"cov_tknc", "TKNC"}, {"cov_tknp", "TKNP"},
};

/* Layers and parameters of the last two EuroSAT rows look exchanged in the paper. */
const rv_row rv_rows[RV_ROWS] = {
    {"mnist", "lenet1", "MNIST, LeNet-1", 9, 3246, 98.67,
     {1.33, 49.26, 48.45, 48.65, 90.59, 100.00}},
    {"mnist", "lenet4", "MNIST, LeNet-4", 10, 25010, 98.65,
     {1.38, 45.51, 43.11, 44.50, 80.78, 99.98}},
    {"mnist", "lenet5", "MNIST, LeNet-5", 11, 44426, 98.93,
     {1.02, 42.97, 42.10, 43.05, 64.52, 99.70}},
    {"cifar-10", "vgg16", "CIFAR-10, VGG-16", 56, 33687922, 92.80,
     {7.20, 79.05, 80.78, 79.77, 68.24, 98.90}},
    {"cifar-10", "resnet20", "CIFAR-10, ResNet-20", 71, 274442, 91.74,
     {8.26, 68.13, 65.22, 66.37, 82.68, 100.00}},
    {"cifar-10", "resnet56", "CIFAR-10, ResNet-56", 200, 860026, 92.76,
     {7.24, 62.64, 65.34, 64.08, 70.71, 100.00}},
    {"svhn", "sadl1", "SVHN, SADL-1", 19, 6531786, 89.70,
     {10.30, 23.97, 30.61, 27.27, 83.96, 99.99}},
    {"svhn", "sadl2", "SVHN, SADL-2", 15, 1646794, 87.72,
     {12.28, 24.17, 22.04, 22.89, 91.73, 99.94}},
    {"svhn", "sadl3", "SVHN, SADL-3", 33, 2923050, 92.57,
     {7.43, 20.90, 16.71, 18.45, 88.80, 100.00}},
    {"eurosat", "vgg16", "EuroSAT, VGG-16", 56, 33687922, 96.50,
     {3.50, 50.09, 40.93, 45.15, 88.76, 97.72}},
    {"eurosat", "resnet20", "EuroSAT, ResNet-20", 71, 274442, 97.11,
     {2.89, 48.69, 54.06, 51.61, 88.74, 99.41}},
    {"eurosat", "resnet32", "EuroSAT, ResNet-32", 200, 860026, 97.22,
     {2.78, 46.94, 48.87, 48.11, 88.22, 99.17}},
    {"eurosat", "resnet56", "EuroSAT, ResNet-56", 71, 274442, 93.65,
     {3.65, 44.72, 34.89, 39.26, 85.50, 99.72}},
};

const rv_defended rv_defences[RV_DEFENDED] = {
    {"mnist", "lenet5", "MNIST, LeNet-5", {
        {98.98, 57.03, 57.90, 56.95, 35.48, 0.30},
        {98.69, 55.23, 55.16, 55.12, 42.24, 0.89},
        {98.60, 54.71, 50.30, 52.38, 30.41, 0.02},
        {98.80, 55.63, 52.93, 53.95, 36.41, 0.01},
        {97.77, 59.35, 63.48, 61.71, 86.03, 22.22},
        {97.04, 60.37, 61.55, 61.03, 68.70, 33.75},
    }},
    {"cifar-10", "vgg16", "CIFAR-10, VGG-16", {
        {92.80, 20.95, 19.22, 20.23, 31.76, 1.10},
        {86.34, 30.76, 27.31, 28.53, 14.50, 0.15},
        {77.72, 23.67, 26.85, 25.44, 13.32, 0.45},
        {88.22, 28.35, 28.84, 28.87, 17.39, 0.48},
        {84.28, 10.00, 9.97, 9.99, 30.56, 8.35},
        {87.83, 10.50, 10.18, 10.72, 54.67, 40.78},
    }},
    {"svhn", "sadl3", "SVHN, SADL-3", {
        {92.57, 79.10, 83.29, 81.55, 11.20, 0.00},
        {93.77, 77.92, 77.87, 78.20, 30.60, 3.88},
        {94.49, 79.49, 81.21, 80.35, 38.64, 3.33},
        {94.24, 79.19, 81.13, 79.99, 29.49, 4.48},
        {92.28, 78.35, 82.63, 80.81, 84.30, 13.53},
        {87.74, 74.90, 76.49, 75.80, 59.67, 50.57},
    }},
    {"eurosat", "resnet20", "EuroSAT, ResNet-20", {
        {97.11, 51.31, 45.94, 48.39, 11.26, 0.59},
        {89.46, 50.00, 45.52, 48.52, 10.69, 1.96},
        {93.76, 52.24, 44.54, 48.19, 14.69, 1.83},
        {93.28, 53.07, 45.41, 49.20, 7.85, 0.22},
        {22.70, 14.65, 14.28, 14.59, 25.81, 0.02},
        {26.26, 15.44, 15.30, 15.30, 22.87, 22.57},
    }},
};

/* Of the fifth network there are only these. */
static const double fifth_defended[] = {93.91, 93.33, 85.70, 42.69, 39.19};
static const double fifth_original = 96.35;
/* The list has another value than the table where the last network is defended by PGD. */
static const double eurosat_pgd = 33.87;

const rv_hypothesis rv_hypotheses[RV_HYPOTHESES] = {
    {"networks retrained with coverage-improving examples are better than those retrained with "
     "coverage-remaining ones", "rejected", "> 0.05 for all metrics",
     "coverage-improving examples are not more effective than coverage-remaining ones"},
    {"gradient-based methods (FGSM, PGD) have a higher misclassification rate than "
     "coverage-driven ones (DH-D, DH-N, DH)", "confirmed", "< 0.001",
     "gradient-based methods are more effective than coverage-driven ones in uncovering defects"},
    {"DH-D has a higher misclassification rate than DH-N", "rejected", "0.45",
     "both types of transformations are alike in uncovering defects"},
    {"retrained networks are more accurate on benign inputs than the original ones", "opposite",
     "0.002", "retraining with generated test cases can harm accuracy on benign inputs"},
    {"networks retrained with gradient-based methods are less accurate on coverage-driven test "
     "cases than the original ones", "confirmed", "0.024",
     "retraining with gradient-based methods does not defend against coverage-driven ones"},
    {"after retraining with gradient-based methods, accuracy on test cases of DH-D is higher than "
     "on those of DH-N", "rejected", "not significant",
     "both types of transformations are alike in improving quality"},
};
/* clang-format on */

const char rv_package_claim[] = "the published rates of DH-D, DH-N and DH are those of mutants of "
                                "training inputs under test labels";

void rv_paper_h4(double defended[RV_H4_COUNT], double original[RV_H4_COUNT])
{
    size_t count = 0;
    for (size_t m = 0; m < RV_DEFENDED; m++)
        for (size_t d = RV_DHD; d < RV_SETS; d++) {
            defended[count] = rv_defences[m].accuracy[d][RV_BENIGN];
            original[count++] = rv_defences[m].accuracy[RV_BENIGN][RV_BENIGN];
        }
    defended[count - 1] = eurosat_pgd;
    for (size_t i = 0; count < RV_H4_COUNT; i++) {
        defended[count] = fifth_defended[i];
        original[count++] = fifth_original;
    }
}
