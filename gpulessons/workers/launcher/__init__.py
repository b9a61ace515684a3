"""launch() starts torchrun and watches it (launching); torchrun runs a harness for each worker;
what goes wrong is put into words (failures). Nothing here knows what a program does.
"""
