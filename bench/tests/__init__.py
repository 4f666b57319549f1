"""Tests of what needs no peer."""
