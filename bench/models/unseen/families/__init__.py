"""Model families, each as a user of the framework writes it small"""

from unseen.families import attending, generators, scenes, spectra, structures, training_ways  # noqa: F401 (they add to NETS)
