"""Models of paddle.vision, trained as their examples train them, on small images (../../net.py)"""

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.vision import models

from net import classes, net, numbers

NORMS = ["batch_norm"]
LABEL = classes(4, 1)


def image(size, double):
    made = numbers(3, size, size)
    return ("float64" if double else "float32",) + made[1:]


# Norms over few elements multiply what rounding leaves, layer by layer: deep models compute in float64.
def library(name, description, model, size=32, verdict="parts", sites=NORMS, rate=0.01, double=True, **more):
    def build(image, label):
        paddle.set_default_dtype("float64" if double else "float32")
        return F.cross_entropy(model()(image), label)

    build.__name__ = name
    net(description, verdict, sites, rate=rate, steps=5, rounded=False, image=image(size, double), label=LABEL, **more)(build)


library("resnet18", "ResNet-18", lambda: models.resnet18(num_classes=4), size=64, rate=1e-4, double=False)
library("resnet50", "ResNet-50, bottlenecks", lambda: models.resnet50(num_classes=4))
library("resnext", "ResNeXt-50, groups of convolutions", lambda: models.resnext50_32x4d(num_classes=4))
library("wide_resnet", "Bottlenecks of a third of the width", lambda: models.ResNet(models.resnet.BottleneckBlock, 50, width=21, num_classes=4))
library("mobilenet_v1", "MobileNet V1, a quarter of the channels", lambda: models.mobilenet_v1(scale=0.25, num_classes=4))
library("mobilenet_v2_dropless", "MobileNet V2 without its last layers, a head of one's own", lambda: nn.Sequential(models.MobileNetV2(0.25, num_classes=-1), nn.Flatten(), nn.Linear(1280, 4)))
library("mobilenet_v2", "MobileNet V2, a quarter of the channels; dropout differs from rank to rank", lambda: models.mobilenet_v2(scale=0.25, num_classes=4), verdict="drawn", sites=[])
library("mobilenet_v3_small", "MobileNet V3, small", lambda: nn.Sequential(models.MobileNetV3Small(0.5, num_classes=-1), nn.Flatten(), nn.Linear(288, 4)), size=64, rate=1e-4, double=False)
library("mobilenet_v3_large", "MobileNet V3, large, with its dropout", lambda: models.mobilenet_v3_large(scale=0.35, num_classes=4), verdict="drawn", sites=[])
library("shufflenet", "ShuffleNet V2", lambda: models.shufflenet_v2_x0_25(num_classes=4))
library("shufflenet_swish", "ShuffleNet V2 with swish", lambda: models.ShuffleNetV2(scale=0.33, act="swish", num_classes=4))
library("squeezenet", "SqueezeNet 1.1 without its pool", lambda: nn.Sequential(models.SqueezeNet("1.1", num_classes=4, with_pool=True), nn.Flatten()), size=48, verdict="drawn", sites=[])
library("densenet", "DenseNet-121", lambda: models.densenet121(num_classes=4))
library("inception", "Inception V3", lambda: models.InceptionV3(num_classes=4), size=80, verdict="drawn", sites=[])
library("vgg", "VGG-11 with norms, a head of one's own", lambda: nn.Sequential(models.VGG(models.vgg.make_layers([16, "M", 32, "M", 32, 32, "M"], batch_norm=True), num_classes=-1, with_pool=False), nn.Flatten(), nn.Linear(512, 4)), size=32, rate=1e-4, double=False)
library("alexnet", "The features of AlexNet", lambda: nn.Sequential(*[layer for layer in models.AlexNet(num_classes=-1).children()][:4], nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(256, 4)), verdict="whole", sites=[], size=64, rate=1e-4, double=False)
library("lenet_library", "LeNet", lambda: nn.Sequential(nn.Conv2D(3, 1, 5), models.LeNet(num_classes=4)), double=False, verdict="whole", sites=[])


@net("GoogLeNet: two heads beside", "drawn", rate=1e-4, steps=5, rounded=False, image=numbers(3, 64, 64), label=LABEL)
def googlenet(image, label):
    model = models.GoogLeNet(num_classes=-1, with_pool=True)
    found = model(image)
    outs = found if isinstance(found, (list, tuple)) else [found]
    return sum(w * F.cross_entropy(nn.Linear(one.flatten(1).shape[1], 4)(one.flatten(1)), label) for w, one in zip((1.0, 0.3, 0.3), outs))


@net("ResNet-18 evaluated in its norms, fine-tuned: only the head is trained", rate=0.05, steps=5, rounded=False, image=numbers(3, 32, 32), label=LABEL)
def frozen_backbone(image, label):
    model = models.resnet18(num_classes=0)
    model.eval()
    for one in model.parameters():
        one.stop_gradient = True
        one.trainable = False
    return F.cross_entropy(nn.Linear(512, 4)(paddle.flatten(model(image), 1)), label)


@net("Features of three stages of ResNet-18 in a pyramid", "parts", NORMS, rate=1e-4, steps=5, rounded=False, image=numbers(3, 64, 64), label=LABEL)
def backbone_pyramid(image, label):
    m = models.resnet18(num_classes=0, with_pool=False)
    x = m.maxpool(m.relu(m.bn1(m.conv1(image))))
    stages = []
    for layer in (m.layer1, m.layer2, m.layer3):
        x = layer(x)
        stages.append(x)
    lateral = [nn.Conv2D(one.shape[1], 16, 1)(one) for one in stages]
    for i in (1, 0):
        lateral[i] = lateral[i] + F.interpolate(lateral[i + 1], scale_factor=2, mode="nearest")
    outs = [nn.Conv2D(16, 16, 3, padding=1)(one).mean([2, 3]) for one in lateral]
    return F.cross_entropy(nn.Linear(48, 4)(paddle.concat(outs, 1)), label)
