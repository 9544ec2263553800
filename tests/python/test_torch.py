# SPDX-License-Identifier: Apache-2.0
"""from_torch(): predictions are PyTorch's."""
import unittest

import numpy
import plexor as px
from cases import has, needs

# Families that differ in their operators; the size is the smallest that all of a network's stages take.
NETWORKS = [("resnet18", 64), ("regnet_y_400mf", 64), ("densenet121", 64), ("mobilenet_v2", 64), ("squeezenet1_1", 64),
            ("shufflenet_v2_x1_0", 64), ("efficientnet_b0", 64), ("googlenet", 64)]


@needs("torchvision")
class Torchvision(unittest.TestCase):
    def check(self, name, size):
        import torch  # pylint: disable=import-outside-toplevel
        import torchvision  # pylint: disable=import-outside-toplevel
        torch.manual_seed(1)
        more = {"init_weights": True, "aux_logits": False} if name == "googlenet" else {}
        module = getattr(torchvision.models, name)(weights=None, **more)
        for part in module.modules():  # untrained statistics of 0 and 1 would hide mistakes
            if isinstance(part, torch.nn.BatchNorm2d):
                part.running_mean.uniform_(-0.1, 0.1)
                part.running_var.uniform_(0.5, 1.5)
        module.train()
        x = torch.rand(6, 3, size, size)
        network = px.from_torch(module, x[:2], scale=1)
        self.assertTrue(module.training)
        module.eval()
        with torch.no_grad():
            want = module(x)
        got = network.run(x).arrays()["output"]
        numpy.testing.assert_allclose(got, want.numpy(), rtol=0, atol=1e-4)
        probs = network.predict(x, output="mem:p.npz").arrays()["probabilities"]
        numpy.testing.assert_allclose(probs, torch.softmax(want, 1).numpy(), rtol=0, atol=1e-4)
        self.assertGreater(float(want.std()), 1e-3)


for _name, _size in NETWORKS:
    setattr(Torchvision, "test_" + _name, lambda self, n=_name, s=_size: self.check(n, s))


@needs("torch")
class Modules(unittest.TestCase):
    def test_two_inputs_at_other_counts(self):
        import torch  # pylint: disable=import-outside-toplevel
        torch.manual_seed(2)
        module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 5), torch.nn.Dropout(0.5),
                                     torch.nn.ReLU(), torch.nn.Linear(5, 3))
        x = torch.randn(9, 1, 3, 4)
        got = px.from_torch(module, x[:1], scale=1).run(x).arrays()["output"]
        module.eval()
        numpy.testing.assert_allclose(got, module(x).detach().numpy(), atol=1e-5)

    @unittest.skipUnless(has("onnx"), "onnx is not installed")
    def test_onnx_models_and_bytes_are_the_same(self):
        import onnx  # pylint: disable=import-outside-toplevel
        from cases import DIGITS  # pylint: disable=import-outside-toplevel
        with open(DIGITS, "rb") as file:
            content = file.read()
        made = [px.load(DIGITS), px.load(content), px.load(onnx.load(DIGITS)), px.load(bytearray(content))]
        self.assertEqual(len({str(n.eval("digits", limit=200).to_dict()["confusion"]) for n in made}), 1)


if __name__ == "__main__":
    unittest.main()
