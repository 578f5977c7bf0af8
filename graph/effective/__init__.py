"""Effective state: what runs where, with which configuration, and what keeps it from running.

A pure function of definitions and inventory. ``begin`` works it out from nothing, ``advance`` from
an earlier state and what changed since; the two never differ.
"""
