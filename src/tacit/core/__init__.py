"""Vocabulary that every other layer may use: errors, checks, memory, archives, registries."""
