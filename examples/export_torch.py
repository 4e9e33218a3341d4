#!/usr/bin/env python3
"""Exports a network of PyTorch as ONNX, with an input and the outputs of PyTorch to compare with.

Usage: export_torch.py FOLDER    writes model.onnx, and test/ for `stowage run --expect`
Needs torch, onnx and onnxscript.
"""
import os
import sys

import onnx
import torch


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.body = torch.nn.Conv2d(16, 16, 3, padding=1)
        self.head = torch.nn.Linear(16, 10)

    def forward(self, image):
        x = torch.nn.functional.silu(self.stem(image))
        x = x + torch.nn.functional.silu(self.body(x))
        return self.head(x.mean(dim=(2, 3)))


def write_tensor(path, tensor):
    with open(path, "wb") as file:
        file.write(onnx.numpy_helper.from_array(tensor.numpy()).SerializeToString())


def main():
    folder = sys.argv[1]
    os.makedirs(os.path.join(folder, "test"), exist_ok=True)
    torch.manual_seed(1)
    network = Network().eval()  # without dropout, and batch-norms as they will be
    image = torch.rand(2, 3, 64, 64)
    torch.onnx.export(network, (image,), os.path.join(folder, "model.onnx"), dynamo=True, verbose=False,
                      input_names=["image"], output_names=["scores"], external_data=False,
                      dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},))
    write_tensor(os.path.join(folder, "test", "input_0.pb"), image)
    with torch.no_grad():
        write_tensor(os.path.join(folder, "test", "output_0.pb"), network(image))


if __name__ == "__main__":
    main()
