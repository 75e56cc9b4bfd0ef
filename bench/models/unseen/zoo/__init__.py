"""Nets of public model zoos, each written small: recommendations, speech, backbones, detectors, texts, ways to train"""

from unseen.zoo import backbones, detectors, recommenders, schedules, speech, tasks, texts  # noqa: F401 (they add to NETS)
