"""The recipe of the default model: training pairs, training, evaluation, model card."""
