#!/usr/bin/env python3
"""Exports a network of Keras as ONNX, and as TFLite in 8 bits.

Usage: export_keras.py FOLDER    writes model.onnx and model.tflite
Needs tensorflow and tf2onnx.
"""
import os
import sys

import keras
import numpy as np
import tensorflow as tf


def make():
    image = keras.Input((32, 32, 3), batch_size=1, name="image")
    x = keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(image)
    x = keras.layers.DepthwiseConv2D(3, padding="same", activation="relu")(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    return keras.Model(image, keras.layers.Dense(10, activation="softmax", name="scores")(x))


def images():
    generator = np.random.default_rng(1)
    for _ in range(20):
        yield [generator.random((1, 32, 32, 3), np.float32)]


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    keras.utils.set_random_seed(1)
    network = make()
    network(next(images())[0])  # Keras exports models that have been called
    network.export(os.path.join(folder, "model.onnx"), format="onnx", verbose=False)
    converter = tf.lite.TFLiteConverter.from_keras_model(network)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = images
    with open(os.path.join(folder, "model.tflite"), "wb") as file:
        file.write(converter.convert())


if __name__ == "__main__":
    main()
