"""Whole programs as users write them: the library's own models, training loops with all that belongs to them (../../net.py)"""

from unseen.whole import blocks, control, derivatives, images, library, ranking, recurrent, training, updates  # noqa: F401 (they add to NETS)
