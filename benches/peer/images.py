"""Networks on images, written once against a builder: `resnet18@32` is ResNet-18 on 3×32×32 with ten classes.

A builder has conv, norm, relu, relu6, max_pool, mean, flatten, linear and add; each takes and gives values of its own kind.
"""


def resnet18(b, x, side):
    def block(x, i, o, stride):
        y = b.relu(b.norm(b.conv(x, i, o, 3, stride, 1), o))
        y = b.norm(b.conv(y, o, o, 3, 1, 1), o)
        if stride != 1 or i != o:
            x = b.norm(b.conv(x, i, o, 1, stride, 0), o)
        return b.relu(b.add(y, x))

    x = b.relu(b.norm(b.conv(x, 3, 64, 7, 2, 3), 64))
    x = b.max_pool(x, 3, 2, 1)
    channels = 64
    for width in (64, 128, 256, 512):
        x = block(x, channels, width, 1 if width == 64 else 2)
        x = block(x, width, width, 1)
        channels = width
    return b.linear(b.flatten(b.mean(x)), 512, 10)


def mobilenetv2(b, x, side):
    def conv_norm(x, i, o, kernel, stride, groups=1):
        return b.relu6(b.norm(b.conv(x, i, o, kernel, stride, kernel // 2, groups), o))

    x = conv_norm(x, 3, 32, 3, 2)
    channels = 32
    for expansion, width, blocks, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):
        for block in range(blocks):
            step, wide, y = stride if block == 0 else 1, channels * expansion, x
            if expansion != 1:
                y = conv_norm(y, channels, wide, 1, 1)
            y = conv_norm(y, wide, wide, 3, step, wide)
            y = b.norm(b.conv(y, wide, width, 1, 1, 0), width)
            x = b.add(x, y) if step == 1 and channels == width else y
            channels = width
    x = conv_norm(x, channels, 1280, 1, 1)
    return b.linear(b.flatten(b.mean(x)), 1280, 10)


def vgg7(b, x, side):
    channels = 3
    for width in (128, 256, 512):
        x = b.relu(b.norm(b.conv(x, channels, width, 3, 1, 1, bias=True), width))
        x = b.relu(b.norm(b.conv(x, width, width, 3, 1, 1, bias=True), width))
        x = b.max_pool(x, 2, 2, 0)
        channels = width
    x = b.flatten(x)
    x = b.relu(b.linear(x, 512 * (side // 8) ** 2, 1024))
    return b.linear(b.relu(b.linear(x, 1024, 1024)), 1024, 10)


def lenet5(b, x, side):
    x = b.max_pool(b.relu(b.conv(x, 1, 6, 5, 1, 2, bias=True)), 2, 2, 0)
    x = b.max_pool(b.relu(b.conv(x, 6, 16, 5, 1, 0, bias=True)), 2, 2, 0)
    x = b.relu(b.linear(b.flatten(x), 400, 120))
    return b.linear(b.relu(b.linear(x, 120, 84)), 84, 10)


NETWORKS = {"resnet18": resnet18, "mobilenetv2": mobilenetv2, "vgg7": vgg7, "lenet5": lenet5}


def parse(name):
    """The function of a name such as `resnet18@32`, and the shape of one image."""
    network, _, side = name.partition("@")
    side = int(side or 28)
    return NETWORKS[network], (1 if network == "lenet5" else 3, side, side)
