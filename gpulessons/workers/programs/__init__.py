"""What torchrun runs: each module is a program with main(worker, **options), and says what it
shows. Programs know the parts beside this folder, and nothing of who launches them.
"""
