"""Networks to export: random weights, a fixed seed."""

import torch
import torchvision
from torch import nn
from torch.export import Dim


class Block(nn.Module):
    """A transformer's encoder layer."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.qkv(x).split(width, dim=-1))
        weights = torch.softmax(q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5, dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


class UNet(nn.Module):
    """Long skips: what the way down makes is live until the way up reads it."""

    def __init__(self, widths=(16, 32, 64, 128)):
        super().__init__()
        pairs = list(zip(widths, widths[1:]))
        self.stem = self.double(3, widths[0])
        self.down = nn.ModuleList(self.double(a, b) for a, b in pairs)
        self.rise = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in reversed(pairs))
        self.up = nn.ModuleList(self.double(2 * a, a) for a, _ in reversed(pairs))
        self.head = nn.Conv2d(widths[0], 2, 1)

    @staticmethod
    def double(before, after):
        return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.ReLU(),
                             nn.Conv2d(after, after, 3, padding=1), nn.ReLU())

    def forward(self, x):
        x = self.stem(x)
        skips = []
        for down in self.down:
            skips.append(x)
            x = down(nn.functional.max_pool2d(x, 2))
        for rise, up in zip(self.rise, self.up):
            x = up(torch.cat([skips.pop(), rise(x)], dim=1))
        return self.head(x)


def settle(net, x):
    """Gives batch norms the statistics of |x|, so that activations neither vanish nor explode."""
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
    with torch.no_grad():
        net.train()(x)
    return net.eval()


def all_nets():
    """name -> (net, inputs, dynamic shapes, inputs of other shapes to run)."""
    torch.manual_seed(19)
    image, tokens = torch.randn(1, 3, 224, 224), torch.randn(1, 128, 128)
    length = {1: Dim("length", min=2, max=128)}
    models = torchvision.models
    return {
        "MobileNetV2": (settle(models.mobilenet_v2(weights=None), image), (image,), None, []),
        "ResNet-18": (settle(models.resnet18(weights=None), image), (image,), None, []),
        "transformer": (nn.Sequential(*(Block(128, 4) for _ in range(4))).eval(), (tokens,), None,
                        []),
        "U-Net": (UNet().eval(), (torch.randn(1, 3, 96, 96),), None, []),
        "transformer, length ≤ 128": (nn.Sequential(*(Block(128, 4) for _ in range(4))).eval(),
                                      (tokens,), (length,), [(tokens[:, :37].contiguous(),)]),
    }
