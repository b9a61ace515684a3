"""launch() starts torchrun and watches it (launching), on Linux as a fork of one process that has
imported PyTorch (forkserver); torchrun runs a harness for each worker; what goes wrong is put into
words (failures). Nothing here knows what a program does.
"""
